"""Learning Gaussian networks: least squares, posteriors, and numbers that are missing."""

import numpy as np
import pytest
from naive import gaussian_networks as naive
from scipy.integrate import trapezoid

import jensen as jn

GRAPH = {"a": [], "b": ["a"], "c": [], "d": ["b", "c"]}
DAG = jn.DAG.from_parents(GRAPH)


def make_data(n_rows=60, seed=0, missing=0.0, offset=0.0):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n_rows) * 2.0 + offset
    b = 1.0 + 0.8 * a + rng.normal(size=n_rows)
    c = rng.normal(size=n_rows) - offset
    d = 0.5 * b - c + 0.5 * rng.normal(size=n_rows)
    data = {"a": a, "b": b, "c": c, "d": d}
    for x in data:
        data[x] = np.where(rng.random(n_rows) < missing, np.nan, data[x])
    return data


def regressions_of(net):
    return {
        r.name: (r.intercept, dict(r.coefficients), r.variance) for r in net.network_.regressions
    }


# --- complete rows ---


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_em_is_least_squares(offset):
    data = make_data(offset=offset)
    net = jn.BayesianNetwork(DAG).fit(data)
    for x, parents in GRAPH.items():
        found = net.regression(x)
        centred = {name: column - column.mean() for name, column in data.items()}
        _, slopes, variance = naive.least_squares(centred, x, parents)
        np.testing.assert_allclose(list(found.coefficients.values()), slopes, rtol=1e-8)
        assert found.variance == pytest.approx(variance, rel=1e-8)
        through = data[x].mean() - sum(b * data[p].mean() for p, b in found.coefficients.items())
        assert found.intercept == pytest.approx(through, rel=1e-9, abs=1e-8)
    assert net.converged_
    assert net.n_sweeps_ == 0
    assert not net.is_bound_
    assert net.free_energy_ == pytest.approx(jn.score(DAG, data, "loglik"), rel=1e-9)
    if not offset:
        assert net.score(data) * 60 == pytest.approx(net.free_energy_, rel=1e-10)
    assert net.parameters_count == 11
    assert net.states == {"a": (), "b": (), "c": (), "d": ()}


PRIORS = [
    "bge",
    {},
    {"prior_mean": 0.0},
    {"prior_mean": {"a": 1.0, "b": 2.0, "c": -1.0, "d": 0.0}, "mean_strength": 2.5},
    {"scale": np.diag([1.0, 2.0, 3.0, 4.0]) + 0.3, "degrees_of_freedom": 9.0, "prior_mean": 5.0},
]


@pytest.mark.parametrize("prior", PRIORS)
def test_the_evidence_of_complete_rows_is_bge(prior):
    data = make_data(30)
    net = jn.BayesianNetwork(DAG, prior=prior).fit(data)
    choices = {} if prior == "bge" else prior
    assert net.free_energy_ == pytest.approx(jn.score(DAG, data, "bge", **choices), rel=1e-11)
    assert net.is_bound_
    assert net.converged_


def test_posteriors_are_those_of_the_regression():
    """The posterior of slopes is a Student distribution: checked by its density on a grid."""
    data = make_data(12)
    net = jn.BayesianNetwork(DAG, method="vbem", prior={"prior_mean": 0.0, "scale": "unit"}).fit(
        data
    )
    known = net.posterior("b")
    assert known.terms == ("intercept", "a")
    found = net.regression("b")
    np.testing.assert_allclose(known.mean, [found.intercept, found.coefficients["a"]], rtol=1e-12)
    # η = prior + rows in the coordinates of the data: V = diag(1, 0.5) + XᵀX, since T = 0.5 I
    x = np.column_stack([np.ones(12), data["a"]])
    strength = np.diag([1.0, 0.5]) + x.T @ x
    mean = np.linalg.solve(strength, x.T @ data["b"])
    np.testing.assert_allclose(known.mean, mean, rtol=1e-9)
    degrees = 6.0 - 4.0 + 2.0 + 12.0
    assert known.degrees_of_freedom == pytest.approx(degrees, rel=1e-12)
    scatter = 0.5 + data["b"] @ data["b"] - mean @ strength @ mean
    assert known.variance == pytest.approx(scatter / degrees, rel=1e-9)
    spread = np.sqrt(scatter / degrees * np.diagonal(np.linalg.inv(strength)))
    np.testing.assert_allclose(known.spread, spread, rtol=1e-9)
    low, high = known.interval(0.5)
    assert np.all((low < mean) & (mean < high))
    least, most = known.variance_interval(0.9)
    assert least < known.variance < most
    assert repr(known).startswith("posterior of the regression of b, 90 % intervals\nterm")


