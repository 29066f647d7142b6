"""The Gaussian families beside each other, and where they have no estimate."""

import numpy as np
import pytest
from naive import families as naive

from jensen.exceptions import CollapseError
from jensen.families import normal_gamma, normal_wishart, spherical, tied
from jensen.families.normal_gamma import NormalGamma
from jensen.families.normal_wishart import NormalWishart
from jensen.families.spherical import Spherical
from jensen.families.tied import Tied

KINDS = [
    pytest.param(normal_wishart, "full", id="full"),
    pytest.param(normal_gamma, "diagonal", id="diagonal"),
    pytest.param(spherical, "spherical", id="spherical"),
    pytest.param(tied, "tied", id="tied"),
]
every_kind = pytest.mark.parametrize(("family", "kind"), KINDS)
FUNCTIONS = ["mean_stats", "mode_stats", "sample_stats"]


def empty(kind, K, D):
    """Statistics of no rows."""
    full, diagonal, few = np.zeros((K, D, D)), np.zeros((K, D)), np.zeros(K)
    if kind == "full":
        return NormalWishart(few, full, diagonal, few)
    if kind == "tied":
        return Tied(np.zeros(()), full[0], diagonal, few)
    if kind == "diagonal":
        return NormalGamma(diagonal, diagonal, diagonal, diagonal)
    return Spherical(few, few, diagonal, few)


def stats_of(kind, rows, labels, K):
    return naive.gaussian_stats(kind, rows, labels, empty(kind, K, rows.shape[1]))


def random_rows(seed, n=40, K=3, D=2):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, D)) + 5.0, np.arange(n) % K


def read(family, name, eta):
    """One of the functions; the draw always the same."""
    if name == "sample_stats":
        return family.sample_stats(eta, np.random.default_rng(0))
    return getattr(family, name)(eta)


def assert_equal_leaves(found, expected, rtol=1e-11):
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.ravel(x), np.ravel(y), rtol=rtol)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("D", [1, 3])
def test_tied_with_one_component_is_the_normal_wishart(D, name):
    rows, labels = random_rows(0, K=1, D=D)
    full, one = stats_of("full", rows, labels, 1), stats_of("tied", rows, labels, 1)
    assert tied.log_partition(one) == pytest.approx(normal_wishart.log_partition(full), rel=1e-13)
    assert_equal_leaves(read(tied, name, one), read(normal_wishart, name, full))


@pytest.mark.parametrize("name", ["mean_stats", "mode_stats"])
@pytest.mark.parametrize(
    ("family", "kind"),
    [(spherical, "spherical"), (normal_gamma, "diagonal")],
    ids=["spherical", "diagonal"],
)
def test_in_one_dimension_all_are_the_normal_wishart(family, kind, name):
    rows, labels = random_rows(1, D=1)
    full, other = stats_of("full", rows, labels, 3), stats_of(kind, rows, labels, 3)
    assert family.log_partition(other) == pytest.approx(normal_wishart.log_partition(full))
    assert_equal_leaves(read(family, name, other), read(normal_wishart, name, full))


def test_the_mode_under_the_flat_prior_is_mean_and_covariance_of_the_rows():
    rows, labels = random_rows(2)
    t = normal_wishart.mode_stats(stats_of("full", rows, labels, 3))
    for k in range(3):
        own = rows[labels == k]
        covariance = np.cov(own.T, bias=True)
        np.testing.assert_allclose(np.linalg.inv(-2.0 * t.second[k]), covariance, rtol=1e-9)
        np.testing.assert_allclose(t.first[k], np.linalg.solve(covariance, own.mean(0)), rtol=1e-9)
        assert t.count[k] == pytest.approx(-0.5 * np.linalg.slogdet(covariance)[1], rel=1e-9)


def test_the_spherical_mode_is_the_mean_variance_and_the_tied_one_the_pooled_covariance():
    rows, labels = random_rows(3)
    centred = rows - np.array([rows[labels == k].mean(0) for k in range(3)])[labels]
    t = tied.mode_stats(stats_of("tied", rows, labels, 3))
    pooled = centred.T @ centred / len(rows)
    np.testing.assert_allclose(np.linalg.inv(-2.0 * t.second), pooled, rtol=1e-9)
    t = spherical.mode_stats(stats_of("spherical", rows, labels, 3))
    variances = [np.mean(centred[labels == k] ** 2) for k in range(3)]
    np.testing.assert_allclose(1.0 / (-2.0 * t.second), variances, rtol=1e-9)


@every_kind
@pytest.mark.parametrize("name", FUNCTIONS)
def test_components_without_rows_are_named(family, kind, name):
    rows, labels = random_rows(4)
    stats = stats_of(kind, rows, np.where(labels == 1, 0, labels), 4)
    with pytest.raises(CollapseError, match="components 1, 3 have no rows left") as caught:
        read(family, name, stats)
    assert caught.value.components == (1, 3)
    with pytest.raises(CollapseError, match=r"give a prior \(prior=\{\}\), fewer components, or"):
        family.mode_stats(stats)


@every_kind
def test_nothing_counted_at_all_is_no_rows(family, kind):
    stats = empty(kind, 2, 2)
    with pytest.raises(CollapseError, match="components 0, 1 have no rows left"):
        family.mode_stats(stats)


@every_kind
@pytest.mark.parametrize("place", [0.0, 1.0, 1e-3, 123.456, 1e8])
def test_a_component_on_equal_rows_has_collapsed(family, kind, place):
    rows, labels = random_rows(5)
    rows[labels == 1] = place
    if kind == "tied":
        rows[:] = place
    named = "components 0, 1, 2 have" if kind == "tied" else "component 1 has"
    why = f"{named} collapsed: the rows leave no spread in some direction, so the likelihood has"
    with pytest.raises(CollapseError, match=why):
        family.mode_stats(stats_of(kind, rows, labels, 3))


