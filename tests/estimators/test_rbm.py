"""Restricted Boltzmann machines: sums by listing, exact gradients, chains, gaps, contract."""

import contextlib
import json
import warnings
from unittest import SkipTest

import numpy as np
import pytest
from naive import restricted as naive
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

import jensen as jn
from jensen.inference.restricted import FittedRestricted, annealed_log_z
from jensen.models.log_linear_network import around


def machine(n_visible=5, n_hidden=3, seed=0, size=1.0):
    rng = np.random.default_rng(seed)
    return FittedRestricted(
        rng.normal(size=n_visible), rng.normal(size=n_hidden),
        size * rng.normal(size=(n_visible, n_hidden)),
    )  # fmt: skip


def by_rule(n_visible, n_hidden, a):
    """Weights that anyone can type again."""
    i, j = np.arange(n_visible)[:, None], np.arange(n_hidden)[None]
    weights = a * np.cos(0.7 * i + 1.3 * j + 0.11 * i * j)
    return FittedRestricted(0.2 * np.sin(0.9 * i[:, 0]), 0.1 * np.cos(1.1 * j[0]), weights)


HOLES = np.array([[1, np.nan, 0, np.nan, 1], [np.nan] * 5, [0, 1, 1, np.nan, 0]])


@pytest.fixture(scope="module")
def rows():
    """Bits that two hidden bits move, a tenth of them missing."""
    rng = np.random.default_rng(1)
    h = rng.integers(0, 2, (300, 2))
    logits = h @ np.array([[4.0, 4, 4, 0, 0, 0], [0, 0, 0, 4, 4, 4]]) - 2.0
    bits = (rng.random((300, 6)) < 1 / (1 + np.exp(-logits))).astype(float)
    bits[rng.random(bits.shape) < 0.1] = np.nan
    return bits


# --- sums ---


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (1, 1)])
def test_log_z_by_listing(shape):
    found = machine(*shape)
    assert found.log_z.kind == "exact"
    assert found.log_z.value == pytest.approx(naive.log_z(found), rel=1e-13)


def test_published_rule_of_weights():
    assert by_rule(16, 8, 0.5).log_z.value == pytest.approx(17.258550919404897, rel=1e-13)


@pytest.mark.parametrize("shape", [(5, 3), (5, 1)])
def test_questions_of_rows_with_gaps(shape):
    found = machine(*shape)
    for row, log_p, v, h in zip(
        HOLES,
        found.log_likelihood(HOLES),
        found.probable(HOLES),
        found.transform(HOLES),
        strict=True,
    ):
        wanted = naive.given(found, row)
        assert log_p == pytest.approx(wanted[0], abs=1e-12)
        np.testing.assert_allclose(v, wanted[1], atol=1e-12)
        np.testing.assert_allclose(h, wanted[2], atol=1e-12)


def test_annealing_estimates_and_says_so():
    found = by_rule(16, 8, 0.5)
    estimate = annealed_log_z(found.parameters, np.random.default_rng(0), 100, 1000)
    assert estimate.kind == "estimate"
    assert abs(estimate.value - found.log_z.value) < 4 * estimate.error < 0.02
    assert "estimate" in repr(estimate)
    assert "exact" in repr(found.log_z)


@pytest.mark.parametrize("shape", [(4, 2), (2, 4)])
def test_draws_are_exact(shape):
    found = machine(*shape)
    v, _, logs = naive.joint(found)
    n, powers = 20_000, 2 ** np.arange(shape[0])
    p = np.bincount((v @ powers).astype(int), np.exp(logs - naive.log_z(found)))
    drawn = found.sample(n, np.random.default_rng(0))
    counts = np.bincount((drawn @ powers).astype(int), minlength=len(p))
    assert ((counts - n * p) ** 2 / (n * p)).sum() < 40.0  # 15 degrees of freedom at most


def test_chains_draw_where_nothing_can_be_listed(monkeypatch):
    monkeypatch.setattr("jensen.inference.restricted.MOST_LISTED", 1)
    found = machine(4, 2)
    mean = found.sample(4000, np.random.default_rng(0)).mean(0)
    np.testing.assert_allclose(mean, naive.given(found, np.full(4, np.nan))[1], atol=0.04)
    assert found.log_z.kind == "estimate"
    with pytest.raises(jn.JensenError, match="misses 4 bits over 2 hidden units"):
        found.log_likelihood(np.full((1, 4), np.nan))


# --- exact learning ---


