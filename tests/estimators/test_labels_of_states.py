"""Labels of hidden states: of samples, of equal modes, of starts in which two are alike."""

import itertools
import math
import warnings

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

import jensen as jn
from jensen.estimators.learning import _mixing
from jensen.exceptions import EstimateWarning, JensenError
from jensen.models.emissions.product import expected_rows

GIBBS = {"method": "gibbs", "n_samples": 150, "burn_in": 100, "n_chains": 2, "random_state": 0}


def fit_quietly(model, x, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimateWarning)
        return model.fit(x, **how)


# Samples of Gibbs.


def falling_weights(model):
    """The mean of each draw's weights in falling order: labels do not matter."""
    weights = np.array([np.exp(t.weights) for t in model.fitted_.draws()])
    return -np.sort(-weights, axis=1).mean(0)


@pytest.mark.parametrize(
    ("covariance", "K"), [("full", 3), ("full", 4), ("diagonal", 4), ("tied", 3)]
)
def test_surplus_components_of_old_faithful_change_no_labels(covariance, K):
    x = jn.examples.faithful()
    wide = 1.0 / x.to_pandas().to_numpy().var(0)  # so wide that surplus components find no rows
    words = {"mean_strength": 1.0, "degrees_of_freedom": 2.0, "scale": np.diag(wide) / 2.0}
    if covariance == "diagonal":
        words |= {"degrees_of_freedom": 1.0, "scale": wide}
    model = jn.GaussianMixture(K, covariance=covariance, prior=words, **GIBBS)
    found = fit_quietly(model, x)
    np.testing.assert_allclose(found.weights_, falling_weights(found), atol=0.02)
    np.testing.assert_allclose(found.means_[:2], [[4.3, 80.0], [2.05, 54.6]], atol=1.0)
    rows = x.to_pandas().to_numpy()
    assert np.all(found.means_ > rows.min(0))
    assert np.all(found.means_ < rows.max(0))
    spread = found.covariances_
    along = spread if covariance == "diagonal" else np.diagonal(spread, axis1=-2, axis2=-1)
    assert np.all(along < 4.0 * rows.var(0))


def test_surplus_spheres_change_no_labels():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0.0, 1.0, (60, 2)), rng.normal(8.0, 1.0, (40, 2))])
    found = fit_quietly(jn.GaussianMixture(4, covariance="spherical", **GIBBS), x)
    np.testing.assert_allclose(found.weights_, falling_weights(found), atol=0.02)
    np.testing.assert_allclose(found.means_[:2], [[0.0, 0.0], [8.0, 8.0]], atol=0.5)
    assert np.all(found.covariances_ < 4.0 * x.var())


@pytest.mark.parametrize("emission", ["gaussian", "poisson"])
def test_surplus_states_of_a_chain_change_no_labels(emission):
    rng = np.random.default_rng(0)
    states = np.cumsum(rng.random(200) < 0.1) % 2
    x = rng.normal(5.0 * states, 1.0) if emission == "gaussian" else rng.poisson(1 + 9 * states)
    found = fit_quietly(jn.HiddenMarkovModel(4, emission=emission, **GIBBS), x[:, None])
    rows = [[0.0], [5.0]] if emission == "gaussian" else [[1.0], [10.0]]
    by_size = np.array(rows)[np.argsort(-np.bincount(states))]
    np.testing.assert_allclose(found.emission_[:2], by_size, atol=0.5)
    draws = [expected_rows(found.fitted_.model.emission, t.emission) for t in found.fitted_.draws()]
    away = np.abs(np.array(draws)[:, 0] - by_size[0])
    assert np.all(away < 0.45 * np.ptp(by_size))  # nearer than the other, in every single draw


