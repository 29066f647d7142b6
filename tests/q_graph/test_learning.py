"""The public function: its choices, what it tells, how it is stopped, and what it recovers."""

import copy
import pickle
import signal

import numpy as np
import pytest
from naive import search as naive
from tqdm import tqdm

import jensen as jn
from jensen.q_graph import methods
from jensen.q_graph.info import StructureInfo
from jensen.q_graph.search import climbing, recombining
from jensen.scores import SCORES
from jensen.scores.listed_scores import LocalScores
from jensen.scores.make_scorer import make_scorer
from jensen.scores.registry import names_of

METHODS = ["hill-climb", "tabu", "exact"]
every_method = pytest.mark.parametrize("method", METHODS)


def make_table(seed=0, n_rows=200, cards=(2, 3, 2, 2, 3)):
    states = {f"x{k}": range(card) for k, card in enumerate(cards)}
    return jn.Table(naive.random_columns(seed, n_rows, cards), states=states)


def make_numbers(n_rows=200):
    x = np.random.default_rng(0).normal(size=(n_rows, 4)) @ np.triu(np.ones((4, 4)))
    return jn.Table(x, continuous=["x0", "x1", "x2", "x3"])


# --- what is told ---


@every_method
@pytest.mark.parametrize("score", list(SCORES))
def test_the_score_is_that_of_the_graph(method, score):
    table = make_table(1, 60, (2, 3, 2, 2))
    dag = jn.learn_structure(table, method, score)
    info = dag.info
    assert isinstance(info, StructureInfo)
    assert (info.method, info.score_name) == (method, score)
    assert info.score == pytest.approx(jn.score(dag, table, score), rel=1e-9)
    assert info.proven == (method == "exact")
    assert not info.interrupted
    assert info.n_scored >= 4
    assert info.seconds > 0.0


@every_method
@pytest.mark.parametrize("score", [None, *names_of("continuous")])
def test_the_score_of_numbers(method, score):
    dag = jn.learn_structure(make_numbers(), method, score)
    name = score or "bge"
    assert dag.info.score_name == name
    assert dag.info.score == pytest.approx(jn.score(dag, make_numbers(), name), rel=1e-9)


@pytest.mark.parametrize("method", ["hill-climb", "tabu"])
@pytest.mark.parametrize("start", [None, "x0 -> x1 -> x2", "x4 -> x3; x4 -> x0"])
def test_the_trace_begins_at_the_start(method, start):
    table = make_table(2)
    required = [] if start else [("x3", "x2")]
    dag = jn.learn_structure(table, method, "bic", start=start, required=required)
    first = jn.DAG(start or "x3 -> x2", nodes=() if start else ("x0", "x1", "x4"))
    nodes = {x: first.parents(x) if x in first else () for x in table.names}
    expected = jn.score(jn.DAG.from_parents(nodes), table, "bic")
    trace = dag.info.trace
    assert trace[0] == pytest.approx(expected, rel=1e-11)
    assert max(trace) == pytest.approx(dag.info.score, rel=1e-11)
    assert dag.info.n_moves == len(trace) - 1


def test_hill_climbing_rises_until_it_only_turns_edges():
    """It falls only where it begins again, from an equivalent graph too, and in tabu moves."""
    info = jn.learn_structure(make_table(4, 500), score="bdeu").info
    steps, slack = np.diff(info.trace), 1e-9 * abs(info.trace[-1])
    assert steps[0] > slack
    assert info.score == pytest.approx(info.trace.max(), rel=1e-12)
    assert (steps < -slack).sum() <= 3 + recombining.LAST


def test_info_goes_with_the_graph():
    dag = jn.learn_structure(make_table(0))
    for same in (copy.copy(dag), copy.deepcopy(dag), pickle.loads(pickle.dumps(dag))):
        assert same == dag
        assert same.info.score == dag.info.score
        np.testing.assert_array_equal(same.info.trace, dag.info.trace)
    plain = jn.DAG(dag.edges, dag.nodes)
    assert plain.info is None
    assert plain == dag
    assert hash(plain) == hash(dag)
    assert plain.with_info("mine").info == "mine"
    assert plain.info is None
    assert "trace" not in repr(dag.info)
    assert pickle.loads(pickle.dumps(plain)).info is None


# --- choices ---


@every_method
def test_the_sample_size_is_used(method):
    table = make_table(3)
    dag = jn.learn_structure(table, method, equivalent_sample_size=30.0)
    expected = jn.score(dag, table, "bdeu", equivalent_sample_size=30.0)
    assert dag.info.score == pytest.approx(expected, rel=1e-9)
    assert dag != jn.learn_structure(table, method, equivalent_sample_size=1e-3)


@every_method
def test_the_prior_of_numbers_is_used(method):
    choices = {"mean_strength": 2.0, "degrees_of_freedom": 9, "prior_mean": 0.0, "scale": 3.0}
    dag = jn.learn_structure(make_numbers(), method, **choices)
    expected = jn.score(dag, make_numbers(), "bge", **choices)
    assert dag.info.score == pytest.approx(expected, rel=1e-9)


