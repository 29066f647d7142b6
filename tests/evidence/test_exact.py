"""The exact evidence beside its definition, and beside published and recomputed numbers."""

from itertools import product

import numpy as np
import pytest
from evidence.cases import LATENT, NORMAL_GAMMA, POINTS, ROWS, latent_class
from naive import evidence as naive
from scipy.special import gammaln, logsumexp

import jensen as jn


def exact(model, table, **fit):
    found = jn.log_evidence(model, table, "exact", **fit)
    assert found.kind == "exact"
    assert found.standard_error is None
    return found.value


@pytest.mark.parametrize(
    ("n", "value"), [(1, -28.1809842873), (2, -26.0241013598), (3, -25.5817346051)]
)
def test_latent_classes_of_twelve_rows(n, value):
    assert exact(latent_class(n), LATENT) == pytest.approx(value, abs=1e-9)
    graph = "H -> a; H -> b; H -> c" if n > 1 else "a; b; c"
    hidden = {"H": n} if n > 1 else None
    net = jn.BayesianNetwork(graph, hidden=hidden, prior=1.0, random_state=0)
    assert exact(net, LATENT) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("covariance", ["diagonal", "spherical", "full"])
@pytest.mark.parametrize(
    ("n", "value"), [(1, -28.2049437171), (2, -26.3528774823), (3, -25.8921391583)]
)
def test_mixtures_of_twelve_points(n, value, covariance):
    scale = [[0.5]] if covariance == "full" else [0.5]
    prior = {**NORMAL_GAMMA, "scale": scale}
    model = jn.GaussianMixture(n, covariance=covariance, prior=prior, random_state=0)
    assert exact(model, np.array(POINTS)[:, None]) == pytest.approx(value, abs=1e-8)


def test_a_mixture_is_the_sum_over_its_states():
    def of_rows(rows):
        return naive.normal_gamma(rows, 0.0, 0.1, 2.0, 1.0)

    expected = naive.mixture(POINTS[:7], 2, 1.0, of_rows)
    model = jn.GaussianMixture(2, covariance="diagonal", prior=NORMAL_GAMMA)
    assert exact(model, np.array(POINTS[:7])[:, None]) == pytest.approx(expected, rel=1e-10)


def test_missing_labels_of_classes_say_nothing():
    rows = [(0, 1, None), (1, None, 0), (None, 0, 2), (1, 1, 1), (0, None, 2), (0, 1, 2)]
    columns = {name: [row[i] for row in rows] for i, name in enumerate("abc")}
    table = jn.Table(columns, states=dict.fromkeys("abc", range(3)))
    expected = naive.mixture(rows, 2, 1.0, naive.labels(3, 1.0))
    assert exact(latent_class(2), table) == pytest.approx(expected, rel=1e-12)


def test_missing_numbers_of_columns_that_are_apart_say_nothing():
    """The sum over all states, each column of a state having the evidence of what it shows."""
    rows = np.array([[0.1, 0.3], [1.0, np.nan], [np.nan, 2.2], [3.0, 2.7], [np.nan, np.nan]])
    two = {**NORMAL_GAMMA, "mean": [0.0, 0.0], "scale": [0.5, 0.5]}

    def of_values(values):
        model = jn.GaussianMixture(1, covariance="diagonal", prior=NORMAL_GAMMA)
        return exact(model, values[:, None]) if len(values) else 0.0

    total = []
    for states in product(range(2), repeat=len(rows)):
        counts = np.bincount(states, minlength=2)
        value = gammaln(counts + 1.0).sum() - gammaln(len(rows) + 2.0)
        for k in range(2):
            own = rows[np.array(states) == k]
            value += sum(of_values(column[~np.isnan(column)]) for column in own.T)
        total.append(value)
    model = jn.GaussianMixture(2, covariance="diagonal", prior=two, random_state=0)
    expected = logsumexp(total)
    assert exact(model, rows) == pytest.approx(expected, abs=1e-10)
    for method, n_chains in (("ais", 200), ("bridge", 8)):
        found = jn.log_evidence(model, rows, method, n_chains=n_chains)
        assert abs(found.value - expected) < 4.0 * found.standard_error < 0.6


