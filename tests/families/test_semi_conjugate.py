"""Means that are independent of precisions a priori, beside sums over grids of both."""

import numpy as np
import pytest
from scipy.stats import gamma, norm

import jensen as jn
from jensen.models.emissions.registry import USUAL, make_emission, summary_for

MEAN, VARIANCE, FREEDOM, SCALE = 0.7, 3.0, 3.0, 0.4
PRIOR = {
    "mean": MEAN, "mean_variance": VARIANCE, "degrees_of_freedom": FREEDOM, "scale": SCALE
}  # fmt: skip
X = np.array([0.1, 0.5, 2.0, 1.1, -0.4])
KINDS = {"diagonal": (1, 1), "full": (1, 1), "spherical": (1, 2), "tied": (2, 1)}
"""Of each kind of covariance states and columns, so that a precision has one or two means."""


def emission(covariance):
    K, D = KINDS[covariance]
    rows = jn.data.number_rows.NumberRows.of(np.column_stack([X, X[::-1] ** 2])[:, :D])
    numbers = USUAL["continuous"]
    columns = summary_for([numbers], rows, PRIOR, covariance)
    return make_emission(numbers, K, columns, PRIOR, covariance=covariance), rows.values()


def statistics(covariance):
    """Η after the rows, of which the last two are the second state's where there are two."""
    made, values = emission(covariance)
    K, _ = KINDS[covariance]
    nodes = np.zeros((K, len(values)))
    nodes[0, : 3 if K == 2 else None] = 1.0
    nodes[-1, 3:] = 1.0
    t = made.family.mode_stats(made.survey(values).wide)
    found = made.observe(t, made.encode(values)).stats(0, len(values), nodes)
    eta = type(found)(*(a + b for a, b in zip(made.prior, found, strict=True)))
    return made, eta, values, nodes


def grid(made, values, nodes):
    """Log p(rows, θ) on a grid of log λ and two means (the second may be nobody's)."""
    u = np.linspace(-9.0, 4.0, 260)
    mu = np.linspace(-7.0, 8.5, 130)
    weight = (u[1] - u[0]) * np.ones(len(u))
    log_prior = gamma.logpdf(np.exp(u), FREEDOM / 2, scale=2 * SCALE) + u + np.log(weight)
    of_means = norm.logpdf(mu, MEAN, VARIANCE**0.5) + np.log(mu[1] - mu[0])
    parts = []
    for data in groups(made, values, nodes):
        like = norm.logpdf(data[:, None, None], mu[:, None], np.exp(-0.5 * u)).sum(0)
        parts.append(of_means[:, None] + like)
    if len(parts) == 1:
        return u, mu, (log_prior + parts[0])[:, None]
    return u, mu, log_prior + parts[0][:, None] + parts[1][None]


def groups(made, values, nodes):
    """The numbers that belong to each mean."""
    if made.covariance == "spherical":
        return list(values.T)
    return [values[own > 0, 0] for own in nodes]


@pytest.mark.parametrize("covariance", KINDS)
def test_the_partition_and_moments_are_sums_over_a_grid(covariance):
    made, eta, values, nodes = statistics(covariance)
    u, mu, log_joint = grid(made, values, nodes)
    top = log_joint.max()
    joint = np.exp(log_joint - top)
    expected = np.log(joint.sum()) + top + 0.5 * values.size * np.log(2 * np.pi)
    family = made.family
    gain = family.log_partition(eta) - family.log_partition(made.prior)
    assert gain == pytest.approx(expected, abs=2e-6)
    share = joint / joint.sum()
    t, lam = family.mean_stats(eta), np.exp(u)
    assert np.ravel(t.count)[0] == pytest.approx((share * 0.5 * u).sum(), abs=1e-5)
    assert np.ravel(t.second)[0] == pytest.approx((share * -0.5 * lam).sum(), abs=1e-5)
    m = mu - values.mean(0)[0]  # rows are kept less their means
    first = (share * (lam * m[:, None])[:, None]).sum()
    assert np.ravel(t.first)[0] == pytest.approx(first, abs=1e-5)


@pytest.mark.parametrize("covariance", KINDS)
def test_draws_have_the_expected_statistics(covariance):
    made, eta, _, _ = statistics(covariance)
    many = type(eta)(*(np.repeat(part[None], 40_000, axis=0) for part in eta))
    drawn = made.family.sample_stats(many, np.random.default_rng(0))
    for own, mean in zip(drawn, made.family.mean_stats(eta), strict=True):
        error = own.std(0) / 200.0
        assert (np.abs(own.mean(0) - mean) < 4.5 * error).all()


def test_the_mode_is_the_highest_point():
    made, eta, values, nodes = statistics("diagonal")
    u, mu, log_joint = grid(made, values, nodes)
    i, _, k = np.unravel_index((log_joint - u).argmax(), log_joint.shape)  # of λ, not of log λ
    t = made.family.mode_stats(eta)
    assert -2.0 * np.ravel(t.second)[0] == pytest.approx(np.exp(u[k]), rel=0.06)
    assert made.show(t)["means"][0, 0] == pytest.approx(mu[i], abs=0.13)


def test_the_base_measure_is_the_prior_of_the_means():
    made, _, _, _ = statistics("tied")
    t = made.at(np.array([[0.2], [1.3]]) - made.shift, np.array([[2.0]]))
    expected = norm.logpdf([0.2, 1.3], MEAN, VARIANCE**0.5).sum()
    assert made.family.log_base(t) == pytest.approx(expected)


def test_gibbs_finds_the_exact_posterior_of_one_component():
    made, eta, values, _ = statistics("diagonal")
    model = jn.GaussianMixture(
        1, covariance="diagonal", method="gibbs", prior=PRIOR, random_state=0, n_samples=800,
        burn_in=10,
    ).fit(values)  # fmt: skip
    point = made.point(eta)
    assert model.means_[0, 0] == pytest.approx(made.show(point)["means"][0, 0], abs=0.06)
    assert "mean_variance=3" in str(model.summary())


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"method": "vbem"}, "does not know means that are independent.*method='gibbs'"),
        ({"method": "em"}, "does not know means that are independent"),
        ({"prior": {**PRIOR, "mean_strength": 1.0}}, "give one of the two"),
        ({"prior": {**PRIOR, "mean_variance": 0.0}}, "must be above 0 everywhere"),
        ({"prior": {**PRIOR, "mean": [[0.0], [1.0]]}}, "does not fit"),
    ],
)
def test_what_is_refused(choices, words):
    given = {"covariance": "diagonal", "method": "gibbs", "prior": PRIOR, **choices}
    with pytest.raises(jn.JensenError, match=words):
        jn.GaussianMixture(2, **given).fit(X[:, None])


def test_precisions_that_are_matrices_are_refused():
    model = jn.GaussianMixture(2, method="gibbs", prior={"mean_variance": 1.0})
    with pytest.raises(jn.JensenError, match="each precision is a number: choose covariance="):
        model.fit(np.column_stack([X, X**2]))
