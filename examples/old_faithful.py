"""Old Faithful by variational Bayes: surplus components die.

Six Gaussians are too many for two kinds of eruption. Sweep by sweep those that are not needed lose
their rows, and the bound of the log evidence rises. Writes old_faithful.svg, or the named file.
"""

import sys
import warnings

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse

import jensen as jn

table = jn.examples.faithful().to_pandas()
x = (table - table.mean()) / table.std()
prior = {"concentration": 1e-3}


def after(sweeps):
    """The mixture after so many sweeps, always from the same start."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.EstimateWarning)  # stopped on the way, on purpose
        mixture = jn.GaussianMixture(6, prior=prior, max_iter=sweeps, tol=0.0, random_state=2)
        return mixture.fit(x)


def draw_ellipse(axes, mean, covariance, weight):
    """Two standard deviations; the fainter, the fewer rows."""
    size, direction = np.linalg.eigh(covariance)
    angle = np.degrees(np.arctan2(direction[1, 1], direction[0, 1]))
    width, height = 4 * np.sqrt(size[::-1])
    shade = 0.08 + 0.5 * weight
    axes.add_patch(Ellipse(mean, width, height, angle=angle, color="#b3412b", alpha=shade, lw=0))


figure, panels = plt.subplots(1, 4, figsize=(11, 3.1), sharey=True, layout="constrained")
print("sweep   live  bound of the log evidence")
for axes, sweeps in zip(panels, (1, 6, 15, 60), strict=True):
    mixture = after(sweeps)
    axes.plot(*x.to_numpy().T, ".", color="#5b7fa6", markersize=3)
    for k in np.flatnonzero(mixture.weights_ * len(x) > 0.5):
        draw_ellipse(axes, mixture.means_[k], mixture.covariances_[k], mixture.weights_[k])
    axes.set(title=f"sweep {sweeps}: {mixture.n_components_} live", xlabel="eruption")
    axes.spines[["top", "right"]].set_visible(False)
    print(f"{sweeps:6}  {mixture.n_components_:4}  {mixture.free_energy_:.3f}")
panels[0].set_ylabel("waiting")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "old_faithful.svg")