def test_f_is_the_likelihood_and_rises(rows):
    found = jn.RBM(2, random_state=0, tol=1e-9).fit(rows)
    assert found.method_ == "ml"
    assert (np.diff(found.trace_) >= -1e-9).all()
    wanted = sum(naive.given(found.fitted_, row)[0] for row in rows)
    assert found.free_energy_ == pytest.approx(wanted, rel=1e-11)
    assert found.score(rows) == pytest.approx(wanted / len(rows))


def test_the_gradient_by_differences(rows):
    from jensen import q_hidden
    from jensen.families.log_linear import LogLinear
    from jensen.free_energy import expect
    from jensen.models.log_linear_network import Weights

    weight = np.linspace(0.5, 2.0, 40)
    problem = jn.RBM(2)._problem(rows[:40], weight)
    model, units = problem.model, problem.data.units
    theta = np.random.default_rng(0).normal(size=6 + 2 + 12)

    def at(theta):
        t, mean = model.families.weights.at(theta)
        sums, _ = expect(model, units, q_hidden.exact, Weights(t))
        return sums.value, sums.stats.weights.first - weight.sum() * mean

    slope = at(theta)[1]
    for k in (0, 7, 11, 19):
        step = np.zeros(len(theta))
        step[k] = 1e-5
        wanted = (at(theta + step)[0] - at(theta - step)[0]) / 2e-5
        assert slope[k] == pytest.approx(wanted, rel=1e-6, abs=1e-6)
    assert isinstance(around(theta, 20).weights, LogLinear)


def test_a_ridge_has_all_its_constants(rows):
    found = jn.RBM(2, ridge=3.0, random_state=0).fit(rows)
    W = found.components_
    prior = 0.5 * W.size * np.log(3.0 / (2 * np.pi)) - 1.5 * (W**2).sum()
    wanted = sum(naive.given(found.fitted_, row)[0] for row in rows) + prior
    assert found.free_energy_ == pytest.approx(wanted, rel=1e-11)


def test_weights_of_rows_count(rows):
    weight = np.tile([1.0, 2.0, 0.0], 100)
    twice = np.repeat(rows, weight.astype(int), axis=0)
    one = jn.RBM(1, ridge=1.0, random_state=0).fit(rows, sample_weight=weight)
    other = jn.RBM(1, ridge=1.0, random_state=0).fit(twice)
    assert one.free_energy_ == pytest.approx(other.free_energy_, abs=1e-3)


def test_a_killed_run_resumes(rows, tmp_path):
    def fit(file=None):
        with warnings.catch_warnings(action="ignore"):
            return jn.RBM(2, max_iter=6, tol=0.0, random_state=1).fit(rows, checkpoint=file)

    whole, saved, again = fit(), fit(tmp_path / "run"), fit(tmp_path / "run")
    np.testing.assert_array_equal(whole.components_, saved.components_)
    np.testing.assert_array_equal(whole.components_, again.components_)


# --- chains ---


@pytest.mark.parametrize("method", ["cd", "pcd"])
def test_chains_come_near_maximum_likelihood(rows, method):
    exact = jn.RBM(2, n_init=3, tol=1e-6, random_state=0).fit(rows)
    found = jn.RBM(2, method=method, n_iter=200, batch_size=50, random_state=0)
    found.fit(rows)
    assert exact.score(rows) - 0.05 < found.score(rows) <= exact.score(rows) + 0.01
    assert np.isnan(found.free_energy_)
    assert found.converged_ is False
    assert "no bound" in found.summary().text


def test_digits_and_their_missing_pixels():
    """Half an image missing: filled in better than by the mean of its pixels."""
    X = (load_digits().data >= 8).astype(float)
    train, test = X[:1500], X[1500:1540]
    found = jn.RBM(16, method="pcd", n_iter=20, learning_rate=1.0, random_state=0).fit(train)
    assert found.score(X[1500:]) > -20.0
    holes = test.copy()
    holes[:, 32:40] = np.nan
    filled = found.impute(holes)[:, 32:40]
    mean = np.clip(train.mean(0), 0.01, 0.99)[32:40]

    def loss(p):
        bits = test[:, 32:40]
        return -np.mean(bits * np.log(p) + (1 - bits) * np.log(1 - p))

    assert loss(filled) < 0.75 * loss(np.broadcast_to(mean, filled.shape))
    drawn = found.impute(holes, "draw", n_sweeps=20, random_state=0)
    assert set(np.unique(drawn)) == {0.0, 1.0}
    np.testing.assert_array_equal(drawn[:, :32], test[:, :32])


def test_too_large_a_step_is_told(rows):
    with pytest.raises(jn.JensenError, match="learning_rate=1e"), np.errstate(all="ignore"):
        jn.RBM(2, method="cd", learning_rate=1e300, random_state=0).fit(rows)


