"""Predictions and queries averaged over graphs; each distinct part of a graph is solved once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from jensen.data import Variable, as_table
from jensen.exceptions import ImpossibleError, JensenError
from jensen.q_graph.posterior.answers import AveragedDistribution, AveragedGaussian
from jensen.q_graph.posterior.estimate import average
from jensen.q_graph.posterior.features import ancestral
from jensen.q_graph.posterior.graph_samples import Array, GraphSamples, Numbers
from jensen.q_graph.posterior.predictions import (
    GraphAnswer,
    RegressionPredictions,
    TablePredictions,
)
from jensen.scores.scorer import HasCounts, HasMoments, Scorer, kinds_of, offered
from jensen.support.machine import ordered_map
from jensen.support.text import offer

Predictions = TablePredictions | RegressionPredictions
Given = Mapping[str, Any] | None

MOST_CELLS = 1 << 16
"""The most cells of a joint distribution that is averaged over graphs as a whole."""

CELLS = 1 << 22
"""The most numbers in memory at a time: graphs or families times rows."""


def make_predictions(scorer: Scorer | None) -> Predictions:
    """Predictive distributions of families, for the kind of columns that the scorer has."""
    numbers, states = offered(scorer, HasMoments), offered(scorer, HasCounts)
    if numbers is not None:
        return RegressionPredictions(numbers)
    if states is not None:
        return TablePredictions(states)
    if scorer is not None and kinds_of(scorer):
        raise JensenError(
            "averages over graphs are there for columns of one kind, and these are labels and "
            "numbers: fit a network to post.best, or to graphs of post.samples"
        )
    raise JensenError(
        "averages over graphs need the data, which this posterior does not hold: give them, "
        "post.with_table(table)"
        if scorer is None
        else "averages over graphs need the data, and this posterior knows local scores only"
    )


# --- rows ---


def log_predictive(
    samples: GraphSamples, predictions: Predictions, table: Any, *, progress: bool = False
) -> Array:
    """(N,): log Σ_G P(G | data) p(row | data, G)."""
    rows, complete, strange = predictions.read(as_table(table))
    found = np.full(len(complete), -np.inf)
    whole, parts = (np.flatnonzero(chosen & ~strange) for chosen in (complete, ~complete))
    used = np.flatnonzero(samples.shares > 0)
    if whole.size:
        found[whole] = _log_complete(samples, predictions, _take(rows, whole), used, progress)
    if parts.size:
        found[parts] = _log_incomplete(samples, predictions, _take(rows, parts), used, progress)
    return found


def _take(rows: Any, which: NDArray[np.intp]) -> Any:
    return rows[which] if isinstance(rows, np.ndarray) else rows.take(which)


def _log_complete(
    samples: GraphSamples,
    predictions: Predictions,
    rows: Any,
    used: NDArray[np.intp],
    progress: bool,
) -> Array:
    """Log predictive of complete rows: each family once, then graphs as sums of families."""
    families, place = _families(samples, used)
    predictions.prepare(families)
    log_shares, n_rows = np.log(samples.shares[used]), len(rows)
    step = max(1, CELLS // max(len(families), 1))
    starts = range(0, n_rows, step)
    bar = tqdm(total=n_rows, desc="rows", disable=not progress, delay=1.0)

    def part(start: int) -> Array:
        some_rows = _take(rows, np.arange(start, min(start + step, n_rows)))
        each = np.array([predictions.log_rows(some_rows, v, up) for v, up in families])
        total = _log_mixture(each, place, log_shares)
        bar.update(len(total))
        return total

    with bar:
        return np.concatenate(list(ordered_map(part, starts)))


def _log_mixture(each: Array, place: Numbers, log_shares: Array) -> Array:
    """Log Σ_G share · exp Σ_v each[place[G, v]] for every row, graphs in blocks."""
    total = np.full(each.shape[1], -np.inf)
    step = max(1, CELLS // max(each.shape[1], 1))
    for start in range(0, len(place), step):
        block = place[start : start + step]
        logs = log_shares[start : start + step, None] + np.zeros(each.shape[1])
        for column in block.T:
            logs += each[column]
        total = np.logaddexp(total, np.logaddexp.reduce(logs, axis=0))
    return total


def _families(
    samples: GraphSamples, used: NDArray[np.intp]
) -> tuple[list[tuple[int, tuple[int, ...]]], Numbers]:
    """The distinct families of some graphs, and (graphs, n) the indices of each graph's."""
    families: list[tuple[int, tuple[int, ...]]] = []
    place = np.empty((len(used), len(samples.names)), np.int32)
    for v in range(len(samples.names)):
        sets, which = np.unique(samples.graphs[used, v], return_inverse=True)
        place[:, v] = len(families) + which.reshape(-1)
        families.extend((v, _parents(samples, k)) for k in sets.tolist())
    return families, place


