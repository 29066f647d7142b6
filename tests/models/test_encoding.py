"""A table as units: what is known is counted once, every sub-problem is solved once."""

import numpy as np
import pytest
from models import cases
from naive import hidden as naive_hidden
from naive import learning as naive

import jensen as jn
from jensen.models.discrete_network import Complete, Incomplete
from jensen.q_hidden.trees import problems as problems_module


def test_complete_rows_are_one_unit_of_counts():
    case = cases.random_case(1)
    case = case._replace(rows=np.maximum(case.rows, 0), hidden=())
    data = case.encoded()
    assert data.units.is_complete
    assert data.hidden == ()
    assert data.touched.tolist() == []
    (unit,) = data.units.items
    assert isinstance(unit, Complete)
    assert unit.weight.tolist() == [1.0]
    counts = naive.exact(*case.facts, case.split(0.0 * data.counts), case.rows, case.row_weights)[1]
    for part, n in zip(case.split(unit.counts), counts, strict=True):
        assert part.tolist() == n.tolist()


@pytest.mark.parametrize("weights", [None, "whole", "parts"])
@pytest.mark.parametrize("unit_cost", [1, 30, 1 << 20])
def test_units_hold_every_family_of_every_row_once(weights, unit_cost, monkeypatch):
    monkeypatch.setattr(problems_module, "UNIT_COST", unit_cost)
    for seed in range(15):
        case = cases.random_case(seed, weights=weights)
        data = case.encoded()
        first, *rest = data.units.items
        assert isinstance(first, Complete)
        assert all(isinstance(unit, Incomplete) for unit in rest)
        assert data.units.total_weight == pytest.approx(sum(case.row_weights), rel=1e-14)
        known = naive.no_counts(*case.facts)
        touched, problems, weight = set(), set(), 0.0
        for row, w in zip(case.rows, case.row_weights, strict=True):
            for f, family in enumerate(case.families):
                if all(row[v] >= 0 for v in family):
                    known[f][tuple(row[v] for v in family)] += w
                else:
                    touched.add(f)
            found = naive_hidden.sub_problems(case.families, row)
            problems |= found
            weight += w * len(found)
        for part, n in zip(case.split(data.counts), known, strict=True):
            np.testing.assert_allclose(part, n, rtol=1e-14)
        assert first.counts is data.counts
        assert data.touched.tolist() == sorted(touched)
        assert sum(len(unit.weight) for unit in rest) == len(problems)
        np.testing.assert_allclose(sum(unit.weight.sum() for unit in rest), weight, rtol=1e-13)
        assert data.units.is_complete == (not touched)


def test_units_are_cut_by_their_cost_alone(monkeypatch):
    case = cases.random_case(2, n=4, n_rows=40)
    sizes = []
    for unit_cost in (1, 16, 64, 1 << 20):
        monkeypatch.setattr(problems_module, "UNIT_COST", unit_cost)
        cut = []
        for threads in (1, 2):
            jn.set_threads(threads)
            cut.append([len(unit.weight) for unit in case.encoded().units.items])
        assert cut[0] == cut[1]
        sizes.append(len(cut[0]))
    jn.set_threads(None)
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[1] > sizes[-1] == 2


def test_a_hidden_variable_is_missing_in_every_row():
    case = cases.Case(jn.DAG("h -> a"), [3, 2], np.array([[0, -1], [1, -1], [1, -1]]), hidden=(1,))
    assert case.names == ("a", "h")
    case = case._replace(cards=[2, 3])
    for data in (case.encoded(), case.encoded(empty_columns=True)):
        assert not data.units.is_complete
        assert data.touched.tolist() == [0, 1]
        assert data.counts.tolist() == [0.0] * 9
        assert data.units.items[1].weight.tolist() in ([1.0, 2.0], [2.0, 1.0])
