"""An Ising grid as its coupling grows: log Z between bounds, and by loopy propagation.

Neighbours on a grid of 10 × 10 spins prefer to be alike, the more the larger the coupling. Messages
settle everywhere and are nearly right on both sides of the transition, near which the grid orders
and the Bethe value is furthest off. It is no bound; the trees are, above, and mean field is, below.
Writes ising_bracket.svg, or the named file.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import jensen as jn

SIDE = 10
COUPLINGS = np.linspace(0.1, 0.9, 9)
spins = np.array([-1.0, 1.0])
cells = [(r, c) for r in range(SIDE) for c in range(SIDE)]
pairs = [
    ((r, c), (r + down, c + right))
    for r, c in cells
    for down, right in ((0, 1), (1, 0))
    if r + down < SIDE and c + right < SIDE
]


def name(cell):
    """The name of a spin, by row and column."""
    return f"{cell[0]}.{cell[1]}"


def grid(coupling):
    """The grid with a weak field that prefers +1."""
    fields = [([name(cell)], 0.05 * spins) for cell in cells]
    edges = [([name(a), name(b)], coupling * np.outer(spins, spins)) for a, b in pairs]
    return jn.MarkovNetwork.from_tables(fields + edges, logs=True)


ways = ("mean-field", "loopy", "exact", "mini-bucket", "trw")
found = {way: [] for way in ways}
print("coupling  mean field      loopy      exact  mini-bucket        trw")
for coupling in COUPLINGS:
    net = grid(coupling)
    for way in ways:
        i_bound = 4 if way == "mini-bucket" else None
        found[way].append(float(net.log_z(inference=way, i_bound=i_bound)))
    low, loopy, exact, buckets, high = (found[way][-1] for way in ways)
    print(
        f"{coupling:8.1f}  {low:10.3f} {loopy:10.3f} {exact:10.3f}   {buckets:10.3f} {high:10.3f}"
    )

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
exact = np.array(found["exact"])
marks = {"mean-field": "v", "loopy": "o", "mini-bucket": "s", "trw": "^"}
labels = {
    "mean-field": "mean field (lower bound)",
    "loopy": "loopy (estimate)",
    "mini-bucket": "mini-buckets, i-bound 4 (upper bound)",
    "trw": "tree-reweighted (upper bound)",
}
for way, mark in marks.items():
    axes.plot(COUPLINGS, np.array(found[way]) - exact, marker=mark, label=labels[way])
axes.axhline(0.0, color="black", linewidth=1, label="exact")
axes.set(xlabel="coupling", ylabel="nats above the exact log Z", title="A grid of 10 by 10 spins")
axes.legend(loc="upper right", fontsize=8)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "ising_bracket.svg")
