"""A posterior that is known by samples from chains over graphs, orders or partitions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from jensen.q_graph.posterior.answers import Probabilities
from jensen.q_graph.posterior.base import SMALL, Edges, StructurePosterior
from jensen.q_graph.posterior.convergence import Convergence, Moves, show
from jensen.q_graph.posterior.estimate import Average, average, mean_error, share_error
from jensen.q_graph.posterior.graph_samples import Array, GraphSamples
from jensen.q_graph.posterior.model_averages import ScoredTable
from jensen.runs.diagnostics import correlation_time
from jensen.scores.scorer import Scorer
from jensen.support.text import plural

MUCH = 0.2
"""The share of samples with parents outside the candidates above which a note is shown."""

RARE = 0.01
"""Edges with a probability below this, or above 1 minus this, get at least a binomial error."""


class ClosedForm(Protocol):
    """Probabilities of parent sets given the sampled orders, without drawing graphs."""

    def set_batches(self, v: int, threshold: float) -> tuple[list[tuple[int, ...]], Array]:
        """Likely parents of v; (chains, batches, sets) their probabilities along the chains."""


class FinishedChains(Protocol):
    """The results of chains that a posterior reads."""

    @property
    def samples(self) -> GraphSamples:
        """The graphs."""

    @property
    def moves(self) -> Moves:
        """Move → how often it was accepted and tried, in each chain."""

    @property
    def outside_share(self) -> Array | None:
        """(n,): the mean share of each node's mass on sets outside its candidates.

        nan if the chains did not try such sets.
        """

    @property
    def edge_batches(self) -> Array | None:
        """(chains, batches, n, n): edge probabilities, averaged over batches of a chain."""

    @property
    def orders(self) -> ClosedForm | None:
        """The same probabilities for parent sets; None if they are not known."""

    @property
    def interrupted(self) -> bool:
        """Whether chains were stopped before their end."""


class ChainRun(NamedTuple):
    """The results of chains as plain data."""

    samples: GraphSamples
    moves: Moves
    outside_share: Array | None = None
    edge_batches: Array | None = None
    orders: ClosedForm | None = None
    interrupted: bool = False


class SampledPosterior(StructurePosterior):
    """A posterior known by samples of chains.

    Parameters
    ----------
    run
        The results of the chains. Its `edge_batches`, edge probabilities in closed form given the
        sampled states, are used for edges if all samples have equal weights.
    scorer
        The scorer of the data, for model averages; None if there are no data.
    settings
        The choices of the run, by name: plain data. "method" and "score" are shown; the choices of
        the score are used again by `with_table` after `load`.
    source
        The dataframe library of tables that are returned.
    data
        The table and choices from which a copy makes the scorer again.
    """

    def __init__(
        self,
        run: FinishedChains,
        scorer: Scorer | None = None,
        settings: Mapping[str, Any] | None = None,
        *,
        source: str = "pandas",
        data: ScoredTable | None = None,
    ) -> None:
        self.names = run.samples.names
        self.settings = dict(settings or {})
        self.moves = {name: (np.asarray(a), np.asarray(b)) for name, (a, b) in run.moves.items()}
        self.outside_share = None if run.outside_share is None else np.asarray(run.outside_share)
        """(n,): the mean share of each variable's mass on parents outside its candidates; nan where
        chains were not to try these (outside=0)."""
        self.interrupted = bool(run.interrupted)
        self._samples, self._source = run.samples, source
        self._scorer, self._data = scorer, data
        use_batches = run.samples.weights is None and run.edge_batches is not None
        self._batches = np.asarray(run.edge_batches, np.float64) if use_batches else None
        self._orders = run.orders if use_batches else None

    @property
    def samples(self) -> GraphSamples:
        """The graphs that the chains visited."""
        return self._samples

    @cached_property
    def convergence(self) -> Convergence:
        """How well the chains have mixed: R-hat, effective sizes, agreement, acceptance."""
        p = self._batches.mean((0, 1)) if self._batches is not None else self.samples.edge_matrix()
        wanted = self.settings.get("n_samples") if self.interrupted else None
        return Convergence(
            self.names, self.samples, self.moves, p, self._batches, self.interrupted, wanted
        )

    def warn(self) -> None:
        """Warn if the chains disagree."""
        from jensen.exceptions import warn_of_chains

        disagreement = self.convergence.marked_disagreement
        if disagreement is not None:
            warn_of_chains(disagreement)

    @cached_property
    def _edges(self) -> Edges:
        r_hat = self.convergence.edge_r_hat
        if self._batches is not None:
            return _from_batches(self._batches, r_hat, self.samples.n_samples)
        parts = [average(self.samples, self.samples.parents_of(v)) for v in range(len(self.names))]
        p, error, size = (np.array(columns).T for columns in zip(*parts, strict=True))
        for matrix, value in ((p, 0.0), (error, 0.0), (size, np.nan)):
            np.fill_diagonal(matrix, value)
        return Edges(p, error, size, r_hat)

    def parent_sets(self, x: str, threshold: float = SMALL) -> Probabilities:
        """Every set of parents of x more probable than the threshold, the most probable first.

        After a chain over orders they are averages of closed-form probabilities given each order.
        """
        if self._orders is None:
            return super().parent_sets(x, threshold)
        sets, batches = self._orders.set_batches(self._at(x), threshold)
        names = [tuple(self.names[u] for u in members) for members in sets]
        return self._probabilities(f"parents of {x}", names, _over_batches(batches))

    def _outside(self) -> str:
        """A note if many samples have parents that are no candidates; else empty."""
        share = self.outside_share
        if share is None or not np.nanmax(share, initial=0.0) > MUCH:
            return ""
        v = int(np.nanargmax(share))
        return (
            f"; {share[v]:.0%} of the samples have parents of {self.names[v]} outside its "
            f"candidates: raise candidates="
        )

    def _headline(self) -> str:
        samples, method = self.samples, self.settings.get("method")
        of = "" if method is None else f" by method={method!r}"
        each = plural(samples.which.shape[1], "sample") + self.convergence.so_far
        size = self.convergence.effective_sample_size
        mixed = f"R-hat {show(self.convergence.r_hat)}, effective sample size {show(size)}"
        return (
            f"StructurePosterior of {plural(len(self.names), 'variable')}{of}: "
            f"{plural(samples.n_chains, 'chain')} of {each}, "
            f"{plural(samples.n_distinct, 'different graph')}; log score: {mixed}{self._outside()}"
        )


def _from_batches(batches: Array, r_hat: Array, n_samples: int) -> Edges:
    """Estimates for edges from their means over batches."""
    mean, error, size = _over_batches(batches)
    # orders that were not sampled may support edges that the sampled ones hardly support
    is_rare = np.minimum(mean, 1.0 - mean) < RARE
    error = np.where(is_rare, np.maximum(error, share_error(mean, n_samples)), error)
    np.fill_diagonal(error, 0.0)
    np.fill_diagonal(size, np.nan)
    return Edges(mean, error, size, r_hat)


def _over_batches(batches: Array) -> Average:
    """Means over batches (chains, batches, ...), with errors from the spread of the batches."""
    n_batches = float(batches.shape[0] * batches.shape[1])
    size = n_batches / np.nan_to_num(correlation_time(batches), nan=1.0)
    return Average(batches.mean((0, 1)), mean_error(batches, size), size)
