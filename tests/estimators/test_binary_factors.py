"""Binary factors: E-steps beside enumeration, mean field, parts of images, files, refusals."""

import numpy as np
import pytest
from naive import factors as naive

import jensen as jn
from jensen import free_energy, q_hidden
from jensen.exceptions import JensenError, TooLargeError
from jensen.free_energy import step
from jensen.inference.binary_factors import BinaryPoint, FittedBinaryFactors
from jensen.q_hidden import binary_factors
from jensen.runs.checkpoint import Checkpoint


class Killed(Exception):
    """The end of a process."""


METHODS = ("em", "vbem", "variational-em", "mean-field")


def some_point(K=4, D=5, seed=0):
    rng = np.random.default_rng(seed)
    return BinaryPoint(rng.uniform(0.1, 0.9, K), rng.normal(size=(D, K)), np.array(0.5))


def some_rows(n=30, share=0.0, seed=1, point=None):
    rng = np.random.default_rng(seed)
    rows = (some_point() if point is None else point).sample(n, rng)[0]
    rows[rng.random(rows.shape) < share] = np.nan
    return rows


def parts(n=150, seed=3, noise=0.2):
    """Images of 4 x 4 pixels, sums of four bars that overlap."""
    rng = np.random.default_rng(seed)
    images = np.zeros((4, 4, 4))
    images[0, 1], images[1, 2] = 1.0, 1.0
    images[2, :, 0], images[3, :, 3] = 1.0, 1.0
    shapes = images.reshape(4, 16)
    bits = rng.random((n, 4)) < 0.4
    return shapes, bits @ shapes + noise * rng.normal(size=(n, 16))


@pytest.mark.parametrize("share", [0.0, 0.3])
@pytest.mark.parametrize("K", [1, 2, 5])
def test_the_e_step_is_that_of_enumeration(K, share):
    point, weight = some_point(K), np.random.default_rng(2).uniform(0.5, 2.0, 30)
    rows = some_rows(30, share, point=point)
    potentials = point.beside(rows)
    potentials = potentials._replace(rows=potentials.rows._replace(weight=weight))
    log_like, mean, square = naive.bits_of(rows, *point)
    hidden = q_hidden.exact(potentials)
    np.testing.assert_allclose(hidden.value, weight * log_like, rtol=1e-10, atol=1e-10)
    stats, seen = hidden.moments, ~np.isnan(rows)
    np.testing.assert_allclose(stats.bits[:, 1], weight @ mean, rtol=1e-10)
    np.testing.assert_allclose(stats.bits.sum(1), weight.sum(), rtol=1e-12)
    for d in range(5):
        own = weight * seen[:, d]
        x = np.nan_to_num(rows[:, d])
        columns = stats.columns
        assert columns.count[d] == pytest.approx(own.sum(), rel=1e-12)
        assert columns.second[d] == pytest.approx(own @ (x * x), rel=1e-10)
        np.testing.assert_allclose(columns.first[d], (own * x) @ mean, atol=1e-9)
        expected = np.einsum("n,nij->ij", own, square)
        np.testing.assert_allclose(columns.strength[d], expected, atol=1e-9)


def test_bits_that_are_certain_stay_so():
    on = np.array([0.0, 1.0, 0.4])
    point = some_point(3)._replace(on=on)
    rows = some_rows(10, 0.2, point=point)
    log_like, mean, _ = naive.bits_of(rows, *point)
    fitted = FittedBinaryFactors(point, np.ones(3))
    np.testing.assert_allclose(fitted.log_likelihood(rows), log_like, rtol=1e-10)
    np.testing.assert_allclose(fitted.transform(rows), mean, atol=1e-12)
    bound, kept, _ = binary_factors.bounds(point.beside(rows))
    assert np.isfinite(bound).all()
    assert (kept[:, 0] == 0.0).all()
    assert (kept[:, 1] == 1.0).all()
    assert (bound <= log_like + 1e-9).all()


# --- mean field ---


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_bound_of_mean_field_is_that_of_its_means(share):
    point = some_point()
    rows = some_rows(30, share, point=point)
    bound, mean, _ = binary_factors.bounds(point.beside(rows))
    np.testing.assert_allclose(bound, naive.factorised_bound(rows, *point, mean), atol=1e-9)
    log_like = naive.bits_of(rows, *point)[0]
    assert (bound <= log_like + 1e-10).all()
    assert (log_like - bound).max() > 1e-3


