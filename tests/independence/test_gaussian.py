"""Fisher's z, against regressions and the marks of 88 students."""

from itertools import combinations

import numpy as np
import pytest
from naive import independence as naive
from scipy import stats

import jensen as jn
from jensen.independence.gaussian import NO_SPREAD, TOO_FEW, GaussianTests

CORRELATIONS = np.array(
    [
        [1.0, 0.553, 0.547, 0.409, 0.389],
        [0.553, 1.0, 0.610, 0.485, 0.436],
        [0.547, 0.610, 1.0, 0.711, 0.665],
        [0.409, 0.485, 0.711, 1.0, 0.607],
        [0.389, 0.436, 0.665, 0.607, 1.0],
    ]
)
"""Marks of 88 students: Mardia, Kent and Bibby (1979), *Multivariate Analysis*."""

PARTIAL = {(0, 1): 0.33, (0, 2): 0.23, (1, 2): 0.28, (2, 3): 0.43, (2, 4): 0.36, (3, 4): 0.25}
"""Given the three others: Whittaker (1990), *Graphical Models in Applied Multivariate Statistics*;
the other four are below 0.09."""


def make_columns(seed, n_rows=60, n=5, missing=0.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, n))
    for k in range(1, n):
        x[:, k] += x[:, :k] @ (rng.normal(size=k) * (rng.random(k) < 0.6))
    x[rng.random(x.shape) < missing] = np.nan
    return 1e3 + 5.0 * x


def make_table(x, weights=None):
    names = [f"x{k}" for k in range(x.shape[1])]
    return jn.Table(x, names=names, continuous=names, weights=weights)


@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_partial_correlations_are_those_of_residuals(missing):
    x = make_columns(1, missing=missing)
    tests = GaussianTests(make_table(x))
    for a, b in combinations(range(5), 2):
        rest = [v for v in range(5) if v not in (a, b)]
        sets = [given for size in range(4) for given in combinations(rest, size)]
        for given in sets:
            r, n = naive.partial_correlation(x[:, a], x[:, b], x[:, list(given)].T)
            z = np.sqrt(n - len(given) - 3) * np.arctanh(r)
            found = tests.measure(a, b, given)
            assert (found.n_rows, found.degrees_of_freedom) == (n, n - len(given) - 3)
            np.testing.assert_allclose(found.statistic, z, rtol=1e-9, atol=1e-9)
            expected = np.log(2.0) + stats.norm.logsf(abs(z))
            np.testing.assert_allclose(found.log_p, expected, rtol=1e-8, atol=1e-9)
        many = tests.log_p_values([(a, b, given) for given in sets])
        one = [tests.measure(a, b, given).log_p for given in sets]
        np.testing.assert_allclose(many, one, rtol=1e-9, atol=1e-12)


def test_marks():
    """Rows with exactly the published correlations."""
    rng = np.random.default_rng(0)
    free = rng.normal(size=(88, 5))
    free -= free.mean(0)
    x = np.linalg.qr(free)[0] @ np.linalg.cholesky(CORRELATIONS).T
    tests = GaussianTests(make_table(x))
    for a, b in combinations(range(5), 2):
        rest = tuple(v for v in range(5) if v not in (a, b))
        found = tests.measure(a, b, rest)
        r = np.tanh(found.statistic / np.sqrt(88 - 6))
        if (a, b) in PARTIAL:
            assert round(r, 2) == PARTIAL[a, b]
        else:
            assert abs(r) < 0.09


def test_weights_are_frequencies():
    x = make_columns(2)
    weights = np.random.default_rng(0).integers(0, 4, len(x))
    few, many = (
        GaussianTests(make_table(x, weights)),
        GaussianTests(make_table(np.repeat(x, weights, 0))),
    )
    for a, b in combinations(range(5), 2):
        given = tuple(v for v in range(5) if v not in (a, b))
        np.testing.assert_allclose(
            few.measure(a, b, given)[:4], many.measure(a, b, given)[:4], rtol=1e-9
        )


def test_what_has_no_spread_left_is_independent():
    x = make_columns(3)
    x[:, 1] = 7.0
    x[:, 2] = 2.0 * x[:, 0] - x[:, 3]
    tests = GaussianTests(make_table(x))
    for question in [(0, 1, ()), (1, 4, (0,)), (2, 4, (0, 3)), (0, 4, (2, 3))]:
        found = tests.measure(*question)
        assert (found.log_p, found.note) == (0.0, NO_SPREAD)
    # a constant that is given changes nothing but the degrees of freedom
    assert tests.measure(0, 4, (1,)).degrees_of_freedom == 56
    ratio = tests.measure(0, 4, (1,)).statistic / tests.measure(0, 4, ()).statistic
    np.testing.assert_allclose(ratio, np.sqrt(56 / 57))
    assert tests.measure(0, 2, (3,)).log_p == -np.inf  # what is left of them is the same


def test_too_few_rows_reject_nothing():
    tests = GaussianTests(make_table(make_columns(4, n_rows=5)))
    assert tests.measure(0, 1, (2, 3)).note == TOO_FEW
    assert tests.log_p_values([(0, 1, (2, 3))]).tolist() == [0.0]


@pytest.mark.slow
def test_p_values_of_independent_columns_are_uniform():
    """Kolmogorov and Smirnov's test may find less than 0.001 in one of 1,000."""
    rng, p_values = np.random.default_rng(5), []
    for _ in range(400):
        z = rng.normal(size=30)
        x = np.column_stack([z + rng.normal(size=30), z - rng.normal(size=30), z])
        p_values.append(np.exp(GaussianTests(make_table(x)).measure(0, 1, (2,)).log_p))
    assert stats.kstest(p_values, "uniform").pvalue > 0.001


@pytest.mark.parametrize("scale", [1e153, 1e-200, 1e300, 5e-300])
def test_columns_of_any_size_have_the_same_tests(scale):
    rng = np.random.default_rng(0)
    a = rng.normal(size=200)
    b = a + rng.normal(size=200)
    columns = {"a": a, "b": b, "c": b + rng.normal(size=200), "d": rng.normal(size=200)}
    plain = jn.Table(columns)
    power = 2.0 ** np.floor(np.log2(scale))
    scaled = jn.Table({name: power * values for name, values in columns.items()})
    found = jn.learn_structure(scaled, "pc")
    assert found == jn.learn_structure(plain, "pc")
    assert len(found.skeleton().edges) == 2
    one, other = (jn.independent(x, "a", "c", given=["b"]) for x in (plain, scaled))
    assert (one.p_value, one.statistic) == (other.p_value, other.statistic)
    states = {"s": np.where(rng.random(200) < 0.5, "x", "y")}
    test = "conditional-gaussian"
    one, other = (
        jn.independent(
            jn.Table({**{n: x.column(n).data for n in "abc"}, **states}),
            "a",
            "c",
            given=["s"],
            test=test,
        )
        for x in (plain, scaled)
    )
    assert one.p_value == pytest.approx(other.p_value, rel=1e-9)
    assert one.p_value < 1e-6
