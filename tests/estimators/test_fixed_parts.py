"""Means or covariances held while the rest is learned, in mixtures and in hidden Markov models."""

import copy
import itertools
import pickle
import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import gammaln, logsumexp
from scipy.stats import multivariate_normal, multivariate_t, norm

import jensen as jn
from jensen.exceptions import CollapseError, EstimateWarning, JensenError

COVARIANCES = ["full", "tied", "diagonal", "spherical"]
METHODS = ["em", "vbem", "viterbi", "me", "gibbs", "stochastic-em"]
every_covariance = pytest.mark.parametrize("covariance", COVARIANCES)
every_part = pytest.mark.parametrize("part", ["means", "covariances"])
MEANS = np.array([[0.3, -0.2], [3.0, 4.5]])


def rows(n=60, seed=0, gaps=0.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2)) @ [[1.0, 0.5], [0.0, 1.5]]
    x[: n // 3] += 4.0
    x[rng.random(x.shape) < gaps] = np.nan
    return x


def start_of(covariance, K=2):
    full = np.array([[[1.5, 0.4], [0.4, 2.0]], [[2.0, -0.3], [-0.3, 1.2]]])[:K]
    shapes = {
        "full": full,
        "tied": full[0],
        "diagonal": full[:, [0, 1], [0, 1]],
        "spherical": full[:, 0, 0],
    }
    weights = np.array([0.4, 0.6]) if K == 2 else np.ones(1)
    return {"weights": weights, "means": MEANS[:K], "covariances": shapes[covariance]}


def chains(method):
    """A short run of those methods that draw."""
    if method in ("gibbs", "stochastic-em"):
        return {"n_samples": 20, "burn_in": 5, "n_chains": 1}
    return {}


def fit_quietly(model, x):
    """A run that is too short on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimateWarning)
        return model.fit(x)


def never_falls(model):
    return np.all(np.diff(model.trace_) >= -1e-9 * (np.abs(model.trace_[1:]) + 1.0))


def matrices(covariance, found, K=2):
    """Covariances of any kind as (K, 2, 2)."""
    if covariance == "tied":
        return np.broadcast_to(found, (K, 2, 2))
    if covariance == "full":
        return found
    wide = found if covariance == "diagonal" else np.repeat(found[:, None], 2, axis=1)
    return wide[:, :, None] * np.eye(2)


# --- what is held stays, and F rises ---


@every_covariance
@every_part
@pytest.mark.parametrize("method", METHODS)
def test_values_stay_whatever_the_method(covariance, part, method):
    x, start = rows(gaps=0.2), start_of(covariance)
    how = {"covariance": covariance, "method": method, "random_state": 0, **chains(method)}
    held = fit_quietly(jn.GaussianMixture(2, start=start, fixed=[part], **how), x)
    found = {"means": held.means_, "covariances": held.covariances_, "weights": held.weights_}
    np.testing.assert_allclose(found[part], start[part], rtol=1e-10)
    for other in found.keys() - {part}:
        assert not np.allclose(found[other], start[other], rtol=1e-3)
    assert np.isfinite(held.score(x))
    assert np.isfinite(held.predict_proba(x)).all()
    if not chains(method):
        assert never_falls(held)
        assert held.n_sweeps_ > 1


@every_covariance
@pytest.mark.parametrize("method", ["em", "vbem", "gibbs"])
def test_both_parts_are_the_components(covariance, method):
    x, start = rows(gaps=0.2), start_of(covariance)
    how = {"covariance": covariance, "method": method, "random_state": 0, **chains(method)}
    whole, both = (
        fit_quietly(jn.GaussianMixture(2, start=start, fixed=fixed, **how), x)
        for fixed in (["components"], ["covariances", "means"])
    )
    np.testing.assert_array_equal(whole.weights_, both.weights_)
    np.testing.assert_array_equal(whole.score_samples(x), both.score_samples(x))


@every_covariance
def test_a_part_and_the_weights(covariance):
    start = start_of(covariance)
    held = jn.GaussianMixture(2, covariance=covariance, start=start, fixed=["weights", "means"])
    held.fit(rows())
    np.testing.assert_allclose(held.weights_, start["weights"], rtol=1e-12)
    np.testing.assert_allclose(held.means_, start["means"], rtol=1e-12)


# --- maximum likelihood ---


def sweep_by_hand(covariance, part, x, weights, means, spreads):
    """EM from the definition: soft k-means, and scatters about the means that there are."""
    pairs = zip(weights, means, spreads, strict=True)
    joint = np.stack([w * multivariate_normal.pdf(x, m, c) for w, m, c in pairs], axis=1)
    nodes = joint / joint.sum(1, keepdims=True)
    counts = nodes.sum(0)
    if part == "covariances":
        return counts / len(x), nodes.T @ x / counts[:, None], spreads
    away = [x - m for m in means]
    scatter = np.stack([(q * d.T) @ d for q, d in zip(nodes.T, away, strict=True)])
    if covariance == "tied":
        return counts / len(x), means, np.broadcast_to(scatter.sum(0) / len(x), (2, 2, 2))
    spreads = scatter / counts[:, None, None]
    if covariance != "full":
        spreads = spreads * np.eye(2)
    if covariance == "spherical":
        spreads = np.trace(spreads, axis1=1, axis2=2)[:, None, None] / 2.0 * np.eye(2)
    return counts / len(x), means, spreads


@every_covariance
@every_part
def test_em_sweep_by_sweep(covariance, part):
    x, start = rows(), start_of(covariance)
    theta = start["weights"], start["means"], matrices(covariance, start["covariances"])
    for n_sweeps in range(1, 5):
        theta = sweep_by_hand(covariance, part, x, *theta)
        found = fit_quietly(
            jn.GaussianMixture(
                2, covariance=covariance, start=start, fixed=[part], max_iter=n_sweeps
            ),
            x,
        )
        spreads = matrices(covariance, found.covariances_)
        for one, other in zip((found.weights_, found.means_, spreads), theta, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9)
        pairs = zip(*theta, strict=True)
        each = [np.log(w) + multivariate_normal.logpdf(x, m, c) for w, m, c in pairs]
        assert found.free_energy_ == pytest.approx(logsumexp(each, axis=0).sum(), rel=1e-10)


def log_likelihood(x, logit, means, log_variances):
    """Of a diagonal mixture of two, cells that are missing left out."""
    each = []
    for log_weight, m, v in zip(
        (-np.logaddexp(0.0, -logit), -np.logaddexp(0.0, logit)), means, log_variances, strict=True
    ):
        cells = norm.logpdf(x, m, np.exp(0.5 * v))
        each.append(log_weight + np.where(np.isnan(x), 0.0, cells).sum(1))
    return logsumexp(each, axis=0).sum()


@every_part
def test_em_is_the_direct_maximum_with_values_missing(part):
    x, start = rows(gaps=0.2), start_of("diagonal")
    found = jn.GaussianMixture(
        2, covariance="diagonal", start=start, fixed=[part], tol=1e-13, max_iter=10_000
    ).fit(x)

    def value(theta):
        free = theta[1:].reshape(2, 2)
        if part == "means":
            return log_likelihood(x, theta[0], MEANS, free)
        return log_likelihood(x, theta[0], free, np.log(start["covariances"]))

    begin = np.concatenate([[0.0], (0.0 * MEANS if part == "means" else MEANS).ravel()])
    best = minimize(lambda theta: -value(theta), begin, options={"gtol": 1e-7})
    assert found.free_energy_ == pytest.approx(-best.fun, rel=1e-9)
    free = np.log(found.covariances_) if part == "means" else found.means_
    np.testing.assert_allclose(free.ravel(), best.x[1:], rtol=1e-3, atol=1e-3)


# --- posteriors: exact for one component, a bound for two ---


def prior_words(covariance):
    """In Bishop's notation."""
    is_matrix = covariance in ("full", "tied")
    return {
        "concentration": 1.5,
        "mean": np.array([0.5, 1.0]),
        "mean_strength": 0.7,
        "degrees_of_freedom": 3.5,
        "scale": 0.3 * np.eye(2) + 0.1 if is_matrix else 0.4,
    }


def blocks(covariance, k):
    """Columns of a component that share a precision, and which one."""
    if covariance in ("full", "tied"):
        return [([0, 1], k if covariance == "full" else 0)]
    return [([d], (k, d) if covariance == "diagonal" else k) for d in range(2)]


def evidence_given_means(covariance, x, states, K):
    """Rows one after the other, each a Student t; p(Λ | μ) has seen a row more for every mean."""
    prior = prior_words(covariance)
    scatter = np.linalg.inv(np.atleast_2d(prior["scale"]))
    seen = {
        key: (prior["degrees_of_freedom"], scatter)
        for k in range(K)
        for _, key in blocks(covariance, k)
    }

    def see(key, away, strength=1.0):
        degrees, scatter = seen[key]
        seen[key] = degrees + 1.0, scatter + strength * np.outer(away, away)

    for k in range(K):
        for columns, key in blocks(covariance, k):
            see(key, (MEANS[k] - prior["mean"])[columns], prior["mean_strength"])
    total = 0.0
    for row, k in zip(x, states, strict=True):
        for columns, key in blocks(covariance, k):
            (degrees, scatter), away = seen[key], (row - MEANS[k])[columns]
            df = degrees + 1.0 - len(columns)
            total += multivariate_t.logpdf(away, 0.0 * away, scatter / df, df)
            see(key, away)
    return total


def evidence_given_covariances(covariance, x, states, K):
    """All rows of a component at once, which share a mean that is Gaussian; NaN is left out."""
    prior, total = prior_words(covariance), 0.0
    spreads = matrices(covariance, start_of(covariance, K)["covariances"], K)
    for k in np.unique(states):
        own = x[states == k]
        seen = ~np.isnan(own.ravel())
        joint = np.kron(np.eye(len(own)) + 1.0 / prior["mean_strength"], spreads[k])
        mean = np.tile(prior["mean"], len(own))[seen]
        total += multivariate_normal.logpdf(own.ravel()[seen], mean, joint[np.ix_(seen, seen)])
    return total


EVIDENCE = {"means": evidence_given_means, "covariances": evidence_given_covariances}


def fit_posterior(covariance, part, x, K=1, **how):
    return jn.GaussianMixture(
        K,
        covariance=covariance,
        prior=prior_words(covariance),
        start=start_of(covariance, K),
        fixed=[part],
        **how,
    ).fit(x)


@every_covariance
@every_part
def test_one_component_has_the_exact_evidence_and_predicts_exactly(covariance, part):
    x, new = rows(12), rows(3, seed=5)
    found = fit_posterior(covariance, part, x)

    def evidence(values):
        return EVIDENCE[part](covariance, values, np.zeros(len(values), int), 1)

    assert found.free_energy_ == pytest.approx(evidence(x), rel=1e-10)
    expected = [evidence(np.vstack([x, row])) - evidence(x) for row in new]
    np.testing.assert_allclose(found.score_samples(new), expected, rtol=1e-9)


@every_covariance
@every_part
def test_predictions_integrate_out_what_is_missing(covariance, part):
    found = fit_posterior(covariance, part, rows(12))
    y = np.arange(-300.0, 300.0, 0.05)
    joint = found.score_samples(np.stack([np.full(len(y), 1.7), y], axis=1))
    total = logsumexp(joint) + np.log(0.05)
    assert found.score_samples([[1.7, np.nan]])[0] == pytest.approx(total, rel=1e-8)
    assert found.score_samples([[np.nan, np.nan]])[0] == pytest.approx(0.0, abs=1e-12)


@every_covariance
@every_part
def test_the_bound_of_two_components_is_below_the_evidence(covariance, part):
    """The evidence by summing over every assignment of the rows."""
    x = rows(5, seed=3)
    found = fit_posterior(covariance, part, x, K=2, tol=1e-12)
    alpha, each = prior_words(covariance)["concentration"], []
    for labels in itertools.product((0, 1), repeat=len(x)):
        counts = np.bincount(labels, minlength=2)
        log_p = gammaln(2 * alpha) - gammaln(2 * alpha + len(x))
        log_p += (gammaln(alpha + counts) - gammaln(alpha)).sum()
        each.append(log_p + EVIDENCE[part](covariance, x, np.array(labels), 2))
    assert found.is_bound_
    assert 0.0 < logsumexp(each) - found.free_energy_ < 3.0


@every_covariance
def test_the_bound_with_values_missing_is_below_the_evidence(covariance):
    x = rows(12, gaps=0.3)
    x = x[~np.isnan(x).all(1)]
    found = fit_posterior(covariance, "covariances", x, tol=1e-12)
    evidence = evidence_given_covariances(covariance, x, np.zeros(len(x), int), 1)
    assert 0.0 < evidence - found.free_energy_ < 2.0


@every_covariance
@every_part
def test_what_is_shown_after_vb_is_the_posterior_mean(covariance, part):
    """Of one component: its mean, or the inverse of its expected precision."""
    x, prior = rows(12), prior_words(covariance)
    found = fit_posterior(covariance, part, x)
    if part == "covariances":
        weight = prior["mean_strength"]
        expected = (weight * prior["mean"] + x.sum(0)) / (weight + len(x))
        np.testing.assert_allclose(found.means_[0], expected, rtol=1e-10)
        return
    away = np.vstack([x - MEANS[0], np.sqrt(prior["mean_strength"]) * (prior["mean"] - MEANS[0])])
    scatter = matrices(covariance, found.covariances_, 1)[0]
    square, degrees = away.T @ away, prior["degrees_of_freedom"] + len(away)
    if covariance in ("full", "tied"):
        expected = (np.linalg.inv(prior["scale"]) + square) / degrees
    elif covariance == "diagonal":
        expected = np.diag(1.0 / prior["scale"] + np.diag(square)) / degrees
    else:
        degrees += len(away)  # every column counts
        expected = (1.0 / prior["scale"] + np.trace(square)) / degrees * np.eye(2)
    np.testing.assert_allclose(scatter, expected, rtol=1e-9)


@every_covariance
@every_part
def test_gibbs_draws_from_the_exact_posterior(covariance, part):
    """Of one component: z-tests of E[t(θ)], which VB knows exactly, together at p = 1e-6."""
    x = rows(12)
    exact = fit_posterior(covariance, part, x).fitted_
    drawn = fit_posterior(
        covariance, part, x, method="gibbs", n_samples=200, burn_in=1, n_chains=1, random_state=1
    ).fitted_
    mean = exact.model.families.components.mean_stats(exact.eta.components)
    draws = [t.components for t in drawn.draws()]
    limit = norm.isf(1e-6 / (2 * sum(np.size(field) for field in mean)))
    for field, expected in zip(zip(*draws, strict=True), mean, strict=True):
        field = np.array(field)
        error = field.std(0) / np.sqrt(len(field)) + 1e-10 * np.abs(expected)
        assert np.all(np.abs(field.mean(0) - expected) <= limit * error)


# --- hidden Markov models ---


def chain_start(covariance):
    known = start_of(covariance)
    return {
        "initial": [0.5, 0.5],
        "transition": [[0.5, 0.5], [0.5, 0.5]],
        "means": known["means"],
        "covariances": known["covariances"],
    }


@every_covariance
@every_part
@pytest.mark.parametrize("method", ["em", "vbem"])
def test_a_chain_without_memory_is_a_mixture(covariance, part, method):
    x = rows(gaps=0.1)
    how = {"covariance": covariance, "method": method, "tol": 1e-12}
    start = {**start_of(covariance), "weights": [0.5, 0.5]}
    mixture = jn.GaussianMixture(2, start=start, fixed=["weights", part], **how).fit(x)
    chain = jn.HiddenMarkovModel(
        2,
        emission="gaussian",
        start=chain_start(covariance),
        fixed=["initial", "transition", part],
        **how,
    ).fit(x)
    assert chain.free_energy_ == pytest.approx(mixture.free_energy_, rel=1e-9)
    np.testing.assert_allclose(chain.means_, mixture.means_, rtol=1e-4)
    np.testing.assert_allclose(chain.covariances_, mixture.covariances_, rtol=1e-4)
    total = mixture.score_samples(x).sum()
    assert chain.log_likelihood(x)[0] == pytest.approx(total, rel=1e-6)


@every_covariance
@every_part
@pytest.mark.parametrize("method", ["em", "vbem", "viterbi", "gibbs"])
def test_values_of_a_chain_stay(covariance, part, method):
    x, start = rows(gaps=0.1), chain_start(covariance)
    model = jn.HiddenMarkovModel(
        2,
        emission="gaussian",
        covariance=covariance,
        method=method,
        start=start,
        fixed=[part],
        random_state=0,
        **chains(method),
    )
    found = fit_quietly(model, x)
    np.testing.assert_allclose(getattr(found, f"{part}_"), start[part], rtol=1e-10)
    assert not np.allclose(found.transition_, start["transition"])
    assert np.isfinite(found.score(x))
    if method != "gibbs":
        assert never_falls(found)


# --- around ---


@every_covariance
def test_what_is_held_is_no_free_parameter(covariance):
    x = rows()

    def count(*fixed):
        model = jn.GaussianMixture(
            2, covariance=covariance, start=start_of(covariance), fixed=fixed
        )
        return fit_quietly(model, x).n_parameters

    spreads = {"full": 6, "tied": 3, "diagonal": 4, "spherical": 2}[covariance]
    assert count() == 1 + 4 + spreads
    assert count("means") == 1 + spreads
    assert count("covariances") == 1 + 4
    assert count("components") == count("means", "covariances") == 1
    assert count("weights", "means") == spreads
    chain = jn.HiddenMarkovModel(
        2,
        emission="gaussian",
        covariance=covariance,
        start=chain_start(covariance),
        fixed=["initial", "covariances"],
    )
    assert fit_quietly(chain, x).n_parameters == 2 + 4


@every_covariance
@pytest.mark.parametrize("fixed", [["means"], ["covariances"], ["components"], []])
def test_pruning_keeps_what_is_held_of_the_components_that_live(covariance, fixed):
    start = start_of(covariance)
    start = {**start, "means": np.array([[50.0, 50.0], MEANS[0]])}  # nothing is near the first
    prior = {"concentration": 1e-3, "mean_strength": 1e-3}
    found = jn.GaussianMixture(
        2, covariance=covariance, prior=prior, start=start, fixed=fixed, tol=1e-6
    )
    x = rows()[20:]
    found = fit_quietly(found, x)
    assert found.n_components_ == 1
    pruned = found.prune()
    np.testing.assert_allclose(pruned.score_samples(x), found.score_samples(x), atol=1e-3)
    if "means" in fixed:
        np.testing.assert_allclose(pruned.means_, MEANS[:1], rtol=1e-10)
    if "covariances" in fixed:
        kept = start["covariances"][slice(None) if covariance == "tied" else slice(1, None)]
        np.testing.assert_allclose(pruned.covariances_, kept, rtol=1e-10)


@every_part
def test_a_fitted_model_can_be_copied_and_be_a_start(part):
    x = rows()
    found = jn.GaussianMixture(2, prior={}, start=start_of("full"), fixed=[part]).fit(x)
    for other in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        np.testing.assert_array_equal(other.score_samples(x), found.score_samples(x))
    again = jn.GaussianMixture(2, prior={}, start=found, fixed=[part]).fit(x)
    assert again.free_energy_ == pytest.approx(found.free_energy_, rel=1e-6)


def test_far_from_zero_nothing_is_lost():
    x, start = rows() + 1e6, start_of("full")
    far = {**start, "means": start["means"] + 1e6}
    near = jn.GaussianMixture(2, start=start, fixed=["means"]).fit(rows())
    away = jn.GaussianMixture(2, start=far, fixed=["means"]).fit(x)
    np.testing.assert_allclose(away.means_, far["means"], rtol=1e-15)
    np.testing.assert_allclose(away.covariances_, near.covariances_, rtol=1e-5)


def test_fewer_rows_than_components_suffice_if_covariances_are_held():
    start = start_of("spherical")
    held = jn.GaussianMixture(2, covariance="spherical", start=start, fixed=["covariances"])
    assert np.isfinite(held.fit([[0.0, 1.0]]).free_energy_)


def test_rows_that_are_all_at_the_held_mean_are_refused():
    model = jn.GaussianMixture(1, start=start_of("full", 1), fixed=["means"])
    with pytest.raises(CollapseError, match="component 0 has collapsed"):
        model.fit(np.repeat(MEANS[:1], 5, axis=0))


@pytest.mark.parametrize(
    ("model", "how", "match"),
    [
        (jn.GaussianMixture, {"fixed": ["means"]}, r"^fixed=\['means'\] holds .* start=, which is"),
        (jn.GaussianMixture, {"fixed": ["spread"], "start": {}}, "^fixed has no part 'spread'"),
        (jn.GaussianMixture, {"fixed": ["emission"], "start": {}}, "hold any of weights, comp"),
        (jn.GaussianMixture, {"fixed": "means", "start": {}}, "^fixed must be a list of names"),
        (
            jn.GaussianMixture,
            {"fixed": ["covariances"], "start": {"covariances": [np.eye(2)] * 2}},
            "^start= lacks 'means'",
        ),
        (
            jn.HiddenMarkovModel,
            {"emission": "gaussian", "fixed": ["covariances"]},
            "start=, which is missing",
        ),
        (
            jn.HiddenMarkovModel,
            {"emission": "poisson", "fixed": ["means"], "start": {}},
            "^fixed has no part 'means': hold any of initial, transition, emission$",
        ),
        (
            jn.LatentClass,
            {"fixed": ["means"], "start": {}},
            "^fixed has no part 'means': hold any of weights, components$",
        ),
    ],
)
def test_choices_that_cannot_be_are_refused(model, how, match):
    x = {"a": [1, 2, 0, 4, 1, 3]} if model is jn.LatentClass else np.arange(12.0).reshape(6, 2)
    with pytest.raises(JensenError, match=match):
        model(2, **how).fit(x)


@pytest.mark.parametrize("covariance", ["full", "diagonal", "spherical", "tied"])
def test_means_alone_are_a_start_with_the_variances_of_the_columns(covariance):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 1, (30, 2)), rng.normal(5, 1, (20, 2))])
    means, variance = [[0.0, 0.0], [5.0, 5.0]], x.var(0)
    said = {
        "full": np.stack([np.diag(variance)] * 2),
        "diagonal": np.stack([variance] * 2),
        "spherical": np.full(2, variance.mean()),
        "tied": np.diag(variance),
    }[covariance]
    kinds = (
        (jn.GaussianMixture, {}, {}),
        (
            jn.HiddenMarkovModel,
            {"emission": "gaussian"},
            {"initial": [0.5, 0.5], "transition": np.full((2, 2), 0.5)},
        ),
    )
    for model, how, even in kinds:
        for fixed in ([], ["means"]):
            choices = {"covariance": covariance, "fixed": fixed, **how}
            short = model(2, start={"means": means}, **choices).fit(x)
            long = model(2, start={"means": means, "covariances": said, **even}, **choices).fit(x)
            np.testing.assert_allclose(short.trace_, long.trace_, rtol=1e-10)
            if fixed:
                np.testing.assert_allclose(short.means_, means, atol=1e-12)


def test_masks_say_what_an_even_start_may_have():
    masks = {"transition": [[1, 1], [0, 1]], "initial": [1, 0]}
    start = {"means": [[0.0], [5.0]]}
    x = np.array([0.1, -0.2, 0.3, 5.1, 4.8, 5.2])[:, None]
    for end in (False, True):
        model = jn.HiddenMarkovModel(
            2, emission="gaussian", end=end, masks=masks, start=start, prior={}
        ).fit(x)
        assert model.initial_.tolist() == [1.0, 0.0]
        assert model.transition_[1, 0] == 0.0
        assert model.predict(x).tolist() == [0, 0, 0, 1, 1, 1]


def test_means_of_one_column_are_a_start_of_latent_classes():
    table = jn.Table({"a": [0.1, 0.3, -0.2, 5.0, 5.5, 4.9]}, continuous=["a"])
    found = jn.LatentClass(2, start={"a": {"means": [[5.0], [0.0]]}}).fit(table)
    assert found.predict(table).tolist() == [1, 1, 1, 0, 0, 0]