@every_method
def test_missing_values_by_available_cases(method):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 300).astype(str).astype(object)
    b = a.copy()
    a[:30], b[250:] = None, None
    table = {"b": b, "a": a, "c": rng.integers(0, 2, 300).astype(str)}
    dag = jn.learn_structure(table, method, "bic", missing="available-case")
    assert dag.cpdag() == jn.DAG("a -> b; c").cpdag()
    expected = jn.score(dag, table, "bic", missing="available-case")
    assert dag.info.score == pytest.approx(expected, rel=1e-9)


@every_method
def test_a_prior_network(method):
    table = make_table(3)
    network = jn.BayesianNetwork("x0 -> x1; x2; x3; x4", prior=1.0).fit(table)
    choices = {"prior_network": network, "equivalent_sample_size": 4.0}
    dag = jn.learn_structure(table, method, "bde", max_parents=2, **choices)
    assert dag.info.score == pytest.approx(jn.score(dag, table, "bde", **choices), rel=1e-9)
    assert dag.info.score_name == "bde"


@every_method
def test_local_scores_in_place_of_a_table(method, tmp_path):
    table = make_table(1, 150, (2, 3, 2, 2))
    scorer = make_scorer(table, "bdeu")
    subsets = [[u for u in range(4) if m >> u & 1] for m in range(16)]
    listed = LocalScores.of(
        {
            x: {
                tuple(scorer.names[u] for u in above): scorer.family(v, above)
                for above in subsets
                if v not in above
            }
            for v, x in enumerate(scorer.names)
        }
    )
    dag = jn.learn_structure(scores=listed, method=method)
    assert dag.info.score_name == "local scores"
    assert dag.info.score == pytest.approx(jn.learn_structure(table, method).info.score, rel=1e-12)


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ({"method": "climb"}, "^there is no method 'climb': choose one of hill-climb, tabu, exact"),
        ({"restarts": -1}, "^restarts must be a whole number, 0 or more, not -1$"),
        ({"restarts": 1.5}, "^restarts must be a whole number, 0 or more, not 1.5$"),
        (
            {"method": "exact", "restarts": 1},
            "^restarts= has no meaning for method='exact': only for hill-climb, tabu$",
        ),
        (
            {"method": "exact", "start": "x0"},
            "^start= has no meaning for method='exact': only for hill-climb, tabu, ges$",
        ),
        ({"random_state": "x", "restarts": 1}, "^random_state must be an int >= 0, a SeedSequence"),
        ({"scores": LocalScores.of({"a": {(): -1.0}})}, "^give a table, or scores= of local"),
        ({"score": "bdx"}, "^there is no score 'bdx'"),
        ({"equivalent_sample_size": 0}, "^equivalent_sample_size must be positive and finite"),
    ],
)
def test_refusals(choices, text):
    with pytest.raises(jn.JensenError, match=text):
        jn.learn_structure(make_table(), **choices)


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ({}, "^give a table, or scores= of local scores that are known already$"),
        ({"score": "bic"}, "^score= belongs to a table: scores= says it all$"),
        ({"interventions": "INT"}, "^interventions= belongs to a table: scores= says it all$"),
        ({"prior_mean": 0.0}, "^prior_mean= belongs to a table"),
        ({"missing": "available-case"}, "^missing= belongs to a table"),
    ],
)
def test_refusals_without_a_table(choices, text):
    listed = LocalScores.of({"a": {(): -1.0}})
    with pytest.raises(jn.JensenError, match=text):
        jn.learn_structure(**({"scores": listed, **choices} if choices else {}))


# --- stopping and watching ---


