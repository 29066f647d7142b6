"""Posteriors over graphs as people ask for them: chains beside sums, and choices."""

import warnings

import numpy as np
import pandas as pd
import pytest

import jensen as jn
from jensen.q_graph.chains.raw_weights import rank_others
from jensen.q_graph.constraints import read_constraints
from jensen.scores.make_scorer import make_scorer
from jensen.support.machine import set_threads

CHAINS = ["partition", "order", "structure"]
LENGTH = {
    "partition": {"n_samples": 500, "thin": 120, "random_state": 0},
    "order": {"n_samples": 500, "thin": 100, "random_state": 0},
    "structure": {"n_samples": 500, "thin": 1010, "random_state": 0},
}
"""Short runs, whose samples are still nearly independent."""

ERRORS = 4.0
"""How many standard errors the chains may be off; seeds are fixed."""


@pytest.fixture(scope="module")
def few():
    """Few rows: five variables whose graph is far from certain."""
    return jn.examples.load("cancer").sample(150, random_state=1)


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 4))
    x[:, 1] += 0.5 * x[:, 0]
    x[:, 2] += 0.6 * x[:, 1] - 0.5 * x[:, 3]
    return jn.Table({name: x[:, k] for k, name in enumerate("dacb")})


def check(table, method, exact_prior=None, **choices):
    """Edge probabilities within so many errors of the sums over all graphs."""
    apart = {"candidates", "outside", "temperatures", "thin"}
    of_all = {name: value for name, value in choices.items() if name not in apart}
    if exact_prior is not None:
        of_all["prior"] = exact_prior
    elif method == "order" and "prior" not in choices:
        of_all["prior"] = "order"
    exact = jn.structure_posterior(table, "exact", **of_all)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "column.* one label only")
        post = jn.structure_posterior(table, method, **LENGTH[method], **choices)
    p, q = exact.edge_matrix, post.edge_matrix
    least = np.sqrt(p * (1 - p) / post.samples.n_samples)  # an edge may never have been seen
    assert (np.abs(q - p) <= ERRORS * np.maximum(post.edge_errors, least) + 1e-9).all()
    assert (q[p == 0] == 0).all()
    assert (q[p == 1] == 1).all()
    return post


@pytest.mark.parametrize("method", CHAINS)
@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"prior": "fair"},
        {"prior": {("Cancer", "Xray"): 0.9, ("Xray", "Cancer"): 0.01, ("Smoker", "Xray"): 0}},
        {"prior": {("Smoker", "Cancer"): 1}},
        {"required": "Cancer -> Xray", "forbidden": [("Pollution", "Smoker")]},
        {"max_parents": 1},
        {"tiers": [["Pollution", "Smoker"], ["Cancer"], ["Xray", "Dyspnoea"]]},
        {"temperatures": 2},
        {"score": "bic"},
        {"score": "k2"},
        {"equivalent_sample_size": 10.0},
        {"interventions": ["Cancer"] * 30 + [None] * 120},
        {"candidates": 2, "max_parents": 2},
        {"candidates": 0, "outside": 1, "max_parents": 1},
    ],
    ids=lambda choices: str(choices)[:40],
)
def test_chains_find_what_sums_find(method, choices, few):
    check(few, method, **choices)


@pytest.mark.parametrize("method", CHAINS)
@pytest.mark.parametrize("choices", [{}, {"score": "bic"}, {"prior": "fair", "candidates": 3}])
def test_continuous_columns(method, choices, numbers):
    assert check(numbers, method, **choices).names == ("a", "b", "c", "d")


@pytest.mark.parametrize("inner", ["uniform", "fair", {("Cancer", "Xray"): 0.9}])
def test_an_order_prior_of_every_kind(inner, few):
    check(few, "order", prior=("order", inner))


def test_weights_of_rows(few):
    weights = np.random.default_rng(0).integers(0, 3, 150)
    table = jn.Table(few.to_pandas(), weights=weights)
    check(table, "partition")


def flat(n):
    """A row of variables with one state each, which says nothing: what is left is the prior."""
    return jn.Table({f"v{k}": ["x"] for k in range(n)})


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize("method", [*CHAINS, "weighted"])
def test_data_that_say_nothing_and_a_uniform_prior(method, n):
    """Known fractions of all DAGs; 1/4 of orders and graphs that fit them."""
    truth = {2: 1 / 3, 3: 8 / 25, 4: 56 / 181, 5: 8816 / 29281}[n]
    prior = {"order": "order"}.get(method, "uniform")
    kind = "order" if method == "weighted" else method
    post = jn.structure_posterior(flat(n), kind, prior=prior, **LENGTH[kind])
    off = ~np.eye(n, dtype=bool)
    difference = np.abs(post.edge_matrix[off] - (1 / 4 if method == "order" else truth))
    assert (difference < ERRORS * post.edge_errors[off]).all()
    assert (post.edge_errors[off] < 0.03).all()


