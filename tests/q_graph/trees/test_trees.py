"""Trees: the best of all forests by enumeration, one for any order of anything."""

import math
from itertools import combinations

import numpy as np
import pytest
from naive import trees as naive

import jensen as jn
from jensen.q_graph.trees import spanning


def mixed_columns(kinds, n_rows, seed):
    """Columns named by their kinds ("d" labels, "c" numbers), each depending on some before it."""
    rng = np.random.default_rng(seed)
    hidden, columns = [], {}
    for k, kind in enumerate(kinds):
        x = rng.normal(size=n_rows)
        for before in hidden:
            x = x + rng.choice([0.0, 0.0, 0.7, 1.5]) * before
        if kind == "d":
            labels = np.digitize(x, [-0.7, 0.9][: 1 + k % 2])
            columns[f"{kind}{k}"] = [str(label) for label in labels]
            x = labels - labels.mean()
        else:
            columns[f"{kind}{k}"] = x.tolist()
        hidden.append(x)
    return columns


def table_of(columns, weights=None):
    kinds = {"d": "categorical", "c": "continuous"}
    chosen = {k: [x for x in columns if x[0] == letter] for letter, k in kinds.items()}
    return jn.Table(columns, weights=weights, **chosen)


def parents_of(dag):
    return {x: (dag.parents(x) or (None,))[0] for x in dag.nodes}


