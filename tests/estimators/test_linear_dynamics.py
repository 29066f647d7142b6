"""Linear dynamical systems: published numbers, peers, EM, answers, traps, refusals."""

import json
import warnings

import numpy as np
import pytest
from naive import dynamics as naive
from q_hidden.test_gaussian_chain import spd
from scipy.stats import norm
from statsmodels.tsa.statespace.mlemodel import MLEModel

import jensen as jn
from jensen.exceptions import DataError, EstimateWarning, JensenError
from jensen.q_hidden.known_chain import StateSpace

# Durbin and Koopman (2012): the flow of the Nile at Aswan, 1871 to 1970.
NILE = np.array(
    [1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960,
     1180, 799, 958, 1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840, 874, 694, 940,
     833, 701, 916, 692, 1020, 1050, 969, 831, 726, 456, 824, 702, 1120, 1100, 832, 764, 821, 768,
     845, 864, 862, 698, 845, 744, 796, 1040, 759, 781, 865, 845, 944, 984, 897, 822, 1010, 771,
     676, 649, 846, 812, 742, 801, 1040, 860, 874, 848, 890, 744, 749, 838, 1050, 918, 986, 797,
     923, 975, 815, 1020, 906, 901, 1170, 912, 746, 919, 718, 714, 740.0]
)  # fmt: skip
FIRST = {"mean": [1000.0], "covariance": [[1e5]]}
HELD = {"process_covariance": [[1469.1]], "noise_covariance": [[15099.0]]}


def fitted(model, rows, **how):
    """Where an ascent is after its sweeps, converged or not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=EstimateWarning)
        return model.fit(rows, **how)


def some_rows(T=120, K=2, D=3, share=0.0, seed=0):
    rng = np.random.default_rng(seed)
    A = 0.9 * np.linalg.qr(rng.normal(size=(K, K)))[0]
    C, x, rows = rng.normal(size=(D, K)), np.zeros(K), np.empty((T, D))
    for t in range(T):
        x = A @ x + rng.normal(size=K)
        rows[t] = 3.0 + C @ x + 0.5 * rng.normal(size=D)
    rows[rng.random(rows.shape) < share] = np.nan
    if share:
        rows[10:13] = np.nan
    return rows


# --- numbers of others ---


def test_nile_has_the_published_likelihoods():
    known = fitted(jn.local_level(initial=FIRST, fixed=HELD, max_iter=0), NILE)
    assert known.free_energy_ == pytest.approx(-639.3007238142, abs=1e-9)
    assert known.log_likelihood(NILE)[0] == pytest.approx(-639.3007238142, abs=1e-9)
    diffuse = fitted(jn.local_level(fixed=HELD, max_iter=0), NILE)
    assert diffuse.free_energy_ == pytest.approx(-633.4645636, abs=1e-6)


@pytest.mark.parametrize(
    ("n", "irregular", "level", "value"),
    [
        (1, 9749.383735739213, 8765.085772094531, -642.803466265977),
        (10, 11719.873600970512, 4713.552502333325, -640.5510940764506),
        (100, 14935.58521561436, 1574.3669285176709, -639.304673670495),
    ],
)
def test_em_takes_the_textbook_s_path_on_the_nile(n, irregular, level, value):
    start = {"process_covariance": [[1e4]], "noise_covariance": [[1e4]]}
    found = fitted(jn.local_level(initial=FIRST, start=start, max_iter=n, tol=0.0), NILE)
    assert found.trace_[0] == pytest.approx(-643.5366206390713, abs=1e-8)
    assert found.free_energy_ == pytest.approx(value, abs=1e-8)
    assert found.noise_covariance_[0, 0] == pytest.approx(irregular, abs=1e-6)
    assert found.process_covariance_[0, 0] == pytest.approx(level, abs=1e-6)
    assert np.diff(found.trace_).min() > -1e-9


def test_nile_with_forty_years_missing():
    holes = NILE.copy()
    holes[20:40] = holes[60:80] = np.nan
    model = fitted(jn.local_level(initial=FIRST, fixed=HELD, max_iter=0), holes)
    value, mean, cov = naive.conditional(model.fitted_.point, holes[:, None])
    assert model.free_energy_ == pytest.approx(value, abs=1e-8)
    smoothed = model.smooth(holes)
    np.testing.assert_allclose(smoothed.mean[:, 0], mean, rtol=1e-9)
    np.testing.assert_allclose(smoothed.covariance[:, 0, 0], np.diagonal(cov), rtol=1e-9)


class Peer(MLEModel):
    """Statsmodels' filter at these parameters."""

    def __init__(self, point, rows, inputs):
        super().__init__(rows, k_states=len(point.transition), k_posdef=len(point.transition))
        self.ssm["transition"] = point.transition
        self.ssm["selection"] = np.eye(len(point.transition))
        self.ssm["state_cov"] = point.process_covariance
        self.ssm["design"] = point.loadings
        self.ssm["obs_cov"] = point.noise_covariance
        self.ssm["obs_intercept"] = (inputs @ point.input_loadings.T + point.offset).T
        pushed = np.roll(inputs @ point.input_transition.T, -1, axis=0)  # theirs leads to the next
        self.ssm["state_intercept"] = np.ascontiguousarray(pushed.T)
        self.ssm.initialize_known(point.initial_mean, point.initial_covariance)


