"""Fitted models with hidden states; a mixture and its answers: likelihoods, posteriors, draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from jensen.families.point_mass import PointMass
from jensen.models.emissions.derived import draw_predictive
from jensen.models.mixture import UNIT_ROWS, Mixture
from jensen.models.state_model import unflatten
from jensen.q_hidden.states import independent
from jensen.q_hidden.structures import Independent
from jensen.support.json_values import as_checked
from jensen.support.machine import check_many, ordered_map

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FittedStates:
    """A model and its parameters."""

    model: Any  # a Mixture or a HiddenMarkov
    t: Any  # the θ that is shown
    counts: Array  # (K,): expected counts of states
    eta: Any = None  # the posterior, if there is one
    samples: Array | None = None  # (S, width): draws of t, flat
    prior: Any = None  # η₀, to which a posterior and its bound belong
    is_symmetric: bool = False  # whether nothing tells the states apart but what they have made

    @property
    def n_parameters(self) -> int:
        """How many free parameters there are; what is held, or a mask leaves out, is none."""
        raise NotImplementedError

    @property
    def has_posterior(self) -> bool:
        """After VB."""
        return self.eta is not None

    @property
    def n_samples(self) -> int | None:
        """After Gibbs."""
        return None if self.samples is None else len(self.samples)

    def to_dict(self) -> dict[str, Any]:
        """All that is known as plain data."""
        from jensen.inference.states_file import plain_fitted

        return plain_fitted(self)

    @classmethod
    def from_dict(cls, value: Any) -> Self:
        """The inverse of `to_dict`, also by way of JSON."""
        from jensen.inference.states_file import read_fitted

        plain = as_checked(value)
        fitted = read_fitted(plain)
        if not isinstance(fitted, cls):
            plain.fail(f"holds a {type(fitted).__name__}, not a {cls.__name__}")
        return fitted

    def draws(self) -> Iterator[Any]:
        """Every sample of t as a record."""
        assert self.samples is not None
        for flat in self.samples:
            yield unflatten(self.model.blank, flat)


@dataclass(frozen=True, eq=False)
class FittedMixture(FittedStates):
    """A fitted mixture."""

    @property
    def n_parameters(self) -> int:
        """Number of free parameters; held ones do not count."""
        emission = self.model.emission
        depends = getattr(emission, "n_parameters_of", None)  # on what was learned
        inside = emission.n_parameters if depends is None else depends(self.t.components)
        sizes = {"weights": self.model.n_states - 1, "components": inside}
        return int(sum(size for name, size in sizes.items() if name not in self.model.held))

    def log_likelihood(self, rows: Array) -> Array:
        """Log p(row); missing values are summed out; -inf if the row is impossible."""
        return row_posteriors(self, rows)[0]

    def predict_proba(self, rows: Array) -> Array:
        """p(state | row), (n, K); NaN where a row is impossible."""
        log_like, nodes = row_posteriors(self, rows)
        nodes[log_like == -np.inf] = np.nan
        return nodes

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, NDArray[np.intp]]:
        """Rows and the states that made them."""
        return draw_rows(self, n, rng)


def row_posteriors(fitted: FittedStates, values: Array) -> tuple[Array, Array]:
    """Log p(row) (N,) and p(state | row) (N, K), what is missing summed out.

    After VB under the predictive distributions; after Gibbs mixed over samples,
    p(k | x) = Σ_s p_s(k, x) / Σ_s p_s(x).
    """
    n_bytes = 16.0 * fitted.model.n_states
    check_many(len(values), n_bytes, "rows of probabilities of states", "ask of fewer rows")
    blocks = [values[a : a + UNIT_ROWS] for a in range(0, len(values), UNIT_ROWS)]
    parts = list(ordered_map(lambda block: _posteriors(fitted, block), blocks))
    if not parts:
        return np.empty(0), np.empty((0, fitted.model.n_states))
    return np.concatenate([a for a, _ in parts]), np.concatenate([b for _, b in parts])


def _posteriors(fitted: FittedStates, values: Array) -> tuple[Array, Array]:
    found = [independent.row_posteriors(view) for view in _views(fitted, values)]
    if len(found) == 1:
        return found[0]
    value = np.array([log_like for log_like, _ in found])
    total = np.logaddexp.reduce(value, axis=0)
    share = np.exp(value - np.where(total == -np.inf, 0.0, total))
    nodes = sum(s[:, None] * q for s, (_, q) in zip(share, found, strict=True))
    return total - np.log(len(found)), np.asarray(nodes)


def _views(fitted: FittedStates, values: Array) -> Iterator[Independent]:
    """The potentials of rows: one set, or one for each sample of the parameters."""
    emission = fitted.model.emission
    rows, weight = emission.encode(values), np.ones(len(values))
    if fitted.samples is not None:
        for t in fitted.draws():
            yield Independent(t.weights, emission.observe(t.components, rows), weight)
    elif _is_predictive(fitted):
        observed = emission.predict(fitted.eta.components, rows)
        yield Independent(fitted.t.weights, observed, weight)
    else:
        yield Independent(fitted.t.weights, emission.observe(fitted.t.components, rows), weight)


def draw_rows(
    fitted: FittedStates, n: int, rng: np.random.Generator
) -> tuple[Array, NDArray[np.intp]]:
    """Rows and the states that made them; each row with parameters of its own.

    After VB they are drawn from the posterior, after Gibbs from its samples; so rows are as
    probable as `row_posteriors` says. With a point estimate all rows share it.
    """
    check_many(n, 8.0 * (4 * fitted.model.emission.n_columns + 6), "rows", "draw fewer at a time")
    if fitted.samples is None:
        return _draw(fitted, fitted.t, n, rng)
    times = np.bincount(rng.integers(len(fitted.samples), size=n), minlength=len(fitted.samples))
    parts = [_draw(fitted, t, int(k), rng) for t, k in zip(fitted.draws(), times, strict=True) if k]
    order = rng.permutation(n)
    values = np.concatenate([values for values, _ in parts])
    return values[order], np.concatenate([states for _, states in parts])[order]


def _draw(
    fitted: FittedStates, t: Any, n: int, rng: np.random.Generator
) -> tuple[Array, NDArray[np.intp]]:
    model: Mixture = fitted.model
    if not _is_predictive(fitted):
        return model.simulate(t, n, rng)
    states = model.draw_states(t, n, rng)
    return draw_predictive(model.emission, fitted.eta.components, states, rng), states


def _is_predictive(fitted: FittedStates) -> bool:
    """Whether the components have a posterior; held components have none."""
    return fitted.eta is not None and not isinstance(fitted.model.families.components, PointMass)
