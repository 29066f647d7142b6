"""Convergence of chains over graphs: R-hat, effective sample sizes, agreement of the chains."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from jensen.q_graph.posterior.graph_samples import Array, GraphSamples
from jensen.runs.diagnostics import effective_sample_size, split_r_hat
from jensen.support.text import bare, for_reader, grid, in_python, plural

Edge = tuple[str, str]
Moves = Mapping[str, tuple[NDArray[np.int64], NDArray[np.int64]]]

R_HAT_LIMIT = 1.05
"""The chains disagree if R-hat of the log score is above this."""

SPREAD_LIMIT = 0.2
"""The chains disagree if the probability of an edge differs by more than this between two."""

DOUBT = 0.05
"""An edge is in doubt if its probability is between this and one minus this."""


@dataclass(frozen=True, eq=False)
class Agreement:
    """The differences of edge probabilities between chains.

    Attributes
    ----------
    by_chain : (chains, n, n) array
        Edge probabilities, indexed [chain, parent, child].
    largest, mean
        The largest difference between two chains over all edges, and its mean over the edges.
    edge
        The edge with the largest difference, and its `lowest` and `highest` probability in a chain.
    """

    by_chain: Array
    largest: float
    mean: float
    edge: Edge | None
    lowest: float
    highest: float


@dataclass(frozen=True, eq=False)
class Convergence:
    """Diagnostics of the chains; it prints as a page.

    Chains that agree may all have missed a mode. A sign of this are edges that are in doubt but
    hardly ever change within a chain: see `slowest_edge`. Chains that were `interrupted` have fewer
    samples than were chosen.
    """

    names: tuple[str, ...]
    samples: GraphSamples
    moves: Moves
    edge_probabilities: Array
    edge_batches: Array | None = None  # (chains, batches, n, n), where edges are known by these
    interrupted: bool = False
    n_chosen: int | None = None  # samples of a chain, if they were interrupted and it is known

    @cached_property
    def r_hat(self) -> float:
        """Rank-normalised split R-hat of the log score."""
        return float(split_r_hat(self.samples.states))

    @cached_property
    def effective_sample_size(self) -> float:
        """The effective sample size of the log score."""
        return float(effective_sample_size(self.samples.states))

    @property
    def weights_size(self) -> float:
        """The number of equally weighted samples that the weighted ones are worth."""
        return self.samples.weights_size

    @cached_property
    def edge_r_hat(self) -> Array:
        """(n, n): split R-hat of every edge; nan on the diagonal.

        Ranks of 0-1 values are a linear function of the values, so the shares of an edge in the
        half chains determine its rank-normalised R-hat.
        """
        if self.edge_batches is not None:
            return _off_diagonal(split_r_hat(self.edge_batches))
        length = self.samples.which.shape[1]
        if length < 4:
            return np.full(self.edge_probabilities.shape, np.nan)
        half = length // 2
        alike = self.samples.without_weights()
        shares = [
            alike.edge_matrix((chain, part))
            for chain in range(alike.n_chains)
            for part in (slice(None, half), slice(-half, None))
        ]
        return _off_diagonal(indicator_r_hat(np.array(shares), half))

    @cached_property
    def edge_sizes(self) -> Array:
        """(n, n): effective sample sizes of edges; nan where an edge never changed."""
        if self.edge_batches is not None:
            return _off_diagonal(effective_sample_size(self.edge_batches))
        sizes = np.full(self.edge_probabilities.shape, np.nan)
        for child in range(len(self.names)):
            parents = self.samples.parents_of(child)
            moving = np.flatnonzero(parents.any(0) & ~parents.all(0))
            if moving.size:
                sizes[moving, child] = effective_sample_size(parents[:, moving][self.samples.which])
        return sizes

    @cached_property
    def switches(self) -> NDArray[np.int64]:
        """(n, n): how often each edge changed between successive samples, over all chains."""
        found = np.zeros(self.edge_probabilities.shape, np.int64)
        for child in range(len(self.names)):
            sets = self.samples.graphs[:, child][self.samples.which]
            before, after = sets[:, :-1], sets[:, 1:]
            changed = before != after
            members = self.samples.members
            found[:, child] = (members[before[changed]] != members[after[changed]]).sum(0)
        return found

    @cached_property
    def slowest_edge(self) -> tuple[Edge, int] | None:
        """The edge in doubt that changed least often, and the number of its changes."""
        p = self.edge_probabilities
        doubtful = np.argwhere((p > DOUBT) & (p < 1 - DOUBT))
        if not len(doubtful):
            return None
        a, b = min(doubtful.tolist(), key=lambda edge: self.switches[edge[0], edge[1]])
        return (self.names[a], self.names[b]), int(self.switches[a, b])

    @cached_property
    def agreement(self) -> Agreement:
        """How far the edge probabilities of the chains differ."""
        if self.edge_batches is not None:
            each = self.edge_batches.mean(1)
        else:
            chains = range(self.samples.n_chains)
            each = np.array([self.samples.edge_matrix(c) for c in chains])
        return _agreement(each, self.names)

    @property
    def so_far(self) -> str:
        """A note after the number of samples, if the chains were interrupted; else empty."""
        if not self.interrupted:
            return ""
        before = "" if self.n_chosen is None else f" before {self.n_chosen:,}"
        return f" (interrupted{before})"

    @property
    def acceptance(self) -> dict[str, float]:
        """The share of proposals of each move that were accepted, over all chains."""
        return {
            name: float(np.sum(accepted) / np.sum(tried)) if np.sum(tried) else float("nan")
            for name, (accepted, tried) in self.moves.items()
        }

    @property
    def disagreement(self) -> str | None:
        """A text that says how the chains disagree and what to do; None if they do not."""
        return None if self.marked_disagreement is None else in_python(self.marked_disagreement)

    @property
    def marked_disagreement(self) -> str | None:
        """The same with choices that the command line shows as options (`support.text`)."""
        apart = self.agreement
        tempering = for_reader("tempering", "--temperatures 4")
        advice = f"raise {bare('burn_in')} and {bare('n_samples')}, or try {tempering}"
        edge = ""
        # the difference to expect by chance for an edge of probability 1/2 (four deviations)
        by_chance = 4.0 * math.sqrt(0.5 / self.samples.which.shape[1])
        if apart.edge is not None and apart.largest > max(SPREAD_LIMIT, by_chance):
            edge = (
                f"the probability of {apart.edge[0]} -> {apart.edge[1]} is {apart.lowest:.3f} in "
                f"one and {apart.highest:.3f} in another"
            )
        score = ""
        if self.r_hat > R_HAT_LIMIT:
            score = f"R-hat of the log score is {self.r_hat:.3f}, and should be below {R_HAT_LIMIT}"
        found = "; ".join(filter(None, [edge, score]))
        return f"the chains disagree ({found}): {advice}" if found else None

    def __repr__(self) -> str:
        apart = self.agreement
        rows = [
            ["log score", f"R-hat {show(self.r_hat)}, ESS {show(self.effective_sample_size)}"],
            ["edges", f"largest R-hat {show(_known(self.edge_r_hat).max())}, least ESS "
             f"{show(_known(self.edge_sizes).min())}"],
        ]  # fmt: skip
        if apart.edge is not None:
            rows.append(
                ["chains", f"edge probabilities differ by {apart.largest:.3f} at most "
                 f"({apart.edge[0]} -> {apart.edge[1]}), {apart.mean:.4f} on average"]
            )  # fmt: skip
        if self.slowest_edge is not None:
            (a, b), times = self.slowest_edge
            rows.append(["slowest", f"{a} -> {b} is in doubt and changed {times:,} times"])
        if self.samples.weights is not None:
            rows.append(
                ["weights", f"worth {self.weights_size:,.0f} of {self.samples.n_samples:,}"]
            )
        rows += [[name, f"{share:.1%} accepted"] for name, share in self.acceptance.items()]
        tail = [] if self.disagreement is None else [self.disagreement]
        title = f"Convergence of {_chains(self.samples)}{self.so_far}"
        return "\n".join([title, grid(rows, left=2), *tail])


def indicator_r_hat(shares: Array, length: int) -> Array:
    """Split R-hat of 0-1 values from their shares (chains, ...) in chains of this length."""
    within = (shares * (1.0 - shares)).mean(0) * length / (length - 1.0)
    between = shares.var(0, ddof=1)
    still = (shares == shares[:1]).all(0) & (within == 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.sqrt((length - 1.0) / length + between / within)
    return np.asarray(np.where(still, 1.0, found))


def _agreement(each: Array, names: tuple[str, ...]) -> Agreement:
    n = len(names)
    spread = each.max(0) - each.min(0)
    if len(each) < 2 or n < 2:
        return Agreement(each, 0.0, 0.0, None, float("nan"), float("nan"))
    a, b = np.unravel_index(np.argmax(spread), spread.shape)
    low, high = each[:, a, b].min(), each[:, a, b].max()
    mean = float(spread.sum() / (n * (n - 1)))
    edge = (names[a], names[b]) if spread[a, b] > 0 else None
    return Agreement(each, float(spread[a, b]), mean, edge, float(low), float(high))


def _off_diagonal(matrix: Array) -> Array:
    matrix = matrix.copy()
    np.fill_diagonal(matrix, np.nan)
    return matrix


def _known(values: Array) -> Array:
    """The values that are not nan; a single nan if there are none."""
    known = values[~np.isnan(values)]
    return known if known.size else np.array([np.nan])


def show(value: float) -> str:
    """A diagnostic as text."""
    if not np.isfinite(value):
        return "inf" if value > 0 and np.isinf(value) else "unknown"
    return f"{value:.3f}" if value < 10 else f"{value:,.0f}"


def _chains(samples: GraphSamples) -> str:
    return f"{plural(samples.n_chains, 'chain')} of {plural(samples.which.shape[1], 'sample')}"