@pytest.mark.parametrize("seed", range(50))
def test_statsmodels_agrees_on_random_systems_with_holes(seed):
    rng = np.random.default_rng(seed)
    K, D, U, T = rng.integers(1, 5), rng.integers(1, 6), rng.integers(0, 3), 30
    R = spd(rng, D) if seed % 2 else np.diag(rng.uniform(0.2, 1.0, D))
    Q = spd(rng, K)
    if seed % 5 == 0:
        Q[0, :] = Q[:, 0] = 0.0  # a state that follows exactly
    parts = {
        "transition": 0.9 * np.linalg.qr(rng.normal(size=(K, K)))[0],
        "input_transition": rng.normal(size=(K, U)),
        "process_covariance": Q,
        "loadings": rng.normal(size=(D, K)),
        "input_loadings": rng.normal(size=(D, U)),
        "offset": rng.normal(size=D),
        "noise_covariance": R,
    }
    initial = {"mean": rng.normal(size=K), "covariance": spd(rng, K)}
    rows = 2.0 * rng.normal(size=(T, D + U))
    rows[:, :D][rng.random((T, D)) < 0.25] = np.nan
    rows[7, :D] = np.nan
    rows[0, :D] = 1.0
    held = {name: x for name, x in parts.items() if x.size}
    model = jn.LinearDynamicalSystem(
        K, fixed=held, initial=initial, inputs=range(D, D + U), noise="full", max_iter=0
    )
    fitted(model, rows)
    point = StateSpace(**parts, initial_mean=initial["mean"],
                       initial_covariance=initial["covariance"], diffuse=np.zeros(K))  # fmt: skip
    peer = Peer(point, rows[:, :D], rows[:, D:]).ssm.smooth()
    assert model.log_likelihood(rows)[0] == pytest.approx(peer.llf, rel=1e-9)
    smoothed, sofar = model.smooth(rows), model.filter(rows)
    np.testing.assert_allclose(smoothed.mean, peer.smoothed_state.T, atol=1e-8)
    np.testing.assert_allclose(
        smoothed.covariance, np.moveaxis(peer.smoothed_state_cov, 2, 0), atol=1e-8
    )
    np.testing.assert_allclose(sofar.mean, peer.filtered_state.T, atol=1e-8)
    np.testing.assert_allclose(
        sofar.covariance, np.moveaxis(peer.filtered_state_cov, 2, 0), atol=1e-8
    )


# --- learning ---


@pytest.mark.parametrize("noise", ["diagonal", "isotropic", "full"])
@pytest.mark.parametrize("share", [0.0, 0.2])
def test_em_never_falls_and_ends_where_the_likelihood_does(noise, share):
    rows = some_rows(40, share=share)
    model = fitted(jn.LinearDynamicalSystem(2, noise=noise, tol=1e-7, max_iter=3000), rows)
    assert np.diff(model.trace_).min() > -1e-9
    assert model.log_likelihood(rows)[0] == pytest.approx(model.free_energy_, rel=1e-9)
    value, *_ = naive.conditional(model.fitted_.point, rows)
    assert value == pytest.approx(model.free_energy_, rel=1e-8)
    point = model.fitted_.point
    for name in ("transition", "loadings", "offset"):
        at = np.array(getattr(point, name))
        for where in list(np.ndindex(at.shape))[:2]:
            ways = []
            for size in (1e-4, -1e-4):
                moved = at.copy()
                moved[where] += size
                ways.append(naive.conditional(point._replace(**{name: moved}), rows)[0])
            assert abs(ways[0] - ways[1]) / 2e-4 < 5.0  # where it is steep: hundreds


