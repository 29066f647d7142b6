"""The loop on a model whose fields of θ depend on each other: order, ascent, slope and bound.

"F never falls" and "F ≤ evidence" miss faults that leave another function to climb. At the fixed
point the slope of F is zero in every natural parameter of every field, and a fault moves it: the
faults here are seeded one at a time, and each has to be seen.
"""

from typing import NamedTuple

import numpy as np
import pytest
from models.coupled import ArdRegression, Coupled, GaussianVectors, Vectors
from naive.families import gradient
from scipy.special import logsumexp
from scipy.stats import gamma as gamma_of
from scipy.stats import multivariate_normal, norm
from scipy.stats import t as student

from jensen import q_hidden
from jensen.data.blocks import Units
from jensen.estimators.learning import LoopChoices, Problem, learn
from jensen.families.gamma import Gamma
from jensen.free_energy import EM, VBEM, Algorithm, fit, state_at, step
from jensen.models.protocol import Data
from jensen.q_hidden.gaussian_cells import conditional
from jensen.support.fields import leaves, rebuild

ASCENTS = pytest.mark.parametrize("algorithm", [EM, VBEM], ids=lambda a: a.name)
CASES = ["regression", "gaps", "factors"]
every_case = pytest.mark.parametrize("name", CASES)
FLAT = 1e-6
"""A slope at rest, beside the slope at parameters that are off by a tenth."""
STEEP = 1e-3
"""Such a slope where something is wrong."""


class Case(NamedTuple):
    model: ArdRegression
    y: np.ndarray
    h: np.ndarray
    weight: np.ndarray

    @property
    def units(self) -> Units:
        return self.model.encode(self.y, self.h, self.weight)


def make_case(name, kind=ArdRegression):
    """Complete rows, rows with gaps anywhere, or rows that show nothing of h."""
    rng = np.random.default_rng(CASES.index(name))
    n, D, K = {"regression": (30, 2, 2), "gaps": (16, 2, 2), "factors": (40, 3, 1)}[name]
    h = rng.normal(size=(n, K))
    weights = rng.uniform(0.5, 1.5, (D, K)) * rng.choice([-1.0, 1.0], (D, K))
    y = h @ weights.T + 0.5 * rng.normal(size=(n, D))
    if name == "gaps":
        y[rng.random(y.shape) < 0.2] = np.nan
        h[rng.random(h.shape) < 0.3] = np.nan
    if name == "factors":
        h[:] = np.nan
    return Case(kind(D, K), y, h, rng.uniform(0.5, 2.0, n))


def begin(case, algorithm, seed=0):
    eta = case.model.start_at(np.random.default_rng(seed))
    return state_at(case.model, case.units, algorithm, eta)


