"""Answers by approximate inference: right where they can be, and labelled as what they are."""

import json

import numpy as np
import pytest
from naive import factor_lists as naive

import jensen as jn
from jensen.exceptions import ImpossibleError, JensenError, TooLargeError
from jensen.inference.approximate.methods import METHODS, WORDS, shares_between

WAYS = tuple(METHODS)
WET = {"wet_grass": "yes"}


@pytest.fixture(scope="module")
def sprinkler():
    return jn.examples.load("sprinkler")


@pytest.fixture(scope="module")
def grid():
    """A Markov network of 4 × 4 spins, small enough to be summed exactly."""
    _, scopes, tables = naive.grid(
        4, lambda k: 0.6 * np.cos(1.7 * k + 0.3), lambda i: 0.3 * np.sin(2.1 * i + 0.5)
    )
    named = [
        ([f"x{v:02}" for v in scope], table) for scope, table in zip(scopes, tables, strict=True)
    ]
    return jn.MarkovNetwork.from_tables(named, logs=True)


@pytest.fixture(scope="module")
def coins():
    """A chain of coins: without loops, so that messages are exact."""
    return jn.BayesianNetwork.from_tables(
        "a -> b -> c",
        {"a": [0.3, 0.7], "b": [[0.9, 0.1], [0.2, 0.8]], "c": [[0.6, 0.4], [0.5, 0.5]]},
    )


@pytest.fixture
def little_memory():
    before = jn.get_memory_limit()
    jn.set_memory_limit(20_000)
    yield
    jn.set_memory_limit(before)


def big_grid():
    """6 × 6 variables with 4 states, whose tree takes 4^6 entries and more."""
    rng = np.random.default_rng(0)
    tables = {}
    for r in range(6):
        for c in range(6):
            for down, right in ((0, 1), (1, 0)):
                if r + down < 6 and c + right < 6:
                    pair = f"x{r}{c}", f"x{r + down}{c + right}"
                    tables[pair] = rng.normal(0.0, 0.3, (4, 4))
    return jn.MarkovNetwork.from_tables(tables, logs=True)


def test_loopy_answers_of_the_sprinkler_are_the_published_ones(sprinkler):
    rain = sprinkler.query("rain", given=WET, inference="loopy")
    assert rain["yes"] == pytest.approx(0.784074, abs=1e-6)
    on = sprinkler.query("sprinkler", given=WET, inference="loopy")
    assert on["on"] == pytest.approx(0.404042, abs=1e-6)
    assert (rain.label.kind, rain.label.converged) == ("estimate", True)
    assert repr(rain).endswith(f"estimate (loopy, converged after {rain.label.sweeps} sweeps)")
    assert rain.plain()["inference"]["kind"] == "estimate"


@pytest.mark.parametrize("inference", WAYS)
def test_answers_without_loops_are_exact(coins, inference):
    exact = coins.query("a", given={"c": "1"}).values
    found = coins.query("a", given={"c": "1"}, inference=inference)
    tolerance = {"mean-field": 0.2, "gibbs": 0.02}.get(inference, 1e-6)
    np.testing.assert_allclose(found.values, exact, atol=tolerance)
    assert found.label.method == inference
    if inference in ("loopy", "mini-bucket"):
        assert found.label.kind == "exact"


@pytest.mark.parametrize("inference", ["loopy", "trw", "mean-field", "mini-bucket"])
def test_log_z_lies_within_its_bounds(grid, sprinkler, inference):
    for net, given in ((grid, None), (grid, {"x00": "1"}), (sprinkler, WET)):
        exact = float(net.log_z(given))
        found = net.log_z(given, inference=inference, i_bound=2 if "mini" in inference else None)
        assert found.lower <= exact + 1e-9
        assert exact <= found.upper + 1e-9
        kinds = {"loopy": "estimate", "trw": "upper bound", "mean-field": "lower bound"}
        assert found.label.kind in (kinds.get(inference, "upper bound"), "exact")
        assert {"upper bound": found.upper, "lower bound": found.lower}.get(
            found.label.kind, found
        ) == float(found)


