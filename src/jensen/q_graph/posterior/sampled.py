"""A posterior that chains over graphs, orders or partitions have sampled."""

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
"""Of samples with parents outside the candidates: larger sets of these are not possible."""

RARE = 0.01
"""What is less probable, or more than 1 less this, is as uncertain as a share of the samples."""


class ClosedForm(Protocol):
    """Probabilities given what was sampled, without any graph being drawn."""

    def set_batches(self, v: int, threshold: float) -> tuple[list[tuple[int, ...]], Array]:
        """Likely parents of v; (chains, batches, sets) their probabilities along the chains."""


class Run(Protocol):
    """What chains hand over."""

    @property
    def samples(self) -> GraphSamples:
        """The graphs."""

    @property
    def moves(self) -> Moves:
        """Move → how often it was accepted and tried, in each chain."""

    @property
    def outside_share(self) -> Array | None:
        """(n,): the mean share of each node's mass on sets outside its candidates.

        nan where chains were not to try these.
        """

    @property
    def edge_batches(self) -> Array | None:
        """(chains, batches, n, n): edge probabilities, averaged over stretches of a chain."""

    @property
    def orders(self) -> ClosedForm | None:
        """What says the same of parent sets."""

    @property
    def interrupted(self) -> bool:
        """Whether chains were stopped before their end."""


class ChainRun(NamedTuple):
    """What chains found, and nothing else."""

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
        What the chains found. Its `edge_batches`, edge probabilities in closed form given what was
        sampled, are used for edges if the samples count alike.
    scorer
        Of the data, for model averages; None if they are not at hand.
    settings
        What was chosen, by name: plain data. "method" and "score" are shown; those of the score
        find the data again after `load`.
    source
        The kind of dataframe that tables are given back as.
    data
        What the scorer is made of: a copy makes it again.
    """

    def __init__(
        self,
        run: Run,
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
        """Warn, in words, if the chains disagree."""
        from jensen.estimators.estimate_warnings import warn_of_chains

        if self.convergence.disagreement is not None:
            warn_of_chains(self.convergence.disagreement)

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

        After a chain over orders they are averages of what each order says in closed form.
        """
        if self._orders is None:
            return super().parent_sets(x, threshold)
        sets, batches = self._orders.set_batches(self._at(x), threshold)
        names = [tuple(self.names[u] for u in members) for members in sets]
        return self._probabilities(f"parents of {x}", names, _over_batches(batches))

    def _outside(self) -> str:
        """How much is on parents that are no candidates, where it is much."""
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
    """What is known of edges by their means over batches."""
    mean, error, size = _over_batches(batches)
    # orders that were not met may allow what those that were hardly allow
    is_rare = np.minimum(mean, 1.0 - mean) < RARE
    error = np.where(is_rare, np.maximum(error, share_error(mean, n_samples)), error)
    np.fill_diagonal(error, 0.0)
    np.fill_diagonal(size, np.nan)
    return Edges(mean, error, size, r_hat)


def _over_batches(batches: Array) -> Average:
    """Means of batches (chains, batches, ...), and their errors by how far batches differ."""
    n_batches = float(batches.shape[0] * batches.shape[1])
    size = n_batches / np.nan_to_num(correlation_time(batches), nan=1.0)
    return Average(batches.mean((0, 1)), mean_error(batches, size), size)
