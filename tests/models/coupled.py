"""A small model whose parameters are coupled: regressions on h, which may be missing anywhere.

    y_d = w_dᵀ h + noise of precision ψ_d,  h ~ N(0, I),  w_dk ~ N(0, 1/α_k),  ψ and α are gamma.

q(θ) = q(w) q(ψ) q(α), and no field is a prior plus statistics of rows: w is weighed with ψ and
shrunk by α, ψ is judged by w, and α sees no row at all. Where all of h is missing these are
factors; where nothing is missing it is a regression, which still has to be learned in sweeps.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from jensen.data.blocks import Units
from jensen.families import gamma, log_partition
from jensen.families.gamma import Gamma
from jensen.families.point_mass import PointMass
from jensen.models.protocol import Conjugate
from jensen.q_hidden import GaussianCells
from jensen.q_hidden.gaussian_cells import LOG_2PI, CellPattern, compressed
from jensen.support.fields import add

UNIT_PATTERNS = 2


class Coupled(NamedTuple):
    """Fields of θ, in the order of updates."""

    weights: Any
    noise: Any
    alpha: Any


class Square(NamedTuple):
    """Statistics, which are not shaped like θ: Σ E[z zᵀ] of z = (1, y, h)."""

    square: Any


class Vectors(NamedTuple):
    """η of Gaussian vectors (V m, V); t = (w, -½ w wᵀ)."""

    first: Any  # (D, K)
    strength: Any  # (D, K, K)


class GaussianVectors:
    """One Gaussian vector for each row."""

    def solved(self, eta):
        """V, of which only the symmetric part counts, and m."""
        strength = 0.5 * (eta.strength + np.swapaxes(eta.strength, -1, -2))
        return strength, np.linalg.solve(strength, eta.first[..., None])[..., 0]

    def log_partition(self, eta):
        strength, mean = self.solved(eta)
        size = mean.size * LOG_2PI - np.linalg.slogdet(strength)[1].sum()
        return float(0.5 * (size + (eta.first * mean).sum()))

    def mean_stats(self, eta):
        strength, mean = self.solved(eta)
        return Vectors(mean, -0.5 * (np.linalg.inv(strength) + outer(mean)))

    def mode_stats(self, eta):
        mean = self.solved(eta)[1]
        return Vectors(mean, -0.5 * outer(mean))

    def has_mode(self, eta):
        return bool(np.all(np.linalg.eigvalsh(self.solved(eta)[0]) > 0.0))


VECTORS = GaussianVectors()
NOTHING = Coupled(None, None, None)


def outer(x):
    return x[..., :, None] * x[..., None, :]


def gamma_prior(shape, rate, n):
    return Gamma(np.full(n, shape - 1.0), np.full(n, rate))


@dataclass(frozen=True)
class ArdRegression(Conjugate):
    """D columns on K; `held` fields stay at known values of their t."""

    D: int
    K: int
    noise_prior: tuple = (2.5, 1.5)  # shape and rate
    alpha_prior: tuple = (2.0, 1.0)
    held: Coupled = NOTHING
    family: Any = VECTORS

    @property
    def families(self):
        own = Coupled(self.family, gamma, gamma)
        pairs = zip(own, self.held, strict=True)
        return Coupled(*(f if t is None else PointMass(t) for f, t in pairs))

    @property
    def prior(self):
        """That of the weights is the one at the strengths that are expected beforehand."""
        noise, alpha = self.own_priors
        expected = self.held.alpha if alpha is None else gamma.mean_stats(alpha)
        return Coupled(self.shrinkage(expected), noise, alpha)

    @property
    def own_priors(self):
        """Of noise and alpha; None of what is held."""
        noise = gamma_prior(*self.noise_prior, self.D) if self.held.noise is None else None
        alpha = gamma_prior(*self.alpha_prior, self.K) if self.held.alpha is None else None
        return noise, alpha

    def shrinkage(self, alpha):
        """The prior of the weights at these strengths, E[α] where they are not known."""
        strength = np.broadcast_to(np.diag(-alpha.exposure), (self.D, self.K, self.K))
        return Vectors(np.zeros((self.D, self.K)), strength)

    def encode(self, y, h, weight=None):
        """Rows by what they miss, some patterns a unit."""
        weight = np.ones(len(y)) if weight is None else weight
        z = np.column_stack([np.ones(len(y)), y, h])
        patterns = []
        for missing in np.unique(np.isnan(z), axis=0):
            here = (np.isnan(z) == missing).all(1)
            root = compressed(np.sqrt(weight[here])[:, None] * z[here][:, ~missing])
            places = np.flatnonzero(missing), np.flatnonzero(~missing)
            patterns.append(CellPattern(*places, root, float(weight[here].sum())))
        cut = range(0, len(patterns), UNIT_PATTERNS)
        units = tuple(tuple(patterns[k : k + UNIT_PATTERNS]) for k in cut)
        return Units(units, float(weight.sum()), is_complete=not np.isnan(z).any())

    @property
    def places(self):
        """Of y and of h among z."""
        return slice(1, self.D + 1), slice(self.D + 1, self.D + 1 + self.K)

    def potentials(self, t):
        y, h = self.places
        psi = -t.noise.exposure
        quadratic = np.zeros((1 + self.D + self.K,) * 2)
        quadratic[y, y] = np.diag(psi)
        quadratic[y, h] = -psi[:, None] * t.weights.first
        quadratic[h, y] = quadratic[y, h].T
        quadratic[h, h] = np.eye(self.K) + (psi[:, None, None] * -2.0 * t.weights.strength).sum(0)
        constant = 0.5 * (t.noise.total.sum() - (self.D + self.K) * LOG_2PI)
        return lambda unit: GaussianCells(float(constant), quadratic, unit)

    def expected_stats(self, unit, hidden):
        return Square(hidden.moments)

    def posterior(self, name, stats, t):
        if getattr(self.held, name) is not None:
            return None
        return getattr(self, f"{name}_given")(stats.square, t)

    def weights_given(self, square, t):
        (y, h), psi = self.places, -t.noise.exposure
        rows = Vectors(psi[:, None] * square[y, h], psi[:, None, None] * square[h, h])
        return add(self.prior_given(t)[0].weights, rows)

    def noise_given(self, square, t):
        y, h = self.places
        cross = (t.weights.first * square[y, h]).sum(1)
        left = np.diag(square[y, y]) - 2.0 * cross + (self.squared(t) * square[h, h]).sum((1, 2))
        return add(self.own_priors[0], Gamma(np.full(self.D, 0.5 * square[0, 0]), 0.5 * left))

    def alpha_given(self, square, t):
        length = np.diagonal(self.squared(t), axis1=1, axis2=2).sum(0)
        return add(self.own_priors[1], Gamma(np.full(self.K, 0.5 * self.D), 0.5 * length))

    def squared(self, t):
        """E[w wᵀ]."""
        return -2.0 * t.weights.strength

    def prior_given(self, t):
        priors = Coupled(self.shrinkage(t.alpha), *self.own_priors)
        own = map(log_partition, (gamma, gamma), priors[1:])
        return priors, Coupled(self.weights_normalizer(t), *own)

    def weights_normalizer(self, t):
        """The expected log partition of the prior of the weights."""
        return 0.5 * self.D * (self.K * LOG_2PI - float(self.log_alpha(t).sum()))

    def log_alpha(self, t):
        """E[log α], which is not log E[α]."""
        return t.alpha.total

    # --- what `learn` asks for ---

    def start(self, data, k, rng):
        return self.start_at(rng)

    def start_at(self, rng):
        """A random η; nothing of what is held."""
        first = 5.0 * rng.normal(0.0, 1.0, (self.D, self.K))
        strength = np.broadcast_to(10.0 * np.eye(self.K), (self.D, self.K, self.K)).copy()
        eta = Coupled(
            Vectors(first, strength),
            gamma_prior(4.0, rng.uniform(1.0, 3.0), self.D),
            gamma_prior(3.0, rng.uniform(1.0, 3.0), self.K),
        )
        pairs = zip(eta, self.held, strict=True)
        return Coupled(*(own if t is None else None for own, t in pairs))

    def explain(self, data, t):
        return ValueError("a row is impossible")

    def finish(self, state, *, is_posterior):
        return state
