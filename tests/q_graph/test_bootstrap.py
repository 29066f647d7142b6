"""Graphs learned from rows drawn again."""

import signal
from itertools import count

import numpy as np
import pytest

import jensen as jn
from jensen.q_graph import bootstrap


@pytest.fixture(scope="module")
def table():
    return jn.examples.load("cancer").sample(400, random_state=0)


def test_each_graph_is_that_of_rows_drawn_with_replacement(table):
    seeds = np.random.default_rng(3).integers(0, 1 << 63, 5)
    expected = np.zeros((5, 5))
    for seed in seeds:
        rows = np.random.default_rng(seed).integers(0, 400, 400)
        expected += jn.learn_structure(table.take(rows), score="bic").adjacency / 5
    found = jn.bootstrap_edges(table, 5, random_state=3, score="bic", cpdag=False)
    np.testing.assert_allclose(found.shares, expected, rtol=1e-12)
    assert found.names == tuple(sorted(table.names))
    assert found.n_graphs == 5


def test_an_edge_without_a_direction_counts_half_in_each():
    table = jn.Table({"a": ["x", "y"] * 50, "b": ["u", "v"] * 50})
    assert jn.bootstrap_edges(table, 3, random_state=0).shares.tolist() == [[0.0, 0.5], [0.5, 0.0]]
    one_way = jn.bootstrap_edges(table, 3, random_state=0, cpdag=False)
    assert one_way.shares.tolist() == [[0.0, 1.0], [0.0, 0.0]]


def test_neither_threads_nor_the_order_of_columns_change_it(table):
    expected = jn.bootstrap_edges(table, 6, random_state=0).shares
    try:
        jn.set_threads(1)
        other = table.select(table.names[::-1])
        np.testing.assert_array_equal(jn.bootstrap_edges(other, 6, random_state=0).shares, expected)
    finally:
        jn.set_threads(None)


def test_weights_are_drawn_as_rows_are(table):
    weights = np.zeros(400)
    weights[:100] = 3.0
    found = bootstrap._drawn(table.with_weights(weights), np.random.default_rng(0))
    assert found.weights[100:].sum() == 0.0
    assert found.weights.sum() == 300.0
    assert (found.weights == np.floor(found.weights)).all()


@pytest.mark.parametrize(
    ("weight", "what"),
    [(0.0, "weigh 0 in"), (1e-3, "weigh 0.4 in"), (1e30, r"weigh 4e\+32 in")],
)
def test_weights_that_draw_no_rows(table, weight, what):
    with pytest.raises(
        jn.DataError, match=f"^a bootstrap draws as many rows as there are, and the rows {what}"
    ):
        jn.bootstrap_edges(table.with_weights(np.full(400, weight)), 3)


def test_no_rows_to_draw():
    empty = jn.Table({"a": [], "b": []}, states={"a": ["x"], "b": ["x"]})
    with pytest.raises(jn.DataError, match="and there are no rows: give rows, and weights that"):
        jn.bootstrap_edges(empty, 3)


