"""Which inputs matter: a linear regression with a precision of its own for every input (ARD).

y = w₀ + Σ w_j z_j + noise of precision λ, with w_j | λ, α_j ~ N(0, 1 / (λ α_j)), α_j ~ Gamma and
λ ~ Gamma, by variational Bayes with q(w, λ) q(α). An input that is missing has a Gaussian over all
inputs inside the bound, q(μ, Λ) and a q of its own for every row. Each step is the best of its
factor given the others, so that the bound never falls.

References
----------
MacKay (1994), *Bayesian nonlinear modeling for the prediction competition*. Drugowitsch (2013),
*Variational Bayesian inference for linear and logistic regression*, arXiv:1310.5438.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from jensen.families import linear_regression, normal_wishart
from jensen.families.linear_regression import Regression
from jensen.families.normal_wishart import NormalWishart
from jensen.support.text import grid

if TYPE_CHECKING:
    from jensen.estimators.bayesian_regression import BayesianRegression

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

LOG_2PI = float(np.log(2.0 * np.pi))
SWEEPS = 5000
TOL = 1e-10


class GammaPrior(NamedTuple):
    """Of a precision."""

    shape: float
    rate: float


@dataclass(frozen=True)
class RelevanceProblem:
    """Inputs (n, D) in units of their own, NaN where missing, and outputs less their prior mean."""

    inputs: Array
    outputs: Array
    variance: float  # of the constant, in units of 1/λ
    noise: GammaPrior  # λ
    input_prior: GammaPrior  # α_j


class RelevanceState(NamedTuple):
    """Where the factors are."""

    eta: Regression  # of the constant and the inputs that take part
    alpha: Array  # (P,): expected precisions of these
    inputs: NormalWishart | None  # q(μ, Λ) of all inputs, if some are missing
    trace: tuple[float, ...]


class InputRelevance(NamedTuple):
    """One input, and whether outputs depend on it."""

    name: str
    gain: float
    is_relevant: bool
    precision: float


class _Sums(NamedTuple):
    """Expected sums over rows, the constant first among the inputs."""

    square: Array  # (1 + D, 1 + D)
    cross: Array  # (1 + D,)
    entropy: float  # of what is missing


class _Weights(NamedTuple):
    """q(w, λ): w | λ ~ N(mean, (λ V)⁻¹), λ ~ Gamma(shape, rate)."""

    mean: Array
    strength: Array  # V
    inverse: Array  # V⁻¹
    shape: float
    rate: float

    @property
    def precision(self) -> float:
        """E[λ]."""
        return self.shape / self.rate

    @property
    def log_precision(self) -> float:
        """E[log λ]."""
        return float(digamma(self.shape) - np.log(self.rate))

    @property
    def square(self) -> Array:
        """E[λ w wᵀ]."""
        return np.asarray(self.precision * np.outer(self.mean, self.mean) + self.inverse)


def learn_relevance(problem: RelevanceProblem, active: Mask | None = None) -> RelevanceState:
    """Climb the bound with these inputs; those that take no part keep their place among inputs."""
    n, size = problem.inputs.shape
    active = np.ones(size, bool) if active is None else active
    members = np.concatenate([[True], active])
    missing = np.isnan(problem.inputs)
    has_gaps = bool(missing.any())
    prior = _prior_of_inputs(size) if has_gaps else None
    alpha = np.ones(int(active.sum()))
    sums = _complete_sums(problem) if not has_gaps else _first_sums(problem)
    joint = None
    if prior is not None:
        joint = _joint(prior, sums, n)
    weights = _weights(problem, sums, members, alpha)
    trace: list[float] = []
    for _ in range(SWEEPS):
        if joint is not None and prior is not None:
            sums = _missing_sums(problem, missing, members, weights, joint)
            joint = _joint(prior, sums, n)
        weights = _weights(problem, sums, members, alpha)
        shape = problem.input_prior.shape + 0.5
        rate = problem.input_prior.rate + 0.5 * np.diagonal(weights.square)[1:]
        alpha = shape / rate
        bound = _bound(problem, sums, members, weights, shape, rate)
        if joint is not None and prior is not None:
            gain = normal_wishart.log_partition(joint) - normal_wishart.log_partition(prior)
            bound += gain - 0.5 * n * size * LOG_2PI + sums.entropy
        trace.append(bound)
        if len(trace) > 1 and trace[-1] - trace[-2] < TOL * (abs(bound) + n):
            break
    return RelevanceState(_eta(weights), alpha, joint, tuple(trace))


def relevances(
    problem: RelevanceProblem, whole: RelevanceState, names: Sequence[str]
) -> tuple[InputRelevance, ...]:
    """What the bound loses when each input in turn is removed and the rest is learned anew."""
    found = []
    for j, name in enumerate(names):
        active = np.arange(len(names)) != j
        gain = whole.trace[-1] - learn_relevance(problem, active).trace[-1]
        found.append(InputRelevance(name, gain, gain > 0.0, float(whole.alpha[j])))
    return tuple(found)


def shifted(eta: Regression, mean: float) -> Regression:
    """The same regression of outputs that are larger by so much."""
    told = linear_regression.to_standard(eta)
    coefficients = told.coefficients.copy()
    coefficients[:, 0] += mean
    return linear_regression.from_standard(coefficients, *told[1:])


def relevance_table(model: BayesianRegression) -> str:
    """What was found of every input."""
    rows = [["input", "coefficient", "gain", ""]]
    for one, beta in zip(model.relevance_, model.coefficients_[1:], strict=True):
        rows.append([one.name, f"{beta:.4g}", f"{one.gain:.3f}", "relevant" * one.is_relevant])
    note = "gain: what the lower bound of the log evidence loses without the input"
    return f"{grid(rows, left=1, rule=True)}\nlower bound {model.log_evidence_:.6f}\n{note}"


# --- q(w, λ) and the bound ---


def _weights(problem: RelevanceProblem, sums: _Sums, members: Mask, alpha: Array) -> _Weights:
    prior = np.concatenate([[1.0 / problem.variance], alpha])
    strength = sums.square[np.ix_(members, members)] + np.diag(prior)
    inverse = np.asarray(np.linalg.inv(strength), np.float64)
    cross = sums.cross[members]
    mean = inverse @ cross
    rate = problem.noise.rate + 0.5 * float(problem.outputs @ problem.outputs - cross @ mean)
    shape = problem.noise.shape + 0.5 * len(problem.outputs)
    return _Weights(mean, strength, inverse, shape, rate)


def _eta(weights: _Weights) -> Regression:
    """The same as natural parameters of a regression."""
    first = weights.strength @ weights.mean
    count = 2.0 * weights.shape - 2.0 + len(first)
    second = 2.0 * weights.rate + float(weights.mean @ first)
    return Regression(
        np.array([count]), np.array([second]), first[None], weights.strength[None].copy()
    )


def _bound(
    problem: RelevanceProblem,
    sums: _Sums,
    members: Mask,
    weights: _Weights,
    shape: float,
    rate: Array,
) -> float:
    """F, but for the inputs."""
    n, y = len(problem.outputs), problem.outputs
    log_lam, lam, square = weights.log_precision, weights.precision, weights.square
    inside = sums.square[np.ix_(members, members)]
    misfit = lam * float(y @ y) - 2.0 * lam * float(weights.mean @ sums.cross[members])
    misfit += float((inside * square).sum())
    total = 0.5 * n * (log_lam - LOG_2PI) - 0.5 * misfit
    alpha, log_alpha = shape / rate, digamma(shape) - np.log(rate)
    wide = np.concatenate([[1.0 / problem.variance], alpha])
    logs = np.concatenate([[-np.log(problem.variance)], log_alpha])
    total += 0.5 * float((log_lam + logs - LOG_2PI - wide * np.diagonal(square)).sum())
    total += 0.5 * len(wide) * (1.0 + LOG_2PI - log_lam)
    total -= 0.5 * float(np.linalg.slogdet(weights.strength)[1])
    total += _gamma_part(problem.noise, weights.shape, np.array([weights.rate]))
    return float(total + _gamma_part(problem.input_prior, shape, rate))


def _gamma_part(prior: GammaPrior, shape: float, rate: Array) -> float:
    """E[log p] plus the entropy of Gamma distributions."""
    logs, means = digamma(shape) - np.log(rate), shape / rate
    before = prior.shape * np.log(prior.rate) - gammaln(prior.shape)
    before = before + (prior.shape - 1.0) * logs - prior.rate * means
    entropy = shape - np.log(rate) + gammaln(shape) + (1.0 - shape) * digamma(shape)
    return float((before + entropy).sum())


# --- what is missing ---


def _complete_sums(problem: RelevanceProblem) -> _Sums:
    wide = np.column_stack([np.ones(len(problem.outputs)), problem.inputs])
    return _Sums(wide.T @ wide, wide.T @ problem.outputs, 0.0)


def _first_sums(problem: RelevanceProblem) -> _Sums:
    """With missing inputs at 0, the mean of each, and a variance of 1."""
    missing = np.isnan(problem.inputs)
    wide = np.column_stack([np.ones(len(missing)), np.where(missing, 0.0, problem.inputs)])
    square = wide.T @ wide + np.diag([0.0, *missing.sum(0)])
    return _Sums(square, wide.T @ problem.outputs, 0.0)


def _prior_of_inputs(size: int) -> NormalWishart:
    """As weak as can be, about the mean 0 and the variance 1 that inputs have in their units."""
    return normal_wishart.from_standard(
        np.zeros((1, size)), np.array([0.01]), np.array([size + 1.0]), np.eye(size)[None]
    )


def _joint(prior: NormalWishart, sums: _Sums, n: int) -> NormalWishart:
    """q(μ, Λ)."""
    first, second = sums.square[0, 1:], sums.square[1:, 1:]
    stats = (np.array([float(n)]), second[None], first[None], np.array([float(n)]))
    return NormalWishart(*(a + b for a, b in zip(prior, stats, strict=True)))


def _missing_sums(
    problem: RelevanceProblem,
    missing: Mask,
    members: Mask,
    weights: _Weights,
    joint: NormalWishart,
) -> _Sums:
    """Expected sums, rows that miss the same inputs together."""
    t = normal_wishart.mean_stats(joint)
    precision, linear = -2.0 * t.second[0], t.first[0]
    wide = np.zeros((len(members), len(members)))
    wide[np.ix_(members, members)] = weights.square  # of inputs that take no part: 0
    slopes = np.zeros(len(members))
    slopes[members] = weights.precision * weights.mean
    size = len(members)
    square, cross, entropy = np.zeros((size, size)), np.zeros(size), 0.0
    patterns, group = np.unique(missing, axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns):
        rows = np.flatnonzero(group.ravel() == k)
        x, y = problem.inputs[rows].copy(), problem.outputs[rows]
        phi = np.column_stack([np.ones(len(rows)), x])
        m, o = np.flatnonzero(pattern), np.flatnonzero(~pattern)
        if len(m):
            seen = np.concatenate([[0], o + 1])
            own = precision[np.ix_(m, m)] + wide[np.ix_(m + 1, m + 1)]
            pull = linear[m] - x[:, o] @ precision[np.ix_(o, m)]
            pull += y[:, None] * slopes[m + 1] - phi[:, seen] @ wide[np.ix_(seen, m + 1)]
            covariance = np.linalg.inv(own)
            phi[:, m + 1] = pull @ covariance
            square[np.ix_(m + 1, m + 1)] += len(rows) * covariance
            log_det = float(np.linalg.slogdet(own)[1])
            entropy += 0.5 * len(rows) * (len(m) * (1.0 + LOG_2PI) - log_det)
        square += phi.T @ phi
        cross += phi.T @ y
    return _Sums(square, cross, entropy)
