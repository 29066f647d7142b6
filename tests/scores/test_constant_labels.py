"""Labels that never vary, and tables of one row: learners say that little can be learned there."""

import numpy as np
import pytest

import jensen as jn

RNG = np.random.default_rng(0)
N = 60
VARIES = {name: RNG.choice(["x", "y"], N).tolist() for name in "ab"}
STILL = {**VARIES, "c": ["u"] * N, "d": ["v"] * (N - 1) + [None]}
ONE_ROW = (
    "there is one row to learn from, which says nothing of how columns vary or depend on each "
    "other: what is learned is that row, or the prior. Give more rows"
)
LEAVE_OUT = "table.select([x for x in table.names if x not in ['c']]) of a jn.Table"

GRAPHS = {
    "hill-climb": jn.learn_structure,
    "exact": lambda table: jn.learn_structure(table, "exact"),
    "ges": lambda table: jn.learn_structure(table, "ges"),
    "pc": lambda table: jn.learn_structure(table, "pc"),
    "mmhc": lambda table: jn.learn_structure(table, "mmhc"),
    "tree": jn.chow_liu,
    "tan": lambda table: jn.tan(table, "a"),
    "posterior": lambda table: jn.structure_posterior(table, "exact"),
    "bootstrap": lambda table: jn.bootstrap_edges(table, 5, random_state=0),
    "cross validation": lambda table: jn.cross_validate(table, folds=3, random_state=0),
    "k best": lambda table: jn.k_best(table, 2),
}


def told(learn, table):
    with pytest.warns(jn.DataWarning) as met:
        learn(table)
    return [str(w.message) for w in met if issubclass(w.category, jn.DataWarning)]


@pytest.mark.parametrize("name", GRAPHS)
def test_every_learner_of_graphs_tells_of_constant_labels_once(name):
    table = jn.Table({x: STILL[x] for x in "abc"})
    assert told(GRAPHS[name], table) == [
        f"column 'c' ('u') holds one label only, so the data say nothing of edges there, and what "
        f"is said of them rests on the prior. Leave it out, {LEAVE_OUT}"
    ]
    GRAPHS[name](table)  # not again
    jn.BayesianNetwork(jn.learn_structure(table)).fit(table)


def test_all_are_named_in_one_warning():
    (text,) = told(lambda t: jn.learn_structure(t, score="bic", missing="available-case"), STILL)
    assert text.startswith("columns 'c' ('u'), 'd' ('v') hold one label only each, so the data")
    assert "Leave them out, table.select([x for x in table.names if x not in ['c', 'd']])" in text


def test_states_that_never_occur_tell_nothing_of_edges_but_of_probabilities():
    rows = {**VARIES, "c": ["u"] * N}
    states = {"c": ["u", "w"]}
    (text,) = told(jn.learn_structure, jn.Table(rows, states=states))
    assert text.startswith("column 'c' ('u') holds one label only")
    net = jn.BayesianNetwork("a -> c", prior="bdeu").fit(jn.Table(rows, states=states))
    assert 0.0 < net.query("c")["w"] < 0.02  # no warning: that is what the data say


def test_rows_that_were_chosen_may_leave_one_label():
    table = jn.Table({"a": ["x", "y"] * 40, "b": ["u"] * 70 + ["v"] * 10})
    (text,) = told(jn.learn_structure, table.take(np.arange(70)))
    assert text.startswith("column 'b' ('u') holds one label only")


def test_a_network_knows_no_other_label():
    rows = {**VARIES, "c": ["u"] * N}
    (text,) = told(jn.BayesianNetwork("a -> b; c").fit, rows)
    assert text == (
        "column 'c' ('u') holds one label only, to which the network gives the probability 1, as "
        "if there were no other: say which there are, states={'c': [...]} of a jn.Table, "
        "or leave it out of the graph"
    )
    jn.BayesianNetwork("a -> b").fit(rows)  # which does not look at it


@pytest.mark.filterwarnings("ignore::jensen.EstimateWarning")
@pytest.mark.parametrize("weights", [None, [0.0, 2.0]])
def test_a_single_row_is_told_once(weights):
    rows = {"a": ["x", "y"], "b": ["u", "v"]}
    table = jn.Table({k: v[1:] for k, v in rows.items()} if weights is None else rows)
    learners = [
        jn.learn_structure,
        lambda t: jn.structure_posterior(t, "exact"),
        lambda t: jn.BayesianNetwork("a -> b", prior="bdeu").fit(t),
        lambda t: jn.LatentClass(2, prior={}, random_state=0).fit(t),
        lambda t: jn.HiddenMarkovModel(2, prior={}, random_state=0).fit(t),
    ]
    for learn in learners:
        fresh = jn.Table(table, weights=weights)
        if learn is learners[-1]:
            fresh = fresh.take(fresh.weights > 0).with_weights(None) if weights else fresh
        assert told(learn, fresh) == [ONE_ROW]
        learn(fresh)


def test_questions_are_answered_without_a_word():
    table = jn.Table(STILL)
    net = jn.BayesianNetwork("a -> b", prior="bdeu").fit(table)
    one = {"a": ["x"], "b": ["y"]}
    net.predict(one, "b")
    net.log_likelihood(one)
    net.impute(one)
    jn.score("a -> b", one, "bdeu")


def test_hidden_states_are_not_harmed():
    jn.LatentClass(2, prior={}, random_state=0, max_iter=5000).fit({x: STILL[x] for x in "abc"})
