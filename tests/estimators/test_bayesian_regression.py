"""Regression in closed form: the evidence of polynomials, and what is predicted."""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.special import logsumexp
from scipy.stats import gamma, multivariate_normal, multivariate_t
from sklearn.utils.estimator_checks import check_estimator

import jensen as jn

X = np.array([-4.5, -3.2, -2.1, -1.0, -0.2, 0.7, 1.5, 2.6, 3.3, 4.4])
Y = np.array([1.9, 0.4, -0.9, -1.3, -1.1, -0.6, 0.3, 2.0, 3.6, 6.9])
PRIOR = {"mean": 0.0, "variance": 100.0, "shape": 1.0, "rate": 1.0}
EVIDENCES = [
    -28.457148090974343, -28.90751768437871, -15.059157290954168, -16.05144752538153,
    -16.826798435816755, -17.250333982196445, -17.621167930546907, -17.87278043416515,
]  # fmt: skip


def polynomials(degree="auto", **choices):
    return jn.BayesianRegression(degree, origin=0.0, unit=5.0, prior=PRIOR, **choices)


def test_occams_razor_on_ten_points():
    model = polynomials().fit(X[:, None], Y)
    assert model.degree_ == 2
    assert model.log_evidence_ == pytest.approx(-15.059157, abs=1e-6)
    found = [one.log_evidence for one in model.evidences_]
    assert found == pytest.approx(EVIDENCES, abs=1e-6)
    assert model.evidences_[2].probability == pytest.approx(0.558539, abs=1e-6)
    assert sum(one.probability for one in model.evidences_) == pytest.approx(1.0)
    assert "best" in model.summary().splitlines()[4]


@pytest.mark.parametrize("degree", [0, 1, 3])
def test_the_evidence_is_that_of_a_student_distribution(degree):
    design = np.column_stack([(X / 5.0) ** k for k in range(degree + 1)])
    shape = np.eye(len(X)) + 100.0 * design @ design.T
    expected = multivariate_t(np.zeros(len(X)), shape, df=2.0).logpdf(Y)
    model = polynomials(degree).fit(X[:, None], Y)
    assert model.log_evidence_ == pytest.approx(expected, rel=1e-10)

    def given_precision(log_precision):  # and by integrating the precision numerically
        precision = np.exp(log_precision)
        normal = multivariate_normal(np.zeros(len(X)), shape / precision)
        return np.exp(normal.logpdf(Y) - expected) * gamma(1.0).pdf(precision) * precision

    assert quad(given_precision, -8.0, 6.0, limit=200)[0] == pytest.approx(1.0, rel=1e-5)


def test_the_predictive_distribution_is_a_ratio_of_evidences():
    model = polynomials(2).fit(X[:, None], Y)
    more = polynomials(2).fit(np.append(X, 0.3)[:, None], np.append(Y, 1.7))
    expected = more.log_evidence_ - model.log_evidence_
    assert model.log_predictive([[0.3]], [1.7]) == pytest.approx(expected, rel=1e-9)
    low, high = model.interval([[0.3]], 0.9)
    ends = [model.log_predictive([[0.3]], end)[0] for end in (low, high)]
    assert ends[0] == pytest.approx(ends[1])
    inside = quad(lambda y: np.exp(model.log_predictive([[0.3]], [y])[0]), low[0], high[0])[0]
    assert inside == pytest.approx(0.9, abs=1e-6)
    narrow = model.interval([[0.3]], 0.9, of="mean")
    assert low < narrow[0] < narrow[1] < high
    mean, deviation = model.predict([[0.3]], return_std=True)
    assert low < mean < high
    assert deviation > 0.0


def test_features_of_ones_own():
    model = jn.BayesianRegression(
        features=lambda x: np.column_stack([np.ones(len(x)), x / 5.0, (x / 5.0) ** 2]), prior=PRIOR
    ).fit(X[:, None], Y)
    assert model.degree_ is None
    assert model.log_evidence_ == pytest.approx(-15.059157, abs=1e-6)
    assert "features" in model.summary()


def test_units_change_no_degree_and_no_prediction():
    one = jn.BayesianRegression("auto").fit(X[:, None], Y)
    other = jn.BayesianRegression("auto").fit(1e3 * X[:, None] + 7.0, 1e-2 * Y - 3.0)
    assert one.degree_ == other.degree_ == 2
    shares = [[each.probability for each in model.evidences_] for model in (one, other)]
    assert shares[0] == pytest.approx(shares[1], rel=1e-6)
    moved = other.predict(1e3 * X[:, None] + 7.0)
    assert moved == pytest.approx(1e-2 * one.predict(X[:, None]) - 3.0, rel=1e-8)


def test_coefficients_have_intervals():
    model = polynomials(2).fit(X[:, None], Y)
    low, high = model.coefficient_interval(0.9)
    assert (low < model.coefficients_).all()
    assert (model.coefficients_ < high).all()
    assert model.noise_ > 0.0


def test_bars_of_degrees():
    pytest.importorskip("matplotlib")
    ax = polynomials().fit(X[:, None], Y).plot()
    assert len(ax.patches) == 8


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ({"degree": "best"}, "degree must be a whole number or 'auto'"),
        ({"degree": -1}, "degree must be"),
        ({"degree": 101}, "degree must be at most 100"),
        ({"unit": 0.0}, "unit must be finite and above 0"),
        ({"origin": "x"}, "origin must be a number, or one for each column"),
        ({"prior": {"scale": 1.0}}, "the prior has mean, variance, shape, rate, not 'scale'"),
        ({"prior": {"variance": 0.0}}, "must be finite and above 0"),
        ({"degree": 2, "features": np.sin}, "features take the place of degree"),
        ({"features": lambda x: x[0]}, "features must give finite numbers, a row for each"),
    ],
)
def test_what_cannot_be_is_refused(choices, text):
    with pytest.raises(jn.JensenError, match=text):
        jn.BayesianRegression(**choices).fit(X[:, None], Y)


