"""Discretised variables: raw numbers are understood in every question, and known cells stay."""

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

import jensen as jn

AGES = [20.0, 25.0, 30.0, 35.0, 40.0, 50.0, 55.0, 60.0, 70.0] * 4
ILL = ["no", "no", "yes", "no", "yes", "no", "yes", "yes", "yes"] * 4
CUT = jn.discretize(jn.Table({"age": AGES, "ill": ILL}, continuous=["age"]), bins=3)
NET = jn.BayesianNetwork("age -> ill", prior=1.0).fit(CUT)
LOW, MIDDLE, HIGH = NET.states["age"]

QUESTIONS = {
    "query": lambda known: NET.query("ill", given=known).values,
    "query do": lambda known: NET.query("ill", do=known).values,
    "query list": lambda known: NET.query("ill", given=[known, {"age": HIGH}]).values,
    "marginals": lambda known: NET.marginals(known)["ill"].values,
    "probability": lambda known: NET.probability(known),
    "log_probability": lambda known: NET.log_probability({"ill": "yes"}, do=known),
    "most_probable": lambda known: NET.most_probable(known).log_probability,
    "entropy": lambda known: NET.entropy("ill", given=known),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("value", [40, 40.0, np.float32(40), np.int64(40), "40", "40.0"])
def test_a_number_is_its_interval(question, value):
    ask = QUESTIONS[question]
    np.testing.assert_array_equal(ask({"age": value}), ask({"age": MIDDLE}))


def test_numbers_at_cuts_and_beyond():
    first, second = NET.variables[0].cuts
    expected = {first: LOW, second: MIDDLE, -1e300: LOW, np.inf: HIGH}
    expected[np.nextafter(first, 99)] = MIDDLE
    for number, label in expected.items():
        drawn = NET.sample(1, given={"age": number}, random_state=0)
        assert drawn.to_pandas()["age"].tolist() == [label]


@pytest.mark.parametrize("value", ["old", np.nan, True, "nan"])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(
        jn.DataError, match=r"'age' has no state .*, or give a number, which lies in one of them"
    ):
        NET.query("ill", given={"age": value})


def test_variables_with_states_take_no_number():
    with pytest.raises(jn.DataError, match=r"'ill' has no state 3; its states are no, yes$"):
        NET.query("age", given={"ill": 3})


def test_answers_are_found_by_numbers():
    found = NET.query("age")
    assert found[40] == found[MIDDLE]
    assert NET.cpt("ill")[40] == NET.cpt("ill")[MIDDLE]


def test_soft_evidence_by_numbers():
    soft = {"age": {20: 0.5, 40: 1.0, 70: 0.0}}
    same = {"age": {LOW: 0.5, MIDDLE: 1.0, HIGH: 0.0}}
    np.testing.assert_array_equal(NET.query("ill", soft).values, NET.query("ill", same).values)


def test_a_file_keeps_the_cuts(tmp_path):
    NET.save(tmp_path / "net.json")
    loaded = jn.load(tmp_path / "net.json")
    assert loaded.query("ill", {"age": 40})["yes"] == NET.query("ill", {"age": 40})["yes"]


def test_averages_over_graphs_take_numbers():
    post = jn.structure_posterior(CUT, "exact")
    np.testing.assert_array_equal(
        post.query("ill", given={"age": 40}).values, post.query("ill", given={"age": MIDDLE}).values
    )


# --- impute ---

HOLES = {"age": [40.0, None, 25.5], "ill": [None, "yes", "no"]}


def best(table):
    """What is most probable of the two holes."""
    age = NET.most_probable({"ill": "yes"}).states["age"]
    return age, NET.most_probable({"age": MIDDLE}).states["ill"]


def test_pandas_keeps_numbers_as_numbers():
    frame = pandas.DataFrame(HOLES, index=["a", "a", "b"])
    filled = NET.impute(frame)
    age, ill = best(frame)
    assert filled["age"].tolist() == [40.0, age, 25.5]
    assert list(map(type, filled["age"])) == [float, str, float]
    assert filled["ill"].tolist() == [ill, "yes", "no"]
    assert filled.index.tolist() == ["a", "a", "b"]
    assert jn.Table(filled).read_as(NET.variables)[1].tolist() == [False] * 3


@pytest.mark.parametrize("make", [polars.DataFrame, pa.table])
def test_where_a_column_has_one_type_numbers_become_texts(make):
    filled = NET.impute(make(HOLES))
    age, ill = best(HOLES)
    table = pa.table(filled) if make is pa.table else filled.to_arrow()
    assert table["age"].to_pylist() == ["40", age, "25.5"]
    assert table["ill"].to_pylist() == [ill, "yes", "no"]


def test_a_table_keeps_numbers_as_labels():
    filled = NET.impute(jn.Table(HOLES, continuous=["age"]))
    age, _ = best(HOLES)
    column = filled.column("age")
    assert [column.variable.states[k] for k in column.data] == ["40", age, "25.5"]
    again, unknown = filled.read_as(NET.variables)
    assert not unknown.any()
    assert [again.variable("age").states[k] for k in again.column("age").data] == [MIDDLE, age, LOW]


@pytest.mark.parametrize("make", [pandas.DataFrame, polars.DataFrame, pa.table, jn.Table])
def test_a_column_without_gaps_stays_as_it_is(make):
    given = make({"age": [40.5, 25.5], "ill": ["no", None]})
    filled = NET.impute(given)
    if make is jn.Table:
        assert filled.column("age") is given.column("age")
    else:
        assert pa.table(filled)["age"].to_pylist() == [40.5, 25.5]
        assert pa.table(filled).schema.field("age").type == pa.float64()


def test_columns_of_intervals_stay_intervals():
    table = CUT.take(np.arange(3))
    assert NET.impute(table).variable("age") == NET.variables[0]
    mixed = jn.Table({"age": [LOW, "40", None], "ill": ["no", "yes", "yes"]})
    column = NET.impute(mixed).column("age")
    labels = [column.variable.states[k] for k in column.data]
    assert labels == [LOW, "40", best(mixed)[0]]


def test_the_command_line_and_python_agree(tmp_path, capsysbinary):
    from jensen.cli import main

    NET.save(tmp_path / "net.json")
    (tmp_path / "rows.csv").write_text("age,ill\n40,\n,yes\n25.5,no\n")
    assert main(["impute", str(tmp_path / "net.json"), str(tmp_path / "rows.csv")]) == 0
    lines = capsysbinary.readouterr().out.decode().splitlines()
    ages = NET.impute(pa.table(HOLES))["age"].to_pylist()
    assert [line.rpartition(",")[0].strip('"') for line in lines[1:]] == ages
