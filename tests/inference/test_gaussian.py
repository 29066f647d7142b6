"""Questions to Gaussian networks against the textbook formulas of the joint distribution."""

import numpy as np
import pytest
from naive import gaussian_networks as naive

import jensen as jn
from jensen.inference.gaussian_joint import joint

REGRESSIONS = {
    "a": (1.0, {}, 2.0),
    "b": (-0.5, {"a": 1.5}, 0.7),
    "c": (0.3, {}, 1.1),
    "d": (2.0, {"b": -1.0, "c": 0.5}, 0.4),
    "e": (0.0, {"a": 0.2, "d": 2.0}, 3.0),
}
GRAPH = jn.DAG.from_parents({x: list(slopes) for x, (_, slopes, _) in REGRESSIONS.items()})


@pytest.fixture
def net():
    parts = {
        x: {"intercept": a, "coefficients": b, "variance": v}
        for x, (a, b, v) in REGRESSIONS.items()
    }
    return jn.BayesianNetwork.from_regressions(GRAPH, parts)


CASES = [
    ({}, {}),
    ({"d": 1.0}, {}),
    ({"a": 0.5, "e": -2.0}, {}),
    ({}, {"b": 3.0}),
    ({"e": 1.0}, {"b": 3.0}),
    ({"a": 2.0, "c": -1.0}, {"d": 0.0}),
    ({"b": 1.0, "c": 1.0, "d": 1.0, "e": 1.0}, {}),
]


