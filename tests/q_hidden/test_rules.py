"""Rules for q(h) against every completion of every row."""

import numpy as np
import pytest
from models import cases
from naive import learning as naive
from scipy import stats

from jensen import q_hidden
from jensen.models.discrete_network import Tables
from jensen.q_hidden import NothingHidden
from jensen.q_hidden.trees import problems

KINDS = ["positive", "with zeros", "below one"]
every_kind = pytest.mark.parametrize("kind", KINDS)


def log_tables(rng, case, kind):
    """Logs of tables; those of variational Bayes do not sum to one."""
    p = cases.random_probabilities(rng, case, zeros=kind == "with zeros")
    if kind == "below one":
        p = p * rng.uniform(0.2, 1.0, p.shape)
    with np.errstate(divide="ignore"):
        return np.log(p)


def total(case, data, rule, logs, rng=None):
    """Σ weight · value, and the statistics of all units together."""
    model, value, counts = case.model(None), 0.0, 0.0
    for unit in data.units.items:
        hidden = rule(model.potentials(Tables(logs))(unit), None, rng)
        value += hidden.value.sum()
        counts = counts + model.expected_stats(unit, hidden).tables
    return value, counts


def possible(case, logs):
    """The case without the rows that have probability 0."""
    tables = case.split(logs)
    fine = [
        max(
            naive.log_product(case.families, tables, full)
            for full in naive.completions(row, case.cards)
        )
        > -np.inf
        for row in case.rows
    ]
    weights = None if case.weights is None else case.weights[fine]
    return case._replace(rows=case.rows[fine], weights=weights)


