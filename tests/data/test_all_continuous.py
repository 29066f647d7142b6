"""`continuous="all"`, and columns that do not hold what was said, all named at once."""

import pandas as pd
import pytest

import jensen as jn
from jensen.cli import main

ROWS = "age,kids,city,code\n31,0,Ulm,1.5\n25,1,Bonn,\n44,2,Ulm,2\n"


def test_every_column_of_numbers_is_a_measurement(tmp_path):
    (tmp_path / "rows.csv").write_text(ROWS)
    plain = jn.read_table(tmp_path / "rows.csv")
    assert plain.variable("kids").kind == "categorical"
    table = jn.read_table(tmp_path / "rows.csv", continuous="all")
    assert {v.name: v.kind for v in table.variables} == {
        "age": "continuous", "kids": "continuous", "city": "categorical", "code": "continuous",
    }  # fmt: skip
    assert table["kids"].tolist() == [0.0, 1.0, 2.0]
    assert table.n_missing() == {"code": 1}


def test_what_is_said_of_single_columns_holds(tmp_path):
    (tmp_path / "rows.csv").write_text(ROWS)
    choices = {"categorical": ["kids"], "states": {"age": ["25", "31", "44"]}}
    table = jn.read_table(tmp_path / "rows.csv", continuous="all", **choices)
    kinds = [v.kind for v in table.variables]
    assert kinds == ["categorical", "categorical", "categorical", "continuous"]


def test_truth_values_dates_and_empty_columns_are_no_numbers():
    frame = pd.DataFrame(
        {"t": [True, False], "d": pd.to_datetime(["2020-01-01", "2021-01-01"]), "e": None, "n": 1}
    )
    table = jn.Table(frame, continuous="all")
    assert [v.name for v in table.variables if v.kind == "continuous"] == ["n"]


def test_all_columns_that_do_not_hold_numbers_are_named_in_one_error():
    with pytest.raises(jn.DataError, match=r"^column 'a' cannot be .*; column 'b' cannot be cont"):
        jn.Table({"a": ["x", "y"], "b": ["u", "v"]}, continuous=["a", "b"])
    with pytest.raises(jn.DataError, match=r"^column 'a' cannot be continuous: row 1 holds 'x'"):
        jn.Table({"a": ["x", "y"], "b": ["u", "v"]}, continuous=["a"])


@pytest.mark.filterwarnings("always::jensen.DataWarning")
def test_the_command_line_leaves_out_a_column_that_counts_the_rows_or_takes_it(tmp_path, capsys):
    lines = ["id,x,y", *(f"{k},{'ab'[k % 2]},{'uv'[k // 2 % 2]}" for k in range(1, 61))]
    (tmp_path / "ids.csv").write_text("\n".join(lines))

    def learn(*more):
        return main(["learn", str(tmp_path / "ids.csv"), *more])

    assert learn() == 0
    told = capsys.readouterr()
    assert "'id' counts the rows (1, 2, 3, ...)" in told.err
    assert "keep it by --continuous id" in told.err
    assert "BayesianNetwork(2 nodes" in told.out
    assert learn("--continuous", "id") == 0
    assert learn("--continuous", "all") == 0
    assert "regression of id" in capsys.readouterr().out
