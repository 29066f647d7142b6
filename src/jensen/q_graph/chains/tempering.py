"""Parallel tempering: one chain with copies at higher temperatures, which exchange places.

At the inverse temperature β every parent set weighs its weight to the power of β, so a hot copy
walks over valleys that stop the cold one. Only the cold one, β = 1, gives samples. While burning in
the temperatures move so that all neighbours change places equally often; then they stand still.

References
----------
Geyer (1991), *Markov chain Monte Carlo maximum likelihood*, for exchanges. Vousden, Farr and Mandel
(2016), MNRAS 455, for moving the temperatures.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.q_graph.chains.kinds import ChainKind, ChainState, make_samples
from jensen.q_graph.chains.raw_weights import RawWeights
from jensen.q_graph.chains.weights import read_weights
from jensen.support.chain_records import Array, ChainSamples, Integers, ParentWeights
from jensen.support.fields import record

HOTTEST = 0.2
"""The smallest β at the start."""

ROUNDS = 20
"""After so many exchanges a temperature moves, while burning in."""

PULL = 0.5
"""How far it moves at first, in log, if neighbours always or never change places."""


@record
class Ladder(NamedTuple):
    """Copies of one chain, the cold one first; with one temperature it is the chain alone."""

    states: tuple[ChainState, ...]
    betas: Array  # (L,)
    exchanged: Integers  # (L - 1,): exchanges since the temperatures moved last, or since burn-in
    rounds: Integers  # (2,): all rounds so far; the rounds that `exchanged` counts
    rng: NDArray[np.uint64]  # (4,): of exchanges

    @property
    def n_rounds(self) -> int:
        """How many rounds were made so far."""
        return int(self.rounds[0])


class ParallelTempering:
    """Advances a ladder; weights are computed once for its temperatures, and when these move."""

    def __init__(self, kind: ChainKind, raw: RawWeights, cold: ParentWeights) -> None:
        self.kind, self.raw, self.cold = kind, raw, cold
        self._weights: list[ParentWeights] = []
        self._known: tuple[float, ...] = ()

    def begin(self, order: Integers, rng: np.random.Generator, n_temperatures: int) -> Ladder:
        """All copies at one order, each with its own random numbers."""
        betas = HOTTEST ** (np.arange(n_temperatures) / max(n_temperatures - 1, 1))
        words = rng.integers(0, 1 << 64, (n_temperatures + 1, 4), np.uint64)
        states = tuple(
            self.kind.begin(words[k].copy(), order, t) for k, t in enumerate(self.weights(betas))
        )
        exchanged, rounds = np.zeros(n_temperatures - 1, np.int64), np.zeros(2, np.int64)
        return Ladder(states, betas, exchanged, rounds, words[-1].copy())

    def weights(self, betas: Array) -> list[ParentWeights]:
        """The weights at these temperatures."""
        if self._known != tuple(betas):
            self._weights = [self.cold, *(read_weights(self.raw, b)[0] for b in betas[1:].tolist())]
            self._known = tuple(betas)
        return self._weights

    def advance(
        self, ladder: Ladder, n_rounds: int, thin: int, kept: ChainSamples, adapts: bool
    ) -> Ladder:
        """Go on by so many rounds, each of `thin` cycles; copies change places after each."""
        if len(ladder.states) == 1:
            self.kind.advance(ladder.states[0], self.cold, n_rounds, thin, kept)
            ladder.rounds[:] += n_rounds
            return ladder
        n = len(ladder.states[0].nodes)
        nothing = make_samples(0, n, keeps_orders=False)
        for i in range(n_rounds):
            here = _view_one(kept, i)
            for k, t in enumerate(self.weights(ladder.betas)):
                self.kind.advance(ladder.states[k], t, 1, thin, here if k == 0 else nothing)
            ladder = self._exchange(ladder)
            if adapts and ladder.rounds[1] == ROUNDS:
                ladder = self._moved(ladder)
        return ladder

    def _exchange(self, ladder: Ladder) -> Ladder:
        """Let neighbours change places, every second pair in turn."""
        from jensen.kernels.random_numbers import next_uniform

        states, weights = list(ladder.states), self.weights(ladder.betas)
        ladder.rounds[:] += 1
        for k in range(int(ladder.rounds[0]) % 2, len(states) - 1, 2):
            a, b = states[k], states[k + 1]
            gain = self.kind.weigh(b, weights[k]) + self.kind.weigh(a, weights[k + 1])
            gain -= self.kind.weigh(a, weights[k]) + self.kind.weigh(b, weights[k + 1])
            if next_uniform(ladder.rng) < math.exp(min(gain, 0.0)):
                # random numbers and counts stay with the temperature
                states[k] = b._replace(rng=a.rng, moves=a.moves)
                states[k + 1] = a._replace(rng=b.rng, moves=b.moves)
                self.kind.weigh(states[k], weights[k])
                self.kind.weigh(states[k + 1], weights[k + 1])
                ladder.exchanged[k] += 1
        return ladder._replace(states=tuple(states))

    def _moved(self, ladder: Ladder) -> Ladder:
        """Move temperatures apart that exchange often, and those together that exchange seldom."""
        rates = ladder.exchanged / (0.5 * ROUNDS)
        pull = PULL / (1.0 + ladder.rounds[0] / (10 * ROUNDS))
        steps = -np.diff(np.log(ladder.betas)) * np.exp(pull * (rates - rates.mean()))
        steps *= -math.log(ladder.betas[-1]) / steps.sum()
        betas = np.concatenate([[1.0], np.exp(-np.cumsum(steps))])
        ladder.exchanged[:], ladder.rounds[1] = 0, 0
        moved = ladder._replace(betas=betas)
        for state, t in zip(moved.states, self.weights(betas), strict=True):
            self.kind.weigh(state, t)
        return moved


def _view_one(kept: ChainSamples, i: int) -> ChainSamples:
    """A view of the i-th sample alone; empty if there is none."""
    parents, scores, states, orders = kept
    at = slice(i, i + 1)
    return ChainSamples(parents[at], scores[at], states[at], orders[at])
