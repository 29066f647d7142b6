"""Markov networks of complete rows: maximum likelihood, penalties, zeros, questions."""

from itertools import combinations, product

import numpy as np
import pytest
from naive import markov

import jensen as jn
from jensen.families import log_linear
from jensen.models import log_linear_sums

NAMES = ("a", "b", "c", "d")
STATES = {"a": ["n", "y"], "b": ["n", "y"], "c": ["0", "1", "2"], "d": ["n", "y"]}
RING = "a - b - c - d - a"

# Reinis and others (1981): risk factors of 1,841 workers; the pairs of three of the six variables
# are typed in here as a table of facts (smoking, mental work, protein ratio).
REINIS = {("n", "n"): 312, ("n", "y"): 543, ("y", "n"): 372, ("y", "y"): 614}


def table_of(counts, names, states=None):
    """A table of weighted rows."""
    columns = {x: [cell[k] for cell in counts] for k, x in enumerate(names)}
    return jn.Table(columns, weights=list(counts.values()), states=states)


@pytest.fixture(scope="module")
def rows():
    """Counts of all cells of four labels, none of them 0."""
    rng = np.random.default_rng(3)
    cells = list(product(*(STATES[x] for x in NAMES)))
    return table_of(dict(zip(cells, rng.integers(1, 30, len(cells)), strict=True)), NAMES, STATES)


def counts_of(table, names):
    """Counts as an array with an axis per name."""
    found = np.zeros([len(STATES[x]) for x in names])
    codes = [table.column(x).data for x in names]
    np.add.at(found, tuple(codes), table.weights)
    return found


def loglik(net, table):
    return float(net.log_likelihood(table) @ table.weights)


# --- maximum likelihood ---


@pytest.mark.parametrize("graph", [RING, None, "a - b - c; d"])
def test_fitted_margins_are_those_of_the_rows(rows, graph):
    """Which is what the gradient says: data marginal minus model marginal."""
    net = jn.MarkovNetwork(graph).fit(rows)
    for names in [*net.graph_.edges, *((x,) for x in net.graph_.nodes)]:
        wanted = counts_of(rows, names) / rows.total_weight
        np.testing.assert_allclose(markov.margin(net.network_, names), wanted, rtol=1e-6)
    assert net.converged_


def test_f_is_the_log_likelihood(rows):
    net = jn.MarkovNetwork(RING).fit(rows)
    joint = markov.log_joint(net.network_)
    wanted = (counts_of(rows, NAMES) * joint).sum()
    assert net.free_energy_ == pytest.approx(wanted, rel=1e-12)
    assert loglik(net, rows) == pytest.approx(wanted, rel=1e-12)
    assert net.is_bound_ is False


def test_proportional_fitting_has_the_same_optimum(rows):
    net = jn.MarkovNetwork(RING).fit(rows)
    edges = [tuple(NAMES.index(x) for x in edge) for edge in net.graph_.edges]
    margins = {edge: counts_of(rows, [NAMES[v] for v in edge]) for edge in edges}
    fitted = markov.proportional_fitting(margins, (2, 2, 3, 2), 200)[-1]
    np.testing.assert_allclose(np.exp(markov.log_joint(net.network_)), fitted, rtol=1e-8)


@pytest.mark.parametrize("graph", [RING, None])
def test_a_tree_gives_what_a_list_of_states_gives(rows, graph, monkeypatch):
    listed = jn.MarkovNetwork(graph).fit(rows)
    monkeypatch.setattr(log_linear_sums, "MOST_STATES", 0)
    by_tree = jn.MarkovNetwork(graph, tol=1e-13).fit(rows)
    assert by_tree.free_energy_ == pytest.approx(listed.free_energy_, rel=1e-11)
    for names, effect in listed.effects().items():
        np.testing.assert_allclose(by_tree.effects()[names].values, effect.values, atol=1e-5)
    assert (np.diff(by_tree.trace_) >= -1e-9).all()


