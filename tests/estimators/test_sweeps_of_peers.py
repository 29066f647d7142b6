"""From the same start, the likelihood after every sweep of EM is that of other libraries."""

import warnings

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture

import jensen as jn

TYPES = {"full": "full", "tied": "tied", "diagonal": "diag", "spherical": "spherical"}


def rows():
    rng = np.random.default_rng(0)
    near = rng.normal(0.0, 1.0, (60, 2)) @ np.array([[1.0, 0.4], [0.0, 0.8]])
    return np.concatenate([near, rng.normal([2.5, -1.0], 0.9, (40, 2))])


def spread(covariance):
    """Covariances to start from, and their inverses, of the shape that a kind has."""
    matrix = np.array([[2.0, 0.3], [0.3, 1.5]])
    if covariance == "tied":
        return matrix, np.linalg.inv(matrix)
    if covariance == "full":
        return np.stack([matrix, matrix]), np.linalg.inv(np.stack([matrix, matrix]))
    variance = np.full((2, 2) if covariance == "diagonal" else 2, 1.7)
    return variance, 1.0 / variance


@pytest.mark.parametrize("covariance", TYPES)
def test_mixtures_climb_as_those_of_scikit_learn(covariance):
    x, means, shares = rows(), np.array([[-0.5, 0.5], [2.0, 0.0]]), np.array([0.7, 0.3])
    covariances, precisions = spread(covariance)
    start = {"weights": shares, "means": means, "covariances": covariances}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # both are stopped on purpose
        ours = jn.GaussianMixture(2, covariance=covariance, start=start, max_iter=15, tol=0.0)
        ours.fit(x)
        theirs = GaussianMixture(
            2,
            covariance_type=TYPES[covariance],
            weights_init=shares,
            means_init=means,
            precisions_init=precisions,
            reg_covar=0.0,
            max_iter=1,
            warm_start=True,
        )
        found = [len(x) * theirs.fit(x).lower_bound_ for _ in range(15)]
    np.testing.assert_allclose(ours.trace_[:15], found, rtol=1e-10)


CHAIN = {"initial": [0.5, 0.5], "transition": [[0.9, 0.1], [0.2, 0.8]]}
ROLLS = [int(roll) for roll in "315116246446644245311321631164152133625144543631656626566666"]
NUMBERS = np.array([0.1, 0.4, -0.3, 2.1, 2.4, 1.9, 2.2, -0.1, 0.0, 0.3, 2.6, 2.0])[:, None]
CASES = {
    "categorical": (
        np.array(ROLLS)[:, None],
        [30, 30],
        {"emission": [[1 / 6] * 6, [0.1] * 5 + [0.5]]},
        (-103.93501943097439, -101.19888085484698, -99.7817033329764, -98.44445003403823),
    ),
    "gaussian": (
        NUMBERS,
        [7, 5],
        {"means": [[0.0], [2.0]], "covariances": [[[1.0]], [[1.0]]]},
        (-18.126062343991, -9.609324812506443, -3.628391055326114, -3.563524742736509),
    ),
}
"""Steps, lengths, a start, and the log-likelihoods of hmmlearn 0.3 (`monitor_.history`).

Its priors of covariances were set to 0.
"""


@pytest.mark.parametrize("emission", CASES)
def test_chains_climb_as_those_of_hmmlearn(emission):
    steps, lengths, own, expected = CASES[emission]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.EstimateWarning)
        model = jn.HiddenMarkovModel(2, emission=emission, start=CHAIN | own, max_iter=3, tol=0.0)
        model.fit(steps, lengths=lengths)
    np.testing.assert_allclose(model.trace_, expected, rtol=1e-10)