def test_no_other_start_of_mean_field_is_better():
    point = some_point(6, seed=9)
    rows = some_rows(20, point=point)
    potentials = point.beside(rows)
    best = binary_factors.bounds(potentials)[0]
    rng = np.random.default_rng(5)
    for _ in range(20):
        at = binary_factors._prepare(potentials)
        mean = binary_factors._settle(potentials, at, rng.random((20, 6)))
        assert (binary_factors._bound(potentials, at, mean) <= best + 1e-8).all()


def test_mean_field_is_exact_where_features_do_not_overlap():
    rng = np.random.default_rng(0)
    loadings = np.zeros((6, 3))
    loadings[:2, 0], loadings[2:4, 1], loadings[4:, 2] = rng.normal(size=(3, 2))
    point = BinaryPoint(np.array([0.2, 0.5, 0.7]), loadings, np.array(0.3))
    rows = some_rows(40, 0.2, point=point)
    fitted = FittedBinaryFactors(point, np.ones(3))
    np.testing.assert_allclose(fitted.lower_bound(rows), fitted.log_likelihood(rows), atol=1e-9)


def test_a_sweep_begins_where_the_last_one_ended():
    point = some_point(6)
    potentials = point.beside(some_rows(40, point=point))
    first = q_hidden.meanfield(potentials)
    assert first.memory.age == 0
    second = q_hidden.meanfield(potentials, first.memory)
    assert second.memory.age == 1
    assert (second.value >= first.value - 1e-12).all()


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_mean_field_lies_below_the_exact_method_and_f_never_falls(share):
    rows = some_rows(40, share, point=some_point(3, 5, 4))
    found = {}
    for method in METHODS:
        model = jn.BinaryFactors(3, method=method, random_state=0, tol=1e-7).fit(rows)
        assert np.diff(model.trace_).min() > -1e-9
        assert model.is_bound_ == (method in ("vbem", "mean-field"))
        found[method] = model
    for soft, hard in (("em", "variational-em"), ("vbem", "mean-field")):
        start = found[hard]
        best = jn.BinaryFactors(3, method=soft, start=start, tol=1e-7).fit(rows)
        assert found[hard].free_energy_ < best.free_energy_
    model = found["variational-em"]
    assert model.free_energy_ == pytest.approx(model.lower_bound(rows).sum(), abs=1e-5)
    gap = model.bound_gap(rows)
    assert (gap > -1e-9).all()
    exact = found["em"]
    assert exact.free_energy_ == pytest.approx(exact.score_samples(rows).sum(), rel=1e-9)


def test_a_killed_run_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    rows, path = some_rows(60, 0.1), tmp_path / "run"
    monkeypatch.setattr(Checkpoint, "save_sometimes", lambda self, make: self.save(*make()))

    def fit(checkpoint=None):
        model = jn.BinaryFactors(3, method="mean-field", n_init=2, random_state=3, tol=1e-6)
        return model.fit(rows, checkpoint=checkpoint)

    straight = fit()
    for n in (3, 4):
        sweeps = iter(range(n))

        def dying(*args, sweeps=sweeps):
            if next(sweeps, None) is None:
                raise Killed
            return step(*args)

        with monkeypatch.context() as patch:
            patch.setattr(free_energy, "step", dying)
            with pytest.raises(Killed):
                fit(path)
    resumed = fit(path)
    assert resumed.trace_.tobytes() == straight.trace_.tobytes()
    assert resumed.loadings_.tobytes() == straight.loadings_.tobytes()


# --- what is found ---


@pytest.mark.parametrize("method", ["em", "mean-field"])
def test_parts_of_images_are_found(method):
    shapes, rows = parts()
    found = jn.BinaryFactors(4, method=method, n_init=5, random_state=0).fit(rows)
    near = np.abs(found.loadings_.T[:, None] - shapes).max(2)
    assert sorted(near.argmin(1)) == [0, 1, 2, 3]
    assert near.min(1).max() < 0.15
    assert found.noise_variance_ == pytest.approx(0.04, rel=0.1)


