"""Forecasts of hidden Markov models: what comes next is what longer sequences say it is."""

import numpy as np
import pandas as pd
import pytest

import jensen as jn

pytestmark = pytest.mark.filterwarnings("ignore:the chains disagree")
rng = np.random.default_rng(0)
PATH = np.repeat([0, 1, 0, 1], 12)
NUMBERS = np.stack([rng.normal(4.0 * PATH, 1.0), rng.normal(-3.0 * PATH, 2.0)], 1)
NUMBERS[5, 0] = NUMBERS[9] = np.nan
COUNTS = rng.poisson(2.0 + 6.0 * PATH)[:, None].astype(float)

MODELS = [
    ("gaussian", "em", "full"),
    ("gaussian", "vbem", "full"),
    ("gaussian", "vbem", "tied"),
    ("gaussian", "em", "diagonal"),
    ("gaussian", "vbem", "diagonal"),
    ("gaussian", "vbem", "spherical"),
    ("gaussian", "gibbs", "full"),
    ("poisson", "em", "full"),
    ("poisson", "vbem", "full"),
    ("poisson", "gibbs", "full"),
]


def learned(emission, method, covariance="full", **how):
    rows = COUNTS if emission == "poisson" else NUMBERS
    choices = {"n_samples": 8, "burn_in": 20} if method == "gibbs" else {}
    model = jn.HiddenMarkovModel(
        2,
        emission=emission,
        covariance=covariance,
        method=method,
        prior=None if method == "em" else {},
        random_state=0,
        **choices,
        **how,
    )
    return model.fit(rows), rows


def density(model, rows, h, column, points):
    """p(column of the h-th step after the rows), from sequences that are that much longer."""
    longer = np.full((len(points), len(rows) + h, rows.shape[1]), np.nan)
    longer[:, : len(rows)] = rows
    longer[:, -1, column] = points
    return np.exp(model.log_likelihood(list(longer)) - model.log_likelihood(rows))


@pytest.mark.parametrize(("emission", "method", "covariance"), MODELS)
def test_intervals_leave_out_their_tails(emission, method, covariance):
    """After vbem with predictive, after gibbs with mixed distributions, as `log_likelihood` has."""
    model, rows = learned(emission, method, covariance)
    h, level = 2, 0.8
    found = model.forecast(rows, h, interval=level)
    for d in range(rows.shape[1]):
        low, high = found.low[0, -1, d], found.high[0, -1, d]
        if emission == "poisson":
            p = density(model, rows, h, d, np.arange(60.0))
            below = np.cumsum(p)
            assert below[-1] == pytest.approx(1.0, abs=1e-6)
            assert low == np.flatnonzero(below >= 0.1)[0]
            assert high == np.flatnonzero(below >= 0.9)[0]
            mean = p @ np.arange(60.0)
        else:
            points = np.linspace(-80.0, 80.0, 4001)
            p = density(model, rows, h, d, points) * 0.04
            assert p[points < low].sum() == pytest.approx(0.1, abs=0.006)
            assert p[points > high].sum() == pytest.approx(0.1, abs=0.006)
            mean = p @ points
        assert found.expected[0, -1, d] == pytest.approx(mean, rel=0.01, abs=0.02)


def test_quantiles_are_exact():
    """Of one state the interval is a Gaussian one; units change nothing but units."""
    for scale in (1e-9, 1.0, 1e9):
        model = jn.HiddenMarkovModel.from_parameters(
            initial=[1.0],
            transition=[[1.0]],
            means=[[5.0 * scale]],
            covariances=[[4.0 * scale**2]],
            kind="gaussian",
            covariance="diagonal",
        )
        found = model.forecast([[1.0 * scale]], interval=0.95)
        assert found.low[0, 0, 0] == pytest.approx((5.0 - 2.0 * 1.959963984540054) * scale)
        assert found.high[0, 0, 0] == pytest.approx((5.0 + 2.0 * 1.959963984540054) * scale)


def test_far_apart_states_have_the_quantiles_of_their_mixture():
    model = jn.HiddenMarkovModel.from_parameters(
        initial=[0.5, 0.5],
        transition=[[0.02, 0.98], [0.02, 0.98]],
        means=[[-1e4], [0.0]],
        covariances=[[1.0], [100.0]],
        kind="gaussian",
        covariance="diagonal",
    )
    found = model.forecast([[0.0]], interval=0.98)
    np.testing.assert_allclose(found.low.ravel(), -1e4, atol=1.5)  # half of the first state


