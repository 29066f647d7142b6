"""Posteriors over graphs that are pickled or copied are the same ones, data included."""

import copy
import pickle

import joblib
import numpy as np
import pytest

import jensen as jn
from jensen.q_graph.posterior import StructurePosterior

pytestmark = pytest.mark.filterwarnings("ignore:the chains disagree")

NETWORK = jn.examples.load("asia")
STATES = NETWORK.sample(200, random_state=0)
NUMBERS = jn.Table(dict(zip("abcdef", np.random.default_rng(0).normal(size=(6, 40)), strict=True)))
CHAINS = {"n_samples": 20, "thin": 40, "random_state": 0}
SET = np.where(np.arange(200) % 9 == 0, "smoke", None)
KINDS = {
    "exact": (STATES, {"method": "exact"}),
    "all graphs": (STATES.select(["asia", "tub", "lung"]), {"method": "exact", "prior": "fair"}),
    "exact over orders": (STATES, {"method": "exact", "prior": "order"}),
    "exact of numbers": (NUMBERS, {"method": "exact"}),
    "partition": (STATES, CHAINS),
    "partition of numbers": (NUMBERS, CHAINS),
    "structure": (STATES, {"method": "structure", **CHAINS}),
    "order": (STATES, {"method": "order", **CHAINS}),
    "weighted": (STATES, {"method": "order", "prior": "uniform", **CHAINS}),
    "prior network": (STATES, {"score": "bde", "prior_network": NETWORK, **CHAINS}),
    "interventions": (STATES, {"interventions": SET.tolist(), **CHAINS}),
    "fnml": (STATES, {"score": "fnml", **CHAINS}),
    "bds": (STATES, {"score": "bds", **CHAINS}),
}


def pickled(x):
    return pickle.loads(pickle.dumps(x))


def through_joblib(x, folder):
    joblib.dump(x, folder / "post.joblib")
    return joblib.load(folder / "post.joblib")


def check_same(post, again):
    assert type(again) is type(post)
    assert repr(again) == repr(post)
    assert again.settings == post.settings
    np.testing.assert_array_equal(again.edge_matrix, post.edge_matrix)
    np.testing.assert_array_equal(again.edge_errors, post.edge_errors)
    np.testing.assert_array_equal(again.samples.scores, post.samples.scores)
    np.testing.assert_array_equal(again.samples.graphs, post.samples.graphs)
    assert again.best == post.best
    assert again.best.info == post.best.info
    a, b = post.names[:2]
    assert dict(again.parent_sets(a)) == dict(post.parent_sets(a))
    assert again.path_probability(a, b) == post.path_probability(a, b)
    ours, theirs = post.query(b, n_graphs=50), again.query(b, n_graphs=50)
    values = "values" if hasattr(ours, "values") else "means"
    np.testing.assert_array_equal(getattr(theirs, values), getattr(ours, values))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_copies_are_the_same(kind, tmp_path):
    table, choices = KINDS[kind]
    post = jn.structure_posterior(table, **choices)
    fresh = pickled(post)  # nothing was asked of it yet
    deep = copy.deepcopy(post)
    for again in (fresh, deep, copy.copy(post)):
        check_same(post, again)
    check_same(post, pickled(post))
    check_same(post, pickled(fresh))
    check_same(post, through_joblib(post, tmp_path))


def test_a_copy_is_one_of_its_own():
    post = jn.structure_posterior(STATES, "exact", random_state=3)
    again = pickled(post)
    assert again.sample(5, random_state=1) == post.sample(5, random_state=1)
    again.samples.scores[:] = 0.0
    assert (post.samples.scores < 0.0).all()


def test_a_posterior_of_a_file_is_copied_without_data(tmp_path):
    whole = jn.structure_posterior(STATES, **CHAINS)
    whole.save(tmp_path / "post.json")
    post = jn.load(tmp_path / "post.json")
    again = pickled(post)
    assert isinstance(again, StructurePosterior)
    assert repr(again) == repr(post)
    with pytest.raises(jn.JensenError, match=r"post.with_table\(table\)"):
        again.query("lung")
    check_same(whole, pickled(post.with_table(STATES)))
    check_same(whole, pickled(again.with_table(STATES)))


def test_what_a_posterior_answers_is_copied_too():
    post = jn.structure_posterior(STATES, **CHAINS)
    p = pickled(post.edge_probability("smoke", "lung"))
    assert p.standard_error == post.edge_probability("smoke", "lung").standard_error
    assert dict(pickled(post.parent_sets("lung"))) == dict(post.parent_sets("lung"))
    joined = post.feature(lambda dag: dag.adjacency)
    np.testing.assert_array_equal(pickled(joined).values, joined.values)
    np.testing.assert_array_equal(pickled(joined).standard_error, joined.standard_error)
    assert repr(pickled(post.convergence)) == repr(post.convergence)
    assert list(pickled(post.graphs)) == list(post.graphs)
    assert repr(pickled(post.query("lung"))) == repr(post.query("lung"))


def test_graphs_that_were_learned_are_copied_with_what_they_tell():
    for method in ("hill-climb", "exact", "ges", "pc", "mmhc"):
        graph = jn.learn_structure(STATES, method)
        for again in (pickled(graph), copy.deepcopy(graph)):
            assert again == graph
            assert again.info.seconds == graph.info.seconds


def test_equal_posteriors_have_the_same_hash_in_joblib():
    posts = [jn.structure_posterior(STATES, **CHAINS) for _ in range(2)]
    assert joblib.hash(posts[0]) == joblib.hash(posts[1])
    other = jn.structure_posterior(STATES, **CHAINS | {"random_state": 1})
    assert joblib.hash(other) != joblib.hash(posts[0])
