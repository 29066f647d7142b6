"""How many sources are in ten mixed signals? Automatic relevance determination tells.

Ten sensors hear three sources, each in its own mixture and with noise of its own, and a fifth of
the readings is lost. A factor analysis with eight factors and a prior on their strengths keeps as
many as the bound of the log evidence is higher with. Writes how_many_sources.svg, or the named
file.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import jensen as jn

rng = np.random.default_rng(0)
N, SENSORS, SOURCES = 400, 10, 3
sources = rng.standard_normal((N, SOURCES))
mixing = rng.standard_normal((SOURCES, SENSORS))
signals = sources @ mixing + rng.uniform(0.3, 0.8, SENSORS) * rng.standard_normal((N, SENSORS))
signals[rng.random(signals.shape) < 0.2] = np.nan

model = jn.FactorAnalysis(8, prior={}, random_state=0).fit(signals)
lengths = np.sqrt(np.square(model.loadings_).sum(0))
print("factor  length of its loadings")
for k, length in enumerate(lengths):
    print(f"{k:6}  {length:.3f}")
print(f"{model.n_factors_} of 8 factors live: there are {SOURCES} sources")

print("factors  bound of the log evidence")
bounds = [
    jn.FactorAnalysis(k, prior={}, random_state=0).fit(signals).free_energy_ for k in range(1, 7)
]
for k, bound in enumerate(bounds, start=1):
    print(f"{k:7}  {bound:.2f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
left.bar(range(8), lengths, color="#5b7fa6")
left.set(xlabel="factor", ylabel="length of its loadings", title="eight factors, those that live")
right.plot(range(1, 7), bounds, "o-", color="#b3412b")
right.set(xlabel="factors", ylabel="bound of the log evidence", title="one model for each number")
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "how_many_sources.svg")