def same(one, other):
    fields = ("sets", "graphs", "which", "scores", "states")
    return all(
        np.array_equal(getattr(one.samples, field), getattr(other.samples, field))
        for field in fields
    ) and np.array_equal(one.edge_matrix, other.edge_matrix)


@pytest.fixture
def threads():
    yield set_threads
    set_threads(None)


@pytest.mark.filterwarnings("ignore:the chains disagree")
@pytest.mark.parametrize("choices", [{}, {"candidates": 2, "temperatures": 2}])
@pytest.mark.parametrize("method", CHAINS)
def test_threads_and_columns_change_nothing(method, choices, few, threads):
    choices = {"n_samples": 60, "thin": 40, "n_chains": 3, "random_state": 5, **choices}
    first = jn.structure_posterior(few, method, **choices)
    for n_threads in (1, 2):
        threads(n_threads)
        assert same(jn.structure_posterior(few, method, **choices), first)
        assert same(jn.structure_posterior(few.select(few.names[::-1]), method, **choices), first)
    other = jn.structure_posterior(few, method, **(choices | {"random_state": 6}))
    assert not same(other, first)


@pytest.mark.filterwarnings("ignore:the chains disagree")
@pytest.mark.parametrize("method", CHAINS)
def test_a_chain_is_the_same_however_many_there_are(method, few):
    choices = {"n_samples": 30, "thin": 20, "random_state": 5}
    one, four = (jn.structure_posterior(few, method, n_chains=k, **choices) for k in (1, 4))
    np.testing.assert_array_equal(one.samples.scores[0], four.samples.scores[0])
    assert len(np.unique(four.samples.scores[:, -1])) > 1


def test_defaults_and_settings(few):
    post = jn.structure_posterior(few, n_samples=101, thin=41, burn_in=81, random_state=0)
    assert post.samples.which.shape == (4, 101)
    assert (post.settings["thin"], post.settings["burn_in"]) == (80, 160)
    assert post.settings["score"] == "bdeu"
    tried = sum(int(counts[1].sum()) for counts in post.moves.values())
    assert tried == 4 * 101 * 80
    structure = jn.structure_posterior(few, "structure", n_samples=2, n_chains=1, burn_in=0)
    assert structure.settings["thin"] == 10_100


@pytest.mark.filterwarnings("ignore:the chains disagree")
def test_exchanges_are_counted(few):
    choices = {"n_samples": 31, "thin": 40, "burn_in": 0, "n_chains": 1, "random_state": 0}
    post = jn.structure_posterior(few, temperatures=3, **choices)
    exchanges = {name: counts for name, counts in post.moves.items() if "exchange" in name}
    assert [int(tried[0]) for _, tried in exchanges.values()] == [15, 16]
    assert all(accepted <= tried for accepted, tried in exchanges.values())


@pytest.mark.parametrize("method", CHAINS)
def test_small_tables(method):
    choices = {"n_samples": 50, "n_chains": 2, "random_state": 0}
    alone = jn.structure_posterior({"a": ["x", "y", "x"]}, method, **choices)
    assert alone.edge_matrix.tolist() == [[0.0]]
    assert set(alone.samples.scores.ravel()) == {alone.samples.scores[0, 0]}
    row = jn.structure_posterior({"a": ["x"], "b": ["u"], "c": ["w"]}, method, **choices)
    assert row.edge_matrix.sum() > 0
    none = jn.structure_posterior(
        {"a": ["x", "y"], "b": ["x", "y"]}, method, forbidden="a -> b; b -> a", **choices
    )
    assert not none.edge_matrix.any()
    poor = jn.structure_posterior({"a": ["x", "y"], "b": ["x", "y"]}, method, candidates=0,
                                  outside=0, **choices)  # fmt: skip
    assert not poor.edge_matrix.any()


@pytest.mark.parametrize("method", CHAINS)
def test_two_variables_and_a_constant_column(method):
    check({"a": ["x", "y", "x", "y"], "b": ["u", "u", "v", "u"]}, method)
    check({"a": ["x", "y", "x", "y"], "b": ["u", "u", "u", "u"]}, method)
    check({"a": ["x", "y", "x", "y"], "b": ["u", "u", "v", "u"]}, method, candidates=0)


