"""Networks with sampled tables: p(y | e) = Σ_s p_s(y, e) / Σ_s p_s(e), never averaged tables."""

import numpy as np
import pytest
from inference import cases
from inference.cases import holes, read
from inference.test_conditional import p_value
from naive import joint
from naive.networks import by_name
from scipy import stats

import jensen as jn
from jensen.exceptions import ImpossibleError, JensenError
from jensen.inference import Network

pytestmark = pytest.mark.filterwarnings("ignore:the table has no column")
"""Columns are left out here on purpose."""

RTOL = 1e-11
P_VALUE = 1e-3
GRAPH = "a -> b; a -> c; b -> d <- c; e"
CARDS = {"a": 2, "b": 3, "c": 2, "d": 2, "e": 2}


def sampled(n_samples=4, kind="positive", seed=0):
    """A network with samples, and one network of the twin for each."""
    rng = np.random.default_rng(seed)
    graph = jn.DAG(GRAPH)
    nets = []
    for _ in range(n_samples):
        tables = {
            x: cases.KINDS[kind](rng, (*(CARDS[p] for p in graph.parents(x)), card))
            for x, card in CARDS.items()
        }
        nets.append(jn.BayesianNetwork.from_tables(graph, tables, parents=by_name(graph)))
    samples = np.array([net.network_.probabilities for net in nets])
    network = Network(graph, nets[0].variables, samples.mean(0), samples=samples)
    return jn.BayesianNetwork.from_network(network), [joint.of(net) for net in nets]


SAMPLED = [sampled(kind=kind, seed=seed) for kind in ("positive", "with zeros") for seed in (0, 1)]


def some_evidence(net, twins, seed, n=10):
    """Evidence that is possible under some sample."""
    rng = np.random.default_rng(seed)
    while n:
        given = cases.random_evidence(net, rng, 0.4)
        free = [x for x in net.states if x not in given]
        if free and any(joint.evidence(twin, given) > 0 for twin in twins):
            n -= 1
            yield given, rng.permutation(free).tolist()


@pytest.mark.parametrize(("net", "twins"), SAMPLED)
def test_queries_weigh_the_samples_by_their_evidence(net, twins):
    for given, free in some_evidence(net, twins, 0):
        mean = np.mean([joint.evidence(twin, given) for twin in twins])
        assert net.probability(given) == pytest.approx(mean, rel=RTOL)
        for targets in (free[:1], free[:2]):
            found = net.query(targets, given)
            expected = joint.mixed_posterior(twins, targets, given)
            np.testing.assert_allclose(
                found.values, cases.cells(found.variables, expected), rtol=RTOL, atol=1e-15
            )
        for x, found in net.marginals(given).items():
            expected = joint.mixed_posterior(twins, [x], given)
            np.testing.assert_allclose(
                found.values, cases.cells(found.variables, expected), rtol=RTOL, atol=1e-15
            )


def test_doing_and_likelihoods():
    net, twins = SAMPLED[0]
    given, do = {"d": {"0": 0.2, "1": 0.9}}, {"b": "1"}
    found = net.query("c", given, do)
    expected = joint.mixed_posterior(twins, ["c"], given, do)
    np.testing.assert_allclose(found.values, cases.cells(found.variables, expected), rtol=RTOL)


def test_averaged_tables_would_answer_otherwise():
    net, _ = SAMPLED[0]
    averaged = jn.BayesianNetwork.from_network(
        Network(net.graph, net.variables, net.network_.tables)
    )
    given = {"a": "1", "d": "0"}
    assert abs(net.query("b", given)["1"] - averaged.query("b", given)["1"]) > 1e-3


@pytest.mark.parametrize(("net", "twins"), SAMPLED)
def test_rows(net, twins):
    """Likelihoods and posteriors of rows, one of which is impossible under some samples only."""
    table = holes(net, 20, 0, share=0.5)
    rows = read(net, table)
    p = np.array([np.mean([joint.evidence(twin, row) for twin in twins]) for row in rows])
    np.testing.assert_allclose(np.exp(net.log_likelihood(table)), p, rtol=RTOL)
    every = net.predict_proba(table, impossible="nan")
    for v in net.variables:
        for i, row in enumerate(rows):
            if p[i] > 0:
                expected = cases.cells([v], joint.mixed_posterior(twins, [v.name], row))
                np.testing.assert_allclose(every[v.name][i], expected, rtol=RTOL, atol=1e-15)
    rest = [{x: s for x, s in row.items() if x != "d"} for row in rows]
    found = net.predict_proba(table, "d", impossible="nan")
    for i, row in enumerate(rest):
        if any(joint.evidence(twin, row) > 0 for twin in twins):
            expected = cases.cells([net.variables[3]], joint.mixed_posterior(twins, ["d"], row))
            np.testing.assert_allclose(found[i], expected, rtol=RTOL, atol=1e-15)


@pytest.mark.parametrize(
    ("given", "do"), [(None, None), ({"d": "1"}, None), ({"d": "1"}, {"b": "0"})]
)
def test_draws_come_from_the_mixture(given, do):
    net, twins = SAMPLED[1]
    table = net.sample(20_000, given=given, do=do, random_state=0)
    expected = joint.mixed_posterior(twins, list(net.states), given, do)
    assert p_value(table, net.variables, expected) > P_VALUE