@pytest.fixture
def _usual_handler():
    """A job in the background inherits that the signal is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
    jn.set_threads(None)


def press_at(monkeypatch, call):
    """Let Ctrl-C be pressed as a graph begins to be learned."""
    n_calls = count(1)

    def learn(*args, **choices):
        if next(n_calls) == call:
            signal.raise_signal(signal.SIGINT)
        return jn.learn_structure(*args, **choices)

    monkeypatch.setattr(bootstrap, "learn_structure", learn)


@pytest.mark.usefixtures("_usual_handler")
@pytest.mark.parametrize("n_threads", [1, 2])
def test_ctrl_c_ends_with_the_graphs_that_are_whole(table, tmp_path, monkeypatch, n_threads):
    jn.set_threads(n_threads)
    expected = jn.bootstrap_edges(table, 30, random_state=0)
    path = tmp_path / "run.ckpt"
    press_at(monkeypatch, 4)
    found = jn.bootstrap_edges(table, 30, random_state=0, checkpoint=path)
    assert 0 < found.n_graphs < 30
    monkeypatch.undo()
    again = jn.bootstrap_edges(table, 30, random_state=0, checkpoint=path)
    np.testing.assert_array_equal(again.shares, expected.shares)


@pytest.mark.usefixtures("_usual_handler")
def test_ctrl_c_before_any_graph_is_whole(table, monkeypatch):
    jn.set_threads(1)
    press_at(monkeypatch, 1)
    with pytest.raises(KeyboardInterrupt):
        jn.bootstrap_edges(table, 30, random_state=0)


class Killed(Exception):
    """As by kill -9: nothing is tidied up."""


def test_a_killed_run_resumes_to_the_same_shares(table, tmp_path, monkeypatch):
    expected = jn.bootstrap_edges(table, 8, random_state=0, score="bic").shares
    path = tmp_path / "run.ckpt"
    learned = []

    def learn(*args, **choices):
        if len(learned) == 5:
            raise Killed
        learned.append(1)
        return jn.learn_structure(*args, **choices)

    monkeypatch.setattr("jensen.runs.checkpoint.EVERY_SECONDS", 0.0)
    jn.set_threads(1)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(bootstrap, "learn_structure", learn)
            with pytest.raises(Killed):
                jn.bootstrap_edges(table, 8, random_state=0, score="bic", checkpoint=path)
        again = []
        monkeypatch.setattr(
            bootstrap,
            "learn_structure",
            lambda *args, **choices: again.append(1) or jn.learn_structure(*args, **choices),
        )
        found = jn.bootstrap_edges(table, 8, random_state=0, score="bic", checkpoint=path)
    finally:
        jn.set_threads(None)
    np.testing.assert_array_equal(found.shares, expected)
    assert 3 <= len(again) < 8
    jn.bootstrap_edges(table, 8, random_state=0, score="bic", checkpoint=path)
    assert len(again) < 8  # a finished run learns nothing again


def test_without_a_seed_a_run_resumes_with_its_own(table, tmp_path):
    path = tmp_path / "run.ckpt"
    first = jn.bootstrap_edges(table, 3, checkpoint=path)
    np.testing.assert_array_equal(
        jn.bootstrap_edges(table, 3, checkpoint=path).shares, first.shares
    )


def test_the_checkpoint_of_another_run_is_refused(table, tmp_path):
    path = tmp_path / "run.ckpt"
    jn.bootstrap_edges(table, 2, random_state=0, checkpoint=path)
    with pytest.raises(jn.FileError, match="another run"):
        jn.bootstrap_edges(table, 2, random_state=0, score="bic", checkpoint=path)


def test_interventions_are_no_variable(table):
    columns = {name: table.to_pandas()[name] for name in table.names}
    set_ = ["Cancer" if k % 4 == 0 else None for k in range(400)]
    both = jn.Table({**columns, "INT": set_})
    found = jn.bootstrap_edges(both, 3, random_state=0, interventions="INT")
    assert "INT" not in found.names
    with pytest.raises(jn.JensenError, match="give interventions= as a column"):
        jn.bootstrap_edges(table, 3, interventions=set_)


@pytest.mark.parametrize(
    "rule",
    [
        lambda: {"required": (pair for pair in [("b", "a")])},
        lambda: {"required": np.array([("b", "a")])},
        lambda: {"forbidden": iter([("a", "b")])},
        lambda: {"tiers": (iter(name) for name in "ba")},
    ],
)
def test_constraints_may_be_iterators(rule, tmp_path):
    table, path = jn.Table({"a": ["x", "y"] * 50, "b": ["u", "v"] * 50}), tmp_path / "run.ckpt"
    found = jn.bootstrap_edges(table, 3, random_state=0, checkpoint=path, **rule())
    assert found["b", "a"] == 1.0
    assert found.averaged() == jn.DAG("b -> a")
    again = jn.bootstrap_edges(table, 3, random_state=0, checkpoint=path, **rule())
    np.testing.assert_array_equal(again.shares, found.shares)


def test_restarts_and_constraints_are_passed_on(table):
    found = jn.bootstrap_edges(
        table, 3, random_state=0, restarts=2, required="Smoker -> Cancer", max_parents=1
    )
    assert found["Smoker", "Cancer"] > 0.0
    assert ("Smoker", "Cancer") in found.averaged().edges
    assert max(len(found.averaged().parents(x)) for x in found.names) == 1


@pytest.mark.parametrize("n", [0, -1, 2.5, True, "x"])
def test_how_many_graphs(table, n):
    with pytest.raises(jn.JensenError, match="n must be a whole number"):
        jn.bootstrap_edges(table, n)


def test_another_prior_network_is_another_run(tmp_path):
    table, path = jn.examples.load("asia").sample(200, random_state=0), tmp_path / "run.ckpt"
    asia = jn.examples.load("asia")
    other = jn.BayesianNetwork(asia.graph, prior=5.0).fit(table)
    choices = {"n": 2, "random_state": 0, "score": "bde", "checkpoint": path}
    jn.bootstrap_edges(table, **choices, prior_network=asia)
    with pytest.raises(jn.FileError, match="another run"):
        jn.bootstrap_edges(table, **choices, prior_network=other)


@pytest.mark.parametrize(
    "rule", [{"tiers": [["b"], ["a"]]}, {"forbidden": "a -> b"}, {"required": "b -> a"}]
)
def test_directions_that_constraints_fix_are_kept(rule):
    table = jn.Table({"a": ["x", "y"] * 50, "b": ["u", "v"] * 50})
    found = jn.bootstrap_edges(table, 3, random_state=0, **rule)
    assert found["b", "a"] == 1.0
    assert found["a", "b"] == 0.0
