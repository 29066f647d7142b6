"""Boltzmann machines of bits: against listing, gaps, hidden units, files, contract."""

import contextlib
import json
import warnings
from itertools import product
from unittest import SkipTest

import numpy as np
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

import jensen as jn


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(2)
    X = (rng.random((300, 5)) < 0.5).astype(float)
    X[:, 1] = np.where(rng.random(300) < 0.8, X[:, 0], X[:, 1])
    X[:, 4] = np.where(rng.random(300) < 0.7, 1.0 - X[:, 2], X[:, 4])
    X[rng.random(X.shape) < 0.15] = np.nan
    return X


def joint(machine):
    """All states, and their log probabilities by the definition."""
    states = np.array(list(product((0.0, 1.0), repeat=len(machine.biases_))))
    logs = states @ machine.biases_ + 0.5 * ((states @ machine.weights_) * states).sum(1)
    return states, logs


def log_row(machine, row):
    states, logs = joint(machine)
    fits = ((states[:, : len(row)] == row) | np.isnan(row)).all(1)
    return np.logaddexp.reduce(logs[fits]) - np.logaddexp.reduce(logs)


@pytest.mark.parametrize("n_hidden", [0, 2])
def test_weights_give_the_likelihood(rows, n_hidden):
    found = jn.BoltzmannMachine(n_hidden, ridge=1.0, tol=1e-7, random_state=0).fit(rows)
    wanted = [log_row(found, row) for row in rows]
    np.testing.assert_allclose(found.log_likelihood(rows), wanted, rtol=1e-9)
    assert found.log_z_ == pytest.approx(np.logaddexp.reduce(joint(found)[1]))
    assert (np.diff(found.trace_) >= -1e-9).all()
    np.testing.assert_array_equal(found.weights_, found.weights_.T)
    filled = found.impute(rows)
    i = int(np.flatnonzero(np.isnan(rows).any(1))[0])
    gone = np.isnan(rows[i])
    on = rows[i].copy()
    on[np.flatnonzero(gone)[0]] = 1.0
    p = np.exp(log_row(found, on) - log_row(found, rows[i]))
    assert filled[i, np.flatnonzero(gone)[0]] == pytest.approx(p)
    if n_hidden:
        assert found.transform(rows).shape == (300, 2)
        assert found.weights_[5, 6] == 0.0  # hidden units do not interact


def test_some_edges_and_draws(rows):
    found = jn.BoltzmannMachine(edges=[(0, 1), (2, 4)]).fit(rows)
    assert np.count_nonzero(found.weights_) == 4
    drawn = found.sample(4000, random_state=0)
    states, logs = joint(found)
    p = np.exp(logs - np.logaddexp.reduce(logs))
    np.testing.assert_allclose(drawn.mean(0), p @ states, atol=0.04)


def test_files(rows, tmp_path):
    found = jn.BoltzmannMachine(1, ridge=1.0, edges=[(0, 5), (1, 5)], random_state=0).fit(rows)
    again = jn.BoltzmannMachine.from_dict(json.loads(json.dumps(found.to_dict())))
    np.testing.assert_array_equal(again.weights_, found.weights_)
    assert again.get_params() == found.get_params()
    found.save(tmp_path / "x.json")
    assert jn.load(tmp_path / "x.json").free_energy_ == found.free_energy_
    assert "hidden unit" in found.summary().text
    with pytest.raises(jn.FileError, match="the number of units"):
        jn.BoltzmannMachine.from_dict({**found.to_dict(), "visible": 3})


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"n_hidden": -1}, "n_hidden"),
        ({"ridge": -1.0}, "ridge must be a number"),
        ({"edges": [(0, 9)]}, "pairs of different units"),
        ({"edges": [(1, 1)]}, "pairs of different units"),
        ({"method": "em"}, "no method 'em'"),
    ],
)
def test_choices_that_are_refused(rows, choices, message):
    with pytest.raises(jn.JensenError, match=message):
        jn.BoltzmannMachine(**choices).fit(rows)


def test_rows_that_are_refused(rows):
    with pytest.raises(jn.DataError, match="units are 0 or 1"):
        jn.BoltzmannMachine().fit([[0.5, 1.0]])
    with pytest.raises(jn.JensenError, match="no hidden units"):
        jn.BoltzmannMachine(ridge=1.0).fit(rows).transform(rows)
    with pytest.raises(jn.NotFittedError):
        jn.BoltzmannMachine().score(rows)


class Cut(jn.BoltzmannMachine):
    """Numbers cut to bits first: scikit-learn's checks have no data of this kind."""

    def _read(self, X, *, reset=False):
        from jensen.estimators.arrays import read_matrix

        values = read_matrix(self, X, reset=reset)
        return np.where(np.isnan(values), np.nan, (values > 0.5).astype(float))


def test_scikit_learns_checks():
    estimator = Cut(1, edges=[(0, 1)], ridge=1.0, max_iter=3, tol=1e-3, random_state=0)
    for found, check in estimator_checks_generator(estimator, legacy=True):
        with warnings.catch_warnings(action="ignore"), contextlib.suppress(SkipTest):
            check(found)