def test_surplus_classes_change_no_labels():
    rng = np.random.default_rng(0)
    own = rng.random(150) < 0.4
    columns = {
        "label": np.where(rng.random(150) < 0.9, own, ~own).astype(str),
        "count": rng.poisson(np.where(own, 2.0, 30.0)),
        "number": rng.normal(np.where(own, 0.0, 8.0)),
    }
    table = jn.Table(columns, counts=["count"], continuous=["number"])
    found = fit_quietly(jn.LatentClass(4, **GIBBS), table)
    np.testing.assert_allclose(found.weights_, falling_weights(found), atol=0.02)
    shown = found.parameters_
    np.testing.assert_allclose(shown["count"]["emission"][:2, 0], [30.0, 2.0], rtol=0.15)
    np.testing.assert_allclose(shown["number"]["means"][:2, 0], [8.0, 0.0], atol=0.5)
    assert np.all(shown["number"]["covariances"] < 40.0)
    assert np.all(shown["number"]["covariances"][:2] < 2.5)
    np.testing.assert_allclose(shown["label"]["emission"].sum(1), 1.0, rtol=1e-12)


def test_stochastic_em_averages_what_is_labelled_alike():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0.0, 1.0, (70, 2)), rng.normal(7.0, 1.0, (50, 2))])
    how = {**GIBBS, "method": "stochastic-em"}
    found = fit_quietly(jn.GaussianMixture(3, prior={}, **how), x)
    best = jn.GaussianMixture(3, prior={}, method="em", n_init=5, random_state=0).fit(x)
    assert np.all(np.diff(found.fitted_.counts) <= 0.0)
    assert found.free_energy_ > best.free_energy_ - 15.0


def test_relabelling_permutes_states_and_nothing_else():
    """The density of a row is the mean over samples, whatever their labels."""
    x = jn.examples.faithful()
    how = {**GIBBS, "n_samples": 30, "burn_in": 20}
    found, again = (fit_quietly(jn.GaussianMixture(3, **how), x) for _ in range(2))
    np.testing.assert_array_equal(found.fitted_.samples, again.fitted_.samples)
    rows = x.to_pandas().to_numpy()
    each = []
    for t in found.fitted_.draws():
        shown = found.fitted_.model.emission.show(t.components)
        away = rows[:, None] - shown["means"]
        precision = np.linalg.inv(shown["covariances"])
        log = t.weights - 0.5 * np.einsum("nkd,kde,nke->nk", away, precision, away)
        log += 0.5 * np.linalg.slogdet(precision)[1] - np.log(2.0 * np.pi)
        each.append(logsumexp(log, axis=1))
    expected = logsumexp(each, axis=0) - np.log(len(each))
    np.testing.assert_allclose(found.score_samples(x), expected, rtol=1e-9)


def test_what_is_shown_after_gibbs_has_a_mean():
    found = fit_quietly(jn.GaussianMixture(4, **GIBBS), jn.examples.faithful())
    shift = found.fitted_.model.emission.shift
    draws = [t.components for t in found.fitted_.draws()]
    precision = np.mean([-2.0 * t.second for t in draws], axis=0)
    turned = np.mean([t.first for t in draws], axis=0)
    np.testing.assert_allclose(found.covariances_, np.linalg.inv(precision), rtol=1e-9)
    means = np.linalg.solve(precision, turned[:, :, None])[:, :, 0] + shift
    np.testing.assert_allclose(found.means_, means, rtol=1e-9)


class Watched:
    """A model of which the sizes of its states were kept."""

    watches = "sizes of components"

    def watched(self, draws):
        return -np.sort(-draws, axis=1)


def test_chains_that_found_other_states_are_told_though_their_log_joints_agree():
    """The log joint is made the same noise in both chains; the sizes of states differ."""
    rng = np.random.default_rng(0)
    trace = rng.normal(size=(2, 100))
    counts = np.repeat([[50.0, 50.0], [90.0, 10.0]], 100, axis=0)
    counts += rng.integers(-5, 6, (200, 1)) * [1.0, -1.0]
    words = r"^the chains disagree \(R-hat of the sizes of components is [\d.]+, and should be"
    with pytest.warns(EstimateWarning, match=words):
        found = r_hat, size = _mixing(Watched(), trace, counts, was_stopped=False)
    assert r_hat > 1.5
    assert size < 20.0
    turned = counts.copy()
    turned[::2] = turned[::2, ::-1]  # labels do not matter
    with pytest.warns(EstimateWarning, match=words):
        assert _mixing(Watched(), trace, turned, was_stopped=False) == found


