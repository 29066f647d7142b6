"""Chow-Liu trees, and the classifiers built on them: tree-augmented and naive Bayes."""

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource, Table, as_rows, as_table
from jensen.data.column_warnings import warn_of_row_names
from jensen.exceptions import DataError, GraphError, JensenError
from jensen.graphs import DAG
from jensen.graphs.indexed_graph import IndexedGraph, check_name
from jensen.q_graph.info import StructureInfo
from jensen.q_graph.learned_columns import learned_columns
from jensen.q_graph.trees.incomplete import is_incomplete, tree_of_incomplete
from jensen.q_graph.trees.spanning import (
    Penalised,
    SpanningTree,
    all_edges,
    parents_from,
    paying_edges,
    spanning_tree,
)
from jensen.scores.mutual_information import (
    complete,
    conditional_information,
    imagined_rows,
    pair_information,
)
from jensen.scores.registry import PENALISED, UNPENALISED, penalty_of
from jensen.scores.table_checks import constant_columns, note_columns, warn_of_constant_labels
from jensen.support.text import either, for_reader, of_frame, option, plural

Array = NDArray[np.float64]

COSTS = {name: penalty_of(name) for name in PENALISED if name != UNPENALISED}
"""The penalty per parameter, as a function of the total weight of the rows."""


def chow_liu(
    table: Any,
    root: str | None = None,
    smoothing: float = 0.0,
    score: str | None = None,
) -> DAG:
    """The tree under which the data are most probable, for columns of any kind.

    It is the spanning tree of largest mutual information (Chow and Liu 1968). Of equally good trees
    the names of the columns choose one, never their order.

    Parameters
    ----------
    table
        Anything a `Table` can be built from; row weights count, and values may be missing (see the
        notes). Categorical columns, continuous ones (Gaussian), or both. In a mixed table a
        continuous column given a categorical one has a mean for every state and one variance, no
        arrow leads from a continuous column to a categorical one, and no path between two
        categorical ones through continuous ones: those trees are decomposable (Edwards et al.
        2010).
    root
        The column from which all arrows lead away; any root gives the same likelihood. None: the
        first by name, among the categorical ones if there are any. A component of a forest without
        the root has its own first column as its root.
    smoothing
        As if 4 · smoothing further rows had been seen, spread evenly over all configurations: for
        two binary columns, `smoothing` is added to each of the four joint cells. A pair with other
        numbers of states shares the same 4 · smoothing rows, so that all pairs agree about the
        probabilities of a column. The matching parameters are the posterior means under
        prior="bdeu" and equivalent_sample_size = 4 · smoothing. For categorical columns only.
    score
        "loglik", the default: the log-likelihood alone. "bic" or "aic": an edge is kept only if it
        gains more log-likelihood than its parameters cost (½ log N or 1 each), so the result may
        be a forest.

    Returns
    -------
    DAG
        Its `info` tells the score: the log-likelihood minus the penalty, as `jensen.score` gives it
        for columns of one kind. With smoothing the imagined rows count too.

    Notes
    -----
    Where values are missing the tree is found by EM: the tables, or moments, of all pairs that are
    expected under one tree give the next, until it stays the same. The score is the log-likelihood
    of what was observed, minus the penalty, and never falls on the way. It has several maxima: the
    best of several starts is returned, and is not proven to be the best of all. Values are taken to
    be missing at random, as in `jensen.learn_structure`. `smoothing` is refused there. In a mixed
    table with holes a continuous column has a variance of its own for every state, as in
    `jensen.BayesianNetwork`.

    A declared state that never occurs counts in the penalty, and has its share of the smoothing.
    A constant continuous column is refused, as are two of which each is a linear function of the
    other, and one that is a function of a categorical column: no tree has the largest likelihood.
    Beyond 2,048 columns the mutual informations are computed a row at a time, so that memory stays
    that of the data.

    References
    ----------
    Chow and Liu (1968), *Approximating discrete probability distributions with dependence trees*,
    IEEE Transactions on Information Theory 14. Edwards, de Abreu and Labouriau (2010), *Selecting
    high-dimensional mixed graphical models using minimal AIC or BIC forests*, BMC Bioinformatics
    11:18.

    Examples
    --------
    >>> import jensen as jn
    >>> table = {"a": [0, 0, 0, 1, 1, 1], "b": [0, 0, 1, 1, 1, 0], "c": [0, 0, 1, 1, 1, 1]}
    >>> jn.chow_liu(table)
    DAG('a -> c; c -> b')
    >>> jn.chow_liu(table, root="b")
    DAG('b -> c; c -> a')
    >>> jn.chow_liu({**table, "d": [0, 1, 0, 0, 1, 0]}, score="bic")
    DAG('a -> c; c -> b; d')
    """
    began = time.perf_counter()
    penalty = _read_score(score)
    data, _ = learned_columns(as_rows(table), {"root": root})
    if is_incomplete(data):
        return _tree_of_incomplete(as_table(data), root, smoothing, penalty)
    data = complete(data, "a Chow-Liu tree")
    warn_of_row_names(data, counts=True)
    warn_of_constant_labels(data)
    names = sorted(data.names)
    _check_root(root, names)
    information = pair_information(data, names, smoothing)
    _refuse_few_rows(data, names)
    stage = _stages(data, names)
    cost = 0.0
    if penalty is None:
        tree = spanning_tree(information, stage)
        edges = all_edges(tree)
    else:
        per_parameter = COSTS[penalty](information.total)
        tree = spanning_tree(Penalised(information, per_parameter), stage)
        edges = paying_edges(tree)
        cost = per_parameter * float(information.n_parameters.sum())
    entropies = information.entropies()  # known by now: they come with the tree
    _refuse_constant(entropies, names)
    _refuse_unbounded(tree, names, stage)
    arrows = sorted(_arrows(names, edges, stage, root))
    # What hangs from roots has no cycle, so none is looked for.
    graph = DAG._of(IndexedGraph(tuple(map(check_name, names)), tuple(arrows)))
    weight = tree.weight.tolist()
    gains = sum(weight[v] for _, v in edges) - float(entropies.sum())
    value = information.total * gains - cost
    notes = note_columns([data.variable(name) for name in names]) if any(stage) else ()
    info = _info("chow-liu", penalty or UNPENALISED, value, len(names), began, notes)
    return graph.with_info(info)


