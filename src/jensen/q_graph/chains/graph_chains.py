"""Chains over graphs as tasks of the one runner: the choices of the caller, and the samples.

A step of a chain is a round: what lies between two samples. All chains advance side by side, so a
run that is stopped has equally many samples of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import GraphError, JensenError, StoppedError
from jensen.q_graph.chains.kinds import ChainKind, ChainState, make_samples
from jensen.q_graph.chains.raw_weights import RawWeights
from jensen.q_graph.chains.tempering import Ladder, ParallelTempering
from jensen.q_graph.chains.weights import read_weights
from jensen.runs.checkpoint import Checkpoint
from jensen.runs.runner import Task, number_streams, run
from jensen.support.arguments import Streams, check_whole
from jensen.support.chain_records import Array, ChainSamples, Integers, ParentWeights, n_words
from jensen.support.fields import leaves, rebuild
from jensen.support.machine import STREAM, check_many, check_memory
from jensen.support.text import keyword, offer, option

if TYPE_CHECKING:
    from jensen.q_graph.chains.augmented_chains import AugmentedTask

STAGES = 0.1, 0.2, 0.4, 0.7, 1.0
"""Inverse temperatures that burn-in goes through, if chains have no hot copies.

Chains that burn in cold may all end in the same trap, tens of nats below the rest, and agree there.
"""

HEAD = 2
"""A row begins with the scores of the graph and of the chain's state; then comes the graph."""


class ChainPlan(NamedTuple):
    """How long chains run; a round is what lies between two samples."""

    n_chains: int
    n_samples: int
    burn_in: int  # rounds before the first sample
    thin: int  # cycles of a round
    n_temperatures: int = 1

    def settings(self, cycle_length: int) -> dict[str, int]:
        """The same as the caller of `structure_posterior` chose it: lengths in proposals."""
        every = self.thin * cycle_length
        return {
            "n_samples": self.n_samples,
            "n_chains": self.n_chains,
            "temperatures": self.n_temperatures,
            "burn_in": self.burn_in * every,
            "thin": every,
        }


class ChainEnd(Protocol):
    """Where a chain is, with its copies at other temperatures."""

    @property
    def states(self) -> tuple[ChainState, ...]:
        """The chain itself first."""


class SampledChains(NamedTuple):
    """Where the chains are, and their samples."""

    ends: list[ChainEnd]
    samples: list[ChainSamples]  # equally many of each chain
    rest: list[Array]  # what else the rows of each chain hold
    was_stopped: bool


