"""Hidden Markov models: sweeps of Baum-Welch from the same start, and a very long sequence."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.agree import relative_difference
from benchmarks.workload import Check, Contender, Goal, Setting, Task, Workload

STATES, SYMBOLS, COLUMNS, SEQUENCES, STEPS, SWEEPS = 5, 8, 2, 200, 1_000, 20
LONG = 10_000_000

Array = NDArray[np.float64]


def parameters() -> dict[str, Array]:
    """States that stay a while, and what they make."""
    rng = np.random.default_rng(0)
    return {
        "initial": np.full(STATES, 1.0 / STATES),
        "transition": 0.9 * np.eye(STATES) + 0.1 / STATES,
        "emission": rng.dirichlet(np.ones(SYMBOLS), STATES),
        "means": 2.0 * rng.normal(size=(STATES, COLUMNS)),
        "covariances": np.repeat(np.eye(COLUMNS)[None], STATES, axis=0),
    }


def start() -> dict[str, Array]:
    """Not the truth, but on the way to it."""
    truth, rng = parameters(), np.random.default_rng(1)
    return {
        "initial": truth["initial"],
        "transition": 0.5 * truth["transition"] + 0.5 / STATES,
        "emission": 0.5 * truth["emission"] + 0.5 * rng.dirichlet(np.ones(SYMBOLS), STATES),
        "means": truth["means"] + rng.normal(size=(STATES, COLUMNS)),
        "covariances": 2.0 * truth["covariances"],
    }


def paths(n_sequences: int, n_steps: int) -> NDArray[np.int64]:
    """(sequences, steps): drawn step by step, all sequences at once."""
    rng, truth = np.random.default_rng(2), parameters()
    below = np.cumsum(truth["transition"], axis=1)
    states = np.empty((n_sequences, n_steps), np.int64)
    states[:, 0] = rng.integers(STATES, size=n_sequences)
    for t in range(1, n_steps):
        uniform = rng.random(n_sequences)
        states[:, t] = (below[states[:, t - 1]] <= uniform[:, None]).sum(1).clip(max=STATES - 1)
    return states


def steps(kind: str, n_sequences: int = SEQUENCES, n_steps: int = STEPS) -> NDArray[Any]:
    """The rows of all sequences, one sequence after the other."""
    rng, truth = np.random.default_rng(3), parameters()
    states = paths(n_sequences, n_steps).ravel()
    if kind == "gaussian":
        return truth["means"][states] + rng.normal(size=(len(states), COLUMNS))
    below, uniform = np.cumsum(truth["emission"], axis=1), rng.random(len(states))
    drawn = np.zeros(len(states), np.int8)
    for symbol in range(SYMBOLS - 1):
        drawn += below[states, symbol] <= uniform
    return drawn[:, None]


def jensen(setting: Setting, kind: str) -> Task:
    import warnings

    import jensen as jn

    warnings.simplefilter("ignore", jn.EstimateWarning)  # it is stopped on purpose
    x, lengths = steps(kind), np.full(SEQUENCES, STEPS)
    wanted = ("means", "covariances") if kind == "gaussian" else ("emission",)
    first = {name: start()[name] for name in ("initial", "transition", *wanted)}
    symbols = range(SYMBOLS) if kind == "categorical" else None

    def run(_: Any) -> Any:
        model = jn.HiddenMarkovModel(
            STATES, emission=kind, symbols=symbols, start=first, max_iter=SWEEPS, tol=0.0
        )
        return model.fit(x, lengths=lengths)

    return Task(run, answer=lambda model: model.free_energy_)


def hmmlearn(setting: Setting, kind: str, implementation: str) -> Task:
    import logging

    from hmmlearn import hmm

    logging.getLogger("hmmlearn").setLevel(logging.ERROR)  # it is stopped on purpose
    x, lengths, first = steps(kind), [STEPS] * SEQUENCES, start()

    def run(_: Any) -> Any:
        common = {
            "n_components": STATES,
            "n_iter": SWEEPS,
            "tol": -np.inf,
            "init_params": "",
            "implementation": implementation,
        }
        if kind == "gaussian":
            model = hmm.GaussianHMM(covariance_type="full", covars_prior=0.0, **common)
            model.covars_weight = 0
            model.means_, model.covars_ = first["means"], first["covariances"]
        else:
            model = hmm.CategoricalHMM(**common)
            model.emissionprob_ = first["emission"]
        model.startprob_, model.transmat_ = first["initial"], first["transition"]
        return model.fit(x, lengths)

    return Task(run, answer=lambda model: model.score(x, lengths))


def long_sequence(setting: Setting) -> Task:
    """One sweep and the log-likelihood of one sequence."""
    import warnings

    import jensen as jn

    warnings.simplefilter("ignore", jn.EstimateWarning)  # it is stopped on purpose
    x = steps("categorical", 1_000, LONG // 1_000)
    first = {name: start()[name] for name in ("initial", "transition", "emission")}

    def run(_: Any) -> Any:
        model = jn.HiddenMarkovModel(
            STATES, symbols=range(SYMBOLS), start=first, max_iter=1, tol=0.0
        )
        return model.fit(x)

    def details(model: Any) -> list[str]:
        again = float(model.log_likelihood(x)[0])
        difference = abs(again / model.free_energy_ - 1.0)
        return [f"its log-likelihood by itself differs by {difference:.0e}, relative"]

    return Task(run, details=details)


def _hmmlearn(name: str, kind: str, implementation: str) -> Contender:
    """As it comes, in log space, or by its quicker implementation."""
    setup = partial(hmmlearn, kind=kind, implementation=implementation)
    return Contender(name, setup, "hmmlearn", threads=1)


def _race(kind: str, what: str, ratio: float) -> Workload:
    return Workload(
        f"hmm-{kind}",
        f"20 sweeps of EM: 200 sequences of 1,000 steps, 5 states, {what}",
        Contender("jensen", partial(jensen, kind=kind), "jensen"),
        [
            _hmmlearn("hmmlearn", kind, "log"),
            _hmmlearn("hmmlearn, scaling", kind, "scaling"),
        ],
        Check(relative_difference, 1e-7, "relative, of the log-likelihood"),
        goal=Goal(ratio=ratio),
    )


WORKLOADS = [
    _race("categorical", "8 symbols", 10),
    _race("gaussian", "2 columns with full covariances", 20),
    Workload(
        "hmm-long",
        "a sweep of EM over one sequence of ten million steps, 5 states, 8 symbols",
        Contender("jensen", long_sequence, "jensen"),
        threads=1,
        goal=Goal(gib=1.0),
    ),
    Workload(
        "hmm-threads",
        "20 sweeps of EM of the Gaussian chains, two threads beside one",
        Contender("jensen", partial(jensen, kind="gaussian"), "jensen"),
        [Contender("jensen, one thread", partial(jensen, kind="gaussian"), "jensen", threads=1)],
        Check(relative_difference, 0.0, "relative, of the log-likelihood"),
        threads=2,
        goal=Goal(speedup=1.7),
    ),
]