def test_drawn_completions_come_from_the_mixture():
    """Equal rows, each completed under a sample of its own: chi-square over all completions."""
    net, twins = SAMPLED[0]
    row, n = {"b": "2", "d": "1"}, 8_000
    missing = [x for x in net.states if x not in row]
    filled = net.impute(jn.Table({x: [row.get(x)] * n for x in net.states}), "draw", random_state=0)
    variables = [net.network_.variables_by_name[x] for x in missing]
    expected = joint.mixed_posterior(twins, missing, row)
    assert p_value(filled, variables, expected) > P_VALUE
    assert set(filled.column("b").data) == {2}


def test_drawn_completions_of_rows_that_only_some_samples_allow():
    """Under sample 0 a=1 has b=0 only, under sample 1 b=1 only: the row decides the sample."""
    graph = jn.DAG("a -> b; a -> c")
    parts = [
        {"a": [0.5, 0.5], "b": [[1, 0], [1, 0]], "c": [[1, 0], [1, 0]]},
        {"a": [0.5, 0.5], "b": [[0, 1], [0, 1]], "c": [[0, 1], [0, 1]]},
    ]
    nets = [
        jn.BayesianNetwork.from_tables(graph, tables, parents=by_name(graph)) for tables in parts
    ]
    samples = np.array([net.network_.probabilities for net in nets])
    network = Network(graph, nets[0].variables, samples.mean(0), samples=samples)
    net = jn.BayesianNetwork.from_network(network)
    table = jn.Table({"a": [None] * 6, "b": [0, 1, 0, 1, 1, 0], "c": [None] * 6})
    filled = net.impute(table, "draw", random_state=0)
    np.testing.assert_array_equal(filled.column("c").data, table.column("b").data)
    marginal = net.impute(table, "marginal")
    np.testing.assert_array_equal(marginal.column("c").data, table.column("b").data)
    with pytest.raises(ImpossibleError, match=r"b=0, c=1 \(under every sample\) cannot occur tog"):
        net.query("a", {"b": 0, "c": 1})
    assert net.probability({"b": 0, "c": 1}) == 0.0
    with pytest.raises(ImpossibleError, match="row 2 is impossible in this network: b=0, c=1"):
        net.impute({"b": [0, 0], "c": [0, 1], "a": [None, None]}, "draw")


def test_draws_of_the_sample_follow_its_evidence():
    """A row of n equal signs is completed under a sample with probability ∝ p_s(row)."""
    rates, n = [0.2, 0.7], 5_000
    graph = jn.DAG("x -> y")
    tables = [[1.0, 0.0, 1 - r, r, 0.5, 0.5] for r in rates]  # x = 0 always; y = 1 with rate r
    hidden = np.array(tables)
    states = jn.BayesianNetwork.from_tables(graph, {"x": [1, 0], "y": [[0.5, 0.5]] * 2}).variables
    network = Network(graph, states, hidden.mean(0), samples=hidden)
    net = jn.BayesianNetwork.from_network(network)
    codes = net.impute({"x": [None] * n, "y": [None] * n}, "draw", random_state=1)["y"]
    ones = int((codes == "1").sum())
    assert stats.binomtest(ones, n, float(np.mean(rates))).pvalue > P_VALUE


def test_entropies():
    net, twins = SAMPLED[0]
    p = joint.mixed_posterior(twins, ["b", "d"], {"a": "1"})
    expected = -sum(q * np.log(q) for q in p.values())
    assert net.entropy(["b", "d"], {"a": "1"}) == pytest.approx(expected, rel=RTOL)
    assert net.mutual_information("b", "d") > 0.0


def test_what_has_no_exact_answer_is_refused_in_words():
    net, _ = SAMPLED[0]
    with pytest.raises(JensenError, match="most probable assignment under a mixture of sampled"):
        net.most_probable()
    with pytest.raises(
        JensenError, match=r"most probable completion under a mixture .*method='marginal'"
    ):
        net.impute({"a": [None]})
    with pytest.raises(JensenError, match="entropy of all variables under a mixture of sampled"):
        net.entropy()
    with pytest.raises(JensenError, match="expected counts are those of one set of tables"):
        net.expected_counts({"a": [None]}, [["a"]])


def test_learned_by_gibbs():
    """The chain's own samples answer: their mean likelihood is the probability."""
    table = jn.examples.load("cancer").sample(200, random_state=0)
    net = jn.BayesianNetwork(
        jn.examples.load("cancer").graph, prior=1.0, method="gibbs", n_samples=20, burn_in=5,
        n_chains=1, random_state=1,
    ).fit(table)  # fmt: skip
    samples = net.network_.samples
    nets = [
        joint.of(jn.BayesianNetwork.from_network(Network(net.graph, net.variables, s.copy())))
        for s in samples
    ]
    found = net.query("Cancer", {"Xray": net.states["Xray"][0]})
    expected = joint.mixed_posterior(nets, ["Cancer"], {"Xray": net.states["Xray"][0]})
    np.testing.assert_allclose(found.values, cases.cells(found.variables, expected), rtol=RTOL)
