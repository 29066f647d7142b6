"""Expected counts of any families, against a posterior for every row."""

import numpy as np
import pytest
from inference import cases
from inference.cases import holes, read, some_columns
from naive import joint

import jensen as jn
from jensen.exceptions import ImpossibleError, JensenError

pytestmark = pytest.mark.filterwarnings("ignore:the table has no column")
"""Columns are left out here on purpose."""

TOL = {"rtol": 1e-10, "atol": 1e-13}
NETS = [(seed, kind) for kind in ("positive", "with zeros", "mixed") for seed in range(2)]


def families(net, rng):
    """Those of the graph, and others of any size and order."""
    own = [[*net.graph.parents(x), x] for x in net.states]
    names = list(net.states)
    return [*own, *(rng.permutation(names)[:k].tolist() for k in (1, 2, 2, 3, 3))]


@pytest.mark.parametrize(("seed", "kind"), NETS)
def test_counts_are_sums_of_posteriors(seed, kind):
    net = cases.random_net(seed, kind, configurations=250)
    twin, rng = joint.of(net), np.random.default_rng(seed)
    for columns, weights in [(None, None), (some_columns(net, seed), rng.random(15) * 3)]:
        table = holes(net, 15, seed, columns=columns)
        if weights is not None:
            weights[::4] = 0.0
        asked = families(net, rng)
        found = net.expected_counts(jn.Table(table, weights=weights), asked)
        rows = read(net, table)
        for family, counts in zip(asked, found, strict=True):
            expected = joint.expected_count(
                twin, rows, family, None if weights is None else list(weights)
            )
            variables = [net.network_.variables_by_name[x] for x in family]
            np.testing.assert_allclose(counts, cases.cells(variables, expected), **TOL)
            total = len(rows) if weights is None else weights.sum()
            assert counts.sum() == pytest.approx(total, rel=1e-11)


def test_complete_rows_are_counted():
    net = jn.examples.load("asia")
    table = net.sample(500, random_state=0)
    (counts,) = net.expected_counts(table, [["xray", "asia"]])
    frame = table.to_pandas()
    for i, a in enumerate(net.states["xray"]):
        for j, b in enumerate(net.states["asia"]):
            assert counts[i, j] == ((frame["xray"] == a) & (frame["asia"] == b)).sum()


def test_without_any_value_they_are_marginals():
    net = jn.examples.load("asia")
    lung, pair = net.expected_counts({"tub": [None] * 3}, [["lung"], ["xray", "smoke"]])
    np.testing.assert_allclose(lung, 3 * net.query("lung").values, **TOL)
    np.testing.assert_allclose(pair, 3 * net.query(["xray", "smoke"]).values, **TOL)
    (none,) = net.expected_counts({"lung": []}, [["lung"]])
    np.testing.assert_array_equal(none, [0.0, 0.0])
    assert net.expected_counts({"lung": ["yes"]}, []) == []


def test_impossible_rows_are_refused_even_if_the_family_is_known():
    net = jn.examples.load("sprinkler")
    row = {"cloudy": [None], "rain": ["no"], "sprinkler": ["off"], "wet_grass": ["yes"]}
    message = "row 1 is impossible in this network: rain=no, sprinkler=off, wet_grass=yes cannot"
    for family in (["cloudy"], ["rain"], ["cloudy", "wet_grass"]):
        with pytest.raises(ImpossibleError, match=message):
            net.expected_counts(row, [family])
    possible = {x: [*column, "yes" if x == "rain" else column[0]] for x, column in row.items()}
    (found,) = net.expected_counts(jn.Table(possible, weights=[0.0, 1.0]), [["cloudy"]])
    given = {"rain": "yes", "sprinkler": "off", "wet_grass": "yes"}
    np.testing.assert_allclose(found, net.query("cloudy", given).values, **TOL)


def test_refusals():
    net = jn.examples.load("asia")
    for family in ([], ["lung", "lung"]):
        with pytest.raises(JensenError, match="a family is one variable or several different ones"):
            net.expected_counts({"xray": ["yes"]}, [family])
    with pytest.raises(JensenError, match="the network has no variable 'age'"):
        net.expected_counts({"xray": ["yes"]}, [["age"]])
