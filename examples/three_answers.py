"""What EM, VB and Gibbs say about the same table, as one picture.

Forty patients, a third of the values missing. EM gives one number for P(dyspnoea | bronchitis); VB
gives a Dirichlet posterior; Gibbs gives samples of the exact posterior, which is a little wider.
Writes three_answers.svg, or the file that is named.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import beta

import jensen as jn

rng = np.random.default_rng(3)
table = jn.examples.load("asia").sample(40, random_state=3).to_pandas()[["smoke", "bronc", "dysp"]]
table = table.astype(object).mask(rng.random(table.shape) < 1 / 3)

chain = "smoke -> bronc -> dysp"
em = jn.BayesianNetwork(chain, random_state=0).fit(table)
vb = jn.BayesianNetwork(chain, prior="k2", random_state=0).fit(table)
gibbs = jn.BayesianNetwork(chain, prior="k2", method="gibbs", random_state=0).fit(table)

bronchitis, dyspnoea = (em.states[name].index("yes") for name in ("bronc", "dysp"))
point = em.cpt("dysp").values[bronchitis, dyspnoea]
alpha = vb.posterior("dysp").concentration[bronchitis]
drawn = gibbs.table_samples("dysp")[:, bronchitis, dyspnoea]
curve = beta(alpha[dyspnoea], alpha.sum() - alpha[dyspnoea])

figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
p = np.linspace(0, 1, 400)
axes.hist(drawn, bins=60, range=(0, 1), density=True, color="#c7d7ea", label="Gibbs: samples")
axes.plot(p, curve.pdf(p), color="#1f5fa8", label="VB: Dirichlet posterior")
axes.axvline(point, color="#b3412b", label="EM: one number")
axes.set(xlabel="P(dyspnoea | bronchitis)", ylabel="density", yticks=[], xlim=(0, 1))
axes.spines[["top", "right", "left"]].set_visible(False)
axes.legend(frameon=False, loc="upper left")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "three_answers.svg")

print("P(dyspnoea | bronchitis), and between what it lies with probability 0.9")
print(f"EM     {point:.3f}")
print(f"VB     {curve.mean():.3f}   {curve.ppf(0.05):.3f} to {curve.ppf(0.95):.3f}")
print(
    f"Gibbs  {drawn.mean():.3f}   {np.quantile(drawn, 0.05):.3f} to {np.quantile(drawn, 0.95):.3f}"
)
