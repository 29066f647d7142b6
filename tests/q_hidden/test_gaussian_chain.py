"""Gaussian chains against dense algebra: sums, modes, draws, in both forms."""

import numpy as np
import pytest
from naive import dynamics as naive

from jensen import q_hidden
from jensen.exceptions import JensenError
from jensen.q_hidden import gaussian_chain, known_chain
from jensen.q_hidden.chain_forms import chain_of, filling_of, is_regular, moves_of, outputs_of
from jensen.q_hidden.gaussian_chain import GaussianChain, SeriesRows
from jensen.q_hidden.known_chain import KnownChain, StateSpace, simulate

SIZES = [  # states, outputs, inputs, whether noise depends, diffuse states, share missing
    (2, 3, 0, False, 0, 0.0),
    (3, 2, 1, True, 0, 0.3),
    (1, 1, 0, False, 1, 0.3),
    (3, 4, 2, True, 3, 0.2),
    (4, 6, 0, False, 2, 0.4),
]


def spd(rng, n):
    root = rng.normal(size=(n, n))
    return root @ root.T / n + 0.3 * np.eye(n)


def system(rng, K, D, U=0, *, depends=False, diffuse=0):
    R = spd(rng, D) if depends else np.diag(rng.uniform(0.3, 1.0, D))
    return StateSpace(
        0.9 * np.linalg.qr(rng.normal(size=(K, K)))[0], rng.normal(size=(K, U)), spd(rng, K),
        rng.normal(size=(D, K)), rng.normal(size=(D, U)), rng.normal(size=D), R,
        rng.normal(size=K), spd(rng, K), (np.arange(K) < diffuse).astype(float),
    )  # fmt: skip


def rows_of(rng, point, lengths, share):
    T, U, D = sum(lengths), point.input_transition.shape[1], len(point.offset)
    ptr = np.append(0, np.cumsum(lengths)).astype(np.int64)
    weight = rng.uniform(0.5, 2.0, len(lengths))
    inputs = rng.normal(size=(T, U))
    empty = SeriesRows.of(np.zeros((T, D)), inputs, ptr, weight)
    values = simulate(point, empty, rng)[1]
    values[rng.random(values.shape) < share] = np.nan
    if share:
        values[2] = np.nan  # a whole step
    return SeriesRows.of(values, inputs, ptr, weight), values


def both_forms(point, rows):
    told = GaussianChain(moves_of(point), outputs_of(point, rows.seen), rows)
    return {"information": told, "covariance": KnownChain(point, rows)}


def smooth(chain):
    module = gaussian_chain if isinstance(chain, GaussianChain) else known_chain
    return module.smooth(chain)


def dense(point, rows, values, s):
    a, b = rows.ptr[s], rows.ptr[s + 1]
    ask = naive.flat_start if point.diffuse.any() else naive.conditional
    value, mean, cov = ask(point, values[a:b], rows.inputs[a:b, 1:])
    K = len(point.transition)
    return value, mean.reshape(-1, K), cov.reshape(b - a, K, b - a, K)


@pytest.mark.parametrize(("K", "D", "U", "depends", "diffuse", "share"), SIZES)
@pytest.mark.parametrize("form", ["information", "covariance"])
def test_both_forms_are_the_dense_gaussian(form, K, D, U, depends, diffuse, share):
    rng = np.random.default_rng(K + D)
    point = system(rng, K, D, U, depends=depends, diffuse=diffuse)
    rows, values = rows_of(rng, point, [7, 1 if not diffuse else 6, 5], share)
    found = smooth(both_forms(point, rows)[form])
    tol = 1e-5 if diffuse else 1e-9  # of a variance of 1e7 in the twin
    for s in range(3):
        a, b = rows.ptr[s], rows.ptr[s + 1]
        value, mean, cov = dense(point, rows, values, s)
        assert found.value[s] == pytest.approx(value, abs=tol)
        np.testing.assert_allclose(found.mean[a:b], mean, atol=tol)
        for t in range(b - a):
            np.testing.assert_allclose(found.spread[a + t], cov[t, :, t], atol=10 * tol)
            if t:
                np.testing.assert_allclose(found.lag[a + t], cov[t, :, t - 1], atol=10 * tol)


