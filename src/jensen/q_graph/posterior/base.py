"""The posterior over graphs that users see: probabilities of edges, paths and other features."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.graphs import DAG
from jensen.graphs.indexed_graph import reach
from jensen.q_graph.info import GraphInfo
from jensen.q_graph.posterior import features
from jensen.q_graph.posterior.answers import Probabilities
from jensen.q_graph.posterior.estimate import Average, Estimate, Estimates, average
from jensen.q_graph.posterior.graph_samples import Array, Flags, WeightedGraphs, members_of
from jensen.q_graph.posterior.model_averages import PosteriorViews
from jensen.scores.scorer import total
from jensen.support.arguments import as_generator, check_whole, is_real
from jensen.support.json_values import as_checked, of_kind
from jensen.support.machine import check_many
from jensen.support.text import LIKELY, grid, offer, plural

if TYPE_CHECKING:
    import pandas

    from jensen.q_graph.posterior.listed import ListedPosterior

MOST_SHOWN = 15
SMALL = 1e-6  # parent sets that are less probable are not listed


class Edges(NamedTuple):
    """Estimates for every edge; each field is (n, n), indexed [parent, child]."""

    probability: Array
    error: Array
    size: Array  # effective sample sizes; nan if nothing was sampled
    r_hat: Array


class StructurePosterior(PosteriorViews):
    """How probable graphs are, given data: `jensen.structure_posterior` makes one.

    Probabilities are floats with a Monte-Carlo standard error, `p.standard_error`: the typical
    difference to another run of the same length. It is 0 if nothing was sampled.

    A posterior can be pickled and copied (joblib too), with its data; `save` writes a permanent
    file, without the data.

    Attributes
    ----------
    names
        The variables, sorted: the order of rows and columns of every matrix.
    settings
        The choices of the run, by name.
    interrupted
        Whether chains were stopped early, so that there are fewer samples than were chosen.
    """

    names: tuple[str, ...]
    settings: Mapping[str, Any]
    interrupted: bool = False

    @property
    def log_evidence(self) -> float | None:
        """Log p(data), summed over all graphs; None if it is not known."""
        return None

    @property
    def is_proven(self) -> bool:
        """Whether `best` is known to be the best graph of all."""
        return self.samples.kind == "all"

    @property
    def _edges(self) -> Edges:
        """Estimates for every edge."""
        raise NotImplementedError

    def _headline(self) -> str:
        """The first line of `repr`."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """The posterior as plain data, as `save` writes it to JSON."""
        from jensen.q_graph.posterior import file

        return file.plain(self)

    @classmethod
    def from_dict(cls, value: Any) -> StructurePosterior:
        """What `to_dict` gave: plain data, also by way of JSON."""
        from jensen.q_graph.posterior import file

        return of_kind(cls, file.read(as_checked(value)))

    # --- edges ---

    @property
    def edge_matrix(self) -> Array:
        """(n, n): [a, b] is the probability of the edge from names[a] to names[b]."""
        return self._edges.probability.copy()

    @property
    def edge_errors(self) -> Array:
        """(n, n): the standard errors of `edge_matrix`."""
        return self._edges.error.copy()

    def edge_probability(self, a: str, b: str) -> Estimate:
        """The probability of the edge a -> b.

        Parameters
        ----------
        a, b
            Names of variables.
        """
        i, j = self._pair(a, b)
        return Estimate(self._edges.probability[i, j], self._edges.error[i, j])

    def undirected_probability(self, a: str, b: str) -> Estimate:
        """The probability of an edge between a and b, in either direction."""
        i, j = self._pair(a, b)
        there, back = self.samples.parents_of(j)[:, i], self.samples.parents_of(i)[:, j]
        return self._estimate(there | back)

    def compelled_probability(self, a: str, b: str) -> Estimate:
        """The probability that a -> b in the graph and in all graphs equivalent to it.

        This is the probability of the arrow in the CPDAG: directions that no data can determine do
        not count.
        """
        i, j = self._pair(a, b)
        return self._estimate(members_of(self._compelled[:, j], len(self.names))[:, i])

    @cached_property
    def compelled_matrix(self) -> Array:
        """(n, n): `compelled_probability` of every pair."""
        n, shares = len(self.names), self.samples.shares
        return np.array([shares @ members_of(self._compelled[:, b], n) for b in range(n)]).T

    @cached_property
    def _compelled(self) -> NDArray[np.uint64]:
        return features.compelled(self.samples)

    def edges(self, threshold: float = 0.0) -> Any:
        """A table of all edges more probable than the threshold, the most probable first.

        The table is a dataframe of the same library as the data, else of pandas. Its columns are
        from, to, probability, standard_error, r_hat and effective_sample_size.
        """
        found = self._edge_columns(threshold)
        backend: Any = self._source
        try:
            return nw.from_dict(found, backend=backend).to_native()
        except ImportError:  # pandas is not there
            return nw.from_dict(found, backend="pyarrow").to_native()

    def to_pandas(self, threshold: float = 0.0) -> pandas.DataFrame:
        """The same table as a pandas dataframe, whatever library the data came from."""
        import pandas as pd

        return pd.DataFrame(self._edge_columns(threshold))

    def _edge_columns(self, threshold: float) -> dict[str, Any]:
        _check_threshold(threshold)
        known, order = self._edges, self._ordered(threshold)
        rows, columns = order[:, 0], order[:, 1]
        return {
            "from": [self.names[a] for a in rows],
            "to": [self.names[b] for b in columns],
            "probability": known.probability[rows, columns],
            "standard_error": known.error[rows, columns],
            "r_hat": known.r_hat[rows, columns],
            "effective_sample_size": known.size[rows, columns],
        }

    def _ordered(self, threshold: float) -> NDArray[np.intp]:
        """(edges, 2): parents and children, the most probable first."""
        p = self._edges.probability
        found = np.argwhere((p > threshold) & ~np.eye(len(p), dtype=bool))
        return found[np.argsort(-p[found[:, 0], found[:, 1]], kind="stable")]

    # --- further features ---

    def path_probability(self, a: str, b: str) -> Estimate:
        """The probability that a directed path leads from a to b."""
        i, j = self._pair(a, b)
        return self._estimate(features.ancestors(self.samples, j)[:, i])

    @cached_property
    def path_matrix(self) -> Array:
        """(n, n): `path_probability` of every pair."""
        return features.path_matrix(self.samples)

    def parent_sets(self, x: str, threshold: float = SMALL) -> Probabilities:
        """Every set of parents of x more probable than the threshold, the most probable first."""
        v = self._at(x)
        shares = np.bincount(self.samples.graphs[:, v], self.samples.shares)
        sets = np.flatnonzero(shares > threshold)
        found = self._average(self.samples.graphs[:, v, None] == sets)
        names = [self._names(self.samples.members[k]) for k in sets.tolist()]
        return self._probabilities(f"parents of {x}", names, found)

    def markov_blanket(self, x: str) -> Probabilities:
        """Every other variable, with the probability that it is in the Markov blanket of x.

        The Markov blanket consists of the parents, the children and the children's other parents.
        """
        v = self._at(x)
        found = self._average(features.blanket(self.samples, v))
        others = [u for u in range(len(self.names)) if u != v]
        part = Average(*(values[others] for values in found))
        return self._probabilities(f"Markov blanket of {x}", [self.names[u] for u in others], part)

    def feature(self, f: Callable[[DAG], Any]) -> Estimate | Estimates:
        """The mean of any function of a graph: the probability, if it is True or False.

        Parameters
        ----------
        f
            From a `DAG` to a number, a truth value, or an array of them; it is called once for
            each distinct graph.
        """
        found = self._average(features.evaluate(self.samples, f))
        if found.mean.ndim == 0:
            return Estimate(float(found.mean), float(found.error))
        return Estimates(found.mean, found.error)

    # --- graphs ---

    @property
    def graphs(self) -> WeightedGraphs:
        """Pairs (graph, probability) of the distinct graphs, the most probable first.

        Graphs are stored compactly; each `DAG` is built when it is read.
        """
        return WeightedGraphs(self.samples)

    def top(self, n: int) -> ListedPosterior:
        """The posterior over the n best graphs that were met, each weighted by score and prior.

        Of chains these are the best graphs that they visited: their weights are exact whatever the
        chains did, but which share of the posterior they hold is not known. The graphs of a prior
        that counts orders are weighted without their orders, so it is refused.
        """
        from jensen.q_graph.posterior.listed import best_of

        return best_of(self, n)

    @cached_property
    def best(self) -> DAG:
        """The sampled graph with the highest score plus log prior; its `info` tells the score."""
        samples = self.samples
        at = np.unravel_index(int(np.argmax(samples.scores)), samples.scores.shape)
        d = int(samples.which[at])
        log_weight, probability = float(samples.scores[at]), float(samples.shares[d])
        return self._judged(samples.dag(d), log_weight, probability, self.is_proven)

    def _judged(self, dag: DAG, log_weight: float, probability: float, proven: bool) -> DAG:
        """The graph with its `info`."""
        score = float("nan")
        if self._scorer is not None:
            score = total(self._scorer, dag.parent_indices)
        method, name = (str(self.settings.get(x, "unknown")) for x in ("method", "score"))
        return dag.with_info(GraphInfo(method, name, score, log_weight, probability, proven))

    def consensus(self, threshold: float = 0.5) -> DAG:
        """The graph of all edges more probable than the threshold.

        Edges are added by falling probability; an edge that would close a cycle is left out. With a
        threshold below 0.5 this happens to the less probable direction of an edge; above 0.5 it is
        rare, because then all edges of a cycle must be probable although they exclude each other.
        """
        _check_threshold(threshold)
        children: list[list[int]] = [[] for _ in self.names]
        joined = np.zeros((len(self.names),) * 2, bool)
        for a, b in self._ordered(threshold).tolist():
            if a not in reach(children, [b]):
                children[a].append(b)
                joined[a, b] = True
        return DAG.from_adjacency(joined, self.names)

    def sample(self, n: int, random_state: Any = None) -> list[DAG]:
        """Draw n graphs."""
        check_whole("n", n, at_least=0)
        check_many(n, 512.0 + 64.0 * len(self.names), "graphs (n)", "draw fewer at a time")
        shares = self.samples.shares
        drawn = as_generator(random_state).choice(len(shares), n, p=shares / shares.sum())
        return [self.samples.dag(int(d)) for d in drawn]

    # --- inside ---

    def _average(self, values: NDArray[Any]) -> Average:
        return average(self.samples, values)

    def _estimate(self, present: Flags) -> Estimate:
        found = self._average(present)
        return Estimate(float(found.mean), float(found.error))

    def _probabilities(self, title: str, keys: Sequence[Any], found: Average) -> Probabilities:
        each = zip(found.mean.tolist(), found.error.tolist(), strict=True)
        return Probabilities(
            title, dict(zip(keys, (Estimate(*pair) for pair in each), strict=True))
        )

    def _names(self, members: Flags) -> tuple[str, ...]:
        return tuple(self.names[u] for u in np.flatnonzero(members))

    def _at(self, name: str) -> int:
        if name not in self.names:
            raise JensenError(f"there is no variable {name!r}; {offer(name, self.names)}")
        return self.names.index(name)

    def _pair(self, a: str, b: str) -> tuple[int, int]:
        i, j = self._at(a), self._at(b)
        if i == j:
            raise JensenError(f"an edge or a path joins two variables, but {a!r} came twice")
        return i, j

    def __repr__(self) -> str:
        order, known = self._ordered(LIKELY), self._edges
        rows = [["from", "to", "probability", "standard error"]]
        for a, b in order[:MOST_SHOWN].tolist():
            numbers = f"{known.probability[a, b]:.4f}", f"{known.error[a, b]:.2g}"
            rows.append([self.names[a], self.names[b], *numbers])
        more = len(self._ordered(0.0)) - len(rows) + 1
        tail = [f"... and {plural(more, 'edge')} more: see edges()"] if more else []
        notes = self.settings.get("notes", ())
        return "\n".join([self._headline(), grid(rows, left=2, rule=True), *tail, *notes])


def _check_threshold(threshold: Any) -> None:
    if not (is_real(threshold) and 0.0 <= threshold <= 1.0):
        raise JensenError(f"threshold must be between 0 and 1, not {threshold!r}")
