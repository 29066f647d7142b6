"""A published contingency table is data too: give its counts as row weights.

Lizards of two species on perches of different height and diameter (Schoener 1968, Ecology 49).
Do height and diameter depend on each other once the species is known?
"""

import jensen as jn

lizards = jn.Table(
    {
        "species": ["Distichus"] * 4 + ["Sagrei"] * 4,
        "diameter": ["narrow", "narrow", "wide", "wide"] * 2,
        "height": ["high", "low"] * 4,
        "count": [73, 61, 70, 41, 86, 32, 35, 11],
    },
    weights="count",
)

independent = jn.DAG("diameter <- species -> height")
dependent = independent.with_edge("diameter", "height")
print(f"{lizards.total_weight:g} lizards")
print("log p(data | graph)        bdeu        bic")
for label, graph in [("independent", independent), ("dependent", dependent)]:
    bdeu, bic = (jn.score(graph, lizards, name) for name in ("bdeu", "bic"))
    print(f"{label:20}{bdeu:11.3f}{bic:11.3f}")
