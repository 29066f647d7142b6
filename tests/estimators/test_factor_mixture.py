"""Mixtures of factor analysers: the E-step by dense algebra, moves, answers, files, refusals."""

import json
from dataclasses import replace

import numpy as np
import pytest
from naive import factor_mixtures as naive

import jensen as jn
from jensen import q_hidden
from jensen.data.number_rows import NumberRows
from jensen.exceptions import DataError, EstimateWarning, JensenError
from jensen.free_energy import VBEM, fit, state_at
from jensen.models.factor_mixture import FactorMixtureModel, encode
from jensen.models.factor_parameters import FactorPrior
from jensen.runs.restarts import Job, improve
from jensen.support.fields import leaves

PARTS = ("weights", "means", "loadings", "noise_variance")


def clusters(sizes=(40, 30), dims=(1, 2), D=4, sd=0.2, seed=0, share=0.0, apart=6.0):
    """Rows around centres, each cluster with a few directions of its own, and their labels."""
    rng = np.random.default_rng(seed)
    rows = []
    for k, (n, dim) in enumerate(zip(sizes, dims, strict=True)):
        axes = np.linalg.qr(rng.normal(size=(D, D)))[0][:dim]
        centre = apart * np.where(np.arange(D) == k % D, 1.0 + k // D, 0.0)
        rows.append(centre + rng.normal(size=(n, dim)) @ axes + sd * rng.normal(size=(n, D)))
    rows = np.concatenate(rows)
    rows[rng.random(rows.shape) < share] = np.nan
    return rows, np.repeat(np.arange(len(sizes)), sizes)


@pytest.fixture(scope="module")
def fitted():
    """Two clusters of one and two dimensions, found by four components with three factors."""
    rows, labels = clusters()
    model = jn.MixtureOfFactorAnalyzers(4, 3, prior={}, tol=1e-6, random_state=0).fit(rows)
    return model, rows, labels


# --- the E-step, F and its relatives ---


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_e_step_is_that_of_dense_algebra(shared, share):
    rng = np.random.default_rng(1)
    n, D, K, S = 25, 4, 2, 3
    values = rng.normal(size=(n, D))
    values[rng.random(values.shape) < share] = np.nan
    weight = rng.uniform(0.5, 2.0, n)
    shift, scale = rng.normal(size=D), rng.uniform(0.5, 2.0, D)
    model = FactorMixtureModel(shift, scale, S, K, shared)
    noise = rng.uniform(0.3, 1.0, (D,) if shared else (S, D))
    both = rng.normal(size=(S, D, 1 + K))
    eta = model.around(np.array([3.0, 5.0, 2.0]), both, noise)
    t = type(eta)(*(f.mode_stats(e) for f, e in zip(model.families, eta, strict=True)))
    units = encode(NumberRows.of(values, weight), shift, scale)
    unit = next(iter(units.each()))
    hidden = q_hidden.exact(model.potentials(t)(unit))
    stats = model.expected_stats(unit, hidden)

    z = (values - shift) / scale
    args = np.array([0.3, 0.5, 0.2]), both[..., 0], both[..., 1:], np.broadcast_to(noise, (S, D))
    log_like, nodes, moments = naive.rows_of(z, *args)
    log_like = log_like - (~np.isnan(values) * np.log(scale)).sum(1)
    assert hidden.value.sum() == pytest.approx(weight @ log_like, rel=1e-12)
    np.testing.assert_allclose(stats.weights, weight @ nodes, rtol=1e-11)
    expected = naive.sums(z, weight[:, None] * nodes, moments)
    for part, known in zip(stats.columns, expected, strict=True):
        np.testing.assert_allclose(part, known, atol=1e-11)
    whole = naive.sums(np.zeros((n, 1)), weight[:, None] * nodes, moments)[3]  # seen throughout
    np.testing.assert_allclose(stats.hidden, whole[:, 0], atol=1e-11)


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_one_component_is_a_factor_analysis(share):
    rows, _ = clusters((30,), (2,), share=share)
    choices = {"tol": 1e-7, "random_state": 0}
    one = jn.FactorAnalysis(3, prior={}, **choices).fit(rows)
    same = jn.MixtureOfFactorAnalyzers(1, 3, prior={"mean_strength": 0.01}, **choices).fit(rows)
    assert same.free_energy_ == pytest.approx(one.free_energy_, abs=2e-4)
    assert same.dimensions_.tolist() == [one.n_factors_]
    np.testing.assert_allclose(same.get_covariance()[0], one.get_covariance(), rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("shared", [True, False])
def test_f_of_em_is_the_log_likelihood_and_never_falls(shared):
    rows, _ = clusters(share=0.1)
    weight = np.random.default_rng(0).integers(1, 4, len(rows))
    model = jn.MixtureOfFactorAnalyzers(2, 1, shared_noise=shared, tol=1e-6, random_state=0)
    model.fit(rows, sample_weight=weight)
    assert not model.is_bound_
    assert (np.diff(model.trace_) > -1e-8).all()
    assert weight @ model.log_likelihood(rows) == pytest.approx(model.free_energy_, abs=1e-6)
    point = model.fitted_.point
    expected, nodes, _ = naive.rows_of(rows, *point)
    np.testing.assert_allclose(model.score_samples(rows), expected, rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(rows), nodes, atol=1e-9)
    assert model.bic(rows) == pytest.approx(
        model.n_parameters * np.log(len(rows)) - 2.0 * expected.sum(), rel=1e-9
    )
    S, D, K = point.loadings.shape
    assert model.n_parameters == S - 1 + S * (D + D * K) + D * (1 if shared else S)


@pytest.mark.parametrize("shared", [True, False])
def test_weights_repeat_rows_and_units_do_not_matter(shared):
    rows, _ = clusters((12, 12), (1, 1))
    weight = np.arange(24) % 3
    choices = {"prior": {}, "shared_noise": shared, "tol": 1e-6, "random_state": 0}
    once = jn.MixtureOfFactorAnalyzers(2, 2, **choices).fit(rows, sample_weight=weight)
    other = jn.MixtureOfFactorAnalyzers(2, 2, **choices).fit(np.repeat(rows, weight, axis=0))
    assert once.free_energy_ == pytest.approx(other.free_energy_, abs=1e-6)
    units = np.array([1e-3, 1.0, 50.0, 1e4])
    scaled = jn.MixtureOfFactorAnalyzers(2, 2, **choices).fit(rows * units, sample_weight=weight)
    expected = once.free_energy_ - weight.sum() * np.log(units).sum()
    assert scaled.free_energy_ == pytest.approx(expected, abs=1e-4)


# --- what dies, and what moves ---


def test_clusters_and_dimensions_are_inferred(fitted):
    model, rows, labels = fitted
    assert model.converged_
    assert model.is_bound_
    assert (np.diff(model.trace_) > -1e-8).all()
    assert model.n_components_ == 2
    assert model.dimensions_.tolist() == [1, 2]
    assert model.n_factors_ == 2
    np.testing.assert_array_equal(model.predict(rows), labels)
    np.testing.assert_allclose(model.weights_.sum(), 1.0)


def test_a_column_is_there_if_f_is_lower_without_it(fitted):
    """Not by a threshold: every live column is taken away, and the rest is climbed again."""
    model, rows, _ = fitted
    problem = model._problem(NumberRows.of(rows))
    eta = type(problem.model.prior)(*model.fitted_.eta)
    best = state_at(problem.model, problem.data.units, VBEM, eta)
    assert best.free_energy == pytest.approx(model.free_energy_, abs=1e-3)
    trials = list(problem.model.trials(best))
    for one in trials[-3:]:  # each of three columns once, after moves of components
        assert problem.model.columns.live(one.loadings)[best.stats.weights > 1.0].sum() == 2
        start = state_at(problem.model, problem.data.units, VBEM, one)
        end = fit(problem.model, problem.data.units, VBEM, start, max_iter=300, tol=1e-5)
        assert end.trace[-1] < model.free_energy_ - 1.0


def stuck():
    """Four clusters in a row; two components share the first, one covers the last two."""
    rows, _ = clusters((30, 30, 30, 30), (1, 1, 1, 1), seed=3)
    shift, scale = rows.mean(0), rows.std(0)
    z = (rows - shift) / scale
    model = FactorMixtureModel(
        shift, scale, 4, 2, True, FactorPrior(mean_strength=1.0), np.full(4, -0.75)
    )
    means = np.array([z[:15].mean(0), z[15:30].mean(0), z[30:60].mean(0), z[60:].mean(0)])
    across = z[60:90].mean(0) - z[90:].mean(0)
    loadings = 0.05 * np.random.default_rng(0).normal(size=(4, 4, 3))
    loadings[..., 0], loadings[3, :, 1] = means, 0.5 * across
    eta = model.around(np.array([15.0, 15.0, 30.0, 60.0]), loadings, np.full(4, 0.05))
    return model, encode(NumberRows.of(rows), shift, scale), eta


def test_a_mixture_that_is_stuck_is_freed_by_a_merge_and_a_split():
    model, units, eta = stuck()
    start = state_at(model, units, VBEM, eta)
    alone = fit(model, units, VBEM, start, max_iter=300, tol=1e-6)
    sizes = np.sort(alone.state.stats.weights)
    assert sizes[-1] > 45.0  # coordinate ascent leaves two clusters to one component
    freed = improve(Job(model, units, VBEM, None), alone, max_iter=300, tol=1e-6)
    assert freed.trace[-1] > alone.trace[-1] + 20.0
    np.testing.assert_allclose(np.sort(freed.state.stats.weights), 30.0, atol=0.5)


def test_every_kind_of_move_is_offered():
    model, units, eta = stuck()
    state = state_at(model, units, VBEM, eta)
    tried = list(model.trials(state))
    counts = np.array([one.weights - model.weights_prior for one in tried])
    assert (counts[:4] == 0.0).sum() == 4  # deaths
    assert ((counts == 0.0).sum(1) == 1).sum() >= 8  # and merges
    # without a free place a split needs a merge: all four change
    assert any(np.isclose(row, [30.0, 30.0, 30.0, 30.0]).all() for row in counts)
    some = model._changed(state, {0: None})
    tried = list(model.trials(state_at(model, units, VBEM, some)))
    born = [one for one in tried if np.isclose(one.weights[0] - model.weights_prior[0], 6.0)]
    assert born  # a wide one, with a twentieth of the rows


def test_other_coordinates_need_fewer_sweeps_and_end_no_lower():
    rows, _ = clusters((40,), (2,), D=5, sd=0.5)
    choices = {"prior": {}, "tol": 1e-7, "random_state": 0, "max_iter": 4000}
    turned = jn.MixtureOfFactorAnalyzers(1, 4, **choices).fit(rows)
    plain = jn.MixtureOfFactorAnalyzers(1, 4, rotate=False, **choices).fit(rows)
    assert turned.free_energy_ > plain.free_energy_ - 1e-3
    assert turned.n_sweeps_ < plain.n_sweeps_


@pytest.mark.parametrize("shared", [True, False])
def test_other_coordinates_of_the_components_raise_f(shared):
    """Of every component by what the formula says, for the q(s) that is held, and more."""
    rows, _ = clusters((30, 30), (2, 1), share=0.2)
    model = jn.MixtureOfFactorAnalyzers(
        2, 3, prior={}, shared_noise=shared, rotate=False, max_iter=2, random_state=0
    )
    problem = model._problem(NumberRows.of(rows))
    made, units = problem.model, problem.data.units
    state = state_at(made, units, VBEM, made.start(problem.data, 0, np.random.default_rng(0)))
    assert made.turned(state.eta, state.t, state.stats, is_distribution=True) is None
    turning = replace(made, rotates=True)
    eta = turning.turned(state.eta, state.t, state.stats, is_distribution=True)
    after = state_at(turning, units, VBEM, eta)
    strengths = made.columns.alpha_given(state.t)
    before = state_at(made, units, VBEM, state.eta._replace(alpha=strengths))
    words, gain = (made.words.mean_strength, 1.0, 1e-3), 0.0
    for s in range(2):
        t, hidden = made._of(state.t, s), state.stats.hidden[s]
        one = made.columns.of_one
        best = one.best_coordinates(made._of(state.eta, s), t, hidden, is_distribution=True)
        for way, sign in ((best, 1.0), ((np.zeros(3), np.eye(3)), -1.0)):
            squares = -2.0 * t.loadings.strength
            gain += sign * naive.factors.bound_of_coordinates(
                *way, hidden, squares, words, is_distribution=True
            )
    assert gain > 1.0
    assert after.free_energy - before.free_energy >= gain - 1e-9


def test_a_start_of_the_caller_keeps_its_components():
    rows, _ = clusters((30, 30), (1, 1))
    start = {"means": rows[[0, 40]], "loadings": np.random.default_rng(0).normal(size=(2, 4, 1))}
    model = jn.MixtureOfFactorAnalyzers(2, 1, prior={}, start=start, tol=1e-6).fit(rows)
    np.testing.assert_allclose(model.means_[0], rows[:30].mean(0), atol=0.6)
    again = jn.MixtureOfFactorAnalyzers(2, 1, start=model, tol=1e-6).fit(rows)
    np.testing.assert_allclose(again.means_, model.means_, atol=0.3)


# --- answers ---


def test_features_are_linear_in_what_is_expected(fitted):
    model, rows, _ = fitted
    gaps = rows.copy()
    gaps[::3, 1] = gaps[1::5, 3] = np.nan
    _, nodes, moments = naive.rows_of(gaps, *model.fitted_.point)
    found = model.transform(gaps).reshape(len(gaps), 4, 4)
    np.testing.assert_allclose(found[..., 0], nodes, atol=1e-9)
    for s in range(4):
        np.testing.assert_allclose(found[:, s, 1:], nodes[:, [s]] * moments[s][0], atol=1e-8)
    back = model.inverse_transform(model.transform(gaps))
    filled = model.impute(gaps)
    np.testing.assert_allclose(filled[np.isnan(gaps)], back[np.isnan(gaps)], rtol=1e-9)
    np.testing.assert_array_equal(filled[~np.isnan(gaps)], gaps[~np.isnan(gaps)])
    assert np.sqrt(np.mean(np.square(filled - rows)[np.isnan(gaps)])) < 1.0
    names = model.get_feature_names_out()
    assert len(names) == model.transform(rows).shape[1]


def test_draws_have_the_covariance_that_is_told(fitted):
    model, _, _ = fitted
    drawn, own = model.sample(20_000, random_state=1)
    for s in range(model.n_components_):
        mine = drawn[own == s]
        np.testing.assert_allclose(mine.mean(0), model.means_[s], atol=0.06)
        np.testing.assert_allclose(np.cov(mine.T), model.get_covariance()[s], atol=0.08)


def test_summary_tells_what_lives(fitted):
    text = str(fitted[0].summary())
    assert "MixtureOfFactorAnalyzers(4 components, 3 factors, 4 columns, shared noise" in text
    assert "2 of 4 components live" in text
    assert "lower bound of the log evidence" in text


# --- files ---


@pytest.mark.parametrize(("prior", "shared"), [(None, True), ({}, True), ({}, False)])
def test_files_bring_all_of_it_back(tmp_path, prior, shared):
    rows, _ = clusters((15, 15), (1, 1))
    model = jn.MixtureOfFactorAnalyzers(
        2, 1, prior=prior, shared_noise=shared, tol=1e-4, random_state=0
    ).fit(rows)
    model.save(tmp_path / "model.json")
    again = jn.load(tmp_path / "model.json")
    assert again.get_params() == model.get_params()
    for name in PARTS:
        np.testing.assert_array_equal(getattr(again, f"{name}_"), getattr(model, f"{name}_"))
    np.testing.assert_array_equal(again.transform(rows), model.transform(rows))
    np.testing.assert_array_equal(again.dimensions_, model.dimensions_)
    assert str(again.summary()) == str(model.summary())
    etas = (leaves(one.fitted_.eta or ()) for one in (again, model))
    for one, two in zip(*etas, strict=True):
        np.testing.assert_array_equal(one, two)
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "model.json").read_text()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda x: x["parameters"].pop("loadings"), "lacks 'loadings'"),
        (lambda x: x["parameters"].update(loadings=[[]]), "must hold for each component"),
        (lambda x: x["parameters"].update(weights=[0.7, 0.7]), "weights that are no shares"),
        (lambda x: x["parameters"]["noise"].reverse(), "noise that differs|shared noise"),
        (lambda x: x["parameters"]["noise"][0].__setitem__(0, -1.0), "variances must be above 0"),
        (lambda x: x.update(counts=[1.0]), "must hold 2 numbers"),
        (lambda x: x["choices"].update(n_components=3), "must have the components"),
        (lambda x: x["choices"].update(n_factors=3), "must have loadings of 4 columns on 3"),
        (lambda x: x["posterior"]["noise"].update(exposure=[0.0] * 4), "is no gamma distribution"),
        (lambda x: x.pop("posterior"), "must have a posterior"),
    ],
)
def test_damaged_files_are_refused(change, text):
    rows, _ = clusters((8, 8), (1, 1))
    model = jn.MixtureOfFactorAnalyzers(2, 1, prior={}, tol=1e-2, random_state=0).fit(rows)
    plain = json.loads(json.dumps(model.to_dict()))
    if "noise that" in text:
        plain["parameters"]["noise"][0] = [9.0] * 4
    else:
        change(plain)
    with pytest.raises(jn.FileError, match=text):
        jn.MixtureOfFactorAnalyzers.from_dict(plain)


