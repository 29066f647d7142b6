"""Ascents that look ahead: they never fall, cost little where they are wrong, and resume alike."""

import warnings

import numpy as np
import pytest

import jensen as jn
from jensen import acceleration, free_energy
from jensen.acceleration import AscentPath, _combined, _newton
from jensen.runs.checkpoint import Checkpoint


def slow_table():
    """Three classes behind four questions: 14 parameters of 15 that the table could tell."""
    rng = np.random.default_rng(4)
    yes = np.array([[0.95, 0.85, 0.9, 0.8], [0.6, 0.35, 0.3, 0.25], [0.2, 0.1, 0.05, 0.1]])
    state = rng.choice(3, 220, p=[0.25, 0.5, 0.25])
    rows = rng.random((220, 4)) < yes[state]
    return jn.Table({name: rows[:, i].astype(str) for i, name in enumerate("abcd")})


def numbers():
    rng = np.random.default_rng(0)
    near = rng.normal(size=(120, 2)), rng.normal(size=(120, 2)) * 1.5 + [1.4, 0.6]
    return np.concatenate(near)


def holes(values, share=0.15):
    values = values.copy()
    values[np.random.default_rng(1).random(values.shape) < share] = np.nan
    return values


def five_columns():
    """One factor behind five columns."""
    rng = np.random.default_rng(2)
    return rng.normal(size=(100, 1)) @ rng.normal(size=(1, 5)) + 0.7 * rng.normal(size=(100, 5))


LABELS = {
    name: [None if (i * 7 + k) % 11 == 0 else f"{(i // (k + 2)) % 2}" for i in range(120)]
    for k, name in enumerate("xyz")
}
LEARNERS = {
    "latent class": (lambda **c: jn.LatentClass(2, random_state=1, **c), slow_table()),
    "latent class, vbem": (
        lambda **c: jn.LatentClass(3, prior={}, random_state=0, **c), slow_table()
    ),
    "mixture": (lambda **c: jn.GaussianMixture(2, random_state=0, **c), holes(numbers())),
    "mixture, vbem": (
        lambda **c: jn.GaussianMixture(2, prior={}, random_state=0, **c), holes(numbers())
    ),
    "mixture, tied": (
        lambda **c: jn.GaussianMixture(2, covariance="tied", random_state=0, **c), numbers()
    ),
    "chain": (lambda **c: jn.HiddenMarkovModel(2, random_state=0, **c), numbers()),
    "factors": (
        lambda **c: jn.FactorAnalysis(1, rotate=False, **c),
        holes(five_columns(), 0.1),
    ),
    "bits, mean field": (
        lambda **c: jn.BinaryFactors(2, method="mean-field", random_state=0, max_iter=60, **c),
        numbers(),
    ),
    "network": (
        lambda **c: jn.BayesianNetwork(
            "H -> x; H -> y; H -> z", hidden={"H": 2}, random_state=0, **c
        ),
        LABELS,
    ),
    "network, vbem": (
        lambda **c: jn.BayesianNetwork("x -> y; y -> z", prior="bdeu", random_state=0, **c),
        LABELS,
    ),
    "trees, vbem": (
        lambda **c: jn.MixtureOfTrees(2, prior={}, random_state=0, **c), slow_table()
    ),
    "trees": (lambda **c: jn.MixtureOfTrees(2, random_state=0, **c), LABELS),
}  # fmt: skip


def fit(name, **choices):
    make, data = LEARNERS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.EstimateWarning)
        return make(**choices).fit(data)


@pytest.mark.parametrize("name", LEARNERS)
def test_every_ascent_ends_as_high_and_never_falls(name):
    plain, ahead = fit(name), fit(name, accelerate=True)
    assert (np.diff(ahead.trace_) >= -1e-9 * abs(ahead.free_energy_)).all()
    assert ahead.free_energy_ > plain.free_energy_ - 1e-4 * abs(plain.free_energy_)
    assert ahead.n_sweeps_ == len(ahead.trace_) - 1