@pytest.mark.parametrize(("given", "do"), CASES)
def test_queries(net, given, do):
    names, mean, cov = naive.joint(REGRESSIONS, do)
    names, mean, cov = naive.condition(names, mean, cov, given) if given else (names, mean, cov)
    found = net.query(names, given, do)
    np.testing.assert_allclose(found.means, mean, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(found.covariance, cov, rtol=1e-11, atol=1e-12)
    one = net.query(names[0], given, do)
    assert one.mean == pytest.approx(mean[0], rel=1e-11)
    assert one.variance == pytest.approx(cov[0, 0], rel=1e-11)
    every = net.marginals(given, do)
    assert sorted(every) == names
    for k, x in enumerate(names):
        assert every[x].mean == pytest.approx(mean[k], rel=1e-11)
        assert every[x].standard_deviation == pytest.approx(np.sqrt(cov[k, k]), rel=1e-11)


def test_the_precision_is_the_inverse_of_the_covariance(net):
    model = joint(net.network_)
    product = model.precision @ model.covariance
    np.testing.assert_allclose(product, np.eye(5), atol=1e-12)


def test_answers_print_and_have_intervals(net):
    found = net.query("b", given={"a": 1.0}, do={"c": 2.0})
    low, high = found.interval(0.95)
    assert (low, high) == pytest.approx(
        (1.0 - 1.959964 * np.sqrt(0.7), 1.0 + 1.959964 * np.sqrt(0.7)), rel=1e-6
    )
    assert repr(found) == (
        "p(b | a=1, do(c=2))\n"
        "variable  mean  standard deviation   90 % interval\n"
        "--------------------------------------------------\n"
        "b            1              0.8367  -0.3762..2.376"
    )
    both = net.query(["b", "d"])
    assert both.marginal("d").mean == net.query("d").mean
    assert both.marginal(["d", "b"]).names == ("d", "b")
    assert both.interval()[0].shape == (2,)
    with pytest.raises(jn.JensenError, match="this is a distribution of b, d, not a"):
        both.marginal("a")
    with pytest.raises(jn.JensenError, match="the level of an interval lies between 0 and 1"):
        both.interval(1.0)


def some_rows(seed=0, n=12):
    """Rows with gaps; one is complete, and one empty."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, 5)) * 3.0
    values[rng.random((n, 5)) < 0.4] = np.nan
    values[0], values[1] = np.arange(5.0), np.nan
    return {x: values[:, k] for k, x in enumerate("abcde")}


def shown(data, i, skip=()):
    return {x: data[x][i] for x in data if x not in skip and not np.isnan(data[x][i])}


@pytest.mark.filterwarnings("ignore:the table has no column")
def test_log_likelihoods_integrate_what_is_missing_out(net):
    data = some_rows()
    expected = [naive.log_density(REGRESSIONS, shown(data, i)) for i in range(12)]
    table = jn.Table(data, continuous=list("abcde"))
    np.testing.assert_allclose(net.log_likelihood(table), expected, rtol=1e-10, atol=1e-12)
    weights = np.arange(12.0)
    weighted = table.with_weights(weights)
    assert net.score(weighted) == pytest.approx(np.average(expected, weights=weights), rel=1e-10)
    assert net.log_probability(shown(data, 2)) == pytest.approx(expected[2], rel=1e-10)
    without = table.select(list("abc"))  # absent columns are missing
    rows = [{x: v for x, v in shown(data, i).items() if x in "abc"} for i in range(12)]
    expected = [naive.log_density(REGRESSIONS, row) for row in rows]
    np.testing.assert_allclose(net.log_likelihood(without), expected, rtol=1e-10, atol=1e-12)


def test_predictions_are_conditional_means(net):
    data = some_rows()
    found = net.predict(jn.Table(data, continuous=list("abcde")), "d")
    for i in range(12):
        names, mean, _ = naive.condition(*naive.joint(REGRESSIONS), shown(data, i, skip="d"))
        assert found[i] == pytest.approx(mean[names.index("d")], rel=1e-9)


def test_completions(net):
    data = some_rows()
    table = jn.Table(data, continuous=list("abcde"))
    filled = net.impute(table)
    for i in range(12):
        row = shown(data, i)
        for x, value in row.items():
            assert filled.column(x).data[i] == value
        names, mean, _ = naive.condition(*naive.joint(REGRESSIONS), row)
        for x, value in zip(names, mean, strict=True):
            assert filled.column(x).data[i] == pytest.approx(value, rel=1e-9)
    many = {"a": np.full(4000, 1.0), "e": np.full(4000, 0.5)}
    absent = {x: np.full(4000, np.nan) for x in "bcd"}
    drawn = net.impute(
        jn.Table({**many, **absent}, continuous=list("abcde")), "draw", random_state=0
    )
    _, mean, cov = naive.condition(*naive.joint(REGRESSIONS), {"a": 1.0, "e": 0.5})
    rows = np.array([drawn.column(x).data for x in "bcd"])
    # z-tests at about p = 1e-6
    assert np.all(np.abs(rows.mean(1) - mean) < 5.0 * np.sqrt(np.diagonal(cov) / 4000))
    np.testing.assert_allclose(np.cov(rows), cov, atol=0.12)


def test_completed_frames_are_of_the_kind_that_came(net):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    data = {**some_rows(), "label": ["x"] * 12}
    frame = pandas.DataFrame(data, index=range(5, 17))
    filled = net.impute(frame)
    assert isinstance(filled, pandas.DataFrame)
    assert list(filled.index) == list(range(5, 17))
    assert list(filled.columns) == list(frame.columns)
    assert not filled.isna().any().any()
    again = net.impute(polars.DataFrame(data, nan_to_null=True))
    assert isinstance(again, polars.DataFrame)
    np.testing.assert_allclose(again["d"].to_numpy(), filled["d"].to_numpy())


@pytest.mark.parametrize(("given", "do"), CASES[:5])
def test_samples_have_the_moments_of_the_answer(net, given, do):
    table = net.sample(6000, given=given, do=do, random_state=1)
    names = [x for x in "abcde" if x not in given and x not in do]
    expected = net.query(names, given, do)
    rows = np.array([table.column(x).data for x in names])
    spread = np.sqrt(np.diagonal(expected.covariance))
    assert np.all(np.abs(rows.mean(1) - expected.means) < 5.0 * spread / np.sqrt(6000))
    scaled = np.cov(rows) / np.outer(spread, spread)
    np.testing.assert_allclose(scaled, expected.covariance / np.outer(spread, spread), atol=0.08)
    for x, value in {**given, **do}.items():
        assert np.all(table.column(x).data == value)
    again = net.sample(6000, given=given, do=do, random_state=1)
    assert np.array_equal(again.column("e").data, table.column("e").data)
    assert net.sample(0).n_rows == 0


def test_entropies(net):
    covariance = net.query(["a", "d"]).covariance
    expected = 0.5 * np.linalg.slogdet(2.0 * np.pi * np.e * covariance)[1]
    assert net.entropy(["a", "d"]) == pytest.approx(expected, rel=1e-11)
    assert net.entropy("a") == pytest.approx(0.5 * np.log(2.0 * np.pi * np.e * 2.0), rel=1e-12)
    chain = net.entropy("a") + net.entropy(["b", "c", "d", "e"], given={"a": 0.0})
    assert net.entropy() == pytest.approx(chain, rel=1e-11)
    assert net.mutual_information("a", "c") == pytest.approx(0.0, abs=1e-12)
    assert net.mutual_information("a", "c", given=["d"]) > 0.01
    assert net.mutual_information("a", "c", given={"d": 7.0}) == pytest.approx(
        net.mutual_information("a", "c", given=["d"]), rel=1e-12
    )
    correlation = covariance[0, 1] ** 2 / (covariance[0, 0] * covariance[1, 1])
    assert net.mutual_information("a", "d") == pytest.approx(-0.5 * np.log1p(-correlation))


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda n: n.query("z"), "the network has no variable 'z'"),
        (lambda n: n.query([]), "ask for one variable at least"),
        (lambda n: n.query(["a", "a"]), "ask for one variable at least, and for each of them once"),
        (lambda n: n.query("a", {"b": "high"}), r"given=\{'b': 'high'\}: 'b' takes a finite num"),
        (lambda n: n.query("a", {"b": np.inf}), r"given=\{'b': inf\}: 'b' takes a finite number"),
        (lambda n: n.query("a", None, [3]), "do must be a dict from variable to number, not list"),
        (lambda n: n.query("a", {"a": 1.0}), "'a' is asked for, but stands in given: leave it out"),
        (lambda n: n.query("a", None, {"a": 1.0}), "'a' is asked for, but stands in do: leave it"),
        (lambda n: n.query("a", {"b": 1}, {"b": 1}), "'b' stands in given and in do: it is either"),
        (lambda n: n.query("a", interval=0.9), r"the answer of a Gaussian network has .interval\("),
        (lambda n: n.probability({"a": 1.0}), "a value of a continuous variable has no probabili"),
        (lambda n: n.predict({"a": [1.0]}, "b", unknown="missing"), "predicts without unknown"),
        (lambda n: n.impute({"a": [1.0]}, "best"), "method must be 'mode', 'marginal' or 'draw'"),
        (
            lambda n: n.predict({"a": [np.inf]}, "b"),
            r"no finite number of at most 1e\+140 stands in 1 row \(1\), in 'a'",
        ),
        (lambda n: n.mutual_information("a", ["a", "b"]), "'a' stands on both sides: leave it out"),
        (lambda n: n.posterior("a"), "this network has point estimates only: a posterior comes"),
        (lambda n: n.cpt("a"), "are continuous, so it has no states and no tables: see regression"),
        (lambda n: n.predict_proba({"a": [1.0]}, "b"), "are continuous, so it has no states and"),
        (lambda n: n.to_svg(beliefs=True), "are continuous, so it has no states and no tables"),
        (lambda n: n.with_cpt("a", [0.5, 0.5]), "are continuous, so it has no states and no tabl"),
        (lambda n: n.to_pgmpy(), "are continuous, so it has no states and no tables"),
    ],
)
@pytest.mark.filterwarnings("ignore:the table has no column")
def test_questions_that_make_no_sense(net, ask, text):
    with pytest.raises(jn.JensenError, match=text):
        ask(net)


def test_the_mean_of_the_variance_is_that_of_an_inverse_gamma():
    """By the integral of its quantiles; tolerance 1e-3, for its tail is long."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=30)
    known = (
        jn.BayesianNetwork("x -> y", prior="bge")
        .fit({"x": x, "y": x + rng.normal(size=30)})
        .posterior("y")
    )
    levels = np.linspace(0.0, 1.0, 20_001)[1:-1:2]  # midpoints of equal shares, in pairs
    bounds = np.array([known.variance_interval(level) for level in levels])
    assert known.mean_variance == pytest.approx(bounds.mean(), rel=1e-3)
    assert known.mean_variance > known.variance
    assert f"variance   {known.mean_variance:.4g}" in " ".join(repr(known).splitlines())


def test_a_variance_without_a_mean():
    prior = {"degrees_of_freedom": 0.5, "scale": 1.0}
    known = jn.BayesianNetwork("x", prior=prior, method="vbem").fit({"x": [0.5]}).posterior("x")
    assert known.degrees_of_freedom == pytest.approx(1.5, rel=1e-12)
    assert known.mean_variance == np.inf
    assert repr(known).splitlines()[-1].split()[:2] == ["variance", "infinite"]


def test_a_network_of_tables_has_no_regressions():
    with pytest.raises(jn.JensenError, match="have states, so it has tables and no regressions"):
        jn.examples.load("asia").regression("smoke")


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ({"x": {}}, r"regressions must name each of \['x', 'y'\] once, not \['x'\]"),
        ({"x": {}, "y": 3.0}, "the regression of 'y' is a dict with intercept, coefficients"),
        ({"x": {}, "y": {"slope": 3.0}}, "the regression of 'y' is a dict with intercept, coeff"),
        ({"x": {}, "y": {}}, r"the coefficients of 'y' must name each of \['x'\] once, not \[\]"),
        ({"x": {}, "y": {"coefficients": [1.0]}}, "the coefficients of 'y' must be a dict by par"),
        ({"x": {"variance": 0.0}, "y": {"coefficients": {"x": 1.0}}}, "and a variance > 0"),
        ({"x": {"intercept": "1"}, "y": {"coefficients": {"x": 1.0}}}, "'x' needs finite numbers"),
    ],
)
def test_regressions_that_make_no_network(parts, text):
    with pytest.raises(jn.JensenError, match=text):
        jn.BayesianNetwork.from_regressions("x -> y", parts)


def test_numbers_may_come_as_text(net):
    assert net.query("a", {"b": "1.5"}).mean == net.query("a", {"b": 1.5}).mean


@pytest.mark.filterwarnings("ignore:the table has no column")
def test_integers_in_a_table_are_numbers_to_the_network(net):
    whole = jn.Table({"a": [1, 2, 3], "b": [0, 0, 1]})
    assert whole.variable("a").kind == "categorical"
    floats = jn.Table({"a": [1.0, 2.0, 3.0], "b": [0.0, 0.0, 1.0]}, continuous=["a", "b"])
    np.testing.assert_array_equal(net.predict(whole, "d"), net.predict(floats, "d"))
