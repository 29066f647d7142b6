"""The posterior over a list of good graphs: each counts by its score and its prior."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from jensen.data import Table
from jensen.exceptions import JensenError
from jensen.graphs import DAG
from jensen.q_graph.posterior.base import Edges, StructurePosterior
from jensen.q_graph.posterior.graph_samples import Array, GraphSamples
from jensen.q_graph.posterior.model_averages import ScoredTable
from jensen.scores.scorer import Scorer
from jensen.support.arguments import check_whole
from jensen.support.text import grid, keyword, plural

if TYPE_CHECKING:
    from jensen.q_graph.posterior.answers import AveragedDistribution, AveragedGaussian
    from jensen.q_graph.posterior.estimate import Estimate, Estimates

SHOWN = 8
"""The number of networks of a list that are printed."""


class ListedPosterior(StructurePosterior):
    """Averages over a list of graphs, in the place of all graphs.

    P(f | data) ≈ Σ f(G) w(G) / Σ w(G) over the graphs of the list, where log w(G) = log p(data | G)
    + log p(G). `jensen.k_best` and `StructurePosterior.top` make one. Its probabilities are those
    given that the graph is in the list: nothing was sampled, so they have no standard error, and
    `share` says how much the list leaves out.

    Parameters
    ----------
    samples
        The graphs, each once, with their log weights.
    scorer
        The scorer of the data, for model averages; None if there are no data.
    settings
        The choices by which the graphs were found: plain data.
    log_total
        Computes the log of the sum of the weights of all graphs there are; None if it is not known.
    is_proven
        Whether no graph has a greater weight than the best of the list.
    source
        The dataframe library of tables that are returned.
    data
        The table and choices from which a copy makes the scorer again.
    """

    def __init__(
        self,
        samples: GraphSamples,
        scorer: Scorer | None = None,
        settings: Mapping[str, Any] | None = None,
        *,
        log_total: Callable[[], float] | None = None,
        is_proven: bool = False,
        source: str = "pandas",
        data: ScoredTable | None = None,
    ) -> None:
        self.names = samples.names
        self.settings = dict(settings or {})
        self._samples, self._log_total, self._is_proven = samples, log_total, is_proven
        self._scorer, self._source, self._data = scorer, source, data

    @property
    def samples(self) -> GraphSamples:
        """The graphs of the list."""
        return self._samples

    @property
    def is_proven(self) -> bool:
        """Whether `best` is known to be the best graph of all."""
        return self._is_proven

    @cached_property
    def share(self) -> float | None:
        """The share of the posterior over all graphs that the list holds; None if it is unknown.

        It is known where all graphs can be summed: complete rows, up to about 16 variables.
        """
        if self._log_total is None:
            return None
        try:
            total = self._log_total()
        except JensenError:  # too many variables
            return None
        return min(math.exp(float(logsumexp(self._samples.scores)) - total), 1.0)

    @cached_property
    def _edges(self) -> Edges:
        p = self._samples.edge_matrix()
        unknown = np.full_like(p, np.nan)
        return Edges(p, np.zeros_like(p), unknown, unknown)

    def __getstate__(self) -> dict[str, Any]:
        # what sums over all graphs cannot be pickled, but its result can
        return {**super().__getstate__(), "share": self.share, "_log_total": None}

    def _headline(self) -> str:
        share = self.share
        hold = (
            f"which hold {share:.4g} of the posterior over all graphs"
            if share is not None
            else "and which share of the posterior over all graphs they hold is unknown"
        )
        of = f"StructurePosterior of {plural(len(self.names), 'variable')}"
        return f"{of}: the best {plural(self._samples.n_distinct, 'graph')}, {hold}"


def best_of(post: StructurePosterior, n: int) -> ListedPosterior:
    """The posterior over the best graphs that another one met."""
    check_whole("n", n, at_least=1)
    samples, settings = post.samples, post.settings
    prior = settings.get("prior")
    if "order" in (prior, *(prior[:1] if isinstance(prior, Sequence) else ())):
        raise JensenError(
            "under a prior that counts orders a graph weighs as much as it has orders, and the "
            f"scores here are without these: choose another {keyword('prior', 'graph_prior')}"
        )
    _, first = np.unique(samples.which, return_index=True)
    scores = samples.scores.ravel()[first]
    kept = np.argsort(-scores, kind="stable")[:n]
    listed = GraphSamples.from_distinct(
        samples.names,
        samples.sets,
        samples.graphs[kept],
        np.arange(len(kept), dtype=np.int32)[None],
        scores[kept][None],
        None,
        scores[kept][None],
        "all",
    )
    exact = getattr(post, "exact", None)
    return ListedPosterior(
        listed,
        post._scorer,
        {**settings, "method": f"top of {settings.get('method', 'unknown')}"},
        log_total=None if exact is None else lambda: float(exact.log_total),
        is_proven=post.is_proven,
        source=post._source,
        data=post._data,
    )


class ScoredGraph(NamedTuple):
    """A network, its score, and the log Bayes factor of the best network against it."""

    graph: DAG
    score: float
    log_bayes_factor: float


class Scored(NamedTuple):
    """By what graphs were scored, which averages over them need."""

    scorer: Scorer | None  # of the rows; None where values are missing
    settings: Mapping[str, Any]
    rows: Table | None
    of_score: Mapping[str, Any]
    log_total: Callable[[], float] | None  # of all graphs, where they can be summed


@dataclass(frozen=True, eq=False)
class BestGraphs(Sequence[ScoredGraph]):
    """Networks by falling score; each `ScoredGraph` is built when it is read.

    Together they answer as a posterior over graphs does, each by its score and prior: `posterior`
    is that posterior, and tells which share of the whole it holds.

    Parameters
    ----------
    names
        The variables, sorted.
    parents : (m, n) array
        The parents of each variable in each network as bits: bit v is variable v.
    scores : (m,) array
        The scores, falling.
    best
        The highest score of all.
    scored
        By what they were scored; None if that is not known.
    """

    names: tuple[str, ...]
    parents: NDArray[np.int64]
    scores: Array
    best: float
    scored: Scored | None = None

    @cached_property
    def posterior(self) -> ListedPosterior:
        """The posterior over these graphs, in the place of all: edges, paths, queries, its share.

        Examples
        --------
        >>> import jensen as jn
        >>> rows = jn.examples.load("cancer").sample(2000, random_state=0)
        >>> found = jn.k_best(rows, k=100)
        >>> round(found.posterior.share, 3), round(found.edge_probability("Cancer", "Xray"), 3)
        (0.994, 0.643)
        """
        bits = self.parents.astype(np.uint64)[None, :, :, None]
        weights = self.scores[None]
        samples = GraphSamples(self.names, bits, weights, None, weights, "all")
        by = self.scored or Scored(None, {}, None, {}, None)
        return ListedPosterior(
            samples,
            by.scorer,
            {"method": "k-best", **by.settings},
            log_total=by.log_total,
            is_proven=by.log_total is not None and float(self.scores[0]) == self.best,
            source="pandas" if by.rows is None else by.rows.source,
            data=None if by.rows is None else ScoredTable(by.rows, by.of_score),
        )

    def edge_probability(self, a: str, b: str) -> Estimate:
        """The probability of the edge a -> b, averaged over these graphs."""
        return self.posterior.edge_probability(a, b)

    def path_probability(self, a: str, b: str) -> Estimate:
        """The probability that a directed path leads from a to b, averaged over these graphs."""
        return self.posterior.path_probability(a, b)

    def feature(self, f: Callable[[DAG], Any]) -> Estimate | Estimates:
        """The mean of a function of a graph over these graphs."""
        return self.posterior.feature(f)

    def query(
        self,
        targets: str | Sequence[str],
        given: Mapping[str, Any] | None = None,
        do: Mapping[str, Any] | None = None,
    ) -> AveragedDistribution | AveragedGaussian:
        """P(targets | do, given), averaged over these graphs; see `StructurePosterior.query`."""
        if self.scored is None:
            raise JensenError(
                "a question averaged over graphs needs complete rows, and these graphs were scored "
                "by expected counts: fit one of them (found[0].graph), and ask that"
            )
        return self.posterior.query(targets, given, do)

    def __len__(self) -> int:
        return len(self.scores)

    @overload
    def __getitem__(self, k: int) -> ScoredGraph: ...
    @overload
    def __getitem__(self, k: slice) -> BestGraphs: ...
    def __getitem__(self, k: int | slice) -> ScoredGraph | BestGraphs:
        if isinstance(k, slice):
            return replace(self, parents=self.parents[k], scores=self.scores[k])
        above = {
            name: [self.names[v] for v in range(len(self.names)) if int(number) >> v & 1]
            for name, number in zip(self.names, self.parents[k], strict=True)
        }
        lost = max(self.best - float(self.scores[k]), 0.0)
        return ScoredGraph(DAG.from_parents(above), float(self.scores[k]), lost)

    def __iter__(self) -> Iterator[ScoredGraph]:
        return map(self.__getitem__, range(len(self)))

    def __repr__(self) -> str:
        rows = [["graph", "score", "log Bayes factor"]]
        for graph, score, lost in self[:SHOWN]:
            rows.append([str(graph) or "(empty)", f"{score:.4f}", f"{lost:.4f}"])
        more = [f"... and {len(self) - SHOWN:,} more"] if len(self) > SHOWN else []
        head = f"the {plural(len(self), 'best graph')}"
        return "\n".join([head, grid(rows, left=1, rule=True), *more])
