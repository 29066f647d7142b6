"""Rank all graphs over three variables by their evidence.

Graphs of one equivalence class say the same of any data, so their BDeu scores are equal.
"""

from itertools import product

import jensen as jn

table = (
    jn.examples.load("sprinkler")
    .sample(500, random_state=0)
    .select(["cloudy", "rain", "wet_grass"])
)
pairs = [("cloudy", "rain"), ("cloudy", "wet_grass"), ("rain", "wet_grass")]
graphs = []
for choice in product(["none", "forwards", "backwards"], repeat=3):
    edges = [
        (a, b) if way == "forwards" else (b, a)
        for (a, b), way in zip(pairs, choice, strict=True)
        if way != "none"
    ]
    try:
        graphs.append(jn.DAG(edges, nodes=table.names))
    except jn.GraphError:  # two of the 27 choices are cycles
        continue

ranked = sorted(graphs, key=lambda graph: -jn.score(graph, table, "bdeu"))
print(f"{len(ranked)} graphs, the best first")
for graph in ranked[:8]:
    print(f"{jn.score(graph, table, 'bdeu'):10.3f}  {graph}")
