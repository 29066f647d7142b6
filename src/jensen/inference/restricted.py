"""A restricted Boltzmann machine as a frozen result, and the questions put to it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import TooLargeError
from jensen.q_hidden.restricted import (
    RestrictedMoments,
    RestrictedParameters,
    RestrictedUnits,
    all_states,
    bit_rows,
    expected,
    log_weights,
    logistic,
    softplus,
)
from jensen.support.json_values import as_checked, plain_record, read_array

Array = NDArray[np.float64]

MOST_LISTED = 20
"""The most units of a side whose states are listed."""
TEMPERATURES = 2000
RUNS = 200
"""Of annealed importance sampling."""
SWEEPS = 500
"""Of the chains that draw rows where no side can be listed."""


class LogZ(NamedTuple):
    """Log Z, and what kind of number it is."""

    value: float
    kind: Literal["exact", "estimate"]
    error: float = 0.0  # standard error of an estimate, as far as its runs can tell

    def __repr__(self) -> str:
        more = "" if self.kind == "exact" else f" ± {self.error:.2g}"
        return f"log Z = {self.value:.6f}{more} ({self.kind})"


@dataclass(frozen=True)
class FittedRestricted:
    """Biases and weights of units 0 and 1.

    Parameters
    ----------
    visible, hidden
        (V,) and (H,): biases.
    weights
        (V, H).
    """

    visible: Array
    hidden: Array
    weights: Array

    @property
    def parameters(self) -> RestrictedParameters:
        """As potentials have them."""
        return RestrictedParameters(self.visible, self.hidden, self.weights)

    @property
    def n_parameters(self) -> int:
        """Biases and weights."""
        return int(self.weights.size + len(self.visible) + len(self.hidden))

    @property
    def has_posterior(self) -> bool:
        """False."""
        return False

    @property
    def n_samples(self) -> None:
        """None."""
        return

    def to_dict(self) -> dict[str, Any]:
        """The parameters as plain data."""
        return plain_record(self.parameters)  # type: ignore[no-any-return]

    @classmethod
    def from_dict(cls, value: Any) -> Self:
        """The inverse of `to_dict`, also by way of JSON."""
        members = as_checked(value).fields({"visible", "hidden", "weights"})
        visible, hidden = (
            read_array(members[name], (len(list(members[name].items())),))
            for name in ("visible", "hidden")
        )
        return cls(visible, hidden, read_array(members["weights"], (len(visible), len(hidden))))

    @property
    def is_listed(self) -> bool:
        """Whether all states of a side can be listed."""
        return bool(min(self.weights.shape) <= MOST_LISTED)

    @cached_property
    def log_z(self) -> LogZ:
        """Exact where a side can be listed, else by annealed importance sampling."""
        if self.is_listed:
            return LogZ(all_states(self.parameters)[0], "exact")
        return annealed_log_z(self.parameters, np.random.default_rng(0))

    def expected(self, values: Array) -> tuple[Array, list[RestrictedMoments]]:
        """Log Σ over what each row hides; expected states of each row's units."""
        value, found = np.empty(len(values)), []
        for i in range(len(values)):
            units = RestrictedUnits(self.parameters, values[i : i + 1], np.ones(1))
            each, moments = expected(units)
            value[i] = each[0]
            found.append(moments)
        return value, found

    def check_rows(self, values: Array) -> None:
        """Refuse rows of which too many states would have to be listed."""
        gone = np.isnan(values).sum(1)
        most = int(np.minimum(gone, len(self.hidden)).max(initial=0))
        if most > MOST_LISTED:
            row = int(np.minimum(gone, len(self.hidden)).argmax())
            raise TooLargeError(
                f"row {row + 1} misses {gone[row]} bits over {len(self.hidden)} hidden units, and "
                f"all states of one or the other would have to be listed: {MOST_LISTED} is the "
                f"most. Fill the rows in first, with impute(X, method='draw')"
            )

    def log_likelihood(self, values: Array) -> Array:
        """Log p(row), what is missing summed out."""
        gaps = np.isnan(values).any(1)
        found = np.empty(len(values))
        found[~gaps] = log_weights(self.parameters, values[~gaps])
        if gaps.any():
            self.check_rows(values)
            found[gaps] = self.expected(values[gaps])[0]
        return found - self.log_z.value

    def transform(self, values: Array) -> Array:
        """P(h = 1 | row), (n, H)."""
        gaps = np.isnan(values).any(1)
        found = np.empty((len(values), len(self.hidden)))
        found[~gaps] = logistic(values[~gaps] @ self.weights + self.hidden)
        if gaps.any():
            self.check_rows(values)
            found[gaps] = [moments.hidden for moments in self.expected(values[gaps])[1]]
        return found

    def probable(self, values: Array) -> Array:
        """Rows (n, V) in which a missing bit is its probability given the rest."""
        found = values.copy()
        gaps = np.isnan(values).any(1)
        if gaps.any():
            self.check_rows(values)
            found[gaps] = [moments.visible for moments in self.expected(values[gaps])[1]]
            found = np.where(np.isnan(values), found, values)
        return found

    def redraw(self, values: Array, rng: np.random.Generator, n_sweeps: int) -> Array:
        """Rows in which missing bits are drawn by so many sweeps."""
        gone = np.isnan(values)
        v = np.where(gone, (rng.random(values.shape) < 0.5).astype(np.float64), values)
        for _ in range(n_sweeps):
            h = logistic(v @ self.weights + self.hidden) > rng.random((len(v), len(self.hidden)))
            p = logistic(h @ self.weights.T + self.visible)
            v = np.where(gone, (rng.random(v.shape) < p).astype(np.float64), v)
        return v

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Rows: independent and exact where a side can be listed, else ends of chains."""
        if not self.is_listed:
            return self.redraw(np.full((n, len(self.visible)), np.nan), rng, SWEEPS)
        side = self.parameters
        is_turned = len(self.visible) < len(self.hidden)
        if is_turned:
            side = side.turned
        drawn = _draw_listed(side, n, rng)  # of the smaller side
        if is_turned:
            return drawn
        p = logistic(drawn @ self.weights.T + self.visible)
        return (rng.random(p.shape) < p).astype(np.float64)


def _draw_listed(side: RestrictedParameters, n: int, rng: np.random.Generator) -> Array:
    """Independent states of the units whose states are listed, (n, units)."""
    b, c, ties = side
    chunks = [s @ c + softplus(s @ ties.T + b).sum(1) for s in bit_rows(len(c))]
    logs = np.concatenate(chunks)
    p = np.exp(logs - logs.max())
    numbers = rng.choice(len(p), n, p=p / p.sum())
    return ((numbers[:, None] >> np.arange(len(c))) & 1).astype(np.float64)


def annealed_log_z(
    parameters: RestrictedParameters,
    rng: np.random.Generator,
    n_runs: int = RUNS,
    n_temperatures: int = TEMPERATURES,
) -> LogZ:
    """Log Z by annealed importance sampling from a machine without weights.

    The mean of the weights is unbiased, so its log is low on average; runs that all miss a mode do
    not know it, and so the answer is an estimate and no bound.

    References
    ----------
    Salakhutdinov and Murray (2008), *On the quantitative analysis of deep belief networks*.
    """
    b, c, ties = parameters
    base = float(softplus(b).sum() + len(c) * np.log(2.0))
    v = (rng.random((n_runs, len(b))) < logistic(b)).astype(np.float64)
    logs, betas = np.zeros(n_runs), np.linspace(0.0, 1.0, n_temperatures + 1)
    for before, now in pairwise(betas):
        pre = v @ ties + c
        logs += (softplus(now * pre) - softplus(before * pre)).sum(1)
        h = (rng.random(pre.shape) < logistic(now * pre)).astype(np.float64)
        p = logistic(now * (h @ ties.T) + b)
        v = (rng.random(v.shape) < p).astype(np.float64)
    most = logs.max()
    weights = np.exp(logs - most)
    error = float(weights.std(ddof=1) / weights.mean() / np.sqrt(n_runs))
    return LogZ(base + float(np.log(weights.mean()) + most), "estimate", error)
