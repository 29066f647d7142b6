"""What the default prior of Gaussians finds, and what it does not depend on."""

import json

import numpy as np
import pytest
from naive.files import editable
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import adjusted_rand_score

import jensen as jn
from jensen.exceptions import JensenError
from jensen.support.fields import leaves


def clusters(seed=0, D=3, n=60, apart=6.0):
    rng = np.random.default_rng(seed)
    centres = apart * rng.normal(size=(3, D))
    return np.concatenate([m + rng.normal(size=(n, D)) @ rng.normal(size=(D, D)) for m in centres])


def linear_map(covariance, D, seed):
    """Any one, or other units of columns, or of all columns."""
    rng = np.random.default_rng(seed)
    if covariance == "spherical":
        return np.eye(D) * 10.0 ** rng.uniform(-6.0, 6.0)
    if covariance == "diagonal":
        return np.diag(10.0 ** rng.uniform(-6.0, 6.0, D))
    return rng.normal(size=(D, D)) * 10.0 ** rng.uniform(-1.0, 1.0, D)


def spread(covariance, x):
    """Covariances to start from, which a map turns as it turns the rows."""
    full = np.cov(x.T)
    if covariance == "spherical":
        return np.full(3, np.trace(full))
    if covariance == "diagonal":
        return np.tile(np.diag(full), (3, 1))
    return full if covariance == "tied" else np.stack([full] * 3)


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "spherical"])
def test_affine_maps_change_no_responsibilities(covariance):
    x, found = clusters(seed=3), []
    for seed in range(4):
        matrix = linear_map(covariance, 3, seed) if seed else np.eye(3)
        rows = x @ matrix + seed * 10.0 * matrix[0]
        means = [rows[:60].mean(0), rows[60:120].mean(0), rows[120:].mean(0)]
        start = {"means": means, "covariances": spread(covariance, rows)}
        how = {"prior": {}, "start": start, "tol": 1e-15, "max_iter": 3000}
        found.append(jn.GaussianMixture(3, covariance=covariance, **how).fit(rows))
        np.testing.assert_allclose(
            found[-1].predict_proba(rows), found[0].predict_proba(x), atol=1e-6
        )
    assert found[0].n_components_ == 3


@pytest.mark.parametrize("seed", range(3))
def test_the_cultivars_of_wine_are_found(seed):
    x, y = load_wine(return_X_y=True)
    found = jn.GaussianMixture(3, prior={}, n_init=5, random_state=seed).fit(x)
    assert adjusted_rand_score(y, found.predict(x)) > 0.9


def test_setosa_is_as_narrow_as_it_is():
    x, y = load_iris(return_X_y=True)
    found = jn.GaussianMixture(3, prior={}, n_init=5, random_state=0).fit(x)
    setosa = np.bincount(found.predict(x[y == 0])).argmax()
    deviation = np.sqrt(np.diag(found.covariances_[setosa]))
    np.testing.assert_allclose(deviation, x[y == 0].std(0), atol=0.13)


RNG = np.random.default_rng(0)
WIDE = RNG.normal(size=(12, 20))
DIFFICULT = {
    "fewer rows than columns": WIDE,
    "as many rows as columns": RNG.normal(size=(8, 8)),
    "equal columns": np.repeat(RNG.normal(size=(60, 2)), 2, axis=1),
    "a constant": np.column_stack([RNG.normal(size=60), np.full(60, 7.0)]),
    "units": RNG.normal(size=(60, 3)) * [1e-30, 1.0, 1e30],
    "heavy tails": RNG.standard_t(1.5, size=(80, 3)),
    "equal rows": np.repeat(RNG.normal(size=(5, 2)), 10, axis=0),
    "one row": np.array([[1.0, 2.0]]),
    "gaps": np.where(RNG.random((60, 4)) < 0.4, np.nan, RNG.normal(size=(60, 4))),
}


@pytest.mark.filterwarnings("ignore:column.* constant:jensen.DataWarning")
@pytest.mark.parametrize("name", DIFFICULT)
@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_difficult_tables_are_learned(name, covariance):
    x = DIFFICULT[name]
    for K in (1, 2, 6):
        found = jn.GaussianMixture(K, covariance=covariance, prior={}, random_state=0).fit(x)
        assert np.isfinite(found.free_energy_)
        assert np.isfinite(found.predict_proba(x)).all()
        assert np.all(np.diff(found.trace_) >= -1e-8 * np.abs(found.trace_[1:]))


