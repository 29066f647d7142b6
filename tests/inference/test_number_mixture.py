"""Mixtures of Gaussians as answers, beside quadrature."""

import numpy as np
import pytest
from scipy import integrate, stats

from jensen.exceptions import JensenError
from jensen.inference.number_mixture import MixtureDistribution, merged_mixture

ONE = MixtureDistribution(
    ("x",),
    np.array([0.3, 0.5, 0.2]),
    np.array([[-1.0], [0.5], [4.0]]),
    np.array([[[0.25]], [[1.0]], [[0.01]]]),
    "a=1",
)
TWO = MixtureDistribution(
    ("x", "y"),
    np.array([0.4, 0.6]),
    np.array([[0.0, 1.0], [2.0, -1.0]]),
    np.array([[[1.0, 0.5], [0.5, 2.0]], [[0.5, -0.2], [-0.2, 1.0]]]),
)


def moment(f):
    return integrate.quad(lambda x: f(x) * ONE.density(x), -10, 10, points=[-1, 0.5, 4], limit=200)[
        0
    ]


def test_moments_equal_integrals():
    assert moment(lambda x: 1.0) == pytest.approx(1.0)
    assert moment(lambda x: x) == pytest.approx(ONE.mean)
    assert moment(lambda x: (x - ONE.mean) ** 2) == pytest.approx(ONE.variance)
    assert ONE.standard_deviation == pytest.approx(np.sqrt(ONE.variance))


def test_cdf_and_quantiles():
    below = integrate.quad(ONE.density, -10, 1.0, points=[-1, 0.5], limit=200)[0]
    assert ONE.cdf(1.0) == pytest.approx(below)
    p = np.array([1e-6, 0.05, 0.3, 0.799, 0.8, 0.95])
    np.testing.assert_allclose(ONE.cdf(ONE.quantile(p)), p, rtol=1e-12)
    low, high = ONE.interval(0.9)
    assert (ONE.cdf(low), ONE.cdf(high)) == (pytest.approx(0.05), pytest.approx(0.95))
    with pytest.raises(JensenError, match="between 0 and 1"):
        ONE.quantile(1.0)
    with pytest.raises(JensenError, match="level"):
        ONE.interval(2.0)


def test_several_variables():
    x = np.array([[0.3, 0.2], [1.0, -2.0]])
    wanted = sum(
        w * stats.multivariate_normal(m, c).pdf(x)
        for w, m, c in zip(TWO.weights, TWO.means, TWO.covariances, strict=True)
    )
    np.testing.assert_allclose(TWO.density(x), wanted, rtol=1e-12)
    np.testing.assert_allclose(TWO.mean, [1.2, -0.2])
    assert TWO.marginal("y").variance == pytest.approx(TWO.covariance[1, 1])
    assert TWO.interval(0.5)[0].shape == (2,)
    with pytest.raises(JensenError, match=r"cdf is of one variable.*marginal\('x'\)"):
        TWO.cdf(0.0)
    with pytest.raises(JensenError, match="has 2 numbers"):
        TWO.density([1.0, 2.0, 3.0])
    with pytest.raises(JensenError, match="of x, y, not z"):
        TWO.marginal("z")


def test_draws():
    drawn = TWO.sample(40_000, random_state=0)
    z = (drawn.mean(0) - TWO.mean) / np.sqrt(TWO.variance / len(drawn))
    assert np.abs(z).max() < 4.5  # p = 1e-5
    assert ONE.sample(3, random_state=1).shape == (3,)
    assert stats.kstest(ONE.sample(5_000, random_state=2), ONE.cdf).pvalue > 1e-4


def test_only_equal_components_are_one():
    found = merged_mixture(
        ("x",),
        np.array([0.2, 0.3, 0.0, 0.5]),
        np.array([[1.0], [2.0], [9.0], [1.0]]),
        np.ones((4, 1, 1)),
    )
    np.testing.assert_allclose(found.weights, [0.7, 0.3])
    np.testing.assert_array_equal(found.means[:, 0], [1.0, 2.0])
    assert (
        len(
            merged_mixture(
                ("x",), np.full(2, 0.5), np.array([[1.0], [1.0 + 1e-15]]), np.ones((2, 1, 1))
            ).weights
        )
        == 2
    )


def test_as_text_and_as_plain_data():
    assert repr(ONE).splitlines()[0] == "p(x | a=1): a mixture of 3 Gaussians"
    assert repr(TWO.marginal("x")).splitlines()[0] == "p(x): a mixture of 2 Gaussians"
    assert set(ONE.plain()) == {
        "means", "covariance", "weights", "component_means", "component_covariances",
    }  # fmt: skip