@pytest.mark.parametrize(("K", "D", "U", "depends", "diffuse", "share"), SIZES)
def test_both_forms_agree_to_1e_9(K, D, U, depends, diffuse, share):
    rng = np.random.default_rng(10 * K + D)
    point = system(rng, K, D, U, depends=depends, diffuse=diffuse)
    rows, _ = rows_of(rng, point, [40, 9], share)
    assert is_regular(point)
    assert isinstance(chain_of(point, rows), GaussianChain)
    one, other = (smooth(chain) for chain in both_forms(point, rows).values())
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("form", ["information", "covariance"])
@pytest.mark.parametrize("diffuse", [0, 2])
def test_filter_is_smoothing_of_what_came_so_far(form, diffuse):
    rng = np.random.default_rng(3)
    point = system(rng, 2, 2, diffuse=diffuse)
    rows, values = rows_of(rng, point, [6], 0.2)
    found = known_chain.filtered(KnownChain(point, rows))
    for t in range(1 if diffuse else 0, 6):
        part = SeriesRows.of(values[: t + 1], None, np.array([0, t + 1]), np.ones(1))
        try:
            known = smooth(both_forms(point, part)[form])
        except JensenError:
            assert np.isnan(found.mean[t]).any() or np.isinf(found.spread[t]).any()
            continue
        np.testing.assert_allclose(found.mean[t], known.mean[-1], atol=1e-8)
        np.testing.assert_allclose(found.spread[t], known.spread[-1], atol=1e-8)


def autoregression(p=2, noise=0.0):
    """States without noise of their own, and outputs without any."""
    A = np.eye(p, k=-1)
    A[0] = [0.6, -0.3][:p]
    Q = np.zeros((p, p))
    Q[0, 0] = 0.8
    C = np.eye(1, p)
    nothing = np.zeros((p, 0)), np.zeros((1, 0))
    return StateSpace(
        A, nothing[0], Q, C, nothing[1], np.array([0.4]), np.array([[noise]]),
        np.zeros(p), np.eye(p), np.zeros(p),
    )  # fmt: skip


@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_singular_noise_is_the_dense_gaussian(noise, share):
    rng = np.random.default_rng(2)
    point = autoregression(noise=noise)
    rows, values = rows_of(rng, point, [9], share)
    chain = chain_of(point, rows)
    assert isinstance(chain, KnownChain)
    found, (value, mean, cov) = smooth(chain), dense(point, rows, values, 0)
    assert found.value[0] == pytest.approx(value, abs=1e-9)
    np.testing.assert_allclose(found.mean, mean, atol=1e-9)
    for t in range(9):
        np.testing.assert_allclose(found.spread[t], cov[t, :, t], atol=1e-9)


def test_an_exact_output_that_contradicts_is_impossible():
    point = autoregression(noise=0.0)
    still = point._replace(process_covariance=np.zeros((2, 2)), initial_covariance=np.zeros((2, 2)))
    rows = SeriesRows.of(np.array([[0.4], [0.4], [0.5]]), None, np.array([0, 3]), np.ones(1))
    assert known_chain.log_evidence(KnownChain(still, rows))[0] == -np.inf
    same = rows._replace(values=np.full((3, 1), 0.4))
    assert np.isfinite(known_chain.log_evidence(KnownChain(still, same))[0])


def test_a_diffuse_state_that_nothing_shows_is_refused():
    rng = np.random.default_rng(0)
    point = system(rng, 2, 1, diffuse=2)
    point = point._replace(transition=np.diag([0.5, 0.9]), loadings=np.array([[1.0, 0.0]]))
    rows, _ = rows_of(rng, point, [5], 0.0)
    for chain in both_forms(point, rows).values():
        with pytest.raises(JensenError, match="states have no density at these parameters"):
            smooth(chain)


@pytest.mark.parametrize("scale", [1e-6, 1e-9, 1e6])
def test_noise_that_is_next_to_nothing_loses_no_digits(scale):
    rng = np.random.default_rng(5)
    point = system(rng, 3, 3)
    point = point._replace(process_covariance=scale * point.process_covariance)
    rows, values = rows_of(rng, point, [12], 0.2)
    found = smooth(chain_of(point, rows))
    assert found.value[0] == pytest.approx(dense(point, rows, values, 0)[0], rel=1e-8)


# --- the other readings ---


def test_the_mode_is_the_mean_and_its_value_the_log_joint():
    rng = np.random.default_rng(6)
    point = system(rng, 2, 3)
    rows, values = rows_of(rng, point, [6], 0.2)
    chain = both_forms(point, rows)["information"]
    best, found = gaussian_chain.at_mode(chain), smooth(chain)
    np.testing.assert_allclose(best.mean, found.mean, atol=1e-12)
    value, _, cov = dense(point, rows, values, 0)
    height = -0.5 * np.linalg.slogdet(2.0 * np.pi * cov.reshape(12, 12))[1]
    assert best.value[0] == pytest.approx(value + height, abs=1e-9)
    hidden = q_hidden.mode(chain)
    np.testing.assert_allclose(
        hidden.moments.moves.second,
        rows.weight[0] * found.mean[1:].T @ found.mean[1:],
        rtol=1e-10,
    )


