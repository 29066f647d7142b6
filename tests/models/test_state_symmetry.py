"""What tells hidden states apart, and what does not."""

import math

import numpy as np
import pytest
from models.mixture_cases import KINDS, make_case
from scipy.integrate import quad
from scipy.stats import beta

from jensen.data.number_rows import NumberRows
from jensen.free_energy import EM, state_at, step
from jensen.models.emissions.discrete import Discrete
from jensen.models.emissions.poisson import Poisson
from jensen.models.hidden_markov import Chained, HiddenMarkov
from jensen.models.mixture import Mixed, Mixture
from jensen.models.state_labels import find_twins, log_labellings


def labels(K, prior=None, weights=None):
    prior = np.zeros((K, 1, 2)) if prior is None else prior
    return Mixture(Discrete(K, 1, 2, prior), np.zeros(K) if weights is None else weights, K)


@pytest.mark.parametrize("kind", KINDS)
def test_a_prior_that_differs_tells_states_apart(kind):
    model = make_case(kind, 3).model  # a random prior
    assert not model.has_symmetric_prior
    flat = Mixture(Poisson(3, 2, None), None, 3)
    assert flat.has_symmetric_prior


def test_only_equal_priors_are_symmetric():
    assert labels(1).has_symmetric_prior
    assert labels(4).has_symmetric_prior
    assert not labels(3, weights=np.array([0.0, 0.0, 1.0])).has_symmetric_prior
    assert not labels(3, prior=np.arange(6.0).reshape(3, 1, 2)).has_symmetric_prior


def test_staying_may_be_more_probable_than_moving():
    emission = Discrete(3, 1, 2, np.zeros((3, 1, 2)))
    assert HiddenMarkov(emission, np.zeros(3), 5.0 * np.eye(3), 3).has_symmetric_prior
    right = np.triu(np.ones((3, 3)))
    assert not HiddenMarkov(emission, np.zeros(3), right, 3).has_symmetric_prior


def test_labellings_count_permutations_of_live_states_that_differ():
    model = labels(5)
    counts = np.array([40.0, 30.0, 10.0, 0.1, 0.0])
    assert log_labellings(model, counts) == pytest.approx(math.log(5 * 4 * 3))
    yes = np.array([[38.0, 2.0], [3.0, 27.0], [5.0, 5.0], [0.1, 0.0], [0.0, 0.0]])[:, None]
    assert log_labellings(model, counts, Mixed(counts, yes)) == pytest.approx(math.log(60))
    alike = np.array([20.0, 20.0, 20.0, 20.0, 0.0])
    yes = np.array([[15.0, 5.0]] * 2 + [[1.0, 19.0]] * 2 + [[0.0, 0.0]])[:, None]
    expected = math.log(math.factorial(5) / 4.0)
    assert log_labellings(model, alike, Mixed(alike, yes)) == pytest.approx(expected)


@pytest.mark.parametrize("rows", [[2.0, 3.0], [9.0, 1.0]])
def test_posteriors_are_alike_if_they_overlap_by_half(rows):
    """∫ √(q q') by quadrature, of a posterior and of the same with two states swapped."""
    other = np.array([1.0, 4.0])
    a, b = beta(rows[0] + 1.0, rows[1] + 1.0), beta(other[0] + 1.0, other[1] + 1.0)
    one = quad(lambda p: math.sqrt(a.pdf(p) * b.pdf(p)), 0.0, 1.0)[0]
    counts = np.array([5.0, 5.0])
    found = log_labellings(labels(2), counts, Mixed(counts, np.array([rows, other])[:, None]))
    assert found == pytest.approx(0.0 if one**2 > 0.5 else math.log(2.0))


def hmm(initial, transition, yes):
    K = len(initial)
    model = HiddenMarkov(Discrete(K, 1, 2, None), None, None, K)
    emission = np.stack([np.subtract(1.0, yes), yes], axis=-1)[:, None]
    return model, Chained(np.array(initial), np.array(transition), emission)


EVEN = [[0.4, 0.3, 0.3], [0.2, 0.4, 0.4], [0.2, 0.4, 0.4]]


@pytest.mark.parametrize(
    ("initial", "transition", "yes", "expected"),
    [
        ([0.4, 0.3, 0.3], EVEN, [0.1, 0.8, 0.8], (1, 2)),
        ([0.4, 0.3, 0.3], EVEN, [0.1, 0.8, 0.7], None),
        ([0.4, 0.2, 0.4], EVEN, [0.1, 0.8, 0.8], None),  # other first steps part them
        ([0.4, 0.3, 0.3], [EVEN[0], EVEN[1], [0.3, 0.3, 0.4]], [0.1, 0.8, 0.8], None),
        ([0.4, 0.3, 0.3], [[0.4, 0.4, 0.2], EVEN[1], EVEN[1]], [0.1, 0.8, 0.8], None),
        # one is come to twice as often as the other, from everywhere
        ([0.4, 0.4, 0.2], [[0.4, 0.4, 0.2]] + [[0.1, 0.6, 0.3]] * 2, [0.1, 0.8, 0.8], (1, 2)),
    ],
)
def test_twins_of_a_chain_are_those_that_never_part(initial, transition, yes, expected):
    """The sweeps of EM are the judge."""
    model, start = hmm(initial, transition, yes)
    assert find_twins(model, start, np.full(3, 10.0)) == expected
    rng = np.random.default_rng(0)
    units = model.encode(
        NumberRows.of(rng.integers(0, 2, (60, 1)) * 1.0), np.array([25, 35]), np.ones(2)
    )
    state = state_at(model, units, EM, start)
    for _ in range(5):
        state = step(model, units, EM, state)
    gap = np.abs(state.t.emission[1] - state.t.emission[2]).max()
    assert (gap < 1e-9) == (expected is not None)


def test_what_is_dead_or_held_or_told_apart_by_the_prior_is_no_twin():
    start = Mixed(np.array([0.2, 0.5, 0.3]), np.array([[1.0, 2.0]] + [[2.0, 1.0]] * 2)[:, None])
    counts = np.array([5.0, 9.0, 7.0])
    model = labels(3)
    assert find_twins(model, start, counts) == (1, 2)
    assert find_twins(model, start, np.array([20.0, 0.2, 0.3])) is None
    assert find_twins(model.holding(start, ("components",)), start, counts) is None
    assert find_twins(model.holding(start, ("weights",)), start, counts) == (1, 2)
    assert find_twins(labels(3, weights=np.array([1.0, 1.0, 2.0])), start, counts) is None
