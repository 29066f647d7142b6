"""Tables learned from small data, against counting by hand."""

import math
import warnings

import numpy as np
import pytest
from naive import estimates, joint
from naive.networks import by_name
from scipy import stats

import jensen as jn

GRAPH = jn.DAG("rain -> wet <- sprinkler; wet -> slip")
STATES = {
    "rain": ("no", "yes"),
    "slip": ("maybe", "no", "yes"),
    "sprinkler": ("off", "on"),
    "wet": ("no", "yes"),
}
ROWS = [
    dict(zip(STATES, labels, strict=True))
    for labels in [
        ("no", "no", "off", "no"),
        ("no", "no", "off", "no"),
        ("no", "yes", "off", "no"),
        ("no", "maybe", "on", "yes"),
        ("no", "yes", "on", "yes"),
        ("no", "yes", "on", "no"),
        ("yes", "yes", "off", "yes"),
        ("yes", "yes", "off", "yes"),
        ("yes", "no", "off", "no"),
        ("yes", "yes", "on", "yes"),
    ]
]
TABLE = {x: [row[x] for row in ROWS] for x in STATES}


def counts(x):
    return estimates.count(ROWS, x, GRAPH.parents(x), STATES)


def concentrations(x, prior, ess=1.0):
    """The prior of one table by its definition: config → state → concentration."""
    table = counts(x)
    if prior == "bdeu":
        n_rows = len(table)
    elif prior == "bds":
        n_rows = sum(any(row.values()) for row in table.values())
    alpha = {
        config: dict.fromkeys(row, ess / n_rows / len(row) if prior in ("bdeu", "bds") else prior)
        for config, row in table.items()
    }
    if prior == "bds":
        for config, row in table.items():
            if not any(row.values()):
                alpha[config] = dict.fromkeys(row, 0.0)
    return alpha


def assert_table(net, x, expected):
    found = joint.of(net)[x][1]
    assert found.keys() == expected.keys()
    for config, row in expected.items():
        assert found[config] == pytest.approx(row, rel=1e-14, abs=0.0)


def log_likelihood(net):
    naive = joint.of(net)
    return sum(math.log(joint.probability(naive, row)) for row in ROWS)


# --- frequencies ---


def test_the_flat_prior_gives_frequencies():
    net = jn.BayesianNetwork(GRAPH).fit(TABLE)
    for x in STATES:
        assert_table(net, x, {c: estimates.frequencies(row) for c, row in counts(x).items()})
    assert net.states == STATES
    np.testing.assert_allclose(net.free_energy_, log_likelihood(net), rtol=1e-14)
    np.testing.assert_allclose(net.score(TABLE), log_likelihood(net) / len(ROWS), rtol=1e-14)
    assert net.is_bound_ is False


def test_frequencies_are_the_nearest_floats():
    net = jn.BayesianNetwork("a").fit({"a": [0, 0, 0, 1, 1, 2, 2]})
    assert net.cpt("a").values.tolist() == [3 / 7, 2 / 7, 2 / 7]


def test_nothing_fits_better_than_frequencies():
    net, rng = jn.BayesianNetwork(GRAPH).fit(TABLE), np.random.default_rng(0)
    for _ in range(20):
        tables = {
            x: rng.dirichlet(np.ones(len(states)), [len(STATES[p]) for p in GRAPH.parents(x)])
            for x, states in STATES.items()
        }
        other = jn.BayesianNetwork.from_tables(GRAPH, tables, STATES, parents=by_name(GRAPH))
        assert other.score(TABLE) < net.score(TABLE)


# --- the mode under a prior ---


@pytest.mark.parametrize("alpha", [1.5, 2.0, 10.0])
def test_em_under_a_prior_gives_the_mode(alpha):
    net = jn.BayesianNetwork(GRAPH, prior=alpha, method="em").fit(TABLE)
    log_prior = 0.0
    for x in STATES:
        prior = concentrations(x, alpha)
        expected = {c: estimates.mode(row, prior[c]) for c, row in counts(x).items()}
        assert_table(net, x, expected)
        for c, row in expected.items():
            log_prior += stats.dirichlet(list(prior[c].values())).logpdf(list(row.values()))
    np.testing.assert_allclose(net.free_energy_, log_likelihood(net) + log_prior, rtol=1e-12)
    assert net.is_bound_ is False
    with pytest.raises(jn.JensenError, match="point estimates only"):
        net.posterior("wet")