@pytest.mark.parametrize("inference", ["loopy", "trw", "mean-field", "mini-bucket"])
def test_probabilities_of_evidence_lie_within_their_bounds(grid, sprinkler, inference):
    for net, given in ((grid, {"x00": "1", "x12": "0"}), (sprinkler, WET)):
        exact = net.log_probability(given)
        found = net.log_probability(given, inference=inference)
        assert found.lower <= exact + 1e-9 <= found.upper + 2e-9
        if found.label.kind == "upper bound":
            assert found >= exact - 1e-9
        if found.label.kind == "lower bound":
            assert found <= exact + 1e-9
        p = net.probability(given, inference=inference)
        assert p == pytest.approx(np.exp(float(found)))
        assert p.label == found.label


def test_mini_buckets_bound_every_probability(grid):
    exact = grid.query("x11", given={"x15": "1"})
    for i_bound in (1, 2):
        found = grid.query("x11", given={"x15": "1"}, inference="mini-bucket", i_bound=i_bound)
        assert found.label.kind == "between bounds"
        assert (found.interval.lower <= exact.values + 1e-9).all()
        assert (exact.values <= found.interval.upper + 1e-9).all()
    whole = grid.query("x11", given={"x15": "1"}, inference="mini-bucket")
    np.testing.assert_allclose(whole.values, exact.values, atol=1e-9)
    assert whole.label.kind == "exact"
    bounds = shares_between(np.log([[1.0, 2.0], [1.0, 1.0]]))
    np.testing.assert_allclose(bounds, [[0.5, 1 / 3], [2 / 3, 0.5]])


def test_draws_agree_with_exact_marginals_within_their_errors(grid):
    exact = grid.marginals(given={"x00": "1"})
    found = grid.marginals(given={"x00": "1"}, inference="gibbs")
    assert set(found) == set(exact)
    for name, distribution in found.items():
        np.testing.assert_allclose(distribution.values, exact[name].values, atol=0.02)
        reach = distribution.interval.upper - distribution.interval.lower
        assert (np.abs(distribution.values - exact[name].values) <= 1.2 * reach + 1e-3).all()
    label = found["x11"].label
    assert (label.kind, label.converged) == ("estimate", True)
    assert "R-hat at most 1.0" in label.notes[0]


@pytest.mark.parametrize("inference", ["loopy", "trw", "mean-field", "gibbs"])
def test_marginals_and_joint_queries_agree(grid, inference):
    alone = grid.query("x01", given={"x00": "1"}, inference=inference)
    joint = grid.query(["x01", "x10"], given={"x00": "1"}, inference=inference)
    np.testing.assert_allclose(joint.values.sum(1), alone.values, atol=1e-7)
    every = grid.marginals(given={"x00": "1"}, inference=inference)
    np.testing.assert_allclose(every["x01"].values, alone.values, atol=1e-7)


def test_all_fixed_points_within_the_bracket_are_told():
    """Two phases of a grid without a field, one of them slightly preferred."""
    _, scopes, tables = naive.grid(4, lambda k: 0.9, lambda i: 0.01)
    named = [([f"x{v:02}" for v in s], t) for s, t in zip(scopes, tables, strict=True)]
    net = jn.MarkovNetwork.from_tables(named, logs=True)
    found = net.log_z(inference="loopy")
    assert float(found) == max(found.label.fixed_points)
    assert all(found.lower <= value <= found.upper for value in found.label.fixed_points)
    assert found.label.plain()["fixed_points"] == list(found.label.fixed_points)


def test_soft_evidence_and_interventions_are_understood(sprinkler):
    asked = {"given": {"wet_grass": [0.3, 1.0]}, "do": {"sprinkler": "on"}}
    exact = sprinkler.query("rain", **asked)
    found = sprinkler.query("rain", **asked, inference="mini-bucket")
    np.testing.assert_allclose(found.values, exact.values, atol=1e-9)
    target = {"given": {"rain": [0.3, 0.7], **WET}}
    np.testing.assert_allclose(
        sprinkler.query("rain", **target, inference="mini-bucket").values,
        sprinkler.query("rain", **target).values,
        atol=1e-9,
    )


def test_auto_is_exact_where_memory_allows_and_says_why_elsewhere(sprinkler, little_memory):
    assert sprinkler.query("rain", given=WET, inference="auto").label.kind == "exact"
    net = big_grid()
    with pytest.raises(TooLargeError):
        net.query("x22")
    found = net.query("x22", inference="auto")
    assert found.label.method == "loopy"
    assert "not exact, because the junction tree" in str(found.label)
    assert "more than the limit" in repr(net.log_z(inference="auto"))
    rows = {name: ["0", "1"] for name in list(net.states)[:3]}
    each = net.log_likelihood(rows, missing_columns="ignore", inference="auto")
    assert each.label.kind == "estimate"
    assert each.shape == (2,)