def test_weights_are_repeated_rows_and_columns_have_no_order():
    data = make_data(25)
    weights = np.random.default_rng(2).integers(0, 3, 25)
    one = jn.BayesianNetwork(DAG).fit(jn.Table(data, weights=weights))
    turned = {x: np.repeat(data[x], weights) for x in reversed(data)}
    other = jn.BayesianNetwork(DAG).fit(turned)
    assert one.equals(other, tolerance=1e-9)
    assert one.free_energy_ == pytest.approx(other.free_energy_, rel=1e-11)
    assert not one.equals(jn.examples.load("asia"))
    assert not jn.examples.load("asia").equals(one)


def test_em_with_a_prior_is_the_mode():
    data = make_data(20)
    net = jn.BayesianNetwork(DAG, method="em", prior={"prior_mean": 0.0, "scale": "unit"}).fit(data)
    x = np.column_stack([np.ones(20), data["a"]])
    strength = np.diag([1.0, 0.5]) + x.T @ x
    mean = np.linalg.solve(strength, x.T @ data["b"])
    scatter = 0.5 + data["b"] @ data["b"] - mean @ strength @ mean
    found = net.regression("b")
    assert [found.intercept, found.coefficients["a"]] == pytest.approx(mean, rel=1e-9)
    assert found.variance == pytest.approx(scatter / (4.0 + 20.0), rel=1e-9)  # a - 2 + D + N


# --- numbers that are missing ---


def test_em_climbs_to_a_maximum_of_the_likelihood():
    data = make_data(80, missing=0.3)
    net = jn.BayesianNetwork(DAG, tol=1e-13, max_iter=5000).fit(jn.Table(data))
    assert np.all(np.diff(net.trace_) >= -1e-9)
    rows = [{x: data[x][i] for x in data if not np.isnan(data[x][i])} for i in range(80)]

    def log_like(parameters):
        found, at = {}, 0
        for x, parents in GRAPH.items():
            p = len(parents)
            slopes = dict(zip(parents, parameters[at + 1 : at + 1 + p], strict=True))
            found[x] = (parameters[at], slopes, np.exp(parameters[at + 1 + p]))
            at += p + 2
        return sum(naive.log_density(found, row) for row in rows)

    start = np.concatenate(
        [
            [r.intercept, *r.coefficients.values(), np.log(r.variance)]
            for r in net.network_.regressions
        ]
    )
    assert net.free_energy_ == pytest.approx(log_like(start), rel=1e-10)
    assert net.score(data) * 80 == pytest.approx(net.free_energy_, rel=1e-10)
    step = 1e-4
    for k in range(len(start)):  # the gradient is zero
        move = step * np.eye(len(start))[k]
        slope = (log_like(start + move) - log_like(start - move)) / (2.0 * step)
        assert abs(slope) < 2e-3