@pytest.mark.parametrize(
    ("graph", "interactions"),
    [("a - b - c; d", "pairwise"), ("a - b - c - a; c - d", "cliques"), (None, "cliques")],
)
def test_decomposable_graphs_begin_at_the_answer(rows, graph, interactions):
    net = jn.MarkovNetwork(graph, interactions=interactions).fit(rows)
    assert net.trace_[0] == pytest.approx(net.free_energy_, rel=1e-14)
    if interactions == "cliques" and graph is None:
        p = counts_of(rows, NAMES) / rows.total_weight
        assert net.free_energy_ == pytest.approx((rows.total_weight * p * np.log(p)).sum())
        assert net.parameters_count == 23


def test_interactions_of_cliques_are_more_than_those_of_pairs(rows):
    pairs = jn.MarkovNetwork("a - b - c - a; d").fit(rows)
    cliques = jn.MarkovNetwork([("a", "b", "c"), ("d",)], interactions="cliques").fit(rows)
    assert cliques.parameters_count == pairs.parameters_count + 2
    assert cliques.free_energy_ > pairs.free_energy_
    wanted = counts_of(rows, "abc") / rows.total_weight
    np.testing.assert_allclose(markov.margin(cliques.network_, "abc"), wanted, rtol=1e-9)


def test_two_labels_in_closed_form():
    """J of a table of two bits is a quarter of the log odds ratio; its error is the textbook's."""
    net = jn.MarkovNetwork().fit(table_of(REINIS, ("smoke", "protein")))
    odds = 312 * 614 / (543 * 372)
    effect = net.standard_errors()["smoke", "protein"]
    assert effect.values[1, 1] == pytest.approx(np.log(odds) / 4)
    assert effect.errors[1, 1] == pytest.approx(np.sqrt(sum(1 / n for n in REINIS.values())) / 4)


# --- penalties ---


def objective(theta, counts, rate, *, is_ridge):
    """Log-likelihood less a penalty of the couplings, over bits, from the definition."""
    n = counts.ndim
    spins = np.array(list(product((-1.0, 1.0), repeat=n)))
    pairs = [spins[:, i] * spins[:, j] for i, j in combinations(range(n), 2)]
    weights = np.column_stack([spins, *pairs]) @ theta
    log_p = weights - np.logaddexp.reduce(weights)
    J = theta[n:]
    penalty = 0.5 * rate * J @ J if is_ridge else rate * np.abs(J).sum()
    return counts.ravel() @ log_p - penalty


@pytest.fixture(scope="module")
def bits():
    rng = np.random.default_rng(5)
    cells = list(product("ny", repeat=3))
    return table_of(dict(zip(cells, rng.integers(5, 60, 8), strict=True)), "abc")


@pytest.mark.parametrize("kind", ["ridge", "l1"])
@pytest.mark.parametrize("listed", [True, False])
def test_penalties_are_at_their_optimum(bits, kind, listed, monkeypatch):
    if not listed:
        monkeypatch.setattr(log_linear_sums, "MOST_STATES", 0)
    net = jn.MarkovNetwork(prior={kind: 8.0}, tol=1e-13, max_iter=5000).fit(bits)
    effects = net.effects()
    theta = [effects[x].values[1] for x in "abc"]
    theta = np.array([*theta, *(effects[p].values[1, 1] for p in combinations("abc", 2))])
    counts = np.zeros((2, 2, 2))
    np.add.at(counts, tuple(bits.column(x).data for x in "abc"), bits.weights)
    is_ridge = kind == "ridge"
    best = objective(theta, counts, 8.0, is_ridge=is_ridge)
    rng = np.random.default_rng(0)
    for size in (1e-1, 1e-2, 1e-3):
        for _ in range(20):
            move = theta + size * rng.standard_normal(6) * (theta != 0.0)
            assert objective(move, counts, 8.0, is_ridge=is_ridge) <= best + 1e-9
            anywhere = theta + size * rng.standard_normal(6)
            assert objective(anywhere, counts, 8.0, is_ridge=is_ridge) <= best + 1e-9
    constant = 3 * (0.5 * np.log(8.0 / (2 * np.pi)) if is_ridge else np.log(8.0 / 2))
    assert net.free_energy_ == pytest.approx(best + constant, abs=1e-8)


