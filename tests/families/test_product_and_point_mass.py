"""Families made of others, and parameters that are not learned."""

import numpy as np
import pytest

from jensen.families import gamma, kl, log_evidence, neg_log_density, normal_gamma
from jensen.families.dirichlet import beta
from jensen.families.gamma import Gamma
from jensen.families.point_mass import PointMass
from jensen.families.product import Product
from jensen.support.fields import add

FUNCTIONS = ["mean_stats", "mode_stats"]
BOTH = Product((beta, gamma))


def random_eta(seed):
    rng = np.random.default_rng(seed)
    return rng.uniform(0.1, 3.0, (2, 3, 2)), Gamma(*rng.uniform(0.1, 3.0, (2, 2, 4)))


def test_a_product_goes_part_by_part():
    eta = random_eta(0)
    assert BOTH.log_partition(eta) == pytest.approx(
        beta.log_partition(eta[0]) + gamma.log_partition(eta[1]), rel=1e-15
    )
    for name in FUNCTIONS:
        found = getattr(BOTH, name)(eta)
        np.testing.assert_array_equal(found[0], getattr(beta, name)(eta[0]))
        np.testing.assert_array_equal(found[1], getattr(gamma, name)(eta[1]))
    rng = np.random.default_rng(1)
    expected = beta.sample_stats(eta[0], rng), gamma.sample_stats(eta[1], rng)
    found = BOTH.sample_stats(eta, np.random.default_rng(1))
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])
    names = ["0.successes", "0.failures", "0.mean", "1.shape", "1.rate", "1.mean"]
    assert list(BOTH.describe(eta)) == names


def test_the_costs_of_a_product_are_sums():
    prior, stats = random_eta(2), random_eta(3)
    eta = add(prior, stats)
    pairs = list(zip(BOTH.parts, prior, eta, stats, strict=True))
    parts = [kl(f, p, e, f.mean_stats(e)) for f, p, e, _ in pairs]
    assert kl(BOTH, prior, eta, BOTH.mean_stats(eta)) == pytest.approx(sum(parts), rel=1e-12)
    parts = [log_evidence(f, p, s) for f, p, _, s in pairs]
    assert log_evidence(BOTH, prior, stats) == pytest.approx(sum(parts), rel=1e-12)


def test_a_product_has_a_mode_if_every_part_has():
    probabilities, rates = random_eta(4)
    assert BOTH.has_mode((probabilities, rates))
    assert BOTH.has_mode((None, rates))
    assert not BOTH.has_mode((probabilities - 1.0, rates))
    assert not BOTH.has_mode((probabilities, rates._replace(exposure=-rates.exposure)))


def test_a_flat_part_costs_nothing():
    eta = random_eta(5)
    t = BOTH.mode_stats(eta)
    assert neg_log_density(BOTH, None, eta, t) == 0.0
    assert neg_log_density(BOTH, (None, eta[1]), eta, t) == neg_log_density(
        gamma, eta[1], eta[1], t[1]
    )


def test_a_product_of_one_part_too_many_is_an_error():
    with pytest.raises(ValueError, match="shorter"):
        BOTH.mean_stats(random_eta(6)[:1])


def held_values():
    log_pi = np.log([[0.2, 0.8], [0.5, 0.5]])
    never = np.array([[0.0, -np.inf], [np.log(0.3), np.log(0.7)]])
    words = (np.ones((2, 3)), np.ones((2, 3)), np.full((2, 3), 4.0), np.ones((2, 3)))
    gaussian = normal_gamma.mean_stats(normal_gamma.from_standard(*words))
    return [
        pytest.param(log_pi, id="an array"),
        pytest.param(never, id="a probability of 0"),
        pytest.param(gaussian, id="a record"),
        pytest.param((never, gaussian), id="a tuple"),
    ]


def counted(t, seed):
    """Statistics like t, and nothing where t says that nothing can be."""
    if isinstance(t, tuple):
        values = [counted(x, seed + k) for k, x in enumerate(t)]
        return type(t)(*values) if hasattr(t, "_fields") else tuple(values)
    values = np.random.default_rng(seed).uniform(0.0, 9.0, np.shape(t))
    return np.where(np.isfinite(t), values, 0.0)


@pytest.mark.parametrize("t", held_values())
def test_what_is_held_costs_nothing(t):
    family, eta = PointMass(t), counted(t, 0)
    assert kl(family, None, eta, family.mean_stats(eta)) == 0.0
    assert neg_log_density(family, None, eta, family.mode_stats(eta)) == 0.0
    prior = counted(t, 7)
    both = add(prior, eta)
    assert kl(family, prior, both, t) == pytest.approx(0.0, abs=1e-12)
    assert neg_log_density(family, prior, both, t) == 0.0


@pytest.mark.parametrize("t", held_values())
def test_what_is_held_is_read_as_it_is(t):
    family = PointMass(t)
    assert family.mean_stats(None) is t
    assert family.mode_stats(counted(t, 1)) is t
    assert family.sample_stats(counted(t, 2), np.random.default_rng(0)) is t
    assert family.log_partition(None) == 0.0
    assert family.has_mode(counted(t, 3))
    assert family.describe(counted(t, 4)) == {}


def test_a_held_part_of_a_product():
    t = np.log([[0.2, 0.8]])
    family = Product((PointMass(t), gamma))
    prior = (None, random_eta(8)[1])
    eta = add(prior, (np.array([[3.0, 4.0]]), random_eta(9)[1]))
    found = kl(family, prior, eta, family.mean_stats(eta))
    expected = kl(gamma, prior[1], eta[1], gamma.mean_stats(eta[1]))
    assert found == pytest.approx(expected, rel=1e-12)
