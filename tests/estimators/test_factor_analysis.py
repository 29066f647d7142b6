"""Factor analysis: likelihoods by dense algebra, published numbers, moves, answers, refusals."""

import numpy as np
import pytest
from naive import factors as naive
from scipy.optimize import minimize
from scipy.stats import gamma as gamma_of
from scipy.stats import norm
from scipy.stats import t as student
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import FactorAnalysis as Peer

import jensen as jn
from jensen.exceptions import DataError, EstimateWarning, JensenError
from jensen.families import gaussian_vectors
from jensen.free_energy import EM, VBEM, state_at
from jensen.models import factor_analysis, factor_parameters


def wine():
    values = load_wine().data
    return (values - values.mean(0)) / values.std(0)


def some_rows(n=120, D=6, K=2, share=0.0, seed=0):
    rng = np.random.default_rng(seed)
    loadings = rng.uniform(0.5, 1.2, (K, D)) * rng.choice([-1.0, 1.0], (K, D))
    values = rng.normal(size=(n, K)) @ loadings + 0.8 * rng.normal(size=(n, D))
    values = 5.0 + values * np.geomspace(0.01, 100.0, D)
    values[rng.random(values.shape) < share] = np.nan
    return values


# --- numbers of others ---


def test_wine_is_what_scikit_learn_and_factanal_find():
    found = jn.FactorAnalysis(2).fit(wine())
    assert found.converged_
    assert found.n_sweeps_ == 1
    assert found.free_energy_ == pytest.approx(-2747.191052, abs=1e-6)
    peer = Peer(2, tol=1e-10, max_iter=10_000, svd_method="lapack").fit(wine())
    np.testing.assert_allclose(found.noise_variance_, peer.noise_variance_, atol=2e-5)
    np.testing.assert_allclose(found.get_covariance(), peer.get_covariance(), atol=2e-5)
    three = Peer(3, tol=1e-10, max_iter=10_000, svd_method="lapack").fit(wine()).score(wine())
    assert jn.FactorAnalysis(3).fit(wine()).score(wine()) == pytest.approx(three, abs=1e-7)


@pytest.mark.parametrize(
    ("rows", "K", "expected"),
    [(wine(), 2, -2875.636260), (wine(), 3, -2794.918972), (load_iris().data, 2, -404.962780)],
)
def test_isotropic_noise_has_a_closed_form(rows, K, expected):
    found = jn.FactorAnalysis(K, noise="isotropic").fit(rows)
    assert found.free_energy_ == pytest.approx(expected, abs=1e-6)
    assert found.noise_variance_.shape == (1,)
    values = np.linalg.eigvalsh(np.cov(rows.T, bias=True))
    np.testing.assert_allclose(found.noise_variance_, values[:-K].mean(), rtol=1e-9)


# --- the likelihood, its slope, and the answers ---


@pytest.mark.filterwarnings("ignore::jensen.exceptions.EstimateWarning")
@pytest.mark.parametrize("noise", ["diagonal", "isotropic"])
@pytest.mark.parametrize("share", [0.0, 0.25])
def test_f_is_the_log_likelihood_and_answers_are_those_of_the_joint_gaussian(noise, share):
    rows = some_rows(40, 4, 2, share)
    rows[0] = np.nan if share else rows[0]
    found = jn.FactorAnalysis(2, noise=noise, max_iter=100).fit(rows)
    point = found.fitted_.point
    expected = naive.log_likelihood(rows, *point)
    np.testing.assert_allclose(found.score_samples(rows), expected, rtol=1e-9, atol=1e-9)
    assert found.free_energy_ == pytest.approx(expected.sum(), rel=1e-10)
    means, spreads = naive.factors_of(rows, *point)
    np.testing.assert_allclose(found.transform(rows), means, atol=1e-8)
    asked, moments = point.ask(rows)
    np.testing.assert_allclose(moments.spread[asked.rows.owner], spreads, atol=1e-8)
    filled = found.impute(rows)
    gaps = np.isnan(rows)
    assert np.array_equal(filled[~gaps], rows[~gaps])
    guess = point.mean + means @ point.loadings.T
    np.testing.assert_allclose(filled[gaps], guess[gaps], rtol=1e-8)
    np.testing.assert_allclose(found.inverse_transform(means), guess, rtol=1e-8)