def test_a_strong_l1_leaves_no_interaction(bits):
    net = jn.MarkovNetwork(prior={"l1": 1e4}).fit(bits)
    assert all(effect.strength == 0.0 for effect in net.effects().interactions.values())
    with pytest.raises(jn.JensenError, match="kink"):
        net.standard_errors()


def test_penalties_do_not_depend_on_the_order_of_states(rows):
    turned = {**STATES, "c": ["2", "0", "1"]}
    columns = {
        x: [v.states[k] for k in rows.column(x).data]
        for x, v in zip(NAMES, rows.variables, strict=True)
    }
    again = jn.Table(columns, weights=rows.weights, states=turned)
    for prior in ({"ridge": 5.0}, {"l1": 20.0}):
        one, other = (jn.MarkovNetwork(RING, prior=prior).fit(t) for t in (rows, again))
        assert one.free_energy_ == pytest.approx(other.free_energy_, abs=1e-7)


# --- zeros ---


def test_zero_margins_are_told_not_clipped():
    table = table_of({("n", "n"): 5, ("n", "y"): 7, ("y", "n"): 3}, "ab")
    with pytest.warns(jn.DataWarning, match="no row has a=y and b=y: .* 2 degrees of freedom"):
        net = jn.MarkovNetwork().fit(table)
    assert net.parameters_count == 2
    assert net.free_energy_ == pytest.approx(sum(n * np.log(n / 15) for n in (5, 7, 3)))
    assert net.effects()["a", "b"].values[1, 1] == -np.inf
    assert net.log_likelihood({"a": ["y"], "b": ["y"]})[0] == -np.inf
    with pytest.raises(jn.ImpossibleError, match="a=y, b=y cannot occur together"):
        net.query("a", given={"b": "y"}) and net.marginals(given={"a": "y", "b": "y"})
    kept = jn.MarkovNetwork(prior={"ridge": 1.0}).fit(table)
    assert np.isfinite(kept.log_likelihood({"a": ["y"], "b": ["y"]})[0])


def test_zero_margins_of_a_tree(monkeypatch):
    counts = {c: 1 + k for k, c in enumerate(product("ny", repeat=3)) if c[:2] != ("y", "y")}
    table = table_of(counts, "abc")
    with pytest.warns(jn.DataWarning, match="degrees of freedom"):
        listed = jn.MarkovNetwork("a - b - c").fit(table)
    monkeypatch.setattr(log_linear_sums, "MOST_STATES", 0)
    with pytest.warns(jn.DataWarning, match="degrees of freedom"):
        by_tree = jn.MarkovNetwork("a - b - c").fit(table)
    assert by_tree.parameters_count == listed.parameters_count == 4
    assert by_tree.free_energy_ == pytest.approx(listed.free_energy_)


def test_a_state_that_no_row_has(bits):
    table = jn.Table({"a": ["x", "y", "x"], "b": ["n", "n", "y"]}, states={"a": ["x", "y", "z"]})
    with pytest.warns(jn.DataWarning, match="no row has a=z"):
        net = jn.MarkovNetwork("a; b", prior={"ridge": 1.0}).fit(table)
    assert net.query("a")["z"] == 0.0


# --- questions ---


@pytest.fixture(scope="module")
def net(rows):
    return jn.MarkovNetwork(RING).fit(rows)


