"""Trees of rows with holes: EM over trees."""

from itertools import product

import numpy as np
import pytest

import jensen as jn
from jensen.q_graph.info import StructuralInfo

NAMES = "abcd"


def rows(n=120, rate=0.25, seed=0, cards=(2, 3, 2, 2)):
    """A chain a - b - c - d of labels, of which some are missing."""
    rng = np.random.default_rng(seed)
    columns, last = {}, rng.random(n)
    for name, card in zip(NAMES, cards, strict=True):
        last = np.where(rng.random(n) < 0.75, last, rng.random(n))
        labels = np.array([f"s{k}" for k in range(card)], object)[(last * card).astype(int)]
        columns[name] = np.where(rng.random(n) < rate, None, labels)
    return columns


def spanning_trees():
    """All trees over four variables, as lists of edges away from a root."""
    for parents in product(range(4), repeat=3):
        edges = {(parents[v - 1], v) for v in (1, 2, 3)}
        seen = {0}
        for _ in range(3):
            seen |= {v for u, v in edges if u in seen}
        if len(seen) == 4:
            yield [(NAMES[u], NAMES[v]) for u, v in edges]


def objective(edges, table, penalty):
    net = jn.BayesianNetwork(jn.DAG(edges, list(NAMES)), n_init=3, random_state=0).fit(table)
    cost = {"bic": 0.5 * np.log(len(table["a"])), "aic": 1.0, None: 0.0}[penalty]
    return net.free_energy_ - cost * net.parameters_count


@pytest.mark.filterwarnings("ignore::jensen.EstimateWarning")
@pytest.mark.parametrize("seed", [0, 1])
def test_the_best_of_all_trees(seed):
    table = rows(seed=seed)
    tree = jn.chow_liu(table)
    best = max(objective(edges, table, None) for edges in spanning_trees())
    assert tree.info.score == pytest.approx(best, abs=1e-3)
    assert tree.info.score == pytest.approx(objective(tree.edges, table, None), abs=1e-3)


@pytest.mark.parametrize("penalty", ["bic", "aic"])
def test_forests_are_the_best_networks_of_one_parent(penalty):
    table = rows(rate=0.2) | {"e": ["u", "v"] * 60}
    forest = jn.chow_liu(table, score=penalty)
    found = jn.learn_structure(table, score=penalty, max_parents=1, random_state=0)
    assert forest.info.score >= found.info.score - 1e-3
    assert all(len(forest.parents(name)) <= 1 for name in forest.nodes)


def test_the_record_says_what_was_done():
    tree = jn.chow_liu(rows())
    info = tree.info
    assert isinstance(info, StructuralInfo)
    assert (info.method, info.score_name, info.proven, info.gap) == (
        "chow-liu",
        "loglik",
        False,
        None,
    )
    assert (info.completion, info.statistics, info.ascends, info.is_bound) == (
        "exact", "exact", True, False
    )  # fmt: skip
    assert list(info.starts) == ["available-case", "empty", "random 1", "random 2", "random 3"]
    assert info.score >= max(info.starts.values()) - 1e-6
    assert len(info.trace) > 1
    assert info.trace[-1] == info.score
    assert len(tree.edges) == 3


def test_any_root_gives_the_same_tree():
    table = rows()
    tree, other = jn.chow_liu(table), jn.chow_liu(table, root="c")
    assert other.skeleton() == tree.skeleton()
    assert other.info.score == tree.info.score
    assert other.parents("c") == ()
    assert tree.parents("a") == ()
    with pytest.raises(jn.GraphError, match=r"^root='z' is none of the variables"):
        jn.chow_liu(table, root="z")


def test_columns_weights_and_calls_change_nothing():
    table = rows()
    tree = jn.chow_liu(table)
    assert jn.chow_liu(table) == tree
    turned = jn.chow_liu({name: table[name] for name in "dbca"})
    assert turned == tree
    assert turned.info.score == tree.info.score
    twice = {name: np.concatenate([column, column]) for name, column in table.items()}
    weighted = jn.chow_liu(jn.Table(table, weights=[2] * 120))
    assert weighted.info.score == pytest.approx(jn.chow_liu(twice).info.score, rel=1e-9)
    light = {name: np.append(column, None) for name, column in rows(rate=0.0).items()}
    assert jn.chow_liu(jn.Table(light, weights=[1] * 120 + [0])).info.proven


def test_few_values_missing_give_nearly_the_tree_of_complete_rows():
    complete = rows(n=400, rate=0.0)
    holes = {name: column.copy() for name, column in complete.items()}
    holes["b"][0] = None
    assert jn.chow_liu(holes).skeleton() == jn.chow_liu(complete).skeleton()
    assert jn.chow_liu(complete).info.proven
    assert not isinstance(jn.chow_liu(complete).info, StructuralInfo)