class GraphChainTask(Task[Ladder]):
    """Samples graphs by chains of one kind.

    Parameters
    ----------
    kind
        What chains move over: orders, partitions or graphs.
    raw
        The log weights of parent sets.
    plan
        How long chains run.
    required : (n, n) array of bool
        Edges that every graph has: a chain begins with an order that allows them.
    """

    steps_at_once = None

    def __init__(
        self, kind: ChainKind, raw: RawWeights, plan: ChainPlan, required: NDArray[np.bool_]
    ) -> None:
        self.kind, self.raw, self.plan, self.required = kind, raw, plan, required
        self.n = len(raw.candidates)
        self.cold, self.tops = read_weights(raw)
        _check_memory(plan, self.cold)
        self.n_steps = self.n_rounds = plan.burn_in + plan.n_samples
        self.width = HEAD + self.n * n_words(self.n) + (self.n if kind.keeps_orders else 0)
        self._tempering = [ParallelTempering(kind, raw, self.cold) for _ in range(plan.n_chains)]
        self._stage_weights: tuple[float, ParentWeights] = (1.0, self.cold)
        self._lock = Lock()

    def begin(self, number: int, streams: Streams) -> Ladder:
        """All copies of a chain at one random order."""
        rng = streams()
        order = random_order(self.required, rng)
        return self._tempering[number].begin(order, rng, self.plan.n_temperatures)

    def advance(
        self, number: int, state: Ladder, streams: Streams, n: int
    ) -> tuple[Ladder, Array | None]:
        """Go on by n rounds, stage by stage of burn-in; later rounds give a row each."""
        ladder = rebuild(state, (leaf.copy() for leaf in leaves(state)))  # kernels work in place
        tempering, last, rows = self._tempering[number], ladder.n_rounds + n, None
        while ladder.n_rounds < last:
            done, burn_in = ladder.n_rounds, self.plan.burn_in
            stage, first, end = self._stage_at(done)
            if stage is not None:
                tempering.cold = self._weights_at(STAGES[stage])
                if done == first:
                    self.kind.weigh(ladder.states[0], tempering.cold)
            burns = done < burn_in
            n_here = min(last, end) - done
            kept = make_samples(0 if burns else n_here, self.n, keeps_orders=self.kind.keeps_orders)
            ladder = tempering.advance(ladder, n_here, self.plan.thin, kept, burns)
            if burns and ladder.n_rounds == burn_in:
                _reset_counts(ladder)
            if not burns:
                rows = to_rows(kept)
        return ladder, rows

    def is_done(self, state: Ladder) -> bool:
        """Whether all samples were drawn."""
        return state.n_rounds >= self.n_rounds

    def unpack(self, packed: Ladder) -> Ladder:
        """Refuse arrays of other sizes: kernels would write beyond them."""
        own = self._tempering[0].begin(
            np.arange(self.n), Streams(0, ())(), self.plan.n_temperatures
        )
        sizes = [[(x.shape, x.dtype) for x in leaves(ladder)] for ladder in (packed, own)]
        if sizes[0] != sizes[1]:
            raise ValueError("the arrays of a chain have other sizes")
        return packed

    def _stage_at(self, done: int) -> tuple[int | None, int, int]:
        """The stage of burn-in after so many rounds, if there are stages; its first and last round.

        Outside burn-in there is no stage, and what lasts until the last round is all that is left.
        """
        burn_in = self.plan.burn_in
        if done >= burn_in:
            return None, burn_in, self.n_rounds
        if self.plan.n_temperatures > 1 or burn_in < len(STAGES):
            return None, 0, burn_in
        stage = done * len(STAGES) // burn_in
        first, end = (-(-k * burn_in // len(STAGES)) for k in (stage, stage + 1))
        return stage, first, end

    def _weights_at(self, beta: float) -> ParentWeights:
        """The weights of a stage of burn-in; only those that were asked for last are kept."""
        if beta == 1.0:
            return self.cold
        with self._lock:
            if self._stage_weights[0] != beta:
                self._stage_weights = beta, read_weights(self.raw, beta)[0]
            return self._stage_weights[1]


def sample_graphs(
    task: GraphChainTask | AugmentedTask,
    rng: np.random.Generator,
    *,
    progress: bool = False,
    checkpoint: tuple[str | Path, str] | None = None,
) -> SampledChains:
    """Run chains to the end, or until Ctrl-C.

    Parameters
    ----------
    rng
        Chain k has the random numbers of its k-th child.
    checkpoint
        The file to resume from, and the fingerprint of data and settings.
    """
    any_task: Task[Any] = task
    outcome = run(
        any_task,
        number_streams(rng, task.plan.n_chains),
        name="samples",
        progress=progress,
        checkpoint=None if checkpoint is None else Checkpoint(*checkpoint),
        in_step=True,
    )
    if not len(outcome.rows[0]):
        raise StoppedError(
            f"stopped before the first sample: burn-in was not over; with "
            f"{keyword('checkpoint')} a run goes on from where it was stopped"
        )
    ends: list[ChainEnd] = [end for end in outcome.states if end is not None]
    keeps_orders = task.kind.keeps_orders
    samples = [from_rows(rows, task.n, keeps_orders) for rows in outcome.rows]
    width = HEAD + task.n * n_words(task.n) + (task.n if keeps_orders else 0)
    return SampledChains(ends, samples, [r[:, width:] for r in outcome.rows], outcome.was_stopped)


def random_order(required: NDArray[np.bool_], rng: np.random.Generator) -> Integers:
    """All variables in a random order, in which required edges point forward."""
    n = len(required)
    left, order = list(range(n)), np.empty(n, np.int64)
    for i in range(n):
        free = [v for v in left if not required[left, v].any()]
        order[i] = free[rng.integers(len(free))]
        left.remove(int(order[i]))
    return order


def to_rows(samples: ChainSamples) -> Array:
    """One row of numbers for each sample; the bits of parent sets are stored as if numbers."""
    n_samples = len(samples.scores)
    bits = samples.parents.reshape(n_samples, -1).view(np.float64)
    orders = samples.orders.reshape(n_samples, -1).astype(np.float64)
    return np.hstack([np.column_stack([samples.scores, samples.states]), bits, orders])


def from_rows(rows: Array, n: int, keeps_orders: bool) -> ChainSamples:
    """The samples of a chain from their rows."""
    samples = make_samples(len(rows), n, keeps_orders=keeps_orders)
    samples.scores[:], samples.states[:] = rows[:, 0], rows[:, 1]
    end = HEAD + n * n_words(n)
    bits = np.ascontiguousarray(rows[:, HEAD:end]).view(np.uint64)
    samples.parents[:] = bits.reshape(samples.parents.shape)
    if keeps_orders:
        samples.orders[:] = rows[:, end:]
    return samples


def _check_memory(plan: ChainPlan, cold: ParentWeights) -> None:
    """Refuse more hot copies and samples than there is memory for."""
    n_copies = plan.n_chains * (plan.n_temperatures - 1)
    n = len(cold.place)
    n_bytes = n_copies * sum(array.nbytes for array in cold)
    n_bytes += plan.n_chains * plan.n_samples * 8 * n * n_words(n)
    check_memory(
        n_bytes,
        f"{plan.n_chains} chains of {plan.n_samples:,} samples at {plan.n_temperatures} "
        f"temperatures",
        "choose fewer n_samples=, temperatures= or candidates=",
    )


def _reset_counts(ladder: Ladder) -> None:
    """Counts of moves and exchanges begin when burn-in ends."""
    ladder.exchanged[:], ladder.rounds[1] = 0, 0
    for state in ladder.states:
        state.moves.tried[:], state.moves.accepted[:] = 0, 0


N_SAMPLES, N_CHAINS = 1000, 4

THIN = {"partition": 400, "order": 400, "structure": 10_100}
"""Proposals between two samples, unless chosen otherwise."""

MOST_OUTSIDE = 2


class ChainChoices(NamedTuple):
    """The choices of `structure_posterior` that belong to chains; None is the default."""

    candidates: int | Mapping[str, Sequence[str]] | None
    outside: int | None
    n_samples: int | None
    n_chains: int | None
    burn_in: int | None
    thin: int | None
    temperatures: int | None
    checkpoint: str | Path | None

    def refuse_all(self, has_order: bool = False) -> None:
        """Refuse any of these choices: exact sums over all graphs have no chains."""
        what = keyword("known_order") if has_order else option("method", "exact")
        for name, value in self._asdict().items():
            if value is not None:
                raise JensenError(f"{keyword(name)} belongs to chains, and {what} has none")

    def plan(self, method: str, cycle_length: int) -> ChainPlan:
        """Check the choices, and return how long chains run, in whole cycles."""
        least = {"n_samples": 1, "n_chains": 1, "burn_in": 0, "thin": 1, "temperatures": 1}
        for name, at_least in least.items():
            value = getattr(self, name)
            if value is not None:
                check_whole(name, value, at_least=at_least)
        n_samples = N_SAMPLES if self.n_samples is None else int(self.n_samples)
        thin = _up(THIN[method] if self.thin is None else self.thin, cycle_length)
        burn_in = -(-n_samples // 2)
        if self.burn_in is not None:
            burn_in = _up(self.burn_in, thin * cycle_length)
        n_chains = N_CHAINS if self.n_chains is None else int(self.n_chains)
        check_many(n_chains, STREAM, "chains (n_chains)", "choose fewer")
        check_many(int(self.temperatures or 1), STREAM, "temperatures", "choose fewer")
        return ChainPlan(n_chains, n_samples, burn_in, thin, int(self.temperatures or 1))

    def listed(self, names: Sequence[str]) -> int | dict[int, list[int]] | None:
        """Check the candidates, and return them by position among the names."""
        if self.outside is not None:
            check_whole("outside", self.outside, at_least=0)
            if self.outside > MOST_OUTSIDE:
                raise JensenError(
                    f"{keyword('outside')} is at most {MOST_OUTSIDE}, not {self.outside}"
                )
        if not isinstance(self.candidates, Mapping):
            if self.candidates is None:
                return None
            check_whole("candidates", self.candidates, at_least=0)
            return int(self.candidates)
        at = {name: v for v, name in enumerate(names)}
        found = {}
        for child, listed in self.candidates.items():
            if isinstance(listed, str) or not isinstance(listed, Iterable):
                raise GraphError(
                    f"{keyword('candidates')} lists parents of {child!r}: write [{listed!r}]"
                )
            listed = list(listed)
            for name in (child, *listed):
                if name not in at:
                    raise GraphError(
                        f"{keyword('candidates')} names {name!r}, which is no column; "
                        f"{offer(name, names, 'column')}"
                    )
            if child in listed:
                raise GraphError(f"{keyword('candidates')} has {child!r} among its own parents")
            found[at[child]] = sorted({at[name] for name in listed})
        return found


def _up(amount: int, unit: int) -> int:
    """How many whole units make at least this amount."""
    return -(-int(amount) // unit)