def _parents(samples: GraphSamples, number: int) -> tuple[int, ...]:
    return tuple(np.flatnonzero(samples.members[number]).tolist())


def _log_incomplete(
    samples: GraphSamples,
    predictions: Predictions,
    rows: Any,
    used: NDArray[np.intp],
    progress: bool,
) -> Array:
    """Log predictive of incomplete rows: missing values are summed out of each row.

    If the averaged joint distribution is small, it is computed once; else each graph is asked.
    """
    if isinstance(predictions, TablePredictions) and predictions.n_cells <= MOST_CELLS:
        cells = predictions.all_cells()
        log_joint = _log_complete(samples, predictions, cells, used, progress)
        return predictions.log_margins(rows, np.exp(log_joint))
    predictions.prepare(_families(samples, used)[0])
    total, nodes = np.full(len(rows), -np.inf), range(len(samples.names))
    for d in tqdm(used.tolist(), desc="graphs", disable=not progress, delay=1.0):
        parents = {v: _parents(samples, samples.graphs[d, v]) for v in nodes}
        network: Any = predictions.network(nodes, parents)
        logs = np.log(samples.shares[d]) + predictions.log_incomplete(rows, network)
        total = np.logaddexp(total, logs)
    return total


# --- questions ---


class Parts(NamedTuple):
    """The distinct parts of graphs that are relevant to a query."""

    sets: Numbers  # (P, n): the parent set of each node; -1: irrelevant node, -2: set by do
    which: NDArray[np.intp]  # (D,): the index of the part of each distinct graph


def query(
    samples: GraphSamples,
    predictions: Predictions,
    targets: str | Sequence[str],
    given: Given = None,
    do: Given = None,
    *,
    progress: bool = False,
) -> AveragedDistribution | AveragedGaussian:
    """P(targets | given, do) = Σ_G w p_G(targets, given | do) / Σ_G w p_G(given | do)."""
    wanted, seen, done = read_positions(samples.names, targets, given, do)
    parts = _parts(samples, {*wanted, *seen, *done}, done)
    predictions.prepare(_families_of(samples, parts))
    answers = [
        predictions.ask(network, targets, given, do)
        for network in tqdm(
            _networks(samples, predictions, parts),
            total=len(parts.sets),
            desc="graphs",
            disable=not progress,
            delay=1.0,
        )
    ]
    return mixed(samples, answers, parts.which, [predictions.variables[v] for v in wanted])


def mixed(
    samples: GraphSamples,
    answers: Sequence[GraphAnswer],
    which: NDArray[np.intp],
    targets: Sequence[Variable],
) -> AveragedDistribution | AveragedGaussian:
    """The average of answers, each weighted by how probable it makes what is given.

    Parameters
    ----------
    which : (D,)
        The answer of each distinct graph.
    """
    log_each = np.array([answer.log_evidence for answer in answers])
    if not (log_each > -np.inf).any():
        raise ImpossibleError(
            f"what is given ({answers[0].condition}) is impossible in every graph"
        )
    found = average(samples, np.array([a.values for a in answers])[which], log_each[which])
    if targets[0].kind == "categorical":
        return AveragedDistribution(
            tuple(targets),
            found.mean,
            answers[0].condition,
            standard_error=found.error,
            n_graphs=samples.n_distinct,
        )
    names = tuple(variable.name for variable in targets)
    return _gaussian(samples, names, answers, log_each, which, found.error[:, 0])