def test_vbem_bounds_the_evidence_and_is_stationary():
    """One variable with gaps: then nothing depends on them, and the bound is the evidence."""
    data = {"a": np.array([0.5, 1.5, np.nan, 4.0, 2.0])}
    net = jn.BayesianNetwork("a", prior={"prior_mean": 1.0}, tol=1e-14).fit(data)
    seen = {"a": data["a"][[0, 1, 3, 4]]}
    exact = naive.bge(seen, "a", [], prior_mean=1.0)  # the scale is that of the values seen
    assert net.free_energy_ <= exact + 1e-9
    assert net.free_energy_ == pytest.approx(exact, abs=0.2)
    assert np.all(np.diff(net.trace_) >= -1e-10)


@pytest.mark.slow
def test_vbem_with_gaps_is_below_the_evidence():
    """The evidence by brute force: the missing cell on a fine grid."""
    data = {"a": np.array([0.5, 1.5, -1.0, 2.0]), "b": np.array([0.7, 1.0, np.nan, 2.5])}
    prior = {"prior_mean": 0.0, "scale": "unit"}
    net = jn.BayesianNetwork("a -> b", prior=prior, tol=1e-14).fit(data)
    grid = np.linspace(-300.0, 300.0, 60_001)
    values = []
    for x in np.concatenate([grid[::200], np.linspace(-8.0, 8.0, 801)]):
        full = {"a": data["a"], "b": np.where(np.isnan(data["b"]), x, data["b"])}
        values.append((x, naive.bge(full, "a", [], **prior) + naive.bge(full, "b", ["a"], **prior)))
    x, logs = np.array(sorted(values)).T
    exact = np.log(trapezoid(np.exp(logs - logs.max()), x)) + logs.max()
    assert net.free_energy_ <= exact
    assert net.free_energy_ == pytest.approx(exact, abs=0.8)  # q(h) q(θ) leaves the tails out


def test_starts_and_restarts():
    data = jn.Table(make_data(50, missing=0.3))
    once = jn.BayesianNetwork(DAG, tol=1e-12).fit(data)
    many = jn.BayesianNetwork(DAG, n_init=3, random_state=0, tol=1e-12).fit(data)
    assert len(many.starts_) == 3
    assert many.free_energy_ >= once.free_energy_ - 1e-6
    again = jn.BayesianNetwork(DAG, start=once, tol=1e-8).fit(data)
    assert again.n_sweeps_ <= 2
    assert again.free_energy_ == pytest.approx(once.free_energy_, rel=1e-8)


def test_a_run_is_resumed_to_the_identical_result(tmp_path):
    data = jn.Table(make_data(50, missing=0.3))
    net = jn.BayesianNetwork(DAG, random_state=0).fit(data)
    file = tmp_path / "run"
    stopped = jn.BayesianNetwork(DAG, random_state=0).fit(data, checkpoint=file)
    again = jn.BayesianNetwork(DAG, random_state=0).fit(data, checkpoint=file)
    assert net.equals(stopped)
    assert net.equals(again)
    with pytest.raises(jn.JensenError, match="other"):
        jn.BayesianNetwork(DAG, random_state=0, prior="bge").fit(data, checkpoint=file)


# --- other methods ---

CHAIN = {"n_samples": 500, "burn_in": 100, "n_chains": 2, "random_state": 0}


@pytest.mark.parametrize(("method", "same"), [("viterbi", "em"), ("me", "vbem")])
def test_a_density_has_no_most_probable_numbers(method, same):
    """They are integrated out by all methods, so where all are numbers these are the same."""
    data = make_data(50, missing=0.3)
    one, other = (jn.BayesianNetwork(DAG, method=x).fit(data) for x in (method, same))
    assert one.network_.equals(other.network_)
    assert one.free_energy_ == other.free_energy_


def test_stochastic_em_stays_about_the_estimate():
    data = make_data(300, missing=0.2)
    exact = jn.BayesianNetwork(DAG).fit(data)
    net = jn.BayesianNetwork(DAG, method="stochastic-em", **CHAIN).fit(data)
    for own, other in zip(net.network_.regressions, exact.network_.regressions, strict=True):
        assert own.intercept == pytest.approx(other.intercept, abs=0.06)
        assert own.variance == pytest.approx(other.variance, rel=0.06)
        for name, slope in other.coefficients.items():
            assert own.coefficients[name] == pytest.approx(slope, abs=0.03)
    assert exact.free_energy_ - 1.0 < net.free_energy_ <= exact.free_energy_
    assert np.isfinite(net.r_hat_)


