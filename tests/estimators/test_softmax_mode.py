"""The mode of tables in softmax coordinates: F by its definition, no slope where EM ends."""

import numpy as np
import pytest
from naive import learning as naive
from naive.families import gradient
from scipy.special import gammaln

import jensen as jn

GRAPH = "a -> b; a -> c"
HIDDEN_GRAPH = "h -> a; h -> b; h -> c"


def rows_with_holes(n=60, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n)
    columns = {
        "a": a,
        "b": np.where(rng.random(n) < 0.8, a, rng.integers(0, 3, n)),
        "c": np.where(rng.random(n) < 0.7, a, 1 - a),
    }
    return jn.Table(
        {
            name: [None if rng.random() < 0.25 else f"s{x}" for x in values]
            for name, values in columns.items()
        }
    )


def log_prior(network, alpha):
    """Log Π θ^α / B(α) of every row of every table: `alpha` is the concentration by variable."""
    total = 0.0
    for v in network.variables:
        table = network.cpt(v.name).values.reshape(-1, v.n_states)
        for row in table:
            each = np.full(v.n_states, alpha(len(table), v.n_states))
            total += each @ np.log(row) - (gammaln(each).sum() - gammaln(each.sum()))
    return total


def bdeu(size):
    return lambda n_rows, n_states: size / (n_rows * n_states)


def test_f_is_the_log_likelihood_plus_the_log_density_in_softmax_coordinates():
    table = rows_with_holes()
    net = jn.BayesianNetwork(
        GRAPH, method="em", prior="bdeu", equivalent_sample_size=2.0, mode="softmax", tol=1e-12
    ).fit(table)
    expected = net.log_likelihood(table).sum() + log_prior(net.network_, bdeu(2.0))
    assert net.free_energy_ == pytest.approx(expected, rel=1e-10)
    assert not net.is_bound_
    assert np.all(np.diff(net.trace_) >= -1e-9 * np.abs(net.trace_[1:]))


def test_complete_tables_are_the_posterior_means():
    table = jn.examples.load("cancer").sample(300, random_state=0)
    graph = jn.examples.load("cancer").graph
    mode = jn.BayesianNetwork(graph, method="em", prior="bdeu", mode="softmax").fit(table)
    posterior = jn.BayesianNetwork(graph, prior="bdeu").fit(table)
    assert mode.equals(posterior.from_network(mode.network_))
    for name in graph.nodes:
        np.testing.assert_allclose(mode.cpt(name).values, posterior.cpt(name).values, rtol=1e-13)


@pytest.mark.parametrize("method", ["em", "viterbi"])
def test_without_a_slope_where_it_ends(method):
    """The slope of F in softmax coordinates, by brute force over all completions."""
    table = rows_with_holes(12)
    net = jn.BayesianNetwork(
        HIDDEN_GRAPH,
        hidden={"h": 2},
        method=method,
        prior=0.4,
        mode="softmax",
        tol=1e-15,
        max_iter=5000,
        random_state=0,
    )
    net.fit(table)
    assert net.converged_
    names = net.graph.nodes
    cards = [v.n_states for v in net.variables]
    families = [[*net.graph.parent_indices[v], v] for v in range(len(names))]
    rows = [
        [net.states[x].index(row[x]) if x in row and row[x] is not None else -1 for x in names]
        for row in dict_rows(table)
    ]
    logs = [np.log(net.cpt(x).values) for x in names]

    def value(flat):
        at, tables, penalty = 0, [], 0.0
        for log_table in logs:
            phi = flat[at : at + log_table.size].reshape(log_table.shape)
            at += log_table.size
            log_pi = phi - np.log(np.exp(phi).sum(-1, keepdims=True))
            tables.append(log_pi)
            k, n = log_table.shape[-1], log_table.size // log_table.shape[-1]
            penalty += 0.4 * log_pi.sum() - n * (k * gammaln(0.4) - gammaln(0.4 * k))
        rule = naive.exact if method == "em" else naive.mode
        found = rule(families, cards, tables, rows, [1.0] * len(rows))
        return found[0] + penalty

    flat = np.concatenate([log_table.ravel() for log_table in logs])
    assert value(flat) == pytest.approx(net.free_energy_, rel=1e-9)
    np.testing.assert_allclose(gradient(value, flat), 0.0, atol=2e-4)


def test_chains_of_modes_and_files(tmp_path):
    table = rows_with_holes()
    net = jn.BayesianNetwork(
        GRAPH, method="stochastic-em", prior="bdeu", mode="softmax", n_samples=400, burn_in=100,
        random_state=0,
    ).fit(table)  # fmt: skip
    assert np.isfinite(net.free_energy_)
    net.save(tmp_path / "net.json")
    again = jn.load(tmp_path / "net.json")
    assert again.mode == "softmax"
    assert again.equals(net)


def test_labels_beside_numbers():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 80)
    table = jn.Table({"kind": [f"k{x}" for x in kind], "x": rng.normal(kind * 3.0)})
    choices = {"prior": "bdeu-bge", "equivalent_sample_size": 2.0}
    mode = jn.BayesianNetwork("kind -> x", method="em", mode="softmax", **choices).fit(table)
    mean = jn.BayesianNetwork("kind -> x", method="vbem", **choices).fit(table)
    np.testing.assert_allclose(mode.cpt("kind").values, mean.cpt("kind").values, rtol=1e-13)
    with pytest.raises(jn.JensenError, match=r"or mode='softmax', where every prior has one$"):
        jn.BayesianNetwork("kind -> x", method="em", prior="bdeu-bge").fit(table)


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ({"mode": "logit"}, r"^there is no mode='logit': choose one of probabilities, softmax$"),
        (
            {"mode": "softmax", "prior": "bdeu"},
            r"^mode='softmax' belongs to methods that seek a mode \(method='em', 'viterbi' or "
            r"'stochastic-em'\), and 'vbem' seeks none$",
        ),
        (
            {"mode": "softmax"},
            r"^mode='softmax' is the mode under a prior, and there is none: add prior='bdeu', or "
            r"a concentration$",
        ),
    ],
)
def test_refusals(choices, text):
    with pytest.raises(jn.JensenError, match=text):
        jn.BayesianNetwork("a -> b", **choices).fit({"a": ["x", "y"], "b": ["u", "v"]})


def test_columns_of_numbers_have_no_tables():
    text = r"^mode='softmax' belongs to tables of states, and the columns here are continuous"
    with pytest.raises(jn.JensenError, match=text):
        jn.BayesianNetwork("x -> y", method="em", prior="bge", mode="softmax").fit(
            {"x": [0.5, 1.5, 2.7], "y": [1.5, 0.1, 0.3]}
        )


def dict_rows(table):
    frame = table.to_pandas().astype(object)
    frame = frame.where(frame.notna(), None)
    return frame.to_dict("records")
