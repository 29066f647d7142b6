"""Scores of tables of counts, against logarithms and gamma functions of the standard library."""

import math

import numpy as np
import pytest
from scipy.special import gammaln

from jensen.data.statistics import FamilyCounts
from jensen.kernels.local_terms import BDEU, BDS, K2, LIKELIHOOD, score_family
from jensen.scores.registry import make_score

COUNTS = [0, 1, 2, 7, 8, 9, 63, 1000, 12_345, 999_999, 10_000_000]
SIZES = [1e-8, 1e-3, 0.1, 0.5, 1.0, 2.5, 20.0, 1e3, 1e6]


def kernel_score(table, kind, amount, parents=(), less=None):
    """The kernel on an array, whose last axis is the child."""
    flat = np.ascontiguousarray(np.moveaxis(table, -1, 0), np.int32).reshape(-1)
    above = parents or table.shape[:-1]
    room = np.empty(len(above)) if less is None else less
    sizes = np.array([table.shape[-1], *above], np.int64)
    return score_family(flat, sizes, 0, kind, amount, room)


def plain_score(table, name, n_total, **choices):
    """The formula of the same score on counts; `n_configs` are all configurations."""
    rows = np.asarray(table, float).reshape(-1, table.shape[-1])
    n_configs, rows = float(len(rows)), rows[rows.any(1)]
    counts = FamilyCounts(rows, n_configs, float(rows.sum()), ("x",), None)
    return make_score(name, **choices).local(counts, n_total)


@pytest.mark.parametrize("count", [2, 3, 5, 100, 65_535, 65_536, 2**30 + 1, 2**31 - 2])
def test_logarithms(count):
    """Of n and 1 the likelihood is n log n - (n + 1) log(n + 1); to 4 ulp of the larger term."""
    found = kernel_score(np.array([count, 1]), LIKELIHOOD, 0.0)
    larger = (count + 1) * math.log(count + 1)
    exact = -count * math.log1p(1.0 / count) - math.log(count + 1)
    assert found == pytest.approx(exact, rel=0.0, abs=4 * np.spacing(larger))


@pytest.mark.parametrize("a", SIZES)
@pytest.mark.parametrize("n", COUNTS)
def test_rises(a, n):
    """Γ(a + n)/Γ(a), over the same for 2a, to 1e-14 of the log gammas that stand in it."""
    found = kernel_score(np.array([n, 0]), BDEU, 2.0 * a)
    terms = [math.lgamma(a + n), -math.lgamma(a), -math.lgamma(2 * a + n), math.lgamma(2 * a)]
    size = max(map(abs, terms))
    if n < 8:  # factor by factor: no gamma functions cancel
        exact = sum(math.log((a + k) / (2 * a + k)) for k in range(n))
        assert found == pytest.approx(exact, rel=1e-13, abs=1e-14 * n * abs(math.log(a)))
    assert found == pytest.approx(math.fsum(terms), rel=0.0, abs=1e-14 * size + 1e-15)


@pytest.mark.parametrize("a", SIZES)
def test_sums_of_rises_over_many_cells(a):
    """More cells than are looked at together, a third of them empty, and small and large ones."""
    rng = np.random.default_rng(0)
    table = rng.integers(0, 3, (400, 3)) * rng.integers(0, 2000, (400, 3))
    alpha = a * table.size
    found = kernel_score(table, BDEU, alpha)
    cells = (gammaln(a + table) - gammaln(a)).sum()
    above = table.sum(1)
    expected = cells - (gammaln(3 * a + above) - gammaln(3 * a)).sum()
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12 * abs(gammaln(3 * a + 1)) * 400)


@pytest.mark.parametrize("shape", [(1,), (2,), (3, 2), (2, 3, 4), (5, 1, 3), (300, 7), (1, 1)])
@pytest.mark.parametrize("how", ["dense", "sparse", "empty", "one"])
@pytest.mark.parametrize(
    ("name", "kind", "amount"),
    [
        ("loglik", LIKELIHOOD, 0.0),
        ("aic", LIKELIHOOD, 1.0),
        ("bic", LIKELIHOOD, None),
        ("bdeu", BDEU, 0.3),
        ("bdeu", BDEU, 40.0),
        ("bds", BDS, 1.0),
        ("bds", BDS, 40.0),
        ("k2", K2, 0.0),
    ],
)
def test_every_kind_is_its_formula(shape, how, name, kind, amount):
    """With each parent left out too, to 1e-12."""
    rng = np.random.default_rng(len(shape))
    table = rng.integers(0, 50, shape) * {"dense": 1, "sparse": 0, "empty": 0, "one": 0}[how]
    if how == "sparse":
        table = rng.integers(0, 50, shape) * (rng.random(shape) < 0.2)
    if how == "one":
        table.flat[-1] = 1
    n = int(table.sum())
    if kind == LIKELIHOOD and amount is None:
        amount = 0.5 * math.log(max(n, 1))
    choices = {"equivalent_sample_size": amount} if name.startswith("bd") else {}
    less = np.empty(len(shape) - 1)
    found = kernel_score(table, kind, amount, shape[:-1], less)
    assert found == pytest.approx(plain_score(table, name, n, **choices), rel=1e-12, abs=1e-11)
    for axis in range(len(shape) - 1):
        expected = plain_score(table.sum(axis), name, n, **choices)
        assert less[axis] == pytest.approx(expected, rel=1e-12, abs=1e-11)