def test_log_z_of_large_machines_is_an_estimate():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 25)).astype(float)
    found = jn.RBM(22, n_iter=2, random_state=0).fit(X)
    assert found.method_ == "pcd"
    with pytest.warns(jn.DataWarning, match="estimates, no bounds"):
        value = found.score(X)
    assert -25 * np.log(2) - 1.0 < value < 0.0


# --- contract ---


@pytest.fixture(scope="module")
def fitted(rows):
    return jn.RBM(2, ridge=0.5, random_state=4).fit(rows)


def test_files(fitted, tmp_path):
    again = jn.RBM.from_dict(json.loads(json.dumps(fitted.to_dict())))
    np.testing.assert_array_equal(again.components_, fitted.components_)
    assert again.free_energy_ == fitted.free_energy_
    fitted.save(tmp_path / "x.json")
    assert jn.load(tmp_path / "x.json").get_params() == fitted.get_params()
    chains = jn.RBM(2, method="cd", n_iter=1, random_state=0).fit(np.eye(4))
    assert np.isnan(jn.RBM.from_dict(chains.to_dict()).free_energy_)
    for change, message in (
        ({"weights": [[1.0]]}, "parts"),
        ({"hidden": [1.0]}, "parts|as many as"),
        ({"method_used": "x"}, "must be one of"),
        ({"columns": ["a"]}, "name every visible unit"),
    ):
        with pytest.raises(jn.FileError, match=message):
            jn.RBM.from_dict({**fitted.to_dict(), **change})


def test_names_of_columns_and_pipelines(rows):
    import pandas as pd

    frame = pd.DataFrame(rows, columns=list("abcdef"))
    found = make_pipeline(jn.RBM(2, random_state=0, max_iter=5, tol=1.0)).fit(frame)
    assert found.transform(frame).shape == (300, 2)
    assert list(found.get_feature_names_out()) == ["rbm0", "rbm1"]
    assert found[-1].gibbs(frame, random_state=0).shape == (300, 6)
    assert found[-1].sample(3, random_state=0).shape == (3, 6)
    assert found[-1].n_parameters == 6 + 2 + 12
    assert found[-1].n_iter_ >= 1


class Cut(jn.RBM):
    """Numbers cut to bits first: scikit-learn's checks have no data of this kind."""

    def _read(self, X, *, reset=False):
        from jensen.estimators.arrays import read_matrix

        values = read_matrix(self, X, reset=reset)
        return np.where(np.isnan(values), np.nan, (values > 0.5).astype(float))


@pytest.mark.parametrize("method", ["ml", "pcd"])
def test_scikit_learns_checks(method):
    estimator = Cut(1, method=method, max_iter=3, tol=1.0, ridge=1.0, n_iter=1, random_state=0)
    skipped = {
        "check_sample_weight_equivalence_on_dense_data",  # batches of chains; starts of exact ones
    }
    for found, check in estimator_checks_generator(estimator, legacy=True):
        if check.func.__name__ not in skipped:
            with warnings.catch_warnings(action="ignore"), contextlib.suppress(SkipTest):
                check(found)  # which skips what needs another array library


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"method": "em"}, "no method 'em'"),
        ({"ridge": -1.0}, "ridge must be a number"),
        ({"learning_rate": np.inf}, "learning_rate must be a number"),
        ({"n_components": 0}, "n_components"),
        ({"n_components": 10**12}, "hidden units"),
        ({"n_iter": 0}, "n_iter"),
    ],
)
def test_choices_that_are_refused(rows, choices, message):
    with pytest.raises(jn.JensenError, match=message):
        jn.RBM(**choices).fit(rows)


def test_rows_that_are_refused(rows, fitted, tmp_path):
    with pytest.raises(jn.DataError, match="units are 0 or 1"):
        jn.RBM(1).fit([[0.5, 1.0]])
    with pytest.raises(jn.DataError, match="column 1 has no values"):
        jn.RBM(1).fit([[0.0, np.nan], [1.0, np.nan]])
    with pytest.raises(jn.NotFittedError, match="not fitted yet"):
        jn.RBM(1).transform(rows)
    with pytest.raises(jn.JensenError, match="'mean' or 'draw'"):
        fitted.impute(rows, "mode")
    with pytest.raises(jn.JensenError, match="are not kept"):
        jn.RBM(1, method="cd").fit(np.eye(3), checkpoint=tmp_path / "x")
    with pytest.raises(jn.JensenError, match="lists all states of the smaller side"):
        jn.RBM(30, method="ml").fit(np.eye(40))