def test_inputs_push_states_and_outputs():
    rng = np.random.default_rng(1)
    T = 400
    u, x, rows = rng.normal(size=T), 0.0, np.empty((T, 2))
    for t in range(T):
        x = 0.7 * x + 2.0 * u[t] * (t > 0) + 0.3 * rng.normal()
        rows[t] = 1.0 + x + 0.5 * u[t] + 0.2 * rng.normal(), -x + 0.2 * rng.normal()
    both = np.column_stack([rows[:, 0], u, rows[:, 1]])
    fixed = {"loadings": [[1.0], [-1.0]]}
    model = fitted(jn.LinearDynamicalSystem(1, inputs=[1], fixed=fixed), both)
    assert model.input_transition_[0, 0] == pytest.approx(2.0, abs=0.1)
    assert model.input_loadings_[0, 0] == pytest.approx(0.5, abs=0.15)
    assert model.transition_[0, 0] == pytest.approx(0.7, abs=0.05)
    ahead = model.forecast(both, 2, inputs=[[1.0], [0.0]])
    still = model.forecast(both, 2, inputs=[[0.0], [0.0]])
    gap = (ahead.expected - still.expected)[0, :, 1]
    push = model.loadings_[1, 0] * model.input_transition_[0, 0] + model.input_loadings_[1, 0]
    np.testing.assert_allclose(
        gap, [push, model.loadings_[1, 0] * model.transition_[0, 0] * model.input_transition_[0, 0]]
    )


def test_many_sequences_count_by_weight():
    parts = [some_rows(40, seed=s) for s in (0, 1)]
    twice = fitted(jn.LinearDynamicalSystem(2, max_iter=30), [parts[0], parts[1], parts[1]])
    weighed = jn.LinearDynamicalSystem(
        2, max_iter=30, start={n: getattr(twice, f"{n}_") for n in StateSpace._fields[:-1]}
    )
    fitted(weighed.set_params(max_iter=0), parts, sequence_weight=[1.0, 2.0])
    assert weighed.free_energy_ == pytest.approx(twice.free_energy_, rel=1e-9)
    one = twice.log_likelihood(parts)
    assert one[0] + 2.0 * one[1] == pytest.approx(twice.free_energy_, rel=1e-9)


def test_start_of_a_fitted_model_goes_on():
    rows = some_rows()
    first = fitted(jn.LinearDynamicalSystem(2, max_iter=5), rows)
    more = fitted(jn.LinearDynamicalSystem(2, max_iter=5, start=first), rows)
    assert more.trace_[0] == pytest.approx(first.free_energy_, rel=1e-10)


def test_first_states_are_learned_from_many_sequences():
    rng = np.random.default_rng(3)
    parts = [5.0 + np.cumsum(rng.normal(size=20)) + 0.3 * rng.normal(size=20) for _ in range(60)]
    model = jn.local_level(initial="learn", tol=1e-6, max_iter=300)
    fitted(model, [p[:, None] + 2.0 * rng.normal() for p in parts])
    assert model.initial_mean_[0] == pytest.approx(5.0, abs=1.2)
    assert 1.0 < model.initial_covariance_[0, 0] < 12.0


# --- traps ---


def test_partial_rows_are_not_dropped():
    """What a step shows of one output counts, though another is missing."""
    rows = some_rows()
    rows[1::2, 0] = np.nan
    model = fitted(jn.LinearDynamicalSystem(2, max_iter=20), rows)
    dropped = rows.copy()
    dropped[np.isnan(rows).any(1)] = np.nan
    told, lost = model.log_likelihood(rows)[0], model.log_likelihood(dropped)[0]
    assert told == pytest.approx(naive.conditional(model.fitted_.point, rows)[0], rel=1e-9)
    assert abs(told - lost) > 50.0