def test_questions_by_enumeration(net):
    joint = np.exp(markov.log_joint(net.network_))
    np.testing.assert_allclose(net.query(["a", "c"]).values, joint.sum((1, 3)), rtol=1e-12)
    given = joint[:, 1, :, 0] / joint[:, 1, :, 0].sum()
    np.testing.assert_allclose(
        net.query("c", given={"b": "y", "d": "n"}).values, given.sum(0), rtol=1e-12
    )
    soft = joint * np.array([0.2, 0.8])[:, None, None, None]
    np.testing.assert_allclose(
        net.query("d", given={"a": [0.2, 0.8]}).values, soft.sum((0, 1, 2)) / soft.sum(), rtol=1e-12
    )
    assert net.probability({"a": "y", "c": "2"}) == pytest.approx(joint[1, :, 2].sum())
    assert net.marginals({"a": "y"})["c"].values == pytest.approx(
        joint[1].sum((0, 2)) / joint[1].sum()
    )
    best = net.most_probable({"a": "n"}, k=3)
    order = np.sort(joint[0].ravel())[::-1]
    assert [np.exp(one.log_probability) for one in best] == pytest.approx(list(order[:3]))
    assert best[0].log_conditional == pytest.approx(np.log(order[0] / joint[0].sum()))
    assert net.entropy() == pytest.approx(-(joint * np.log(joint)).sum())
    assert net.mutual_information("a", "c", given=["b", "d"]) == pytest.approx(0.0, abs=1e-12)
    assert net.log_z() == pytest.approx(np.logaddexp.reduce(markov.log_weights(net.network_)))


def test_rows_by_enumeration(net):
    table = {
        "a": ["n", None, "y"],
        "b": ["y", "n", None],
        "c": ["2", "0", "1"],
        "d": ["n", None, None],
    }
    listed = [{x: table[x][k] for x in NAMES} for k in range(3)]
    wanted = [markov.log_row(net.network_, row) for row in listed]
    np.testing.assert_allclose(net.log_likelihood(table), wanted, rtol=1e-12)
    proba = net.predict_proba(table, "c")
    for k, row in enumerate(listed):
        each = [markov.log_row(net.network_, {**row, "c": s}) for s in STATES["c"]]
        np.testing.assert_allclose(proba[k], np.exp(each - np.logaddexp.reduce(each)), rtol=1e-12)
        assert net.predict(table, "c")[k] == STATES["c"][int(np.argmax(each))]
    filled = net.impute(table)
    assert filled["a"][0] == "n"
    a, d = max(
        product("ny", "ny"),
        key=lambda p: markov.log_row(net.network_, {**listed[1], "a": p[0], "d": p[1]}),
    )
    assert (filled["a"][1], filled["d"][1]) == (a, d)
    counts = net.expected_counts(table, [["b", "d"]])[0]
    assert counts.sum() == pytest.approx(3.0)
    expected = np.zeros((2, 2))
    for row in listed:
        each = np.array(
            [[markov.log_row(net.network_, {**row, "b": b, "d": d}) for d in "ny"] for b in "ny"]
        )
        for axis, x in enumerate("bd"):
            if row[x] is not None:
                other = [slice(None)] * 2
                other[axis] = 1 - "ny".index(row[x])
                each[tuple(other)] = -np.inf
        expected += np.exp(each - np.logaddexp.reduce(each.ravel()))
    np.testing.assert_allclose(counts, expected, rtol=1e-10)


def test_draws_have_the_distribution(net):
    n = 40_000
    drawn = net.sample(n, random_state=0)
    joint = np.exp(markov.log_joint(net.network_))
    counts = np.zeros(joint.shape)
    np.add.at(counts, tuple(drawn.column(x).data.astype(int) for x in NAMES), 1.0)
    chi2 = ((counts - n * joint) ** 2 / (n * joint)).sum()
    assert chi2 < 50.0  # 23 degrees of freedom: p = 0.001
    given = net.sample(500, given={"a": "y"}, random_state=0)
    assert set(given.column("a").data.tolist()) == {1}