@pytest.fixture
def press_after(monkeypatch):
    """Ctrl-C while the k-th move is made; a job in the background inherits that it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    make, made = climbing.Climber.make, []

    def press_after(k):
        def pressed(self, move):
            make(self, move)
            made.append(move)
            if len(made) == k:
                signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr(climbing.Climber, "make", pressed)

    yield press_after
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("method", ["hill-climb", "tabu"])
@pytest.mark.parametrize("k", [1, 2])
def test_ctrl_c_gives_the_best_so_far(method, k, press_after):
    table = make_table(1, 2000)
    whole = jn.learn_structure(table, method, "bdeu")
    press_after(k)
    dag = jn.learn_structure(table, method, "bdeu", restarts=3, random_state=0)
    assert dag.info.interrupted
    assert not dag.info.proven
    np.testing.assert_array_equal(dag.info.trace, whole.info.trace[: k + 1])
    assert len(dag.edges) == k
    assert dag.info.score == pytest.approx(jn.score(dag, table, "bdeu"), rel=1e-9)
    assert dag.info.score < whole.info.score
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_in_a_restart_keeps_what_was_found_before(press_after):
    table = make_table(1, 2000)
    whole = jn.learn_structure(table, score="bdeu")
    press_after(whole.info.n_moves + 1)
    dag = jn.learn_structure(table, score="bdeu", restarts=50, random_state=0)
    assert dag.info.interrupted
    assert dag.info.score >= whole.info.score - 1e-9
    assert len(dag.info.trace) == len(whole.info.trace) + 1


@every_method
def test_the_bar_goes_to_stderr(method, capsys, monkeypatch):
    """At once here; otherwise work that is done within a second shows none."""
    monkeypatch.setattr(methods, "tqdm", lambda **choices: tqdm(**choices | {"delay": 0.0}))
    quiet = jn.learn_structure(make_table(), method)
    assert capsys.readouterr() == ("", "")
    shown = jn.learn_structure(make_table(), method, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert method in err
    assert ("100%" if method == "exact" else "score=") in err
    assert shown == quiet


# --- recovery ---


@pytest.mark.parametrize("name", ["asia", "sprinkler", "survey", "cancer"])
def test_more_rows_bring_the_graph_nearer(name):
    """The distance of the classes falls from 100 to 30,000 rows, on an average of 3 samples."""
    network = jn.examples.load(name)
    distances = []
    for n_rows in (100, 30_000):
        found = [
            jn.learn_structure(network.sample(n_rows, random_state=seed), score="bic")
            for seed in range(3)
        ]
        distances.append(np.mean([dag.cpdag().shd(network.graph.cpdag()) for dag in found]))
    assert distances[1] <= distances[0]
    assert distances[1] < len(network.graph.edges)


def test_a_strong_network_is_recovered():
    """Every edge, and every direction that data can tell."""
    rng = np.random.default_rng(0)
    n = 5000
    a, b = rng.integers(0, 2, (2, n))
    c = (a + b + (rng.random(n) < 0.1)) % 3
    d = c // 2 ^ (rng.random(n) < 0.1)
    table = {"z": a, "y": b, "x": c, "w": d}
    expected = jn.DAG("z -> x <- y; x -> w")
    for method in METHODS:
        dag = jn.learn_structure({x: v.astype(str) for x, v in table.items()}, method)
        assert dag.cpdag() == expected.cpdag()


@pytest.mark.parametrize("score", ["bge", "bic"])
def test_a_gaussian_network_is_recovered(score):
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(4, 3000))
    a, b = noise[:2]
    c = a + b + noise[2]
    d = 0.8 * c + noise[3]
    dag = jn.learn_structure({"z": a, "y": b, "x": c, "w": d}, score=score)
    assert dag.cpdag() == jn.DAG("z -> x <- y; x -> w").cpdag()


# --- other methods ---


def test_classes_come_back_as_classes():
    table = make_table(0, 2000)
    found = jn.learn_structure(table, "ges", "bic")
    assert isinstance(found, jn.CPDAG)
    assert found.info.method == "ges"
    assert found.info.score == pytest.approx(jn.score(found, table, "bic"), rel=1e-12)
    assert found.info.score >= jn.learn_structure(table, score="bic").info.score - 1e-9
    again = jn.learn_structure(table, "ges", "bic", start=found)
    assert again == found


def test_tests_choose_the_edges():
    table = make_table(0, 2000)
    found = jn.learn_structure(table, "pc", alpha=0.01)
    assert isinstance(found, jn.PDAG)
    assert found.info.n_tests > 0
    both = jn.learn_structure(table, "mmhc", "bic", alpha=0.01, max_parents=1)
    assert isinstance(both, jn.DAG)
    assert max(len(both.parents(x)) for x in both.nodes) <= 1
    assert both.info.score == pytest.approx(jn.score(both, table, "bic"), rel=1e-12)


@pytest.mark.parametrize(
    ("method", "choices", "text"),
    [
        ("pc", {"score": "bic"}, "score= has no meaning for method='pc'"),
        ("pc", {"restarts": 1}, "restarts= has no meaning for method='pc'"),
        (
            "hill-climb",
            {"alpha": 0.1},
            "alpha= has no meaning for method='hill-climb'",
        ),
        ("mmhc", {"correction": "fdr"}, "correction= has no meaning for method='mmhc'"),
        ("ges", {"restarts": 1}, "restarts= has no meaning for method='ges'"),
        ("ges", {"interventions": "x0"}, "interventions= has no meaning for method='ges'"),
        ("ges", {"time_limit": 1.0}, "time_limit= has no meaning for method='ges': only for exact"),
    ],
)
def test_choices_of_other_methods(method, choices, text):
    with pytest.raises(jn.JensenError, match=text):
        jn.learn_structure(make_table(0, 50), method, **choices)


def test_tests_need_a_table(tmp_path):
    path = tmp_path / "scores.jkl"
    jn.write_local_scores(path, make_table(0, 50), "bic")
    with pytest.raises(jn.JensenError, match="scores= has no meaning for method='pc'"):
        jn.learn_structure(scores=path, method="pc")
    with pytest.raises(jn.JensenError, match="method='pc' makes tests, so it needs a table"):
        jn.learn_structure(method="pc")