def test_the_first_state_is_that_of_the_first_step():
    """Its prior is not moved by the transition before the first output."""
    fixed = {"transition": [[0.5]], "loadings": [[1.0]], "offset": [0.0],
             "process_covariance": [[1.0]], "noise_covariance": [[2.0]]}  # fmt: skip
    model = jn.LinearDynamicalSystem(
        1, fixed=fixed, initial={"mean": [3.0], "covariance": [[4.0]]}, max_iter=0
    )
    fitted(model, np.array([[1.0], [2.0], [0.5]]))
    expected = norm(3.0, np.sqrt(6.0)).logpdf(1.0)
    assert model.log_likelihood([1.0])[0] == pytest.approx(expected, abs=1e-12)


def test_one_sequence_cannot_move_the_initial_covariance_to_0():
    rows = some_rows()
    with pytest.raises(DataError, match="cannot tell the covariance of 2 first states"):
        jn.LinearDynamicalSystem(2, initial="learn").fit(rows)
    initial = {"mean": [np.nan, np.nan], "covariance": np.eye(2)}
    model = fitted(jn.LinearDynamicalSystem(2, initial=initial, max_iter=20), rows)
    assert np.array_equal(model.initial_covariance_, np.eye(2))
    assert (model.initial_mean_ != 0.0).all()


def test_a_variance_at_0_stays_there():
    model = fitted(jn.local_trend(fixed_slope=True, max_iter=50), NILE)
    assert model.process_covariance_[1, 1] == 0.0
    slopes = model.smooth(NILE).mean[:, 1]
    np.testing.assert_allclose(slopes, slopes[0], atol=1e-8)
    exact = fitted(jn.autoregression(2, measurement_noise=False), NILE - NILE.mean())
    lagged = NILE - NILE.mean()
    z = np.column_stack([lagged[1:-1], lagged[:-2]])
    usual = np.linalg.lstsq(z, lagged[2:], rcond=None)[0]
    np.testing.assert_allclose(exact.transition_[0], usual, atol=2e-2)
    np.testing.assert_allclose(exact.smooth(lagged).mean[:, 0], lagged, atol=1e-8)


# --- answers ---


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_forecasts_and_completions_are_those_of_the_joint_gaussian(share):
    rows = some_rows(30, share=share)
    for noise in ("diagonal", "full"):
        model = fitted(jn.LinearDynamicalSystem(2, noise=noise, max_iter=20), rows)
        point, h = model.fitted_.point, 3
        longer = np.vstack([rows, np.full((h, 3), np.nan)])
        mean, cov = naive.joint(point, np.zeros((33, 0)), 33)
        known = np.flatnonzero(~np.isnan(longer.ravel())) + 66
        gain = np.linalg.solve(cov[np.ix_(known, known)], cov[known]).T
        full = mean + gain @ (longer.ravel()[known - 66] - mean[known])
        left = cov - gain @ cov[known]
        found = model.forecast(rows, h, interval=0.8)
        np.testing.assert_allclose(found.expected[0].ravel(), full[-9:], atol=1e-7)
        deviation = np.sqrt(np.diagonal(left)[-9:])
        np.testing.assert_allclose(found.deviation[0].ravel(), deviation, atol=1e-7)
        np.testing.assert_allclose(
            found.high[0].ravel(), full[-9:] + norm.ppf(0.9) * deviation, atol=1e-7
        )
        filled = model.impute(rows)
        gaps = np.isnan(rows)
        assert np.array_equal(filled[~gaps], rows[~gaps])
        np.testing.assert_allclose(filled[gaps], full[66:-9][gaps.ravel()], atol=1e-7)


def test_drawn_futures_have_the_forecast_s_moments():
    rows = some_rows(40)
    model = fitted(jn.LinearDynamicalSystem(2, max_iter=20), rows)
    found = model.forecast([rows, rows[:10]], 3, draws=4000, random_state=0)
    assert found.draws.shape == (2, 4000, 3, 3)
    z = (found.draws.mean(1) - found.expected) / (found.deviation / np.sqrt(4000))
    assert np.abs(z).max() < 4.5
    np.testing.assert_allclose(found.draws.std(1), found.deviation, rtol=0.08)
    assert len(found.to_pandas()) == 6
    assert len(found.to_pandas(draws=True)) == 2 * 4000 * 3
    assert "after each of 2 sequences" in repr(found)