def read_positions(
    names: Sequence[str], targets: str | Sequence[str], given: Given, do: Given
) -> tuple[list[int], list[int], list[int]]:
    """The positions of the targets, of what is given and of what is done."""
    asked = [targets] if isinstance(targets, str) else targets
    return (
        _positions(names, "targets", asked),
        _positions(names, "given", given or ()),
        _positions(names, "do", do or ()),
    )


def _positions(names: Sequence[str], what: str, chosen: Iterable[str]) -> list[int]:
    found = []
    for name in chosen:
        if name not in names:
            raise JensenError(f"{what}: there is no variable {name!r}; {offer(name, names)}")
        found.append(names.index(name))
    if what == "targets" and (not found or len(set(found)) < len(found)):
        raise JensenError("ask for one variable or several different ones")
    return found


def _parts(samples: GraphSamples, nodes: Iterable[int], done: Sequence[int]) -> Parts:
    """The ancestral parts of the nodes of a query; graphs with equal parts have equal answers."""
    matters = ancestral(samples, nodes, done)
    sets = np.where(matters, samples.graphs, np.int32(-1))
    sets[:, list(done)] = -2
    distinct, which = np.unique(sets, axis=0, return_inverse=True)
    return Parts(distinct, which.reshape(-1))


def _families_of(samples: GraphSamples, parts: Parts) -> Iterator[tuple[int, tuple[int, ...]]]:
    for v, column in enumerate(parts.sets.T):
        for number in np.unique(column[column >= 0]).tolist():
            yield v, _parents(samples, number)


def _networks(samples: GraphSamples, predictions: Predictions, parts: Parts) -> Iterator[Any]:
    """The network of every part; a variable that is set by `do` has no parents in it."""
    for row in parts.sets:
        nodes = np.flatnonzero(row != -1).tolist()
        yield predictions.network(
            nodes, {v: _parents(samples, row[v]) if row[v] >= 0 else () for v in nodes}
        )


def _components(
    answers: Sequence[GraphAnswer], share: Array, means: Array, variances: Array
) -> tuple[Array, Array, Array]:
    """Shares, means and variances of all components of all answers."""
    found = []
    for k, answer in enumerate(answers):
        weights, own, spread = answer.components or (
            np.ones(1),
            means[k : k + 1],
            variances[k : k + 1],
        )
        found.append((share[k] * weights, own, spread))
    each = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return next(each), next(each), next(each)


def _gaussian(
    samples: GraphSamples,
    names: tuple[str, ...],
    answers: Sequence[GraphAnswer],
    log_each: Array,
    which: NDArray[np.intp],
    error: Array,
) -> AveragedGaussian:
    """The moments of the mixture: covariances within graphs plus the covariance of the means."""
    weights = samples.shares * np.exp(log_each - log_each.max())[which]
    share = np.bincount(which, weights, minlength=len(answers)) / weights.sum()
    means = np.array([a.values[:, 0] for a in answers])
    mean = share @ means
    away = means - mean
    between = np.einsum("s,si,sj->ij", share, away, away)
    covariances = np.array([a.values[:, 1:] for a in answers])
    within = np.einsum("s,sij->ij", share, covariances)
    mixed = share, means, np.diagonal(covariances, axis1=1, axis2=2)
    if any(answer.components is not None for answer in answers):
        mixed = _components(answers, *mixed)
    covariance, condition = within + between, answers[0].condition
    return AveragedGaussian(
        names, mean, covariance, condition, error, between, samples.n_distinct, mixed
    )