# Equal modes.

WORDS = {"mean": 2.0, "mean_strength": 0.5, "degrees_of_freedom": 2.0, "scale": 0.5}


def log_evidence(x, K, concentration):
    """By summing over all assignments of rows; of one component it is known exactly."""
    subsets = {
        rows: jn.GaussianMixture(1, prior=WORDS).fit(x[list(rows)]).free_energy_
        for n in range(1, len(x) + 1)
        for rows in itertools.combinations(range(len(x)), n)
    }
    a, total = concentration, []
    for z in itertools.product(range(K), repeat=len(x)):
        n = np.bincount(z, minlength=K)
        value = gammaln(K * a) - gammaln(K * a + len(x)) + (gammaln(a + n) - gammaln(a)).sum()
        groups = [tuple(i for i in range(len(x)) if z[i] == k) for k in range(K)]
        total.append(value + sum(subsets[rows] for rows in groups if rows))
    return logsumexp(total)


@pytest.mark.slow
@pytest.mark.parametrize("concentration", [0.01, 10.0])
@pytest.mark.parametrize("rows", [[0.0, 0.3, 4.0, 4.2], [1.0, 1.3, 1.5, 2.2], [2.0] * 4])
def test_the_corrected_bound_stays_below_the_evidence(rows, concentration):
    x = np.array(rows)[:, None]
    for K in range(1, 7):
        prior = {"concentration": concentration, **WORDS}
        found = jn.GaussianMixture(K, prior=prior, n_init=3, random_state=0).fit(x)
        assert 0.0 <= found.label_correction_ <= math.lgamma(K + 1.0) + 1e-12
        exact = log_evidence(x, K, concentration)
        assert found.free_energy_ + found.label_correction_ <= exact + 1e-9


@pytest.mark.slow
def test_dead_components_are_no_modes():
    x = jn.examples.faithful()
    found = jn.choose_components(x, [1, 2, 3, 5, 10, 20], label_correction=True)
    assert found.n == 2
    for one in found.candidates:
        expected = math.lgamma(one.n + 1.0) - math.lgamma(one.n - one.n_live + 1.0)
        assert one.model.label_correction_ == pytest.approx(expected, abs=1e-12)


ROWS = np.array([[0.0], [0.4], [0.1], [7.0], [7.3], [6.9]])
STRINGS = [list("aabbab"), list("babaab")]


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (jn.GaussianMixture(2, prior={}, start={"means": [[0.0], [7.0]]}), ROWS),
        (jn.GaussianMixture(2, prior={"concentration": [5.0, 1.0]}), ROWS),
        (jn.GaussianMixture(2, prior={"scale": [[[1.0]], [[2.0]]]}), ROWS),
        (jn.LatentClass(2, prior={"concentration": [5.0, 1.0]}), {"a": [0.1, 0.3, 5.5]}),
        (jn.HiddenMarkovModel(2, prior={}, masks={"initial": [True, False]}), STRINGS),
        (jn.HiddenMarkovModel(2, prior={"initial": [1.0, 2.0]}), STRINGS),
    ],
)
def test_what_tells_states_apart_leaves_one_mode(model, data, tmp_path):
    found = model.set_params(random_state=0).fit(data)
    assert found.label_correction_ == 0.0
    found.save(tmp_path / "model.json")
    assert jn.load(tmp_path / "model.json").label_correction_ == 0.0


def test_the_correction_survives_a_file(tmp_path):
    found = jn.GaussianMixture(4, prior={}, random_state=0).fit(ROWS)
    assert found.label_correction_ > 0.0
    found.save(tmp_path / "model.json")
    again = jn.load(tmp_path / "model.json")
    assert again.label_correction_ == found.label_correction_
    pruned = found.prune()
    assert pruned.label_correction_ == pytest.approx(math.lgamma(found.n_components_ + 1.0))


