"""Coefficients of log-linear features: p(x | θ) = exp(⟨f(x), θ⟩ - log Z(θ)).

t(θ) = (θ, -log Z(θ), -½ θ², -‖θ‖ by term), and rows add (Σ f, N, 0, 0): log Z is part of t, so that
nothing else has to know of it. A prior adds a penalty: the second and third last parts are Gaussian
and Laplace priors of interactions. The maximum has no closed form. `improve` climbs ⟨η, t(θ)⟩, and
its slope at the θ of the last sweep is that of the log-likelihood of what was observed (Fisher's
identity). So slopes that are remembered over sweeps make its steps those of a quasi-Newton method
on that likelihood, while F never falls.

References
----------
Jordan (2003), *An Introduction to Probabilistic Graphical Models*, chapter 20 (gradient: data
marginal minus model marginal); Nocedal and Wright (2006), *Numerical Optimization*, algorithm 7.4
(limited-memory BFGS); Wright, Nowak and Figueiredo (2009), *Sparse reconstruction by separable
approximation* (the steps under a Laplace prior).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma, log, pi
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from jensen.support.fields import record

Array = NDArray[np.float64]


@record
class LogLinear(NamedTuple):
    """η or t of all coefficients."""

    first: Any  # (F,): Σ of features; θ
    count: Any  # (): rows; -log Z(θ)
    ridge: Any  # (F,): strengths of Gaussian priors; -θ²/2
    lasso: Any  # (terms,): strengths of Laplace priors; minus the length of each term


@record
class Climb(NamedTuple):
    """Where the last step ended, and what it learned of the surface."""

    log_z: Any  # (): log Z at this θ
    mean: Any  # (F,): E[f] there
    theta: Any  # (F,)
    before: Any  # (F,): θ before
    slope: Any  # (F,): of what was climbed there; nan if nowhere
    moves: Any  # (m, F): steps of θ
    bends: Any  # (m, F): and how the slope fell along them


class FreeSums(Protocol):
    """Sums over all states of a network at given coefficients."""

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """Log Z, and E[f]."""

    def solve(self, theta: Array, count: float, ridge: Array, slope: Array) -> Array:
        """The slope times an approximate inverse of count · Cov[f] + ridge."""


MEMORY = 20
"""Steps that are remembered."""

HALVINGS = 40
"""Shorter steps that are tried."""

ENOUGH = 1e-4
"""The least part of the rise that the slope promises."""


@dataclass(frozen=True, eq=False)
class LogLinearFamily:
    """The coefficients of one network.

    Parameters
    ----------
    sums
        Sums over all states.
    term_ptr
        Where the coefficients of each term begin; then the end.
    repeats
        How many steps a sweep makes: many where the statistics are no longer going to change.
    """

    sums: FreeSums
    term_ptr: NDArray[np.int64]
    repeats: int = 1

    def at(self, theta: Array) -> tuple[LogLinear, Array]:
        """T(θ), and E[f]."""
        log_z, mean = self.sums(theta)
        return self._stats(theta, log_z), mean

    def _stats(self, theta: Array, log_z: float) -> LogLinear:
        lengths = np.sqrt(self._by_term(theta**2))
        return LogLinear(theta, np.float64(-log_z), -0.5 * theta**2, -lengths)

    def _by_term(self, values: Array) -> Array:
        """Sums within terms; terms without coefficients have 0."""
        total = np.concatenate([[0.0], np.cumsum(values)])
        return np.asarray(total[self.term_ptr[1:]] - total[self.term_ptr[:-1]])

    def improve(self, eta: LogLinear, memory: Climb | None) -> tuple[LogLinear, Climb]:
        """Steps that never lower ⟨η, t⟩. Without rows θ is the mode of the Gaussian, a start."""
        n = len(eta.first)
        if memory is None or float(eta.count) == 0.0:
            with np.errstate(invalid="ignore"):
                theta = np.where(eta.ridge > 0.0, eta.first / eta.ridge, 0.0)
            t, mean = self.at(theta)
            nothing = np.empty((0, n))
            lost = np.full(n, np.nan)
            memory = Climb(-t.count, mean, theta, theta, lost, nothing, nothing)
            if float(eta.count) == 0.0:
                return t, memory
        else:
            t = self._stats(memory.theta, float(memory.log_z))
        step = _shrunken_step if np.any(eta.lasso > 0.0) else _quasi_newton_step
        for _ in range(self.repeats):
            t, memory, has_moved = step(self, eta, t, memory)
            if not has_moved:
                break
        return t, memory

    def has_mode(self, eta: LogLinear) -> bool:
        """Penalties have their mode at 0."""
        return True

    def log_partition(self, eta: LogLinear) -> float:
        """Of a prior: Gaussians, and Laplace distributions of the lengths of terms."""
        if float(eta.count) != 0.0:
            raise ValueError("the normaliser of a log-linear posterior has no closed form")
        proper = eta.ridge[eta.ridge > 0.0]
        found = float(0.5 * np.log(2.0 * pi / proper).sum())
        for size, rate in zip(np.diff(self.term_ptr).tolist(), eta.lasso.tolist(), strict=True):
            if rate > 0.0 and size:  # the surface of a ball, times Γ(d) / rate^d
                surface = log(2.0) + 0.5 * size * log(pi) - lgamma(0.5 * size)
                found += surface + lgamma(size) - size * log(rate)
        return found


def objective(eta: LogLinear, t: LogLinear) -> float:
    """⟨η, t⟩."""
    smooth = eta.first @ t.first + eta.count * t.count + eta.ridge @ t.ridge
    return float(smooth + eta.lasso @ t.lasso)


def _slope(eta: LogLinear, memory: Climb) -> Array:
    """The gradient of all but the Laplace prior."""
    return np.asarray(eta.first - eta.count * memory.mean - eta.ridge * memory.theta)


def _remember(memory: Climb, slope: Array) -> Climb:
    """The memory with the bend along the last step, if it is one of a maximum."""
    move, bend = memory.theta - memory.before, memory.slope - slope
    size = float(move @ bend)
    if not size > 1e-10 * float(np.linalg.norm(move) * np.linalg.norm(bend)):  # also nan
        return memory
    moves = np.concatenate([memory.moves, move[None]])[-MEMORY:]
    bends = np.concatenate([memory.bends, bend[None]])[-MEMORY:]
    return memory._replace(moves=moves, bends=bends)


def _arrived(memory: Climb, there: LogLinear, mean: Array, slope: Array) -> Climb:
    """The memory after a step, which began where this was the slope."""
    return memory._replace(
        log_z=-there.count, mean=mean, theta=there.first, before=memory.theta, slope=slope
    )


def _direction(family: LogLinearFamily, eta: LogLinear, memory: Climb, slope: Array) -> Array:
    """The slope times an approximate inverse curvature, bent as the last steps tell."""
    rest, shares = slope.copy(), []
    pairs = list(zip(memory.moves, memory.bends, strict=True))
    for move, bend in reversed(pairs):
        share = (move @ rest) / (move @ bend)
        rest -= share * bend
        shares.append(share)
    found = family.sums.solve(memory.theta, float(eta.count), eta.ridge, rest)
    for (move, bend), share in zip(pairs, reversed(shares), strict=True):
        found = found + (share - (bend @ found) / (move @ bend)) * move
    return found


def _quasi_newton_step(
    family: LogLinearFamily, eta: LogLinear, t: LogLinear, memory: Climb
) -> tuple[LogLinear, Climb, bool]:
    """One step uphill; the same point where none is higher."""
    slope = _slope(eta, memory)
    memory = _remember(memory, slope)
    value = objective(eta, t)
    noise = 1e-15 * (abs(value) + float(eta.count))
    move = _direction(family, eta, memory, slope)
    promise = float(slope @ move)
    if not promise > 0.0:
        move = family.sums.solve(memory.theta, float(eta.count), eta.ridge, slope)
        promise = float(slope @ move)
    if not promise > noise:
        return t, memory, False
    size = 1.0
    for _ in range(HALVINGS):
        there, mean = family.at(memory.theta + size * move)
        rise = objective(eta, there) - value
        if rise >= ENOUGH * size * promise or (rise >= 0.0 and size * promise < 100.0 * noise):
            return there, _arrived(memory, there, mean, slope), True
        fitted = -0.5 * promise * size / (rise / size - promise) if np.isfinite(rise) else 0.0
        size = min(max(fitted, 0.1 * size), 0.6 * size)
    return t, memory, False


def _shrunken_step(
    family: LogLinearFamily, eta: LogLinear, t: LogLinear, memory: Climb
) -> tuple[LogLinear, Climb, bool]:
    """One step uphill in which terms shrink, some of them to exactly 0."""
    slope = _slope(eta, memory)
    move, bend = memory.theta - memory.before, memory.slope - slope
    size = float(move @ move)
    rate = float(move @ bend) / size if size > 0.0 and np.isfinite(bend).all() else 0.0
    highest = 2.0 * (float(eta.count) + float(eta.ridge.max(initial=0.0)))
    rate = rate if rate > 1e-3 * highest else highest
    value = objective(eta, t)
    for _ in range(HALVINGS):
        theta = _shrink(family, memory.theta + slope / rate, eta.lasso / rate)
        moved = theta - memory.theta
        if not np.abs(moved).max(initial=0.0) > 1e-13:
            return t, memory, False
        there, mean = family.at(theta)
        if objective(eta, there) >= value + ENOUGH * 0.5 * rate * float(moved @ moved):
            return there, _arrived(memory, there, mean, slope), True
        rate *= 2.0
    return t, memory, False


def _shrink(family: LogLinearFamily, theta: Array, by: Array) -> Array:
    """Each term moved towards 0 by so much, and not beyond."""
    lengths = np.sqrt(family._by_term(theta**2))
    with np.errstate(divide="ignore", invalid="ignore"):
        kept = np.where(lengths > by, 1.0 - by / lengths, 0.0)
    kept = np.where(by > 0.0, kept, 1.0)
    return np.asarray(theta * np.repeat(kept, np.diff(family.term_ptr)))