def test_conditional_given_neighbours(net):
    joint = np.exp(markov.log_joint(net.network_))
    found = net.network_.conditional("a")
    wanted = joint.sum(2).transpose(1, 2, 0)
    np.testing.assert_allclose(found.values, wanted / wanted.sum(-1, keepdims=True), rtol=1e-12)


def test_nothing_can_be_set_from_outside(net):
    with pytest.raises(jn.JensenError, match="no arrows"):
        net.query("a", do={"b": "y"})
    with pytest.raises(jn.JensenError, match="needs a posterior"):
        net.query("a", interval=0.9)


# --- made by hand ---


def test_potentials_by_hand():
    net = jn.MarkovNetwork.from_tables(
        {("a", "b"): [[2.0, 1.0], [0.0, 3.0]], ("b", "a"): [[1.0, 1.0], [2.0, 1.0]], "c": [1, 2, 1]}
    )
    p = np.array([[2.0, 2.0], [0.0, 3.0]])
    assert net.log_z() == pytest.approx(np.log(p.sum() * 4))
    np.testing.assert_allclose(net.query(["a", "b"]).values, p / p.sum())
    assert net.probability({"a": "1", "b": "0"}) == 0.0
    assert net.parameters_count == 5


def test_large_potentials_do_not_overflow():
    logs = {("a", "b"): [[2000.0, 1000.0], [1000.0, 1999.0]]}
    net = jn.MarkovNetwork.from_tables(logs, logs=True)
    assert net.log_z() == pytest.approx(2000.0 + np.log1p(np.exp(-1.0)))
    assert net.query("a")["0"] == pytest.approx(1 / (1 + np.exp(-1.0)))


def test_a_bayesian_network_without_its_arrows():
    directed = jn.examples.load("asia")
    net = jn.MarkovNetwork.from_bayesian_network(directed)
    assert net.graph_ == directed.graph.moral()
    assert net.log_z() == pytest.approx(0.0, abs=1e-12)
    given = {"xray": "yes", "smoke": "no"}
    for name, found in net.marginals(given).items():
        np.testing.assert_allclose(
            found.values, directed.query(name, given=given).values, rtol=1e-9
        )
    assert net.log_probability(given) == pytest.approx(directed.log_probability(given))


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({}, "one potential at least"),
        ({("a", "a"): [[1, 1], [1, 1]]}, "several different ones"),
        ({"a": [[1, 2]]}, "an axis for each"),
        ({"a": ["x"]}, "array of numbers"),
        ({"a": [1, -1]}, "not negative"),
        ({"a": [1, 2], ("a", "b"): [[1, 2]]}, "2 states in one potential and 1"),
    ],
)
def test_potentials_that_are_refused(tables, message):
    with pytest.raises(jn.JensenError, match=message):
        jn.MarkovNetwork.from_tables(tables)


def test_more_potentials_that_are_refused():
    with pytest.raises(jn.JensenError, match="finite, or -inf"):
        jn.MarkovNetwork.from_tables({"a": [np.inf, 0.0]}, logs=True)
    with pytest.raises(jn.JensenError, match="states name 'b'"):
        jn.MarkovNetwork.from_tables({"a": [1, 2]}, {"b": ["x", "y"]})
    with pytest.raises(jn.JensenError, match="2 states in its potentials"):
        jn.MarkovNetwork.from_tables({"a": [1, 2]}, {"a": ["x", "y", "z"]})
    with pytest.raises(jn.JensenError, match="leave no state possible"):
        _ = jn.MarkovNetwork.from_tables({"a": [1, 0], ("a", "b"): [[0, 0], [1, 1]]}).log_z()
    numbers = jn.BayesianNetwork.from_regressions("x; y", {"x": {}, "y": {}})
    with pytest.raises(jn.JensenError, match="Bayesian network of labels"):
        jn.MarkovNetwork.from_bayesian_network(numbers)


