"""A network as a classifier, with scikit-learn's contract: one column from all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin  # type: ignore[import-untyped]
from sklearn.utils.multiclass import check_classification_targets  # type: ignore[import-untyped]
from sklearn.utils.validation import (  # type: ignore[import-untyped]
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from jensen.data import Table
from jensen.data.counting import counts_as_numbers
from jensen.data.table_choices import check_weights
from jensen.data.variable import label_text
from jensen.estimators.bayesian_network import BayesianNetwork
from jensen.exceptions import DataError, JensenError
from jensen.graphs import DAG, as_dag
from jensen.q_graph.learned_columns import learned_columns
from jensen.q_graph.learning import learn_structure
from jensen.q_graph.trees.chow_liu import naive_bayes, tan
from jensen.scores.registry import DEFAULTS
from jensen.scores.table_checks import is_constant
from jensen.support.text import offer, plural, some

STRUCTURES = ("naive", "tan", "learned")
USUAL_TARGET = "target"


class BayesianNetworkClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classify rows by a Bayesian network: P(target | what is known of the row).

    Values may be missing anywhere in X, when it learns and when it predicts. Columns may hold
    labels, numbers or both. Numbers of an array or a dataframe are measurements, however few and
    whole they are; what else a dataframe holds are labels (``astype("category")`` makes labels of
    numbers). A `Table`, or a path, has kinds of its own.

    Parameters
    ----------
    target
        The column of X that is predicted, or, where `fit` is given y, the name that y gets
        (default: that of a Series, else "target").
    structure
        "naive": the target points to every column. "tan": besides, these are joined by a tree (of
        complete labels the most likely one, else by search with two parents at most). "learned":
        the graph of `jensen.learn_structure`. Or a graph with the target and columns of X.
    prior
        Of the parameters, as in `jensen.BayesianNetwork`; "default" is "bdeu" for labels and
        "bdeu-bge" for labels and numbers.
    equivalent_sample_size
        Of these.
    method
        As in `jensen.BayesianNetwork`.
    random_state
        As in `jensen.BayesianNetwork`.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    net_ : BayesianNetwork
        What was learned: it answers all other questions, and can be saved.
    graph_ : DAG
        Its graph.
    target_ : str
        The name of the target in it.

    Examples
    --------
    >>> import jensen as jn
    >>> rows = jn.examples.load("cancer").sample(500, random_state=0).to_pandas()
    >>> X, y = rows.drop(columns="Cancer"), rows["Cancer"]
    >>> classifier = jn.BayesianNetworkClassifier(structure="tan").fit(X, y)
    >>> classifier.classes_
    array(['False', 'True'], dtype=object)
    >>> classifier.predict(X.head(3)).tolist()
    ['False', 'False', 'False']
    >>> classifier.predict_proba(X.head(1)).shape
    (1, 2)
    """

    def __init__(
        self,
        target: str | None = None,
        *,
        structure: Any = "naive",
        prior: Any = "default",
        equivalent_sample_size: float = 1.0,
        method: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.target = target
        self.structure = structure
        self.prior = prior
        self.equivalent_sample_size = equivalent_sample_size
        self.method = method
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the graph and its parameters.

        Parameters
        ----------
        X
            Rows: an array, a dataframe, a `Table`, a path.
        y
            The class of every row; None: it is the column `target` of X.
        sample_weight
            How often each row counts; None: once, or as the table says.
        """
        X = _opened(X)
        if y is None:
            X, y = self._split(X)
        else:
            self.target_ = USUAL_TARGET if self.target is None else self.target
        table = self._read(X, reset=True)
        if self.target is None:
            self.target_ = self._name_of(y, table)
        if self.target_ in table:
            raise DataError(
                f"X has a column {self.target_!r}, which is also the name of y: leave out y, or "
                f"give the target another name, target='class'"
            )
        codes = self._learn_classes(y, table.n_rows)
        weights = table.weights if sample_weight is None else sample_weight
        if weights is not None:
            table = table.with_weights(check_weights(weights, table.n_rows))
            if not table.total_weight:
                raise DataError("all weights are zero, so no row counts")
        self._fit(counts_as_numbers(_joined(table, self.target_, codes, self.classes_)))
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of every row."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self.predict_proba(X).argmax(1)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """P(class | the row), (rows, classes); labels that were never seen count as missing."""
        check_is_fitted(self)
        table = self._read(_opened(X), reset=False)
        found = self.net_.predict_proba(
            table, self.target_, unknown="missing", missing_columns="ignore"
        )
        return np.asarray(found)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    # --- inside ---

    def _name_of(self, y: Any, table: Table) -> str:
        """The name of a Series, unless a column or the graph has another mind; else the usual."""
        name = getattr(y, "name", None)
        is_free = isinstance(name, str) and name and name not in table
        if is_free and self.structure not in STRUCTURES:
            is_free = name in as_dag(self.structure)
        return str(name) if is_free else USUAL_TARGET

    def _split(self, X: Any) -> tuple[Any, Any]:
        """The columns beside the target, and the target."""
        if self.target is None:
            raise JensenError(
                "this classifier requires y to be passed, but the target y is None: give y, or "
                "say which column of X is predicted, target='class'"
            )
        self.target_ = self.target
        if not isinstance(X, Table):
            frame = nw.from_native(X, eager_only=True, pass_through=True)
            if not isinstance(frame, nw.DataFrame):
                raise JensenError(
                    f"this classifier requires y to be passed, but the target y is None, and X has "
                    f"no names of columns among which {self.target!r} could be"
                )
            self._require_target(frame.columns)
            y = frame[self.target].to_list()
            return frame.drop(self.target).to_native(), np.array(y)
        self._require_target(X.names)
        rest = [name for name in X.names if name != self.target]
        return X.select(rest), X[self.target]

    def _require_target(self, names: Sequence[str]) -> None:
        if self.target not in names:
            raise DataError(
                f"X has no column {self.target!r}; {offer(str(self.target), names, 'column')}"
            )

    def _read(self, X: Any, *, reset: bool) -> Table:
        """X as a table; its columns are learned, or must be the same."""
        if isinstance(X, Table):
            if reset:
                self.feature_names_in_ = np.array(X.names, object)
                self.n_features_in_ = len(X.names)
            return X
        if hasattr(X, "columns") or hasattr(X, "__dataframe__"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return _by_type(X)
        array = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
        columns = {f"x{k}": array[:, k] for k in range(array.shape[1])}
        return Table(columns, continuous="all")

    def _learn_classes(self, y: Any, n_rows: int) -> NDArray[np.int64]:
        """The classes, and the number of that of every row."""
        y = column_or_1d(y, warn=True)
        if len(y) != n_rows:
            raise DataError(f"X has {plural(n_rows, 'row')}, and y {len(y)}: one class for each")
        unknown = np.array([value is None or value != value for value in y.tolist()])
        if unknown.any():
            raise DataError(
                f"Input y contains NaN: the class of row {int(unknown.argmax()) + 1} is missing; "
                f"leave such rows out, or learn a jn.BayesianNetwork, which takes them"
            )
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise DataError(
                f"a classifier needs two classes, and all rows have one class, "
                f"{label_text(self.classes_[0])}"
            )
        return np.asarray(codes, np.int64)

    def _fit(self, table: Table) -> None:
        """Learn the network of the target and the columns that vary."""
        graph = self._graph(table)
        prior = self.prior
        if isinstance(prior, str) and prior == "default":
            kinds = {table.variable(name).kind == "categorical" for name in graph.nodes}
            prior = DEFAULTS["categorical" if kinds == {True} else "mixed"]
        self.net_ = BayesianNetwork(
            graph,
            prior=prior,
            equivalent_sample_size=self.equivalent_sample_size,
            method=self.method,
            random_state=self.random_state,
        ).fit(table)
        self.graph_ = self.net_.graph

    def _graph(self, table: Table) -> DAG:
        """The graph that is given, made or learned."""
        chosen, target = self.structure, self.target_
        if not (isinstance(chosen, str) and chosen in STRUCTURES):
            return self._given_graph(table)
        rows = table.select([x for x in table.names if x == target or _varies(table, x)])
        if chosen == "naive":
            return naive_bayes(rows, target)
        rows, _ = learned_columns(rows, {"target": target})
        search: dict[str, Any] = {"random_state": self.random_state}
        if chosen == "learned":
            return as_dag(learn_structure(rows, **search))
        are_labels = all(v.kind == "categorical" for v in rows.variables)
        if are_labels and not rows.n_missing():
            return tan(rows, target)
        others = [x for x in rows.names if x != target]
        return as_dag(
            learn_structure(
                rows,
                required=[(target, x) for x in others],
                forbidden=[(x, target) for x in others],
                max_parents=2,
                **search,
            )
        )

    def _given_graph(self, table: Table) -> DAG:
        """The graph of the caller, over the target and columns."""
        chosen = self.structure
        if isinstance(chosen, str) and chosen.isidentifier():
            raise JensenError(
                f"there is no structure {chosen!r}: choose one of {some(STRUCTURES)}, or give a "
                f"graph, {self.target_!r} being its target"
            )
        graph = as_dag(chosen)
        for name in (self.target_, *graph.nodes):
            if name not in graph or name not in table:
                where = "the graph" if name not in graph else "X"
                known = graph.nodes if name not in graph else table.names
                raise DataError(f"{where} has no {name!r}; {offer(name, known)}")
        return graph

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks before it checks an estimator."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags


def _opened(X: Any) -> Any:
    """Paths and dicts of columns as tables."""
    is_columns = isinstance(X, Mapping) and not issparse(X)
    return Table(X) if is_columns or isinstance(X, str) or hasattr(X, "__fspath__") else X


def _by_type(X: Any) -> Table:
    """A dataframe: numbers are measurements, and all else labels."""
    schema = nw.from_native(X, eager_only=True).schema
    numbers = [name for name, kind in schema.items() if kind.is_numeric()]
    return Table(X, continuous=numbers, categorical=[x for x in schema if x not in numbers])


def _varies(table: Table, name: str) -> bool:
    """Whether a column tells anything: numbers without spread have no density."""
    if table.variable(name).kind == "categorical":
        return bool(table.variable(name).states)
    _, least, most = table.counted().range_of(name)
    return not (np.isnan(least) or is_constant(least, most))


def _joined(table: Table, target: str, codes: NDArray[np.int64], classes: NDArray[Any]) -> Table:
    """The table with the target as its last column; states in the order of the classes."""
    labels = [label_text(x) for x in classes.tolist()]
    y = Table({target: [labels[k] for k in codes]}, states={target: labels})
    columns = [table.column(name) for name in table.names]
    return Table.from_columns([*columns, y.column(target)], table.weights, table.source)
