"""R-hat and effective sample size: their slow twins, and chains of which the truth is known."""

import math

import numpy as np
import pytest
from naive import diagnostics as naive

import jensen as jn
from jensen.runs import diagnostics
from jensen.runs.diagnostics import correlation_time, effective_sample_size, split_r_hat


def column(*values):
    """One number for each chain."""
    return np.array(values, dtype=float)[:, np.newaxis]


def autoregressive(rng, phi, shape):
    """Stationary AR(1) chains with variance 1."""
    noise = rng.normal(size=shape)
    x = noise.copy()
    for t in range(1, shape[1]):
        x[:, t] = phi * x[:, t - 1] + math.sqrt(1 - phi**2) * noise[:, t]
    return x


def examples():
    rng = np.random.default_rng(1)
    yield "normal", rng.normal(size=(4, 50))
    yield "odd number", rng.normal(size=(3, 51))
    yield "one chain", rng.normal(size=(1, 60))
    yield "heavy tails", rng.standard_cauchy(size=(4, 40))
    yield "slow", autoregressive(rng, 0.9, (4, 60))
    yield "never positive again", autoregressive(rng, -0.9, (2, 60))
    yield "trend", np.arange(40.0) + rng.normal(size=(2, 40))
    yield "pure trend", np.tile(np.arange(40.0), (2, 1))
    yield "other place", rng.normal(size=(4, 40)) + column(0, 0, 0, 2)
    yield "other width", rng.normal(size=(4, 40)) * column(1, 1, 1, 9)
    yield "truth values", rng.random(size=(4, 40)) < 0.3
    yield "few ones", rng.random(size=(4, 40)) < 0.03
    yield "ties", rng.integers(5, size=(4, 40))
    for n in range(10, 17):
        yield f"short, {n}", autoregressive(rng, 0.7, (2, n))


EXAMPLES = dict(examples())


@pytest.mark.parametrize("name", EXAMPLES)
def test_equal_to_the_definition(name):
    draws = EXAMPLES[name]
    chains = draws.astype(float).tolist()
    np.testing.assert_allclose(split_r_hat(draws), naive.split_r_hat(chains), rtol=1e-10)
    size = naive.effective_sample_size(chains)
    np.testing.assert_allclose(effective_sample_size(draws), size, rtol=1e-9)
    time = naive.correlation_time(chains)
    np.testing.assert_allclose(correlation_time(draws), time, rtol=1e-9)


@pytest.mark.parametrize("block", [1, 250, 1 << 21])
def test_many_quantities_at_once(monkeypatch, block):
    monkeypatch.setattr(diagnostics, "BLOCK", block)
    rng = np.random.default_rng(2)
    draws = autoregressive(rng, 0.5, (3, 41, 2, 5))
    draws[:, :, 0, 1] = 7.0
    draws[1, 5, 1, 2] = np.nan
    for measure in (split_r_hat, effective_sample_size, correlation_time):
        together = measure(draws)
        assert together.shape == (2, 5)
        one_by_one = [[measure(draws[:, :, i, j]) for j in range(5)] for i in range(2)]
        np.testing.assert_allclose(together, one_by_one, rtol=1e-12)
    assert measure(draws[:, :, :0]).shape == (0, 5)
    assert isinstance(measure(draws[:, :, 0, 0]), float)


def test_independent_draws():
    draws = np.random.default_rng(3).normal(size=(4, 2000, 50))
    assert np.all(abs(split_r_hat(draws) - 1) < 0.01)
    np.testing.assert_allclose(effective_sample_size(draws), 8000, rtol=0.2)
    np.testing.assert_allclose(effective_sample_size(draws).mean(), 8000, rtol=0.03)


@pytest.mark.parametrize("phi", [-0.3, 0.3, 0.6, 0.9])
def test_autoregressive_chains_have_the_known_size(phi):
    draws = autoregressive(np.random.default_rng(4), phi, (4, 20_000))
    expected = draws.size * (1 - phi) / (1 + phi)
    np.testing.assert_allclose(effective_sample_size(draws), expected, rtol=0.15)
    assert split_r_hat(draws) < 1.01