def same_bits(one, other):
    pairs = zip(leaves(one), leaves(other), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


def at_rest(case, algorithm, sweeps=3000):
    """Where sweeps lead, whatever F says: a fault may let it fall."""
    state, units = begin(case, algorithm), case.units
    for _ in range(sweeps):
        before, state = state, step(case.model, units, algorithm, state)
        pairs = zip(leaves(before.eta), leaves(state.eta), strict=True)
        if all(np.allclose(a, b, rtol=1e-13, atol=1e-13) for a, b in pairs):
            break
    return state


def slopes(case, algorithm, eta):
    """∂F / ∂η by differences, q(h) the best for each η: a record, field by field."""
    units, parts = case.units, list(leaves(eta))
    found = []
    for number, leaf in enumerate(parts):

        def f(x, number=number):
            moved = rebuild(eta, iter([*parts[:number], x, *parts[number + 1 :]]))
            return state_at(case.model, units, algorithm, moved).free_energy

        found.append(gradient(f, np.array(leaf, float)))
    return rebuild(eta, iter(found))


def steepest(record):
    return max(float(np.abs(x).max()) for x in leaves(record))


def relative_slopes(case, algorithm, state):
    """The largest slope in each field, beside the largest at parameters off by a tenth."""
    rng = np.random.default_rng(0)
    away = (x * rng.uniform(0.9, 1.1, np.shape(x)) for x in leaves(state.eta))
    there = slopes(case, algorithm, rebuild(state.eta, away))
    here = slopes(case, algorithm, state.eta)
    return Coupled(*(steepest(a) / steepest(b) for a, b in zip(here, there, strict=True)))


# --- the loop as it is ---


@every_case
@ASCENTS
def test_f_never_falls(name, algorithm):
    case = make_case(name)
    for seed in range(3):
        state = begin(case, algorithm, seed)
        trace = fit(case.model, case.units, algorithm, state, tol=0.0, max_iter=40).trace
        assert np.diff(trace).min() >= -1e-12 * (abs(trace[-1]) + case.units.total_weight)
        assert trace[-1] > trace[0] + 1.0


@every_case
@ASCENTS
def test_the_slope_of_f_is_zero_at_the_fixed_point(name, algorithm):
    case = make_case(name)
    found = relative_slopes(case, algorithm, at_rest(case, algorithm))
    assert max(found) < FLAT, found


def is_in_order(case, algorithm, before, after):
    """Whether each field was given the statistics and the newest of the others, to the last bit."""
    t = before.t
    for name in after.eta._fields:
        expected = case.model.posterior(name, before.stats, t)
        if not same_bits(getattr(after.eta, name), expected):
            return False
        t = t._replace(**{name: getattr(after.t, name)})
    return True


def all_at_once(case, algorithm, state):
    """A sweep in which every field is given the old values of the others."""
    names = state.eta._fields
    eta = Coupled(*(case.model.posterior(name, state.stats, state.t) for name in names))
    return state_at(case.model, case.units, algorithm, eta)


@every_case
@ASCENTS
def test_fields_are_updated_in_order_each_given_the_newest_of_the_others(name, algorithm):
    case = make_case(name)
    state = begin(case, algorithm)
    for _ in range(3):
        after = step(case.model, case.units, algorithm, state)
        assert is_in_order(case, algorithm, state, after)
        assert not is_in_order(case, algorithm, state, all_at_once(case, algorithm, state))
        state = after


@ASCENTS
def test_the_last_field_is_at_its_best_given_the_others(algorithm):
    """Nothing is hidden, so F has no slope there after one sweep; nor in the field before.

    Given the weights, noise and alpha know nothing of each other.
    """
    case = make_case("regression")
    state = step(case.model, case.units, algorithm, begin(case, algorithm))
    found = relative_slopes(case, algorithm, state)
    assert max(found.alpha, found.noise) < FLAT
    assert found.weights > STEEP
    jacobi = all_at_once(case, algorithm, begin(case, algorithm))
    assert relative_slopes(case, algorithm, jacobi).alpha > STEEP


def test_f_is_the_bound_by_its_definition():
    """E_q[log p(y, h, θ)] of complete rows and the entropies, from the distributions of scipy."""
    case = make_case("regression")
    model = case.model
    for seed in range(3):
        eta = model.start_at(np.random.default_rng(seed))
        noise, alpha = (
            [gamma_of(a + 1.0, scale=1.0 / b) for a, b in zip(*field, strict=True)]
            for field in (eta.noise, eta.alpha)
        )
        covariance = np.linalg.inv(eta.weights.strength)
        mean = (covariance @ eta.weights.first[..., None])[..., 0]
        expected = case.weight @ norm.logpdf(case.h).sum(1)
        for d in range(model.D):
            mean_log = noise[d].expect(np.log)
            spread = np.einsum("nk,kl,nl->n", case.h, covariance[d], case.h)
            square = (case.y[:, d] - case.h @ mean[d]) ** 2 + spread
            each = 0.5 * (mean_log - np.log(2.0 * np.pi) - noise[d].mean() * square)
            expected += case.weight @ each
            for k in range(model.K):
                length = mean[d, k] ** 2 + covariance[d, k, k]
                strength = alpha[k].expect(np.log) - np.log(2.0 * np.pi)
                expected += 0.5 * (strength - alpha[k].mean() * length)
            expected += multivariate_normal(mean[d], covariance[d]).entropy()
        for own, q in ((model.noise_prior, noise), (model.alpha_prior, alpha)):
            prior = gamma_of(own[0], scale=1.0 / own[1])
            expected += sum(one.expect(prior.logpdf) + one.entropy() for one in q)
        found = state_at(model, case.units, VBEM, eta).free_energy
        assert found == pytest.approx(expected, rel=1e-7)


def test_f_of_a_point_is_the_log_joint():
    case = make_case("regression")
    model, state = case.model, begin(case, EM)
    weights, psi, alpha = state.t.weights.first, -state.t.noise.exposure, -state.t.alpha.exposure
    rows = norm.logpdf(case.y, case.h @ weights.T, psi**-0.5).sum(1) + norm.logpdf(case.h).sum(1)
    expected = case.weight @ rows + norm.logpdf(weights, 0.0, alpha**-0.5).sum()
    for own, value in ((model.noise_prior, psi), (model.alpha_prior, alpha)):
        expected += gamma_of.logpdf(value, own[0], scale=1.0 / own[1]).sum()
    assert state.free_energy == pytest.approx(expected, rel=1e-12)


def log_evidence(case):
    """Of one column on one: α in closed form (w is Student's), w and log ψ on a fine grid."""
    (a, b), (shape, rate) = case.model.alpha_prior, case.model.noise_prior
    u, log_psi = np.linspace(-4.5, 4.5, 901), np.linspace(-6.0, 6.0, 301)
    w, psi = np.sinh(u), np.exp(log_psi)  # fine near 0, and far out for the tails
    logs = (student.logpdf(w, 2.0 * a, scale=np.sqrt(b / a)) + np.log(np.cosh(u)))[:, None]
    logs = logs + gamma_of.logpdf(psi, shape, scale=1.0 / rate) + log_psi
    w = w[:, None]
    for y, h in zip(case.y[:, 0], case.h[:, 0], strict=True):
        if not np.isnan(h):
            logs = logs + norm.logpdf(h)
        if not np.isnan(y):
            hidden = np.isnan(h)
            center, variance = (0.0, w**2) if hidden else (w * h, 0.0)
            logs = logs + norm.logpdf(y, center, np.sqrt(variance + 1.0 / psi))
    return logsumexp(logs) + np.log((u[1] - u[0]) * (log_psi[1] - log_psi[0]))


@pytest.mark.parametrize(("name", "gap"), [("regression", 0.1), ("gaps", 0.7), ("factors", 4.0)])
def test_f_is_below_the_evidence_by_quadrature(name, gap):
    rng = np.random.default_rng(3)
    h = rng.normal(size=(14, 1))
    y = 1.2 * h + 0.6 * rng.normal(size=h.shape)
    if name == "gaps":
        y[:2], h[3:6] = np.nan, np.nan
    if name == "factors":
        h[:] = np.nan
    case = Case(ArdRegression(1, 1), y, h, np.ones(14))
    exact = log_evidence(case)
    for seed in range(2):
        trace = fit(case.model, case.units, VBEM, begin(case, VBEM, seed), tol=1e-12).trace
        assert np.all(trace <= exact)
    assert trace[-1] > exact - gap


# --- complete rows ---


def problem(case, method, **choices):
    chosen = LoopChoices(prior="ard", method=method, random_state=0, **choices)
    return Problem(case.model, Data(case.units, None, (case.y, case.h)), chosen)


@ASCENTS
def test_complete_rows_take_several_sweeps(algorithm):
    """They have no h, but their statistics alone do not give θ."""
    case = make_case("regression")
    assert case.units.is_complete
    learned = learn(problem(case, algorithm.name, tol=1e-14))
    assert learned.report.converged
    assert learned.report.n_sweeps >= 3
    assert np.diff(learned.report.trace)[:2].min() > 1e-7
    best = at_rest(case, algorithm)
    assert learned.report.free_energy == pytest.approx(best.free_energy, rel=1e-12)
    assert max(relative_slopes(case, algorithm, learned.fitted)) < 1e-4


@ASCENTS
def test_complete_rows_are_the_answer_where_the_other_fields_are_known(algorithm):
    case = make_case("regression")
    known = Coupled(
        None,
        Gamma(np.log([3.0, 5.0]), -np.array([3.0, 5.0])),
        Gamma(np.log([0.5, 2.0]), -np.array([0.5, 2.0])),
    )
    case = case._replace(model=ArdRegression(2, 2, held=known))
    learned = learn(problem(case, algorithm.name))
    assert learned.report.converged
    assert learned.report.n_sweeps == 0
    y, weight = case.y, case.weight
    for d, psi in enumerate((3.0, 5.0)):  # ridge regression in closed form
        square = psi * (case.h.T * weight) @ case.h + np.diag([0.5, 2.0])
        mean = np.linalg.solve(square, psi * (case.h.T * weight) @ y[:, d])
        np.testing.assert_allclose(learned.fitted.t.weights.first[d], mean, rtol=1e-11)


# --- moves ---


class Moving(ArdRegression):
    """Offers other η after every sweep."""

    offered = ()

    def moves(self, state):
        return iter(self.offered)


@ASCENTS
def test_a_move_is_taken_if_f_rises(algorithm):
    case = make_case("factors", Moving)
    plain = make_case("factors")
    best, begun = at_rest(plain, algorithm), begin(plain, algorithm)
    after = step(plain.model, plain.units, algorithm, begun)
    case.model.__dict__["offered"] = (begun.eta,)
    assert same_bits(step(case.model, case.units, algorithm, begun), after)  # it is no better
    case.model.__dict__["offered"] = (begun.eta, best.eta, begun.eta)
    moved = step(case.model, case.units, algorithm, begun)
    assert same_bits(moved.eta, best.eta)
    assert moved.free_energy == pytest.approx(best.free_energy, rel=1e-13)
    assert moved.sweep == after.sweep == begun.sweep + 1


# --- faults that have to be seen ---


class LogOfMean(ArdRegression):
    """Log E[α] in the place of E[log α]."""

    def log_alpha(self, t):
        return np.log(-t.alpha.exposure)


class LostLogPartition(ArdRegression):
    """The prior of the weights without its normaliser."""

    def weights_normalizer(self, t):
        return 0.0


class LostSpread(ArdRegression):
    """The weights as if they were known: E[w] E[w]ᵀ for E[w wᵀ]."""

    def squared(self, t):
        return t.weights.first[..., :, None] * t.weights.first[..., None, :]


class WrongCount(ArdRegression):
    """Each strength told of by one weight, however many there are."""

    def alpha_given(self, square, t):
        right = super().alpha_given(square, t)
        return right._replace(total=self.own_priors[1].total + 0.5)


class ForgottenShrinkage(ArdRegression):
    """The weights updated as if their prior were flat."""

    def weights_given(self, square, t):
        right = super().weights_given(square, t)
        return Vectors(right.first, right.strength - self.shrinkage(t.alpha).strength)


class WrongNoise(ArdRegression):
    """Rows weighed by ψ at its mode, not by E[ψ]."""

    def weights_given(self, square, t):
        mode = t.noise._replace(exposure=0.9 * t.noise.exposure)
        return super().weights_given(square, t._replace(noise=mode))


class HalfAnEntropy(GaussianVectors):
    """Half the entropy of q(w) is lost."""

    def log_partition(self, eta):
        strength, mean = self.solved(eta)
        lost = 0.5 * (mean.size * np.log(2.0 * np.pi) - np.linalg.slogdet(strength)[1].sum())
        return super().log_partition(eta) - 0.5 * lost


class Halved(ArdRegression):
    """A model with such a family."""

    def __init__(self, D, K):
        super().__init__(D, K, family=HalfAnEntropy())


FAULTS = {
    "log of the mean strength": LogOfMean,
    "lost log partition": LostLogPartition,
    "lost spread of the weights": LostSpread,
    "wrong count of weights": WrongCount,
    "forgotten shrinkage": ForgottenShrinkage,
    "wrong weight of rows": WrongNoise,
    "half an entropy of q(w)": Halved,
}


@every_case
@pytest.mark.parametrize("fault", FAULTS)
def test_the_slope_shows_a_fault(name, fault):
    case = make_case(name, FAULTS[fault])
    found = relative_slopes(case, VBEM, at_rest(case, VBEM))
    assert max(found) > STEEP, found


@pytest.mark.parametrize("fault", ["lost log partition", "wrong count of weights"])
def test_the_slope_shows_a_fault_at_the_mode(fault):
    case = make_case("gaps", FAULTS[fault])
    found = relative_slopes(case, EM, at_rest(case, EM))
    assert found.alpha > STEEP


@pytest.mark.parametrize("name", ["gaps", "factors"])
@pytest.mark.parametrize("share", [0.5, 2.0, -1.0])
def test_the_slope_shows_a_wrong_entropy_of_what_is_hidden(name, share):
    def solve(potentials, memory, rng):
        right, quadratic = q_hidden.exact(potentials), potentials.quadratic
        entropies = []
        for pattern in potentials.patterns:
            log_size = conditional(quadratic, pattern.missing, pattern.seen)[2]
            entropies.append(pattern.weight * (log_size + 0.5 * len(pattern.missing)))
        return right._replace(value=right.value + (share - 1.0) * np.array(entropies))

    rule = q_hidden.HiddenRule(solve, is_random=False, is_bound=True)
    wrong, case = Algorithm("vbem", rule, VBEM.q_theta), make_case(name)
    found = relative_slopes(case, wrong, at_rest(case, wrong))
    assert max(found) > STEEP, found


def test_a_fall_of_f_is_told_also_where_statistics_are_not_shaped_like_theta():
    """The update is wrong, so it leads away from where the right model ended."""
    case = make_case("gaps")
    best = at_rest(case, VBEM)
    wrong = case._replace(model=ForgottenShrinkage(2, 2))
    begun = state_at(wrong.model, wrong.units, VBEM, best.eta)
    with pytest.raises(ArithmeticError, match=r"^F fell by \d"):
        fit(wrong.model, wrong.units, VBEM, begun, tol=0.0)