def test_newton_s_slope_and_curvature_are_derivatives():
    rows = wine()
    covariance, rng = rows.T @ rows / len(rows), np.random.default_rng(0)
    theta, size = np.log(rng.uniform(0.2, 0.8, 13)), 1e-5
    _, slope, curve = factor_analysis._profile(covariance, 3, theta)
    for i, way in enumerate(np.eye(13)):
        up = factor_analysis._profile(covariance, 3, theta + size * way)
        down = factor_analysis._profile(covariance, 3, theta - size * way)
        assert (up[0] - down[0]) / (2.0 * size) == pytest.approx(slope[i], abs=1e-7)
        np.testing.assert_allclose((up[1] - down[1]) / (2.0 * size), curve[i], atol=1e-7)


def test_em_alone_ends_where_newton_begins():
    """From another start, and as rows with a gap that says nothing."""
    rows = some_rows()
    best = jn.FactorAnalysis(2).fit(rows)
    start = {"loadings": np.random.default_rng(0).normal(size=(6, 2)) * rows.std(0)[:, None]}
    for choices in ({"start": start}, {"start": start, "rotate": False}):
        slow = jn.FactorAnalysis(2, tol=1e-12, max_iter=20_000, **choices).fit(rows)
        assert slow.n_sweeps_ > 5
        assert slow.free_energy_ == pytest.approx(best.free_energy_, abs=1e-4)
        assert slow.free_energy_ <= best.free_energy_ + 1e-9
        assert np.diff(slow.trace_).min() > -1e-8
    empty = np.vstack([rows, np.full(6, np.nan)])
    assert jn.FactorAnalysis(2, tol=1e-11, max_iter=20_000).fit(
        empty
    ).free_energy_ == pytest.approx(best.free_energy_, abs=1e-4)


def test_weights_repeat_rows_and_units_do_not_matter():
    rows = some_rows(50, share=0.1)
    twice = jn.FactorAnalysis(2, tol=1e-10, random_state=0).fit(np.vstack([rows, rows[:20]]))
    weight = np.where(np.arange(50) < 20, 2.0, 1.0)
    heavy = jn.FactorAnalysis(2, tol=1e-10, random_state=0).fit(rows, sample_weight=weight)
    assert heavy.free_energy_ == pytest.approx(twice.free_energy_, rel=1e-9)
    units = np.geomspace(1e-3, 1e3, 6)
    for prior in (None, {}):
        choices = {"prior": prior, "random_state": 0, "tol": 1e-10}
        one = jn.FactorAnalysis(2, **choices).fit(rows)
        other = jn.FactorAnalysis(2, **choices).fit(rows * units - 7.0)
        seen = (~np.isnan(rows)).sum(0)
        shift = one.free_energy_ - other.free_energy_
        assert shift == pytest.approx(seen @ np.log(units), rel=1e-7)
        size = np.nanstd(rows, axis=0)[:, None]
        found = other.loadings_ / units[:, None] / size
        np.testing.assert_allclose(found, one.loadings_ / size, atol=1e-3)


# --- with a prior ---


def log_evidence(x, mean, prior):
    """Of one column on one factor: α in closed form, the mean, λ and ψ on grids."""
    strength, (a, b), (shape, rate) = prior
    log_psi = np.linspace(-7.0, 9.0, 81)[:, None, None]
    u = np.linspace(-5.0, 5.0, 121)[None, :, None]
    m = mean + np.linspace(-25.0, 25.0, 241)[None, None, :] / np.sqrt(strength)
    psi, weight = np.exp(log_psi), np.sinh(u)
    logs = norm.logpdf(m, mean, strength**-0.5)
    logs = logs + student.logpdf(weight, 2.0 * a, scale=np.sqrt(b / a)) + np.log(np.cosh(u))
    logs = logs + gamma_of.logpdf(psi, shape, scale=1.0 / rate) + log_psi
    variance = weight**2 + 1.0 / psi
    for value in x:
        logs = logs + norm.logpdf(value, m, np.sqrt(variance))
    top = logs.max()
    steps = [np.diff(grid.ravel()[:2])[0] for grid in (log_psi, u, m)]
    return top + np.log(np.exp(logs - top).sum() * np.prod(steps))


