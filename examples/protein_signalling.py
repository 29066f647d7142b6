"""Which arrows can the data support? Signalling proteins in cells, watched and experimented with.

A thousand cells are drawn from a network that was learned from real ones (Sachs et al. 2005,
Science 308). Cells that are only watched tell which proteins are joined, but of many arrows not the
direction: several graphs explain them equally well. If in half of the cells one protein is set
from outside, the directions are settled, but for the arrow between two proteins that nobody set. No
single graph is chosen: all are averaged, each as much as the data support it. Writes
protein_signalling.svg, or the named file.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import jensen as jn

N, SET = 1_000, ["Mek", "PIP2", "PKA", "PKC", "Raf"]

truth = jn.examples.load("sachs")
watched = truth.sample(N, random_state=0).to_pandas()
parts = [watched.iloc[: N // 2].assign(was_set=None)]
for k, protein in enumerate(SET):  # 100 cells each: half inhibited, half activated
    for level in ("LOW", "HIGH"):
        cells = truth.sample(N // 20, do={protein: level}, random_state=10 + k)
        parts.append(cells.to_pandas().assign(was_set=protein))
experiments = pd.concat(parts, ignore_index=True)

posteriors = {
    "watched": jn.structure_posterior(watched, random_state=0),
    "experiments": jn.structure_posterior(experiments, interventions="was_set", random_state=0),
}

print(f"{'true arrow':14}{'watched':>20}{'experiments':>20}")
for a, b in truth.graph.edges:
    found = [str(post.edge_probability(a, b)) for post in posteriors.values()]
    print(f"{a + ' -> ' + b:14}{found[0]:>20}{found[1]:>20}")

print("\nIs PKC upstream of Akt (it is), or Akt of PKC? And if PKA is inhibited, how is Akt?")
for name, post in posteriors.items():
    there, back = post.path_probability("PKC", "Akt"), post.path_probability("Akt", "PKC")
    low = post.query("Akt", do={"PKA": "LOW"})["LOW"]
    print(f"{name:12}  {there} or {back};  P(Akt=LOW | do(PKA=LOW)) {low}")
print(f"{'truth':12}  1 or 0;  {truth.query('Akt', do={'PKA': 'LOW'})['LOW']:.4f}")

print("\nDo four chains from random starts agree?")
for name, post in posteriors.items():
    apart = post.convergence.agreement.largest
    print(f"{name:12}  R-hat {post.convergence.r_hat:.3f}, edges differ by {apart:.3f} at most")

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 4.2), width_ratios=[3, 2], layout="constrained"
)
colours = {"watched": "#5b7fa6", "experiments": "#b3412b"}
places = np.arange(len(truth.graph.edges))
for name, post in posteriors.items():
    p = [post.edge_probability(a, b) for a, b in truth.graph.edges]
    left.plot(p, places, "o", color=colours[name], label=name)
left.hlines(places, 0, 1, color="#dddddd", lw=0.8, zorder=0)
left.set(yticks=places, yticklabels=[f"{a} → {b}" for a, b in truth.graph.edges])
left.set(xlabel="probability of the true arrow", xlim=(-0.03, 1.03))
left.invert_yaxis()
left.legend(frameon=False, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
posteriors["watched"].plot_agreement(right)
right.set_title("")
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "protein_signalling.svg")
