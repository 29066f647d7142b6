"""Chains over graphs and missing values together, by data augmentation.

The state is (G, θ, h): a graph, its parameters, and what is missing. A round makes some cycles of
moves on p(G | h, x), θ being integrated out; then G is drawn from the chain's own state, θ given G
and h, and h given G and θ, at once and in this order: after moves that know nothing of θ, an older
θ would fit another graph (partially collapsed Gibbs sampling). So the chain is stationary at
p(G, θ, h | x). Of a chain over partitions G is a draw from the partition, whose graphs partition
the DAGs.

References
----------
Tanner and Wong (1987), JASA 82, for data augmentation. Van Dyk and Park (2008), JASA 103, for the
order. Kuipers and Moffa (2017), JASA 112, for chains over partitions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.q_graph.chains.augmented_rows import AugmentedRows
from jensen.q_graph.chains.graph_chains import HEAD, ChainPlan, random_order, to_rows
from jensen.q_graph.chains.kinds import ChainKind, ChainState, make_samples
from jensen.q_graph.chains.raw_weights import RawWeights, raw_weights
from jensen.q_graph.chains.weights import read_weights
from jensen.q_graph.constraints import Constraints, read_start
from jensen.q_graph.search.climbing import Climber, hill_climb
from jensen.q_graph.structural.objective import Flags
from jensen.runs.runner import Task
from jensen.scores.graph_priors import GraphPrior
from jensen.support.arguments import Streams
from jensen.support.chain_records import Array, Integers, n_words
from jensen.support.fields import leaves, rebuild, record

CLIMBS = 5
"""Rounds of climbing and drawing before the candidates are chosen."""


@record
class AugmentedState(NamedTuple):
    """The position of one chain."""

    states: tuple[ChainState, ...]  # the one of the chain over graphs
    missing: Array
    rounds: Integers  # (1,): how many were made

    @property
    def n_rounds(self) -> int:
        """How many rounds were made so far."""
        return int(self.rounds[0])


class AugmentedTask(Task[AugmentedState]):
    """Samples graphs and missing values.

    Parameters
    ----------
    kind
        What chains move over: partitions or graphs.
    rows
        The rows with holes.
    prior, constraints
        Of graphs.
    plan
        How long chains run; a round has one draw of what is missing.
    listed, outside
        The candidates, as `raw_weights` takes them. They stay the same in all rounds.
    seed
        Of what is drawn while the candidates are chosen.
    """

    steps_at_once = None

    def __init__(
        self,
        kind: ChainKind,
        rows: AugmentedRows,
        prior: GraphPrior,
        constraints: Constraints,
        plan: ChainPlan,
        listed: int | dict[int, list[int]] | None,
        outside: int | None,
        seed: np.random.Generator,
    ) -> None:
        self.kind, self.rows, self.prior, self.constraints = kind, rows, prior, constraints
        self.plan, self.outside, self.n = plan, outside, len(rows.names)
        scorer = rows.scorer(self._likely(seed))
        self.raw = raw_weights(scorer, prior, constraints, listed, outside)
        self.cold, _ = read_weights(self.raw)
        self.tops = np.zeros(self.n)  # rows hold scores of graphs as they are
        self.n_steps = self.n_rounds = plan.burn_in + plan.n_samples
        self.end = HEAD + self.n * n_words(self.n)
        self.width = self.end + rows.width

    def begin(self, number: int, streams: Streams) -> AugmentedState:
        """At a random order, and missing values that know nothing of it."""
        rng = streams()
        missing = self.rows.begin(rng)
        order = random_order(self.constraints.required, rng)
        words = rng.integers(0, 1 << 64, 4, np.uint64)
        state = self.kind.begin(words, order, read_weights(self._weights(missing))[0])
        return AugmentedState((state,), missing, np.zeros(1, np.int64))

    def advance(
        self, number: int, state: AugmentedState, streams: Streams, n: int
    ) -> tuple[AugmentedState, Array | None]:
        """Go on by n rounds; those after burn-in give a row each."""
        rows = []
        for _ in range(n):
            state, row = self._round(state, streams(state.n_rounds))
            if state.n_rounds > self.plan.burn_in:
                rows.append(row)
        return state, np.vstack(rows) if rows else None

    def is_done(self, state: AugmentedState) -> bool:
        """Whether all samples were drawn."""
        return state.n_rounds >= self.n_rounds

    def unpack(self, packed: AugmentedState) -> AugmentedState:
        """Refuse arrays of other sizes: kernels would write beyond them."""
        own = self.begin(0, Streams(0, ()))
        sizes = [[(x.shape, x.dtype) for x in leaves(state)] for state in (packed, own)]
        if sizes[0] != sizes[1]:
            raise ValueError("the arrays of a chain have other sizes")
        return packed

    def _round(
        self, state: AugmentedState, rng: np.random.Generator
    ) -> tuple[AugmentedState, Array]:
        chain = rebuild(state.states[0], (leaf.copy() for leaf in leaves(state.states[0])))
        weights, tops = read_weights(self._weights(state.missing))
        self.kind.weigh(chain, weights)
        kept = make_samples(1, self.n, keeps_orders=False)
        self.kind.advance(chain, weights, 1, self.plan.thin, kept)
        if state.n_rounds + 1 == self.plan.burn_in:
            chain.moves.tried[:], chain.moves.accepted[:] = 0, 0
        missing = self.rows.draw(joined_of(kept.parents[0]), state.missing, rng)
        shift = float(tops.sum())
        kept.scores[:] += shift
        kept.states[:] += shift
        row = np.concatenate([to_rows(kept)[0], missing])
        return AugmentedState((chain,), missing, state.rounds + 1), row

    def _weights(self, missing: Array) -> RawWeights:
        listed = dict(enumerate(self.raw.candidates))
        scorer = self.rows.scorer(missing)
        return raw_weights(scorer, self.prior, self.constraints, listed, self.outside)

    def _likely(self, rng: np.random.Generator) -> Array:
        """Missing values as a graph tells them that fits the rows, for choosing candidates."""
        missing = self.rows.begin(rng)
        start = read_start(None, self.rows.names, self.constraints)
        for _ in range(CLIMBS):
            climber = Climber(self.rows.scorer(missing), self.constraints)
            joined = hill_climb(climber.begin(start), lambda total, n_moves: False).joined
            missing = self.rows.draw(joined, missing, rng)
        return missing


def joined_of(parents: NDArray[np.uint64]) -> Flags:
    """(n, n) [parent, child] from bits (n, words)."""
    bits = np.arange(len(parents), dtype=np.uint64)
    return np.asarray((parents[:, bits // 64] >> bits % 64) & 1 == 1).T
