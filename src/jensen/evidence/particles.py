"""Many θ of one model on the way from prior to posterior, at inverse temperatures β from 0 to 1.

Mixtures and chains take p(θ) p(h | θ) p(x | h, θ)^β, networks p(θ) p(x, h | θ)^β. A sweep at β
draws h given θ, then θ given h; what is hidden is summed out of all that is weighed. θ of mixtures
and chains are worked on together, those of networks one after the other.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from jensen import q_hidden
from jensen.evidence.asked import EvidenceQuestion
from jensen.evidence.labels import shape_of
from jensen.evidence.stacked import flat_rows, log_partitions, repeat, sample, stack, take
from jensen.evidence.state_rows import SeenRows
from jensen.exceptions import JensenError
from jensen.families.point_mass import PointMass
from jensen.free_energy import expect
from jensen.models.gaussian_network import RegressionNetwork
from jensen.models.hidden_markov import HiddenMarkov
from jensen.models.mixed_network import MixedRegressionNetwork
from jensen.models.state_model import StateModel, flatten
from jensen.support.arguments import Streams
from jensen.support.fields import add, add_at, leaves, rebuild
from jensen.support.text import one_of

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


class Moved(NamedTuple):
    """θ after a sweep, and the η that it was drawn from."""

    t: Any
    eta: Any


class Particles(Protocol):
    """What annealing and bridge sampling need of a model and its rows."""

    model: Any
    log_start: float  # log Σ_h of the path at β = 0, the same for all θ

    def look(self, t: Any) -> Any:
        """What is computed once for a stack of θ, whatever β is."""

    def gains(self, t: Any, look: Any, before: float, after: float) -> Array:
        """(C,): log f(θ) at one β less that at another, h summed out."""

    def move(self, t: Any, look: Any, chosen: Ints, beta: float, streams: Streams) -> Moved:
        """A sweep at β from the chosen θ."""


def particles_of(asked: EvidenceQuestion) -> Particles:
    """The particles of a model; refused where numbers are hidden."""
    model = asked.model
    if isinstance(model, HiddenMarkov):
        return ChainParticles(model, asked)
    if isinstance(model, StateModel):
        return RowParticles(model, asked)
    if isinstance(model, RegressionNetwork | MixedRegressionNetwork):
        _refuse_missing_numbers(asked)
    return NetworkParticles(asked)


def _refuse_missing_numbers(asked: EvidenceQuestion) -> None:
    if isinstance(asked.model, MixedRegressionNetwork) and asked.model.layout.counts:
        raise JensenError(
            "annealing is not known of networks with declared counts: use "
            f"{one_of('method', ['exact', 'vb', 'laplace'])}"
        )
    names = [v.name for v in getattr(asked.model, "variables", ()) if v.kind != "categorical"]
    names = names or list(getattr(asked.model, "names", ()))
    rows = asked.problem.data.rows
    has_gaps = rows.has_gaps if hasattr(rows, "has_gaps") else rows.source.rows.n_missing(names)
    if has_gaps:
        raise JensenError(
            "a missing number has no distribution at the temperature of the prior, so annealing "
            f"cannot begin: use {one_of('method', ['vb', 'laplace'])}, or leave out rows with gaps"
        )


ENTRIES = 1 << 22
"""Of tables (θ, states, rows) that are filled at once, unless the caller has a reason for fewer."""


def at_once(particles: Particles, n: int, entries: int = ENTRIES, pieces: int = 1) -> int:
    """Of how many θ the tables are filled at once; fixed, so that nothing depends on threads."""
    if isinstance(particles, NetworkParticles):
        return 1
    rows: Any = particles.rows  # type: ignore[attr-defined]
    n_rows = sum(rows.n_rows(unit) for unit in range(rows.n_units))
    return int(np.clip(entries // (n_rows * particles.model.n_states), 4, max(n // pieces, 4)))


def draw_prior(model: Any, n: int, rng: np.random.Generator) -> Any:
    """A stack of n θ."""
    return sample(model, repeat(add(model.prior, shape_of(model)), n), rng)


def log_prior(model: Any, t: Any) -> Array:
    """(C,): log p(θ)."""
    eta = flatten(add(model.prior, shape_of(model)))
    free = is_free(model)
    own = np.where(free, eta, 0.0)
    return np.asarray(dot(flat_rows(t), own[None])[:, 0] - log_partitions(model, eta[None])[0])


def is_free(model: Any) -> NDArray[np.bool_]:
    """(P,): which flat parameters are not held."""
    parts = []
    for family, shape in zip(model.families, shape_of(model), strict=True):
        size = sum(leaf.size for leaf in leaves(shape))
        parts.append(np.full(size, not isinstance(family, PointMass)))
    return np.concatenate(parts)


LOWEST = -1e300


def dot(t: Array, eta: Array) -> Array:
    """(C, M): ⟨η, t⟩ with 0 · (-inf) = 0."""
    return np.asarray(np.maximum(t, LOWEST) @ eta.T)


class _StateParticles:
    """Hidden states of rows, or of steps, under many θ at once."""

    log_start = 0.0
    model: Any
    rows: SeenRows

    def look(self, t: Any) -> list[Array]:
        """Log p(row | state) of every unit, (C, K, n)."""
        return [self.rows.log_like(t[-1], unit) for unit in range(self.rows.n_units)]

    def _draw(self, counts: Any, t: Any, look: Any, nodes: list[Array], beta: float) -> Any:
        """η at β: of states by their counts, of emissions by β times the statistics."""
        stats: Any = None
        for unit, own in enumerate(nodes):
            found = self.rows.stats(t[-1], unit, own)
            stats = found if stats is None else add(stats, found)
        tempered = rebuild(stats, (beta * leaf for leaf in leaves(stats)))
        like = shape_of(self.model)
        whole = type(like)(*counts, tempered)
        return add(repeat(add(self.model.prior, like), len(nodes[0])), whole)


class RowParticles(_StateParticles):
    """A mixture: equal rows are kept once."""

    def __init__(self, model: Any, asked: EvidenceQuestion) -> None:
        self.model = model
        self.rows = SeenRows.of_mixture(model, asked)

    def gains(self, t: Any, look: Any, before: float, after: float) -> Array:
        """Σ over rows of log Σ_k."""
        from jensen.kernels.annealed_states import row_gains

        total, own = np.zeros(len(t[0])), np.empty(len(t[0]))
        log_weights = np.ascontiguousarray(t[0])
        for unit, log_like in zip(self.rows.units, look, strict=True):
            row_gains(log_weights, log_like, unit.weight, before, after, own)
            total += own
        return total

    def move(self, t: Any, look: Any, chosen: Ints, beta: float, streams: Streams) -> Moved:
        """States, then θ."""
        from jensen.kernels.annealed_states import draw_row_states

        rng, n, K = streams(), len(chosen), self.model.n_states
        log_weights, nodes = np.ascontiguousarray(t[0]), []
        for unit, log_like in zip(self.rows.units, look, strict=True):
            times = unit.weight.astype(np.int64)
            own = np.empty((n, K, len(times)))
            uniforms = rng.random((n, int(times.sum())))
            draw_row_states(log_weights, log_like, times, beta, chosen, uniforms, own)
            nodes.append(own)
        counts = np.sum([own.sum(2) for own in nodes], axis=0)
        eta = self._draw((counts,), take(t, chosen), look, nodes, beta)
        return Moved(sample(self.model, eta, rng), eta)


class ChainParticles(_StateParticles):
    """A hidden Markov model."""

    def __init__(self, model: HiddenMarkov, asked: EvidenceQuestion) -> None:
        self.model = model
        self.rows = SeenRows(model, asked.drawn_units)

    def _tables(self, t: Any) -> tuple[Array, Array, Array]:
        K = self.model.n_states
        moves = np.exp(t.transition)
        last = moves[:, :, K] if self.model.has_end else np.ones((len(moves), K))
        parts = (np.exp(t.initial), moves[:, :, :K], last)
        first, trans, last = (np.ascontiguousarray(part) for part in parts)
        return first, trans, last

    def gains(self, t: Any, look: Any, before: float, after: float) -> Array:
        """Σ over sequences of log Σ over paths."""
        from jensen.kernels.annealed_states import chain_gains

        total, own, tables = np.zeros(len(t[0])), np.empty(len(t[0])), self._tables(t)
        for unit, log_like in zip(self.rows.units, look, strict=True):
            chain_gains(*tables, log_like, unit.ptr, before, after, own)
            total += own
        return total

    def move(self, t: Any, look: Any, chosen: Ints, beta: float, streams: Streams) -> Moved:
        """Paths, then θ."""
        from jensen.kernels.annealed_states import draw_chains

        rng, n, K, tables = streams(), len(chosen), self.model.n_states, self._tables(t)
        first, moves = np.zeros((n, K)), np.zeros((n, K, K + self.model.has_end))
        nodes, chains = [], np.arange(n)[:, None]
        for unit, log_like in zip(self.rows.units, look, strict=True):
            path = np.empty((n, int(unit.ptr[-1])), np.int64)
            draw_chains(*tables, log_like, unit.ptr, beta, chosen, rng.random(path.shape), path)
            own = np.zeros((n, K, path.shape[1]))
            own[chains, path, np.arange(path.shape[1])] = 1.0
            nodes.append(own)
            add_at(first, (chains, path[:, unit.ptr[:-1]]), 1.0)
            inside = np.setdiff1d(np.arange(path.shape[1]), unit.ptr[:-1])
            add_at(moves, (chains, path[:, inside - 1], path[:, inside]), 1.0)
            if self.model.has_end:
                add_at(moves, (chains, path[:, unit.ptr[1:] - 1], np.array(K)), 1.0)
        eta = self._draw((first, moves), take(t, chosen), look, nodes, beta)
        return Moved(sample(self.model, eta, rng), eta)


class NetworkParticles:
    """A network, whose θ are worked on one after the other by the E-step of the loop."""

    def __init__(self, asked: EvidenceQuestion) -> None:
        self.model = asked.model
        self.units = asked.drawn_units
        like = shape_of(self.model)
        self.prior = repeat(add(self.model.prior, like), 1)
        zeros = rebuild(like, (np.zeros_like(leaf) for leaf in leaves(like)))
        self.log_start = self._value(zeros)

    def look(self, t: Any) -> None:
        """Nothing: the E-step depends on β."""

    def _value(self, t: Any) -> float:
        sums, _ = expect(self.model, self.units, q_hidden.exact, t)
        return sums.value

    def gains(self, t: Any, look: Any, before: float, after: float) -> Array:
        """Two E-steps for each θ."""
        found = []
        for one in self._each(t):
            low = self.log_start if before == 0.0 else self._value(_tempered(one, before))
            found.append(self._value(_tempered(one, after)) - low)
        return np.array(found)

    def move(self, t: Any, look: Any, chosen: Ints, beta: float, streams: Streams) -> Moved:
        """What is hidden, then θ."""
        found, own = [], list(self._each(t))
        for c, k in enumerate(chosen.tolist()):
            tempered = _tempered(own[k], beta)
            sums, _ = expect(self.model, self.units, q_hidden.draw, tempered, streams.at(c))
            found.append(beta * flatten(sums.stats))
        stats = stack(self.model, np.array(found))
        eta = add(rebuild(stats, (np.repeat(x, len(chosen), 0) for x in leaves(self.prior))), stats)
        return Moved(sample(self.model, eta, streams.at(len(chosen))()), eta)

    def _each(self, t: Any) -> Any:
        for c in range(len(leaves(t)[0])):
            yield rebuild(t, (leaf[c] for leaf in leaves(t)))


def _tempered(t: Any, beta: float) -> Any:
    """β · t, with 0 · (-inf) = 0."""
    if beta == 1.0:
        return t
    return rebuild(t, (np.where(leaf == -np.inf, -np.inf, beta * leaf) for leaf in leaves(t)))