def _read_score(score: Any) -> str | None:
    """The penalised likelihood that a forest is chosen by; None for the likelihood alone."""
    if score is None or score == UNPENALISED:
        return None
    if not (isinstance(score, str) and score in COSTS):
        known = either([repr(UNPENALISED), *map(repr, COSTS)])
        raise JensenError(f"the score of a tree is {known}, not {score!r:.80}")
    return score


def _tree_of_incomplete(
    table: Table, root: str | None, smoothing: float, penalty: str | None
) -> DAG:
    """The tree of columns of which some values are missing."""
    if imagined_rows(smoothing) > 0.0:
        raise DataError(
            "smoothing adds to counts, and where values are missing these are not known: leave it "
            "out, or keep the complete rows with table.complete_rows()"
        )
    warn_of_row_names(table)
    warn_of_constant_labels(table)
    names = sorted(table.names)
    _check_root(root, names)
    seen = [name for name in names if table.n_seen(name)]
    numbers = [name for name in seen if table.variable(name).kind != "categorical"]
    if constant := constant_columns(table.counted(), numbers):
        raise DataError(_constant(numbers[constant[0]]))
    found = tree_of_incomplete(table, penalty)
    arrows = _arrows(names, found.edges, _stages(table, names), root)
    edges = [(names[u], names[v]) for u, v in arrows]
    return DAG(edges, nodes=names).with_info(found.info)


def _stages(table: RowSource, names: Sequence[str]) -> list[int]:
    """Continuous columns join a tree after the categorical ones, if there are both."""
    stages = [int(table.variable(name).kind != "categorical") for name in names]
    return stages if 0 in stages else [0] * len(names)


def tan(table: Any, target: str, root: str | None = None, smoothing: float = 0.0) -> DAG:
    """Tree-augmented naive Bayes: the target points to every feature, and a tree joins these.

    Its tree is the spanning tree of largest mutual information given the target, which maximises
    the likelihood among such graphs (Friedman, Geiger and Goldszmidt 1997).

    Parameters
    ----------
    table
        Anything a `Table` can be built from, without missing values; categorical columns. Row
        weights count.
    target
        The class.
    root
        The feature from which the arrows of the tree come; None: the first by name.
    smoothing
        As in `chow_liu`: 4 · smoothing rows, spread evenly over all configurations.

    Returns
    -------
    DAG
        Its `info` tells the log-likelihood, as that of `chow_liu` does.

    Examples
    --------
    >>> import jensen as jn
    >>> columns = {"a": "nnyyynyn", "b": "nnyyynny", "c": "pqpqpqpq"}
    >>> table = jn.Table({name: list(labels) for name, labels in columns.items()})
    >>> graph = jn.tan(table, "c")
    >>> graph
    DAG('a -> b; c -> a; c -> b')
    >>> net = jn.BayesianNetwork(graph).fit(table)
    >>> net.predict_proba({"a": ["n", "y"], "b": ["n", "y"]}, "c").round(3)
    array([[0.333, 0.667],
           [0.667, 0.333]])
    """
    began = time.perf_counter()
    rows, _ = learned_columns(as_rows(table), {"target": target, "root": root})
    data = complete(rows, "a tree-augmented classifier")
    warn_of_row_names(data)
    warn_of_constant_labels(data)
    features = _features(data, target)
    _check_root(root, features)
    information = conditional_information(data, features, target, smoothing)
    stage = [0] * len(features)
    tree = spanning_tree(information, stage) if features else None
    edges = [] if tree is None else all_edges(tree)
    gains = 0.0 if tree is None else sum(float(tree.weight[v]) for _, v in edges)
    score = information.total * (gains - information.entropy - information.entropies().sum())
    parents = {feature: [target] for feature in features}
    for u, v in _arrows(features, edges, stage, root):
        parents[features[v]].append(features[u])
    graph = DAG.from_parents({target: [], **parents})
    return graph.with_info(_info("tan", UNPENALISED, float(score), len(features), began))


