"""How well a way of learning predicts rows that it has not seen.

Labels that were predicted for rows whose label is known: how often right, and how sure.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table, as_table
from jensen.data.column_warnings import warn_of_row_names
from jensen.data.counting import counts_as_numbers
from jensen.estimators.bayesian_network import BayesianNetwork
from jensen.estimators.network_kinds import fit_network
from jensen.exceptions import DataError, JensenError
from jensen.graphs import DAG, as_dag
from jensen.q_graph.constraints import as_lists
from jensen.q_graph.learned_columns import learned_columns
from jensen.q_graph.learning import learn_structure
from jensen.scores.registry import DEFAULTS, SPREAD_PRIORS
from jensen.scores.table_checks import (
    noting,
    warn_of_constant_folds,
    warn_of_constant_labels,
    warn_of_drawn_constants,
)
from jensen.support.arguments import as_generator, check_whole
from jensen.support.fields import add_at
from jensen.support.machine import interruptible, ordered_map
from jensen.support.text import grid, plural, some

if TYPE_CHECKING:
    import pandas


Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Losses of the folds; lower is better. Prints as a table.

    Attributes
    ----------
    losses : (folds,) array
        Minus the mean log-likelihood per row that was left out, or with a target minus the mean of
        log p(target | the other columns).
    weights : (folds,) array
        How many rows were left out, each as often as its weight says.
    graphs
        The graph that was learned without them.
    predicted : PredictedLabels or None
        Where the target is a label: the true label of every row and the probabilities of all
        labels, with `accuracy`, `log_loss`, `confusion`, `calibration()` and `to_pandas()`.
    """

    losses: Array
    weights: Array
    graphs: tuple[DAG, ...]
    predicted: PredictedLabels | None = None

    @property
    def mean(self) -> float:
        """The loss per row of all folds."""
        return float((self.weights * self.losses).sum() / self.weights.sum())

    @property
    def standard_error(self) -> float:
        """Of the mean, from how the folds differ; NaN with fewer than two."""
        n = len(self.losses)
        return float(self.losses.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan

    def __repr__(self) -> str:
        rows = [
            [str(k + 1), f"{weight:g}", f"{loss:.4f}"]
            for k, (weight, loss) in enumerate(zip(self.weights, self.losses, strict=True))
        ]
        rows.append(["all", f"{self.weights.sum():g}", f"{self.mean:.4f}"])
        found = grid([["fold", "rows", "log-loss"], *rows], left=1, rule=True)
        return found if self.predicted is None else f"{found}\n\n{self.predicted!r}"


def cross_validate(
    table: Any,
    graph: Any = None,
    *,
    folds: int = 10,
    target: str | None = None,
    prior: Any = "default",
    graph_prior: Any = None,
    random_state: Any = None,
    **choices: Any,
) -> CrossValidation:
    """Learn without a part of the rows, predict that part, for each part in turn.

    Parameters
    ----------
    table
        Anything a `Table` can be built from; values may be missing, and variables `hidden`.
    graph
        A graph whose parameters alone are learned; by default the graph is learned too.
    folds
        How many parts the rows are cut into, at random.
    target
        Predict this column, a node of the graph, from the others, in place of whole rows. If it is
        a label, `predicted` of the answer tells how often that was right, and how sure.
    prior
        Of the parameters, as in `jensen.BayesianNetwork`; by default "bdeu" for categorical columns
        (so that no row that was left out is impossible), "bdeu-bge" for both kinds together, and
        none for continuous ones.
    graph_prior
        Of graphs: what `jensen.learn_structure` calls `prior`.
    **choices
        As in `jensen.learn_structure`; `equivalent_sample_size` counts for the parameters as well.

    Notes
    -----
    A column of numbers that is constant where a fold learns has no density there. It is left out
    of the losses of all folds, so that these compare: they are of the other columns. One warning
    names all such columns, and says of how many folds.

    Examples
    --------
    >>> import jensen as jn
    >>> table = jn.examples.load("asia").sample(1000, random_state=0)
    >>> learned = jn.cross_validate(table, folds=5, random_state=0)
    >>> empty = jn.cross_validate(table, jn.DAG((), table.names), folds=5, random_state=0)
    >>> learned.mean < empty.mean
    True
    """
    data = as_table(table)
    if graph is None:
        data, choices = learned_columns(data, {**choices, "target": target, "prior": graph_prior})
        del choices["target"], choices["prior"]
    data = counts_as_numbers(data)
    check_whole("folds", folds, at_least=2)
    if folds > data.n_rows:
        raise DataError(f"{folds} folds need as many rows, and there are {data.n_rows}")
    if graph_prior is not None:
        choices["prior"] = graph_prior
    _refuse_choices(choices, has_graph=graph is not None)
    choices, graph = as_lists(choices), None if graph is None else as_dag(graph)
    nodes, what = (data.names, "column") if graph is None else (graph.nodes, "node of the graph")
    if target is not None and target not in nodes:
        raise JensenError(
            f"target={target!r} is no {what}, so nothing predicts it: choose one of {some(nodes)}"
        )
    seen = [x for x in nodes if x in data]
    warn_of_row_names(data, seen)
    warn_of_constant_labels(data, seen, "network" if graph is not None else "graph")
    rng = as_generator(random_state)
    fold_of, streams = rng.permutation(data.n_rows) % folds, rng.spawn(folds)

    def learn(k: int) -> tuple[BayesianNetwork, set[str]]:
        train = data.take(fold_of != k)
        with noting() as constant:
            stream = streams[k]
            found = graph
            if found is None:
                found = learn_structure(train, random_state=stream, **choices)
            if wish.is_set():  # the loss of half a graph would tell nothing
                raise KeyboardInterrupt
            dag = as_dag(found)
            chosen = _parameters(train, dag, prior, choices)
            net = BayesianNetwork(dag, random_state=stream, **chosen)
            fit_network(net, train, learned=dag if graph is None else None)
        return net, constant

    with interruptible() as wish:
        nets, alone = zip(*ordered_map(learn, range(folds)), strict=True)
        n_folds = Counter(name for net in nets for name in net.require_any().constants)
        _check_target(target, n_folds)

        def loss(k: int) -> tuple[float, float]:
            test = _without(data.take(fold_of == k), n_folds)
            return _loss(nets[k], test, target), test.total_weight

        losses, weights = zip(*ordered_map(loss, range(folds)), strict=True)
    warn_of_constant_folds(n_folds, folds)
    n_alone = Counter(name for names in alone for name in names if name not in n_folds)
    warn_of_drawn_constants(n_alone, folds)
    graphs = tuple(DAG(net.require_any().graph.edges, net.graph.nodes) for net in nets)
    known = None if target is None else _predicted(nets, data, fold_of, target, n_folds)
    return CrossValidation(np.array(losses), np.array(weights), graphs, known)


def _refuse_choices(choices: Mapping[str, Any], *, has_graph: bool) -> None:
    """Refuse what a search needs where none is made, and what makes no sense with folds."""
    if has_graph and set(choices) - {"equivalent_sample_size"}:
        raise JensenError("with a graph= there is none to learn: leave out what a search needs")
    if choices.get("interventions") is not None:
        raise JensenError(
            "cross_validate predicts whole rows, so it has no interventions=: leave out the rows "
            "in which a variable was set"
        )
    if choices.get("missing_indicators"):
        raise JensenError(
            "cross_validate predicts columns, and missing_indicators= adds variables that have "
            "none: leave it out"
        )


def _predicted(
    nets: Sequence[BayesianNetwork],
    data: Table,
    fold_of: NDArray[np.int64],
    target: str,
    left_out: Collection[str],
) -> PredictedLabels | None:
    """The labels of all rows that show one, each predicted where its fold was left out."""
    if data.variable(target).kind != "categorical":
        return None
    column = data.column(target)
    probabilities = np.zeros((data.n_rows, column.variable.n_states))
    for k, net in enumerate(nets):
        rows = fold_of == k
        test = _without(data.take(rows), [*left_out, target])
        probabilities[rows] = net.predict_proba(test, target, impossible="nan")
    seen = np.flatnonzero(~column.missing() & ~np.isnan(probabilities).any(1))
    weights = np.ones(data.n_rows) if data.weights is None else data.weights
    return PredictedLabels(
        target,
        column.variable.states,
        seen,
        column.data[seen].astype(np.int64),
        probabilities[seen],
        weights[seen],
    )


def _check_target(target: str | None, constant: Mapping[str, int]) -> None:
    """Refuse to predict numbers that do not vary where they are learned from."""
    if target is not None and target in constant:
        raise DataError(
            f"target={target!r} is constant in the training rows of "
            f"{plural(constant[target], 'fold')}, so nothing there says how much it varies: "
            f"predict another column, or give the prior a scale of its own, "
            f"prior={{'scale': 'unit'}}"
        )


def _parameters(table: Table, dag: DAG, prior: Any, choices: Mapping[str, Any]) -> dict[str, Any]:
    """The prior of the parameters and hidden variables, as an estimator takes them."""
    hidden, size = choices.get("hidden"), choices.get("equivalent_sample_size")
    if isinstance(prior, str) and prior == "default":
        seen = {table.variable(x).kind == "categorical" for x in dag.nodes if x in table}
        are_labels = seen | {True} if hidden else seen
        prior = DEFAULTS["categorical"] if are_labels == {True} else None
        if len(are_labels) > 1:
            prior = DEFAULTS["mixed"]
    found = {"prior": prior, "hidden": hidden}
    if prior in (*SPREAD_PRIORS, DEFAULTS["mixed"]):
        found["equivalent_sample_size"] = 1.0 if size is None else size
    return found


def _loss(net: BayesianNetwork, test: Table, target: str | None) -> float:
    if target is None:
        return -float(net.score(test))
    others = net.log_likelihood(_without(test, [target]))
    log_p = net.log_likelihood(test) - others
    weights = np.ones(test.n_rows) if test.weights is None else test.weights
    return -float((weights * log_p).sum() / weights.sum())


def _without(table: Table, names: Collection[str]) -> Table:
    """The same rows, these columns missing in all of them."""
    if not names:
        return table
    columns = []
    for name in table.names:
        column = table.column(name)
        if name in names:
            is_number = column.variable.kind == "continuous"
            absent = np.nan if is_number else column.variable.n_states
            column = column._replace(data=np.full_like(column.data, absent))
        columns.append(column)
    return Table.from_columns(columns, table.weights, table.source)


class CalibrationBin(NamedTuple):
    """Predictions of about the same probability, and how often they came true."""

    predicted: float  # their mean probability
    share: float  # how many of them came true
    weight: float  # how many there are


@dataclass(frozen=True, eq=False)
class PredictedLabels:
    """P(label | the rest of the row) of rows that were left out, beside the true labels.

    Attributes
    ----------
    target
        The variable that was predicted.
    states
        Its labels.
    rows : (N,) array
        Which rows of the table; those that do not show the target are left out.
    truth : (N,) array
        Their labels, by position among `states`.
    probabilities : (N, K) array
        Of every label.
    weights : (N,) array
        How often each row counts.
    """

    target: str
    states: tuple[str, ...]
    rows: NDArray[np.int64]
    truth: NDArray[np.int64]
    probabilities: Array
    weights: Array

    @property
    def predicted(self) -> NDArray[np.int64]:
        """(N,): the most probable label of every row, by position."""
        return np.asarray(self.probabilities.argmax(1), np.int64)

    @property
    def accuracy(self) -> float:
        """The share of rows whose most probable label is the true one."""
        return float(self.weights @ (self.predicted == self.truth) / self.weights.sum())

    @property
    def log_loss(self) -> float:
        """Minus the mean logarithm of the probability of the true label; inf if one was 0."""
        p = self.probabilities[np.arange(len(self.truth)), self.truth]
        with np.errstate(divide="ignore"):
            return float(-(self.weights @ np.log(p)) / self.weights.sum())

    @property
    def confusion(self) -> Array:
        """(K, K): [true, predicted], how many rows."""
        found = np.zeros((len(self.states),) * 2)
        add_at(found, (self.truth, self.predicted), self.weights)
        return found

    def calibration(self, bins: int = 10) -> list[CalibrationBin]:
        """Probabilities in equal bins, of all labels of all rows, and how many came true.

        Where a model is honest, `predicted` and `share` agree but for chance.
        """
        check_whole("bins", bins, at_least=1)
        came_true = np.arange(len(self.states)) == self.truth[:, None]
        weights = np.broadcast_to(self.weights[:, None], came_true.shape)
        at = np.minimum((self.probabilities * bins).astype(np.int64), bins - 1)
        found = []
        for k in range(bins):
            here = at == k
            total = float(weights[here].sum())
            if total:
                mean = float(weights[here] @ self.probabilities[here]) / total
                found.append(CalibrationBin(mean, float(weights[here] @ came_true[here]) / total,
                                            total))  # fmt: skip
        return found

    def to_pandas(self) -> pandas.DataFrame:
        """A line per row: its number, the true and the predicted label, all probabilities."""
        import pandas as pd

        labels = np.array(self.states, object)
        columns = {"row": self.rows, "true": labels[self.truth]}
        columns |= {"predicted": labels[self.predicted]}
        columns |= {f"P({x})": self.probabilities[:, k] for k, x in enumerate(self.states)}
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        head = ["true", *(f"predicted {x}" for x in self.states)]
        rows = [
            [x, *(f"{n:g}" for n in counts)]
            for x, counts in zip(self.states, self.confusion, strict=True)
        ]
        title = (
            f"{self.target} of {self.weights.sum():g} rows: accuracy {self.accuracy:.3f}, log loss "
            f"{self.log_loss:.4f}"
        )
        return f"{title}\n{grid([head, *rows], left=1, rule=True)}"