def test_rows_of_a_weight_are_so_many_rows():
    distinct = sorted(set(ROWS))
    weights = [float(ROWS.count(row)) for row in distinct]
    columns = {name: [row[i] for row in distinct] for i, name in enumerate("abc")}
    table = jn.Table(columns, weights=weights)
    assert exact(latent_class(2), table) == pytest.approx(-26.0241013598, abs=1e-9)
    halves = jn.Table(columns, weights=[0.5] * len(distinct))
    with pytest.raises(jn.JensenError, match="weights must be whole"):
        jn.log_evidence(latent_class(2), halves, "exact")


@pytest.mark.parametrize("sequences", [[[0, 1, 1, 0, 2]], [[0, 1], [2, 1, None], [1]]])
def test_chains_are_the_sum_over_their_paths(sequences):
    expected = naive.chains(sequences, 2, 3)
    prior = {"initial": 1.0, "transition": 1.0, "emission": 1.0}
    model = jn.HiddenMarkovModel(2, emission="categorical", symbols=range(3), prior=prior)
    assert exact(model, sequences) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_networks_are_the_sum_over_completions(seed):
    rng = np.random.default_rng(seed)
    cards, families = [2, 3, 2], [(0,), (0, 1), (0, 1, 2)]
    rows = rng.integers(0, cards, (5, 3))
    rows[rng.random(rows.shape) < 0.3] = -1
    rows[0] = [1, 2, 0]
    expected = naive.network(rows, cards, families, [0.7] * 3)
    columns = {
        name: [None if s < 0 else int(s) for s in rows[:, v]] for v, name in enumerate("abc")
    }
    states = {name: range(card) for name, card in zip("abc", cards, strict=True)}
    net = jn.BayesianNetwork("a -> b; a -> c; b -> c", prior=0.7)
    table = jn.Table(columns, states=states)
    assert exact(net, table) == pytest.approx(expected, rel=1e-12)


def test_variables_that_were_set_say_nothing_of_themselves():
    rows = np.array([[0, 1], [1, -1], [1, 1], [-1, 0], [0, 0]])
    was_set = [-1, 0, 1, -1, 1]
    expected = naive.network(rows, [2, 2], [(0,), (0, 1)], [1.0, 1.0], was_set)
    columns = {name: [None if s < 0 else int(s) for s in rows[:, v]] for v, name in enumerate("ab")}
    table = jn.Table(
        {**columns, "set": [None, "a", "b", None, "b"]}, states={"a": [0, 1], "b": [0, 1]}
    )
    net = jn.BayesianNetwork("a -> b", prior=1.0)
    assert exact(net, table, interventions="set") == pytest.approx(expected, rel=1e-12)


def test_numbers_beside_hidden_labels_are_those_of_a_mixture():
    """Of one number given a hidden label: the same model as a mixture, with another prior."""
    x = np.array([0.1, 0.4, 2.2, 2.9, 3.1])
    net = jn.BayesianNetwork("k -> x", hidden={"k": 2}, prior={"concentration": 1.0})
    problem = net.set_params(method="vbem").problem({"x": x})
    eta = problem.model.prior.regressions[0]
    beta = float(eta.strength[0, 0, 0])
    mean = float(eta.first[0, 0]) / beta + float(problem.model.shift[0])
    shape = 0.5 * (float(eta.count[0]) + 1.0)
    rate = 0.5 * (float(eta.second[0]) - float(eta.first[0, 0]) ** 2 / beta)
    expected = naive.mixture(
        list(x), 2, 1.0, lambda rows: naive.normal_gamma(rows, mean, beta, shape, rate)
    )
    assert exact(net, {"x": x}) == pytest.approx(expected, rel=1e-10)


def test_complete_rows_are_what_scores_count():
    table = jn.examples.load("asia").sample(200, random_state=0)
    graph = jn.examples.load("asia").graph
    net = jn.BayesianNetwork(graph, prior="bdeu")
    assert exact(net, table) == pytest.approx(jn.score(graph, table, "bdeu"), rel=1e-12)


def test_too_many_completions_are_refused_with_their_number():
    x = np.random.default_rng(0).normal(size=(60, 1))
    model = jn.GaussianMixture(2, covariance="diagonal", prior={})
    with pytest.raises(jn.JensenError, match=r"sum over 10\^18 completions"):
        jn.log_evidence(model, x, "exact")