def test_rows_are_answered_one_by_one_with_one_label(sprinkler):
    rows = {"cloudy": ["yes", None, "no"], "wet_grass": ["yes", "yes", None]}
    quiet = {"missing_columns": "ignore"}
    for inference in ("auto", "mini-bucket"):
        found = sprinkler.log_likelihood(rows, inference=inference, **quiet)
        np.testing.assert_allclose(found, sprinkler.log_likelihood(rows, **quiet), atol=1e-9)
        assert found.label.kind == "exact"
        proba = sprinkler.predict_proba(rows, "rain", inference=inference, **quiet)
        np.testing.assert_allclose(proba, sprinkler.predict_proba(rows, "rain", **quiet), atol=1e-9)
    found = sprinkler.predict(rows, "rain", inference="loopy", **quiet)
    assert found.tolist() == sprinkler.predict(rows, "rain", **quiet).tolist()
    assert found.label.kind == "estimate"
    assert "estimate (loopy" in repr(found)


def test_rows_with_unknown_labels_and_impossible_ones_are_told(coins):
    with pytest.warns(jn.DataWarning, match="blue"):
        found = coins.log_likelihood({"a": ["0", "blue"], "b": ["0", "0"]}, inference="loopy",
                                     missing_columns="ignore")  # fmt: skip
    assert found[1] == -np.inf
    net = jn.BayesianNetwork.from_tables("a -> b", {"a": [1.0, 0.0], "b": [[1, 0], [0.5, 0.5]]})
    with pytest.raises(ImpossibleError, match="row 1: the evidence is impossible: b=1"):
        net.predict({"b": ["1"]}, "a", inference="loopy")
    assert net.predict({"b": ["1"]}, "a", inference="loopy", impossible="nan").tolist() == [""]
    assert net.log_z({"b": "1"}, inference="trw") == -np.inf


def test_the_most_probable_states_say_whether_others_may_be_better(grid, sprinkler):
    exact = grid.most_probable(given={"x00": "1"})
    found = grid.most_probable(given={"x00": "1"}, inference="loopy")
    assert dict(found.states) == dict(exact.states)
    assert found.bound >= found.log_product - 1e-9
    best = sprinkler.most_probable(given=WET, k=3, inference="trw")
    assert [dict(one.states) for one in best] == [
        dict(one.states) for one in sprinkler.most_probable(given=WET, k=3)
    ]
    assert best[0].is_certain
    assert best[0].log_probability == pytest.approx(-1.12701, abs=1e-5)
    assert "no states are more probable" in repr(best[0])


def test_a_frustrated_grid_has_a_gap_that_is_told():
    _, scopes, tables = naive.grid(5, lambda k: 1.0 if k % 3 else -1.0, lambda i: 0.01 * i)
    named = [([f"x{v:02}" for v in s], t) for s, t in zip(scopes, tables, strict=True)]
    net = jn.MarkovNetwork.from_tables(named, logs=True)
    found = net.most_probable(inference="loopy")
    assert not found.is_certain
    assert "more probable ones may exist" in repr(found)


def test_what_makes_no_sense_is_refused(sprinkler, grid):
    with pytest.raises(
        JensenError, match="there is no inference='magic': choose inference='exact'"
    ):
        sprinkler.query("rain", inference="magic")
    with pytest.raises(JensenError, match="draws do not tell log Z"):
        grid.log_z(inference="gibbs")
    with pytest.raises(JensenError, match="for one question without an interval"):
        sprinkler.query("rain", given=[WET], inference="loopy")
    with pytest.raises(JensenError, match="ask for one variable or several different ones"):
        sprinkler.query(["rain", "rain"], inference="loopy")
    with pytest.raises(JensenError, match="i_bound must be a whole number"):
        sprinkler.query("rain", inference="mini-bucket", i_bound=0)
    net = jn.BayesianNetwork.from_tables("a -> b", {"a": [1.0, 0.0], "b": [[1, 0], [0.5, 0.5]]})
    with pytest.raises(ImpossibleError, match="the evidence is impossible"):
        net.query("a", given={"b": "1"}, inference="mean-field")
    numbers = jn.BayesianNetwork("x -> y").fit({"x": [0.1, 2.3, 1.2], "y": [1.5, 0.2, 0.1]})
    with pytest.raises(JensenError, match="for networks of labels alone"):
        numbers.query("x", inference="loopy")
    sampled = jn.BayesianNetwork("a -> b", method="gibbs", n_samples=10, random_state=0).fit(
        {"a": list("xyxy"), "b": list("xxyy")}
    )
    with pytest.raises(JensenError, match="a mixture of networks, which approximate"):
        sampled.query("a", inference="loopy")


