"""A fitted linear dynamical system: what it knows of states, missing outputs and the future."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtri

from jensen.inference.regression import check_level
from jensen.q_hidden import gaussian_chain, known_chain
from jensen.q_hidden.chain_forms import chain_of, filling_of
from jensen.q_hidden.gaussian_chain import GaussianChain, SeriesRows, StateMoments
from jensen.q_hidden.known_chain import KnownChain, StateSpace, root_of, simulate
from jensen.support.json_values import Checked, as_checked, plain_array, read_array

Array = NDArray[np.float64]


class StateEstimates(NamedTuple):
    """What is known of the states of steps: Gaussians.

    Attributes
    ----------
    mean : array
        (T, K): their means.
    covariance : array
        (T, K, K): their covariances.
    """

    mean: Array
    covariance: Array

    def interval(self, level: float = 0.9) -> tuple[Array, Array]:
        """Where each state is with this probability: lower and upper bounds (T, K).

        A state of which nothing is known yet has an interval without bounds.
        """
        check_level(level)
        half = float(ndtri(0.5 + 0.5 * level)) * np.sqrt(
            np.diagonal(self.covariance, axis1=1, axis2=2)
        )
        middle = np.where(np.isinf(half), 0.0, self.mean)
        return middle - half, middle + half


class Ahead(NamedTuple):
    """Outputs of steps ahead at one θ: Gaussians, and where each sequence ended."""

    states: Array  # (S, h, K)
    mean: Array  # (S, h, D)
    variance: Array  # (S, h, D)
    last: Array  # (S, K): the mean of the last state that was there
    last_spread: Array  # (S, K, K)


@dataclass(frozen=True, eq=False)
class FittedDynamics:
    """What was learned; states are told at `point`, outputs are averaged over samples."""

    point: StateSpace
    n_free: int
    n_live: int | None = None  # how many states there are; None: all of them
    eta: Any = None  # q(θ), in units of the model
    samples: StateSpace | None = None  # with an axis of samples in front

    @property
    def n_parameters(self) -> int:
        """How many free parameters: coordinates of the states are none."""
        return self.n_free

    @property
    def has_posterior(self) -> bool:
        """After VB."""
        return self.eta is not None

    @property
    def n_samples(self) -> int | None:
        """How many samples of the parameters there are; None if there is none."""
        return None if self.samples is None else len(self.samples.offset)

    def points(self) -> Iterator[StateSpace]:
        """The parameters, or every sample of them."""
        if self.samples is None:
            yield self.point
        else:
            for k in range(len(self.samples.offset)):
                yield StateSpace(*(part[k] for part in self.samples))

    # --- questions ---

    def log_likelihood(self, rows: SeriesRows) -> Array:
        """Log p of every sequence, what is missing integrated out."""
        found = [_evidence(chain_of(point, rows)) for point in self.points()]
        return np.asarray(logsumexp(found, axis=0) - np.log(len(found)))

    def filter(self, rows: SeriesRows) -> StateEstimates:
        """States given the steps up to each."""
        found = known_chain.filtered(KnownChain(self.point, rows))
        return StateEstimates(found.mean, found.spread)

    def smooth(self, rows: SeriesRows) -> StateEstimates:
        """States given all steps."""
        found = _smooth(chain_of(self.point, rows))
        assert found.spread is not None
        return StateEstimates(found.mean, found.spread)

    def sample_states(self, rows: SeriesRows, n: int, rng: np.random.Generator) -> Array:
        """(n, T, K): states drawn given all steps, at the parameters that are shown."""
        chain = chain_of(self.point, rows)
        draw = gaussian_chain.drawn if isinstance(chain, GaussianChain) else known_chain.drawn
        return np.stack([draw(chain, rng).mean for _ in range(n)])  # type: ignore[arg-type]

    def expected_outputs(self, rows: SeriesRows) -> Array:
        """(T, D): what is expected of outputs that are missing; of others what the states say."""
        total, n = np.zeros(rows.values.shape), 0
        for point in self.points():
            mean = _smooth(chain_of(point, rows)).mean
            w = np.column_stack([rows.inputs, mean])
            found = filling_of(point, rows.seen)
            total += np.einsum("tde,te->td", found.known[rows.owner], rows.values)
            total += np.einsum("tdw,tw->td", found.guess[rows.owner], w)
            n += 1
        return total / n

    def look_ahead(self, rows: SeriesRows, inputs: Array, h: int) -> list[Ahead]:
        """Outputs of the h steps after each sequence, at every θ; inputs are (S, h, U)."""
        longer, last = _extended(rows, inputs, h)
        return [_ahead(point, longer, last, h) for point in self.points()]

    def sample(self, rows: SeriesRows, rng: np.random.Generator) -> tuple[Array, Array]:
        """Outputs (T, D) and states of sequences of these lengths and inputs."""
        points = list(self.points())
        point = points[int(rng.integers(len(points)))] if len(points) > 1 else points[0]
        states, outputs = simulate(point, rows, rng)
        return outputs, states

    # --- as plain data ---

    def to_dict(self) -> dict[str, Any]:
        """All that was learned as plain data."""
        from jensen.models.dynamics_record import plain_eta

        found: dict[str, Any] = {"free_parameters": int(self.n_free)}
        if self.n_live is not None:
            found["live_states"] = int(self.n_live)
        found["parameters"] = plain_point(self.point)
        if self.eta is not None:
            found["posterior"] = plain_eta(self.eta)
        if self.samples is not None:
            found["samples"] = plain_point(self.samples)
        return found

    @classmethod
    def from_dict(cls, value: Any) -> Self:
        """The inverse of `to_dict`, also by way of JSON."""
        from jensen.models.dynamics_record import read_eta

        needed = {"free_parameters", "parameters"}
        members = as_checked(value).fields(needed, {"live_states", "posterior", "samples"})
        point = read_point(members["parameters"], ())
        live = members["live_states"].whole() if "live_states" in members else None
        eta, samples = None, None
        if "posterior" in members:
            eta = read_eta(members["posterior"], point)
        if "samples" in members:
            n = len(list(members["samples"].members()["offset"].items()))
            samples = read_point(members["samples"], (n,))
        return cls(point, members["free_parameters"].whole(), live, eta, samples)


def plain_point(point: StateSpace) -> dict[str, Any]:
    """Parameters by name; a part without numbers is left out."""
    return {n: plain_array(x) for n, x in point._asdict().items() if np.size(x)}


def read_point(value: Checked, axes: tuple[int, ...]) -> StateSpace:
    """What `plain_point` gave, with these axes in front."""
    members = value.members()
    inputs = {"input_transition", "input_loadings"}
    members = value.fields(set(StateSpace._fields) - inputs, inputs)

    def size(name: str, *where: int) -> int:
        part: Any = members[name].value
        for _ in (*axes, *where):
            if not isinstance(part, list) or not part:
                members[name].fail("must be nested lists of numbers")
            part = part[0]
        if not isinstance(part, list):
            members[name].fail("must be nested lists of numbers")
        return len(part)

    K, D = size("transition"), size("offset")
    U = size("input_transition", 0) if "input_transition" in members else 0
    shapes = {
        "transition": (K, K), "input_transition": (K, U), "process_covariance": (K, K),
        "loadings": (D, K), "input_loadings": (D, U), "offset": (D,), "noise_covariance": (D, D),
        "initial_mean": (K,), "initial_covariance": (K, K), "diffuse": (K,),
    }  # fmt: skip
    parts = {
        name: read_array(members[name], (*axes, *shape)) if name in members
        else np.zeros((*axes, *shape))
        for name, shape in shapes.items()
    }  # fmt: skip
    for name in ("process_covariance", "noise_covariance", "initial_covariance"):
        values = np.linalg.eigvalsh(parts[name])
        if (values < -1e-9 * np.abs(values).max(initial=1e-300)).any():
            members[name].fail("is no covariance: it has a negative eigenvalue")
    return StateSpace(**parts)


# --- at one θ ---


def _smooth(chain: GaussianChain | KnownChain) -> StateMoments:
    if isinstance(chain, GaussianChain):
        return gaussian_chain.smooth(chain)
    return known_chain.smooth(chain)


def _evidence(chain: GaussianChain | KnownChain) -> Array:
    if isinstance(chain, GaussianChain):
        return gaussian_chain.solve(chain).value
    return known_chain.log_evidence(chain)


def _extended(rows: SeriesRows, inputs: Array, h: int) -> tuple[SeriesRows, NDArray[np.int64]]:
    """Sequences with h further steps of which nothing is known; where the known ones end."""
    lengths = np.diff(rows.ptr)
    ptr = np.append(0, np.cumsum(lengths + h))
    values = np.full((int(ptr[-1]), rows.values.shape[1]), np.nan)
    wide = np.zeros((int(ptr[-1]), rows.inputs.shape[1] - 1))
    for s, n in enumerate(lengths):
        a, b = rows.ptr[s], rows.ptr[s + 1]
        shown = rows.seen[rows.owner[a:b]] > 0.0
        values[ptr[s] : ptr[s] + n] = np.where(shown, rows.values[a:b], np.nan)
        wide[ptr[s] : ptr[s] + n] = rows.inputs[a:b, 1:]
        wide[ptr[s] + n : ptr[s + 1]] = inputs[s]
    return SeriesRows.of(values, wide, ptr, rows.weight), np.asarray(ptr[1:] - h - 1)


def _ahead(point: StateSpace, rows: SeriesRows, last: NDArray[np.int64], h: int) -> Ahead:
    found = _smooth(chain_of(point, rows))
    assert found.spread is not None
    at = last[:, None] + 1 + np.arange(h)
    w = np.concatenate([rows.inputs[at], found.mean[at]], axis=-1)
    spread = np.einsum("dk,shkl,dl->shd", point.loadings, found.spread[at], point.loadings)
    variance = np.maximum(spread, 0.0) + np.diagonal(point.noise_covariance)
    return Ahead(
        found.mean[at], w @ point.outputs.T, variance, found.mean[last], found.spread[last]
    )


def draw_ahead(
    point: StateSpace, ahead: Ahead, inputs: Array, n: int, rng: np.random.Generator
) -> Array:
    """(S, n, h, D): outputs drawn jointly."""
    S, h, D = ahead.mean.shape
    K = len(point.transition)
    found = np.empty((S, n, h, D))
    process, noise = root_of(point.process_covariance), root_of(point.noise_covariance)
    for s in range(S):
        start = root_of(ahead.last_spread[s])
        x = ahead.last[s] + rng.standard_normal((n, K)) @ start.T
        for step in range(h):
            push = point.input_transition @ inputs[s, step]
            x = x @ point.transition.T + push + rng.standard_normal((n, K)) @ process.T
            w = np.column_stack([np.ones(n), np.tile(inputs[s, step], (n, 1)), x])
            found[s, :, step] = w @ point.outputs.T + rng.standard_normal((n, D)) @ noise.T
    return found