def test_gibbs_of_complete_rows_draws_the_posterior():
    """Means and variances of intercept, slopes and noise within four standard errors."""
    data = make_data(60)
    exact = jn.BayesianNetwork(DAG, prior="bge").fit(data)
    net = jn.BayesianNetwork(DAG, prior="bge", method="gibbs", **CHAIN).fit(data)
    assert net.network_.n_samples == 1000
    at = 0
    for name in DAG.nodes:
        known = exact.posterior(name)
        n = len(known.mean)
        draws = net.network_.samples[:, at : at + n]
        error = draws.std(0) / np.sqrt(len(draws))
        assert (np.abs(draws.mean(0) - known.mean) < 4.0 * error).all()
        low, high = known.interval(0.9)
        inside = (draws > low) & (draws < high)
        assert (np.abs(inside.mean(0) - 0.9) < 0.04).all()
        at += n + 1
    assert at == net.network_.samples.shape[1]
    own, other = (x.query("d", given={"a": 1.0}) for x in (net, exact))
    assert own.mean == pytest.approx(other.mean, abs=0.05)


def test_gibbs_answers_everything_else_too(tmp_path):
    data = make_data(80, missing=0.2)
    net = jn.BayesianNetwork(DAG, method="gibbs", **CHAIN).fit(data)
    vb = jn.BayesianNetwork(DAG, method="vbem").fit(data)
    assert "mixture of 1,000 Gaussians" in repr(net.query("d", given={"a": 1.0}))
    np.testing.assert_allclose(net.predict(data, "d"), vb.predict(data, "d"), atol=0.4)
    np.testing.assert_allclose(net.log_likelihood(data), vb.log_likelihood(data), atol=0.6)
    filled = net.impute(jn.Table(data), method="draw", n=3, random_state=0)
    assert len(filled) == 3
    assert not any(one.n_missing() for one in filled)
    assert net.regression("b").coefficients["a"] == pytest.approx(0.8, abs=0.2)
    net.save(tmp_path / "net.json")
    again = jn.load(tmp_path / "net.json")
    assert again.network_.equals(net.network_)
    assert again.method == "gibbs"
    np.testing.assert_array_equal(again.predict(data, "d"), net.predict(data, "d"))
    resumed = [
        jn.BayesianNetwork(DAG, method="gibbs", **CHAIN).fit(data, checkpoint=tmp_path / "run")
        for _ in range(2)
    ]
    assert all(one.network_.equals(net.network_) for one in resumed)


def test_missing_values_everywhere_never_leave_a_gap():
    data = make_data(200, missing=0.5, seed=3)
    net = jn.BayesianNetwork(DAG, method="vbem").fit(jn.Table(data))
    filled = net.impute(jn.Table(data))
    assert not filled.n_missing()
    assert net.regression("b").coefficients["a"] == pytest.approx(0.8, abs=0.25)


# --- the contract, and what is refused ---


def test_it_reads_well():
    net = jn.BayesianNetwork(DAG)
    assert repr(net) == "BayesianNetwork(4 nodes, 3 edges; not fitted)"
    net.fit(make_data())
    assert repr(net) == "BayesianNetwork(4 nodes, 3 edges, 11 free parameters)"
    text = repr(net.summary())
    assert text.startswith(
        "BayesianNetwork(4 nodes, 3 edges, 11 free parameters)\nlog-likelihood -"
    )
    assert "variable  parents" in text
    assert net._repr_html_().startswith("<svg")
    assert "<svg" in net.to_svg()