def test_intervals_of_states_hold_their_share():
    rng = np.random.default_rng(0)
    model = fitted(jn.LinearDynamicalSystem(2, max_iter=20), some_rows())
    rows, states = model.sample(3000, random_state=rng)
    for found in (model.smooth(rows), model.filter(rows)):
        low, high = found.interval(0.8)
        inside = ((states > low) & (states < high)).mean(0)
        np.testing.assert_allclose(inside, 0.8, atol=0.05)


def test_a_diffuse_start_is_not_known_at_first():
    model = fitted(jn.local_trend(max_iter=3), NILE)
    found = model.filter(NILE[:4])
    assert np.isnan(found.mean[0, 1])
    assert np.isinf(found.covariance[0, 1, 1])
    assert np.isfinite(found.mean[1:]).all()
    low, high = found.interval()
    assert (low[0, 1], high[0, 1]) == (-np.inf, np.inf)


def test_samples_are_of_the_model():
    model = fitted(jn.LinearDynamicalSystem(2, max_iter=20), some_rows())
    rows, states = model.sample(5, 3, random_state=0)
    assert [x.shape for x in rows] == [(5, 3)] * 3
    assert [x.shape for x in states] == [(5, 2)] * 3
    one, _ = model.sample(4, random_state=1)
    assert one.shape == (4, 3)
    draws = model.sample_states(some_rows(9), 4, random_state=0)
    assert draws.shape == (4, 9, 2)


@pytest.mark.parametrize(
    "make",
    [
        lambda: jn.LinearDynamicalSystem(2, max_iter=5),
        lambda: jn.LinearDynamicalSystem(2, prior={}, max_iter=5, inputs=["c"]),
        lambda: jn.LinearDynamicalSystem(
            2, method="gibbs", prior={}, n_samples=3, burn_in=2, n_chains=1, random_state=0
        ),
    ],
)
def test_files_hold_all_that_was_learned(make, tmp_path):
    rows = some_rows(60)
    table = {name: rows[:, i] for i, name in enumerate("abc")}
    model = fitted(make(), jn.Table(table))
    model.save(tmp_path / "system.json")
    again = jn.load(tmp_path / "system.json")
    assert again.to_dict() == model.to_dict()
    assert again.get_params().keys() == model.get_params().keys()
    frame = jn.Table(table)
    assert np.array_equal(again.log_likelihood(frame), model.log_likelihood(frame))
    assert repr(again.summary()) == repr(model.summary())
    told = json.loads((tmp_path / "system.json").read_text())
    assert told["format"] == "jensen-dynamics"


# --- refusals ---


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"noise": "round"}, "noise must be"),
        ({"process": "round"}, "process must be"),
        ({"initial": "round"}, "initial must be"),
        ({"initial": 3}, "or a dict of mean and covariance"),
        ({"initial": {"diffuse": [2, 0]}}, "diffuse of initial= must be 0 or 1"),
        ({"fixed": 3}, "fixed must be a dict"),
        ({"fixed": {"A": 1}}, "fixed= has no part 'A'"),
        ({"fixed": {"transition": [1.0]}}, r"transition of fixed= must be numbers of the shape"),
        ({"fixed": {"initial_mean": 0.0}}, "write initial="),
        ({"fixed": {"process_covariance": [[1.0, 0.5], [0.0, 1.0]]}}, "must be symmetric"),
        ({"fixed": {"process_covariance": [[1.0, 2.0], [2.0, 1.0]]}}, "negative eigenvalue"),
        ({"fixed": {"process_covariance": [[np.nan, 0.5], [0.5, 1.0]]}}, "a part of a block"),
        ({"fixed": {"process_covariance": [[0.0, 0.0], [0.0, 1.0]]}}, "state 0 has no noise"),
        ({"fixed": {"noise_covariance": 0.0}}, "output 0 has no noise"),
        ({"method": "viterbi"}, "is not for this model"),
        ({"initial": "diffuse"}, "of a diffuse start the likelihood has no bound"),
        ({"prior": {}, "noise": "full"}, "under a prior noise is independent"),
        ({"prior": {}, "process": "full"}, "under a prior noise is independent"),
        ({"prior": {}, "initial": "learn"}, "under a prior first states are known or diffuse"),
        (
            {"prior": {}, "fixed": {"noise_covariance": 0.0, "loadings": 1.0, "offset": 0.0}},
            "under a prior all noise has a density",
        ),
        (
            {"prior": {}, "initial": {"covariance": 0.0}},
            "under a prior the covariance of first states",
        ),
        ({"prior": {"weight": 1}}, "has no part 'weight'"),
        ({"start": 3}, "start must be a fitted LinearDynamicalSystem"),
        ({"start": {"offset": [np.nan] * 3}}, "offset of start= must be numbers"),
        ({"inputs": [7]}, "which is no column"),
        ({"inputs": ["x1", 1]}, "names a column twice"),
        ({"inputs": [0, 1, 2]}, "all columns are inputs"),
    ],
)
def test_choices_that_cannot_be_are_refused(choices, message):
    rows = jn.Table({f"x{i}": column for i, column in enumerate(some_rows(20).T)})
    with pytest.raises(JensenError, match=message):
        jn.LinearDynamicalSystem(2, **choices).fit(rows)