def test_the_bound_lies_below_the_evidence():
    """E[log α], not log E[α], is what the normaliser takes: half a nat a column lies between."""
    x = np.array([0.3, -1.2, 0.8, 2.0, -0.4, 0.1])
    prior = {"mean_strength": 0.5, "strength_shape": 2.0, "strength_rate": 1.0, "scale": 1.0}
    prior |= {"noise_shape": 2.0, "noise_rate": 1.0}
    found = jn.FactorAnalysis(1, prior=prior, tol=1e-12).fit(x[:, None])
    exact = log_evidence(x, x.mean(), (0.5, (2.0, 1.0), (2.0, 1.0)))
    assert found.is_bound_
    assert exact - 1.5 < found.free_energy_ < exact


def test_surplus_factors_die_and_the_rest_is_what_is_needed():
    rows = some_rows(300, 8, 3, seed=4)
    found = jn.FactorAnalysis(6, prior={}, random_state=0).fit(rows)
    assert found.n_factors_ == 3
    assert np.diff(found.trace_).min() >= -1e-7
    assert np.all(found.loadings_[:, 3:] == 0.0)
    fewer = [jn.FactorAnalysis(K, prior={}, random_state=0).fit(rows).free_energy_ for K in (2, 3)]
    assert fewer[0] < fewer[1]


def test_moves_to_other_coordinates_end_higher_or_sooner():
    rows = some_rows(200, 8, 3, share=0.1, seed=1)
    plain, turned = (
        jn.FactorAnalysis(3, prior={}, rotate=rotate, tol=1e-9, max_iter=3000).fit(rows)
        for rotate in (False, True)
    )
    assert turned.free_energy_ >= plain.free_energy_ - 1e-6
    assert turned.n_sweeps_ <= plain.n_sweeps_


@pytest.mark.parametrize("is_distribution", [True, False])
@pytest.mark.parametrize(("n", "rate"), [(40.0, 1e-3), (40.0, 3.0), (4.0, 0.5)])
def test_no_other_coordinates_are_better_than_those_in_closed_form(n, rate, is_distribution):
    """Given the mean: from none of ten starts does a climb of the definition end higher."""
    rng = np.random.default_rng(3)
    D, K = 7, 3
    prior = factor_parameters.FactorPrior(0.05, 1.0, 1e-3, 1.5, rate)
    columns = factor_parameters.LinearColumns(D, 1, K, False, prior)
    spread = rng.normal(size=(D, 1 + K, 6))
    covariance = 0.02 * spread @ spread.transpose(0, 2, 1)
    means = rng.normal(size=(D, 1 + K)) * [1.0, 2.0, 1.0, 0.3]
    eta = gaussian_vectors.from_standard(means, np.linalg.inv(covariance))
    rule = gaussian_vectors.mean_stats if is_distribution else gaussian_vectors.mode_stats
    eta, t = (factor_analysis.Factors(x, None, None) for x in (eta, rule(eta)))
    w = np.column_stack([np.ones(10), 0.3 + rng.normal(size=(10, K)) @ rng.normal(size=(K, K))])
    hidden = w.T @ w / 10.0
    hidden[1:, 1:] += 0.1 * np.eye(K)
    hidden *= n
    squares = -2.0 * t.loadings.strength
    words = prior.mean_strength, prior.strength_shape, prior.strength_rate

    def f(x):
        mean, turn = x[:K], x[K:].reshape(K, K)
        return naive.bound_of_coordinates(
            mean, turn, hidden, squares, words, is_distribution=is_distribution
        )

    mean, turn = columns.best_coordinates(eta, t, hidden, is_distribution=is_distribution)
    best = f(np.append(mean, turn))
    for start in [turn, *(np.linalg.qr(rng.normal(size=(K, K)))[0] for _ in range(10))]:
        climbed = minimize(lambda x: -f(np.append(mean, x)), start.ravel(), tol=1e-10)
        assert -climbed.fun <= best + 1e-6
    both = minimize(lambda x: -f(x), np.append(mean, turn), tol=1e-10)
    assert -both.fun - best < 0.1  # of which the next sweeps have most
    assert f(np.append(np.zeros(K), turn)) < best


