"""Chains over graphs and missing values together, by data augmentation.

The state is (G, θ, h): a graph, its parameters, and what is missing. A round makes some cycles of
moves on p(G | h, x), θ being integrated out; then G is drawn from the chain's own state, θ given G
and h, and h given G and θ, at once and in this order: after moves that know nothing of θ, an older
θ would fit another graph (partially collapsed Gibbs sampling). So the chain is stationary at
p(G, θ, h | x). Of a chain over partitions G is a draw from the partition, whose graphs partition
the DAGs.

Moves over graphs need the weights of all parent sets. Where these are quickly computed, a round
begins with those of the completed rows. Else graphs are moved by typical weights q, the same in all
rounds, and what some moves lead to is accepted with probability min(1, p(G') q(G) / (p(G) q(G'))),
for which only the families that changed are scored. Some moves of one sort are reversible: by them
q(G) times the probability of G' from G is the same both ways (the surrogate transition method).

References
----------
Tanner and Wong (1987), JASA 82, for data augmentation. Van Dyk and Park (2008), JASA 103, for the
order. Kuipers and Moffa (2017), JASA 112, for chains over partitions. Liu (2001), Monte Carlo
Strategies in Scientific Computing, section 9.4.3, for surrogate transitions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from jensen.q_graph.chains.augmented_rows import AugmentedRows
from jensen.q_graph.chains.graph_chains import HEAD, STAGES, ChainEnd, ChainPlan, random_order
from jensen.q_graph.chains.kinds import ChainState, GraphKind, Structures, make_samples
from jensen.q_graph.chains.raw_weights import ALL_UP_TO, RawWeights, raw_weights
from jensen.q_graph.chains.weights import read_weights
from jensen.q_graph.constraints import Constraints, read_start
from jensen.q_graph.posterior.graph_samples import members_of
from jensen.q_graph.search.climbing import Climber, hill_climb
from jensen.q_graph.structural.objective import Flags
from jensen.runs.runner import Task
from jensen.scores.graph_priors import GraphPrior
from jensen.scores.scorer import Scorer
from jensen.support.arguments import Streams
from jensen.support.chain_records import Array, Integers, Words, n_words
from jensen.support.fields import leaves, rebuild, record
from jensen.support.machine import check_memory
from jensen.support.text import keyword

STAR_ROUNDS = 100
"""Draws of hidden states and parameters with which every second chain begins."""

JUDGED = "moves by typical weights, judged"
"""As people read it."""

CLIMBS = 5
"""Rounds of climbing and drawing before the candidates are chosen."""

PILOT = 8
"""Rounds by the weights of completed rows, whose mean the typical weights are."""

PIECES, SINGLE = 5, 20
"""A cycle by typical weights has so many pieces of this many moves of single edges, and as many of
reversals: small changes are accepted more often."""

FIRST, EVERY = 10, 100
"""The first rounds, and one of so many later ones, are made by the weights of completed rows even
where this takes long: chains come from afar, and may get stuck where weights are not typical."""


@record
class AugmentedState(NamedTuple):
    """The position of one chain."""

    states: tuple[ChainState, ...]  # of the kind that was chosen, and of moves by typical weights
    missing: Array
    rounds: Integers  # (1,): how many were made
    graph: Words  # (n, W): the parents of every variable, as bits
    judged: Integers  # (2,): how often moves by typical weights were accepted, and tried

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
        kind: GraphKind,
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
        self.end = HEAD + self.n * n_words(self.n)
        self.width = self.end + rows.width
        check_memory(
            8.0 * plan.n_chains * plan.n_samples * self.width,
            f"{plan.n_chains} chains of {plan.n_samples:,} samples, each with what is missing",
            f"choose fewer {keyword('n_samples')}",
        )
        likely = self._likely(seed)
        self.raw = raw_weights(rows.scorer(likely), prior, constraints, listed, outside)
        self.cold, _ = read_weights(self.raw)
        self.is_typical = not rows.is_quick or self.n > ALL_UP_TO
        if self.is_typical:
            self.raw = self._typical(likely, seed)
            self.cold, _ = read_weights(self.raw)
        self.tops = np.zeros(self.n)  # rows hold scores of graphs as they are
        self.n_steps = self.n_rounds = plan.burn_in + plan.n_samples

    def begin(self, number: int, streams: Streams) -> AugmentedState:
        """At a random order, and missing values that know nothing of it.

        Of hidden variables every second chain begins with states on which all others depend: a
        chain from random ones may take long to find that it needs them, and then chains disagree.
        """
        rng = streams()
        missing = self.rows.begin(rng)
        if self.rows.hidden and number % 2 == 0:
            star = np.zeros((self.n, self.n), bool)
            star[list(self.rows.hidden)] = True
            star[:, list(self.rows.hidden)] = False
            for _ in range(STAR_ROUNDS):
                missing = self.rows.draw(star, missing, rng)
        return self._at(missing, rng)

    def advance(
        self, number: int, state: AugmentedState, streams: Streams, n: int
    ) -> tuple[AugmentedState, Array | None]:
        """Go on by n rounds; those after burn-in give a row each."""
        rows = []
        for _ in range(n):
            state, row = self._round(state, streams(state.n_rounds))
            if state.n_rounds == self.plan.burn_in:
                _reset_counts(state)
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

    def _at(self, missing: Array, rng: np.random.Generator) -> AugmentedState:
        """A chain that begins at a random order."""
        order, words = random_order(self.constraints.required, rng), rng.integers
        weights = self.cold if self.is_typical else read_weights(self._weights(missing))[0]
        kinds = (self.kind, *self._pieces[:1]) if self.is_typical else (self.kind,)
        chains = tuple(
            kind.begin(words(0, 1 << 64, 4, np.uint64), order, weights) for kind in kinds
        )
        kept, none = make_samples(1, self.n, keeps_orders=False), np.zeros(1, np.int64)
        self.kind.advance(chains[0], weights, 1, 0, kept)  # a graph that has its partition
        return AugmentedState(chains, missing, none, kept.parents[0], none.repeat(2))

    def _round(
        self, state: AugmentedState, rng: np.random.Generator
    ) -> tuple[AugmentedState, Array]:
        """Moves over graphs, then parameters and missing values."""
        state = rebuild(state, (leaf.copy() for leaf in leaves(state)))  # kernels work in place
        by_typical = self.is_typical and state.n_rounds >= FIRST and state.n_rounds % EVERY > 0
        if by_typical:
            graph, scores = self._moved_by_typical(state, rng)
        else:
            raw = self._weights(state.missing)
            graph, scores = self._moved_by(raw, state, self._cooled(state.n_rounds))
        missing = self.rows.draw(joined_of(graph), state.missing, rng)
        row = np.concatenate([scores, graph.reshape(-1).view(np.float64), missing])
        return state._replace(missing=missing, rounds=state.rounds + 1, graph=graph), row

    def _cooled(self, n_rounds: int) -> float:
        """The inverse temperature of a round: chains cool down while they burn in."""
        until = min(FIRST, self.plan.burn_in) if self.is_typical else self.plan.burn_in
        is_hot = n_rounds < until and until >= len(STAGES)
        return STAGES[n_rounds * len(STAGES) // until] if is_hot else 1.0

    def _moved_by(
        self, raw: RawWeights, state: AugmentedState, inverse_temperature: float = 1.0
    ) -> tuple[Words, Array]:
        """Make cycles by the weights of completed rows; log weights of the graph and the chain."""
        chain, (weights, tops) = state.states[0], read_weights(raw, inverse_temperature)
        kept = make_samples(1, self.n, keeps_orders=False)
        self.kind.put(chain, state.graph, weights)
        self.kind.advance(chain, weights, 1, self.plan.thin, kept)
        return kept.parents[0], np.append(kept.scores, kept.states) + tops.sum()

    def _moved_by_typical(
        self, state: AugmentedState, rng: np.random.Generator
    ) -> tuple[Words, Array]:
        """Make cycles by typical weights, piece by piece; log weights of the graph."""
        judge, chain = _Judge(self.rows.scorer(state.missing), self.prior), state.states[1]
        kept, graph = make_samples(1, self.n, keeps_orders=False), state.graph
        self._pieces[0].put(chain, graph, self.cold)
        typical = self._pieces[0].weigh(chain, self.cold)
        for piece in self._pieces * self.plan.thin:
            piece.advance(chain, self.cold, 1, 1, kept)
            new, found = kept.parents[0], float(kept.scores[0])
            log_accept = judge.gain(graph, new) + typical - found
            state.judged[1] += 1
            if log_accept >= 0.0 or rng.random() < math.exp(log_accept):
                state.judged[0] += 1
                graph, typical = new.copy(), found
            else:
                piece.put(chain, graph, self.cold)
        return graph, np.full(2, judge.total(graph))

    @cached_property
    def _pieces(self) -> list[Structures]:
        """The pieces of a cycle by typical weights; it has as many reversals as one of the kind."""
        n = int(self.kind.cycle[1])
        few = -(-n // PIECES)
        return PIECES * [Structures(SINGLE, 0)] + n // max(few, 1) * [Structures(0, few)]

    def _typical(self, missing: Array, rng: np.random.Generator) -> RawWeights:
        """Mean log weights of all parent sets, by rows that are completed in turn."""
        state, parts = self._at(missing, rng), []
        for _ in range(PILOT):
            parts.append(self._weights(state.missing))
            graph, _ = self._moved_by(parts[-1], state)
            drawn = self.rows.draw(joined_of(graph), state.missing, rng)
            state = state._replace(missing=drawn, graph=graph)
        inside = [np.mean(each, 0) for each in zip(*(raw.inside for raw in parts), strict=True)]
        singles = np.mean([raw.singles for raw in parts], 0)
        pairs = np.mean([raw.pairs for raw in parts], 0)
        return RawWeights(self.raw.candidates, inside, singles, pairs)

    def moves(self, ends: Sequence[ChainEnd]) -> dict[str, tuple[Integers, Integers]]:
        """How often moves by typical weights, and what they led to, were accepted and tried."""
        found: dict[str, list[Any]] = {}
        for end in ends if self.is_typical else ():
            assert isinstance(end, AugmentedState)
            own = end.states[1].moves
            counts = {name: (own.accepted[k], own.tried[k]) for k, name in enumerate(self._told)}
            for name, pair in (counts | {JUDGED: tuple(end.judged)}).items():
                found.setdefault(name, []).append(pair)
        return {name: (np.array(both)[:, 0], np.array(both)[:, 1]) for name, both in found.items()}

    @property
    def _told(self) -> list[str]:
        return [f"{name}, typical weights" for name in self._pieces[0].moves]

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


class _Judge:
    """The weights of graphs by the completed rows, family by family; each is scored once."""

    def __init__(self, scorer: Scorer, prior: GraphPrior) -> None:
        self.scorer, self.prior = scorer, prior
        self._known: dict[tuple[int, bytes], float] = {}

    def family(self, v: int, bits: Words) -> float:
        """The log weight of the parents of a variable."""
        key = v, bits.tobytes()
        if key not in self._known:
            parents = np.flatnonzero(members_of(bits[None], len(self.scorer.names))[0]).tolist()
            found = self.scorer.family(v, parents) + self.prior.of_family(v, parents)
            self._known[key] = found
        return self._known[key]

    def gain(self, old: Words, new: Words) -> float:
        """How much more a graph weighs than another, as a logarithm."""
        changed = np.flatnonzero((old != new).any(1)).tolist()
        return math.fsum(self.family(v, new[v]) - self.family(v, old[v]) for v in changed)

    def total(self, graph: Words) -> float:
        """The log weight of a graph."""
        return math.fsum(self.family(v, bits) for v, bits in enumerate(graph))


def _reset_counts(state: AugmentedState) -> None:
    """Counts of moves begin when burn-in ends."""
    for chain in state.states:
        chain.moves.tried[:], chain.moves.accepted[:] = 0, 0
    state.judged[:] = 0


def joined_of(parents: Words) -> Flags:
    """(n, n) [parent, child] from bits (n, words)."""
    return np.asarray(members_of(parents, len(parents)).T)
