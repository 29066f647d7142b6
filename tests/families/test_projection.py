"""A(η) of each distribution, and the way back from expected statistics to η; one row per family."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from jensen.exceptions import JensenError
from jensen.families import (
    gamma,
    gaussian_vectors,
    linear_regression,
    normal_gamma,
    normal_wishart,
    spherical,
    tied,
)
from jensen.families.dirichlet import MaskedDirichlet, SegmentedDirichlet, beta, dirichlet
from jensen.families.dirichlet_posterior import PosteriorDirichlet
from jensen.families.gamma import Gamma
from jensen.families.partly_known import KnownMeans, KnownPrecisions
from jensen.families.point_mass import PointMass
from jensen.families.product import Product
from jensen.support.fields import leaves

RNG = np.random.default_rng(0)
K, D = 3, 2
MASK = np.array([[True, False, True, True], [True, True, False, False]])


def positive(*shape):
    """Matrices that are positive definite."""
    root = RNG.standard_normal((*shape, D, D)) + 2.0 * np.eye(D)
    return root @ np.swapaxes(root, -1, -2)


MEANS, WORTH = RNG.standard_normal((K, D)), RNG.uniform(0.3, 3.0, (K, D))
ONE, OTHER = WORTH.T
PRECISIONS = positive(K)
RAGGED = np.array([2, 1, 4])

CUBE = RNG.uniform(-0.9, 5.0, (2, 3, 4))
FLAT = RNG.uniform(-0.9, 4.0, 7)
INSIDE = np.where(MASK, RNG.uniform(0.0, 3.0, MASK.shape), 0.0)
RATES = Gamma(*RNG.uniform(0.2, 3.0, (2, 4, 1)))
FULL = normal_wishart.from_standard(MEANS, ONE, OTHER + D, positive(K))
TIED = tied.from_standard(MEANS, ONE, np.asarray(4.5), positive())
DIAGONAL = normal_gamma.from_standard(MEANS, WORTH, WORTH + 0.5, WORTH)
SPHERICAL = spherical.from_standard(MEANS, ONE, OTHER, ONE)
VECTORS = gaussian_vectors.from_standard(MEANS, positive(K))
SLOPES = linear_regression.from_standard(MEANS, positive(K), ONE, OTHER)


class Case(NamedTuple):
    family: Any
    eta: Any
    parts: list[tuple[Any, Any]]  # families of the single distributions, and their η


def rows(family, eta):
    """Distributions that stand along the first axis."""
    return [(family, type(eta)(*(x[k : k + 1] for x in eta))) for k in range(len(eta[0]))]


def cells(family, eta):
    """Distributions that stand along two axes."""
    return [part for _, row in rows(family, eta) for part in rows(family, _turned(row))]


def _turned(row):
    return type(row)(*(x.T for x in row))


CASES = {
    "dirichlet": Case(dirichlet, CUBE, [(dirichlet, row) for row in CUBE.reshape(6, 4)]),
    "ragged": Case(
        SegmentedDirichlet(RAGGED), FLAT, [(dirichlet, row) for row in np.split(FLAT, [2, 3])]
    ),
    "beta": Case(beta, CUBE[0, :, :2], [(beta, row) for row in CUBE[0, :, :2]]),
    "masked": Case(
        MaskedDirichlet(MASK),
        INSIDE,
        [(dirichlet, row[mask]) for row, mask in zip(INSIDE, MASK, strict=True)],
    ),
    "gamma": Case(gamma, RATES, rows(gamma, RATES)),
    "spherical": Case(spherical, SPHERICAL, rows(spherical, SPHERICAL)),
    "diagonal": Case(normal_gamma, DIAGONAL, cells(normal_gamma, DIAGONAL)),
    "full": Case(normal_wishart, FULL, rows(normal_wishart, FULL)),
    "tied": Case(tied, TIED, [(tied, TIED)]),
    "vectors": Case(gaussian_vectors, VECTORS, rows(gaussian_vectors, VECTORS)),
    "regression": Case(linear_regression, SLOPES, rows(linear_regression, SLOPES)),
}
NO_WAY_BACK = {
    "known means": Case(
        KnownMeans(MEANS, "full"),
        FULL,
        [(KnownMeans(MEANS[[k]], "full"), eta) for k, (_, eta) in enumerate(rows(None, FULL))],
    ),
    "known precisions": Case(
        KnownPrecisions(PRECISIONS, "full"),
        FULL,
        [
            (KnownPrecisions(PRECISIONS[[k]], "full"), eta)
            for k, (_, eta) in enumerate(rows(None, FULL))
        ],
    ),
    "known precisions, diagonal": Case(
        known := KnownPrecisions(WORTH, "diagonal"),
        DIAGONAL,
        [
            (KnownPrecisions(own.reshape(1, 1), "diagonal"), eta)
            for own, (_, eta) in zip(WORTH.ravel(), cells(None, DIAGONAL), strict=True)
        ],
    ),
    "known precision, tied": Case(
        known := KnownPrecisions(PRECISIONS[0], "tied"), TIED, [(known, TIED)]
    ),
    "held": Case(held := PointMass(FLAT), FLAT, [(held, FLAT)]),
}
with_a_way_back = pytest.mark.parametrize(
    "case", [pytest.param(case, id=name) for name, case in CASES.items()]
)


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=name) for name, case in (CASES | NO_WAY_BACK).items()]
)
def test_each_log_partition_is_that_of_its_distribution(case):
    each = case.family.log_partitions(case.eta)
    expected = [family.log_partition(eta) for family, eta in case.parts]
    np.testing.assert_allclose(np.ravel(each), expected, rtol=1e-11, atol=1e-13)
    assert case.family.log_partition(case.eta) == pytest.approx(sum(expected), rel=1e-11)


def test_those_of_a_product_stand_part_after_part():
    both = Product((dirichlet, gamma))
    first, second = dirichlet.log_partitions(CUBE).ravel(), gamma.log_partitions(RATES).ravel()
    found = both.log_partitions((CUBE, RATES))
    np.testing.assert_array_equal(found, np.concatenate([first, second]))
    np.testing.assert_array_equal(both.log_partitions((None, RATES)), second)


@with_a_way_back
def test_from_moments_is_the_inverse_of_mean_stats(case):
    t = case.family.mean_stats(case.eta)
    found = case.family.from_moments(t)
    pairs = zip(leaves(case.family.mean_stats(found)), leaves(t), strict=True)
    for again, wanted in pairs:
        np.testing.assert_allclose(again, wanted, rtol=1e-11, atol=1e-12)
    single = np.zeros(np.shape(leaves(case.eta)[0]), bool)
    if isinstance(case.family, SegmentedDirichlet):  # one cell is certain, at any concentration
        single = np.repeat(RAGGED == 1, RAGGED)
    for own, wanted in zip(leaves(found), leaves(case.eta), strict=True):
        expected = np.where(single, 0.0, wanted) if single.any() else wanted
        np.testing.assert_allclose(own, expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("size", [1e-3, 0.1, 1.0, 30.0, 1e4])
def test_concentrations_of_any_size_come_back(size):
    alpha = np.exp(np.random.default_rng(1).normal(0.0, 1.5, (50, 5))) * size
    t = dirichlet.mean_stats(alpha - 1.0)
    found = dirichlet.from_moments(t)
    np.testing.assert_allclose(found + 1.0, alpha, rtol=1e-6)
    np.testing.assert_allclose(dirichlet.mean_stats(found), t, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("above", [1e-3, 0.5, 4.0, 1e3])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_degrees_of_freedom_of_any_size_come_back(size, above):
    degrees = np.array([size - 1.0 + above])
    words = np.zeros((1, size)), np.ones(1), degrees, np.eye(size)[None]
    t = normal_wishart.mean_stats(normal_wishart.from_standard(*words))
    found = normal_wishart.to_standard(normal_wishart.from_moments(t))
    assert found.degrees_of_freedom - (size - 1.0) == pytest.approx(above, rel=1e-9)


def test_cells_that_are_left_out_stay_so():
    alpha = np.array([[0.5, 0.0, 2.0]])
    found = dirichlet.from_moments(dirichlet.mean_stats(alpha - 1.0))
    np.testing.assert_allclose(found, alpha - 1.0, rtol=1e-10)


def test_moments_of_no_distribution_are_refused():
    with pytest.raises(JensenError, match=r"^no distribution has these moments: Σ exp E\[log π\]"):
        dirichlet.from_moments(np.log([0.5, 0.5]))
    with pytest.raises(JensenError, match=r"^no distribution has these moments: log E\[Λ\] must"):
        gamma.from_moments(Gamma(np.zeros((1, 1)), -np.ones((1, 1))))


# --- a prior inside ---


@pytest.mark.parametrize("layout", [dirichlet, SegmentedDirichlet(np.array([3, 4]))])
def test_a_family_with_its_prior_inside_is_the_dirichlet_of_both(layout):
    rng = np.random.default_rng(2)
    shape = (2, 4) if layout is dirichlet else (7,)
    alpha, counts = rng.uniform(0.1, 3.0, shape), rng.uniform(0.0, 9.0, shape)
    tilted = PosteriorDirichlet(alpha, layout.each(layout.totals(alpha)), layout)
    eta = alpha + counts - 1.0
    gain = layout.log_partitions(eta) - layout.log_partitions(alpha - 1.0)
    np.testing.assert_allclose(tilted.log_partitions(counts), gain, rtol=1e-12)
    for name in ("mean", "mode", "mean_stats", "mode_stats"):
        found = getattr(tilted, name)(counts)
        np.testing.assert_allclose(found, getattr(layout, name)(eta), rtol=1e-12)
    np.testing.assert_allclose(tilted.from_moments(tilted.mean_stats(counts)), counts, atol=1e-8)
    drawn = tilted.sample_stats(counts, np.random.default_rng(3))
    expected = layout.sample_stats(eta, np.random.default_rng(3))
    np.testing.assert_allclose(drawn, expected, rtol=1e-12)
    assert tilted.has_mode(counts) == layout.has_mode(eta)
    np.testing.assert_allclose(tilted.describe(counts)["concentration"], eta + 1.0, rtol=1e-12)


def test_what_the_prior_excludes_cannot_be_counted():
    alpha = np.array([[0.0, 1.0], [0.0, 0.0]])
    tilted = PosteriorDirichlet(alpha, alpha.sum(1))
    assert tilted.log_partition(np.array([[0.0, 3.0], [0.0, 0.0]])) == 0.0
    assert tilted.log_partition(np.array([[1.0, 3.0], [0.0, 0.0]])) == -np.inf
    assert tilted.log_partition(np.array([[0.0, 3.0], [0.0, 2.0]])) == -np.inf