def test_other_coordinates_raise_f_by_what_the_formula_says_and_more():
    """Q(h) moves with them, and is then the best."""
    rows = some_rows(60, 5, 2, 0.2)
    problem = jn.FactorAnalysis(3, prior={}, rotate=False).problem(rows)
    model, units = problem.model, problem.data.units
    rng = np.random.default_rng(0)
    eta = model.start(problem.data, 1, rng)
    for algorithm in (VBEM, EM):
        state = state_at(model, units, algorithm, eta)
        is_distribution = algorithm.q_theta.is_distribution
        given = model.columns, state.eta, state.t, state.stats.hidden
        new = given[0].turned(*given[1:], is_distribution=is_distribution)
        mean, turn = given[0].best_coordinates(*given[1:], is_distribution=is_distribution)
        words = (0.01, 1.0, 1e-3)
        squares = -2.0 * state.t.loadings.strength
        f = [
            naive.bound_of_coordinates(
                *way, state.stats.hidden, squares, words, is_distribution=is_distribution
            )
            for way in ((np.zeros(3), np.eye(3)), (mean, turn))
        ]
        alpha = state.eta._replace(alpha=model.columns.alpha_given(state.t))
        before = state_at(model, units, algorithm, alpha).free_energy
        after = state_at(model, units, algorithm, new).free_energy
        assert f[1] - f[0] > 1.0
        assert after - before >= f[1] - f[0] - 1e-9


def test_a_rotation_is_no_lack_of_convergence():
    rows = some_rows(100)
    begun = jn.FactorAnalysis(2).fit(rows)
    angle = 1.0
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    point = begun.fitted_.point
    start = {"loadings": point.loadings @ turn, "noise": point.noise, "mean": point.mean}
    again = jn.FactorAnalysis(2, start=start).fit(rows)
    assert again.n_sweeps_ == 1
    np.testing.assert_allclose(again.loadings_, begun.loadings_, atol=1e-6 * rows.std(0).max())


def test_factors_do_not_die_at_the_start():
    """They would, if loadings were updated first from factors that are all 0."""
    rows = some_rows(300, share=0.2)
    found = jn.FactorAnalysis(2, prior={}, rotate=False).fit(rows)
    assert found.n_factors_ == 2
    assert (found.transform(rows).std(0) > 0.5).all()


# --- what is told, and refused ---


def test_a_heywood_case_is_told_or_held_by_a_prior():
    with pytest.warns(EstimateWarning, match="next to no noise is left of x0, x2 .*Heywood"):
        found = jn.FactorAnalysis(2).fit(load_iris().data)
    assert found.converged_
    held = jn.FactorAnalysis(2, method="em", prior={"noise_rate": 1.0}).fit(load_iris().data)
    assert (held.noise_variance_ > 0.005 * load_iris().data.var(0)).all()


@pytest.mark.filterwarnings("ignore::jensen.exceptions.EstimateWarning")
@pytest.mark.parametrize("rotate", [True, False])
def test_f_does_not_fall_where_noise_vanishes_from_rows_with_holes(rotate):
    """Squares of 1e6 standard deviations would cancel."""
    rng = np.random.default_rng(9)
    rows = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 5)) + 0.3 * rng.normal(size=(60, 5))
    rows[rng.random(rows.shape) < 0.6] = np.nan
    found = jn.FactorAnalysis(2, rotate=rotate, max_iter=400, random_state=0).fit(rows)
    assert (found.noise_variance_ < 1e-5).any()
    assert np.diff(found.trace_).min() > -1e-7
    expected = naive.log_likelihood(rows, *found.fitted_.point).sum()
    assert found.free_energy_ == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("choices", "rows", "text"),
    [
        ({"n_factors": 7}, some_rows(), "is more than columns: choose 6 or fewer"),
        ({"n_factors": 6, "noise": "isotropic"}, some_rows(), "columns less one: choose 5"),
        ({"noise": "none"}, some_rows(), "noise must be one of diagonal, isotropic"),
        ({"method": "gibbs"}, some_rows(), "'gibbs' is not for this model: choose method='em'"),
        ({"method": "mean-field"}, some_rows(), "'mean-field' is not for this model"),
        ({"prior": {"rate": 1}}, some_rows(), "prior= has no part 'rate'"),
        ({"prior": {"noise_rate": 0}}, some_rows(), "noise_rate of the prior must be a number abo"),
        ({"prior": {"scale": [1, 2]}}, some_rows(), "scale of the prior must be a number above 0"),
        ({"prior": 3}, some_rows(), "prior must be None or a dict"),
        ({"n_factors": 2}, some_rows(3), r"3 rows \(n_samples=3\) cannot tell 2 factors"),
        ({}, np.column_stack([some_rows(), np.ones(120)]), "x6 is constant, so the likelihood"),
        ({"start": {}}, some_rows(), "start must be a fitted FactorAnalysis or a dict"),
        ({"start": {"loadings": np.ones((5, 1))}}, some_rows(), r"of the shape \(6, 1\)"),
        ({"start": {"loadings": np.zeros((6, 1))}}, some_rows(), "one column is 0, or follows"),
        (
            {"start": {"loadings": np.ones((6, 1)), "noise": np.zeros(6)}},
            some_rows(),
            "variances must be above 0",
        ),
        (
            {"noise": "isotropic", "prior": {"scale": np.arange(1.0, 7.0)}},
            some_rows(),
            "and so must their scale be",
        ),
        ({"n_factors": 0}, some_rows(), "n_factors"),
    ],
)
def test_what_cannot_be_is_refused(choices, rows, text):
    with pytest.raises(JensenError, match=text):
        jn.FactorAnalysis(**{"n_factors": 1, **choices}).fit(rows)