def test_the_corrected_bound_is_an_estimate_and_may_exceed_the_evidence():
    """One binary row, two classes: the evidence is log 1/2, whatever the class."""
    table = jn.Table({"a": ["0"]}, states={"a": ["0", "1"]})
    found = jn.LatentClass(2, prior={}, random_state=0).fit(table)
    exact = math.log(0.5)
    assert found.free_energy_ == pytest.approx(-1.2600, abs=1e-4)
    assert found.label_correction_ == pytest.approx(math.log(2.0))
    assert found.free_energy_ <= exact < found.free_energy_ + found.label_correction_
    assert "estimate of the log evidence, not a bound" in jn.GaussianMixture.__doc__
    assert "not a bound" in type(found).label_correction_.__doc__
    assert "not a bound" in jn.choose_components.__doc__


# Starts in which two states are alike.

TWINS = {"means": [[2.0, 50.0], [4.0, 80.0], [4.0, 80.0]]}
PARTED = "make them differ a little, take one of them away, or leave out start=$"


@pytest.mark.parametrize("method", ["em", "vbem", "viterbi", "me"])
def test_components_that_begin_alike_are_refused(method):
    x = jn.examples.faithful()
    words = rf"^start= gives components 1 and 2 the same parameters, and '{method}' would never "
    with pytest.raises(JensenError, match=words + "part them: " + PARTED):
        jn.GaussianMixture(3, method=method, start=TWINS).fit(x)
    weighted = {**TWINS, "weights": [0.4, 0.5, 0.1]}
    with pytest.raises(JensenError, match=words):
        jn.GaussianMixture(3, method=method, start=weighted).fit(x)


def test_classes_and_states_that_begin_alike_are_refused():
    table = jn.Table({"a": [0.1, 0.3, 5.5, 6.0]}, continuous=["a"])
    with pytest.raises(JensenError, match=r"^start= gives classes 0 and 1 the same parameters"):
        jn.LatentClass(2, start={"a": {"means": [[1.0], [1.0]]}}).fit(table)
    start = {"emission": [[0.5, 0.5], [0.5, 0.5]]}
    with pytest.raises(JensenError, match=r"^start= gives states 0 and 1 the same parameters"):
        jn.HiddenMarkovModel(2, start=start).fit(STRINGS)
    moving = {**start, "initial": [0.9, 0.1], "transition": [[0.6, 0.4], [0.3, 0.7]]}
    found = fit_quietly(jn.HiddenMarkovModel(2, start=moving, max_iter=5), STRINGS)
    assert np.abs(found.emission_[0] - found.emission_[1]).max() > 1e-3


def test_a_start_of_twins_is_taken_where_they_can_part_or_are_held():
    x = jn.examples.faithful()
    how = {"n_samples": 5, "burn_in": 5, "n_chains": 1, "random_state": 0}
    drawn = fit_quietly(jn.GaussianMixture(3, method="gibbs", start=TWINS, **how), x)
    assert np.abs(drawn.means_[1] - drawn.means_[2]).max() > 1e-3
    held = jn.GaussianMixture(3, start=TWINS, fixed=["means", "covariances"]).fit(x)
    np.testing.assert_allclose(held.means_, TWINS["means"], rtol=1e-12)
    prior = {"mean": [[2.0, 50.0], [4.0, 80.0], [4.0, 90.0]]}
    apart = jn.GaussianMixture(3, prior=prior, start=TWINS).fit(x)
    assert np.abs(apart.means_[1] - apart.means_[2]).max() > 1e-3


def test_a_fitted_mixture_with_dead_components_can_be_fitted_on():
    x = jn.examples.faithful()
    first = jn.GaussianMixture(6, prior={}, random_state=0).fit(x)
    assert first.n_components_ < 5  # so that two are dead, and alike
    again = jn.GaussianMixture(6, prior={}, start=first).fit(x)
    assert again.free_energy_ == pytest.approx(first.free_energy_, abs=0.5)
