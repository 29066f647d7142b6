"""Predictions and likelihoods of whole tables, with values missing anywhere."""

import math

import numpy as np
import pytest
from inference import cases
from inference.cases import holes, read, some_columns
from naive import joint

import jensen as jn
from jensen.exceptions import DataError, ImpossibleError, JensenError

pytestmark = pytest.mark.filterwarnings("ignore:the table has no column")
"""Columns are left out here on purpose."""

RTOL = 1e-11
NETS = [(seed, kind) for kind in ("positive", "with zeros", "mixed") for seed in range(2)]


@pytest.fixture(autouse=True)
def _usual_threads():
    yield
    jn.set_threads(None)


# --- likelihoods ---


@pytest.mark.parametrize(("seed", "kind"), NETS)
def test_what_is_missing_is_summed_out(seed, kind):
    net = cases.random_net(seed, kind, configurations=300)
    twin = joint.exact(joint.of(net))
    for columns in (None, some_columns(net, seed)):
        table = holes(net, 40, seed, columns=columns)
        expected = [joint.log(joint.evidence(twin, row)) for row in read(net, table)]
        found = net.log_likelihood(table)
        np.testing.assert_allclose(found, expected, rtol=RTOL, atol=1e-11)
        assert net.score(table) == pytest.approx(np.mean(expected), rel=RTOL)


def test_every_pattern_of_one_row():
    net = jn.examples.load("sprinkler")
    twin, row = (
        joint.of(net),
        {"cloudy": "yes", "rain": "no", "sprinkler": "on", "wet_grass": "yes"},
    )
    patterns = [[(k >> i) & 1 for i in range(4)] for k in range(16)]
    table = {x: [row[x] if p[i] else None for p in patterns] for i, x in enumerate(row)}
    expected = [joint.evidence(twin, known) for known in read(net, table)]
    np.testing.assert_allclose(np.exp(net.log_likelihood(table)), expected, rtol=RTOL)


def test_rows_of_nothing_are_certain():
    net = jn.examples.load("asia")
    np.testing.assert_allclose(net.log_likelihood({"tub": [None, None]}), 0.0, atol=1e-15)
    weighted = jn.Table({"tub": [None, None]}, weights=[1.0, 2.0])
    assert net.score(weighted) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.filterwarnings("ignore:labels that this model does not know")
def test_impossible_and_unknown_rows_have_minus_infinity():
    net = jn.examples.load("sprinkler")
    table = {
        "rain": ["no", None, "no", "hail"],
        "sprinkler": ["off", "off", "off", None],
        "wet_grass": ["yes", "yes", None, None],
    }
    found = net.log_likelihood(table)
    expected = [joint.evidence(joint.of(net), row) for row in read(net, table)[:3]]
    np.testing.assert_allclose(np.exp(found[:3]), expected, rtol=RTOL)
    assert found[0] == found[3] == net.score(table) == -math.inf
    weighted = jn.Table(table, weights=[0.0, 1.0, 3.0, 0.0])
    expected = (found[1] + 3 * found[2]) / 4
    assert net.score(weighted) == pytest.approx(expected, rel=1e-14)


def test_threads_change_nothing():
    net, found = jn.examples.load("alarm"), []
    table = holes(net, 2_000, 0, share=0.2)
    for threads in (1, 2):
        jn.set_threads(threads)
        found.append((net.log_likelihood(table), net.predict_proba(table, "HR")))
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


# --- predictions ---


@pytest.mark.parametrize(("seed", "kind"), NETS)
def test_posteriors_of_a_target(seed, kind):
    """Its own column, if there is one, is not looked at."""
    net = cases.random_net(seed, kind, configurations=300)
    twin, target = joint.exact(joint.of(net)), net.graph.nodes[seed]
    variables = [net.variables[seed]]
    for columns in (None, some_columns(net, seed), [x for x in net.states if x != target]):
        table = holes(net, 25, seed, columns=columns)
        rows = [{x: s for x, s in row.items() if x != target} for row in read(net, table)]
        found = net.predict_proba(table, target)
        expected = [cases.cells(variables, joint.posterior(twin, [target], row)) for row in rows]
        np.testing.assert_allclose(found, expected, rtol=RTOL, atol=1e-290)
        np.testing.assert_allclose(found.sum(1), 1.0, rtol=1e-14)
        labels = net.predict(table, target)
        best = found.max(1)
        chosen = found[np.arange(len(found)), [net.states[target].index(s) for s in labels]]
        np.testing.assert_array_equal(chosen, best)


@pytest.mark.parametrize(("seed", "kind"), NETS)
def test_posteriors_of_every_cell(seed, kind):
    """Of absent columns too, even of those that say nothing about the others."""
    net = cases.random_net(seed, kind, configurations=300)
    twin = joint.exact(joint.of(net))
    for columns in (None, some_columns(net, seed), list(net.graph.nodes[:1])):
        table = holes(net, 12, seed, columns=columns)
        found = net.predict_proba(table)
        assert list(found) == list(net.graph.nodes)
        for v in net.variables:
            expected = [
                cases.cells([v], joint.posterior(twin, [v.name], row)) for row in read(net, table)
            ]
            np.testing.assert_allclose(found[v.name], expected, rtol=RTOL, atol=1e-290)