# --- posteriors ---


@pytest.mark.parametrize(
    ("prior", "ess"),
    [(1.0, 1.0), (0.1, 1.0), (7, 1.0), ("k2", 1.0), ("bdeu", 1.0), ("bdeu", 10.0), ("bds", 2.5)],
)
def test_vbem_gives_dirichlet_posteriors_and_the_log_evidence(prior, ess):
    net = jn.BayesianNetwork(GRAPH, prior=prior, equivalent_sample_size=ess).fit(TABLE)
    evidence = 0.0
    for x in STATES:
        alpha, parents = concentrations(x, 1.0 if prior == "k2" else prior, ess), GRAPH.parents(x)
        assert_table(net, x, {c: estimates.mean(row, alpha[c]) for c, row in counts(x).items()})
        expected = [[alpha[c][s] + row[s] for s in row] for c, row in counts(x).items()]
        found = net.posterior(x).concentration.reshape(len(expected), -1)
        np.testing.assert_allclose(found, expected, rtol=1e-14)
        for config in alpha:
            seen = [row[x] for row in ROWS if tuple(row[p] for p in parents) == config]
            evidence += estimates.log_evidence(seen, alpha[config])
    np.testing.assert_allclose(net.free_energy_, evidence, rtol=1e-12)
    assert net.is_bound_ is True
    assert evidence < log_likelihood(jn.BayesianNetwork(GRAPH).fit(TABLE))
    if prior in ("bdeu", "bds"):
        score = jn.score(GRAPH, TABLE, prior, equivalent_sample_size=ess)
        np.testing.assert_allclose(net.free_energy_, score, rtol=1e-12)


def test_laplaces_rule_of_succession():
    for n in range(1, 12):
        net = jn.BayesianNetwork("sun", prior=1.0).fit(
            jn.Table({"sun": ["rises"] * n}, states={"sun": ["rises", "stays away"]})
        )
        assert net.cpt("sun")[()]["rises"] == pytest.approx((n + 1) / (n + 2), rel=1e-15)
        np.testing.assert_allclose(net.free_energy_, -math.log(n + 1), rtol=1e-13)


def test_a_prior_by_variable():
    prior = {
        "rain": 2.0,
        "sprinkler": [1.0, 3.0],
        "slip": np.array([[0.5, 1.0, 1.5], [2.0, 2.5, 3.0]]),
        "wet": np.arange(1.0, 9.0).reshape(2, 2, 2),
    }
    net = jn.BayesianNetwork(GRAPH, prior=prior).fit(TABLE)
    for x in STATES:
        row_counts = [list(row.values()) for row in counts(x).values()]
        shape = net.cpt(x).values.shape
        expected = np.reshape(row_counts, shape) + np.broadcast_to(prior[x], shape)
        np.testing.assert_allclose(net.posterior(x).concentration, expected, rtol=1e-15)


def test_method_none_is_em_without_and_vbem_with_a_prior():
    assert jn.BayesianNetwork("rain").fit(TABLE).is_bound_ is False
    assert jn.BayesianNetwork("rain", prior=2.0).fit(TABLE).is_bound_ is True
    explicit = jn.BayesianNetwork("rain", prior=2.0, method="vbem").fit(TABLE)
    assert jn.BayesianNetwork("rain", prior=2.0).fit(TABLE).equals(explicit)


def test_complete_data_need_no_sweep():
    net = jn.BayesianNetwork(GRAPH, prior="bdeu").fit(TABLE)
    assert (net.n_sweeps_, net.converged_) == (0, True)
    assert net.trace_.tolist() == [net.free_energy_]


# --- configurations that never occur ---

UNSEEN = jn.Table(
    {"a": ["x", "x", "y"], "b": ["n", "y", "y"]}, states={"a": ["x", "y", "z"], "b": ["n", "y"]}
)


