"""A fitted network reads a new table with its own variables, and never infers again."""

import math

import numpy as np
import pytest

import jensen as jn
from jensen.data.variable import Variable
from jensen.inference.network import assemble


@pytest.fixture
def net():
    return jn.BayesianNetwork("a -> b", prior=1.0).fit(
        {"a": [0, 0, 1, 1, 2], "b": [True, False, True, True, True]}
    )


@pytest.mark.parametrize(
    "a",
    [
        [2, 0],
        ["2", "0"],
        [2.0, 0.0],
        ["2.0", "0.0"],
        [np.int8(2), np.int8(0)],
        np.array([2.0, 0.0], np.float32),
        ["2", 0],
    ],
)
def test_labels_match_by_text(net, a):
    expected = np.log([net.cpt("a")[()]["2"], net.cpt("a")[()]["0"]])
    expected += np.log([net.cpt("b")["2"]["True"], net.cpt("b")["0"]["False"]])
    for b in ([True, False], ["True", "False"]):
        np.testing.assert_allclose(net.log_likelihood({"a": a, "b": b}), expected, rtol=1e-14)


def test_a_new_table_may_know_fewer_states_or_others(net):
    assert np.isfinite(net.log_likelihood({"a": [1], "b": [True]})).all()
    with pytest.warns(jn.DataWarning) as met:
        found = net.log_likelihood({"b": ["True", "true", "1"], "a": [2, 2, 3]})
    assert [str(w.message) for w in met] == [
        "labels that this model does not know stand in 2 rows (2, 3), the first one is 'true' in "
        "column 'b': the log-likelihood there is -inf. Correct them, make them missing, or learn "
        "with them among the states"
    ]
    assert np.isfinite(found[0])
    assert found[1:].tolist() == [-math.inf, -math.inf]


def test_many_whole_numbers_are_still_the_networks_states(net):
    """Forty distinct numbers would be counts in a fresh table."""
    with pytest.warns(jn.DataWarning, match="in 37 rows .* the first one is '3' in column 'a'"):
        found = net.log_likelihood({"a": np.arange(40), "b": ["True"] * 40})
    assert np.isfinite(found[:3]).all()
    assert (found[3:] == -math.inf).all()


def test_fractions_are_unknown_states(net):
    with pytest.warns(jn.DataWarning, match="the first one is '0.5' in column 'a'"):
        found = net.log_likelihood({"a": [0.0, 0.5, 1.0], "b": ["True"] * 3})
    assert (found == -math.inf).tolist() == [False, True, False]


def test_text_files_and_parquet_agree(net, tmp_path):
    table = net.sample(100, random_state=0)
    expected = net.log_likelihood(table)
    for name in ("rows.csv", "rows.tsv", "rows.csv.gz", "rows.parquet"):
        table.write(tmp_path / name)
        np.testing.assert_array_equal(net.log_likelihood(tmp_path / name), expected)
    np.testing.assert_array_equal(net.log_likelihood(table.to_pandas()), expected)
    np.testing.assert_array_equal(net.log_likelihood(table.to_polars()), expected)


def test_the_states_of_an_ordered_column_are_the_networks_own(net):
    frame = net.sample(20, random_state=0).to_pandas()
    reordered = frame.assign(a=frame["a"].cat.reorder_categories(["2", "0", "1"]))
    np.testing.assert_array_equal(net.log_likelihood(reordered), net.log_likelihood(frame))


# --- discretised variables ---


@pytest.fixture
def cut_net():
    variables = {
        "height": Variable("height", "categorical", ("low", "mid", "high"), (1.5, 3.0)),
        "sex": Variable("sex", "categorical", ("f", "m")),
    }
    tables = {"height": [0.2, 0.3, 0.5], "sex": [[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]]}
    return jn.BayesianNetwork.from_network(
        assemble(jn.DAG("height -> sex"), variables, {x: np.array(t) for x, t in tables.items()})
    )


@pytest.mark.parametrize(
    ("heights", "p"),
    [
        ([1.5, 1.6, 3.0, 3.1, -7.5, math.inf], [0.1, 0.075, 0.075, 0.5, 0.1, 0.5]),
        ([1, 2, 3, 4, 99, 0], [0.1, 0.075, 0.075, 0.5, 0.5, 0.1]),
        (["1", "2.5", "3.5", "low", "mid", "high"], [0.1, 0.075, 0.5, 0.1, 0.075, 0.5]),
        (range(30), [0.1] * 2 + [0.075] * 2 + [0.5] * 26),
    ],
)
def test_raw_numbers_fall_between_the_cuts(cut_net, heights, p, tmp_path):
    cut_net.save(tmp_path / "net.json")
    for net in (cut_net, jn.load(tmp_path / "net.json")):
        found = net.log_likelihood({"height": heights, "sex": ["f"] * len(heights)})
        np.testing.assert_allclose(np.exp(found), p, rtol=1e-14)


def test_a_discretised_table_teaches_a_network_that_reads_raw_numbers(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    raw = jn.Table({"x": x, "y": np.where(x + rng.normal(size=500) > 0, "yes", "no")})
    table = jn.discretize(raw, bins=4)
    net = jn.BayesianNetwork("x -> y", prior="bdeu").fit(table)
    net.save(tmp_path / "net.json")
    again = jn.load(tmp_path / "net.json")
    assert again.variables[0].cuts == table.variable("x").cuts
    np.testing.assert_array_equal(again.log_likelihood(raw), net.log_likelihood(table))
    assert again.score(raw.to_pandas()) == net.score(table)
    raw.write(tmp_path / "raw.csv")
    assert again.score(tmp_path / "raw.csv") == net.score(table)
    np.testing.assert_array_equal(again.log_likelihood(again.sample(9, random_state=0)) > -9, True)