def test_variables_with_one_state_are_known():
    net = jn.MarkovNetwork.from_tables(
        {
            ("a", "b", "c"): np.arange(1, 5).reshape(2, 1, 2),
            ("c", "d"): [[2, 1], [1, 3]],
            ("a", "d"): [[2, 1], [1, 2]],
        }
    )
    exact = float(net.log_z())
    assert net.log_z(inference="mini-bucket") == pytest.approx(exact)
    assert net.log_z(inference="mean-field") <= exact <= net.log_z(inference="trw")
    alone = jn.MarkovNetwork.from_tables({"a": [2]})
    assert alone.log_z(inference="loopy") == pytest.approx(np.log(2.0))


def test_complete_rows_of_a_markov_network_are_bounded_from_the_side_that_is_told():
    tables = {("a", "b"): [[2, 1], [1, 2]], ("b", "c"): [[2, 1], [1, 3]]}
    net = jn.MarkovNetwork.from_tables({**tables, ("a", "c"): [[2, 1], [1, 5]]})
    row = {"a": ["0"], "b": ["0"], "c": ["0"]}
    exact = float(net.log_likelihood(row)[0])
    above, below = (net.log_likelihood(row, inference=way) for way in ("trw", "mean-field"))
    assert below[0] < exact < above[0]
    assert (below.label.kind, above.label.kind) == ("lower bound", "upper bound")
    assert (-above).label is None  # the other side of it
    assert above[:1].label == above.label


def test_soft_evidence_may_be_larger_than_one():
    tables = {("a", "b"): [[2, 1], [1, 2]], ("b", "c"): [[2, 1], [1, 3]]}
    net = jn.MarkovNetwork.from_tables({**tables, ("a", "c"): [[2, 1], [1, 2]]})
    exact = net.log_probability({"a": [5, 7]})
    assert exact > 0.0
    for way in ("loopy", "trw", "mean-field", "mini-bucket"):
        found = net.log_probability({"a": [5, 7]}, inference=way)
        assert found.lower <= exact + 1e-9 <= found.upper + 2e-9


def test_shares_of_what_is_far_apart_are_bounded():
    low, high = shares_between(np.array([[-2000.0, 0.0], [-1000.0, -900.0]]))
    assert (low[0], high[1]) == (0.0, pytest.approx(1.0))
    only = shares_between(np.array([[-np.inf, 0.0], [-np.inf, -np.inf]]))
    np.testing.assert_array_equal(only, [[1.0, 0.0], [1.0, 0.0]])


def test_chains_that_disagree_have_wide_intervals():
    rng = np.random.default_rng(12)
    _, scopes, tables = naive.grid(4, lambda k: rng.normal(0.0, 2.0), lambda i: 0.3)
    named = [([f"x{v:02}" for v in s], t) for s, t in zip(scopes, tables, strict=True)]
    net = jn.MarkovNetwork.from_tables(named, logs=True)
    found, exact = net.query("x05", inference="gibbs"), net.query("x05")
    reach = found.interval.upper - found.interval.lower
    close = np.abs(found.values - exact.values) <= 1.5 * reach + 0.01
    assert close.all() or not found.label.converged


def test_large_potentials_are_drawn_from_without_overflow():
    tables = {("a", "b"): [[1e3, 0], [0, 0]], ("b", "c"): [[0, 1e3], [0, 1]]}
    net = jn.MarkovNetwork.from_tables(tables, logs=True)
    found = net.query(["a", "b"], inference="gibbs")
    np.testing.assert_allclose(found.values, net.query(["a", "b"]).values, atol=1e-9)


def test_the_k_best_stand_in_order_and_are_certain_together():
    rng = np.random.default_rng(10)
    _, scopes, tables = naive.grid(4, lambda k: rng.normal(0.0, 2.0), lambda i: 0.3)
    named = [([f"x{v:02}" for v in s], t) for s, t in zip(scopes, tables, strict=True)]
    net = jn.MarkovNetwork.from_tables(named, logs=True)
    best = net.most_probable(k=5, inference="loopy")
    values = [one.log_product for one in best]
    assert values == sorted(values, reverse=True)
    assert len({one.is_certain for one in best}) == 1
    assert best[0].label.method == "dual decomposition"


