"""Restricted Boltzmann machines by listing every state of both sides."""

from itertools import product

import numpy as np


def joint(machine):
    """{(v, h): log weight} as arrays: states of all units, and their log weights."""
    V, H = machine.weights.shape
    states = np.array(list(product((0.0, 1.0), repeat=V + H)))
    v, h = states[:, :V], states[:, V:]
    logs = v @ machine.visible + h @ machine.hidden + ((v @ machine.weights) * h).sum(1)
    return v, h, logs


def log_z(machine):
    """Log of the sum over all states."""
    return np.logaddexp.reduce(joint(machine)[2])


def given(machine, row):
    """Log p(row), and the expected states of both sides given what a row shows."""
    v, h, logs = joint(machine)
    fits = ((v == row) | np.isnan(row)).all(1)
    total = np.logaddexp.reduce(logs[fits])
    p = np.exp(logs[fits] - total)
    return total - np.logaddexp.reduce(logs), p @ v[fits], p @ h[fits]