def test_an_unseen_configuration_is_named_and_filled_with_equal_probabilities():
    with pytest.warns(jn.EstimateWarning) as caught:
        net = jn.BayesianNetwork("a -> b").fit(UNSEEN)
    (warning,) = caught
    assert str(warning.message) == (
        "1 parent configuration never occurred, so the data say nothing about P(b | a=z). Uniform "
        "probabilities were filled in; "
        "a prior (prior='bdeu') makes an honest estimate of them"
    )
    assert warning.filename == __file__
    assert net.cpt("b")["z"] == {"n": 0.5, "y": 0.5}
    assert np.isfinite(net.network_.tables).all()
    np.testing.assert_allclose(net.free_energy_, math.log(2 / 3 * 2 / 3 / 3 / 4), rtol=1e-14)


def test_many_unseen_configurations_are_counted_and_the_first_are_named():
    table = jn.Table(
        {"a": [0, 1], "b": [0, 1], "c": [0, 1]}, states={"a": [0, 1, 2], "b": [0, 1, 2]}
    )
    with pytest.warns(jn.EstimateWarning) as caught:
        jn.BayesianNetwork("a -> c <- b; c -> d <- a").fit(
            {**table.to_pandas().to_dict("list"), "d": [0, 1]}
        )
    text = str(caught[0].message)
    assert text.startswith("4 parent configurations never occurred")
    assert "P(c | a=0, b=1); P(c | a=1, b=0); P(d | a=0, c=1); P(d | a=1, c=0)." in text
    with pytest.warns(jn.EstimateWarning, match=r"7 parent .*P\(c \| a=2, b=0\) and 2 more\. Unif"):
        jn.BayesianNetwork("a -> c <- b").fit(table)


def test_a_prior_needs_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for prior in (1.0, "bdeu"):
            net = jn.BayesianNetwork("a -> b", prior=prior).fit(UNSEEN)
            assert net.cpt("b")["z"] == {"n": 0.5, "y": 0.5}
        net = jn.BayesianNetwork("a -> b", prior=2.0, method="em").fit(UNSEEN)
        assert net.cpt("b")["z"] == {"n": 0.5, "y": 0.5}


def test_bds_leaves_a_configuration_out_and_says_so():
    with pytest.warns(jn.EstimateWarning, match=r"P\(b \| a=z\)"):
        net = jn.BayesianNetwork("a -> b", prior="bds").fit(UNSEEN)
    assert net.cpt("b")["z"] == {"n": 0.5, "y": 0.5}


def test_constant_columns_and_one_row():
    net = jn.BayesianNetwork("a -> b").fit({"a": ["x"], "b": ["y"]})
    assert net.cpt("b")["x"] == {"y": 1.0}
    assert net.parameters_count == 0
    assert net.free_energy_ == 0.0
    net = jn.BayesianNetwork("a -> b", prior="bdeu").fit({"a": ["x"] * 5, "b": [0, 1, 0, 1, 1]})
    assert net.cpt("b")["x"] == pytest.approx({"0": 2.5 / 6, "1": 3.5 / 6}, rel=1e-15)


def test_a_state_that_never_occurs_is_kept():
    table = jn.Table({"a": ["x", "y"]}, states={"a": ["x", "y", "z"]})
    assert jn.BayesianNetwork("a").fit(table).cpt("a")[()] == {"x": 0.5, "y": 0.5, "z": 0.0}
    found = jn.BayesianNetwork("a", prior=1.0).fit(table).cpt("a")[()]
    assert found == pytest.approx({"x": 0.4, "y": 0.4, "z": 0.2}, rel=1e-15)