@pytest.mark.parametrize(
    ("family", "kind"), [(normal_wishart, "full"), (tied, "tied")], ids=["full", "tied"]
)
@pytest.mark.parametrize("shift", [0.0, 1.0, 1e4])
@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e6])
def test_rows_on_a_line_have_collapsed_in_any_unit(family, kind, shift, unit):
    rows, labels = random_rows(6, D=3)
    rows[:, 2] = (rows[:, 0] - 2.0 * rows[:, 1]) * unit
    with pytest.raises(CollapseError, match="collapsed"):
        family.mode_stats(stats_of(kind, rows + shift, labels, 3))


@every_kind
def test_as_many_rows_as_needed_are_no_collapse(family, kind):
    """D + 1 rows span D dimensions; the weights of rows may be small."""
    rng = np.random.default_rng(7)
    stats = stats_of(kind, rng.standard_normal((6, 2)), np.arange(6) % 2, 2)
    t = family.mode_stats(type(stats)(*(1e-200 * x for x in stats)))
    for x, y in zip(t, family.mode_stats(stats), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9)


@every_kind
@pytest.mark.parametrize("unit", [1e-60, 1e-9, 1e9, 1e60])
def test_units_do_not_matter(family, kind, unit):
    rows, labels = random_rows(8)
    here = family.mode_stats(stats_of(kind, rows, labels, 3))
    there = family.mode_stats(stats_of(kind, rows * unit, labels, 3))
    np.testing.assert_allclose(there.second * unit**2, here.second, rtol=1e-9)
    np.testing.assert_allclose(there.strength, here.strength, rtol=1e-9)


def test_columns_of_very_different_units_keep_their_digits():
    rows, labels = random_rows(9, D=3)
    units = np.array([1e-8, 1.0, 1e8])
    here = normal_wishart.mode_stats(stats_of("full", rows, labels, 3))
    there = normal_wishart.mode_stats(stats_of("full", rows * units, labels, 3))
    np.testing.assert_allclose(there.second * np.outer(units, units), here.second, rtol=1e-9)


@every_kind
def test_a_spread_far_above_the_rounding_is_seen_far_from_zero(family, kind):
    rows, labels = random_rows(10)
    here = family.mode_stats(stats_of(kind, rows, labels, 3))
    there = family.mode_stats(stats_of(kind, rows + 1e4, labels, 3))
    np.testing.assert_allclose(there.second, here.second, rtol=1e-5)


@every_kind
def test_a_component_on_equal_rows_has_a_posterior_under_a_prior(family, kind):
    rows, labels = random_rows(11)
    rows[labels == 1] = 7.0
    stats = stats_of(kind, rows, labels, 3)
    size = 1.0 if kind in ("diagonal", "spherical") else np.eye(2)
    prior = family.from_standard(
        np.zeros((3, 2)),
        np.ones((3, 2) if kind == "diagonal" else 3),
        np.full(np.shape(stats.count), 3.0),
        np.broadcast_to(size, np.shape(stats.second)),
    )
    for name in FUNCTIONS:
        for x in read(family, name, type(stats)(*map(np.add, prior, stats))):
            assert np.all(np.isfinite(x))


@every_kind
def test_the_cholesky_that_fails_names_the_component(family, kind):
    rows, labels = random_rows(12)
    stats = stats_of(kind, rows, labels, 3)
    second = stats.second.copy()
    second[... if kind == "tied" else 2] *= 0.5  # less than the mean alone would give
    bad = stats._replace(second=second)
    for name in FUNCTIONS:
        with pytest.raises(CollapseError, match="collapsed") as caught:
            read(family, name, bad)
        assert caught.value.components == ((0, 1, 2) if kind == "tied" else (2,))
    with pytest.raises(CollapseError, match="collapsed"):
        family.log_partition(bad)


@every_kind
def test_too_few_degrees_of_freedom_are_no_distribution(family, kind):
    rows, labels = random_rows(13)
    stats = stats_of(kind, rows, labels, 3)
    bad = stats._replace(count=0.0 * stats.count - 1.0)
    with pytest.raises(CollapseError, match="components 0, 1, 2 have too few rows for a distr"):
        family.log_partition(bad)


@every_kind
def test_draws_at_tiny_degrees_of_freedom_are_finite(family, kind):
    """Plain gammas would be 0 here, and the means 0 / 0."""
    K, size = 2000, np.ones if kind in ("diagonal", "spherical") else lambda n: np.ones((*n, 1, 1))
    each = {"tied": (), "diagonal": (K, 1)}.get(kind, (K,))
    eta = family.from_standard(
        np.ones((K, 1)),
        np.ones((K, 1) if kind == "diagonal" else K),
        np.full(each, 0.004),
        size(each),
    )
    t = family.sample_stats(eta, np.random.default_rng(0))
    for x in t:
        assert np.all(np.isfinite(x))
    if kind != "tied":
        assert t.count.min() < 0.5 * np.log(np.finfo(float).tiny)


def test_a_draw_is_that_of_every_component_together():
    """The precision of a draw is that of its statistics, to the last factor."""
    rows, labels = random_rows(14, D=4)
    t = normal_wishart.sample_stats(stats_of("full", rows, labels, 3), np.random.default_rng(0))
    precision = -2.0 * t.second
    np.testing.assert_allclose(2.0 * t.count, np.linalg.slogdet(precision)[1], rtol=1e-10)
    mean = np.linalg.solve(precision, t.first[..., None])[..., 0]
    np.testing.assert_allclose(-2.0 * t.strength, (mean * t.first).sum(-1), rtol=1e-10)