def test_rows_that_cannot_be_are_refused():
    rows = some_rows(20)
    model = jn.LinearDynamicalSystem(1)
    with pytest.raises(DataError, match="no sequence has two steps"):
        model.fit([rows[:1], rows[1:2]])
    with pytest.raises(DataError, match="is constant, so the likelihood"):
        model.fit(np.column_stack([rows, np.ones(20)]))
    with pytest.raises(DataError, match="has no values"):
        model.fit(np.column_stack([rows, np.full(20, np.nan)]))
    holes = rows.copy()
    holes[3, 2] = np.nan
    with pytest.raises(DataError, match="row 4 of the input 'x2' is missing"):
        jn.LinearDynamicalSystem(1, inputs=[2]).fit(holes)
    with pytest.raises(DataError, match="weights sum to zero"):
        model.fit([rows, rows], sequence_weight=[0.0, 0.0])
    with pytest.raises(DataError, match="has weights of rows"):
        model.fit(jn.Table({"a": rows[:, 0]}, weights=np.ones(20)))
    fitted(model.set_params(max_iter=2), rows)
    with pytest.raises(DataError, match="the mean over no steps is undefined"):
        model.score(rows, sequence_weight=[0.0])
    with pytest.raises(JensenError, match="look less far ahead"):
        model.forecast(rows, 10**12)
    pushed = fitted(jn.LinearDynamicalSystem(1, inputs=[2], max_iter=2), rows)
    with pytest.raises(DataError, match="has 1 input: give inputs="):
        pushed.forecast(rows, 2)
    with pytest.raises(DataError, match=r"inputs must be numbers of the shape \(2, 1\)"):
        pushed.forecast(rows, 2, inputs=[[1.0]])
    with pytest.raises(JensenError, match="this forecast has no draws"):
        model.forecast(rows).drawn_columns()
    start = {"noise_covariance": 0.0, "loadings": 1.0, "offset": 0.0}
    still = {"transition": [[1.0]], "process_covariance": 0.0}
    with pytest.raises(DataError, match="the sequences contradict"):
        jn.LinearDynamicalSystem(1, fixed={**start, **still}, initial={"covariance": 0.0}).fit(rows)


def test_an_output_that_states_explain_wholly_is_told():
    rng = np.random.default_rng(0)
    x = np.cumsum(rng.normal(size=200))
    fixed = {"loadings": [[1.0], [1.0]]}
    model = jn.LinearDynamicalSystem(1, fixed=fixed, max_iter=400, tol=1e-5)
    with pytest.warns(EstimateWarning, match="no noise is left of x0"):
        model.fit(np.column_stack([x, x + rng.normal(size=200)]))


def test_seasons_go_on():
    rng = np.random.default_rng(0)
    pattern = np.tile([1.0, 2.0, 3.0, -6.0], 20)
    y = 10.0 + pattern + 0.1 * rng.normal(size=80)
    for trend in ("level", "trend", "fixed-slope"):
        model = fitted(jn.seasonal(4, trend=trend, max_iter=30), y)
        np.testing.assert_allclose(model.forecast(y, 4).expected.ravel(), y[:4], atol=0.7)
    model = fitted(jn.seasonal(4, trend=None, max_iter=30), pattern + 0.1 * rng.normal(size=80))
    np.testing.assert_allclose(model.forecast(y - 10.0, 4).expected.ravel(), pattern[:4], atol=0.5)
    with pytest.raises(JensenError, match="trend must be"):
        jn.seasonal(4, trend="up")
