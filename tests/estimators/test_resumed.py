"""Every kind of model by every method: a run that is killed and resumed is the same, bit by bit."""

import warnings
from typing import NamedTuple

import numpy as np
import pytest
from models.emission_table import CASES, as_given, rows_of

import jensen as jn
from jensen import free_energy
from jensen.runs.checkpoint import Checkpoint

CHAINS = {"n_chains": 2, "n_samples": 8, "burn_in": 3, "thin": 2}
ASCENTS = {"n_init": 2, "tol": 1e-7, "max_iter": 40}
METHODS = {
    "em": ASCENTS,
    "vbem": ASCENTS,
    "viterbi": ASCENTS,
    "me": ASCENTS,
    "stochastic-em": CHAINS,
    "gibbs": CHAINS,
}


class Killed(BaseException):
    """Like a signal: nobody catches it."""


class Kind(NamedTuple):
    """How a model is made by a method, and what it learns from."""

    make: object  # (method, choices) -> estimator
    data: object


def labels_with_gaps(names="abc", seed=0):
    rng = np.random.default_rng(seed)
    h, columns = rng.random(40) < 0.4, {}
    for name in names:
        x = np.where(h, rng.random(40) < 0.8, rng.random(40) < 0.3)
        columns[name] = [None if rng.random() < 0.2 else "uv"[int(v)] for v in x]
    return columns


def numbers_with_gaps():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(40, 3)) @ [[1.0, 0.5, 0.2], [0.0, 1.0, 0.7], [0.0, 0.0, 1.0]]
    x[rng.random(x.shape) < 0.25] = np.nan
    return dict(zip("abc", x.T, strict=True))


def network(graph, default="bdeu", **more):
    def make(method, choices):
        prior = {"em": None, "viterbi": None, "stochastic-em": 1.5}.get(method, default)
        return jn.BayesianNetwork(graph, method=method, prior=prior, **more, **choices)

    return make


def states(kind, **more):
    """Mixtures, classes and chains: a default prior where a posterior is learned or drawn."""

    def make(method, choices):
        prior = {"em": None, "viterbi": None}.get(method, {})
        return kind(2, method=method, prior=prior, **more, **choices)

    return make


def kinds():
    """Every kind of model; of the Gaussian network the methods that it has."""
    yield (
        "hidden variable",
        Kind(network("h -> a; h -> b; h -> c", hidden={"h": 2}), labels_with_gaps()),
    )
    yield "missing labels", Kind(network("a -> b -> c; a -> c"), labels_with_gaps())
    yield "missing numbers", Kind(network("a -> b -> c; a -> c", "bge"), numbers_with_gaps())
    mixed = {
        **labels_with_gaps("ab"),
        "n": list(range(20)) * 2,
        "x": list(numbers_with_gaps()["a"]),
    }
    mixed["n"] = np.random.default_rng(1).poisson(3, 40) + 25 * (np.arange(40) % 2)
    yield "latent class", Kind(states(jn.LatentClass), mixed)
    for word, covariance in CASES:
        values = as_given(word, rows_of(word))
        if word == "gaussian":
            make = states(jn.GaussianMixture, covariance=covariance)
            yield f"mixture, {covariance}", Kind(make, values)
            make = states(jn.HiddenMarkovModel, emission=word, covariance=covariance)
        else:
            make = states(jn.HiddenMarkovModel, emission=word)
        yield f"chain, {word} {covariance}", Kind(make, values)


KINDS = dict(kinds())
CASES_OF_ALL = [
    (name, method)
    for name in KINDS
    for method in METHODS
    if name != "missing numbers" or method in ("em", "vbem")
]


@pytest.fixture(autouse=True)
def _saves_at_once(monkeypatch):
    monkeypatch.setattr(Checkpoint, "save_sometimes", lambda self, make: self.save(*make()))
    jn.set_threads(1)
    yield
    jn.set_threads(None)


def learn(name, method, path=None):
    kind = KINDS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.EstimateWarning)
        warnings.simplefilter("ignore", jn.DataWarning)
        estimator = kind.make(method, {"random_state": 1, **METHODS[method]})
        return estimator.fit(kind.data, checkpoint=path)


def killed(monkeypatch, n, work):
    """Whether the work died at its n-th sweep; else it ended before."""
    sweeps, real = iter(range(n)), free_energy.step

    def step(*args):
        if next(sweeps, None) is None:
            raise Killed
        return real(*args)

    with monkeypatch.context() as patch:
        patch.setattr(free_energy, "step", step)
        try:
            work()
        except Killed:
            return True
    return False


def content(estimator, path):
    """All that was learned and told, as bytes."""
    estimator.save(path)
    told = [getattr(estimator, name) for name in ("trace_", "starts_", "n_sweeps_", "converged_")]
    return path.read_bytes(), *(np.asarray(one).tobytes() for one in told)


@pytest.mark.parametrize(("name", "method"), CASES_OF_ALL)
def test_killed_after_every_sweep_and_resumed(name, method, tmp_path, monkeypatch):
    path, expected = tmp_path / "run", content(learn(name, method), tmp_path / "whole.json")
    lives = 1
    while killed(monkeypatch, lives, lambda: learn(name, method, path)):  # each a sweep longer
        lives += 1
    assert lives > 2
    assert content(learn(name, method, path), tmp_path / "resumed.json") == expected