def test_a_target_without_a_column_and_tables_without_any_value():
    net = jn.examples.load("asia")
    prior = net.query("lung").values
    for table in ({"lung": ["yes", "no"]}, {"tub": [None, None]}):
        np.testing.assert_allclose(net.predict_proba(table, "lung"), [prior, prior], rtol=RTOL)
        assert net.predict(table, "lung").tolist() == ["no", "no"]
    every = net.predict_proba({"tub": [None, None]})
    np.testing.assert_allclose(every["lung"], [prior, prior], rtol=RTOL)
    assert net.predict_proba({"tub": []}, "lung").shape == (0, 2)
    assert net.predict({"tub": []}, "lung").shape == (0,)


def test_what_the_target_column_holds_does_not_matter():
    net = jn.examples.load("asia")
    table = holes(net, 10, 0)
    del table["lung"]
    plain = net.predict_proba(table, "lung")
    for column in (["yes"] * 10, ["maybe"] * 10, [None] * 10, np.linspace(0, 1, 10)):
        np.testing.assert_array_equal(net.predict_proba({**table, "lung": column}, "lung"), plain)


def test_extra_columns_and_the_order_of_columns_do_not_matter():
    net = jn.examples.load("asia")
    table = holes(net, 30, 1)
    other = {"note": ["x"] * 30, **dict(reversed(table.items())), "size": np.arange(30) / 7}
    np.testing.assert_array_equal(
        net.predict_proba(table, "bronc"), net.predict_proba(other, "bronc")
    )
    np.testing.assert_array_equal(net.log_likelihood(table), net.log_likelihood(other))


def test_unknown_labels():
    net = jn.examples.load("asia")
    table = {"xray": ["yes", "dark", "no", "dark"], "smoke": ["yes", "no", None, "no"]}
    message = r"does not know stand in 2 rows \(2, 4\), the first one is 'dark' in column 'xray': "
    for ask in (net.predict, net.predict_proba):
        with pytest.raises(DataError, match=message):
            ask(table, "lung")
    with pytest.raises(DataError, match=message):
        net.predict_proba(table)
    with pytest.raises(DataError, match=message):
        net.expected_counts(table, [["lung"]])
    found = net.predict_proba(table, "lung", unknown="missing")
    expected = net.query("lung", {"smoke": "no"}).values
    np.testing.assert_allclose(found[[1, 3]], [expected, expected], rtol=RTOL)
    with pytest.raises(JensenError, match="unknown must be 'raise' or 'missing', not 'drop'"):
        net.predict(table, "lung", unknown="drop")


def test_impossible_rows():
    net = jn.examples.load("sprinkler")
    table = {
        "rain": ["no", "no", "yes", "no"],
        "sprinkler": ["off", "on", "off", "off"],
        "wet_grass": ["yes", "yes", "yes", "yes"],
    }
    message = (
        r"2 rows cannot occur \(1, 4\); row 1 is impossible in this network \(and 1 other "
        r"row\): rain=no, sprinkler=off, wet_grass=yes cannot occur together\. .*, or pass "
        r"impossible='nan'"
    )
    for target in ("cloudy", None):
        with pytest.raises(ImpossibleError, match=message):
            net.predict_proba(table, target)
    found = net.predict_proba(table, "cloudy", impossible="nan")
    assert np.isnan(found[[0, 3]]).all()
    expected = [net.query("cloudy", row).values for row in read(net, table)[1:3]]
    np.testing.assert_allclose(found[1:3], expected, rtol=RTOL)
    labels = net.predict(table, "cloudy", impossible="nan")
    assert labels.tolist() == ["", *(("no", "yes")[int(p.argmax())] for p in expected), ""]
    every = net.predict_proba(table, impossible="nan")
    assert all(np.isnan(values[[0, 3]]).all() for values in every.values())
    assert all(np.isfinite(values[1:3]).all() for values in every.values())
    with pytest.raises(JensenError, match="impossible must be 'raise' or 'nan', not 'skip'"):
        net.predict(table, "cloudy", impossible="skip")


def test_a_row_that_is_impossible_only_with_the_target_is_predicted():
    net = jn.examples.load("sprinkler")
    table = {"rain": ["no"], "sprinkler": ["off"], "wet_grass": ["yes"]}
    found = net.predict_proba(table, "rain")
    np.testing.assert_allclose(found, [[0.0, 1.0]], atol=1e-15)


def test_an_unknown_target_is_refused():
    net = jn.examples.load("asia")
    for ask in (net.predict, net.predict_proba):
        with pytest.raises(JensenError, match="the network has no variable 'age'"):
            ask({"xray": ["yes"]}, "age")


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "table"])
def test_any_kind_of_table_is_read(kind):
    net = jn.examples.load("asia")
    columns = holes(net, 20, 2)
    table = jn.Table(columns)
    if kind != "table":
        table = {"pandas": table.to_pandas, "polars": table.to_polars, "pyarrow": table.to_arrow}[
            kind
        ]()
    np.testing.assert_array_equal(net.predict(table, "tub"), net.predict(columns, "tub"))
