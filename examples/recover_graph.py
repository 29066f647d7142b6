"""How many rows does it take to find a graph? Alarm, 37 variables, by three ways of learning.

Data are drawn from a known network, and the graph is learned from its first rows. The structural
Hamming distance counts the pairs of variables that the two equivalence classes join differently: it
falls as rows grow. The edges that 50 bootstrap graphs have in common are mostly true ones. Writes
recover_graph.svg, or the named file.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import jensen as jn

SIZES = [100, 300, 1_000, 3_000, 10_000, 30_000]

truth = jn.examples.load("alarm")
rows = truth.sample(SIZES[-1], random_state=0)
ways = {
    "hill climbing, BDeu": lambda table: jn.learn_structure(table, score="bdeu"),
    "hill climbing, BIC": lambda table: jn.learn_structure(table, score="bic"),
    "Chow-Liu tree": jn.chow_liu,
}
distance = {
    way: [truth.graph.shd(learn(rows.take(np.arange(n)))) for n in SIZES]
    for way, learn in ways.items()
}
strengths = jn.bootstrap_edges(rows.take(np.arange(1_000)), 50, random_state=0, score="bic")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
for way, found in distance.items():
    left.plot(SIZES, found, "o-", label=way)
left.set(xscale="log", xlabel="rows", ylabel="pairs joined differently", ylim=(0, None))
left.legend(frameon=False)
true_pairs = {frozenset(edge) for edge in truth.graph.edges}
for is_true, label in ((True, "in the true graph"), (False, "not in it")):
    chosen = [
        edge.strength
        for edge in strengths.edges()
        if (frozenset(edge[:2]) in true_pairs) is is_true
    ]
    right.hist(chosen, bins=np.linspace(0, 1, 21), alpha=0.6, label=label)
right.axvline(strengths.threshold, color="black", linewidth=1, linestyle=":")
right.set(xlabel="share of 50 bootstrap graphs with the edge", ylabel="edges")
right.legend(frameon=False)
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "recover_graph.svg")

for way, found in distance.items():
    print(f"{way:20s}", *(f"{d:4d}" for d in found))
averaged = strengths.averaged()
print(f"averaged from 1,000 rows: {len(averaged.edges)} edges, SHD {truth.graph.shd(averaged)}")
