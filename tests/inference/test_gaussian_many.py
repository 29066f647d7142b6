"""Questions to Gaussian networks for many rows, against the same asked one by one."""

import numpy as np
import pytest

import jensen as jn

ROWS = [{"d": 1.0}, {}, {"a": 0.5, "d": -2.0}, {"d": 0.5}, {"c": 1.0}]


@pytest.fixture
def net():
    parts = {
        "a": {"intercept": 1.0, "variance": 2.0},
        "b": {"intercept": -0.5, "coefficients": {"a": 1.5}, "variance": 0.7},
        "c": {"intercept": 0.3, "variance": 1.1},
        "d": {"intercept": 2.0, "coefficients": {"b": -1.0, "c": 0.5}, "variance": 0.4},
    }
    return jn.BayesianNetwork.from_regressions("a -> b -> d <- c", parts)


def as_table(rows):
    names = ("a", "c", "d")
    columns = {x: np.array([row.get(x, np.nan) for row in rows]) for x in names}
    return jn.Table(columns, continuous=names)


@pytest.mark.parametrize("targets", ["b", ["b"], ["c", "b"]])
@pytest.mark.parametrize("form", [list, tuple, as_table, lambda r: as_table(r).to_pandas()])
def test_every_row_is_answered_as_it_would_be_alone(net, targets, form):
    rows = [{x: v for x, v in row.items() if x not in targets} for row in ROWS]
    found = net.query(targets, form(rows))
    assert len(found) == len(rows)
    for k, (row, one) in enumerate(zip(rows, found, strict=True)):
        alone = net.query(targets, row)
        assert one.names == alone.names
        assert one.evidence == f"row {k}"
        np.testing.assert_allclose(one.means, alone.means, rtol=1e-12)
        np.testing.assert_allclose(one.covariance, alone.covariance, rtol=1e-12, atol=1e-12)
        for what in ("mean", "variance", "standard_deviation"):
            np.testing.assert_allclose(getattr(found, what)[k], getattr(alone, what), rtol=1e-12)
        for bounds, bound in zip(found.interval(0.8), alone.interval(0.8), strict=True):
            np.testing.assert_allclose(bounds[k], bound, rtol=1e-12)


def test_what_is_set_is_set_in_every_row(net):
    found = net.query("b", [{"d": 1.0}, {}], do={"c": 2.0})
    alone = [net.query("b", row, {"c": 2.0}) for row in ({"d": 1.0}, {})]
    np.testing.assert_allclose(found.mean, [x.mean for x in alone], rtol=1e-12)
    np.testing.assert_allclose(found.variance, [x.variance for x in alone], rtol=1e-12)


@pytest.mark.filterwarnings("ignore:the table has no column")
def test_columns_of_targets_are_not_looked_at(net):
    table = as_table(ROWS)
    np.testing.assert_array_equal(net.query("d", table).mean, net.predict(table, "d"))


def test_no_rows(net):
    found = net.query(["a", "b"], [])
    assert (len(found), found.means.shape, found.covariances.shape) == (0, (0, 2), (0, 2, 2))
    assert str(found).startswith("p(a, b) for 0 rows of evidence")


def test_they_print_as_a_table_and_go_to_pandas(net):
    found = net.query(["a", "b"], [{}] * 7)
    head, names, _, first, *_, last = str(found).splitlines()
    assert head == "p(a, b) for 7 rows of evidence"
    assert names == "row  a: mean  a: standard deviation  b: mean  b: standard deviation"
    assert first.split() == ["0", "1", "1.414", "1", "2.28"]
    assert last == "... and 2 rows more"
    frame = found.to_pandas()
    np.testing.assert_array_equal(frame["b", "mean"], found.means[:, 1])
    np.testing.assert_array_equal(frame["a", "standard deviation"], found.standard_deviation[:, 0])


def test_rows_are_found_by_number(net):
    found = net.query("b", ROWS)
    assert found[-1].evidence == "row 4"
    with pytest.raises(IndexError, match="there is no row 5: there are 5 rows of evidence"):
        found[5]


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda n: n.query("a", [1.0]), "a list of evidence holds a dict for every row"),
        (lambda n: n.query("a", [{}, {"b": "high"}]), r"row 2: given=\{'b': 'high'\}: 'b' takes a"),
        (lambda n: n.query("a", [{}, {"a": 1.0}]), "row 2: 'a' is asked for, but stands in given"),
        (lambda n: n.query("a", [{}], {"a": 1.0}), "'a' is asked for, but stands in do: leave it"),
        (lambda n: n.query("a", [{}, {"b": 1}], {"b": 1}), "row 2: 'b' stands in given and in do"),
        (lambda n: n.query("a", [{}], interval=0.9), r"a Gaussian network has .interval\(level\)"),
        (lambda n: n.query([], [{}]), "ask for one variable at least"),
    ],
)
def test_refusals(net, ask, text):
    with pytest.raises(jn.JensenError, match=text):
        ask(net)
