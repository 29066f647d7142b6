"""Graphs are learned without columns that name or number the rows, unless the caller wants them."""

import numpy as np
import pytest

import jensen as jn

N = 90
RNG = np.random.default_rng(3)
A = RNG.choice(["x", "y"], N)
B = np.where(RNG.random(N) < 0.9, A, "x")
ROWS = {"a": A.tolist(), "b": B.tolist()}
NAMED = {**ROWS, "day": [f"2024-{k // 28 + 1:02d}-{k % 28 + 1:02d}" for k in range(N)]}
NAMED |= {"id": [f"A{k}" for k in range(N)], "n": list(range(N))}
U = RNG.normal(size=N)
NUMBERS = {"u": U, "v": U + RNG.normal(size=N)}

ANSWERS = {
    "hill-climb": lambda rows: (jn.learn_structure(rows), jn.learn_structure(rows).info.score),
    "k2": lambda rows: jn.learn_structure(rows, score="k2" if "a" in rows else None),
    "exact": lambda rows: jn.learn_structure(rows, "exact"),
    "ges": lambda rows: jn.learn_structure(rows, "ges"),
    "pc": lambda rows: jn.learn_structure(rows, "pc"),
    "mmhc": lambda rows: jn.learn_structure(rows, "mmhc"),
    "tree": jn.chow_liu,
    "posterior": lambda rows: jn.structure_posterior(rows, "exact").edges().to_string(),
    "k best": lambda rows: [str(graph) for graph, *_ in jn.k_best(rows, 3)],
    "bootstrap": lambda rows: jn.bootstrap_edges(rows, 5, random_state=0).edges(),
    "cross validation": lambda rows: jn.cross_validate(rows, folds=3, random_state=0).mean,
    "network": lambda rows: jn.BayesianNetwork().fit(rows).graph,
}


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("rows", [ROWS, NUMBERS], ids=["labels", "numbers"])
def test_the_answer_is_that_of_the_other_columns(name, rows):
    more = {name: values for name, values in NAMED.items() if name not in ROWS}
    expected = ANSWERS[name](rows)
    with pytest.warns(jn.DataWarning, match="They are left out of the graph"):
        found = ANSWERS[name]({**rows, **more})
    assert found == expected


def test_rows_with_holes_are_learned_without_them():
    holes = {name: [*NAMED[name][:5], None, *NAMED[name][6:]] for name in ("a", "b", "id", "day")}
    expected = jn.learn_structure({name: holes[name] for name in ROWS}, random_state=0)
    with pytest.warns(jn.DataWarning, match="They are left out of the graph"):
        found = jn.learn_structure(holes, random_state=0)
    assert found == expected
    assert found.info.score == expected.info.score


def test_the_augmented_tree_and_the_classifier():
    labels = {name: NAMED[name] for name in ("a", "b", "id")}
    with pytest.warns(jn.DataWarning, match="left out of the graph"):
        assert jn.tan(labels, "a") == jn.DAG("a -> b")
    frame = np.column_stack([NAMED["b"], NAMED["id"]]).astype(object)
    for structure in ("learned", "tan"):
        with pytest.warns(jn.DataWarning, match="left out of the graph"):
            model = jn.BayesianNetworkClassifier(structure=structure).fit(frame, NAMED["a"])
        assert len(model.graph_.nodes) == 2


@pytest.mark.parametrize(
    "choices",
    [
        {"required": [("a", "id")]},
        {"required": iter([("a", "id")])},
        {"forbidden": "id -> a"},
        {"tiers": [["a", "b"], ["id"]]},
        {"start": jn.DAG("a -> id")},
        {"prior": {("a", "id"): 0.9}},
    ],
    ids=["required", "required once", "forbidden", "tiers", "start", "prior"],
)
def test_a_column_that_a_choice_names_stays(choices):
    with pytest.warns(jn.DataWarning, match=r"Leave it out, table\.select"):
        assert "id" in jn.learn_structure({**ROWS, "id": NAMED["id"]}, **choices)


def test_a_column_whose_kind_the_caller_declares_stays():
    table = jn.Table({**ROWS, "id": NAMED["id"], "n": NAMED["n"]}, categorical=["id", "n"])
    assert set(jn.learn_structure(table).nodes) == {"a", "b", "id", "n"}


def test_it_is_told_once_and_left_out_every_time():
    table = jn.Table(NAMED)
    with pytest.warns(jn.DataWarning, match="left out"):
        first = jn.learn_structure(table)
    assert jn.learn_structure(table) == first
    assert jn.learn_structure(table.take(np.arange(60))).nodes == ("a", "b")
    with pytest.warns(jn.DataWarning, match="Leave it out, table"):  # here it is not left out
        jn.LatentClass(2, random_state=0).fit(table)


def test_after_another_learner_told_of_it_a_graph_tells_that_it_is_left_out():
    table = jn.Table(NAMED)
    with pytest.warns(jn.DataWarning, match="Leave it out, table"):
        jn.LatentClass(2, random_state=0).fit(table)
    with pytest.warns(jn.DataWarning, match="left out of the graph"):
        assert jn.learn_structure(table).nodes == ("a", "b")


def test_nothing_else_is_refused():
    with (
        pytest.warns(jn.DataWarning, match="left out"),
        pytest.raises(jn.DataError, match="the table has no columns to learn a graph of"),
    ):
        jn.learn_structure({"id": NAMED["id"]})


def test_a_scan_is_learned_without_them(tmp_path):
    path = tmp_path / "rows.csv"
    jn.Table(NAMED).write(path)
    with pytest.warns(jn.DataWarning, match="left out"):
        assert jn.learn_structure(jn.scan_table(path)).nodes == ("a", "b")