def test_networks_with_numbers_answer_exactly():
    net = jn.BayesianNetwork("x -> y").fit({"x": [0.1, 0.5, 0.3, 0.9], "y": [1.0, 2.0, 1.5, 2.0]})
    assert net.log_z() == 0.0
    assert net.log_z({"x": 0.3}) == pytest.approx(net.log_probability({"x": 0.3}))
    assert net.query("y", {"x": 0.3}, inference="auto").means == net.query("y", {"x": 0.3}).means


def test_nothing_possible_is_refused_and_a_choice_that_is_ignored(sprinkler):
    equal, other = [[1, 0], [0, 1]], [[0, 1], [1, 0]]
    with pytest.raises(JensenError, match="i_bound belongs to inference='mini-bucket'"):
        sprinkler.log_z(inference="loopy", i_bound=2)
    tables = {("a", "b"): equal, ("b", "c"): equal, "a": [1, 0], "c": [0, 1]}
    net = jn.MarkovNetwork.from_tables({**tables, ("a", "c"): other})
    with pytest.raises(JensenError, match="leave no state possible"):
        net.log_probability({"b": "0"}, inference="trw")


def test_summaries_of_loopy_learning_say_estimate():
    table = jn.examples.load("sprinkler").sample(100, random_state=1).to_pandas()
    table.loc[table.index % 3 == 0, ["rain", "sprinkler"]] = None
    graph = jn.examples.load("sprinkler").graph
    for method, what in (("loopy", "log evidence"), ("loopy-em", "log-likelihood")):
        net = jn.BayesianNetwork(graph, method=method, random_state=0).fit(table)
        assert f"estimate of the {what}" in str(net.summary())


def test_the_words_of_inference_stand_in_one_order():
    from jensen.cli.options import INFERENCE

    assert tuple(INFERENCE.values) == WORDS


def test_labelled_numbers_are_floats_that_can_be_copied_and_sent(sprinkler):
    import copy
    import pickle

    found = sprinkler.log_z(WET, inference="trw")
    assert isinstance(found, float)
    assert found + 1.0 == float(found) + 1.0
    for again in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert (float(again), again.label, again.upper) == (float(found), found.label, found.upper)
    assert json.dumps(found.label.plain())


# --- loopy beliefs as a choice of q(h) ---


def test_loopy_learning_is_exact_where_what_is_missing_has_no_loop():
    rng = np.random.default_rng(0)
    table = jn.examples.load("sprinkler").sample(200, random_state=1).to_pandas()
    table.loc[rng.random(200) < 0.3, "rain"] = None  # one missing cell a row at most
    graph = jn.examples.load("sprinkler").graph
    for loopy, exact, prior in (("loopy-em", "em", None), ("loopy", "vbem", "bdeu")):
        found, expected = (
            jn.BayesianNetwork(graph, method=method, prior=prior, tol=1e-12, random_state=0).fit(
                table
            )
            for method in (loopy, exact)
        )
        assert found.free_energy_ == pytest.approx(expected.free_energy_, abs=1e-6)
        np.testing.assert_allclose(
            found.cpt("wet_grass").values, expected.cpt("wet_grass").values, atol=1e-5
        )
        assert not found.is_bound_


def test_two_hundred_values_missing_at_once_are_learned_from_with_a_label():
    """A row of a 15 × 14 grid misses all but its corner, which no tree of clusters does."""
    side = [f"x{r:02}{c:02}" for r in range(15) for c in range(14)]
    parents = {
        f"x{r:02}{c:02}": [f"x{a:02}{b:02}" for a, b in ((r - 1, c), (r, c - 1)) if a >= 0 <= b]
        for r in range(15)
        for c in range(14)
    }
    graph = jn.DAG([(p, v) for v, above in parents.items() for p in above])
    rng = np.random.default_rng(0)
    rows = {name: list(rng.choice(["0", "1"], 6)) for name in side}
    for name in side[1:]:
        rows[name][0] = None
    net = jn.BayesianNetwork(graph, method="loopy", prior=1.0, max_iter=3, random_state=0)
    with pytest.warns(jn.DataWarning, match="hold one label only"):
        net.fit(rows)
    assert not net.is_bound_
    assert np.isfinite(net.free_energy_)
