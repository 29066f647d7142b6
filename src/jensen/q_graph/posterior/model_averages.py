"""What a posterior over graphs gives besides its features: averages of models, pictures, files.

Predictions and queries are averaged over the graphs; a consensus is drawn, samples are written and
handed to ArviZ.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from jensen.data import Table, as_table
from jensen.exceptions import DataError, FileError, JensenError
from jensen.families.joint_prior import NormalWishartPrior
from jensen.graphs import DAG, PDAG
from jensen.q_graph.posterior import averages
from jensen.q_graph.posterior.answers import AveragedDistribution, AveragedGaussian
from jensen.q_graph.posterior.graph_samples import Array, GraphSamples
from jensen.scores.make_scorer import make_scorer
from jensen.scores.registry import OF_NUMBERS
from jensen.scores.scorer import HasMoments, Scorer, offered, unitless
from jensen.support.arguments import check_whole
from jensen.support.text import LIKELY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from jensen.q_graph.posterior.convergence import Convergence

OF_SCORE = (
    "score",
    "equivalent_sample_size",
    "missing",
    "prior_network",
    "interventions",
    *OF_NUMBERS,
)
"""The settings from which a scorer is made."""

SAME = 1e-8
"""The largest relative difference of scores of one graph on the same data."""


class ScoredTable(NamedTuple):
    """The table and choices from which a scorer is made, again after a posterior is copied."""

    table: Table
    choices: Mapping[str, Any]
    prior: NormalWishartPrior | None = None  # of continuous columns, if it is known already

    def scorer(self) -> Scorer:
        """Make the scorer; its scores do not depend on the units of columns."""
        found = unitless(make_scorer(self.table, **self.choices))
        numbers = offered(found, HasMoments)
        if self.prior is None or numbers is None or len(self.prior.mean) != len(found.names):
            return found
        return numbers.with_joint_prior(self.prior)


class ModelAverages:
    """Mixin of a posterior: predictions and queries averaged over graphs."""

    names: tuple[str, ...]
    settings: Mapping[str, Any]
    _data: ScoredTable | None
    _source: str
    _best_score: float | None = None  # the score of `best`, from a file without data
    _held_prior: NormalWishartPrior | None = None  # the prior, from a file without data

    @property
    def samples(self) -> GraphSamples:
        """The graphs over which averages are taken."""
        raise NotImplementedError

    @property
    def best(self) -> DAG:
        """The sampled graph with the highest score plus log prior."""
        raise NotImplementedError

    @property
    def gaussian_prior(self) -> NormalWishartPrior | None:
        """The prior of continuous columns in the score; None for categorical columns."""
        numbers = offered(self._scorer, HasMoments)
        return self._held_prior if numbers is None else numbers.joint_prior

    def log_predictive(
        self, table: Any, *, n_graphs: int | None = None, progress: bool = False
    ) -> Array:
        """Log Σ_G P(G | data) p(row | data, G), one number per row.

        Parameters are integrated out: under the Dirichlet prior of the score for states (its
        posterior mean tables), under the normal-Wishart prior of BGe for continuous columns
        (Student densities; columns that were constant in the data are left out). Scores without a
        prior, such as "bic", are taken with BDeu's for one row, or BGe's default.

        Parameters
        ----------
        table
            Anything a `Table` can be built from. States may be missing; they are summed out in
            every graph. A row with a state that was never seen is impossible: -inf.
        n_graphs
            Use only this many samples, evenly spaced along the chains; by default all.
        progress
            Show how many rows, or graphs, are done.
        """
        samples = self._some(n_graphs)
        return averages.log_predictive(samples, self._predictions, table, progress=progress)

    def query(
        self,
        targets: str | Sequence[str],
        given: Mapping[str, Any] | None = None,
        do: Mapping[str, Any] | None = None,
        *,
        n_graphs: int | None = None,
        progress: bool = False,
    ) -> AveragedDistribution | AveragedGaussian:
        """P(targets | do, given) averaged over graphs, with its Monte-Carlo error.

        P(y | e) = Σ_G P(G | data) p_G(y, e) / Σ_G P(G | data) p_G(e): evidence makes graphs more
        probable that predict it. Under `do` the arrows into a variable are cut in every graph, so
        the answer accounts for uncertain directions. Parameters are at their posterior means, as in
        `log_predictive`.

        Parameters
        ----------
        targets, given, do
            As in `BayesianNetwork.query`. Of continuous columns the answer is the mean and the
            covariance of a mixture of Gaussians.
        n_graphs
            Use only this many samples, evenly spaced along the chains; by default all. Graphs with
            the same ancestral part of the query are solved once.
        progress
            Show how many of these are done.
        """
        return averages.query(
            self._some(n_graphs), self._predictions, targets, given, do, progress=progress
        )

    def with_table(self, table: Any, **choices: Any) -> Self:
        """The same posterior with its data, which files do not contain.

        Parameters
        ----------
        table
            The data from which the posterior was computed; other data are refused.
        **choices
            Choices of the score that are no plain data: prior_network, interventions.
        """
        data = as_table(table)
        chosen = {name: self.settings[name] for name in OF_SCORE if name in self.settings}
        chosen = {name: value for name, value in (chosen | choices).items() if value is not None}
        kept = ScoredTable(data, chosen, self.gaussian_prior)
        scorer = kept.scorer()
        if scorer.names != self.names:
            raise DataError(
                f"this posterior is of {', '.join(self.names)}, and the table has "
                f"{', '.join(scorer.names)}"
            )
        other = copy.copy(self)
        other.__dict__.pop("best", None)
        other._scorer, other._source = scorer, data.source
        other._data = kept
        score = other.best.info.score
        if self._best_score is not None and not np.isclose(score, self._best_score, rtol=SAME):
            raise DataError(
                f"these are not the data of this posterior: its best graph scores "
                f"{self._best_score:.6f}, and {score:.6f} with this table"
            )
        return other

    @cached_property
    def _scorer(self) -> Scorer | None:
        return None if self._data is None else self._data.scorer()

    def __getstate__(self) -> dict[str, Any]:
        # scorers hold functions, which cannot be pickled, and work space: a copy makes them again
        made_again = ("_predictions",) if self._data is None else ("_predictions", "_scorer")
        return {name: x for name, x in self.__dict__.items() if name not in made_again}

    @cached_property
    def _predictions(self) -> averages.Predictions:
        return averages.make_predictions(self._scorer)

    def _some(self, n_graphs: int | None) -> GraphSamples:
        if n_graphs is None:
            return self.samples
        check_whole("n_graphs", n_graphs, at_least=1)
        return self.samples.thinned(int(n_graphs))


MOST_DRAWN = 60  # notebooks draw a consensus by themselves up to this many variables


class PosteriorViews(ModelAverages):
    """Mixin of a posterior: pictures and files."""

    @property
    def edge_matrix(self) -> Array:
        """(n, n): the probability of every edge."""
        raise NotImplementedError

    def consensus(self, threshold: float = 0.5) -> DAG:
        """The graph of all edges more probable than the threshold."""
        raise NotImplementedError

    @property
    def convergence(self) -> Convergence:
        """Diagnostics of the chains; an error if nothing was sampled by chains."""
        raise JensenError("nothing was sampled by chains here, so nothing has to converge")

    def to_svg(self, threshold: float = LIKELY) -> str:
        """A picture of all edges more probable than the threshold, as SVG text.

        They are as dark as they are probable, with their probabilities on them. If both directions
        are more probable than the threshold, the line has no arrow and the probability of both
        together. An edge that would close a longer cycle is left out, as in `consensus`.
        """
        from jensen.plots.svg import graph_svg

        dag, p = self.consensus(threshold), self.edge_matrix
        taken = dag.adjacency
        doubtful = taken.T & (p > threshold)
        graph = PDAG.from_adjacency(taken | doubtful, self.names)
        either = np.where(doubtful | doubtful.T, p + p.T, p)
        weights = {
            (a, b): min(float(either[self.names.index(a), self.names.index(b)]), 1.0)
            for a, b in (*graph.directed, *graph.undirected)
        }
        return graph_svg(graph, edge_weights=weights)

    def plot_trace(self, ax: Axes | None = None) -> Axes:
        """Draw the log score at every sample, a line for each chain (with matplotlib)."""
        from jensen.plots.figures import log_scores

        return log_scores(self.convergence, ax)

    def plot_agreement(self, ax: Axes | None = None) -> Axes:
        """Draw the edge probabilities of every chain over those of all (with matplotlib)."""
        from jensen.plots.figures import agreement

        return agreement(self.convergence, ax)

    def to_arviz(self) -> Any:
        """The samples as `arviz.InferenceData`; this needs ArviZ."""
        from jensen.io.peers import graphs_to_arviz

        return graphs_to_arviz(self.samples)

    def save(self, path: str | Path) -> None:
        """Write all samples to a JSON file (also .json.gz); `jn.load` reads it.

        The file does not contain the data: to average predictions, add them with `with_table`.
        """
        from jensen.io import save

        save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a posterior from a file."""
        from jensen.io import load

        found = load(path)
        if not isinstance(found, cls):
            raise FileError(f"{path} holds a {type(found).__name__}, not a {cls.__name__}")
        return found

    def _repr_html_(self) -> str:
        from jensen.plots.markup import escape, tag

        picture = self.to_svg() if len(self.names) <= MOST_DRAWN else ""
        return tag("div", picture, tag("pre", escape(repr(self))))
