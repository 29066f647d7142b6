"""The one loop: F[q(h), q(θ)] = E_q[log p(x, h, θ)] + H[q(h)] + H[q(θ)], climbed or sampled.

A sweep reads θ out of η = prior + statistics, updates q(h) at that θ, and collects the statistics
that the next η is made of. After k sweeps the state holds θ_k, the statistics of q(h) at θ_k, and
F at θ_k. Complete data have no h: F is at its maximum from the start.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from jensen import q_hidden, q_theta
from jensen.data.units import Units
from jensen.exceptions import ImpossibleError, JensenError
from jensen.families import inner
from jensen.families.held import Held
from jensen.fields import add, leaves, zip_fields


class Algorithm(NamedTuple):
    """A choice of q(h) and of q(θ)."""

    name: str
    q_hidden: Callable[..., q_hidden.Hidden]
    q_theta: q_theta.ThetaRule

    @property
    def ascends(self) -> bool:
        """Whether F can only rise; else it is a chain."""
        return self.q_hidden is not q_hidden.draw and self.q_theta is not q_theta.draw

    @property
    def keeps_posterior(self) -> bool:
        """Whether q(θ) is a distribution, so that F bounds the log evidence."""
        return self.ascends and self.q_theta.is_distribution


EM = Algorithm("em", q_hidden.exact, q_theta.mode)
VBEM = Algorithm("vbem", q_hidden.exact, q_theta.posterior)
VITERBI = Algorithm("viterbi", q_hidden.mode, q_theta.mode)
ME = Algorithm("me", q_hidden.mode, q_theta.posterior)
STOCHASTIC_EM = Algorithm("stochastic-em", q_hidden.draw, q_theta.mode)
GIBBS = Algorithm("gibbs", q_hidden.draw, q_theta.draw)
ALGORITHMS = {a.name: a for a in (EM, VBEM, VITERBI, ME, STOCHASTIC_EM, GIBBS)}


class Model(Protocol):
    """p(x, h, θ): what the algorithms need to know of it."""

    @property
    def prior(self) -> Any:
        """η₀, one field per family; a field None is the flat prior."""

    @property
    def families(self) -> Any:
        """The family of each field."""

    @property
    def blank(self) -> Any:
        """An η of zeros: its shape."""

    def potentials(self, t: Any, unit: Any) -> Any:
        """Log potentials of what a unit hides; their type is the shape of the hidden graph."""

    def expected_stats(self, unit: Any, hidden: q_hidden.Hidden) -> Any:
        """Statistics under q(h), shaped like the prior."""


class Sums(NamedTuple):
    """What a sweep adds up over units."""

    value: float  # Σ weight · (E_q[log potentials] + H[q(h)])
    stats: Any


class State(NamedTuple):
    """θ, and what is known of h given it."""

    eta: Any  # one field per family
    t: Any  # θ as the E-step saw it
    stats: Any  # statistics of q(h) at this θ
    free_energy: float  # at this θ; log p(x, h, θ) in a chain
    theta_memory: Any = None
    memory: tuple[Any, ...] = ()  # per unit


class Fit(NamedTuple):
    """Where an ascent ended."""

    state: State
    trace: np.ndarray  # (sweeps + 1,): F at θ_0, θ_1, ...
    converged: bool


Watch = Callable[[State, list[float]], bool]
"""Sees every sweep; True stops the run."""


def see(
    model: Model,
    data: Units,
    algorithm: Algorithm,
    eta: Any,
    before: State | None = None,
    rng: np.random.Generator | None = None,
) -> State:
    """The state at this η: read θ, update q(h) unit by unit, collect statistics."""
    rule = algorithm.q_theta
    nothing = zip_fields(lambda _: None, model.families)
    memories = before.theta_memory if before and before.theta_memory else nothing
    read = [
        rule.read(family, e, memory, rng)
        for family, e, memory in zip(model.families, eta, memories, strict=True)
    ]
    t = type(model.prior)(*(found for found, _ in read))
    theta_memory = type(model.families)(*(memory for _, memory in read))
    cost = sum(zip_fields(rule.cost, model.families, model.prior, eta, t))

    def visit(unit: Any, memory: Any, stream: Any) -> tuple[Sums, Any]:
        hidden = algorithm.q_hidden(model.potentials(t, unit), memory, stream)
        value = float((unit.weight * hidden.value).sum())  # not @: BLAS has threads of its own
        return Sums(value, model.expected_stats(unit, hidden)), hidden.memory

    empty = (None,) * len(data)
    memory = before.memory if before and before.memory else empty
    sums, kept = data.sum(visit, memory, rng.spawn(len(data)) if rng else empty)
    return State(eta, t, sums.stats, sums.value - cost, theta_memory, kept)


def step(
    model: Model,
    data: Units,
    algorithm: Algorithm,
    state: State,
    rng: np.random.Generator | None = None,
) -> State:
    """One sweep: η ← prior + statistics, then q(h) at the new θ."""
    return see(model, data, algorithm, add(model.prior, state.stats), state, rng)


def fit(
    model: Model,
    data: Units,
    algorithm: Algorithm,
    state: State,
    *,
    trace: list[float] | None = None,
    max_iter: int = 1000,
    tol: float = 1e-8,
    watch: Watch = lambda state, trace: False,
) -> Fit:
    """Repeat `step` until F rises by less than ``tol * (|F| + total weight)`` in one sweep.

    Parameters
    ----------
    trace
        F at the sweeps before `state`, which is a start if there were none.
    max_iter
        Sweeps counted from the start; reaching it is no convergence.
    watch
        Called at every state; it returns True to stop.
    """
    trace = trace or [state.free_energy]
    _check_possible(trace[-1])
    if data.is_complete:
        return Fit(state, np.array(trace), converged=True)
    noise = 1e-14 * _size(model.prior)  # of rounding, in the density of a heavy prior
    while len(trace) <= max_iter and not watch(state, trace):
        state = step(model, data, algorithm, state)
        trace.append(state.free_energy)
        scale = abs(trace[-1]) + data.total_weight
        rise = trace[-1] - trace[-2]
        if not rise >= -1e-9 * scale - noise and not rise >= -1e-15 * _cancelled(state):
            raise ArithmeticError(f"F fell by {-rise:.3g} at sweep {len(trace) - 1}: {BUG}")
        if rise < tol * scale:
            return Fit(state, np.array(trace), converged=True)
    return Fit(state, np.array(trace), converged=False)


BUG = "an ascent cannot fall, so this is a fault of the program; please report it with the data"


def chain(
    model: Model, data: Units, algorithm: Algorithm, state: State, rng: np.random.Generator
) -> Iterator[State]:
    """The states after one sweep, after two, ... without end."""
    _check_possible(state.free_energy)
    while True:
        state = step(model, data, algorithm, state, rng)
        yield state


def _size(prior: Any) -> float:
    """The sum of all natural parameters, without their signs."""
    return sum(float(np.abs(leaf).sum()) for leaf in leaves(prior) if leaf is not None)


def _cancelled(state: State) -> float:
    """How large the terms of ⟨stats, t⟩ are, which nearly cancel where rows are far from 0."""
    return inner(*(tuple(map(np.abs, leaves(record))) for record in (state.stats, state.t)))


def _check_possible(free_energy: float) -> None:
    if not np.isfinite(free_energy):
        raise ImpossibleError("a row has probability 0 under the tables at the start")


def check_usable(model: Model, algorithm: Algorithm) -> None:
    """Refuse a prior that the algorithm cannot use, naming the way out."""
    is_mode = algorithm.q_theta is q_theta.mode
    for name, family, prior in zip(model.prior._fields, model.families, model.prior, strict=True):
        if isinstance(family, Held):
            continue
        if not is_mode and prior is None:
            raise JensenError(
                f"{algorithm.name} keeps a posterior, so it needs a prior of its {name}: give "
                f"prior='bdeu' (--prior bdeu) or a concentration, or use method='em' for the "
                f"frequencies"
            )
        if is_mode and prior is not None:
            _check_mode(name, family, prior, algorithm)


def _what_lacks(prior: Any) -> str:
    """Why a prior has no mode."""
    if isinstance(prior, np.ndarray):
        return f"its concentrations begin at {float(prior.min()) + 1.0:.3g}, and must be at least 1"
    return "its degrees of freedom (shape, concentrations) are too few"


def _check_mode(name: str, family: Any, prior: Any, algorithm: Algorithm) -> None:
    if not family.has_mode(prior):
        raise JensenError(
            f"{algorithm.name} needs a prior with a mode, but the prior of the {name} has none: "
            f"{_what_lacks(prior)}. Raise the prior, or use method='vbem', which needs no mode"
        )
    if isinstance(prior, np.ndarray) and not prior.any():
        raise JensenError(
            f"{algorithm.name} would not feel a prior of the {name} with all concentrations 1: it "
            f"is flat. Use prior=None for the frequencies, or method='vbem', which does feel it"
        )
