"""Standard errors of averages over chains: errors divided by them have variance 1."""

import numpy as np
import pytest

from jensen.q_graph.posterior.estimate import mean_error, share_error
from jensen.runs.diagnostics import correlation_time

N_SERIES = 1500


def events(rng, p, stay, shape):
    """Chains of two states: each draw repeats the last one with probability `stay`."""
    draws = rng.random((*shape, N_SERIES)) < p
    for t in range(1, shape[1]):
        repeats = rng.random((shape[0], N_SERIES)) < stay
        draws[:, t] = np.where(repeats, draws[:, t - 1], draws[:, t])
    return draws


def rms(z):
    return np.sqrt(np.mean(np.square(z)))


@pytest.mark.parametrize(
    ("p", "stay", "shape"),
    [
        (0.5, 0.0, (4, 50)),
        (0.5, 0.7, (4, 50)),
        (0.1, 0.0, (4, 50)),
        (0.9, 0.4, (4, 200)),
        (0.1, 0.6, (4, 200)),
    ],
)
def test_errors_of_shares_are_calibrated(p, stay, shape):
    # 1,500 series: the root mean square of z is known to 0.02; 0.07 is p < 1e-3
    draws = events(np.random.default_rng(1), p, stay, shape)
    share, n = draws.mean((0, 1)), draws[:, :, 0].size
    time = np.nan_to_num(correlation_time(draws), nan=1.0)
    assert 0.93 < rms((share - p) / share_error(share, n / time, time)) < 1.07


def test_errors_of_rare_events_in_runs_are_calibrated():
    """About 14 runs of events: by the spread of the draws alone the rms of z is above 1.2."""
    draws = events(np.random.default_rng(2), 0.05, 0.65, (4, 200))
    share = draws.mean((0, 1))
    time = np.nan_to_num(correlation_time(draws), nan=1.0)
    by_spread = np.sqrt(share * (1 - share) * time / 800)
    seen = share > 0
    assert rms((share - 0.05)[seen] / by_spread[seen]) > 1.2
    assert 0.9 < rms((share - 0.05) / share_error(share, 800 / time, time)) < 1.12


def test_errors_of_skew_means_are_calibrated():
    """Draws from a gamma distribution with skewness 4: without it the rms of z is above 1.08."""
    draws = np.random.default_rng(3).gamma(0.25, size=(4, 50, 4 * N_SERIES))
    size = np.full(4 * N_SERIES, 200.0)
    z = draws.mean((0, 1)) - 0.25
    assert rms(z / np.sqrt(draws.var((0, 1)) / size)) > 1.08
    assert 0.93 < rms(z / mean_error(draws, size)) < 1.07


def test_a_share_is_never_certain():
    assert share_error(np.array([0.0, 1.0]), 1000.0).tolist() == pytest.approx(
        [2**0.5 / 1000] * 2, 0.01
    )
    assert mean_error(np.ones((2, 10, 3)), np.full(3, 20.0)).tolist() == [0.0] * 3