def end_model():
    return jn.HiddenMarkovModel.from_parameters(
        initial=[0.6, 0.4],
        transition=[[0.5, 0.3], [0.2, 0.7]],
        end=[0.2, 0.1],
        emission=[[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]],
        symbols=["a", "b", "c"],
    )


def test_draws_agree_with_the_probabilities():
    """Of the draws that have not ended, as many are in a state as are said to be."""
    model, n = end_model(), 20_000
    steps = [["a", "b", "c"], ["c"]]
    found = model.forecast(steps, 3, draws=n, random_state=0)
    assert found.draws.shape == (2, n, 3, 1)
    for s in range(2):
        for step in range(3):
            states = found.drawn_states[s, :, step]
            there = states >= 0
            assert 0.3 < there.mean() < 0.95
            share = np.bincount(states[there], minlength=2) / there.sum()
            np.testing.assert_allclose(share, found.states[s, step], atol=0.02)
            labels = found.draws[s, there, step, 0]
            for k, label in enumerate("abc"):
                p = found.expected[s, step, k]
                assert np.mean(labels == label) == pytest.approx(p, abs=0.02)
            assert all(x is None for x in found.draws[s, ~there, step, 0])
    gone = found.drawn_states < 0
    assert (gone[:, :, 1:] >= gone[:, :, :-1]).all()


@pytest.mark.parametrize("method", ["em", "vbem", "gibbs"])
def test_draws_of_numbers_fill_the_interval(method):
    model, rows = learned("gaussian", method)
    found = model.forecast(rows, 1, interval=0.8, draws=2000, random_state=1)
    for d in range(2):
        x = found.draws[0, :, 0, d]
        assert np.mean(x < found.low[0, 0, d]) == pytest.approx(0.1, abs=0.03)
        assert np.mean(x > found.high[0, 0, d]) == pytest.approx(0.1, abs=0.03)
    again = model.forecast(rows, 1, draws=2000, random_state=1)
    np.testing.assert_array_equal(again.draws, found.draws)


def test_it_prints_as_a_table_and_is_a_dataframe():
    found = end_model().forecast([["a"], ["c", "c"]], 2, draws=3, random_state=0)
    lines = repr(found).splitlines()
    assert lines[0] == "2 steps ahead after each of 2 sequences"
    assert lines[1].split() == ["sequence", "step", "state", "probability", "x0", "probability"]
    assert len(lines) == 7
    frame = found.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns[:5]) == ["sequence", "step", "state", "P(state=0)", "P(state=1)"]
    np.testing.assert_allclose(frame[[f"P(x0={x})" for x in "abc"]].sum(axis=1), 1.0)
    drawn = found.to_pandas(draws=True)
    assert list(drawn.columns) == ["sequence", "draw", "step", "state", "x0"]
    assert set(drawn["x0"]) <= set("abc")
    assert len(drawn) == (found.drawn_states >= 0).sum()
    model, rows = learned("gaussian", "em")
    ahead = model.forecast(pd.DataFrame(rows), 100, interval=0.5)
    assert "50% from" in repr(ahead)
    assert repr(ahead).endswith("... and 40 rows more")
    assert list(ahead.to_pandas().columns[5:]) == [
        "x0",
        "x1",
        "x0 from",
        "x0 to",
        "x1 from",
        "x1 to",
    ]


def test_probabilities_of_ones():
    model = jn.HiddenMarkovModel.from_parameters(
        initial=[1.0], transition=[[1.0]], emission=[[0.25, 0.5]], kind="bernoulli"
    )
    found = model.forecast(np.array([[0, 1]]), 1, draws=2, random_state=0)
    assert "P(x0=1)" in repr(found)
    np.testing.assert_allclose(found.expected, [[[0.25, 0.5]]])
    assert set(np.unique(found.draws)) <= {0.0, 1.0}


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ({"interval": 0.9}, r"^an interval is one of numbers, .* leave interval out"),
        ({"interval": 1.5}, r"^the level of an interval lies between 0 and 1, not 1\.5$"),
        ({"draws": 0}, r"^draws must be"),
        ({"h": 0}, r"^h must be"),
    ],
)
def test_what_cannot_be_forecast_is_refused(choices, text):
    with pytest.raises(jn.JensenError, match=text):
        end_model().forecast([["a"]], **choices)


def test_a_forecast_without_draws_has_none():
    with pytest.raises(
        jn.JensenError, match=r"^this forecast has no draws: ask for them with draws"
    ):
        end_model().forecast([["a"]]).to_pandas(draws=True)
