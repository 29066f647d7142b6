"""What is drawn after VB has the density that is said of it.

A wrong density fails with certainty; a right one does with the probability P in each case, and the
seeds are fixed.
"""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import chisquare, kstest

import jensen as jn

P = 1e-4
FEW = np.array([[0.0], [0.3], [0.9], [5.0], [5.5], [7.0]])
COVARIANCES = ["full", "diagonal", "spherical", "tied"]
START = {
    "full": {"means": [[0.0], [6.0]], "covariances": [[[0.5]], [[2.0]]]},
    "tied": {"means": [[0.0], [6.0]], "covariances": [[1.0]]},
    "diagonal": {"means": [[0.0], [6.0]], "covariances": [[0.5], [2.0]]},
    "spherical": {"means": [[0.0], [6.0]], "covariances": [0.5, 2.0]},
}


def p_value(x, log_density):
    """Of numbers x under a log density, by Kolmogorov and Smirnov; its tails are integrated too."""
    grid = 3.0 + 1e6 * np.sinh(np.linspace(-18.0, 18.0, 20_001)) / np.sinh(18.0)
    density = np.exp(log_density(grid[:, None]))
    below = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(grid))])
    assert below[-1] == pytest.approx(1.0, abs=1e-3)
    return kstest(x, lambda at: np.interp(at, grid, below / below[-1])).pvalue


@pytest.mark.parametrize("held", [None, "means", "covariances", "components", "weights"])
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_rows_of_a_mixture(covariance, held):
    start = START[covariance] if held else None
    model = jn.GaussianMixture(
        2,
        covariance=covariance,
        prior={},
        start=start,
        fixed=[held] if held else (),
        random_state=0,
    ).fit(FEW)
    rows, states = model.sample(20_000, random_state=1)
    assert p_value(rows[:, 0], model.score_samples) > P
    assert chisquare(np.bincount(states), 20_000 * model.weights_).pvalue > P


def test_tails_are_those_of_a_student_distribution():
    model = jn.GaussianMixture(1, prior={}).fit([[0.0], [1.0], [2.0]])
    rows, _ = model.sample(50_000, random_state=0)
    share = np.mean(np.abs(rows - 1.0) > 4.0)

    def density(x):
        return float(np.exp(model.score_samples([[x]])[0]))

    expected = 2.0 * quad(density, 5.0, np.inf)[0]
    assert abs(share - expected) < 4.0 * np.sqrt(expected / 50_000)  # P(beyond) = 6e-5


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_columns_together(covariance):
    """The share of rows whose density is above that of so many others, drawn independently."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(7, 2)) @ [[1.0, 0.8], [0.0, 0.5]]
    model = jn.GaussianMixture(1, covariance=covariance, prior={}).fit(x)
    rows, _ = model.sample(20_000, random_state=2)
    edges = np.linspace(-3.0, 3.0, 13)
    middle = np.linspace(-3.0, 3.0, 241)[:-1] + 0.0125
    a, b = np.meshgrid(middle, middle, indexing="ij")
    density = np.exp(model.score_samples(np.stack([a.ravel(), b.ravel()], axis=1)))
    share = (density * 0.025**2).reshape(12, 20, 12, 20).sum((1, 3))
    found, _, _ = np.histogram2d(rows[:, 0], rows[:, 1], bins=[edges, edges])
    inside = 20_000 * share > 5.0
    observed = np.append(found[inside], 20_000 - found[inside].sum())
    expected = np.append(20_000 * share[inside], 20_000 * (1.0 - share[inside].sum()))
    assert chisquare(observed, expected).pvalue > P


def test_rows_of_a_table():
    frame = pd.DataFrame({"legs": [2.0, 2.5, 4.0, 4.5], "visits": [0, 1, 1, 6]})
    model = jn.LatentClass(1, prior={}).fit(jn.Table(frame, counts=["visits"]))
    drawn, _ = model.sample(20_000, random_state=3)

    def legs(x):
        rows = pd.DataFrame({"legs": x[:, 0], "visits": np.full(len(x), np.nan)})
        return model.log_likelihood(rows)

    counts = np.arange(25)
    rows = pd.DataFrame({"legs": np.full(25, np.nan), "visits": counts})
    share = np.exp(model.log_likelihood(jn.Table(rows, counts=["visits"], continuous=["legs"])))
    found = np.bincount(drawn["visits"].astype(int).clip(upper=25), minlength=26)
    assert chisquare(found, 20_000 * np.append(share, 1.0 - share.sum())).pvalue > P
    assert p_value(drawn["legs"].to_numpy(), legs) > P


def test_a_point_is_drawn_from_as_it_is():
    model = jn.GaussianMixture(1).fit(FEW)
    rows, _ = model.sample(20_000, random_state=0)
    assert p_value(rows[:, 0], model.score_samples) > P


@pytest.mark.slow
@pytest.mark.parametrize("masks", [None, {"transition": [[True, True], [False, True]]}])
def test_first_steps_of_chains(masks):
    model = jn.HiddenMarkovModel(2, emission="gaussian", prior={}, masks=masks, random_state=0).fit(
        FEW
    )
    rows, _ = model.sample(1, 3_000, random_state=0)
    x = np.concatenate(rows)[:, 0]
    assert p_value(x, lambda grid: model.log_likelihood(list(grid[:, None]))) > P
    if masks:
        paths = model.sample(30, 20, random_state=0)[1]
        assert all((np.diff(path) >= 0).all() for path in paths)


def test_steps_of_a_sequence_share_their_parameters():
    """One state: λ ~ Gamma(a, b), and the covariance of two counts is that of λ, a / b²."""
    x = np.array([[0.0], [3.0], [2.0]])
    prior = {"shape": 1.0, "rate": 1.0}
    model = jn.HiddenMarkovModel(1, emission="poisson", prior=prior).fit(x)
    rows, _ = model.sample(2, 5_000, random_state=0)
    pairs = np.array(rows)[:, :, 0] - 6.0 / 4.0  # a = 1 + 5, b = 1 + 3
    products = pairs[:, 0] * pairs[:, 1]
    error = products.std() / np.sqrt(len(products))
    assert abs(products.mean() - 6.0 / 16.0) < 4.0 * error  # P(beyond) = 6e-5


def test_one_state_that_is_held_is_not_drawn():
    start = {"emission": [[2.0]]}
    model = jn.HiddenMarkovModel(
        1, emission="poisson", prior={}, start=start, fixed=["emission"]
    ).fit([[0.0], [9.0]])
    rows, _ = model.sample(20_000, random_state=0)
    assert abs(rows.mean() - 2.0) < 4.0 * np.sqrt(2.0 / 20_000)


def test_rates_beyond_whole_numbers_are_refused():
    model = jn.HiddenMarkovModel.from_parameters(
        initial=[1.0], transition=[[1.0]], emission=[[1.5e19]], kind="poisson"
    )
    with pytest.raises(jn.JensenError, match=r"counts cannot be drawn at the rate .*e\+19, which"):
        model.sample(3, random_state=0)


@pytest.mark.parametrize("method", ["em", "vbem", "gibbs"])
def test_counts_at_such_rates_are_refused_too(method):
    huge = np.array([[1e19], [2e19], [np.nan]] * 3)
    model = jn.HiddenMarkovModel(1, emission="poisson", method=method)
    with pytest.raises(jn.JensenError, match="divide the column, or learn it as numbers"):
        model.fit(huge)