@every_kind
@pytest.mark.parametrize("weights", [None, "whole", "parts"])
@pytest.mark.parametrize("rule", ["exact", "mode"])
@pytest.mark.parametrize("unit_cost", [1 << 20, 1])
def test_value_and_counts_are_those_of_all_completions(kind, weights, rule, unit_cost, monkeypatch):
    monkeypatch.setattr(problems, "UNIT_COST", unit_cost)
    for seed in range(8):
        case = cases.random_case(seed, weights=weights)
        logs = log_tables(np.random.default_rng(seed), case, kind)
        case = possible(case, logs)
        if not len(case.rows):
            continue
        expected, counts = getattr(naive, rule)(
            *case.facts, case.split(logs), case.rows, case.row_weights
        )
        found = total(case, case.encoded(), getattr(q_hidden, rule), logs)
        np.testing.assert_allclose(found[0], expected, rtol=1e-12, atol=1e-13)
        for part, n in zip(case.split(found[1]), counts, strict=True):
            np.testing.assert_allclose(part, n, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("rule", ["exact", "mode", "draw"])
def test_a_hidden_variable_needs_no_column(rule):
    for seed in range(12):
        case = cases.random_case(seed)
        logs = log_tables(np.random.default_rng(seed), case, "positive")
        one, other = (
            total(case, case.encoded(empty_columns=e), getattr(q_hidden, rule), logs, rng)
            for e, rng in ((False, np.random.default_rng(1)), (True, np.random.default_rng(1)))
        )
        assert one[0] == other[0]
        np.testing.assert_array_equal(one[1], other[1])


@pytest.mark.parametrize("rule", ["exact", "mode", "draw"])
def test_a_row_without_completions_has_value_minus_infinity(rule):
    case = cases.Case(cases.jn.DAG("a -> b"), [2, 2], np.array([[-1, 1], [-1, 0]]), hidden=(0,))
    with np.errstate(divide="ignore"):
        logs = np.log([0.5, 0.5, 1.0, 0.0, 1.0, 0.0])
    found, _ = total(case, case.encoded(), getattr(q_hidden, rule), logs, np.random.default_rng(0))
    assert found == -np.inf


# --- draws ---


@every_kind
@pytest.mark.parametrize("weights", [None, "whole"])
def test_a_draw_is_a_completion_and_its_value_the_log_of_its_product(kind, weights):
    for seed in range(8):
        case = cases.random_case(seed, weights=weights)
        rng = np.random.default_rng(seed)
        logs = log_tables(rng, case, kind)
        case = possible(case, logs)
        if not len(case.rows):
            continue
        value, counts = total(case, case.encoded(), q_hidden.draw, logs, rng)
        seen = counts > 0
        np.testing.assert_allclose(value, counts[seen] @ logs[seen], rtol=1e-12, atol=1e-13)
        np.testing.assert_array_equal(counts, np.round(counts))
        for table in case.split(counts):
            assert table.sum() == sum(case.row_weights)
        for v, family in enumerate(case.families):  # what was seen is counted at least
            own = case.split(counts)[v].sum(tuple(range(len(family) - 1)))
            for state in range(case.cards[v]):
                here = case.rows[:, v] == state
                assert own[state] >= sum(np.array(case.row_weights)[here])


def test_draws_have_the_posterior_of_every_completion():
    """3000 draws of one row without values; χ² for every family (p < 1e-4)."""
    rng = np.random.default_rng(0)
    case = cases.random_case(7, n=4, states=(2, 2))
    case = case._replace(rows=np.full((1, 4), -1), weights=np.array([3000.0]), hidden=())
    logs = log_tables(rng, case, "positive")
    fulls = naive.completions(case.rows[0], case.cards)
    values = [naive.log_product(case.families, case.split(logs), full) for full in fulls]
    p = np.exp(values - np.logaddexp.reduce(values))
    _, counts = total(case, case.encoded(), q_hidden.draw, logs, rng)
    for family, table in zip(case.families, case.split(counts), strict=True):
        expected = np.zeros(table.shape)
        for full, share in zip(fulls, p, strict=True):
            expected[tuple(full[v] for v in family)] += 3000.0 * share
        if table.size > 1:
            assert stats.chisquare(table.ravel(), expected.ravel()).pvalue > 1e-4


def test_draws_of_weighted_rows_average_to_the_expected_counts():
    """400 draws; z < 5 for each of the cells (p < 1e-4 for all of them together)."""
    case = cases.random_case(3, weights="whole")
    rng = np.random.default_rng(0)
    logs = log_tables(rng, case, "positive")
    data = case.encoded()
    draws = np.array([total(case, data, q_hidden.draw, logs, rng)[1] for _ in range(400)])
    expected = total(case, data, q_hidden.exact, logs)[1]
    error = np.maximum(draws.std(0), 1e-9) / np.sqrt(len(draws))
    assert np.max(np.abs(draws.mean(0) - expected) / error) < 5.0
    assert draws.std(0).max() > 0.5


# --- nothing hidden, and shapes that no rule knows ---


@pytest.mark.parametrize("rule", ["exact", "mode", "draw"])
def test_where_nothing_is_hidden_all_rules_agree(rule):
    with np.errstate(divide="ignore"):
        potentials = NothingHidden(np.log([0.25, 0.75, 0.0, 1.0]), np.array([2.0, 0.5, 0.0, 3.0]))
    hidden = getattr(q_hidden, rule)(potentials, None, np.random.default_rng(0))
    np.testing.assert_allclose(hidden.value, [2 * np.log(0.25) + 0.5 * np.log(0.75)], rtol=1e-15)
    assert hidden.moments is potentials.counts
    assert hidden.memory is None


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("exact", "there is no exact q(h) for str"),
        ("mode", "there is no mode of q(h) for str"),
        ("draw", "there is no sampler of q(h) for str"),
    ],
)
def test_shapes_that_a_rule_does_not_know(rule, text):
    with pytest.raises(TypeError) as error:
        getattr(q_hidden, rule)("potentials", None, None)
    assert str(error.value) == text


def test_only_a_draw_is_no_bound():
    rules = {name: getattr(q_hidden, name) for name in ("exact", "mode", "draw")}
    assert {name: rule.is_bound for name, rule in rules.items()} == {
        "exact": True, "mode": True, "draw": False
    }  # fmt: skip
    assert [name for name, rule in rules.items() if rule.is_random] == ["draw"]