def test_rows_that_say_too_little_are_refused():
    with pytest.raises(jn.DataError, match="knows missing values of linear"):
        jn.BayesianRegression().fit([[1.0], [np.nan]], [1.0, 2.0])
    with pytest.raises(jn.DataError, match="all outputs are the same"):
        jn.BayesianRegression().fit([[1.0], [2.0]], [1.0, 1.0])
    model = polynomials(1).fit(X[:, None], Y)
    with pytest.raises(jn.DataError, match="y must have 1 numbers"):
        model.log_predictive([[0.3]], [1.0, 2.0])
    with pytest.raises(jn.JensenError, match="level must be between 0 and 1"):
        model.interval([[0.3]], 1.5)
    with pytest.raises(jn.JensenError, match="of must be 'output' or 'mean'"):
        model.interval([[0.3]], of="noise")


def test_the_contract_of_estimators():
    check_estimator(jn.BayesianRegression(), on_skip=None)


# --- relevance of inputs ---


def relevance_data(seed, n_noise=20):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(200, 5 + n_noise))
    weights = np.where(rng.random(5) < 0.5, -1.0, 1.0)
    return x, x[:, :5] @ weights + rng.normal(size=200)


def test_noise_inputs_are_not_relevant_and_real_ones_are():
    """20 seeds of 5 real inputs with weights ±1 beside 20 of noise: none lost, at most 5 % kept."""
    n_kept = 0
    for seed in range(20):
        model = jn.BayesianRegression(relevance=True).fit(*relevance_data(seed))
        assert all(one.is_relevant for one in model.relevance_[:5])
        n_kept += sum(one.is_relevant for one in model.relevance_[5:])
        assert (np.diff(model.trace_) > -1e-9).all()
    assert n_kept <= 0.05 * 20 * 20


def test_relevant_inputs_may_be_missing():
    x, y = relevance_data(3, 4)
    full = jn.BayesianRegression(relevance=True).fit(x, y)
    x[np.random.default_rng(0).random(x.shape) < 0.15] = np.nan
    model = jn.BayesianRegression(relevance=True).fit(x, y)
    assert [one.is_relevant for one in model.relevance_] == [True] * 5 + [False] * 4
    assert (np.diff(model.trace_) > -1e-9).all()
    np.testing.assert_allclose(model.coefficients_, full.coefficients_, atol=0.35)


def test_the_bound_of_relevance_lies_below_the_evidence_of_a_sum():
    """One input: p(y) summed over its precision on a grid, the rest in closed form."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(12, 1))
    y = 0.8 * x[:, 0] + rng.normal(size=12)
    model = jn.BayesianRegression(relevance=True).fit(x, y)
    z = np.column_stack([np.ones(12), (x - model.origin_) / model.unit_])
    u = np.linspace(-12.0, 12.0, 1_501)  # log of the precision
    rate, n, away = y.var(), 12, y - y.mean()
    values = []
    for alpha in np.exp(u):
        covariance = np.eye(n) + z @ np.diag([100.0, 1.0 / alpha]) @ z.T
        values.append(multivariate_t(np.zeros(n), covariance * rate, 2.0).logpdf(away))
    prior = gamma(0.5, scale=2.0).logpdf(np.exp(u)) + u
    total = logsumexp(np.array(values) + prior) + np.log(u[1] - u[0])
    assert total - 1.0 < model.log_evidence_ < total


def test_rows_that_miss_all_inputs_cost_nothing_but_their_outputs():
    """The bound of missing inputs is that of the complete rows where every q is exact."""
    x, y = relevance_data(0, 0)
    model = jn.BayesianRegression(relevance=True, origin=0.0, unit=1.0)
    shorter = model.fit(np.where(np.arange(200)[:, None] < 1, np.nan, x), y).log_evidence_
    x[0, 0] = np.nan
    assert model.fit(x, y).log_evidence_ < shorter  # more is seen, which has a probability


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"degree": 2}, "relevance is that of linear inputs"),
        ({"features": np.sin}, "relevance is that of linear inputs"),
        ({"prior": {"slope": 1.0}}, "the prior has .*input_rate, not 'slope'"),
    ],
)
def test_what_relevance_cannot_have(choices, words):
    x, y = relevance_data(0, 0)
    with pytest.raises(jn.JensenError, match=words):
        jn.BayesianRegression(**{"relevance": True, **choices}).fit(x, y)


def test_missing_inputs_that_are_refused():
    x, y = relevance_data(0, 0)
    x[:, 1] = np.nan
    with pytest.raises(jn.JensenError, match="input 2 is missing in all rows"):
        jn.BayesianRegression(relevance=True).fit(x, y)
    with pytest.raises(jn.JensenError, match="missing values of linear inputs alone"):
        jn.BayesianRegression(2).fit(x, y)


def test_relevance_is_told_in_a_table():
    x, y = relevance_data(0, 1)
    model = jn.BayesianRegression(relevance=True).fit(pd.DataFrame(x, columns=list("abcdef")), y)
    text = model.summary()
    assert [line.split()[0] for line in text.splitlines()[2:8]] == list("abcdef")
    assert text.count("relevant") == sum(one.is_relevant for one in model.relevance_)
    assert model.interval(pd.DataFrame(x, columns=list("abcdef"))).shape == (2, 200)
