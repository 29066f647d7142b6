"""A small model that needs memory: two hidden labels a row, and weights without a closed form.

p(a, b) is log-linear in some features, p(x_d | a, b) are tables. q(h) = q(a) q(b) row by row is
updated from the last q, and the weights of the features by one damped Newton step a sweep from the
last weights: both rules have to see again what they left.
"""

from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp, softmax, xlogy

from jensen import q_theta
from jensen.data.blocks import Units
from jensen.families.dirichlet import dirichlet
from jensen.free_energy import Algorithm
from jensen.models.protocol import Conjugate
from jensen.q_hidden import Hidden, HiddenRule
from jensen.support.fields import add, record

A, B, V = 2, 3, 3
FEATURES = np.array([[a, b == 1, b == 2, a * b] for a, b in product(range(A), range(B))], float)


@record
class PairFields(NamedTuple):
    """Fields of θ."""

    joint: Any  # of a and b
    tables: Any  # (D, A, B, V)


@record
class FeatureSums(NamedTuple):
    """η of the weights of features; t = (θ, -log Z, -½ θ²), and rows add (Σ f, N, 0)."""

    first: Any  # (F,)
    number: Any
    ridge: Any  # (F,)


@record
class PairMemory(NamedTuple):
    """The last q of a unit, or the last draw."""

    a: Any  # (n, A), or (n,)
    b: Any  # (n, B), or (n,)


class Rows(NamedTuple):
    """A unit."""

    codes: Any  # (n, D), -1 where missing
    weight: Any  # (n,)


class PairTables(NamedTuple):
    """Log potentials of the two labels of each row."""

    logs: Any  # (n, A, B)
    weight: Any  # (n,)


class LogLinearFamily:
    """Weights of features under a ridge; improved, never solved."""

    def at(self, theta):
        return FeatureSums(theta, -logsumexp(FEATURES @ theta), -0.5 * theta**2)

    def value(self, eta, t):
        return eta.first @ t.first + eta.number * t.number + eta.ridge @ t.ridge

    def slope(self, eta, t):
        p = np.exp(FEATURES @ t.first + t.number)
        return eta.first - eta.number * (p @ FEATURES) - eta.ridge * t.first

    def improve(self, eta, memory):
        theta, damping = (np.zeros_like(eta.first), 1.0) if memory is None else memory
        t = self.at(theta)
        p = np.exp(FEATURES @ theta + t.number)
        mean = p @ FEATURES
        curve = eta.number * ((FEATURES.T * p) @ FEATURES - np.outer(mean, mean))
        curve += np.diag(eta.ridge)
        for _ in range(40):
            damped = curve + damping * np.eye(len(theta))
            tried = self.at(theta + np.linalg.solve(damped, self.slope(eta, t)))
            if self.value(eta, tried) >= self.value(eta, t):
                return tried, (tried.first, damping / 2.0)
            damping *= 8.0
        return t, (theta, damping)

    def log_partition(self, eta):
        """Of the ridge, which no row has been added to."""
        assert eta.number == 0.0
        return float(0.5 * np.log(2.0 * np.pi / eta.ridge).sum())

    def has_mode(self, eta):
        return bool(np.all(eta.ridge > 0.0))


INNER = 1
"""Updates of q(a) and q(b) a sweep: with many of them the memory would hardly matter."""


def factorised(potentials, memory, rng):
    """q(a) q(b), one after the other; the memory that came stays as it was."""
    logs, weight = potentials
    n = len(weight)
    b = np.full((n, B), 1.0 / B) if memory is None else memory.b
    for _ in range(INNER):
        a = softmax(np.einsum("nab,nb->na", logs, b), axis=1)
        b = softmax(np.einsum("nab,na->nb", logs, a), axis=1)
    both = a[:, :, None] * b[:, None, :]
    value = (both * logs).sum((1, 2)) - xlogy(a, a).sum(1) - xlogy(b, b).sum(1)
    return Hidden(weight * value, both, PairMemory(a, b))


def single_site(potentials, memory, rng):
    """A draw of each a given its b, then of each b given its a: h itself is remembered."""
    logs, weight = potentials
    rows = np.arange(len(weight))
    b = rng.integers(0, B, len(rows)) if memory is None else memory.b
    a = drawn(logs[rows, :, b], rng)
    b = drawn(logs[rows, a], rng)
    both = np.zeros_like(logs)
    both[rows, a, b] = 1.0
    return Hidden(weight * logs[rows, a, b], both, PairMemory(a, b))


def drawn(logs, rng):
    """One label a row."""
    edges = np.cumsum(softmax(logs, axis=1), axis=1)
    return (rng.random((len(logs), 1)) > edges[:, :-1]).sum(1)


MEAN_FIELD = HiddenRule(factorised, is_random=False, is_bound=True)
VARIATIONAL_EM = Algorithm("variational-em", MEAN_FIELD, q_theta.mode)
SINGLE_SITE = HiddenRule(single_site, is_random=True, is_bound=False)
SINGLE_SITE_EM = Algorithm("single-site-em", SINGLE_SITE, q_theta.mode)


@dataclass(frozen=True)
class Pairs(Conjugate):
    """Two hidden labels behind D columns of V labels."""

    D: int

    @property
    def families(self):
        return PairFields(LogLinearFamily(), dirichlet)

    @property
    def prior(self):
        F = FEATURES.shape[1]
        ridge = FeatureSums(np.zeros(F), 0.0, np.full(F, 0.5))
        return PairFields(ridge, np.full((self.D, A, B, V), 0.5))

    def encode(self, codes, weight, cuts):
        parts = zip(np.split(codes, cuts), np.split(weight, cuts), strict=True)
        return Units(tuple(Rows(*part) for part in parts), float(weight.sum()), is_complete=False)

    def potentials(self, t):
        joint = (FEATURES @ t.joint.first + t.joint.number).reshape(A, B)

        def of_unit(unit):
            logs = np.tile(joint, (len(unit.weight), 1, 1))
            for d, column in enumerate(unit.codes.T):
                seen = column >= 0
                logs[seen] += np.moveaxis(t.tables[d], -1, 0)[column[seen]]
            return PairTables(logs, unit.weight)

        return of_unit

    def expected_stats(self, unit, hidden):
        nodes = unit.weight[:, None, None] * hidden.moments
        first = nodes.sum(0).ravel() @ FEATURES
        joint = FeatureSums(first, float(unit.weight.sum()), np.zeros_like(first))
        labels = [[nodes[column == v].sum(0) for v in range(V)] for column in unit.codes.T]
        return PairFields(joint, np.moveaxis(np.array(labels), 1, -1))

    # --- what `learn` asks for ---

    def start(self, data, k, rng):
        n = data.units.total_weight
        p = rng.dirichlet(np.ones(A * B))
        joint = FeatureSums(n * p @ FEATURES, n, np.zeros(FEATURES.shape[1]))
        tables = n / (A * B) * rng.dirichlet(np.full(V, 2.0), (self.D, A, B))
        return add(self.prior, PairFields(joint, tables))

    def explain(self, data, t):
        return ValueError("a row is impossible")

    def finish(self, state, *, is_posterior):
        return state
