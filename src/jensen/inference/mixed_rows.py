"""Many rows and a mixed network: likelihoods, predictions, expected counts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import Block, Table, as_table
from jensen.data.model_columns import (
    MissingColumns,
    UnknownLabels,
    check_own_columns,
    read_known,
    refuse_unknown,
    warn_of_misspelt,
    warn_of_unknown,
)
from jensen.data.number_rows import numbers_of
from jensen.exceptions import JensenError
from jensen.inference.distribution import Distributions
from jensen.inference.fitted import Given, Names, RowChoices
from jensen.inference.gaussian_queries import read_numbers, read_targets
from jensen.inference.mixed_components import answer, label_answers, number_moments
from jensen.inference.mixed_findings import read_mixed
from jensen.inference.mixed_queries import (
    check_joint,
    check_one_kind,
    query,
    refuse_numbers,
    refuse_several_counts,
)
from jensen.inference.mixed_solver import (
    MixedQuestion,
    Weighing,
    group_moments,
    kinds_in,
    label_places,
    log_density,
    log_known,
    make_question,
    read_marginal,
    solved,
    take_rows,
)
from jensen.inference.network_rows import RowReader
from jensen.inference.number_mixture import MixtureDistributions, NumberAnswer
from jensen.q_hidden.mixed.cells import MixedRows, by_pattern
from jensen.q_hidden.mixed.shapes import Asked
from jensen.q_hidden.trees.problems import code_rows
from jensen.support.fields import add_at

if TYPE_CHECKING:
    from jensen.inference.mixed_network import MixedNetwork

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


# --- reading ---


class ReadRows(NamedTuple):
    """A table as a mixed network reads it."""

    cells: MixedRows  # numbers relative to the network's centre
    labels: Table  # the columns of labels, with the states of the network
    strange: UnknownLabels | None


def recode(
    network: MixedNetwork,
    table: Table,
    missing_columns: MissingColumns,
    hidden: Collection[str] = (),
    skip: Sequence[str] = (),
) -> ReadRows:
    """Codes and numbers; unknown labels are missing, what is no finite number is refused."""
    check_own_columns(
        network.graph.nodes,
        table.names,
        hidden=hidden,
        skip=skip,
        missing_columns=missing_columns,
    )
    layout, names, n = network.layout, network.graph.nodes, table.n_rows
    shown = [v for v in network.variables if v.name in table and v.name not in skip]
    wanted = [v for v in shown if v.kind == "categorical"]
    strange, labels = None, table
    codes = np.full((n, len(layout.labels)), -1, np.int32)
    if wanted:
        labels, strange = read_known(table.select([v.name for v in wanted]), wanted)
        codes = code_rows(Block(labels, 0, n), [names[v] for v in layout.labels])
    values = np.full((n, len(layout.numbers)), np.nan)
    numbers = [v for v in shown if v.kind != "categorical"]
    if numbers:
        rows = read_numbers(table, numbers)
        values = numbers_of(rows, [names[v] for v in layout.numbers]) - network.centre
    return ReadRows(MixedRows(codes, values, np.ones(n)), labels, strange)


def read(
    network: MixedNetwork, table: Table, choices: RowChoices, skip: Sequence[str] = ()
) -> ReadRows:
    """The same; unknown labels are refused, or become missing."""
    rows = recode(network, table, choices.missing_columns, choices.hidden, skip)
    refuse_unknown(rows.strange, choices.unknown)
    return rows


def check_possible(
    network: MixedNetwork,
    rows: ReadRows,
    possible: NDArray[np.bool_],
    impossible: Literal["raise", "nan"],
) -> None:
    """Refuse rows of probability 0; only labels can make a row impossible."""
    RowReader(network.label_network).check_possible(rows.labels, possible, impossible)


def log_likelihood(network: MixedNetwork, table: Table, choices: RowChoices) -> Array:
    """Log p(row), what is missing summed out; -inf if impossible or of an unknown state."""
    rows = recode(network, table, choices.missing_columns, choices.hidden)
    question, weighing = make_question(network, rows.cells), Weighing(table.n_rows)
    for parameters in network.parameter_sets():
        weighing.add(log_density(question, parameters))
    found = weighing.log_mean
    if rows.strange is not None:
        warn_of_unknown(rows.strange)
        found[rows.strange.rows] = -np.inf
    return found


# --- distributions of cells ---


class CellMeans(NamedTuple):
    """Distributions of labels and means of numbers, in all rows."""

    labels: dict[int, Array]  # label → (N, K); what is known has probability 1
    numbers: dict[int, Array]  # number → (N,), relative to the centre
    possible: NDArray[np.bool_]


def expected_cells(question: MixedQuestion, nodes: Sequence[int]) -> CellMeans:
    """Posteriors of labels, (N, K), and posterior means of numbers, (N,); NaN if impossible."""
    network, rows = question.network, question.rows
    layout, n = network.layout, question.n_rows
    labels = {layout.place[v]: layout.cards[v] for v in nodes if layout.cards[v]}
    numbers = [layout.place[v] for v in nodes if not layout.cards[v]]
    weighing = Weighing(n)
    p = {u: np.zeros((n, card)) for u, card in labels.items()}
    means = {v: np.zeros(n) for v in numbers}
    for v in [v for v in numbers if layout.is_count[v]]:
        mean, _, _ = number_moments(network, rows, question.was_set, [v], question.soft)
        means[v] = mean[:, 0]
    for parameters in network.parameter_sets():
        log_p = log_known(question, question.with_soft(parameters))
        units = list(solved(question, parameters))
        for found in units:
            log_p[found.unit.row] += found.log_density
        share = weighing.add(log_p)
        for found in units:
            for u, values in p.items():
                at, part = read_marginal(found, label_places(question.shapes, u), labels[u])
                values[at] += share[at, None] * (part - values[at])
            for number, kind in kinds_in(found.unit):
                inside = [k for k, v in enumerate(kind.missing) if v in means]
                if inside:
                    own = group_moments(found, parameters.forms, number, with_covariances=False)
                    mean = np.einsum("gc,gcm->gm", own.shares, own.means)
                    for k in inside:
                        out = means[kind.missing[k]]
                        out[own.row] += share[own.row] * (mean[:, k] - out[own.row])
    lost = ~weighing.possible
    for u, values in p.items():
        known = rows.codes[:, u] >= 0
        values[known] = np.eye(labels[u])[rows.codes[known, u]]
        values /= np.where(values.sum(1) > 0.0, values.sum(1), 1.0)[:, None]
        values[lost] = np.nan
    for v, mean in means.items():
        known = ~np.isnan(rows.values[:, v])
        mean[known] = rows.values[known, v]
        mean[lost] = np.nan
    return CellMeans(p, means, weighing.possible)


def _question_of_target(
    network: MixedNetwork, table: Table, target: str, choices: RowChoices
) -> tuple[ReadRows, MixedQuestion]:
    rows = read(network, table, choices, skip=(target,))
    asked = Asked(frozenset({network.index(target)}))
    return rows, make_question(network, rows.cells, asked=asked)


def predict_proba(
    network: MixedNetwork, table: Table, target: str | None, choices: RowChoices
) -> Any:
    """P(target | the rest of the row), (N, K); without a target of every label, by name."""
    layout = network.layout
    if target is not None:
        if not network.is_label(target):
            raise JensenError(
                f"{target!r} is a number, so it has no states: predict gives its mean, and query "
                f"its distribution in every row"
            )
        node = network.index(target)
        rows, question = _question_of_target(network, table, target, choices)
        found = expected_cells(question, [node])
        check_possible(network, rows, found.possible, choices.impossible)
        return found.labels[layout.place[node]]
    rows = read(network, table, choices)
    question = make_question(network, rows.cells, asked=Asked(frozenset(layout.labels)))
    found = expected_cells(question, layout.labels)
    check_possible(network, rows, found.possible, choices.impossible)
    return {network.graph.nodes[v]: found.labels[layout.place[v]] for v in layout.labels}


def predict(network: MixedNetwork, table: Table, target: str, choices: RowChoices) -> NDArray[Any]:
    """The most probable state of a label, or the mean of a number, in every row."""
    if not network.is_label(target):
        rows, question = _question_of_target(network, table, target, choices)
        node = network.index(target)
        found = expected_cells(question, [node])
        check_possible(network, rows, found.possible, choices.impossible)
        v = network.layout.place[node]
        return np.asarray(found.numbers[v] + network.centre[v])
    values = predict_proba(network, table, target, choices)
    states = np.array([*network.variables[network.index(target)].states, ""])
    lost = np.isnan(values).any(1)
    best = np.where(lost, len(states) - 1, np.nan_to_num(values, nan=-1.0).argmax(1))
    return np.asarray(states[best])


# --- queries of many rows ---


def query_many(
    network: MixedNetwork, targets: Names, given: Any, do: Given, hidden: Collection[str] = ()
) -> Distributions | MixtureDistributions:
    """P(targets | do, given) for every row of a table, or for every dict of a list."""
    names, at = read_targets(network, targets)
    are_labels = check_one_kind(network, at)
    if isinstance(given, list | tuple):
        if not all(isinstance(row, Mapping) for row in given):
            raise JensenError("a list of evidence holds a dict for every row")
        return _query_dicts(network, names, given, do)
    evidence = as_table(given)
    warn_of_misspelt(network.graph.nodes, evidence.names)
    choices = RowChoices(missing_columns="ignore", hidden=hidden)
    rows = read(network, evidence, choices, skip=names)
    cells, was_set = _with_do(network, rows.cells, do, at)
    if are_labels:
        check_joint(network, at)
        places = tuple(network.layout.place[v] for v in at)
        asked = Asked(frozenset(at), (tuple(sorted(places)),))
        question = make_question(network, cells, was_set, asked)
        weighing, values = label_answers(question, places, network.parameter_sets())
        check_possible(network, rows, weighing.possible, "raise")
        return Distributions(tuple(network.variables[v] for v in at), values)
    refuse_several_counts(network, at)
    numbers = [network.layout.place[v] for v in at]
    means, covariances, possible = number_moments(network, cells, was_set, numbers)
    check_possible(network, rows, possible, "raise")
    ask = partial(_one_row, network, cells, was_set, numbers)
    return MixtureDistributions(names, means + network.centre[numbers], covariances, ask)


def _query_dicts(
    network: MixedNetwork, names: tuple[str, ...], given: Sequence[Mapping[str, Any]], do: Given
) -> Distributions | MixtureDistributions:
    found: list[Any] = []
    for i, row in enumerate(given):
        try:
            found.append(query(network, names, row, do))
        except JensenError as error:
            raise error.after(f"row {i + 1}: ") from None
    if check_one_kind(network, [network.index(name) for name in names]):
        variables = tuple(network.variables[network.index(name)] for name in names)
        shape = (len(found), *(v.n_states for v in variables))
        return Distributions(variables, np.array([one.values for one in found]).reshape(shape))
    d = len(names)
    means = np.array([np.atleast_1d(one.mean) for one in found]).reshape(-1, d)
    covariances = np.array([one.covariance for one in found]).reshape(-1, d, d)
    return MixtureDistributions(names, means, covariances, found.__getitem__)


def _with_do(
    network: MixedNetwork, cells: MixedRows, do: Given, targets: Sequence[int]
) -> tuple[MixedRows, frozenset[int]]:
    """The rows with what was set in all of them."""
    findings = read_mixed(network, None, do, targets)
    one = findings.rows(network)
    label, number = one.codes[0] >= 0, ~np.isnan(one.values[0])
    seen = np.zeros((len(cells.weight), len(network.variables)), bool)
    seen[:, network.layout.labels] = (cells.codes >= 0) & label
    seen[:, network.layout.numbers] = ~np.isnan(cells.values) & number
    if seen.any():
        row, node = (int(x[0]) for x in np.nonzero(seen))
        raise JensenError(
            f"row {row + 1}: {network.graph.nodes[node]!r} stands in given and in do: it is either "
            f"seen or set"
        )
    codes = np.where(label, one.codes, cells.codes)
    values = np.where(number, one.values, cells.values)
    return MixedRows(codes, values, cells.weight), findings.was_set(network)


def _one_row(
    network: MixedNetwork, cells: MixedRows, was_set: frozenset[int], numbers: list[int], i: int
) -> NumberAnswer:
    """The answer of one row."""
    rows = take_rows(cells, np.array([i]))
    return answer(network, rows, was_set, numbers, None, f"row {i}")


# --- expected counts ---


def expected_counts(
    network: MixedNetwork, table: Table, families: Sequence[Sequence[str]], choices: RowChoices
) -> list[Array]:
    """Σ over rows of weight · p(family | what the row knows), of families of labels."""
    rows = read(network, table, choices)
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    found = []
    for family in families:
        refuse_numbers(network, family, "expected counts")
        places = [network.layout.place[network.index(name)] for name in family]
        found.append(_family_counts(network, rows, places, weights))
    return found


def _family_counts(
    network: MixedNetwork, rows: ReadRows, places: Sequence[int], weights: Array
) -> Array:
    cards = [int(network.layout.wiring.cards[u]) for u in places]
    counts, cells = np.zeros(cards), rows.cells
    possible = np.ones(len(weights), bool)
    order, starts = by_pattern(cells.codes[:, places] < 0)
    for own in np.split(order, starts[1:]) if len(order) else ():
        part = take_rows(cells, own)
        hidden = [k for k, u in enumerate(places) if part.codes[0, u] < 0]
        scope = tuple(places[k] for k in hidden)
        together = (tuple(sorted(scope)),) if scope else ()
        nodes = frozenset(network.layout.labels[u] for u in scope)
        question = make_question(network, part, asked=Asked(nodes, together))
        if not scope:
            weighing = Weighing(len(own))
            for parameters in network.parameter_sets():
                weighing.add(log_density(question, parameters))
            values = np.ones(len(own))
        else:
            weighing, values = label_answers(question, scope, network.parameter_sets())
        possible[own] = weighing.possible
        shown = weights[own] > 0.0
        at = tuple(np.s_[:] if k in hidden else part.codes[shown, u] for k, u in enumerate(places))
        _add_at(counts, at, values[shown] * weights[own][shown].reshape(-1, *(1,) * len(scope)))
    check_possible(network, rows, possible | (weights == 0.0), "raise")
    return counts


def _add_at(counts: Array, at: tuple[Any, ...], values: Array) -> None:
    """Add rows of values where known states, one array per axis, select; other axes are whole."""
    known = [k for k, own in enumerate(at) if not isinstance(own, slice)]
    whole = [k for k in range(counts.ndim) if k not in known]
    view = counts.transpose(*known, *whole)
    add_at(view, tuple(at[k] for k in known), values) if known else np.add(
        view, values.sum(0), out=view
    )