# --- refusals ---


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        (
            {"method": "magic"},
            "there is no method 'magic': choose one of em, vbem, viterbi, me, stoch",
        ),
        ({"method": 3}, "there is no method 3: choose one of"),
        ({"method": ["em"]}, "there is no method ['em']: choose one of"),
        ({"prior": "jeffreys"}, "there is no prior 'jeffreys': use a number, or one of ['bdeu', "),
        ({"prior": 0.0}, "a Dirichlet concentration must be positive and finite, not 0.0"),
        ({"prior": -1}, "a Dirichlet concentration must be positive and finite, not -1"),
        ({"prior": math.inf}, "a Dirichlet concentration must be positive and finite, not inf"),
        ({"prior": math.nan}, "a Dirichlet concentration must be positive and finite, not nan"),
        ({"prior": [1.0, 2.0]}, "prior must be None, a number, one of ['bdeu', 'bds', 'k2'], or a"),
        ({"prior": True}, "prior must be None, a number, one of"),
        ({"prior": {"rain": 1.0}}, "a prior by variable names each of them once; unknown: [], abs"),
        ({"prior": {"rain": 1, "wet": 1, "x": 1}}, "a prior by variable names each of them once; "),
        ({"prior": {"rain": 1, "wet": [1, 2, 3]}}, "the prior of 'wet' must be"),
        ({"prior": {"rain": 1, "wet": -1}}, "the prior of 'wet' "),
        ({"prior": {"rain": 1, "wet": "x"}}, "the prior of 'wet' must be"),
        (
            {"prior": 0.5, "method": "em"},
            "em needs a prior with a mode, but the prior of the tables",
        ),
        (
            {"prior": "bdeu", "method": "em"},
            "em needs a prior with a mode, but the prior of the tabl",
        ),
        (
            {"prior": "k2", "method": "em"},
            "em would not feel a prior of the tables with all concentra",
        ),
        (
            {"prior": 1.0, "method": "em"},
            "em would not feel a prior of the tables with all concentrat",
        ),
        (
            {"equivalent_sample_size": 3},
            "equivalent_sample_size=3 belongs to prior='bdeu' or 'bds'",
        ),
        (
            {"prior": "k2", "equivalent_sample_size": 3},
            "equivalent_sample_size=3 belongs to prior='bdeu' or 'bds', and would be ignored with",
        ),
        (
            {"prior": "bdeu", "equivalent_sample_size": 0},
            "equivalent_sample_size must be positive ",
        ),
        (
            {"prior": "bdeu", "equivalent_sample_size": "3"},
            "equivalent_sample_size must be positiv",
        ),
        (
            {"prior": "bds", "equivalent_sample_size": math.nan},
            "equivalent_sample_size must be pos",
        ),
    ],
)
def test_choices_that_make_no_sense_are_refused(choices, message):
    net = jn.BayesianNetwork("rain -> wet", **choices)
    with pytest.raises(jn.JensenError) as error:
        net.fit(TABLE)
    assert str(error.value).startswith(message)
    assert not hasattr(net, "network_")


@pytest.mark.parametrize(
    ("graph", "table", "message"),
    [
        ("a -> b", {"a": [0, 1]}, "the node 'b' has no column: rename one of a, or declare it hi"),
        ("a", {"a": [None, None]}, "column 'a' has no value and no declared states"),
        (
            "a -> b",
            {"a": [0.5, 1.5], "b": ["x", "y"]},
            "the edge a -> b leads from a number to a label, and in a network of both a label ",
        ),
        ("a", jn.Table({"a": [0, 1]}, weights=[0.0, 0.0]), "there is nothing to learn from: the "),
        ("a", jn.Table({"a": [0, 1]}).take(np.array([], int)), "there is nothing to learn from: "),
        ("a", None, "cannot read a table from NoneType"),
        ("a", [[0, 1]], "cannot read a table from list"),
        ("a", "gone.csv", "there is no file"),
    ],
)
def test_data_that_do_not_suit_are_refused(graph, table, message):
    with pytest.raises(jn.JensenError) as error:
        jn.BayesianNetwork(graph).fit(table)
    assert str(error.value).startswith(message)


def test_the_way_out_for_continuous_columns_works():
    table = {"a": [0.5, 1.5, 1.5, 2.5], "b": ["x", "x", "y", "y"]}
    net = jn.BayesianNetwork("a -> b", prior=1.0).fit(jn.Table(table, categorical=["a"]))
    assert net.states["a"] == ("0.5", "1.5", "2.5")
    net = jn.BayesianNetwork("a -> b", prior=1.0).fit(jn.discretize(table, bins=2))
    assert len(net.states["a"]) == 2


def test_tables_too_large_for_memory_are_refused_before_they_are_made():
    table = {f"x{k:02}": [0, 1] for k in range(40)}
    graph = [(f"x{k:02}", "x39") for k in range(39)]
    with pytest.raises(jn.JensenError, match=r"entries\) would take .*TiB, more than the limit of"):
        jn.BayesianNetwork(graph).fit(table)