def test_two_columns_that_are_never_known_together():
    tree = jn.chow_liu({"a": ["x", "y", None, None], "b": [None, None, "u", "v"]})
    assert tree.info.score == pytest.approx(4 * np.log(0.5), abs=1e-4)


def test_what_is_refused():
    table = rows()
    with pytest.raises(jn.DataError, match=r"^smoothing adds to counts, and where values are miss"):
        jn.chow_liu(table, smoothing=0.5)
    with pytest.raises(jn.JensenError, match=r"^smoothing must be a number, 0 or more"):
        jn.chow_liu(table, smoothing=-1)
    with pytest.raises(jn.JensenError, match=r"^the score of a tree is 'loglik', 'bic' or 'aic'"):
        jn.chow_liu(table, score="k2")
    with pytest.raises(jn.DataError, match=r"^column 'e' has no value at all: leave it out$"):
        jn.chow_liu(jn.Table(table | {"e": [None] * 120}, states={"e": ["u", "v"]}))
    with pytest.raises(jn.DataError, match=r"^the likelihood of 'y' has no bound"):
        jn.chow_liu({"x": [0.5, np.nan, 2.5], "y": [1.5, 2.5, 0.5]})


def numbers(n=150, rate=0.2, seed=0):
    """A chain a - b - c - d of numbers, of which some are missing."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4))
    for v in (1, 2, 3):
        x[:, v] += x[:, v - 1]
    x[rng.random(x.shape) < rate] = np.nan
    return dict(zip(NAMES, x.T, strict=True))


SCALES = (1e6, 1.0, 3.0, 1e-6)


@pytest.mark.filterwarnings("ignore::jensen.EstimateWarning")
@pytest.mark.parametrize("penalty", [None, "bic"])
def test_the_best_tree_of_numbers(penalty):
    table = numbers()
    tree = jn.chow_liu(table, score=penalty)
    best = max(objective(edges, table, penalty) for edges in spanning_trees())
    assert tree.info.score == pytest.approx(best, abs=1e-3)
    assert len(tree.edges) == 3
    assert tree.info.ascends
    scaled = {name: k * column for (name, column), k in zip(table.items(), SCALES, strict=True)}
    other = jn.chow_liu(scaled, score=penalty)
    assert other == tree
    known = sum(
        np.log(k) * (~np.isnan(table[name])).sum() for name, k in zip(NAMES, SCALES, strict=True)
    )
    assert other.info.score == pytest.approx(tree.info.score - known, abs=1e-3)


def mixed(n=90, rate=0.2, seed=0):
    """Labels a - b and numbers x - y, which hang from a; of all of them some are missing."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.75, a, 1 - a)
    x = 2.0 * a + rng.normal(size=n)
    y = x + rng.normal(size=n)
    labels = {k: np.array(["no", "yes"], object)[v] for k, v in (("a", a), ("b", b))}
    return {
        **{k: np.where(rng.random(n) < rate, None, v) for k, v in labels.items()},
        **{k: np.where(rng.random(n) < rate, np.nan, v) for k, v in (("x", x), ("y", y))},
    }


MIXED = mixed()


@pytest.mark.filterwarnings("ignore::jensen.EstimateWarning")
def test_the_best_tree_of_labels_and_numbers():
    tree = jn.chow_liu(MIXED)
    # labels form a tree of their own; every number hangs from a label or from another number
    numbers = [[(u, "x"), (w, "y")] for u, w in product("aby", "abx") if (u, w) != ("y", "x")]
    trees = [[("a", "b"), *edges] for edges in numbers]
    assert len(trees) == 8
    fits = [jn.BayesianNetwork(jn.DAG(edges)).fit(MIXED).free_energy_ for edges in trees]
    assert tree.info.score == pytest.approx(max(fits), abs=1e-2)
    assert tree == jn.DAG(trees[int(np.argmax(fits))])
    assert tree.info.ascends


def test_a_forest_of_labels_and_numbers():
    table = MIXED | {"z": np.random.default_rng(1).normal(size=90)}
    forest = jn.chow_liu(table, score="bic")
    found = jn.learn_structure(table, score="bic", max_parents=1, random_state=0)
    assert forest.info.score == pytest.approx(found.info.score, abs=1e-2)
    assert forest.cpdag() == found.cpdag()
    assert forest.parents("z") == ()
    with pytest.raises(jn.GraphError, match=r"^no arrow may lead from a continuous to a categ"):
        jn.chow_liu(MIXED, root="x")
    with pytest.raises(jn.DataError, match=r"^the likelihood of 'x' has no bound"):
        jn.chow_liu({"d": ["u", "v", "u", "v", None], "x": [0.5, 1.5, 0.5, 1.5, 0.3]})
