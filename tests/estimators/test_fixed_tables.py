"""Tables of a network that are known and stay, while the others are learned."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.stats import beta

import jensen as jn

KNOWN = [[0.9, 0.1], [0.2, 0.8]]
RESULTS = {"test": ["pos"] * 14 + ["neg"] * 26}
CHOICES = {"hidden": {"sick": ["no", "yes"]}, "start": {"test": KNOWN}, "fixed": ["test"]}


def log_likelihood(prevalence):
    """Of the results of the test, by hand."""
    positive = 0.1 * (1.0 - prevalence) + 0.8 * prevalence
    return 14 * np.log(positive) + 26 * np.log(1.0 - positive)


def test_how_many_are_sick_given_how_good_a_test_is():
    net = jn.BayesianNetwork("sick -> test", tol=1e-14, **CHOICES).fit(RESULTS)
    assert net.cpt("test").values.tolist() == KNOWN
    found = net.cpt("sick")[()]["yes"]
    best = minimize_scalar(lambda p: -log_likelihood(p), bounds=(0.0, 1.0), method="bounded")
    assert found == pytest.approx(best.x, abs=1e-5)
    assert found == pytest.approx((14 / 40 - 0.1) / 0.7, abs=1e-6)  # the closed form
    assert net.free_energy_ == pytest.approx(log_likelihood(found), rel=1e-12)


def test_the_bound_is_below_the_evidence_and_the_known_table_has_no_cost():
    net = jn.BayesianNetwork("sick -> test", prior=2.0, **CHOICES).fit(RESULTS)
    evidence = (
        np.log(quad(lambda p: np.exp(log_likelihood(p) + 25.0) * beta.pdf(p, 2, 2), 0, 1)[0]) - 25.0
    )
    assert evidence - 1.0 < net.free_energy_ < evidence
    np.testing.assert_allclose(net.posterior("test").mean, KNOWN, atol=1e-12)
    np.testing.assert_allclose(net.posterior("test").interval(0.9)[0], KNOWN, atol=1e-4)


@pytest.mark.parametrize("mode", ["probabilities", "softmax"])
def test_beside_held_tables_the_others_are_learned_as_ever(mode):
    table = jn.examples.load("cancer").sample(200, random_state=1)
    known = jn.examples.load("cancer")
    choices = {"method": "em", "prior": 1.5, "mode": mode}
    held = jn.BayesianNetwork(known.graph, start=known, fixed=["Cancer"], **choices).fit(table)
    free = jn.BayesianNetwork(known.graph, **choices).fit(table)
    for name in known.graph.nodes:
        expected = known if name == "Cancer" else free
        np.testing.assert_allclose(held.cpt(name).values, expected.cpt(name).values, rtol=1e-12)


@pytest.mark.parametrize("method", ["viterbi", "me", "stochastic-em", "gibbs"])
def test_every_method_holds_them(method):
    chain = {"n_samples": 400, "burn_in": 50} if method in ("gibbs", "stochastic-em") else {}
    prior = 1.0 if method in ("me", "gibbs") else 3.0  # a mode inside, where no chain is caught
    net = jn.BayesianNetwork(
        "sick -> test", method=method, prior=prior, random_state=0, **chain, **CHOICES
    ).fit(RESULTS)
    np.testing.assert_allclose(net.cpt("test").values, KNOWN, rtol=1e-12)
    if method == "gibbs":
        samples = net.table_samples("test")
        np.testing.assert_allclose(samples, np.broadcast_to(KNOWN, samples.shape), rtol=1e-12)
        assert net.table_samples("sick").std() > 0.01


def test_several_starts_and_files(tmp_path):
    net = jn.BayesianNetwork("sick -> test", n_init=3, random_state=0, **CHOICES).fit(RESULTS)
    assert len(net.starts_) == 3
    net.save(tmp_path / "net.json")
    again = jn.load(tmp_path / "net.json")
    assert again.fixed == ["test"]
    assert again.equals(net)


def test_a_table_with_zeros_and_no_warning_of_rows_that_never_occurred():
    known = [[1.0, 0.0], [0.0, 1.0]]
    table = {"a": ["x"] * 5, "b": ["u"] * 5}
    states = jn.Table(table, states={"a": ["x", "y"], "b": ["u", "v"]})
    net = jn.BayesianNetwork("a -> b", start={"b": known}, fixed=["b"]).fit(states)
    assert net.cpt("b").values.tolist() == known
    assert net.free_energy_ == 0.0
    with pytest.raises(
        jn.JensenError, match=r"^row 2 is impossible under the tables of start=: a=y, b=u cannot"
    ):
        jn.BayesianNetwork("a -> b", start={"b": known}, fixed=["b"]).fit(
            {"a": ["x", "y", "y"], "b": ["u", "u", "v"]}
        )


def test_labels_beside_numbers():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 80)
    table = jn.Table({"kind": [f"k{x}" for x in kind], "x": rng.normal(kind * 3.0)})
    known = jn.BayesianNetwork("kind -> x").fit(table.take(np.arange(40)))
    net = jn.BayesianNetwork("kind -> x", start=known, fixed=["kind"]).fit(table)
    free = jn.BayesianNetwork("kind -> x").fit(table)
    assert net.cpt("kind").values.tolist() == known.cpt("kind").values.tolist()
    assert repr(net.regression("x")) == repr(free.regression("x"))
    with pytest.raises(jn.JensenError, match=r"^fixed='x' holds the table of a label, and 'x' is"):
        jn.BayesianNetwork("kind -> x", start=known, fixed=["x"]).fit(table)
    with pytest.raises(jn.JensenError, match=r"start= gives, and it gives none: add a network$"):
        jn.BayesianNetwork("kind -> x", fixed=["kind"]).fit(table)


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ({"fixed": "b"}, r"^fixed must be a list of variables whose tables are held, not 'b'$"),
        ({"fixed": ["bb"]}, r"^fixed='bb': the graph has no node 'bb'; did you mean 'b'"),
        ({"fixed": ["b"]}, r"start= gives, and it gives none: add start=\{'b': table\}, or a netw"),
        ({"fixed": ["b"], "start": {"a": [0.5, 0.5]}}, r"^fixed='b': start= has no table of 'b'$"),
        ({"fixed": ["b"], "start": {"b": [0.5, 0.5]}}, r"must have the shape \(2, 2\)"),
    ],
)
def test_refusals(choices, text):
    with pytest.raises(jn.JensenError, match=text):
        jn.BayesianNetwork("a -> b", **choices).fit({"a": ["x", "y"], "b": ["u", "v"]})


def test_columns_of_numbers_have_no_tables():
    with pytest.raises(jn.JensenError, match=r"^fixed='x' holds the table of a label, and the col"):
        jn.BayesianNetwork("x -> y", fixed=["x"]).fit({"x": [0.5, 1.7, 2.2], "y": [1.1, 0.2, 0.4]})