def test_missing_pixels_are_filled_in():
    _, rows = parts()
    rng = np.random.default_rng(0)
    holes = np.where(rng.random(rows.shape) < 0.2, np.nan, rows)
    found = jn.BinaryFactors(4, n_init=5, random_state=0).fit(holes)
    filled, gone = found.impute(holes), np.isnan(holes)
    assert np.sqrt(np.square(filled - rows)[gone].mean()) < 0.3
    assert np.array_equal(filled[~gone], holes[~gone])
    bits = found.transform(holes)
    np.testing.assert_allclose(found.inverse_transform(bits)[gone], filled[gone])


def test_surplus_factors_die():
    _, rows = parts()
    found = jn.BinaryFactors(6, prior={}, n_init=8, random_state=0).fit(rows)
    assert found.n_factors_ == 4


def test_many_factors_by_mean_field_alone():
    rows = some_rows(50)
    for method in ("em", "vbem"):
        with pytest.raises(TooLargeError, match=r"17 factors have .* take 16 at most, or"):
            jn.BinaryFactors(17, method=method).fit(rows)
    found = jn.BinaryFactors(17, method="mean-field", max_iter=5, tol=1.0, random_state=0)
    found.fit(rows)
    assert found.transform(rows).shape == (50, 17)
    assert np.isfinite(found.lower_bound(rows)).all()
    with pytest.raises(TooLargeError, match=r"lower_bound\(X\) bounds it"):
        found.score_samples(rows)


@pytest.mark.parametrize("method", METHODS)
def test_files_bring_all_of_it_back(tmp_path, method):
    rows = some_rows(40)
    made = jn.BinaryFactors(2, method=method, random_state=1, tol=1e-5).fit(rows)
    made.save(tmp_path / "bits.json")
    again = jn.load(tmp_path / "bits.json")
    assert again.to_dict() == made.to_dict()
    assert np.array_equal(again.transform(rows), made.transform(rows))
    assert str(again.summary()) == str(made.summary())


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda d: d["parameters"].update(noise=0.0), "variance must be above 0"),
        (lambda d: d["parameters"].update(on=[0.5, 1.5]), "no probabilities"),
        (lambda d: d["parameters"].update(loadings=[]), "must hold a row for each column"),
        (lambda d: d["parameters"].pop("loadings"), "lacks 'loadings'"),
    ],
)
def test_damaged_files_are_refused(change, text):
    plain = jn.BinaryFactors(2, random_state=0, tol=1e-3).fit(some_rows()).to_dict()
    change(plain)
    with pytest.raises(JensenError, match=text):
        jn.BinaryFactors.from_dict(plain)


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ({"method": "gibbs"}, "'gibbs' is not for this model: choose method='em', 'vbem', 'v"),
        ({"prior": {"mean_strength": 1.0}}, "binary factors have no mean"),
        ({"prior": {"scale": -1.0}}, "scale of the prior must be a number above 0"),
        ({"prior": {"concentration": 0.0}}, "concentration"),
        ({"n_factors": 29}, "30 rows .* cannot tell 29 factors"),
        ({"start": 3}, "start must be a fitted BinaryFactors or a dict"),
        ({"start": {"loadings": np.ones((5, 2)), "noise": 0.0}}, "must be above 0"),
        ({"start": {"loadings": np.eye(5)[:, :2], "on": [0.5, 2.0]}}, "they lie from 0 to 1"),
        ({"start": {"loadings": np.ones((5, 2))}}, "gives two factors the same parameters"),
    ],
)
def test_what_cannot_be_is_refused(choices, text):
    if choices.get("n_factors"):
        choices = {**choices, "method": "variational-em"}
    with pytest.raises(JensenError, match=text):
        jn.BinaryFactors(**{"n_factors": 2, **choices}).fit(some_rows())


@pytest.mark.parametrize(
    "model",
    [
        jn.GaussianMixture(2, method="mean-field"),
        jn.HiddenMarkovModel(2, emission="gaussian", method="variational-em"),
        jn.FactorAnalysis(2, method="mean-field"),
    ],
)
def test_other_models_refuse_approximate_in_words(model):
    with pytest.raises(JensenError, match="is not for this model: choose method='em'"):
        model.fit(some_rows())
