"""Annealed importance sampling put to the test: speed, honest errors, and the alarm network.

    python -m benchmarks.annealing [speed] [coverage] [alarm]

- speed: latent classes of 12 rows, 1,000 temperatures and 1,000 chains, beside the same in plain
  NumPy; processor seconds of each.
- coverage: 100 seeds beside the exact evidence: how often it lies within one and two standard
  errors, the largest deviation, and the spread of the estimates beside the errors that they tell.
- alarm: 200 rows drawn from the alarm network under its prior, 10 % of the cells missing: the ways
  up and down, between which the evidence lies on average, and the seconds they take.
"""

import sys
import time
from itertools import pairwise

import numpy as np
from scipy.special import logsumexp

import jensen as jn

ROWS = ["000", "001", "000", "111", "110", "111", "010", "111", "000", "101", "111", "000"]
EXACT = -26.0241013598
TABLE = {name: [row[i] for row in ROWS] for i, name in enumerate("abc")}


def classes(seed: int) -> jn.LatentClass:
    """Two classes of binary answers, uniform priors."""
    return jn.LatentClass(2, prior={"concentration": 1.0, "emission": 1.0}, random_state=seed)


def plain(n_chains: int, n_temperatures: int, rng: np.random.Generator) -> float:
    """The same in NumPy, all chains side by side."""
    x = np.array([[int(c) for c in row] for row in ROWS], float)
    betas = np.linspace(0.0, 1.0, n_temperatures + 1)
    share, yes = rng.dirichlet([1.0, 1.0], n_chains), rng.random((n_chains, 2, 3))
    log_weight = np.zeros(n_chains)
    for before, after in pairwise(betas):
        log_like = np.log(yes) @ x.T + np.log1p(-yes) @ (1.0 - x).T
        low = np.log(share)[:, :, None] + before * log_like
        high = np.log(share)[:, :, None] + after * log_like
        log_weight += (np.logaddexp(*high.swapaxes(0, 1)) - np.logaddexp(*low.swapaxes(0, 1))).sum(
            1
        )
        first = 1.0 / (1.0 + np.exp(high[:, 1] - high[:, 0]))
        is_first = rng.random(first.shape) < first
        states = np.stack([is_first, ~is_first], 1).astype(float)
        n, n_yes = states.sum(2), states @ x
        share = rng.standard_gamma(1.0 + n)
        share /= share.sum(1, keepdims=True)
        yes = rng.beta(1.0 + after * n_yes, 1.0 + after * (n[:, :, None] - n_yes))
        yes = yes.clip(1e-12, 1.0 - 1e-12)
    return float(logsumexp(log_weight) - np.log(n_chains))


def speed() -> None:
    """Processor seconds, ours and plain."""
    many = {"n_chains": 1000, "n_temperatures": 1000}
    jn.log_evidence(classes(0), TABLE, "ais", n_chains=8, n_temperatures=2)
    began = time.process_time()
    found = jn.log_evidence(classes(0), TABLE, "ais", **many)
    ours = time.process_time() - began
    began = time.process_time()
    value = plain(1000, 1000, np.random.default_rng(0))
    other = time.process_time() - began
    print(f"exact {EXACT:.4f}")
    print(f"ours  {found.value:.4f} ± {found.standard_error:.4f} in {ours:.2f} s of the processor")
    print(f"plain {value:.4f} in {other:.2f} s, {other / ours:.1f} times as long")


def coverage(n_seeds: int = 100) -> None:
    """Deviations from the exact evidence in standard errors."""
    found = [
        jn.log_evidence(classes(seed), TABLE, "ais", n_chains=100, n_temperatures=50)
        for seed in range(n_seeds)
    ]
    values = np.array([one.value for one in found])
    errors = np.array([one.standard_error for one in found])
    away = np.abs(values - EXACT) / errors
    print(f"{n_seeds} seeds: {(away < 1).mean():.0%} within one standard error (68 %), ", end="")
    print(f"{(away < 2).mean():.0%} within two (95 %), the largest deviation {away.max():.2f}")
    print(f"spread {values.std(ddof=1):.4f}, mean standard error {errors.mean():.4f}")
    mean = logsumexp(values) - np.log(n_seeds)
    print(f"log of the mean estimate less the exact one {mean - EXACT:+.4f}")


def alarm(n_rows: int = 200, missing: float = 0.1) -> None:
    """The ways up and down."""
    rng = np.random.default_rng(0)
    net = jn.examples.load("alarm")
    rows = net.sample(n_rows, random_state=0)
    labels = {v.name: v.states for v in net.variables}
    columns = {
        name: [None if rng.random() < missing else x for x in rows.to_pandas()[name]]
        for name in labels
    }
    table = jn.Table(columns, states=labels)
    model = jn.BayesianNetwork(net.graph, prior=1.0, random_state=0)
    began, clock = time.process_time(), time.perf_counter()
    found = jn.log_evidence(model, table, "ais", n_chains=8, n_temperatures=1000, simulate=True)
    print(found)
    gap = found["reverse"] - found.value
    print(f"the way down less the way up: {gap:.3f}; processor {time.process_time() - began:.0f} s")
    print(f"clock {time.perf_counter() - clock:.0f} s")


if __name__ == "__main__":
    for name in sys.argv[1:] or ("speed", "coverage", "alarm"):
        {"speed": speed, "coverage": coverage, "alarm": alarm}[name]()