def test_bounds_of_different_numbers_compare():
    """The prior does not depend on K: two clear clusters are two, however tight they are."""
    rng = np.random.default_rng(0)
    for gap in (6.0, 100.0):
        x = rng.normal(size=(80, 2)) + gap * (np.arange(80) < 30)[:, None]
        assert jn.choose_components(x, range(1, 6)).n == 2


def test_the_summary_says_which_prior_a_bound_belongs_to():
    x = clusters()
    found = jn.GaussianMixture(3, prior={"concentration": 0.1}, random_state=0).fit(x)
    text = str(found.summary())
    assert "lower bound of the log evidence" in text
    usual = "mean, mean_strength=0.01, degrees_of_freedom=4, scale by default"
    assert f"prior: concentration=0.1; {usual} (mean and scale from these rows" in text
    assert "prior:" not in str(jn.GaussianMixture(3, random_state=0).fit(x).summary())


def test_a_choice_of_components_says_which_prior_its_bounds_belong_to():
    found = jn.choose_components(clusters(), [1, 2])
    usual = "mean, mean_strength=0.01, degrees_of_freedom=4, scale by default"
    assert (
        repr(found).splitlines()[-1].startswith(f"n = 2, prior: concentration=0.5, {usual} (mean")
    )
    assert "prior" not in repr(jn.choose_components(clusters(), [1, 2], by="bic"))


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "spherical"])
def test_a_file_keeps_the_prior_of_its_bound_in_numbers(covariance, tmp_path):
    found = jn.GaussianMixture(4, covariance=covariance, prior={}, random_state=0).fit(clusters())
    for model in (found, found.prune()):
        model.save(tmp_path / "model.json")
        loaded = jn.load(tmp_path / "model.json")
        model_prior, prior = model.fitted_.prior, loaded.fitted_.prior
        for a, b in zip(leaves(model_prior), leaves(prior), strict=True):
            np.testing.assert_array_equal(a, b)
        assert str(loaded.summary()) == str(model.summary())
    document = editable((tmp_path / "model.json").read_text())
    assert set(document["prior"]["weights"]) == {-0.75}  # α₀ - 1 of the four that were fitted
    del document["posterior"]
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(JensenError, match="prior needs a posterior beside it"):
        jn.load(tmp_path / "model.json")
    document = json.loads(_text_of(found, tmp_path))
    document["prior"]["weights"][0] = -2.0
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(JensenError, match=r"prior\.weights holds the η of a concentration"):
        jn.load(tmp_path / "model.json")


def _text_of(model, folder):
    model.save(folder / "model.json")
    return (folder / "model.json").read_text()


# --- surplus states ---


@pytest.mark.parametrize("seed", range(3))
def test_surplus_components_of_old_faithful_die(seed):
    x = jn.examples.faithful()
    found = jn.GaussianMixture(6, prior={}, n_init=5, random_state=seed).fit(x)
    assert found.n_components_ == 2
    assert np.all(np.diff(found.trace_) >= -1e-9 * np.abs(found.trace_[1:]))
    assert found.trace_[-1] == found.free_energy_ == found.starts_.max()
    assert found.n_sweeps_ == len(found.trace_) - 1
    assert found.converged_


def test_what_goes_on_without_a_state_ends_higher(monkeypatch):
    x = jn.examples.faithful()
    model = jn.GaussianMixture(6, prior={"concentration": 0.01}, random_state=0)
    with_moves = model.fit(x).free_energy_
    monkeypatch.setattr("jensen.models.state_model.TRIED", 0)
    assert model.fit(x).free_energy_ < with_moves - 1.0


@pytest.mark.parametrize("K", [6, 12])
def test_surplus_components_die_however_many_there_are(K):
    """A cluster may end as two components of an even size, none of which is small."""
    x = clusters(seed=2, D=4, n=100, apart=3.0)
    found = jn.GaussianMixture(K, prior={}, random_state=0).fit(x)
    assert found.n_components_ == 3


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "spherical"])
def test_what_is_forgotten_is_that_of_one_state(covariance):
    from jensen.support.fields import leaves

    x = clusters()
    found = jn.GaussianMixture(3, covariance=covariance, prior={}, random_state=0).fit(x)
    model = found.fitted_.model
    stats, few = found.fitted_.eta, np.array([0, 2])
    less = model._forget(stats, 1)
    for kept, before in zip(
        leaves(model.select(less, few)), leaves(model.select(stats, few)), strict=True
    ):
        np.testing.assert_array_equal(kept, before)
    assert less.weights[1] == 0.0
    assert np.all(less.components.first[1] == 0.0)