def test_a_slow_ascent_takes_a_tenth_of_the_sweeps():
    table = slow_table()
    choices = {"tol": 1e-12, "max_iter": 5_000, "random_state": 1}
    plain = jn.LatentClass(3, **choices).fit(table)
    ahead = jn.LatentClass(3, accelerate=True, **choices).fit(table)
    assert ahead.free_energy_ > plain.free_energy_ > ahead.free_energy_ - 1e-6
    quick = int(np.argmax(ahead.trace_ > ahead.free_energy_ - 1e-8))
    assert plain.n_sweeps_ > 3000  # where plain sweeps are still further below
    assert quick <= plain.n_sweeps_ / 10


def test_a_rejected_step_costs_one_pass(monkeypatch):
    """With proposals that are always dropped the plain sweeps remain, each after one pass more."""
    plain = fit("latent class")
    monkeypatch.setattr(acceleration, "_try", lambda *arguments: None)
    ahead = fit("latent class", accelerate=True)
    assert ahead.n_sweeps_ <= 2 * plain.n_sweeps_
    distinct = ahead.trace_[np.insert(np.diff(ahead.trace_) != 0.0, 0, True)]
    np.testing.assert_array_equal(distinct, plain.trace_[: len(distinct)])


def test_units_of_columns_change_no_step():
    rows = numbers()
    first, other = (
        jn.GaussianMixture(2, random_state=0, accelerate=True, tol=1e-7).fit(rows * scale)
        for scale in ([1.0, 1.0], [1e3, 1e-4])
    )
    assert abs(first.n_sweeps_ - other.n_sweeps_) <= 2
    np.testing.assert_allclose(first.weights_, other.weights_, atol=1e-4)


def test_steps_of_a_linear_map():
    """Near a fixed point a sweep is linear: past states combine to it, of so many dimensions."""
    rng = np.random.default_rng(0)
    turn = rng.normal(size=(3, 3))
    slope = turn @ np.diag([0.9, 0.5, 0.1]) @ np.linalg.inv(turn)
    goal = rng.normal(size=3)
    x = [rng.normal(size=3)]
    for _ in range(4):
        x.append(goal + slope @ (x[-1] - goal))
    before, after = np.array(x[:-1]), np.array(x[1:])
    weight = np.ones(3)
    np.testing.assert_allclose(before[-1] + _combined(before, after, weight), goal, rtol=1e-4)
    newton = _newton(before, after, weight)
    assert newton @ (after[-1] - before[-1]) > 0.0  # it never leads downhill


class KilledError(Exception):
    """Ends a run in the middle."""


@pytest.mark.parametrize("n", [2, 7, 12])
def test_a_killed_run_resumes_to_the_same_result(n, tmp_path, monkeypatch):
    monkeypatch.setattr(Checkpoint, "save_sometimes", lambda self, make: self.save(*make()))
    jn.set_threads(1)
    make, data = LEARNERS["latent class, vbem"]
    whole = make(accelerate=True, n_init=2).fit(data)
    path, real, left = tmp_path / "run.checkpoint", acceleration.advance, iter(range(n))

    def advance(*arguments):
        if next(left, None) is None:
            raise KilledError
        return real(*arguments)

    monkeypatch.setattr(acceleration, "advance", advance)
    with pytest.raises(KilledError):
        make(accelerate=True, n_init=2).fit(data, checkpoint=path)
    monkeypatch.setattr(acceleration, "advance", real)
    again = make(accelerate=True, n_init=2).fit(data, checkpoint=path)
    jn.set_threads(None)
    np.testing.assert_array_equal(again.trace_, whole.trace_)
    np.testing.assert_array_equal(again.starts_, whole.starts_)
    with pytest.raises(jn.FileError, match="it belongs to another run"):
        make(n_init=2).fit(data, checkpoint=path)


def test_what_is_refused():
    with pytest.raises(jn.JensenError, match="accelerate must be True or False, not 'yes'"):
        jn.LatentClass(2, accelerate="yes").fit(slow_table())
    with pytest.raises(jn.JensenError, match="accelerate belongs to methods such as 'em'"):
        jn.LatentClass(2, method="gibbs", accelerate=True).fit(slow_table())


def test_complete_data_need_no_steps():
    table = {"a": ["x", "y", "y"], "b": ["u", "u", "v"]}
    net = jn.BayesianNetwork("a -> b", accelerate=True).fit(table)
    assert net.n_sweeps_ == 0
    assert AscentPath().before == ()
    assert free_energy.EM.ascends
