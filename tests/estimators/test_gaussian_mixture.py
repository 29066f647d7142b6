"""Mixtures of Gaussians as people use them: published numbers, scikit-learn, trouble."""

import math
import warnings

import numpy as np
import pytest
from scipy.stats import multivariate_normal, multivariate_t
from sklearn import mixture as peer

import jensen as jn
from jensen.exceptions import CollapseError, DataError, EstimateWarning, JensenError

COVARIANCES = ["full", "tied", "diagonal", "spherical"]
guessed = pytest.mark.filterwarnings("ignore:column.* constant, so nothing:jensen.DataWarning")
every_covariance = pytest.mark.parametrize("covariance", COVARIANCES)
every_ascent = pytest.mark.parametrize("method", ["em", "vbem", "viterbi", "me"])


def clusters(n=200, D=2, seed=0, gap=6.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, D)) @ rng.normal(size=(D, D))
    x[: 2 * n // 5] += gap
    return x


def with_gaps(x, share=0.2, seed=1):
    x = x.copy()
    x[np.random.default_rng(seed).random(x.shape) < share] = np.nan
    return x


def limited(mixture, x, **how):
    """A fit that is stopped by its limit of sweeps, on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimateWarning)
        return mixture.fit(x, **how)


def never_falls(mixture):
    return np.all(np.diff(mixture.trace_) >= -1e-9 * (np.abs(mixture.trace_[1:]) + 1.0))


# Published numbers.


def standardised_faithful():
    table = jn.examples.faithful().to_pandas()
    return ((table - table.mean()) / table.std()).to_numpy()


def test_old_faithful_by_maximum_likelihood():
    x = jn.examples.faithful()
    found = jn.GaussianMixture(2, n_init=4, tol=1e-12, random_state=0).fit(x)
    assert found.free_energy_ == pytest.approx(-1130.26396, abs=1e-5)
    assert found.score(x) * 272 == pytest.approx(found.free_energy_, rel=1e-10)


@pytest.mark.parametrize(
    ("K", "bound"), [(1, -560.68462876), (2, -441.22066493), (3, -441.63230712)]
)
def test_old_faithful_by_vb(K, bound):
    x = standardised_faithful()
    prior = {
        "concentration": 1e-3,
        "mean": 0.0,
        "mean_strength": 1.0,
        "degrees_of_freedom": 2.0,
        "scale": np.eye(2),
    }
    found = jn.GaussianMixture(K, prior=prior, n_init=4, tol=1e-13, random_state=0).fit(x)
    assert found.free_energy_ == pytest.approx(bound, abs=1e-6)
    assert found.is_bound_
    assert found.n_components_ == min(K, 2)
    if K > 1:
        live = found.fitted_.counts[:2]
        np.testing.assert_allclose(live, [174.8616, 97.1384], atol=1e-3)


def test_one_component_is_the_exact_evidence():
    x = standardised_faithful()
    words = {"mean": 0.0, "mean_strength": 1.0, "degrees_of_freedom": 2.0, "scale": np.eye(2)}
    found = jn.GaussianMixture(1, prior=words).fit(x)
    assert found.free_energy_ == pytest.approx(-560.6846287585961, rel=1e-12)
    assert found.converged_
    assert found.n_sweeps_ == 0


# scikit-learn from the same start.


def some_start(x, K, covariance):
    rng = np.random.default_rng(3)
    D = x.shape[1]
    covariances = {
        "full": np.stack([np.cov(x.T)] * K),
        "tied": np.cov(x.T),
        "diagonal": np.tile(x.var(0), (K, 1)),
        "spherical": np.full(K, x.var()),
    }[covariance]
    means = x[rng.choice(len(x), K, replace=False)] + 0.1 * rng.normal(size=(K, D))
    return {"weights": rng.dirichlet(np.full(K, 5.0)), "means": means, "covariances": covariances}


@every_covariance
def test_em_is_scikit_learns_sweep_by_sweep(covariance):
    x, K, sweeps = clusters(150, 3), 3, 25
    start = some_start(x, K, covariance)
    ours = limited(
        jn.GaussianMixture(K, covariance=covariance, start=start, tol=0.0, max_iter=sweeps), x
    )
    matrix = covariance in ("full", "tied")
    precisions = np.linalg.inv(start["covariances"]) if matrix else 1.0 / start["covariances"]
    theirs = peer.GaussianMixture(
        K,
        covariance_type={"diagonal": "diag"}.get(covariance, covariance),
        weights_init=start["weights"],
        means_init=start["means"],
        precisions_init=precisions,
        reg_covar=0.0,
        tol=0.0,
        max_iter=sweeps,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs.fit(x)
    # their bound of a sweep is that before its M-step, which is ours at the sweep before
    bounds = getattr(theirs, "lower_bounds_", [theirs.lower_bound_])  # the last alone before 1.7
    expected = np.array(bounds) * len(x)
    np.testing.assert_allclose(ours.trace_[:sweeps][-len(bounds) :], expected, rtol=1e-9)
    np.testing.assert_allclose(ours.weights_, theirs.weights_, rtol=1e-7)
    np.testing.assert_allclose(ours.means_, theirs.means_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.covariances_, theirs.covariances_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(x), theirs.predict_proba(x), atol=1e-7)
    np.testing.assert_allclose(ours.score_samples(x), theirs.score_samples(x), rtol=1e-8)
    assert ours.score(x) == pytest.approx(theirs.score(x), rel=1e-9)
    assert ours.bic(x) == pytest.approx(theirs.bic(x), rel=1e-9)
    assert ours.aic(x) == pytest.approx(theirs.aic(x), rel=1e-9)
    np.testing.assert_array_equal(ours.predict(x), theirs.predict(x))


def test_vb_ends_where_scikit_learns_does():
    x = clusters(200, 2)
    scale = np.array([[0.5, 0.1], [0.1, 0.4]])
    prior = {
        "concentration": 0.5,
        "mean": [1.0, 1.0],
        "mean_strength": 0.7,
        "degrees_of_freedom": 4.0,
        "scale": scale,
    }
    ours = jn.GaussianMixture(2, prior=prior, tol=1e-13, random_state=0).fit(x)
    theirs = peer.BayesianGaussianMixture(
        n_components=2,
        weight_concentration_prior_type="dirichlet_distribution",
        weight_concentration_prior=0.5,
        mean_prior=[1.0, 1.0],
        mean_precision_prior=0.7,
        degrees_of_freedom_prior=4.0,
        covariance_prior=np.linalg.inv(scale),
        reg_covar=0.0,
        tol=1e-12,
        max_iter=5000,
        random_state=0,
    ).fit(x)
    order = np.argsort(-theirs.weights_)
    np.testing.assert_allclose(ours.weights_, theirs.weights_[order], rtol=1e-5)
    np.testing.assert_allclose(ours.means_, theirs.means_[order], rtol=1e-5)
    np.testing.assert_allclose(ours.covariances_, theirs.covariances_[order], rtol=1e-5)


# What the answers mean.


def test_answers_after_vb_are_predictive():
    """The likelihood is a mixture of Student distributions, with what is missing left out."""
    x = with_gaps(clusters(80, 2))
    found = jn.GaussianMixture(2, prior={}, random_state=0).fit(x)
    eta = found.fitted_.eta
    words = found.fitted_.model.emission.family.to_standard(eta.components)
    alpha = eta.weights + 1.0
    shift = found.fitted_.model.emission.shift
    answers = zip(x[:20], found.score_samples(x[:20]), found.predict_proba(x[:20]), strict=True)
    for row, log_like, proba in answers:
        o = np.flatnonzero(~np.isnan(row))
        joint = alpha / alpha.sum()
        for k in range(2):
            m, beta, nu, W = (part[k] for part in words)
            freedom = nu - 1.0
            spread = np.linalg.inv(W) * (1.0 + beta) / (beta * freedom)
            if len(o):
                joint[k] *= multivariate_t.pdf(
                    row[o], (m + shift)[o], spread[np.ix_(o, o)], freedom
                )
        assert log_like == pytest.approx(math.log(joint.sum()), rel=1e-9, abs=1e-12)
        np.testing.assert_allclose(proba, joint / joint.sum(), rtol=1e-8)


def test_answers_after_em_are_at_the_point():
    x = with_gaps(clusters(80, 2))
    found = jn.GaussianMixture(2, random_state=0).fit(x)
    total = 0.0
    for row in x:
        o = np.flatnonzero(~np.isnan(row))
        p = found.weights_.copy()
        for k in range(2):
            if len(o):
                C = found.covariances_[k][np.ix_(o, o)]
                p[k] *= multivariate_normal.pdf(row[o], found.means_[k][o], C)
        total += math.log(p.sum())
    assert found.free_energy_ == pytest.approx(total, rel=1e-9)
    assert found.score(x) * len(x) == pytest.approx(total, rel=1e-9)


def test_answers_after_gibbs_are_mixed_over_samples():
    x = clusters(40, 1, gap=9.0)
    found = jn.GaussianMixture(
        2, method="gibbs", n_samples=20, burn_in=20, n_chains=2, random_state=0
    ).fit(x)
    p = np.zeros((len(x), 2))
    for t in found.fitted_.draws():
        shown = found.fitted_.model.emission.show(t.components)
        for k in range(2):
            C = shown["covariances"][k]
            p[:, k] += np.exp(t.weights[k]) * multivariate_normal.pdf(x, shown["means"][k], C)
    np.testing.assert_allclose(found.score_samples(x), np.log(p.sum(1) / 40), rtol=1e-8)
    np.testing.assert_allclose(found.predict_proba(x), p / p.sum(1)[:, None], rtol=1e-7, atol=1e-12)
    assert np.isnan(found.free_energy_)
    assert not found.is_bound_
    assert found.weights_.sum() == pytest.approx(1.0, rel=1e-12)


@every_covariance
@every_ascent
def test_missing_values_anywhere(covariance, method):
    x = with_gaps(clusters(60, 3), 0.3)
    x[7] = np.nan
    found = jn.GaussianMixture(2, covariance=covariance, method=method, random_state=0).fit(x)
    assert never_falls(found)
    proba = found.predict_proba(x)
    np.testing.assert_allclose(proba.sum(1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(proba[7], found.weights_, rtol=1e-9)  # a row that says nothing
    assert found.score_samples(x)[7] == pytest.approx(0.0, abs=1e-10)


@every_covariance
@every_ascent
def test_weights_are_repeated_rows(covariance, method):
    x = with_gaps(clusters(50, 2))
    times = np.random.default_rng(0).integers(0, 4, len(x))
    model = jn.GaussianMixture(2, covariance=covariance, method=method, prior={}, random_state=0)
    weighted = model.fit(x, sample_weight=times)
    trace, means = weighted.trace_, weighted.means_
    repeated = model.fit(np.repeat(x, times, axis=0))
    np.testing.assert_allclose(repeated.trace_, trace, rtol=1e-9)
    np.testing.assert_allclose(repeated.means_, means, rtol=1e-6, atol=1e-8)


def test_gibbs_takes_whole_weights_only():
    x = clusters(20, 1)
    with pytest.raises(DataError, match="weights must be whole numbers"):
        jn.GaussianMixture(2, method="gibbs").fit(x, sample_weight=np.full(20, 0.5))


@every_covariance
def test_threads_change_no_bit(covariance):
    x = with_gaps(clusters(60_000, 2), 0.02)
    found = []
    try:
        for n in (1, 2):
            jn.set_threads(n)
            model = jn.GaussianMixture(
                3, covariance=covariance, prior={}, max_iter=3, tol=0.0, random_state=0
            )
            found.append(limited(model, x))
    finally:
        jn.set_threads(None)
    a, b = found
    np.testing.assert_array_equal(a.trace_, b.trace_)
    np.testing.assert_array_equal(a.means_, b.means_)
    np.testing.assert_array_equal(a.covariances_, b.covariances_)
    np.testing.assert_array_equal(a.score_samples(x[:100]), b.score_samples(x[:100]))


@every_covariance
def test_columns_in_another_order_give_the_same(covariance):
    x = with_gaps(clusters(80, 3))
    order = [2, 0, 1]
    start = some_start(clusters(80, 3), 2, covariance)
    turned = dict(start, means=start["means"][:, order])
    if covariance in ("full", "tied"):
        turned["covariances"] = start["covariances"][..., order, :][..., order]
    elif covariance == "diagonal":
        turned["covariances"] = start["covariances"][:, order]
    a = jn.GaussianMixture(2, covariance=covariance, start=start).fit(x)
    b = jn.GaussianMixture(2, covariance=covariance, start=turned).fit(x[:, order])
    np.testing.assert_allclose(a.trace_, b.trace_, rtol=1e-10)
    np.testing.assert_allclose(a.means_[:, order], b.means_, rtol=1e-7)


# How many components.


@every_covariance
def test_surplus_components_die_and_can_be_pruned(covariance):
    x = clusters(200, 2, gap=12.0)
    if covariance in ("diagonal", "spherical"):  # that fits: else several are needed for a cluster
        x = np.random.default_rng(0).normal(size=(200, 2)) + 12.0 * (np.arange(200) < 80)[:, None]
    x = x - x.mean(0)
    found = jn.GaussianMixture(
        6, covariance=covariance, prior={"concentration": 1e-3}, n_init=3, random_state=0
    ).fit(x)
    assert found.n_components_ < 6
    smaller = found.prune()
    n = found.n_components_
    assert smaller.n_components == smaller.n_components_ == n
    assert smaller.weights_.sum() == pytest.approx(1.0, rel=1e-12)
    assert smaller.means_.shape == (n, 2)
    np.testing.assert_allclose(smaller.means_, found.means_[:n], rtol=1e-12)
    np.testing.assert_allclose(smaller.score_samples(x), found.score_samples(x), atol=0.1)
    np.testing.assert_array_equal(smaller.predict(x), found.predict(x))
    assert found.label_correction_ == pytest.approx(math.log(math.perm(6, n)))
    assert smaller.label_correction_ == pytest.approx(math.log(math.factorial(n)))
    assert found.n_components == 6  # the original is as it was
    assert smaller.sample(5, random_state=0)[0].shape == (5, 2)


def test_gibbs_cannot_be_pruned():
    found = jn.GaussianMixture(
        1, method="gibbs", n_samples=10, burn_in=5, n_chains=4, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimateWarning)
        found.fit(clusters(20, 1))
    with pytest.raises(JensenError, match="'gibbs' leaves many samples"):
        found.prune()


def test_components_come_by_falling_weight_unless_they_have_a_meaning():
    x = clusters(100, 1, gap=9.0)
    found = jn.GaussianMixture(2, random_state=0).fit(x)
    assert found.weights_[0] > found.weights_[1]
    start = {"means": [[9.0], [0.0]], "covariances": np.ones((2, 1, 1))}
    named = jn.GaussianMixture(2, start=start).fit(x)
    assert named.means_[0] > named.means_[1]
    prior = {"mean": [[9.0], [0.0]], "mean_strength": 5.0}
    told = jn.GaussianMixture(2, prior=prior, n_init=4, random_state=0).fit(x)
    assert told.means_[0] > told.means_[1]


# Starts, and what is held.


@every_covariance
@every_ascent
def test_a_fit_can_start_where_another_ended(covariance, method):
    x = with_gaps(clusters(80, 2))
    first = jn.GaussianMixture(
        2, covariance=covariance, method=method, prior={}, tol=1e-12, random_state=0
    ).fit(x)
    again = jn.GaussianMixture(
        2, covariance=covariance, method=method, prior={}, tol=1e-12, start=first
    ).fit(x)
    assert again.free_energy_ == pytest.approx(first.free_energy_, rel=1e-7)
    if method == "em":
        assert again.trace_[0] == pytest.approx(first.free_energy_, rel=1e-10)


@every_covariance
@pytest.mark.parametrize("method", ["em", "vbem"])
def test_what_is_fixed_stays(covariance, method):
    x = with_gaps(clusters(60, 2))
    start = some_start(clusters(60, 2), 2, covariance)
    prior = None if method == "em" else {}
    how = {"covariance": covariance, "method": method, "prior": prior, "start": start}
    held = jn.GaussianMixture(2, fixed=["components"], **how).fit(x)
    np.testing.assert_allclose(held.means_, start["means"], rtol=1e-10)
    np.testing.assert_allclose(held.covariances_, start["covariances"], rtol=1e-9)
    assert never_falls(held)
    assert not np.allclose(held.weights_, start["weights"])
    assert np.isfinite(held.score(x))
    held = jn.GaussianMixture(2, fixed=["weights"], **how).fit(x)
    np.testing.assert_allclose(held.weights_, start["weights"], rtol=1e-12)
    assert not np.allclose(held.means_, start["means"])
    both = jn.GaussianMixture(2, fixed=["weights", "components"], **how).fit(x)
    assert both.n_sweeps_ <= 1
    assert both.prune().n_components == both.n_components_


START = {"means": np.zeros((2, 2)), "covariances": np.stack([np.eye(2)] * 2)}


@pytest.mark.parametrize(
    ("how", "match"),
    [
        ({"fixed": ["weights"]}, "holds parameters at start=, which is missing"),
        ({"fixed": "weights", "start": START}, "fixed must be a list of names"),
        ({"fixed": ["modes"], "start": {}}, "fixed has no part 'modes'"),
        ({"start": 3}, "start must be a fitted mixture or a dict"),
        ({"start": {"centres": 1}}, "no part 'centres'"),
        ({"start": {"covariances": np.stack([np.eye(2)] * 2)}}, "lacks 'means'"),
        ({"covariance": "round"}, "covariance must be one of full, diagonal"),
        ({"n_components": 0}, "n_components"),
        ({"prior": 3.0}, "prior must be None or a dict"),
        ({"prior": {"alpha": 1.0}}, "prior= has no part 'alpha'"),
        ({"prior": {"scale": -1.0}}, "positive definite"),
        ({"prior": {"degrees_of_freedom": 1.0}}, "must be above 1 everywhere"),
        ({"prior": {"mean_strength": 0.0}}, "mean_strength.* must be above 0"),
        ({"prior": {"mean": [1.0, 2.0, 3.0]}}, "does not fit"),
        ({"prior": {"concentration": 0.5}, "method": "em"}, "has none: its concentrations begin"),
    ],
)
def test_choices_that_cannot_be_are_refused(how, match):
    with pytest.raises(JensenError, match=match):
        jn.GaussianMixture(**{"n_components": 2, **how}).fit(clusters(20, 2))


# Trouble.


def test_a_component_that_collapses_is_named_with_a_way_out():
    x = np.concatenate([clusters(30, 1)[:, 0], [50.0, 50.0]])[:, None]
    start = {
        "weights": [0.5, 0.5],
        "means": [[0.0], [50.0]],
        "covariances": [[[4.0]], [[0.1]]],
    }
    with pytest.raises(CollapseError, match=r"component 1 has collapsed.*prior=\{\}") as caught:
        jn.GaussianMixture(2, start=start).fit(x)
    assert caught.value.components == (1,)
    found = jn.GaussianMixture(2, method="em", prior={}, start=start).fit(x)
    assert 0.05 < found.weights_[1] < 0.09


def test_starts_that_collapse_are_left_out_with_a_warning():
    x = np.random.default_rng(0).normal(size=(14, 2))
    with pytest.warns(EstimateWarning, match=r"2 of 6 starts came to nothing.*component") as caught:
        found = jn.GaussianMixture(3, n_init=6, random_state=0).fit(x)
    assert len(caught) == 1
    assert np.isnan(found.starts_).sum() == 2
    assert np.nanmax(found.starts_) == found.free_energy_
    best = int(np.nanargmax(found.starts_))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimateWarning)
        fewer = jn.GaussianMixture(3, n_init=best + 1, random_state=0).fit(x)
    np.testing.assert_array_equal(fewer.starts_, found.starts_[: best + 1])


@every_covariance
@pytest.mark.parametrize("method", ["em", "vbem", "viterbi", "me"])
def test_more_components_than_rows(covariance, method):
    x = clusters(5, 2)
    found = jn.GaussianMixture(
        8, covariance=covariance, method=method, prior={}, random_state=0
    ).fit(x)
    assert never_falls(found)
    assert 1 <= found.n_components_ <= 5
    assert np.isfinite(found.means_).all()
    assert np.isfinite(found.covariances_).all()
    assert np.isfinite(found.score(x))
    if method in ("em", "viterbi"):
        with pytest.raises(DataError, match="5 rows"):
            jn.GaussianMixture(8, covariance=covariance, method=method).fit(x)


@guessed
@every_covariance
@every_ascent
def test_one_row(covariance, method):
    x = np.array([[3.0, np.nan]])
    x[0, 1] = 4.0
    found = jn.GaussianMixture(
        2, covariance=covariance, method=method, prior={}, random_state=0
    ).fit(x)
    np.testing.assert_allclose(found.means_, [[3.0, 4.0]] * 2, rtol=1e-9)
    assert found.predict(x).shape == (1,)


@guessed
@every_covariance
@every_ascent
def test_a_constant_column(covariance, method):
    x = np.column_stack([clusters(60, 2), np.full(60, 7.0)])
    found = jn.GaussianMixture(
        2, covariance=covariance, method=method, prior={}, random_state=0
    ).fit(x)
    assert never_falls(found)
    np.testing.assert_allclose(found.means_[:, 2], 7.0, rtol=1e-9)
    if method in ("em", "viterbi") and covariance != "spherical":
        with pytest.raises(CollapseError, match="leave no spread in some direction"):
            jn.GaussianMixture(2, covariance=covariance, method=method, random_state=0).fit(x)


def test_values_that_say_nothing_or_too_much():
    x = clusters(20, 2)
    x[:, 1] = np.nan
    with pytest.raises(DataError, match="the column 'x1' has no values: leave it out"):
        jn.GaussianMixture(2).fit(x)
    x[:, 1] = 0.0
    x[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        jn.GaussianMixture(2).fit(x)
    with pytest.raises(DataError, match="the weights sum to"):
        jn.GaussianMixture(1).fit(clusters(4, 2), sample_weight=np.zeros(4))


@every_covariance
@every_ascent
@pytest.mark.parametrize("where", ["far", "apart"])
def test_f_never_falls_far_from_zero_and_far_apart(covariance, method, where):
    x = with_gaps(clusters(100, 2), 0.1)
    moved = x.copy()
    if where == "far":
        moved += 1e6
    else:
        moved[:40] += 1e4
    how = {"covariance": covariance, "method": method, "random_state": 0}
    found = jn.GaussianMixture(2, **how).fit(moved)
    assert never_falls(found)
    assert np.isfinite(found.score(moved))
    if where == "far":
        near = jn.GaussianMixture(2, **how).fit(x)
        assert found.free_energy_ == pytest.approx(near.free_energy_, rel=1e-6)


@every_covariance
@every_ascent
@pytest.mark.parametrize("gap", [1e5, 3e5])
def test_an_outlier_in_other_units_is_no_fault_of_the_program(covariance, method, gap):
    """Sums of squares lose digits: rounding may lower F, and must not be taken for a bug."""
    x = clusters(100, 2, gap=0.0)
    x[:30] += gap
    x = with_gaps(x, 0.1)
    found = jn.GaussianMixture(2, covariance=covariance, method=method, random_state=0).fit(x)
    assert np.all(np.diff(found.trace_) >= -1e-13 * gap**2)
    assert found.converged_


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_units_of_columns_are_no_matter(scale):
    x = with_gaps(clusters(100, 2))
    factor = np.array([1.0, scale])
    a = jn.GaussianMixture(2, prior={}, tol=1e-13, random_state=0).fit(x)
    b = jn.GaussianMixture(2, prior={}, tol=1e-13, random_state=0).fit(x * factor)
    jacobian = np.log(scale) * np.sum(~np.isnan(x[:, 1]))
    # a missing number has a unit too: its posterior has an entropy
    assert np.isfinite(b.free_energy_)
    np.testing.assert_allclose(b.means_ / factor, a.means_, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(b.score(x * factor) * 100, a.score(x) * 100 - jacobian, rtol=1e-7)


@pytest.mark.parametrize(("K", "D", "n"), [(200, 2, 1000), (2, 200, 300)])
def test_many_components_and_many_columns(K, D, n):
    x = np.random.default_rng(0).normal(size=(n, D))
    x[::7, 0] = np.nan
    found = limited(jn.GaussianMixture(K, prior={}, max_iter=2, random_state=0), x)
    assert never_falls(found)
    assert found.means_.shape == (K, D)


@every_covariance
def test_samples_have_the_moments_of_the_mixture(covariance):
    """Means of 20,000 rows against those of the mixture: z below 4.5."""
    x = clusters(100, 2)
    found = jn.GaussianMixture(2, covariance=covariance, random_state=0).fit(x)
    rows, states = found.sample(20_000, random_state=1)
    share = np.bincount(states) / len(states)
    np.testing.assert_allclose(share, found.weights_, atol=0.02)
    mean = found.weights_ @ found.means_
    assert np.all(np.abs(rows.mean(0) - mean) < 4.5 * rows.std(0) / np.sqrt(len(rows)))


def test_stochastic_em_stays_near_the_maximum():
    x = with_gaps(clusters(80, 2))
    best = jn.GaussianMixture(2, random_state=0).fit(x)
    found = jn.GaussianMixture(
        2, method="stochastic-em", n_samples=100, burn_in=20, n_chains=2, random_state=0
    )
    found = limited(found, x)
    assert found.free_energy_ <= best.free_energy_ + 1e-6
    assert found.free_energy_ > best.free_energy_ - 5.0
    np.testing.assert_allclose(found.means_, best.means_, atol=0.5)


# --- sizes of numbers ---


@every_covariance
@pytest.mark.parametrize("scale", [1e-60, 1e90])
@pytest.mark.parametrize("method", ["em", "vbem"])
def test_units_of_the_data_change_nothing(covariance, scale, method):
    x = clusters(40, 2)
    choices = {"covariance": covariance, "method": method, "random_state": 0, "tol": 1e-13}
    one, two = (jn.GaussianMixture(2, **choices).fit(c * x) for c in (1.0, scale))
    np.testing.assert_allclose(two.means_ / scale, one.means_, rtol=1e-4)
    np.testing.assert_allclose(two.predict_proba(scale * x), one.predict_proba(x), atol=1e-3)


def test_numbers_that_would_overflow_are_refused():
    x = clusters(20, 2)
    found = jn.GaussianMixture(1, random_state=0).fit(x)
    large = x.copy()
    large[3, 1] = 1e200
    words = (
        r"^row 4 of the column 'x1' is 1e\+200, and numbers beyond 1e\+100 overflow when they are"
    )
    for ask in (jn.GaussianMixture(1).fit, found.predict, found.score):
        with pytest.raises(DataError, match=words):
            ask(large)
    with pytest.raises(
        DataError, match=r"^the values of the column 'x0' differ by .*e-170 at most, "
    ):
        jn.GaussianMixture(1).fit(1e-170 * x)


@every_covariance
@pytest.mark.parametrize("method", ["em", "vbem"])
def test_a_prior_with_extreme_numbers_works_or_is_refused(covariance, method):
    x = clusters(20, 2)
    choices = {"covariance": covariance, "method": method, "random_state": 0}
    for word in ("scale", "mean_strength"):
        for number in (1e-160, 1e160):
            found = jn.GaussianMixture(2, prior={word: number}, **choices).fit(x)
            assert np.isfinite(found.free_energy_)
            assert np.isfinite(found.covariances_).all()
    for words, match in (
        ({"scale": 1e-250}, r"prior\['scale'\] must be .*1e-200 or more"),
        ({"scale": 1e250}, r"prior\['scale'\] must be finite, and not above 1e\+200"),
        ({"mean_strength": 1e-250}, r"prior\['mean_strength'\] must be 1e-200 or more: 1e-250"),
        ({"mean": 1e150}, r"prior\['mean'\] must be finite, and not above 1e\+100"),
        ({"mean": 1e9}, r"prior\['mean'\] is 1e\+09 away from the mean of its column, so far"),
    ):
        with pytest.raises(JensenError, match=match):
            jn.GaussianMixture(2, prior=words, **choices).fit(x)


@guessed
def test_columns_that_do_not_vary_have_a_prior_variance_of_one():
    x = np.array([[2.0], [2.0], [2.0]])
    usual = jn.GaussianMixture(1, prior={}).fit(x)
    words = {"scale": 1.0, "degrees_of_freedom": 2.0, "mean_strength": 0.01}
    said = jn.GaussianMixture(1, prior=words).fit(x)
    assert usual.free_energy_ == pytest.approx(said.free_energy_, rel=1e-12)


# --- what lives, and what is left of it ---


def test_the_largest_component_lives_always():
    found = jn.GaussianMixture(3, prior={}, random_state=0)
    found.fit([[0.0], [1.0], [2.0]], sample_weight=[0.1, 0.1, 0.1])
    assert found.fitted_.counts.max() < 0.5
    assert found.n_components_ == 1
    assert found.prune().n_components == 1
    chain = jn.HiddenMarkovModel(2, prior={}, random_state=0).fit([["a"]], sequence_weight=[0.1])
    assert chain.n_states_ == 1


@every_covariance
def test_a_pruned_mixture_can_be_fitted_again(covariance):
    x = clusters(120, 2, gap=12.0)
    K, width = 5, {"full": (2, 2), "diagonal": (2,), "spherical": (), "tied": None}[covariance]
    prior = {
        "concentration": [1e-3] * K,
        "mean_strength": np.full(K, 0.5),
        "mean": np.zeros((K, 2)) + x.mean(0),
    }
    if width is not None:
        prior["scale"] = np.stack([np.eye(2) if width == (2, 2) else np.ones(width)] * K)
    model = jn.GaussianMixture(K, covariance=covariance, prior=prior, n_init=3, random_state=0)
    found = model.fit(x)
    n = found.n_components_
    assert n < K
    smaller = found.prune()
    assert np.shape(smaller.prior["concentration"]) == (n,)
    assert np.shape(smaller.prior["mean"]) == (n, 2)
    assert np.shape(found.prior["mean"]) == (K, 2)
    assert smaller.free_energy_ == found.free_energy_
    again = smaller.set_params(n_init=1, start=smaller).fit(x)
    assert again.n_components_ == n
    held = jn.GaussianMixture(
        K, covariance=covariance, prior=prior, start=found, fixed=["weights"]
    ).fit(x)
    again = held.prune()
    np.testing.assert_allclose(again.start["means"], again.means_)
    assert np.isfinite(again.fit(x).free_energy_)


@pytest.mark.parametrize("method", ["em", "vbem", "me"])
def test_rows_that_show_nothing_change_no_bound(method):
    x = np.random.default_rng(0).normal(size=(30, 2)) + np.repeat([[0.0], [4.0]], 15, axis=0)
    empty = np.vstack([x, np.full((12, 2), np.nan)])
    plain, more = (
        jn.GaussianMixture(2, method=method, prior={}, random_state=0, tol=1e-13).fit(rows)
        for rows in (x, empty)
    )
    assert more.free_energy_ == pytest.approx(plain.free_energy_, rel=1e-9)
    np.testing.assert_allclose(np.sort(more.means_, 0), np.sort(plain.means_, 0), rtol=1e-4)