def test_factors_of_another_number_are_refused():
    found = jn.FactorAnalysis(2).fit(some_rows())
    with pytest.raises(DataError, match=r"X must be 2 columns of factors.*\(3, 1\)"):
        found.inverse_transform(np.ones((3, 1)))
    with pytest.raises(jn.NotFittedError, match="call fit first"):
        jn.FactorAnalysis().transform(some_rows())


def test_draws_have_the_covariance_that_is_told():
    found = jn.FactorAnalysis(2).fit(some_rows(300, 4))
    rows, factors = found.sample(200_000, random_state=0)
    assert factors.shape == (200_000, 2)
    size = np.sqrt(np.outer(*[np.diagonal(found.get_covariance())] * 2))
    np.testing.assert_allclose(np.cov(rows.T) / size, found.get_covariance() / size, atol=0.02)


@pytest.mark.parametrize("prior", [None, {}])
@pytest.mark.parametrize("noise", ["diagonal", "isotropic"])
def test_files_bring_all_of_it_back(tmp_path, prior, noise):
    rows = some_rows(share=0.1)
    made = jn.FactorAnalysis(2, noise=noise, prior=prior, random_state=1, max_iter=2000).fit(rows)
    made.save(tmp_path / "factors.json")
    again = jn.load(tmp_path / "factors.json")
    assert again.to_dict() == made.to_dict()
    assert np.array_equal(again.transform(rows), made.transform(rows))
    assert again.n_factors_ == made.n_factors_
    assert str(again.summary()) == str(made.summary())
    made.n_factors = 3
    with pytest.raises(JensenError, match="fitted with other choices than it has now"):
        made.to_dict()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda d: d["parameters"].update(noise=[0.0] * 6), "variances must be above 0"),
        (lambda d: d["parameters"].pop("mean"), "mean"),
        (lambda d: d["choices"].update(n_factors=3), "must have loadings of 6 columns on 3"),
        (lambda d: d.pop("posterior"), "must have a posterior if the method keeps one"),
        (lambda d: d["posterior"]["noise"].update(exposure=[-1.0] * 6), "no gamma distribution"),
        (lambda d: d.update(columns=[]), "must name each column once"),
        (lambda d: d.update(columns=5), "must have loadings of 5 columns"),
        (lambda d: d.update(model="factor"), "must be one of factor-analysis, factor-m"),
        (lambda d: d.update(noise="none"), "must be 'diagonal' or 'isotropic'"),
        (lambda d: d["choices"].update(method="gibbs"), "is not for this model"),
    ],
)
def test_damaged_files_are_refused(change, text):
    plain = jn.FactorAnalysis(2, prior={}).fit(some_rows()).to_dict()
    change(plain)
    with pytest.raises(JensenError, match=text):
        jn.FactorAnalysis.from_dict(plain)