def test_a_model_whose_choices_were_changed_is_not_written():
    rows, _ = clusters((8, 8), (1, 1))
    model = jn.MixtureOfFactorAnalyzers(2, 1, prior={}, tol=1e-2, random_state=0).fit(rows)
    model.n_components = 3
    with pytest.raises(JensenError, match="was fitted with other choices than it has now"):
        model.to_dict()


# --- refusals ---

ROWS = clusters((8, 8), (1, 1))[0]


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ({"n_components": 0}, "n_components must be"),
        ({"n_factors": 0}, "n_factors must be"),
        ({"n_factors": 5}, "5 is more than columns: choose 4 or fewer"),
        ({"method": "gibbs"}, "'gibbs' is not for this model"),
        ({"prior": {"shape": 1.0}}, "shape"),
        ({"prior": {"mean_strength": -1.0}}, "mean_strength of the prior must be a number above 0"),
        ({"prior": {"concentration": -1.0}}, "concentration"),
        ({"start": {"means": [[0.0] * 4] * 2}}, "start must be a fitted MixtureOfFactorAnalyzers"),
        (
            {"start": {"means": [[0.0]], "loadings": [[[0.0]]]}},
            "loadings of start= must be numbers",
        ),
        (
            {"start": {"means": [[0.0] * 4] * 2, "loadings": [[[1.0]] * 4] * 2}},
            "two components the same parameters",
        ),
        (
            {"start": {"means": ROWS[:2], "loadings": np.ones((2, 4, 1)), "noise": [0.0] * 4}},
            "noise of 0 or less",
        ),
        (
            {"start": {"means": ROWS[:2], "loadings": np.ones((2, 4, 1)), "weights": [1.0, 0.0]}},
            "weights of 0 or less",
        ),
    ],
)
def test_what_cannot_be_is_refused(choices, text):
    model = jn.MixtureOfFactorAnalyzers(**{"n_components": 2, "prior": {}, **choices})
    with pytest.raises((JensenError, ValueError), match=text):
        model.fit(ROWS)


def test_rows_without_an_answer_are_refused():
    model = jn.MixtureOfFactorAnalyzers(2, 1)
    with pytest.raises(DataError, match="1 row"):
        model.fit(ROWS[:1])
    with pytest.raises(DataError, match="is constant"):
        model.fit(np.column_stack([ROWS, np.ones(16)]))
    with pytest.raises((DataError, ValueError)):
        model.fit(np.full((5, 2), np.nan))
    with pytest.raises(jn.NotFittedError, match="is not fitted yet"):
        model.predict(ROWS)
    with pytest.warns(EstimateWarning, match="next to no noise is left of x0"):
        jn.MixtureOfFactorAnalyzers(3, 3, random_state=0).fit(ROWS[:9])
    done = jn.MixtureOfFactorAnalyzers(1, 1, prior={}, tol=1e-2).fit(ROWS)
    with pytest.raises(DataError, match="X must be 2 columns of factors"):
        done.inverse_transform(ROWS)
