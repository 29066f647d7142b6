"""Likelihood ratios of columns of both kinds, against regressions made one by one."""

import numpy as np
import pytest
from naive import independence as naive
from scipy import stats

import jensen as jn
from jensen.independence.categorical import CategoricalTests
from jensen.independence.mixed import NOTHING_LEFT, MixedTests


def make_data(seed, n_rows=400):
    """a, b, c are states, x, y, z numbers: x depends on a; c on z; y on x and b."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2, n_rows), rng.integers(0, 3, n_rows)
    z = rng.normal(size=n_rows)
    c = (z + rng.logistic(size=n_rows) > 0).astype(int) + (rng.random(n_rows) < 0.2)
    x = 0.3 * a + rng.normal(size=n_rows)
    y = 0.2 * x + 0.2 * b + rng.normal(size=n_rows) * (1.0 + 0.2 * b)
    return {"a": a, "b": b, "c": c, "x": x, "y": y, "z": z}


def make_tests(data, weights=None):
    return MixedTests(jn.Table(data, continuous=["x", "y", "z"], weights=weights))


def ratio(likelihood, data, response, other, numbers, strata):
    """Twice the gain of a regression for every state of the other, stratum by stratum."""
    total = 0.0
    keys = list(zip(*(data[name] for name in strata), strict=True)) if strata else None
    for key in sorted(set(keys)) if keys else [None]:
        rows = np.array([k == key for k in keys]) if keys else np.ones(len(data["a"]), bool)
        total -= likelihood(data[response][rows], [data[v][rows] for v in numbers])
        for state in np.unique(data[other][rows]):
            part = rows & (data[other] == state)
            total += likelihood(data[response][part], [data[v][part] for v in numbers])
    return 2.0 * total


def gaussian(y, numbers):
    return naive.gaussian_likelihood(y, numbers)[0]


def measure(tests, a, b, given=()):
    at = tests.names.index
    return tests.measure(at(a), at(b), tuple(sorted(at(v) for v in given)))


@pytest.mark.parametrize(
    ("response", "other", "numbers", "strata", "df"),
    [
        ("x", "a", [], [], 2),
        ("y", "b", ["x"], [], 6),
        ("y", "b", ["x", "z"], ["a"], 16),
    ],
)
def test_a_number_and_states(response, other, numbers, strata, df):
    data = make_data(1)
    found = measure(make_tests(data), other, response, numbers + strata)
    expected = ratio(gaussian, data, response, other, numbers, strata)
    assert (found.degrees_of_freedom, found.n_rows) == (df, 400)
    np.testing.assert_allclose(found.statistic, expected, rtol=1e-8)
    np.testing.assert_allclose(found.log_p, stats.chi2.logsf(expected, df), rtol=1e-8)


@pytest.mark.parametrize("strata", [[], ["a"], ["a", "b"]])
def test_two_numbers(strata):
    data = make_data(2)
    expected, n_strata = 0.0, 0
    keys = list(zip(*(data[v] for v in strata), strict=True)) or [()] * 400
    for key in set(keys):
        rows = np.array([k == key for k in keys])
        n_strata += 1
        r, n = naive.partial_correlation(data["x"][rows], data["y"][rows], [data["z"][rows]])
        expected -= n * np.log1p(-(r**2))
    for a, b in (("x", "y"), ("y", "x")):
        found = measure(make_tests(data), a, b, ["z", *strata])
        assert found.degrees_of_freedom == n_strata
        np.testing.assert_allclose(found.statistic, expected, rtol=1e-8)


@pytest.mark.parametrize(("numbers", "strata", "df"), [(["z"], [], 8), (["x", "z"], ["a"], 24)])
def test_two_columns_of_states_given_numbers(numbers, strata, df):
    data = make_data(3)
    likelihood = naive.logistic_likelihood
    # b and c have three states each: the first by name responds
    expected = ratio(likelihood, data, "b", "c", numbers, strata)
    found = measure(make_tests(data), "c", "b", numbers + strata)
    assert found.degrees_of_freedom == df
    np.testing.assert_allclose(found.statistic, expected, rtol=1e-5)


def test_states_alone_give_g_squared():
    data = make_data(4)
    states = {name: data[name] for name in "abc"}
    expected = CategoricalTests(jn.Table(states)).measure(0, 2, (1,))
    assert measure(make_tests(data), "a", "c", "b") == expected


def test_states_that_numbers_tell_apart_have_a_likelihood_of_one():
    """The likelihood rises to 1 for ever, with and without the other column."""
    data = make_data(5)
    data["c"] = (data["z"] > 0).astype(int)
    found = measure(make_tests(data), "b", "c", ["z"])  # c, of two states, responds
    assert found.statistic < 1e-6
    assert found.log_p > np.log(0.99)


def test_missing_values_and_weights():
    data = make_data(6, n_rows=120)
    weights = np.random.default_rng(0).integers(0, 4, 120)
    repeated = {name: np.repeat(values, weights) for name, values in data.items()}
    holed = {name: values.astype(float) for name, values in repeated.items()}
    holes = {name: np.concatenate([values, [np.nan] * 9]) for name, values in holed.items()}
    for name in ("x", "a"):
        holes[name][-9:] = 1.0
    for question in [("x", "a", []), ("x", "y", ["a"]), ("a", "c", ["z"]), ("y", "b", ["z"])]:
        few = measure(make_tests(data, weights), *question)
        many = measure(make_tests(repeated), *question)
        np.testing.assert_allclose(few[:4], many[:4], rtol=1e-7)
        some = measure(make_tests(holes), *question)
        assert some.n_rows == many.n_rows + (9 if question[0] == "x" and question[1] == "a" else 0)


def test_small_configurations_are_left_out():
    data = make_data(7)
    data["b"] = np.where(np.arange(400) < 2, 2, data["b"] % 2)  # two rows of state 2
    found = measure(make_tests(data), "b", "y", ["x"])
    rest = {name: values[2:] for name, values in data.items()}
    assert found.n_rows == 398
    np.testing.assert_allclose(
        found.statistic, ratio(gaussian, rest, "y", "b", ["x"], []), rtol=1e-8
    )


def test_a_number_that_states_fix_is_dependent_and_one_that_is_constant_is_not():
    data = make_data(8)
    data["x"] = 1.5 * data["a"]
    data["y"] = np.full(400, 3.25)
    tests = make_tests(data)
    assert measure(tests, "a", "x").log_p == -np.inf
    assert measure(tests, "a", "y")[:3] == (0.0, 0, 0.0)
    assert measure(tests, "a", "y").note == NOTHING_LEFT
    assert measure(tests, "x", "z", ["a"]).note == NOTHING_LEFT


@pytest.mark.parametrize(
    ("a", "b", "given"), [("x", "b", ["a"]), ("x", "z", ["a"]), ("b", "c", ["z"])]
)
def test_p_values_of_independent_columns_are_uniform(a, b, given):
    """Kolmogorov and Smirnov's test of 150 p-values may find less than 0.001 in one of 1,000."""
    p_values = [
        np.exp(measure(make_tests(make_data(100 + seed)), a, b, given).log_p) for seed in range(150)
    ]
    assert stats.kstest(p_values, "uniform").pvalue > 0.001
