"""Linear dynamical systems by dense algebra: the joint Gaussian of all states and outputs."""

import numpy as np


def joint(point, inputs, T, kappa=0.0):
    """Mean and covariance of (x_1..T, y_1..T) of one sequence; kappa is a diffuse variance."""
    K = len(point.transition)
    A, C = point.transition, point.loadings
    m, P = np.array(point.initial_mean), np.array(point.initial_covariance)
    unknown = point.diffuse > 0
    P[unknown, :] = P[:, unknown] = 0.0
    P[unknown, unknown] = kappa
    means, cov = np.zeros((T, K)), np.zeros((T, K, T, K))
    for t in range(T):
        if t:
            m = A @ m + point.input_transition @ inputs[t]
            P = A @ P @ A.T + point.process_covariance
        means[t] = m
        cov[t, :, t, :] = P
        for s in range(t):
            cov[t, :, s, :] = A @ cov[t - 1, :, s, :]
            cov[s, :, t, :] = cov[t, :, s, :].T
    V = cov.reshape(T * K, T * K)
    H = np.kron(np.eye(T), C)
    shift = (inputs @ point.input_loadings.T + point.offset).ravel()
    mean = np.concatenate([means.ravel(), H @ means.ravel() + shift])
    noise = np.kron(np.eye(T), point.noise_covariance)
    whole = np.block([[V, V @ H.T], [H @ V, H @ V @ H.T + noise]])
    return mean, whole


def conditional(point, values, inputs=None, kappa=0.0):
    """Log density of what is seen, and mean and covariance of the states (T·K) given it."""
    T, K = len(values), len(point.transition)
    inputs = np.zeros((T, point.input_transition.shape[1])) if inputs is None else inputs
    mean, cov = joint(point, inputs, T, kappa)
    seen = np.flatnonzero(~np.isnan(values.ravel())) + T * K
    states = np.arange(T * K)
    y = values.ravel()[seen - T * K] - mean[seen]
    S = cov[np.ix_(seen, seen)]
    gain = np.linalg.solve(S, cov[np.ix_(seen, states)]).T if len(seen) else np.zeros((T * K, 0))
    log_det = np.linalg.slogdet(S)[1] if len(seen) else 0.0
    square = y @ np.linalg.solve(S, y) if len(seen) else 0.0
    value = -0.5 * (log_det + square + len(seen) * np.log(2 * np.pi))
    given = cov[np.ix_(states, states)] - gain @ cov[np.ix_(seen, states)]
    return value, mean[states] + gain @ y, given


def flat_start(point, values, inputs=None, kappa=1e7):
    """Durbin and Koopman's log density of a diffuse start, by a large variance."""
    value, mean, cov = conditional(point, values, inputs, kappa)
    return value + 0.5 * point.diffuse.sum() * np.log(kappa), mean, cov