@pytest.mark.parametrize("form", ["information", "covariance"])
def test_draws_have_the_posterior_s_moments(form):
    rng = np.random.default_rng(7)
    point = system(rng, 2, 2, diffuse=1)
    rows, _ = rows_of(rng, point, [4], 0.2)
    chain = both_forms(point, rows)[form]
    draw = gaussian_chain.drawn if form == "information" else known_chain.drawn
    found = smooth(chain)
    draws = np.array([draw(chain, rng).mean for _ in range(4000)])
    z = (draws.mean(0) - found.mean) / np.sqrt(
        np.diagonal(found.spread, axis1=1, axis2=2) / len(draws)
    )
    assert np.abs(z).max() < 4.5
    for t in range(1, 4):
        pair = np.cov(draws[:, t].T, draws[:, t - 1].T)
        size = np.sqrt(np.outer(np.diagonal(pair), np.diagonal(pair)))
        assert np.abs((pair[:2, 2:] - found.lag[t]) / size[:2, 2:]).max() < 0.08
        assert np.abs((pair[:2, :2] - found.spread[t]) / size[:2, :2]).max() < 0.1


def test_the_value_of_a_draw_is_its_log_joint():
    rng = np.random.default_rng(8)
    point = system(rng, 2, 2)
    rows, values = rows_of(rng, point, [5], 0.2)
    found = gaussian_chain.drawn(both_forms(point, rows)["information"], rng)
    value, mean, cov = dense(point, rows, values, 0)
    away = (found.mean - mean).ravel()
    whole = cov.reshape(10, 10)
    log_q = -0.5 * (away @ np.linalg.solve(whole, away))
    log_q -= 0.5 * np.linalg.slogdet(2.0 * np.pi * whole)[1]
    assert found.value[0] == pytest.approx(value + log_q, abs=1e-9)


# --- sums ---


@pytest.mark.parametrize("depends", [False, True])
def test_sums_are_those_of_the_joint_posterior(depends):
    """Also of outputs that are missing, completed in expectation where their noise depends."""
    rng = np.random.default_rng(9)
    K, D, T = 2, 3, 6
    point = system(rng, K, D, 1, depends=depends)
    rows, values = rows_of(rng, point, [T], 0.3)
    filling = filling_of(point, rows.seen) if depends else None
    chain = both_forms(point, rows)["information"]._replace(filling=filling)
    stats = q_hidden.exact(chain).moments
    _, mean, cov = dense(point, rows, values, 0)
    w, u = rows.weight[0], rows.inputs
    second = sum(np.outer(mean[t], mean[t]) + cov[t, :, t] for t in range(1, T))
    np.testing.assert_allclose(stats.moves.second, w * second, atol=1e-9)
    cross = sum(np.outer(mean[t], mean[t - 1]) + cov[t, :, t - 1] for t in range(1, T))
    np.testing.assert_allclose(stats.moves.first[:, 1:], w * cross, atol=1e-9)
    pushed = sum(np.outer(mean[t], u[t, 1:]) for t in range(1, T))
    np.testing.assert_allclose(stats.moves.first[:, :1], w * pushed, atol=1e-9)
    assert float(stats.moves.count) == pytest.approx(w * (T - 1))
    np.testing.assert_allclose(
        stats.start.second, w * (np.outer(mean[0], mean[0]) + cov[0, :, 0]), atol=1e-9
    )
    seen = ~np.isnan(values)
    if not depends:
        for d in range(D):
            z = [np.concatenate([u[t], mean[t]]) for t in range(T)]
            square = sum(np.outer(z[t], z[t]) for t in range(T) if seen[t, d])
            square[2:, 2:] += sum(cov[t, :, t] for t in range(T) if seen[t, d])
            np.testing.assert_allclose(stats.outputs.strength[d], w * square, atol=1e-9)
            first = sum(values[t, d] * z[t] for t in range(T) if seen[t, d])
            np.testing.assert_allclose(stats.outputs.first[d], w * first, atol=1e-9)
        return
    joint_mean, joint = naive.joint(point, u[:, 1:], T)
    known = np.flatnonzero(seen.ravel()) + T * K
    gain = np.linalg.solve(joint[np.ix_(known, known)], joint[known]).T
    full = joint_mean + gain @ (values.ravel()[known - T * K] - joint_mean[known])
    left = joint - gain @ joint[known]
    second, first = np.zeros((D, D)), np.zeros((D, K))
    for t in np.flatnonzero(seen.any(1)):
        y, x = T * K + t * D + np.arange(D), t * K + np.arange(K)
        second += np.outer(full[y], full[y]) + left[np.ix_(y, y)]
        first += np.outer(full[y], full[x]) + left[np.ix_(y, x)]
    np.testing.assert_allclose(stats.outputs.second, w * second, atol=1e-8)
    np.testing.assert_allclose(stats.outputs.first[:, 2:], w * first, atol=1e-8)
