"""The one loop: F[q(h), q(θ)] = E_q[log p(x, h, θ)] + H[q(h)] + H[q(θ)], climbed or sampled.

A sweep is coordinate ascent: the fields of θ in turn, each given the statistics and the newest of
the others, then q(h) at the new θ, which gives the statistics of the next sweep. After k sweeps the
state holds θ_k, the statistics of q(h) at θ_k, and F at θ_k. Complete data have no h: F is at its
maximum from the start.
"""

from collections.abc import Callable, Iterator
from typing import Any, Generic, NamedTuple, TypeAlias

import numpy as np

from jensen import q_hidden, q_theta
from jensen.data.blocks import Units
from jensen.exceptions import ImpossibleError, JensenError
from jensen.families import inner
from jensen.families.point_mass import PointMass
from jensen.families.semi_conjugate import SemiConjugate
from jensen.models.protocol import AnyModel, Model, Record, Stats, Unit
from jensen.q_theta import Improving
from jensen.support.arguments import Streams
from jensen.support.fields import leaves, rebuild, record, zip_fields
from jensen.support.text import for_reader, option


class Algorithm(NamedTuple):
    """A choice of q(h) and of q(θ)."""

    name: str
    q_hidden: q_hidden.HiddenRule
    q_theta: q_theta.ThetaRule

    @property
    def ascends(self) -> bool:
        """Whether it goes to a fixed point, where it ends; else it is a chain."""
        return not (self.q_hidden.is_random or self.q_theta.is_random)

    @property
    def never_falls(self) -> bool:
        """Whether F can only rise on the way; loopy beliefs have no F that does."""
        return self.ascends and self.q_hidden.is_bound

    @property
    def keeps_posterior(self) -> bool:
        """Whether an ascent ends at a distribution of θ."""
        return self.ascends and self.q_theta.is_distribution

    @property
    def seeks_mode(self) -> bool:
        """Whether θ is read at a mode, so that no prior is needed."""
        return not (self.q_theta.is_random or self.q_theta.is_distribution)

    @property
    def is_bound(self) -> bool:
        """Whether F bounds the log evidence from below."""
        return self.q_hidden.is_bound and self.q_theta.is_distribution


EM = Algorithm("em", q_hidden.exact, q_theta.mode)
VBEM = Algorithm("vbem", q_hidden.exact, q_theta.posterior)
VITERBI = Algorithm("viterbi", q_hidden.mode, q_theta.mode)
ME = Algorithm("me", q_hidden.mode, q_theta.posterior)
STOCHASTIC_EM = Algorithm("stochastic-em", q_hidden.draw, q_theta.mode)
GIBBS = Algorithm("gibbs", q_hidden.draw, q_theta.draw)
VARIATIONAL_EM = Algorithm("variational-em", q_hidden.meanfield, q_theta.mode)
MEAN_FIELD = Algorithm("mean-field", q_hidden.meanfield, q_theta.posterior)
LOOPY_EM = Algorithm("loopy-em", q_hidden.loopy, q_theta.mode)
LOOPY = Algorithm("loopy", q_hidden.loopy, q_theta.posterior)
COMMON = tuple(a.name for a in (EM, VBEM, VITERBI, ME, STOCHASTIC_EM, GIBBS))
"""What models have unless they say so."""
ALGORITHMS = {
    a.name: a
    for a in (
        *(EM, VBEM, VITERBI, ME, STOCHASTIC_EM, GIBBS),
        *(VARIATIONAL_EM, MEAN_FIELD, LOOPY_EM, LOOPY),
    )
}


class SweepSums(NamedTuple, Generic[Stats]):
    """What a sweep adds up over units."""

    value: float  # Σ weight · (E_q[log potentials] + H[q(h)])
    stats: Stats


@record
class Theta(NamedTuple, Generic[Record]):
    """q(θ): three records of one type, a field for each factor."""

    eta: Record  # natural parameters
    t: Record  # θ as the E-step sees it
    memory: Record  # what the rule wants to see again in the next sweep


@record
class State(NamedTuple, Generic[Record, Stats]):
    """All that the next sweep needs, and nothing else: a checkpoint is this record."""

    theta: Theta[Record]
    stats: Stats  # of q(h) at this θ
    memory: tuple[Any, ...]  # of q(h), one entry a unit
    free_energy: float  # at this θ; log p(x, h, θ) in a chain
    is_bound: bool  # whether that bounds the log evidence
    sweep: int

    @property
    def eta(self) -> Record:
        """The natural parameters."""
        return self.theta.eta

    @property
    def t(self) -> Record:
        """θ as the E-step saw it."""
        return self.theta.t


class Fit(NamedTuple, Generic[Record, Stats]):
    """Where an ascent ended."""

    state: State[Record, Stats]
    trace: np.ndarray  # (sweeps + 1,): F at θ_0, θ_1, ...
    converged: bool
    judged: float | None = None  # how well it does on other rows, where these decide when to end


AnyState: TypeAlias = State[Any, Any]
AnyFit: TypeAlias = Fit[Any, Any]

Watch = Callable[[AnyState, list[float]], bool]
"""Sees every sweep; True stops the run."""