def naive_bayes(table: Any, target: str) -> DAG:
    """The graph in which the target points to every other column, and nothing else is joined.

    Parameters
    ----------
    table
        Anything a `Table` can be built from; only its columns are read.
    target
        The class, categorical.

    Examples
    --------
    >>> import jensen as jn
    >>> jn.naive_bayes({"a": [0, 1], "b": ["x", "y"], "class": ["p", "q"]}, "class")
    DAG('class -> a; class -> b')
    """
    features = _features(as_rows(table), target)
    return DAG([(target, feature) for feature in features], nodes=[target])


def _info(
    method: str, score_name: str, score: float, n: int, began: float, notes: tuple[str, ...] = ()
) -> StructureInfo:
    """The record of an optimal tree of n columns, all pairs of which were scored."""
    return StructureInfo(
        method, score_name, score, np.array([score]), n * (n - 1) // 2, proven=True,
        interrupted=False, gap=0.0, n_tried=None, seconds=time.perf_counter() - began,
        notes=notes,
    )  # fmt: skip


def _features(table: RowSource, target: str) -> list[str]:
    """The columns but the target, sorted."""
    kind = table.variable(target).kind
    if kind != "categorical":
        raise DataError(
            f"a class is categorical, and the target {target!r} is {kind}: use jn.discretize, or "
            f"say {of_frame(categorical=[target])}"
        )
    return sorted(name for name in table.names if name != target)


def _check_root(root: str | None, names: Sequence[str]) -> None:
    if root is not None and root not in names:
        shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        raise GraphError(f"{option('root', root)} is none of the variables of the tree: {shown}")


def _refuse_few_rows(table: RowSource, names: Sequence[str]) -> None:
    if table.n_rows > 1:
        return
    for name in names:
        if table.variable(name).kind != "categorical":
            raise DataError(
                f"a tree needs a variance of column {name!r}, which {plural(table.n_rows, 'row')} "
                f"cannot tell: give two at least"
            )


def _refuse_constant(entropies: Array, names: Sequence[str]) -> None:
    """Refuse continuous columns without a variance: their entropies are -inf."""
    constant = np.flatnonzero(np.isneginf(entropies))
    if constant.size:
        raise DataError(_constant(names[constant[0]]))


def _constant(name: str) -> str:
    return (
        f"column {name!r} is constant, so the likelihood of a tree has no bound: leave it "
        f"out{for_reader('', ' with --without')}"
    )


def _refuse_unbounded(tree: SpanningTree, names: Sequence[str], stage: Sequence[int]) -> None:
    weight = tree.weight.tolist()
    if math.inf not in weight:
        return
    v = weight.index(math.inf)
    u = int(tree.near[v])
    a, b = sorted((names[u], names[v]))
    how = "linear functions of each other"
    if stage[u] != stage[v]:
        how = "such that the states of one fix the values of the other"
    raise DataError(
        f"columns {a!r} and {b!r} are {how}, so the likelihood of a tree has no bound: "
        f"leave one of them out"
    )


def _arrows(
    names: Sequence[str], edges: Sequence[tuple[int, int]], stage: Sequence[int], root: str | None
) -> Sequence[tuple[int, int]]:
    """The edges of a forest as arrows that lead away from the root of their component."""
    if root is None and len(edges) == len(names) - 1:  # a whole tree, as it grew from the first
        return edges
    roots = sorted(range(len(names)), key=stage.__getitem__)
    if root is not None:
        roots.insert(0, names.index(root))
    arrows = [(u, v) for v, u in parents_from(edges, roots).items() if u is not None]
    for u, v in arrows:
        if stage[u] > stage[v]:
            raise GraphError(
                f"no arrow may lead from a continuous to a categorical column, but "
                f"{option('root', root)} would need {names[u]} -> {names[v]}: choose a "
                f"categorical root, or none"
            )
    return arrows