def test_missing_numbers_have_no_closed_form():
    rows = {"a": [0.1, 0.4, None, 1.2], "b": [0.3, 0.1, 0.9, None]}
    net = jn.BayesianNetwork("a -> b", prior="bge")
    with pytest.raises(jn.JensenError, match="no closed form"):
        jn.log_evidence(net, rows, "exact")
    mixed = {"k": ["u", "v", "u", "v"], "a": [0.1, 0.4, None, 1.2], "b": [0.3, 0.1, 0.9, 0.2]}
    net = jn.BayesianNetwork("k -> a; a -> b", prior="bdeu-bge")
    with pytest.raises(jn.JensenError, match="numbers are missing too"):
        jn.log_evidence(net, mixed, "exact")


def test_the_flat_prior_has_no_evidence():
    with pytest.raises(jn.JensenError, match="is no distribution"):
        jn.log_evidence(jn.BayesianNetwork("a; b; c"), LATENT, "exact")
    with pytest.raises(jn.JensenError, match="is no distribution"):
        jn.log_evidence(jn.LatentClass(2), LATENT, "vb")


def test_a_network_without_a_graph_has_no_evidence():
    with pytest.raises(jn.JensenError, match="give the graph"):
        jn.log_evidence(jn.BayesianNetwork(prior="bdeu"), LATENT, "exact")


def test_paths_that_a_mask_leaves_out_are_not_summed():
    """Of two states only 0 → 1 is possible besides staying; by enumeration with what is left."""
    sequences = [[0, 1, 0], [1, 1]]
    total = []
    for path in product(range(2), repeat=5):
        moves = [(path[0], path[1]), (path[1], path[2]), (path[3], path[4])]
        if (1, 0) in moves:
            continue
        first = np.bincount([path[0], path[3]], minlength=2)
        ways = np.bincount([b for a, b in moves if a == 0], minlength=2)
        out = np.zeros((2, 2))
        np.add.at(out, (path, [0, 1, 0, 1, 1]), 1.0)
        value = naive.counted(first, [1, 1]) + naive.counted(ways, [1, 1])
        total.append(value + sum(naive.counted(row, [1, 1]) for row in out))
    prior = {"initial": 1.0, "transition": 1.0, "emission": 1.0}
    model = jn.HiddenMarkovModel(
        2, symbols=[0, 1], prior=prior, masks={"transition": [[1, 1], [0, 1]]}, random_state=0
    )
    expected = np.logaddexp.reduce(total)
    assert exact(model, sequences) == pytest.approx(expected, rel=1e-12)
    sampled = jn.log_evidence(model, sequences, "bridge")
    assert abs(sampled.value - expected) < 4.0 * sampled.standard_error


def test_what_is_held_counts_by_its_likelihood():
    """With the shares of classes held at 0.3 and 0.7."""
    rows = [(0, 1), (1, 1), (0, 0), (1, 0), (1, 1)]
    of_rows = naive.labels(2, 1.0)
    total = []
    for states in product(range(2), repeat=5):
        own = [[r for r, k in zip(rows, states, strict=True) if k == j] for j in range(2)]
        total.append(sum(np.log([0.3, 0.7][k]) for k in states) + sum(map(of_rows, own)))
    columns = {name: [str(row[i]) for row in rows] for i, name in enumerate("ab")}
    half = [[0.5, 0.5], [0.4, 0.6]]
    start = {"weights": [0.3, 0.7], "a": half, "b": half}
    prior = {"concentration": 1.0, "emission": 1.0}
    model = jn.LatentClass(2, prior=prior, start=start, fixed=["weights"], random_state=0)
    expected = np.logaddexp.reduce(total)
    assert exact(model, columns) == pytest.approx(expected, rel=1e-12)
    sampled = jn.log_evidence(model, columns, "bridge")
    assert abs(sampled.value - expected) < 4.0 * sampled.standard_error
    assert jn.log_evidence(model, columns, "vb").value < expected


def test_means_that_are_held_have_a_bound_and_no_draws():
    x = [[1.0], [0.3], [2.0], [2.4]]
    model = jn.GaussianMixture(2, prior={}, start={"means": [[0.0], [1.0]]}, fixed=["means"])
    assert "is not told" in repr(jn.log_evidence(model, x, "vb", random_state=0))
    with pytest.raises(jn.JensenError, match="only means or only covariances are held"):
        jn.log_evidence(model, x, "ais", n_chains=8)