def state_at(
    model: Model[Record, Unit, Stats],
    data: Units,
    algorithm: Algorithm,
    eta: Record,
    streams: Streams | None = None,
    before: State[Record, Stats] | None = None,
) -> State[Record, Stats]:
    """The state at an η that no statistics were collected for: a start, or a move.

    Parameters
    ----------
    streams
        Random numbers of rules that draw.
    before
        The state whose sweep and memories this one takes over.
    """
    sweep = before.sweep if before else 0
    nothing = zip_fields(lambda _: None, model.families)
    memories = before.theta.memory if before else nothing
    rng = streams(sweep) if streams else None
    theta = _read(model, algorithm, eta, memories, rng)
    return _evaluate(model, data, algorithm, theta, streams, before.memory if before else (), sweep)


def step(
    model: Model[Record, Unit, Stats],
    data: Units,
    algorithm: Algorithm,
    state: State[Record, Stats],
    streams: Streams | None = None,
) -> State[Record, Stats]:
    """One sweep: every field of θ given the newest of the others, then q(h) at the new θ."""
    theta = updated(model, algorithm, state, streams)
    state = _evaluate(model, data, algorithm, theta, streams, state.memory, state.sweep + 1)
    for eta in model.moves(state) if algorithm.ascends else ():
        moved = state_at(model, data, algorithm, eta, streams, state)
        state = max(state, moved, key=lambda one: one.free_energy)
    return state


def updated(
    model: Model[Record, Unit, Stats],
    algorithm: Algorithm,
    state: State[Record, Stats],
    streams: Streams | None = None,
) -> Theta[Record]:
    """θ of the next sweep, given the statistics of this one."""
    theta, rng = state.theta, streams(state.sweep + 1) if streams else None
    for name, family in zip(model.families._fields, model.families, strict=True):
        eta = model.posterior(name, state.stats, theta.t)
        t, memory = algorithm.q_theta.read(family, eta, getattr(theta.memory, name), rng)
        fields = zip(theta, (eta, t, memory), strict=True)
        theta = Theta(*(record._replace(**{name: value}) for record, value in fields))
    if algorithm.ascends:
        is_distribution = algorithm.q_theta.is_distribution
        turned = model.turned(*theta[:2], state.stats, is_distribution=is_distribution)
        if turned is not None:
            theta = _read(model, algorithm, turned, theta.memory, rng)
    return theta


def _read(
    model: Model[Record, Unit, Stats],
    algorithm: Algorithm,
    eta: Record,
    memories: Record,
    rng: np.random.Generator | None,
) -> Theta[Record]:
    """Q(θ) at this η, field by field."""
    read = [
        algorithm.q_theta.read(family, one, memory, rng)
        for family, one, memory in zip(model.families, eta, memories, strict=True)
    ]
    t, kept = zip(*read, strict=True)
    return Theta(eta, type(eta)(*t), type(eta)(*kept))


def expect(
    model: Model[Record, Unit, Stats],
    data: Units,
    rule: q_hidden.HiddenRule,
    t: Record,
    streams: Streams | None = None,
    memory: tuple[Any, ...] = (),
) -> tuple[SweepSums[Stats], tuple[Any, ...]]:
    """Update q(h) at this θ, unit by unit: value and statistics, and what the rule remembers."""
    at = model.potentials(t)

    def visit(number: int, unit: Unit, kept: Any) -> tuple[SweepSums[Stats], Any]:
        hidden = rule(at(unit), kept, streams(number) if streams else None)
        return SweepSums(
            float(hidden.value.sum()), model.expected_stats(unit, hidden)
        ), hidden.memory

    return data.sum(visit, memory)


def _evaluate(
    model: Model[Record, Unit, Stats],
    data: Units,
    algorithm: Algorithm,
    theta: Theta[Record],
    streams: Streams | None,
    memory: tuple[Any, ...],
    sweep: int,
) -> State[Record, Stats]:
    """The state at this θ: q(h) and its statistics, and F."""
    at_sweep = streams.at(sweep) if streams else None
    sums, kept = expect(model, data, algorithm.q_hidden, theta.t, at_sweep, memory)
    prior, normalizer = model.prior_given(theta.t)
    parts = zip(model.families, prior, theta.eta, theta.t, normalizer, strict=True)
    cost = sum(algorithm.q_theta.cost(*part) for part in parts)
    return State(theta, sums.stats, kept, sums.value - cost, algorithm.is_bound, sweep)


def fit(
    model: Model[Record, Unit, Stats],
    data: Units,
    algorithm: Algorithm,
    state: State[Record, Stats],
    *,
    trace: list[float] | None = None,
    max_iter: int = 1000,
    tol: float = 1e-8,
    watch: Watch = lambda state, trace: False,
) -> Fit[Record, Stats]:
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
    check_possible(trace[-1])
    if len(trace) == 1 and is_answer(model, state):
        return Fit(state, np.array(trace), converged=True)
    while len(trace) <= max_iter and not watch(state, trace):
        state, has_converged = climb(model, data, algorithm, state, tol)
        trace.append(state.free_energy)
        if has_converged:
            return Fit(state, np.array(trace), converged=True)
    return Fit(state, np.array(trace), converged=False)


