"""Occam's razor: the order of the polynomial behind ten points, by its evidence.

Every polynomial is fitted in closed form, its coefficients and noise integrated out. The likelihood
rises with the order, the evidence does not: an order with more freedom than the points ask for
spreads its bets over curves that are not there. Writes occams_razor.svg, or the named file: the
posterior of each order with 90 % bands, and how probable each order is.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import jensen as jn

x = np.array([-4.5, -3.2, -2.1, -1.0, -0.2, 0.7, 1.5, 2.6, 3.3, 4.4])
y = np.array([1.9, 0.4, -0.9, -1.3, -1.1, -0.6, 0.3, 2.0, 3.6, 6.9])
choices = {
    "origin": 0.0,
    "unit": 5.0,
    "prior": {"mean": 0.0, "variance": 100.0, "shape": 1.0, "rate": 1.0},
}
best = jn.BayesianRegression("auto", **choices).fit(x[:, None], y)

figure, panels = plt.subplots(2, 4, figsize=(12, 5), layout="constrained")
grid = np.linspace(-5.5, 5.5, 200)[:, None]
for degree, axes in enumerate(panels.flat[:-1]):
    model = jn.BayesianRegression(degree, **choices).fit(x[:, None], y)
    low, high = model.interval(grid, 0.9)
    axes.fill_between(grid[:, 0], low, high, alpha=0.25)
    axes.plot(grid[:, 0], model.predict(grid))
    axes.plot(x, y, "k.")
    axes.set(title=f"order {degree}: {model.log_evidence_:.2f}", ylim=(-8, 12))
best.plot(panels.flat[-1])
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "occams_razor.svg")

print(f"the best order is {best.degree_}")
print(best.summary())
