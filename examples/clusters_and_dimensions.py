"""How many clusters, and how many dimensions has each? A mixture of factor analysers infers both.

Six Gaussian clusters of dimensions 1, 7, 4, 3, 2 and 2 lie in ten dimensions, with noise of
standard deviation 0.1 around them (Ghahramani and Beal 2000). The mixture begins with ten
components of nine factors each. What is not needed dies: a component or a factor is there if the
bound is lower without it. Few points support few dimensions, so that short tables are told by
simple models. Writes clusters_and_dimensions.svg, or the named file.

`--sizes 64 --seeds 20` repeats it on other data sets, and tells how often all of it is right.
"""

import argparse
from collections import Counter

import matplotlib.pyplot as plt
import numpy as np

import jensen as jn

DIMENSIONS, COLUMNS, NOISE, APART = (1, 7, 4, 3, 2, 2), 10, 0.1, 4.0


def make(n, seed):
    """Rows of n points a cluster, and their clusters."""
    rng = np.random.default_rng(seed)
    centres, rows = [], []
    while len(centres) < len(DIMENSIONS):
        centre = rng.uniform(-5.0, 5.0, COLUMNS)
        if all(np.linalg.norm(centre - other) >= APART for other in centres):
            centres.append(centre)
    for centre, k in zip(centres, DIMENSIONS, strict=True):
        axes = np.linalg.qr(rng.standard_normal((COLUMNS, COLUMNS)))[0][:, :k]
        noise = NOISE * rng.standard_normal((n, COLUMNS))
        rows.append(centre + rng.standard_normal((n, k)) @ axes.T + noise)
    return np.concatenate(rows), np.repeat(np.arange(len(DIMENSIONS)), n)


def infer(n, seed):
    """For each cluster that made rows: the dimensions of the components that took most of them."""
    rows, labels = make(n, seed)
    model = jn.MixtureOfFactorAnalyzers(10, 9, prior={}, tol=1e-6, random_state=seed).fit(rows)
    own = model.predict(rows)
    found = []
    for k in range(len(DIMENSIONS)):
        most = Counter(own[labels == k]).most_common(1)[0][0]
        found.append((most, int(model.fitted_.dimensions[most])))
    return model, found


arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("figure", nargs="?", default="clusters_and_dimensions.svg")
arguments.add_argument("--sizes", nargs="+", type=int, default=[8, 16, 64])
arguments.add_argument("--seeds", type=int, default=1)
arguments.add_argument("--first", type=int, default=1)
given = arguments.parse_args()

print(f"points a cluster  components  dimensions where the truth is {DIMENSIONS}")
shares = {}
for n in given.sizes:
    right, grid = 0, np.full((given.seeds, len(DIMENSIONS)), np.nan)
    for run, seed in enumerate(range(given.first, given.first + given.seeds)):
        model, found = infer(n, seed)
        components = [component for component, _ in found]
        told = [k if components.count(s) == 1 else "shared" for s, k in found]
        grid[run] = [k for _, k in found]
        is_right = model.n_components_ == len(DIMENSIONS) and tuple(told) == DIMENSIONS
        right += is_right
        print(f"{n:16}  {model.n_components_:10}  {' '.join(map(str, told))}", flush=True)
    shares[n] = grid
    if given.seeds > 1:
        spread = " ".join(
            f"{m:.1f}±{s:.1f}" for m, s in zip(grid.mean(0), grid.std(0), strict=True)
        )
        print(f"{n} points a cluster: all of it right in {right} of {given.seeds}; {spread}")

figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
for n, grid in shares.items():
    axes.plot(range(len(DIMENSIONS)), grid.mean(0), "o-", label=f"{n} points a cluster")
axes.plot(range(len(DIMENSIONS)), DIMENSIONS, "k_", markersize=22, label="truth")
axes.set_xticks(range(len(DIMENSIONS)), [f"{k}" for k in DIMENSIONS])
axes.set(xlabel="cluster, by its true dimension", ylabel="inferred dimension")
axes.legend(fontsize="small")
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(given.figure)