def many(n, n_rows=60):
    """A chain of n variables, each much like the one before."""
    rng = np.random.default_rng(n)
    flips = rng.random((n_rows, n)) < 0.15
    flips[:, 0] = rng.random(n_rows) < 0.5
    return pd.DataFrame(
        np.where(np.cumsum(flips, 1) % 2, "y", "n"), columns=[f"v{k:03d}" for k in range(n)]
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the chains disagree")
@pytest.mark.parametrize("outside", [1, 2])
def test_a_hundred_variables(outside):
    choices = {"n_samples": 20, "thin": 400, "burn_in": 8000, "n_chains": 2, "random_state": 0}
    post = jn.structure_posterior(many(100), candidates=4, outside=outside, **choices)
    assert post.samples.sets.shape[1] == 2
    near = [post.undirected_probability(f"v{k:03d}", f"v{k + 1:03d}") for k in range(99)]
    assert np.mean(near) > 0.9
    assert (post.outside_share > 0.0).any()
    assert (post.outside_share < 1.0).any()


@pytest.mark.filterwarnings("ignore:the chains disagree")
@pytest.mark.parametrize("method", CHAINS)
def test_the_share_outside_the_candidates(method, few):
    listed = {v: [] for v in few.names} | {"Cancer": ["Smoker"]}
    prior = "uniform" if method == "order" else None
    post = jn.structure_posterior(
        few, method, candidates=listed, prior=prior, n_samples=200, thin=40, random_state=0
    )
    shares = dict(zip(post.names, post.outside_share, strict=True))
    for v in post.names:
        outside = post.feature(lambda dag, v=v: bool(set(dag.parents(v)) - set(listed[v])))
        assert shares[v] == pytest.approx(float(outside), abs=1e-12)
    assert all(len(dag.parents(v)) <= 2 for dag, _ in post.graphs for v in post.names)
    inside = jn.structure_posterior(few, method, n_samples=10, thin=40, random_state=0)
    assert not inside.outside_share.any()


@pytest.mark.filterwarnings("ignore:the chains disagree")
def test_the_share_outside_is_not_known_where_it_was_not_tried(few):
    def shares(**choices):
        post = jn.structure_posterior(few, n_samples=10, thin=40, random_state=0, **choices)
        return dict(zip(post.names, post.outside_share, strict=True)), repr(post)

    found, words = shares(candidates=1, outside=0)
    assert np.isnan(list(found.values())).all()
    assert "outside" not in words
    assert set(shares(outside=0)[0].values()) == {0.0}  # all others are candidates
    assert set(shares(candidates=1, outside=0, max_parents=0)[0].values()) == {0.0}
    first = ["Smoker", "Pollution"]
    rest = [name for name in few.names if name not in first]
    found, _ = shares(candidates=1, outside=0, tiers=[first, rest])
    assert [found[name] for name in first] == [0.0, 0.0]  # the other one is the only candidate
    assert np.isnan([found[name] for name in rest]).all()
    found, _ = shares(candidates={"Xray": []}, outside=1, required="Cancer -> Xray")
    assert np.isnan(found["Xray"])  # {Cancer, another} has two members
    assert [found[name] for name in found if name != "Xray"] == [0.0] * 4
    found, _ = shares(candidates={"Xray": []}, outside=2, required="Cancer -> Xray")
    assert not np.isnan(found["Xray"])


def test_who_may_not_be_a_parent_takes_no_candidates_place():
    table = many(20)
    scorer = make_scorer(jn.Table(table), "bdeu")
    rules = read_constraints(scorer.names, forbidden=[("v001", "v000"), ("v005", "v004")])
    singles = np.array([scorer.with_each(v, []) for v in range(20)])
    ranked = rank_others(scorer, rules, singles, np.empty((20, 0, 0)))
    assert [len(others) for others in ranked] == [18, 19, 19, 19, 18, *[19] * 15]
    assert 1 not in ranked[0]
    near = [abs(others[0] - v) for v, others in enumerate(ranked)]
    assert np.median(near) < 2


@pytest.mark.filterwarnings("ignore:the chains disagree")
def test_candidates_may_come_in_any_collection(few):
    choices = {"outside": 0, "n_samples": 20, "thin": 40, "random_state": 0}
    lists = {v: [u for u in few.names if u != v] for v in few.names}
    iterators = {v: iter(listed) for v, listed in lists.items()}
    assert same(
        jn.structure_posterior(few, candidates=iterators, **choices),
        jn.structure_posterior(few, **choices),
    )


@pytest.mark.filterwarnings("ignore:the chains disagree")
def test_progress_is_shown_and_nothing_else(few, capsys):
    choices = {"n_samples": 20, "thin": 40, "random_state": 0, "progress": True}
    first = jn.structure_posterior(few, **choices)
    assert same(first, jn.structure_posterior(few, **(choices | {"progress": False})))
    jn.structure_posterior(few, "exact", progress=True)
    assert capsys.readouterr().out == ""
