"""Labels of rows, and numbers as mixtures over the labels around them: components, moments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.inference.count_distribution import CountDistribution, merged_counts
from jensen.inference.mixed_findings import refuse_impossible
from jensen.inference.mixed_parameters import CountParameters, Parameters
from jensen.inference.mixed_solver import (
    MixedQuestion,
    SolvedUnit,
    Weighing,
    group_moments,
    groups_of,
    kinds_in,
    log_density,
    log_known,
    make_question,
    solved,
    take_rows,
)
from jensen.inference.number_mixture import (
    MOST_COMPONENTS,
    MixtureDistribution,
    NumberAnswer,
    NumberMoments,
    merged_mixture,
)
from jensen.q_hidden.mixed.cells import MixedRows, by_pattern
from jensen.q_hidden.mixed.shapes import Asked, GroupKind
from jensen.support.machine import check_memory
from jensen.support.text import some

if TYPE_CHECKING:
    from jensen.inference.mixed_network import MixedNetwork

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


class Components(NamedTuple):
    """Mixtures of rows with the same gaps."""

    log_density: Array  # (N,)
    weights: Array  # (N, K)
    means: Array  # (N, K, d): relative to the centre
    covariances: Array  # (N, K, d, d)


def number_question(
    network: MixedNetwork,
    rows: MixedRows,
    was_set: frozenset[int],
    numbers: Sequence[int],
    soft: Mapping[int, Array] | None = None,
) -> MixedQuestion:
    """A question about numbers in rows that all have the same gaps."""
    nodes = frozenset(network.layout.numbers[v] for v in numbers)
    question = make_question(network, rows, was_set, Asked(nodes), soft)
    kinds = _kinds_of(question, numbers)
    scope = tuple(sorted({u for kind in kinds for u in kind.scope}))
    size = float(question.shapes.n_configs(scope)) * len(rows.weight)
    check_memory(
        24.0 * size * (1 + len(numbers) + len(numbers) ** 2),
        f"the mixture of {some(network.graph.nodes[v] for v in nodes)}, "
        f"{question.shapes.n_configs(scope):.3g} Gaussians,",
        "ask for fewer numbers at once, or give more labels",
    )
    if len(kinds) == 1 or not scope:
        return question
    return make_question(network, rows, was_set, Asked(nodes, (scope,)), soft)


def _kinds_of(question: MixedQuestion, numbers: Sequence[int]) -> list[GroupKind]:
    """The kinds of the groups that hold some numbers."""
    kinds = [kind for _, kind in kinds_in(question.units[0])]
    return [kind for kind in kinds if set(kind.missing).intersection(numbers)]


def components(
    question: MixedQuestion, parameters: Parameters, numbers: Sequence[int]
) -> Components:
    """The mixture of some numbers in every row."""
    kinds, n, d = _kinds_of(question, numbers), question.n_rows, len(numbers)
    scope = tuple(sorted({u for kind in kinds for u in kind.scope}))
    cards = [int(question.network.layout.wiring.cards[u]) for u in scope]
    size = int(np.prod(cards, dtype=np.int64))
    states = (
        dict(zip(scope, np.unravel_index(np.arange(size), cards), strict=True)) if cards else {}
    )
    weights, means = np.ones((n, size)), np.empty((n, size, d))
    covariances = np.zeros((n, size, d, d))
    log_p = log_known(question, question.with_soft(parameters))
    for found in solved(question, parameters):
        log_p[found.unit.row] += found.log_density
        for kind in kinds:
            at = np.zeros(size, np.int64)
            for u in kind.scope:
                at = at * int(question.network.layout.wiring.cards[u]) + states[u]
            number = found.unit.shapes.group_kinds[kind]
            own = group_moments(found, parameters.forms, number, with_covariances=True)
            inside = [k for k, v in enumerate(numbers) if v in kind.missing]
            local = [kind.missing.index(numbers[k]) for k in inside]
            for k, j in zip(inside, local, strict=True):
                means[own.row, :, k] = own.means[:, at, j]
                for other, i in zip(inside, local, strict=True):
                    covariances[own.row, :, k, other] = own.covariances[:, at, j, i]
            if len(kinds) == 1:
                weights[own.row] = own.shares
        if len(kinds) > 1 and scope:
            _, rows, shares = shares_of(found, GroupKind((), (), scope))
            weights[rows] = shares
    return Components(log_p, weights, means, covariances)


def label_answers(
    question: MixedQuestion, places: tuple[int, ...], sets: Sequence[Parameters]
) -> tuple[Weighing, Array]:
    """(N, states...): the joint distribution of labels, asked together; NaN in impossible rows."""
    cards = question.network.layout.wiring.cards
    scope = tuple(sorted(places))
    shape = [int(cards[u]) for u in scope]
    weighing, values = Weighing(question.n_rows), np.zeros((question.n_rows, *shape))
    for parameters in sets:
        log_p, each = log_known(question, question.with_soft(parameters)), np.zeros_like(values)
        for found in solved(question, parameters):
            log_p[found.unit.row] += found.log_density
            _, rows, shares = shares_of(found, GroupKind((), (), scope))
            each[rows] = shares.reshape(-1, *shape)
        share = weighing.add(log_p).reshape(-1, *(1,) * len(shape))
        values += share * (each - values)
    total = values.sum(tuple(range(1, values.ndim)), keepdims=True)
    with np.errstate(invalid="ignore"):
        values /= total
    values[~weighing.possible] = np.nan
    return weighing, values.transpose(0, *(1 + scope.index(u) for u in places))


# --- counts ---


class CountComponents(NamedTuple):
    """Mixtures of Poisson distributions in rows with the same gaps."""

    log_density: Array  # (N,)
    weights: Array  # (N, K)
    rates: Array  # (N, K)


def count_components(
    network: MixedNetwork,
    rows: MixedRows,
    was_set: frozenset[int],
    v: int,
    soft: Mapping[int, Array] | None = None,
) -> Iterator[CountComponents]:
    """The mixture of count v in every row, for each set of parameters."""
    layout, n = network.layout, len(rows.weight)
    above, cards = layout.label_parents[v], layout.wiring.cards
    scope = tuple(u for u in above if rows.codes[0, u] < 0)
    asked = Asked(frozenset(layout.labels[u] for u in scope), (scope,) if scope else ())
    question = make_question(network, rows, was_set, asked, soft)
    config = np.zeros((n, 1), np.int64)
    if above:
        known = np.maximum(rows.codes, 0)  # what is missing is added below
        sizes = [int(cards[u]) for u in scope]
        states = np.indices(sizes).reshape(len(scope), int(np.prod(sizes)))
        steps = np.array([layout.strides[v][u] for u in scope], np.int64)
        config = layout.configs_of(v, known)[:, None] + steps @ states
    for parameters in network.parameter_sets():
        own = parameters.numbers[v]
        assert isinstance(own, CountParameters), "this is a count"
        if scope:
            weighing, shares = label_answers(question, scope, [parameters])
            log_p, weights = weighing.log_total, np.nan_to_num(shares.reshape(n, -1))
        else:
            log_p, weights = log_density(question, parameters), np.ones((n, 1))
        yield CountComponents(log_p, weights, own.rates[config].reshape(n, -1))


def _count_answer(
    network: MixedNetwork,
    rows: MixedRows,
    was_set: frozenset[int],
    v: int,
    soft: Mapping[int, Array] | None,
    text: str,
) -> CountDistribution:
    """The distribution of a count in a single row."""
    weighing, found = Weighing(1), list(count_components(network, rows, was_set, v, soft))
    for one in found:
        weighing.add(one.log_density)
    refuse_impossible(make_question(network, rows, was_set, soft=soft), weighing)
    shares = [np.exp(one.log_density[0] - weighing.log_total[0]) * one.weights[0] for one in found]
    rates = np.concatenate([one.rates[0] for one in found])
    name = network.graph.nodes[network.layout.numbers[v]]
    return merged_counts(name, np.concatenate(shares), rates, text)


def answer(
    network: MixedNetwork,
    rows: MixedRows,
    was_set: frozenset[int],
    numbers: Sequence[int],
    soft: Mapping[int, Array] | None,
    text: str,
) -> NumberAnswer:
    """The distribution of some numbers in a single row; of a mixture too large its moments."""
    layout = network.layout
    if layout.is_count[numbers[0]]:
        return _count_answer(network, rows, was_set, numbers[0], soft, text)
    nodes = [layout.numbers[v] for v in numbers]
    names = tuple(network.graph.nodes[v] for v in nodes)
    question = make_question(network, rows, was_set, Asked(frozenset(nodes)), soft)
    scope = {u for kind in _kinds_of(question, numbers) for u in kind.scope}
    size = float(question.shapes.n_configs(tuple(scope))) * network.n_sets
    if size <= MOST_COMPONENTS:
        return pooled(number_question(network, rows, was_set, numbers, soft), names, numbers, text)
    weighing = Weighing(1)
    for parameters in network.parameter_sets():
        weighing.add(log_density(question, parameters))
    refuse_impossible(question, weighing)
    each = [number_moments(network, rows, was_set, [v], soft) for v in numbers]
    means = np.array([mean[0, 0] for mean, _, _ in each]) + network.centre[list(numbers)]
    return NumberMoments(
        names, means, np.array([covariance[0, 0, 0] for _, covariance, _ in each]), size, text
    )


def pooled(
    question: MixedQuestion, names: tuple[str, ...], numbers: Sequence[int], text: str
) -> MixtureDistribution:
    """The mixture of some numbers in a single row, over all sets of parameters."""
    network, weighing = question.network, Weighing(1)
    found = [components(question, one, numbers) for one in network.parameter_sets()]
    for one in found:
        weighing.add(one.log_density)
    refuse_impossible(question, weighing)
    shares = [np.exp(one.log_density[0] - weighing.log_total[0]) * one.weights[0] for one in found]
    means = np.concatenate([one.means[0] for one in found]) + network.centre[list(numbers)]
    covariances = np.concatenate([one.covariances[0] for one in found])
    return merged_mixture(names, np.concatenate(shares), means, covariances, text)


def number_moments(
    network: MixedNetwork,
    cells: MixedRows,
    was_set: frozenset[int],
    numbers: Sequence[int],
    soft: Mapping[int, Array] | None = None,
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Means (N, d) and covariances (N, d, d) of numbers, and which rows are possible."""
    n, d = len(cells.weight), len(numbers)
    means, covariances = np.zeros((n, d)), np.zeros((n, d, d))
    possible = np.ones(n, bool)
    missing = np.column_stack([cells.codes < 0, np.isnan(cells.values)])
    order, starts = by_pattern(missing)
    for own in np.split(order, starts[1:]) if n else ():
        rows = take_rows(cells, own)
        weighing, mean = Weighing(len(own)), np.zeros((len(own), d))
        covariance = np.zeros((len(own), d, d))
        for found in _each_components(network, rows, was_set, numbers, soft):
            here = np.einsum("nk,nkd->nd", found.weights, found.means)
            apart = found.means - here[:, None]
            within = np.einsum("nk,nkde->nde", found.weights, found.covariances)
            within += np.einsum("nk,nkd,nke->nde", found.weights, apart, apart)
            share = weighing.add(found.log_density)
            step = here - mean
            both = (share * (1.0 - share))[:, None, None] * step[:, :, None] * step[:, None, :]
            covariance += share[:, None, None] * (within - covariance) + both
            mean += share[:, None] * step
        means[own], covariances[own], possible[own] = mean, covariance, weighing.possible
    return means, covariances, possible


def _each_components(
    network: MixedNetwork,
    rows: MixedRows,
    was_set: frozenset[int],
    numbers: Sequence[int],
    soft: Mapping[int, Array] | None,
) -> Iterator[Components]:
    """The mixture of some numbers, or of one count, in every row, for each set of parameters."""
    if network.layout.is_count[numbers[0]]:
        for one in count_components(network, rows, was_set, numbers[0], soft):
            means = one.rates[:, :, None]
            yield Components(one.log_density, one.weights, means, means[..., None])
        return
    question = number_question(network, rows, was_set, numbers, soft)
    for parameters in network.parameter_sets():
        yield components(question, parameters, numbers)


def shares_of(found: SolvedUnit, kind: GroupKind) -> tuple[int, Ints, Array]:
    """The number of a kind of group, the rows that have it, and posteriors of configurations."""
    shapes = found.unit.shapes
    number = shapes.group_kinds[kind]
    _, groups = groups_of(found.unit, number)
    size = shapes.n_configs(kind.scope)
    return (
        number,
        found.unit.row[groups.row],
        found.shares[groups.table_at[:, None] + np.arange(size)],
    )