def test_it_can_be_copied_and_cross_validated():
    from sklearn.base import clone
    from sklearn.model_selection import cross_val_score

    frame = jn.Table(make_data()).to_pandas()
    net = jn.BayesianNetwork(DAG, prior="bge")
    assert clone(net).prior == "bge"
    assert np.isfinite(cross_val_score(net, frame, cv=3)).all()


def test_a_structure_found_by_bge_has_the_evidence_of_the_fit():
    data = make_data()
    full = jn.DAG.from_parents({"a": [], "b": ["a"], "c": ["a", "b"], "d": ["a", "b", "c"]})
    gain = jn.score(full, data, "bge") - jn.score(DAG, data, "bge")
    fits = [jn.BayesianNetwork(g, prior="bge").fit(data).free_energy_ for g in (full, DAG)]
    assert fits[0] - fits[1] == pytest.approx(gain, abs=1e-9)


DATA = make_data(20)
NO_BOUND = "the likelihood of 'b' has no bound: it is constant in the rows that count for it, or a"


@pytest.mark.parametrize(
    ("choices", "data", "text"),
    [
        ({}, {**DATA, "b": ["x", "y"] * 10}, "the edge a -> b leads from a number to a label"),
        ({}, {x: DATA[x] for x in "abc"}, "the node 'd' has no column: rename one of a, b, c"),
        ({}, {**DATA, "b": 2.0 * DATA["a"]}, NO_BOUND),
        ({}, {**DATA, "b": np.full(20, 0.1)}, "cannot be learned: column 'b' is constant"),
        (
            {},
            {x: v[:2] for x, v in DATA.items()},
            "the rows are too few for so many parents; leave",
        ),
        ({}, jn.Table(DATA, weights=np.zeros(20)), "there is nothing to learn from: the table has"),
        (
            {},
            {**DATA, "b": np.full(20, np.nan)},
            "column 'b' has no value and no declared states",
        ),
        ({"prior": 1.0}, DATA, "the prior of a Gaussian network is None .flat., 'bge', or a dict"),
        ({"prior": "bdeu"}, DATA, "the prior of a Gaussian network is None"),
        (
            {"prior": {"nu": 1.0}},
            DATA,
            "the prior of a Gaussian network has prior_mean, .* not 'nu'",
        ),
        ({"hidden": {"h": 2}}, DATA, "hidden variables have states, and the columns here are cont"),
        (
            {"method": "gibbs"},
            jn.Table({**DATA, "b": [np.nan, *DATA["b"][1:]]}, weights=np.full(20, 0.5)),
            "'gibbs' draws what is missing row by row, so weights must be whole numbers",
        ),
        (
            {"prior": "bge", "equivalent_sample_size": 2.0},
            DATA,
            "equivalent_sample_size belongs to tables of states: use mean_strength",
        ),
        ({"start": "x"}, DATA, "start= must be a Gaussian network, or an estimator that holds one"),
        (
            {"prior": {"degrees_of_freedom": 3.1, "scale": 1.0}, "method": "em"},
            DATA,
            "em needs a prior with a mode",
        ),
    ],
)
def test_what_cannot_be_learned_is_refused(choices, data, text):
    with pytest.raises(jn.JensenError, match=text):
        jn.BayesianNetwork(DAG, **choices).fit(data)


def test_a_network_before_fit():
    with pytest.raises(jn.NotFittedError, match="call fit"):
        jn.BayesianNetwork(DAG).regression("a")


def test_a_table_without_rows_has_empty_answers():
    rng = np.random.default_rng(0)
    table = jn.Table({"a": rng.normal(size=20), "b": rng.normal(size=20)})
    net = jn.BayesianNetwork("a -> b").fit(table)
    none = table.take(np.zeros(20, bool))
    assert net.log_likelihood(none).shape == (0,)
    assert net.predict(none, "b").shape == (0,)
    assert len(net.impute(none)) == 0