# --- refusals ---


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"interactions": "triples"}, "no interactions='triples'"),
        ({"method": "vbem"}, "no method 'vbem' for a Markov network"),
        ({"prior": "bdeu"}, "a penalty of its interactions"),
        ({"prior": {"ridge": 0.0}}, "positive and finite"),
        ({"prior": {"ridge": 1.0, "l1": 1.0}}, "a penalty of its interactions"),
        ({"graph": "a -> b"}, "cannot hold"),
        ({"graph": jn.CPDAG("a -- b")}, "undirected graph, and this is a CPDAG"),
        ({"graph": [("a", 3)]}, "a list of names"),
        ({"graph": [("a", "a")]}, "names a variable twice"),
        ({"graph": ["a", "b"]}, "a list of cliques"),
        ({"graph": "a - z"}, "'z' has no column"),
        ({"hidden": ["h"]}, "hidden must be a dict"),
        ({"start": 3}, "start must be a Markov network"),
        ({"tol": -1.0}, "tol must be a number"),
    ],
)
def test_choices_that_are_refused(bits, choices, message):
    with pytest.raises(jn.JensenError, match=message):
        jn.MarkovNetwork(**choices).fit(bits)


def test_rows_that_are_refused(bits):
    with pytest.raises(jn.JensenError, match="no columns"):
        jn.MarkovNetwork().fit(jn.Table({}))
    with pytest.raises(jn.JensenError, match="no rows, or no weight"):
        jn.MarkovNetwork().fit(bits.with_weights(np.zeros(8)))
    with pytest.raises(jn.JensenError, match="x"):
        jn.MarkovNetwork().fit(jn.Table({"x": [0.5, 1.5, 2.25]}))
    with pytest.raises(jn.NotFittedError, match="no potentials yet"):
        jn.MarkovNetwork().query("a")
    start = jn.MarkovNetwork("a - b").fit(bits)
    with pytest.raises(jn.JensenError, match="same graph, interactions and states"):
        jn.MarkovNetwork("a - c", start=start).fit(bits)


def test_too_large_a_tree_is_refused():
    rng = np.random.default_rng(0)
    table = jn.Table({f"x{k:02}": rng.integers(0, 2, 50).tolist() for k in range(40)})
    with pytest.raises(jn.JensenError, match="junction tree of 40 unobserved variables"):
        jn.MarkovNetwork().fit(table)
    with pytest.raises(jn.JensenError, match="effects of tables of up to 40 variables"):
        jn.MarkovNetwork(interactions="cliques").fit(table)


def test_a_start_changes_nothing(rows):
    first = jn.MarkovNetwork(RING).fit(rows)
    again = jn.MarkovNetwork(RING, start=first).fit(rows)
    assert again.free_energy_ == pytest.approx(first.free_energy_, rel=1e-13)


def test_effects_say_what_there_is(net):
    effects = net.effects()
    assert list(effects)[:4] == list(NAMES)
    assert effects["b", "a"] is effects["a", "b"]
    with pytest.raises(KeyError, match="do not interact"):
        effects["a", "c"]
    with pytest.raises(KeyError, match="effect of e; the variables are"):
        effects["e"]
    for effect in effects.values():
        for axis in range(effect.values.ndim):
            np.testing.assert_allclose(effect.values.sum(axis), 0.0, atol=1e-12)
    assert "log potential" in repr(effects)
    assert np.array(effects["a"]).shape == (2,)


def test_a_prior_has_all_its_constants():
    family = log_linear.LogLinearFamily(None, np.array([0, 1, 3]))
    eta = log_linear.LogLinear(np.zeros(3), 0.0, np.array([2.0, 0.0, 0.0]), np.array([0.0, 3.0]))
    wanted = 0.5 * np.log(2 * np.pi / 2.0) + np.log(2 * np.pi / 9.0)
    assert family.log_partition(eta) == pytest.approx(wanted)
    with pytest.raises(ValueError, match="no closed form"):
        family.log_partition(eta._replace(count=1.0))