def climb(
    model: Model[Record, Unit, Stats],
    data: Units,
    algorithm: Algorithm,
    state: State[Record, Stats],
    tol: float,
) -> tuple[State[Record, Stats], bool]:
    """One sweep of an ascent, and whether F rose by less than ``tol * (|F| + total weight)``."""
    before, state = state.free_energy, step(model, data, algorithm, state)
    scale = abs(state.free_energy) + data.total_weight
    rise = state.free_energy - before
    if not algorithm.never_falls:
        return state, abs(rise) < tol * scale
    if not rise >= -1e-9 * scale:
        _refuse_fall(model, state, rise, scale)
    return state, rise < tol * scale


def _refuse_fall(
    model: Model[Record, Unit, Stats], state: State[Record, Stats], rise: float, scale: float
) -> None:
    """Raise an error if F fell by more than rounding explains."""
    prior, _ = model.prior_given(state.t)
    size = sum(float(np.abs(leaf).sum()) for leaf in leaves(prior) if leaf is not None)
    noise = 1e-14 * size  # of rounding, in the density of a heavy prior
    if not rise >= -1e-9 * scale - noise and not rise >= -1e-15 * _cancelled(state):
        raise ArithmeticError(f"F fell by {-rise:.3g} at sweep {state.sweep}: {BUG}")


BUG = "an ascent cannot fall, so this is a fault of the program; please report it with the data"


def chain(
    model: Model[Record, Unit, Stats],
    data: Units,
    algorithm: Algorithm,
    state: State[Record, Stats],
    streams: Streams,
) -> Iterator[State[Record, Stats]]:
    """The states after one sweep, after two, ... without end."""
    check_possible(state.free_energy)
    while True:
        state = step(model, data, algorithm, state, streams)
        yield state


def is_answer(model: Model[Record, Unit, Stats], state: State[Record, Stats]) -> bool:
    """Whether the statistics give θ itself, to the last bit: complete data were just counted."""
    for name, family in zip(model.families._fields, model.families, strict=True):
        eta = model.posterior(name, state.stats, state.t)
        pairs = zip(leaves(eta), leaves(getattr(state.eta, name)), strict=True)
        if isinstance(family, Improving) or not all(np.array_equal(a, b) for a, b in pairs):
            return False
    return True


def _cancelled(state: AnyState) -> float:
    """How large the terms of ⟨η, t⟩ are, which nearly cancel where rows are far from 0."""
    both = (state.eta, state.t)
    sizes = [[x if x is None else np.abs(x) for x in leaves(record)] for record in both]
    return inner(*(rebuild(record, iter(own)) for record, own in zip(both, sizes, strict=True)))


def check_possible(free_energy: float) -> None:
    """Refuse a start at which some row has probability 0."""
    if not np.isfinite(free_energy):
        raise ImpossibleError("a row has probability 0 under the tables at the start")


def check_usable(model: AnyModel, algorithm: Algorithm) -> None:
    """Refuse a prior that the algorithm cannot use, naming the way out."""
    for name, family, prior in zip(model.prior._fields, model.families, model.prior, strict=True):
        if isinstance(family, PointMass):
            continue
        if isinstance(family, SemiConjugate) and not algorithm.q_theta.is_random:
            raise JensenError(
                f"{algorithm.name} does not know means that are independent of precisions "
                f"(mean_variance): use {option('method', 'gibbs')}, or give the prior a "
                "mean_strength"
            )
        if algorithm.seeks_mode:
            if prior is not None:
                _check_mode(name, family, prior, algorithm)
        elif prior is None:
            raise JensenError(
                f"{algorithm.name} keeps a posterior, so it needs a prior of its {name}: give "
                f"{option('prior', 'bdeu')} or a concentration, or use {option('method', 'em')} "
                f"for the frequencies"
            )


def _what_lacks(prior: Any) -> str:
    """Why a prior has no mode."""
    if isinstance(prior, np.ndarray):
        return f"its concentrations begin at {float(prior.min()) + 1.0:.3g}, and must be at least 1"
    return "its degrees of freedom (shape, concentrations) are too few"


def _or_softmax(name: str) -> str:
    """The way out that only tables of networks have."""
    return f", or {option('mode', 'softmax')}, where every prior has one" * (name == "tables")


def _check_mode(name: str, family: Any, prior: Any, algorithm: Algorithm) -> None:
    if not family.has_mode(prior):
        raise JensenError(
            f"{algorithm.name} needs a prior with a mode, but the prior of the {name} has none: "
            f"{_what_lacks(prior)}. Raise the prior, or use {option('method', 'vbem')}, which "
            f"needs no mode{_or_softmax(name)}"
        )
    if isinstance(prior, np.ndarray) and not prior.any():
        raise JensenError(
            f"{algorithm.name} would not feel a prior of the {name} with all concentrations 1: it "
            f"is flat. {for_reader('Use prior=None', 'Leave --prior out')} for the frequencies, or "
            f"{option('method', 'vbem')}, which does feel it"
        )