COSTS = {None: lambda n: 0.0, "aic": lambda n: 1.0, "bic": lambda n: 0.5 * math.log(n)}
KINDS = ["dddd", "cccc", "ddcc", "dccd", "cdcd", "dcccc", "ddddc", "cddcc"]


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("penalty", [None, "aic", "bic"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("by_rows", [False, True])
def test_no_forest_is_better(kinds, penalty, weighted, by_rows, monkeypatch):
    """Of all directed forests without an arrow from a number to a label, by enumeration."""
    if by_rows:
        monkeypatch.setattr(spanning, "MOST_IN_MATRIX", 0)
    for seed in range(3):
        columns = mixed_columns(kinds, 25, seed)
        rng = np.random.default_rng(seed)
        weights = rng.exponential(1.0, 25) if weighted else np.ones(25)
        dag = jn.chow_liu(table_of(columns, weights if weighted else None), score=penalty)
        cost = COSTS[penalty](weights.sum())
        found = naive.forest_score(columns, parents_of(dag), weights, cost)
        assert found == pytest.approx(naive.best_score(columns, weights, cost), rel=1e-10)
        assert not naive.has_forbidden_path(columns, dag.edges)
        if penalty is None:
            assert len(dag.edges) == len(columns) - 1


def test_mixed_trees_differ_from_what_would_be_best_without_the_rule():
    """The two labels share a number, and through it no path may go."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, 400), rng.integers(0, 2, 400)
    columns = {"a": a.astype(str), "b": b.astype(str), "x": a + b + 0.1 * rng.normal(size=400)}
    table = jn.Table(columns, categorical=["a", "b"])
    found = jn.mutual_information_matrix(table)
    assert min(found["a", "x"], found["b", "x"]) > found["a", "b"]
    assert jn.chow_liu(table).skeleton().edges[0] == ("a", "b")
    assert len(jn.chow_liu(table, score="bic").edges) == 1


@pytest.mark.parametrize("cards", [(2, 2, 2, 2), (2, 3, 4, 2, 3)])
def test_scores_of_the_package_agree(cards):
    """The best forest by enumeration under `jn.score`, for bic, aic and loglik."""
    rng = np.random.default_rng(5)
    z = rng.random(60)
    columns = {
        f"x{k}": np.minimum(card * (0.6 * z + 0.4 * rng.random(60)), card - 1).astype(int)
        for k, card in enumerate(cards)
    }
    table = jn.Table(columns, states={x: range(c) for x, c in zip(columns, cards, strict=True)})
    labels = {x: [str(v) for v in values] for x, values in columns.items()}
    forests = [
        jn.DAG.from_parents({x: [p] if p else [] for x, p in forest.items()})
        for forest in naive.all_forests(labels)
    ]
    some = [forests[k] for k in np.random.default_rng(0).integers(0, len(forests), 150)]
    for penalty, name in ((None, "loglik"), ("aic", "aic"), ("bic", "bic")):
        best = jn.score(jn.chow_liu(table, score=penalty), table, name)
        assert all(jn.score(forest, table, name) <= best + 1e-9 for forest in some)


@pytest.mark.parametrize("kinds", ["ddddd", "ccccc"])
@pytest.mark.parametrize("penalty", [None, "bic"])
def test_any_root_gives_the_same_likelihood(kinds, penalty):
    columns = mixed_columns(kinds, 40, 1)
    table, weights = table_of(columns), [1.0] * 40
    cost = COSTS[penalty](40)
    trees = {root: jn.chow_liu(table, root=root, score=penalty) for root in columns}
    scores = [naive.forest_score(columns, parents_of(t), weights, cost) for t in trees.values()]
    np.testing.assert_allclose(scores, scores[0], rtol=1e-12)
    for root, tree in trees.items():
        assert tree.parents(root) == ()
        assert tree.skeleton() == trees[next(iter(trees))].skeleton()
    first = trees[min(columns)]
    assert jn.chow_liu(table, score=penalty) == first


def test_a_mixed_tree_may_hang_from_any_categorical_column():
    columns = mixed_columns("dcdcd", 40, 1)
    table = table_of(columns)
    for root in ("d0", "d2", "d4"):
        assert jn.chow_liu(table, root=root).parents(root) == ()
    with pytest.raises(
        jn.GraphError,
        match=r"^no arrow may lead from a continuous to a categorical column, but root='c1' would "
        r"need \w+ -> \w+: choose a categorical root, or none$",
    ):
        jn.chow_liu(table, root="c1")


def test_a_continuous_root_where_its_component_is_continuous():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    table = jn.Table(
        {"d": rng.integers(0, 2, 200), "x": x, "y": x + rng.normal(size=200)}, categorical=["d"]
    )
    assert jn.chow_liu(table, root="y", score="bic") == jn.DAG("y -> x; d")


@pytest.mark.parametrize("kinds", ["dddddd", "cccccc", "dcdcdc"])
@pytest.mark.parametrize("by_rows", [False, True])
def test_the_order_of_columns_and_rows_changes_nothing(kinds, by_rows, monkeypatch):
    if by_rows:
        monkeypatch.setattr(spanning, "MOST_IN_MATRIX", 0)
    columns = mixed_columns(kinds, 30, 2)
    columns["d9"] = columns.get("d0", ["u"] * 30)  # a copy, and ties with it
    expected = jn.chow_liu(table_of(columns))
    rng = np.random.default_rng(0)
    for _ in range(5):
        names, rows = rng.permutation(list(columns)).tolist(), rng.permutation(30)
        shuffled = {x: [columns[x][i] for i in rows] for x in names}
        assert jn.chow_liu(table_of(shuffled)) == expected


@pytest.mark.parametrize("penalty", [None, "bic"])
@pytest.mark.parametrize("root", [None, "v0", "v5"])
def test_trees_are_the_graphs_of_their_edges(root, penalty):
    """They are made without the checks that other graphs go through."""
    rng = np.random.default_rng(8)
    codes = rng.integers(0, 2, (6, 30)).cumsum(0) % 3
    names = np.array([f"v{5 - k}" for k in range(6)])  # NumPy's texts, and not in order
    graph = jn.chow_liu(dict(zip(names, codes, strict=True)), root=root, score=penalty)
    again = jn.DAG(graph.edges, graph.nodes)
    assert (graph, hash(graph), repr(graph)) == (again, hash(again), repr(again))
    assert {type(name) for name in graph.nodes} == {str}


def test_names_decide_between_equal_trees():
    """All columns are one and the same under other labels, so that every tree is best."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, 97)
    labels = {name: rng.permutation(["u", "v", "w"]) for name in "edcba"}
    table = {name: order[x] for name, order in labels.items()}
    star = jn.DAG([("a", y) for y in "bcde"])
    assert jn.chow_liu(table) == star
    assert jn.chow_liu(table, smoothing=1) == star
    weights = rng.exponential(1.0, 97)
    assert jn.chow_liu(jn.Table(table, weights=weights)) == star


def test_rows_and_matrix_find_the_same_tree_among_ties(monkeypatch):
    """Few rows of few states: mutual informations repeat themselves."""
    rng = np.random.default_rng(0)
    tables = [{f"x{k:02d}": rng.integers(0, 2, 8) for k in range(30)} for _ in range(20)]
    whole = [jn.chow_liu(table) for table in tables]
    monkeypatch.setattr(spanning, "MOST_IN_MATRIX", 0)
    assert [jn.chow_liu(table) for table in tables] == whole


def test_threads_change_nothing():
    rng = np.random.default_rng(0)
    z = rng.random(300_000)
    table = jn.Table({f"x{k}": (z + k * rng.random(300_000) > 0.9).astype(int) for k in range(8)})
    trees = []
    for threads in (1, 2):
        jn.set_threads(threads)
        trees.append(jn.chow_liu(table))
    jn.set_threads(None)
    assert trees[0] == trees[1]


def test_a_tree_is_found_again():
    truth = jn.DAG("a -> b; b -> c; b -> d; d -> e; d -> f")
    net = jn.BayesianNetwork(truth, prior="bdeu").fit({x: [0, 1] for x in truth.nodes})
    for x in truth.nodes:
        rows = [[0.8, 0.2], [0.1, 0.9]] if truth.parents(x) else [0.5, 0.5]
        net = net.with_cpt(x, rows)
    found = jn.chow_liu(net.sample(5_000, random_state=0), root="a")
    assert found == truth


def test_smoothing_is_an_even_sample_of_its_own():
    """The tree of the rows and of every configuration once, weighted to 4 · smoothing in all."""
    rng = np.random.default_rng(3)
    cards = (2, 3, 2, 4)
    columns = {f"x{k}": rng.integers(0, card, 20) for k, card in enumerate(cards)}
    every = np.array(np.meshgrid(*map(np.arange, cards))).reshape(len(cards), -1)
    states = {x: range(card) for x, card in zip(columns, cards, strict=True)}
    for smoothing in (0.5, 1, 10):
        weights = np.r_[np.ones(20), np.full(every.shape[1], 4 * smoothing / every.shape[1])]
        both = {x: np.r_[v, e] for (x, v), e in zip(columns.items(), every, strict=True)}
        imagined = jn.Table(both, states=states, weights=weights)
        table = jn.Table(columns, states=states)
        assert jn.chow_liu(table, smoothing=smoothing) == jn.chow_liu(imagined)
        np.testing.assert_allclose(
            jn.mutual_information_matrix(table, smoothing=smoothing).values,
            jn.mutual_information_matrix(imagined).values,
            atol=1e-12,
        )


def test_weights_are_repetitions():
    columns = mixed_columns("dddd", 30, 4)
    times = np.random.default_rng(0).integers(0, 4, 30)
    repeated = {x: np.repeat(v, times) for x, v in columns.items()}
    for penalty in (None, "bic"):
        assert jn.chow_liu(table_of(columns, times), score=penalty) == jn.chow_liu(
            table_of(repeated), score=penalty
        )


def test_what_has_no_weight_may_be_missing():
    columns = {"a": ["n", "y", "n", None], "b": ["n", "y", "y", "y"]}
    assert jn.chow_liu(jn.Table(columns, weights=[1, 1, 1, 0])) == jn.DAG("a -> b")


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"a": [0, 1, 1]}, "a"),
        ({"a": [0.5, 1.5]}, "a"),
        ({"a": [0], "b": [1], "c": [1]}, "a -> b; a -> c"),
        ({"b": ["u", "u"], "a": [0.5, 1.5]}, "b -> a"),
    ],
)
def test_small_tables(table, expected):
    assert jn.chow_liu(table) == jn.DAG(expected)
    assert jn.chow_liu(table, score="bic").edges == ()


