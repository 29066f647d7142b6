"""Rows drawn from a mixed network, and the most probable labels of one set of findings."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from jensen.data import Table
from jensen.data.encode import Column, smallest_code_type
from jensen.inference.fitted import Given
from jensen.inference.impossible import explain
from jensen.inference.mixed_completions import (
    config_of,
    put_labels,
    put_numbers,
    refuse_samples,
)
from jensen.inference.mixed_findings import (
    MixedFindings,
    question_of,
    read_mixed,
    refuse_impossible,
    unknown_nodes,
)
from jensen.inference.mixed_parameters import NumberParameters, Parameters, fill_counts
from jensen.inference.mixed_solver import (
    MixedQuestion,
    Weighing,
    filled_tables,
    group_moments,
    kinds_in,
    log_density,
    log_known,
    solved,
)
from jensen.inference.most_probable import Assignment, AssignmentSearch
from jensen.q_hidden.trees import run
from jensen.support.arguments import check_whole
from jensen.support.machine import check_many, ordered_map

if TYPE_CHECKING:
    from jensen.inference.mixed_network import MixedNetwork

Array = NDArray[np.float64]
Codes = NDArray[np.int32]
Ints = NDArray[np.int64]

DRAWN_ROWS = 1 << 13
"""Rows per random stream; fixed, so that the number of threads changes nothing."""


def sample(
    network: MixedNetwork,
    n: int,
    given: Given,
    do: Given,
    rng: np.random.Generator,
    *,
    progress: bool = False,
) -> Table:
    """Draw n rows of all variables given evidence; known variables are constant columns.

    What is below nothing known is drawn forward, all else jointly given the evidence.
    """
    findings = read_mixed(network, given, do)
    check_many(n, 24.0 * len(network.variables), "rows", "draw fewer at a time")
    question, weighing = question_of(network, findings, ()), Weighing(1)
    sets = network.parameter_sets()
    log_each = np.array([log_density(question, one)[0] for one in sets])
    for log_p in log_each:
        weighing.add(np.array([log_p]))
    refuse_impossible(question, weighing)
    weights = np.exp(log_each - log_each.max())
    first = question.rows
    codes, values = np.repeat(first.codes, n, axis=0), np.repeat(first.values, n, axis=0)
    starts = range(0, n, DRAWN_ROWS)

    def draw(task: tuple[int, np.random.Generator]) -> None:
        start, stream = task
        here = slice(start, min(start + DRAWN_ROWS, n))
        which = np.zeros(here.stop - start, np.int64)
        if len(sets) > 1:
            which = stream.choice(len(sets), len(which), p=weights / weights.sum())
        for s in np.unique(which):
            own = start + np.flatnonzero(which == s)
            own_codes, own_values = codes[own], values[own]
            _draw_jointly(question, sets[s], own_codes, own_values, stream)
            _draw_forward(network, sets[s], own_codes, own_values, stream)
            codes[own], values[own] = own_codes, own_values

    done = ordered_map(draw, list(zip(starts, rng.spawn(len(starts)), strict=True)))
    for _ in tqdm(done, "drawing", len(starts), disable=not progress, delay=1.0):
        pass
    return _table(network, codes, values + network.centre)


def _table(network: MixedNetwork, codes: Codes, values: Array) -> Table:
    columns = []
    for variable, place in zip(network.variables, network.layout.place, strict=True):
        data = np.ascontiguousarray(values[:, place]) if variable.kind != "categorical" else None
        if data is None:
            data = codes[:, place].astype(smallest_code_type(variable.n_states))
        columns.append(Column(variable, data))
    return Table.from_columns(columns)


def _draw_jointly(
    question: MixedQuestion,
    parameters: Parameters,
    codes: Codes,
    values: Array,
    stream: np.random.Generator,
) -> None:
    """Draw what the evidence depends on in all rows; the question is of one row of evidence."""
    parameters = question.with_soft(parameters)
    cards, n = question.network.layout.wiring.cards, len(codes)
    for found in solved(replace(question, soft={}), parameters):
        unit = found.unit
        log_tables = filled_tables(question, parameters, unit).log_tables
        times = np.full(len(unit.problems.set_of), n, np.int64)
        _, at, states = run.drawn_states(
            log_tables, question.shapes.program, unit.problems, times, stream
        )
        sets = list(unit.shapes.label_sets)
        for k, number in enumerate(unit.problems.set_of):
            members = list(sets[number].members)
            codes[:, members] = states[at[k] : at[k + 1]].reshape(n, len(members))
        for number, kind in kinds_in(unit):
            if kind.missing:
                own = group_moments(found, parameters.forms, number, with_covariances=True)
                roots = np.linalg.cholesky(own.covariances[0])
                config = config_of(cards, kind.scope, codes)
                normals = stream.standard_normal((n, len(kind.missing)))
                steps = np.einsum("nij,nj->ni", roots[config], normals)
                values[:, list(kind.missing)] = own.means[0, config] + steps


def _draw_forward(
    network: MixedNetwork,
    parameters: Parameters,
    codes: Codes,
    values: Array,
    stream: np.random.Generator,
) -> None:
    """Draw what is still missing, parents first."""
    layout = network.layout
    if not len(codes):
        return
    for node in reversed(layout.children_first):
        place = layout.place[node]
        if layout.cards[node]:
            if codes[0, place] < 0:
                codes[:, place] = _forward_states(network, parameters, place, codes, stream)
        elif np.isnan(values[0, place]) and node not in layout.counts:
            own, above = parameters.numbers[place], list(layout.number_parents[place])
            assert isinstance(own, NumberParameters), "it is no count"
            config = layout.configs_of(place, codes)
            mean = own.intercepts[config] + (own.slopes[config] * values[:, above]).sum(1)
            noise = np.sqrt(own.variances[config]) * stream.standard_normal(len(codes))
            values[:, place] = mean + noise
    fill_counts(layout, parameters.numbers, codes, values, stream)


def _forward_states(
    network: MixedNetwork,
    parameters: Parameters,
    u: int,
    codes: Codes,
    stream: np.random.Generator,
) -> Ints:
    """A state of label u in every row, given its parents."""
    wiring = network.layout.wiring
    at = slice(int(wiring.fam_at[u]), int(wiring.fam_at[u + 1]))
    table = np.exp(parameters.log_tables[at]).reshape(-1, int(wiring.cards[u]))
    last = table.shape[1] - 1 - (table[:, ::-1] > 0.0).argmax(1)  # a state that is possible
    parents = tuple(int(w) for w in wiring.members(u)[:-1])
    config = config_of(wiring.cards, parents, codes)
    sums = np.cumsum(table, axis=1)[config]
    chosen = (stream.random(len(codes))[:, None] * sums[:, -1:] >= sums).sum(1)
    return np.asarray(np.minimum(chosen, last[config]))


# --- the most probable assignments ---


def most_probable(network: MixedNetwork, given: Given, do: Given, k: int) -> list[Assignment]:
    """The k most probable states of all labels, numbers integrated out; fewer if no more exist.

    A number in the answer is its mean given these labels and what is known, a count the most
    probable one.
    """
    check_whole("k", k, at_least=1)
    refuse_samples(network, "assignment", ["em", "vbem"])
    findings = read_mixed(network, given, do)
    known = {*findings.labels.hard, *findings.labels.do}
    hidden = [u for u in range(len(network.layout.labels)) if u not in known]
    cards = [int(network.layout.wiring.cards[u]) for u in hidden]
    n_bytes = 1000.0 + 400.0 * len(network.variables)
    check_many(min(k, math.prod(cards)), n_bytes, "assignments (k)", "ask for fewer")
    states = _BestStates(network, findings)
    masks = {
        u: findings.labels.soft.get(u, np.ones(card)) for u, card in zip(hidden, cards, strict=True)
    }
    best = list(AssignmentSearch(masks, states.solve, allow_bans=k > 1).best(k))
    if not best:
        raise explain(network.label_network, findings.labels)
    log_evidence = 0.0
    if findings.labels.hard or findings.labels.soft or findings.numbers.given:
        question = question_of(network, findings, ())
        log_evidence = float(log_density(question, states.parameters)[0])
    return [
        Assignment(states.describe(chosen), value, min(value - log_evidence, 0.0))
        for chosen, value in best
    ]


class _BestStates:
    """The best labels of one set of findings under masks; the tables of numbers are made once."""

    def __init__(self, network: MixedNetwork, findings: MixedFindings) -> None:
        self.network, self.unknown = network, unknown_nodes(network, findings)
        plain = findings._replace(labels=findings.labels._replace(soft={}))
        self.question = question_of(network, plain, self.unknown)
        (self.parameters,) = network.parameter_sets()
        self.log_known = float(log_known(self.question, self.parameters)[0])
        self.filled = [
            filled_tables(self.question, self.parameters, unit) for unit in self.question.units
        ]

    def solve(self, masks: dict[int, Array]) -> tuple[dict[int, int], float]:
        """The best states where only these likelihoods of states are allowed, and log p."""
        masked = replace(self.question, soft=masks)
        tables = masked.with_soft(self.parameters).log_tables
        codes, total = self.question.rows.codes.copy(), self.log_known + masked.log_scale
        for unit, (log_tables, shift) in zip(self.question.units, self.filled, strict=True):
            own = np.concatenate([tables, log_tables[len(tables) :]])
            value, at, states = run.best_states(own, self.question.shapes.program, unit.problems)
            total += float(value.sum() + shift.sum())
            if total > -np.inf:
                put_labels(unit, at, states, codes)
        return {u: int(codes[0, u]) for u in masks}, total

    def describe(self, chosen: dict[int, int]) -> dict[str, str | float]:
        """Name → state, or the mean of a number given these states."""
        network = self.network
        codes, values = self.question.rows.codes.copy(), self.question.rows.values.copy()
        for u, state in chosen.items():
            codes[0, u] = state
        for unit in self.question.units:
            for number, kind in kinds_in(unit):
                if kind.missing:
                    forms = self.parameters.forms
                    put_numbers(unit, forms, number, kind, codes, values, None)
        fill_counts(network.layout, self.parameters.numbers, codes, values, None)
        found: dict[str, str | float] = {}
        for node in self.unknown:
            variable, place = network.variables[node], network.layout.place[node]
            is_label = bool(network.layout.cards[node])
            number_value = 0.0 if is_label else float(values[0, place] + network.centre[place])
            found[variable.name] = variable.states[codes[0, place]] if is_label else number_value
        return found
