"""Markov networks and Boltzmann machines: all pairs of six labels, of twenty bits, and digits."""

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.agree import relative_difference
from benchmarks.workload import Check, Contender, Goal, Setting, Task, Workload

Array = NDArray[np.float64]

NAMES = [f"x{k}" for k in range(6)]
PASSES, HIDDEN = 20, 16


def counts() -> Array:
    """Counts of the 64 cells of six bits, drawn from a fixed pairwise model."""
    rng = np.random.default_rng(0)
    spins = np.array(list(product((-1.0, 1.0), repeat=6)))
    couplings = np.triu(0.15 * rng.standard_normal((6, 6)), 1)
    logs = spins @ (0.2 * rng.standard_normal(6)) + ((spins @ couplings) * spins).sum(1)
    p = np.exp(logs)
    return rng.multinomial(1841, p / p.sum()).astype(float)


def jensen_pairs(setting: Setting) -> Task:
    import jensen as jn

    cells = list(product("ny", repeat=6))
    columns = {name: [cell[k] for cell in cells] for k, name in enumerate(NAMES)}
    table = jn.Table(columns, weights=counts())
    jn.MarkovNetwork().fit(table)  # imports what it needs
    return Task(lambda _: jn.MarkovNetwork().fit(table), answer=lambda net: net.free_energy_)


def fitted_in_turn(setting: Setting) -> Task:
    """Iterative proportional fitting in NumPy alone, as textbooks have it."""
    table = counts().reshape((2,) * 6)
    pairs = [(i, j) for i in range(6) for j in range(i + 1, 6)]

    def run(_: Any) -> float:
        p = np.full(table.shape, 1.0 / 64.0)
        for _sweep in range(30):
            for pair in pairs:
                rest = tuple(k for k in range(6) if k not in pair)
                p = p * (table.sum(rest, keepdims=True) / 1841.0 / p.sum(rest, keepdims=True))
        seen = table > 0.0
        return float((table[seen] * np.log(p[seen])).sum())

    return Task(run)


def holes() -> Any:
    """A thousand rows of twenty bits, a fifth of them missing."""
    import jensen as jn

    rng = np.random.default_rng(1)
    bits = (rng.random((1000, 20)) < 0.5).astype(int)
    for k in range(1, 20):
        bits[:, k] = np.where(rng.random(1000) < 0.3, bits[:, k - 1], bits[:, k])
    gone = rng.random(bits.shape) < 0.2
    columns = {
        f"x{k:02}": [None if g else int(b) for b, g in zip(bits[:, k], gone[:, k], strict=True)]
        for k in range(20)
    }
    return jn.Table(columns, states={name: ["0", "1"] for name in columns})


def jensen_holes(setting: Setting) -> Task:
    import jensen as jn

    table = holes()
    jn.MarkovNetwork("x00 - x01").fit(table)
    choices = {"tol": 1e-7}
    return Task(
        lambda _: jn.MarkovNetwork(**choices).fit(table), answer=lambda net: net.free_energy_
    )


def digits() -> tuple[Array, Array]:
    """Black and white digits to learn from, and others."""
    from sklearn.datasets import load_digits

    images = (load_digits().data >= 8).astype(float)
    return images[:1500], images[1500:]


def jensen_digits(setting: Setting) -> Task:
    import jensen as jn

    seen, others = digits()
    machine = jn.RBM(HIDDEN, method="pcd", n_iter=PASSES, random_state=0)
    machine.fit(seen[:100])
    return Task(
        lambda _: machine.fit(seen),
        answer=lambda model: float(model.score(others)),
        details=lambda model: [f"{model.score(others):.3f} nats a digit that was left out"],
    )


def sklearn_digits(batch: int) -> Any:
    def setup(setting: Setting) -> Task:
        from sklearn.neural_network import BernoulliRBM

        from jensen.inference.restricted import FittedRestricted

        seen, others = digits()

        def run(_: Any) -> Any:
            model = BernoulliRBM(
                HIDDEN, batch_size=batch, learning_rate=0.05, n_iter=PASSES, random_state=0
            )
            return model.fit(seen)

        def real(model: Any) -> float:
            found = FittedRestricted(
                model.intercept_visible_, model.intercept_hidden_, model.components_.T
            )
            return float(found.log_likelihood(others).mean())

        return Task(run, answer=real, details=lambda m: [f"{real(m):.3f} nats a digit left out"])

    return setup


WORKLOADS = [
    Workload(
        "markov-pairs",
        "maximum likelihood of all pairs of 6 bits, 1,841 rows as 64 weighted cells",
        Contender("jensen", jensen_pairs, "jensen"),
        [Contender("proportional fitting in NumPy", fitted_in_turn, "numpy")],
        Check(relative_difference, 1e-7, "relative, of the log-likelihood"),
        goal=Goal(seconds=0.0015),
    ),
    Workload(
        "markov-holes",
        "maximum likelihood of all pairs of 20 bits, 1,000 rows, 20 % missing",
        Contender("jensen", jensen_holes, "jensen"),
        [],
        Check(relative_difference, 1e-6, "relative, of the log-likelihood"),
        goal=Goal(seconds=2.0),
    ),
    Workload(
        "rbm-digits",
        "a restricted Boltzmann machine of 1,500 digits, 16 hidden units, 20 passes",
        Contender("jensen", jensen_digits, "jensen"),
        [
            Contender("scikit-learn, batches of 10", sklearn_digits(10), "scikit-learn"),
            Contender("scikit-learn, batches of 100", sklearn_digits(100), "scikit-learn"),
        ],
        Check(lambda a, b: max(0.0, b - a), 0.0, "nats a digit less than the other"),
        goal=Goal(seconds=0.1),
    ),
]