@pytest.mark.parametrize("phi", [0.0, 0.3, 0.6, 0.9])
def test_autoregressive_chains_have_the_known_time(phi):
    draws = autoregressive(np.random.default_rng(14), phi, (4, 20_000))
    np.testing.assert_allclose(correlation_time(draws), (1 + phi) / (1 - phi), rtol=0.1)
    assert correlation_time(draws[:1]) == pytest.approx((1 + phi) / (1 - phi), rel=0.2)


@pytest.mark.parametrize("shape", [(4, 50), (4, 200)])
@pytest.mark.parametrize("phi", [0.0, 0.5, 0.8])
def test_errors_by_the_time_are_calibrated(phi, shape):
    """z² has the mean 1 over 1,500 series; its standard error is 0.04 or so."""
    draws = autoregressive(np.random.default_rng(15), phi, (*shape, 1500))
    variance = draws.var((0, 1)) * correlation_time(draws) / math.prod(shape)
    assert 0.93 < math.sqrt(np.mean(draws.mean((0, 1)) ** 2 / variance)) < 1.07


def test_no_more_than_the_limit_for_chains_that_alternate():
    draws = autoregressive(np.random.default_rng(5), -0.95, (2, 500))
    assert effective_sample_size(draws) == pytest.approx(1000 * math.log10(1000), rel=1e-12)


def test_chains_that_differ_are_seen():
    draws = np.random.default_rng(6).normal(size=(4, 1000))
    for changed in (
        draws + column(0, 0, 0, 2),
        draws * column(1, 1, 1, 5),
        draws + np.linspace(0, 3, 1000),
        (draws[:1] + np.linspace(0, 3, 1000)),
    ):
        assert split_r_hat(changed) > 1.1
    assert effective_sample_size(draws + column(0, 0, 0, 9)) < 20


def test_only_the_order_matters():
    draws = autoregressive(np.random.default_rng(7), 0.5, (4, 100))
    assert effective_sample_size(np.exp(draws)) == effective_sample_size(draws)
    for measure in (split_r_hat, effective_sample_size):
        for other in (draws[[2, 0, 3, 1]], -draws, 8 * draws):
            assert measure(other) == pytest.approx(measure(draws), rel=1e-10)


@pytest.mark.parametrize("value", [0.0, 0.1, -1e300, True])
@pytest.mark.parametrize("shape", [(4, 100), (1, 10), (3, 33)])
def test_what_never_moves(value, shape):
    draws = np.full(shape, value)
    assert split_r_hat(draws) == 1
    assert math.isnan(effective_sample_size(draws))


def test_chains_that_stand_still_apart():
    draws = np.repeat([[0.1], [0.1], [0.3], [0.7]], 101, axis=1)
    assert split_r_hat(draws) == math.inf
    assert effective_sample_size(draws) < 8


def test_distances_may_be_constant():
    draws = np.where(np.arange(100) % 2, 1.0, -1.0) * np.ones((4, 1))
    assert split_r_hat(draws) == pytest.approx(math.sqrt(49 / 50))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_not_known(value):
    draws = np.random.default_rng(8).normal(size=(2, 21, 2))
    draws[0, 10, 0] = value
    for measure in (split_r_hat, effective_sample_size):
        assert np.array_equal(np.isnan(measure(draws)), [True, False])


def test_too_few_draws_tell_nothing():
    draws = np.random.default_rng(9).normal(size=(4, 10))
    for n in range(11):
        assert math.isnan(split_r_hat(draws[:, :n])) == (n < 4)
        assert math.isnan(effective_sample_size(draws[:, :n])) == (n < 10)
    for measure in (split_r_hat, effective_sample_size):
        assert math.isnan(measure(draws[:0]))


def test_the_draws_are_left_as_they_were():
    draws = np.random.default_rng(10).normal(size=(2, 20))
    before = draws.copy()
    split_r_hat(draws)
    effective_sample_size(draws)
    assert np.array_equal(draws, before)


@pytest.mark.parametrize("measure", [split_r_hat, effective_sample_size])
def test_draws_without_chains_are_refused(measure):
    with pytest.raises(jn.JensenError) as error:
        measure(np.zeros(10))
    assert str(error.value) == (
        "draws must have the shape (chains, samples, ...), not (10,): "
        "give one chain as draws[np.newaxis]"
    )
