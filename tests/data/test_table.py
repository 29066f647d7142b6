"""What is in a table, and tables from tables."""

import numpy as np
import pytest
from naive import data as naive

import jensen as jn
from jensen.data import Block, as_table
from jensen.exceptions import DataError

TABLE = jn.Table(
    {"t": ["a", "b", None, "a"], "n": [1, 2, 3, None], "r": [0.5, None, 2.5, 3.5]},
    weights=[1, 2, 0, 0.5],
)


def test_a_table_knows_its_columns_and_rows():
    assert TABLE.names == ("t", "n", "r")
    assert [v.kind for v in TABLE.variables] == ["categorical", "categorical", "continuous"]
    assert len(TABLE) == TABLE.n_rows == 4
    assert "t" in TABLE
    assert "q" not in TABLE


def test_missing_values_are_counted_where_there_are_any():
    assert jn.Table({"x": [1, None, None], "y": [1, 2, 3]}).n_missing() == {"x": 2}
    assert TABLE.n_missing(["t"]) == {"t": 1}


def test_a_table_prints_what_is_in_it():
    assert repr(TABLE) == (
        "Table: 4 rows, 3 columns, 3 values missing, total weight 3.5\n"
        "  t  categorical  a, b     1 missing\n"
        "  n  categorical  1, 2, 3  1 missing\n"
        "  r  continuous            1 missing"
    )


def test_a_wide_table_prints_briefly():
    wide = jn.Table({f"c{k}": [f"{'long' * 20}{j}" for j in range(9)] for k in range(30)})
    lines = repr(wide).splitlines()
    assert len(lines) == 22
    assert lines[-1] == "  ... and 10 columns more"
    assert max(map(len, lines)) < 100


@pytest.mark.parametrize("table", [jn.Table({}), jn.Table({"x": []}), jn.Table(np.empty((2, 0)))])
def test_an_empty_table_prints_too(table):
    assert repr(table).startswith("Table: 0 rows, ")


def test_select_keeps_rows_and_weights():
    chosen = TABLE.select(["r", "t"])
    assert chosen.names == ("r", "t")
    assert naive.plain(chosen) == {name: naive.plain(TABLE)[name] for name in ("r", "t")}
    assert chosen.weights.tolist() == [1.0, 2.0, 0.0, 0.5]


@pytest.mark.parametrize("rows", [np.array([0, 3]), [0, 3], np.array([True, False, False, True])])
def test_take_keeps_variables_and_weights(rows):
    taken = TABLE.take(rows)
    assert taken.variables == TABLE.variables
    assert naive.plain(taken)["r"][1] == [0.5, 3.5]
    assert taken.weights.tolist() == [1.0, 0.5]


def test_complete_rows():
    assert naive.plain(TABLE.complete_rows())["r"][1] == [0.5]
    assert TABLE.complete_rows(["n"]).n_rows == 3
    assert TABLE.complete_rows([]).n_rows == 4


def test_as_table_leaves_a_table_alone():
    assert as_table(TABLE) is TABLE
    assert as_table({"x": [1]}).names == ("x",)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: TABLE.column("q"), "there is no column 'q'; the columns are: t, n, r"),
        (lambda: TABLE.variable("q"), "there is no column 'q'"),
        (lambda: TABLE.select(["q"]), "there is no column 'q'"),
        (lambda: TABLE.select("t"), r"names must be a list of columns, \['t'\], not 't' itself"),
        (lambda: TABLE.select(["t", "t"]), "two columns are named 't': rename one"),
        (lambda: TABLE.n_missing(["q"]), "there is no column 'q'"),
        (lambda: TABLE.n_missing("t"), "names must be a list of columns"),
        (lambda: TABLE.complete_rows("t"), "names must be a list of columns"),
        (lambda: TABLE.read_as([jn.Variable("q", "count")]), "there is no column 'q'"),
    ],
)
def test_columns_that_are_not_there(act, message):
    with pytest.raises(DataError, match=message):
        act()


def test_a_long_list_of_columns_is_shortened():
    wide = jn.Table({f"c{k}": [1] for k in range(30)})
    with pytest.raises(DataError, match=r"the columns are: c0, .*, c7, \.\.\. \(30 in all\)$"):
        wide.column("q")


def test_a_block_is_rows_of_a_table():
    assert TABLE.sum(lambda block: [(block.start, block.stop)]) == [(0, 4)]
    assert isinstance(TABLE.sum(lambda block: block), Block)