@pytest.mark.parametrize("end", [False, True])
def test_a_state_of_a_chain_is_forgotten_with_the_moves_to_it(end):
    x = np.concatenate([clusters(n=20), clusters(seed=1, n=20)])
    found = jn.HiddenMarkovModel(3, emission="gaussian", prior={}, end=end, random_state=0)
    model, stats = found.fit(x, lengths=[60, 60]).fitted_.model, found.fitted_.eta
    less = model._forget(stats, 1)
    assert less.initial[1] == 0.0
    assert not less.transition[1].any()
    assert not less.transition[:, 1].any()
    others = np.ix_([0, 2], [0, 2, 3] if end else [0, 2])
    np.testing.assert_array_equal(less.transition[others], stats.transition[others])
    assert np.all(less.emission.first[1] == 0.0)


def with_constant(n=60):
    """Two clusters, and a column that says nothing."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 1, n), rng.normal(9, 1, n)])
    return {"x": x, "k": np.full(2 * n, 7.25)}


def messages(learn, data):
    with pytest.warns(jn.DataWarning) as met:
        learn(data)
    return [str(w.message) for w in met if issubclass(w.category, jn.DataWarning)]


GUESSED = (
    "column 'k' is constant, so nothing says how much it varies: the prior takes the variance for "
    "1, and all that is learned of it is this guess. Leave the column out, or give the "
    "prior a scale, prior={'scale': ...}"
)
LEARNERS = {
    "mixture": lambda data, **how: jn.GaussianMixture(2, random_state=0, **how).fit(data),
    "diagonal": lambda data, **how: jn.GaussianMixture(
        2, covariance="diagonal", random_state=0, **how
    ).fit(data),
    "classes": lambda data, **how: jn.LatentClass(2, random_state=0, **how).fit(data),
    "hmm": lambda data, **how: jn.HiddenMarkovModel(2, random_state=0, **how).fit(data),
    "numbers": lambda data, **how: jn.choose_components(
        data, [1, 2], model=jn.GaussianMixture(random_state=0, **how)
    ),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_a_constant_column_whose_variance_the_prior_guesses_is_told_once(name):
    table = jn.Table(with_constant(), continuous=["k"])
    assert messages(lambda rows: LEARNERS[name](rows, prior={}), table) == [GUESSED]


@pytest.mark.filterwarnings("ignore::jensen.EstimateWarning")
def test_constant_columns_of_arrays_and_of_gibbs_are_told():
    rows = np.column_stack(list(with_constant().values()))
    rows[:, 1] += np.spacing(7.0) * np.arange(len(rows)) % 2  # but for rounding
    (text,) = messages(jn.GaussianMixture(2, prior={}, random_state=0).fit, rows)
    assert text.startswith("column 'x1' is constant")
    wider = np.column_stack([rows, np.zeros(len(rows))])
    gibbs = jn.GaussianMixture(2, method="gibbs", n_samples=5, burn_in=5, random_state=0)
    (text,) = messages(gibbs.fit, wider)
    assert text.startswith("columns 'x1', 'x2' are constant, so nothing says how much they vary")


@pytest.mark.parametrize(
    "how",
    [
        {"prior": {"scale": 1.0}},
        {
            "prior": {},
            "start": {"means": [[0, 7], [9, 7]], "covariances": [np.eye(2)] * 2},
            "fixed": ["covariances"],
        },
    ],
)
def test_who_says_how_much_a_constant_column_varies_is_told_nothing(how):
    rows = np.column_stack(list(with_constant().values()))
    assert jn.GaussianMixture(2, random_state=0, **how).fit(rows).n_components_ == 2


def test_a_constant_count_has_a_rate():
    table = jn.Table({**with_constant(), "k": [7] * 120}, counts=["k"])
    assert jn.LatentClass(2, prior={}, random_state=0).fit(table).n_components_ == 2