def test_tables_without_rows():
    table = jn.Table({"a": [], "b": []}, states={"a": [0, 1], "b": [0, 1]})
    weightless = jn.Table({"a": [0, 1], "b": [0, 1]}, weights=[0, 0])
    for empty in (table, weightless):
        for learn in (jn.chow_liu, lambda rows: jn.tan(rows, "b")):
            with pytest.raises(jn.DataError, match=r"^there is nothing to learn from: the table"):
                learn(empty)


def test_many_variables_of_a_tree_are_found_row_by_row():
    """More than are put into a matrix; every edge is much stronger than what is not there."""
    n, rng = 2_500, np.random.default_rng(0)
    x = np.empty((n, 500), np.int8)
    for k in range(n):
        above = x[(k - 1) // 2] if k else rng.integers(0, 2, 500)
        x[k] = np.where(rng.random(500) < 0.1, rng.integers(0, 2, 500), above)
    names = [f"v{k:04d}" for k in range(n)]
    tree = jn.chow_liu(jn.Table(x.T, names=names, states={name: [0, 1] for name in names}))
    assert set(tree.edges) == {(names[(k - 1) // 2], names[k]) for k in range(1, n)}


def test_equal_pairs_are_joined_by_name():
    columns = {name: [0, 0, 1, 1] for name in "abc"} | {"z": [0, 1, 0, 1]}
    assert jn.chow_liu(columns, score="bic") == jn.DAG("a -> b; a -> c; z")
    for a, b in combinations("abc", 2):
        assert jn.chow_liu({x: columns[x] for x in (b, a, "z")}).edges[0] == (a, b)


@pytest.mark.parametrize("penalty", [None, "bic", "aic"])
@pytest.mark.parametrize("kind", ["categorical", "continuous"])
def test_info_tells_the_score(kind, penalty):
    """As `jn.score` has it, to 1e-10, with and without weights; also where rows are made singly."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, (200, 4)) if kind == "categorical" else rng.normal(size=(200, 4))
    x[:, 1] += x[:, 0]
    table = jn.Table(x, names=list("abcd"), **{kind: list("abcd")})
    for rows in (table, table.with_weights(rng.integers(0, 3, 200).astype(float))):
        tree = jn.chow_liu(rows, score=penalty)
        score = jn.score(tree, rows, penalty or "loglik")
        assert tree.info.score == pytest.approx(score, rel=1e-10)
        assert tree.info.proven
        assert (tree.info.method, tree.info.score_name) == ("chow-liu", penalty or "loglik")
        assert tree.info.n_scored == 6
        assert 0.0 < tree.info.seconds < 60.0


@pytest.mark.parametrize("penalty", [None, "bic"])
def test_rows_made_ahead_give_the_same_tree(monkeypatch, penalty):
    """Where there is no room for all weights, and little for rows that wait."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(40, 60)).cumsum(1)
    table = jn.Table(x, names=[f"v{k:02d}" for k in range(60)])
    expected = jn.chow_liu(table, score=penalty)
    monkeypatch.setattr(spanning, "MOST_IN_MATRIX", 1)
    for block, kept in ((7, 1 << 28), (7, 0), (200, 0)):
        monkeypatch.setattr(spanning, "BLOCK", block)
        monkeypatch.setattr(spanning, "KEPT_BYTES", kept)
        found = jn.chow_liu(table, score=penalty)
        assert found == expected
        assert found.info.score == pytest.approx(expected.info.score, rel=1e-12)
