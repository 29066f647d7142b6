"""F of complete data against the definition: log p(x, θ) at the mode, or the log evidence."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from naive import families as naive_families
from naive import free_energy as naive
from naive import networks as naive_networks
from scipy.special import softmax

import jensen as jn
from jensen.free_energy import ALGORITHMS, EM, VBEM, check_usable, fit_complete
from jensen.graphs import wire
from jensen.models.discrete_network import DiscreteNetwork, complete_stats
from jensen.models.priors import make_prior

GRAPHS = ["a; b; c", "a -> b -> c", "a -> c <- b", "c -> a; c -> b -> a"]
every_graph = pytest.mark.parametrize("graph", GRAPHS)


class Learned(NamedTuple):
    state: Any
    model: Any
    stats: np.ndarray

    def rows(self, values):
        """One array per row of every table."""
        return np.split(values, np.cumsum(self.model.families.tables.lengths)[:-1])


def make_table(n=25, seed=0):
    """The last state of "c" never occurs; nor does every parent configuration."""
    rng = np.random.default_rng(seed)
    columns = {"a": rng.integers(0, 2, n), "b": rng.integers(0, 3, n), "c": rng.integers(0, 3, n)}
    return jn.Table(columns, states={"a": range(2), "b": range(3), "c": range(4)})


def learn(graph, table, prior, algorithm, size=1.0):
    dag = jn.DAG(graph)
    wiring = wire(dag.parent_indices, [table.variable(x).n_states for x in dag.nodes])
    stats = complete_stats(table, dag.nodes, wiring)
    model = DiscreteNetwork(wiring, make_prior(prior, size, dag.nodes, wiring, stats.tables))
    return Learned(fit_complete(model, stats, algorithm), model, stats.tables)


@every_graph
def test_em_without_a_prior_is_the_log_likelihood(graph):
    table, dag = make_table(), jn.DAG(graph)
    learned = learn(graph, table, None, EM)
    cards = [2, 3, 4]
    frequencies = learned.model.families.tables.mode(learned.state.eta.tables)
    tables = naive_networks.as_dictionaries(frequencies, dag.parent_indices, cards)
    rows = zip(*(table.column(x).data.tolist() for x in "abc"), strict=True)
    expected = sum(naive_networks.log_probability(tables, dag.parent_indices, r) for r in rows)
    assert learned.state.free_energy == pytest.approx(expected, rel=1e-12)
    assert expected == pytest.approx(jn.score(dag, table, "loglik"), rel=1e-12)


@every_graph
@pytest.mark.parametrize(("prior", "size"), [(1.5, 1.0), (40.0, 1.0), ("bdeu", 200.0)])
def test_em_with_a_prior_is_the_log_joint_at_the_mode(graph, prior, size):
    learned = learn(graph, make_table(), prior, EM, size)
    alpha = learned.rows(learned.model.prior.tables + 1.0)
    counts = learned.rows(learned.stats)
    modes = [(n + a - 1.0) / sum(n + a - 1.0) for n, a in zip(counts, alpha, strict=True)]
    expected = sum(map(naive.log_joint, counts, modes, alpha))
    assert learned.state.free_energy == pytest.approx(expected, rel=1e-12)


@every_graph
def test_em_stands_where_the_gradient_is_zero(graph):
    """θ as softmax of free numbers; the prior above 1 keeps the optimum inside."""
    learned = learn(graph, make_table(), 1.5, EM)
    counts = learned.rows(learned.stats)
    best = np.log(learned.model.families.tables.mode(learned.state.eta.tables))

    def log_joint(x):
        pi = map(softmax, learned.rows(x))
        return sum(naive.log_joint(n, p, [1.5] * len(n)) for n, p in zip(counts, pi, strict=True))

    assert log_joint(best) == pytest.approx(learned.state.free_energy, rel=1e-12)
    np.testing.assert_allclose(naive_families.gradient(log_joint, best), 0.0, atol=1e-7)
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert log_joint(best + rng.normal(0.0, 0.1, best.shape)) < learned.state.free_energy


@every_graph
@pytest.mark.parametrize(
    ("prior", "size"),
    [("k2", 1.0), ("bdeu", 1.0), ("bdeu", 1e-3), ("bdeu", 30.0), ("bds", 1.0), ("bds", 5.0)],
)
def test_vbem_is_the_exact_evidence(graph, prior, size):
    table = make_table()
    learned = learn(graph, table, prior, VBEM, size)
    choices = {} if prior == "k2" else {"equivalent_sample_size": size}
    expected = jn.score(graph, table, prior, **choices)
    assert learned.state.free_energy == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("size", [1e-7, 1e10])
def test_the_evidence_at_the_ends_of_what_natural_parameters_hold(size):
    table = make_table()
    learned = learn("a -> b -> c", table, "bdeu", VBEM, size)
    expected = jn.score("a -> b -> c", table, "bdeu", equivalent_sample_size=size)
    assert learned.state.free_energy == pytest.approx(expected, abs=1e-3)


@every_graph
@pytest.mark.parametrize("prior", [0.2, 1.0, 3.0])
def test_vbem_under_one_concentration_is_the_sequential_prediction(graph, prior):
    learned = learn(graph, make_table(), prior, VBEM)
    expected = sum(
        naive_families.log_polya_urn([prior] * len(n), np.repeat(np.arange(len(n)), n.astype(int)))
        for n in learned.rows(learned.stats)
    )
    assert learned.state.free_energy == pytest.approx(expected, rel=1e-12)


@every_graph
def test_vbem_stands_where_the_gradient_is_zero(graph):
    learned = learn(graph, make_table(), 0.7, VBEM)
    counts, alpha = learned.rows(learned.stats), learned.rows(learned.model.prior.tables + 1.0)

    def bound(q):
        return sum(map(naive.bound, counts, alpha, learned.rows(q)))

    best = learned.state.eta.tables + 1.0
    assert bound(best) == pytest.approx(learned.state.free_energy, rel=1e-12)
    np.testing.assert_allclose(naive_families.gradient(bound, best), 0.0, atol=1e-7)
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert bound(best * rng.uniform(0.8, 1.25, best.shape)) < learned.state.free_energy


def test_the_start_is_the_answer_in_natural_parameters():
    learned = learn("a -> b -> c", make_table(), "bdeu", VBEM, 4.0)
    expected = learned.model.prior.tables + learned.stats
    np.testing.assert_allclose(learned.state.eta.tables, expected, rtol=1e-15)
    flat = learn("a -> b -> c", make_table(), None, EM)
    assert flat.model.prior.tables is None
    assert np.array_equal(flat.state.eta.tables, flat.stats)


@pytest.mark.parametrize("weight", [1e-300, 1e-310, 1e300])
def test_extreme_weights(weight):
    table = make_table().with_weights(np.full(25, weight))
    found = learn("a -> b -> c", table, None, EM).state.free_energy
    expected = weight * learn("a -> b -> c", make_table(), None, EM).state.free_energy
    assert found == pytest.approx(expected, rel=1e-9 if weight < 1e-305 else 1e-12, abs=0.0)


def test_a_single_row_of_constants():
    table = jn.Table({"a": ["x"], "b": ["y"]})
    assert learn("a -> b", table, None, EM).state.free_energy == 0.0
    assert learn("a -> b", table, "k2", VBEM).state.free_energy == 0.0


def test_an_empty_graph_has_nothing_to_learn():
    assert learn("", make_table(), None, EM).state.free_energy == 0.0
    assert learn("", make_table(), "bds", VBEM).state.free_energy == 0.0


def test_the_algorithms_by_name():
    assert ALGORITHMS == {"em": EM, "vbem": VBEM}
    assert [a.q_theta.is_distribution for a in ALGORITHMS.values()] == [False, True]


# --- priors that an algorithm cannot use ---


def test_vbem_needs_a_prior():
    with pytest.raises(
        jn.JensenError,
        match=r"^vbem keeps a posterior, so it needs a prior of its tables: "
        r"give prior='bdeu' \(--prior bdeu\) or a "
        r"concentration, or use method='em' for the frequencies$",
    ):
        learn("a -> b", make_table(), None, VBEM)


@pytest.mark.parametrize(
    ("prior", "begin"), [(0.5, "0.5"), ("bdeu", "0.167"), ("bds", "0.167"), (1 - 1e-9, "1")]
)
def test_em_needs_a_prior_with_a_mode(prior, begin):
    with pytest.raises(
        jn.JensenError,
        match=rf"^em needs a prior with a mode, but the prior of the tables has none: its "
        rf"concentrations begin at {begin}, and must be at least 1\. Raise the prior, or use "
        rf"method='vbem', which needs no mode$",
    ):
        learn("a -> b", make_table(), prior, EM)


@pytest.mark.parametrize("prior", ["k2", 1, 1.0, {"a": 1.0, "b": 1}])
def test_em_refuses_a_prior_that_would_do_nothing(prior):
    with pytest.raises(
        jn.JensenError,
        match=r"^em would not feel a prior of the tables with all concentrations 1: it is flat\. "
        r"Use "
        r"prior=None for the frequencies, or method='vbem', which does feel it$",
    ):
        learn("a -> b", make_table(), prior, EM)


@pytest.mark.parametrize(
    ("prior", "algorithm"),
    [(None, EM), (1.5, EM), (0.5, VBEM), ("k2", VBEM), ({"a": 1, "b": 2}, EM)],
)
def test_priors_that_suit_their_algorithm(prior, algorithm):
    check_usable(learn("a -> b", make_table(), prior, algorithm).model, algorithm)
