"""A fitted hidden Markov model, and its answers: likelihoods, states, paths, draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import ImpossibleSequenceError, JensenError
from jensen.families.point_mass import PointMass
from jensen.inference.mixtures import FittedStates
from jensen.models.hidden_markov import Chained, HiddenMarkov, Sequences, groups
from jensen.models.state_model import unflatten
from jensen.q_hidden.states import chain
from jensen.q_hidden.structures import Chain
from jensen.support.machine import check_many, ordered_map

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


class Steps(NamedTuple):
    """Rows of sequences, one sequence after the other."""

    values: Array  # (T, D)
    lengths: Ints  # (S,)


@dataclass(frozen=True, eq=False)
class FittedChain(FittedStates):
    """A fitted hidden Markov model."""

    @property
    def n_parameters(self) -> int:
        """Number of free parameters; held ones and those that a mask forbids do not count."""
        model = self.model
        sizes = {
            "initial": _n_free(model.masks.get("initial"), (model.n_states,)),
            "transition": _n_free(model.masks.get("transition"), model.blank.transition.shape),
            "emission": model.emission.n_parameters,
        }
        return int(sum(size for name, size in sizes.items() if name not in model.held))

    def log_likelihood(self, rows: Steps) -> Array:
        """Log p(sequence); missing values are summed out; -inf if it is impossible."""
        return log_likelihood(self, rows)

    def predict_proba(self, rows: Steps) -> Array:
        """p(state of a step | its sequence), (T, K); an impossible sequence is refused."""
        return smoothed(self, rows)

    def sample(self, n: int | None, rng: np.random.Generator) -> tuple[Array, NDArray[np.intp]]:
        """The rows and states of a sequence of n steps, or until it ends by itself."""
        return draw_sequence(self, n, rng)


def _n_free(mask: NDArray[np.bool_] | None, shape: tuple[int, ...]) -> int:
    """Number of free probabilities of distributions along the last axis."""
    possible = np.ones(shape, bool) if mask is None else mask
    return int((possible.sum(-1) - 1).sum())


def log_likelihood(fitted: FittedStates, steps: Steps) -> Array:
    """(S,): log p(sequence); after Gibbs under the mixture of the samples."""
    return _joined(
        fitted, steps, lambda unit: np.logaddexp.reduce(_log_shares(fitted, unit), axis=0)
    )


def smoothed(fitted: FittedStates, steps: Steps) -> Array:
    """(T, K): p(state of a step | its sequence)."""
    _check_memory(len(steps.values), 16.0 * fitted.model.n_states)
    return _joined(fitted, steps, lambda unit: _mixed(fitted, unit, chain.smoothed, _by_step))


def pair_posteriors(fitted: FittedStates, steps: Steps) -> Array:
    """(T - S, K, K): p(states of two neighbouring steps | their sequence)."""
    _check_memory(len(steps.values), 16.0 * fitted.model.n_states**2)
    return _joined(
        fitted, steps, lambda unit: _mixed(fitted, unit, chain.pair_posteriors, _by_pair)
    )


def filtered(fitted: FittedStates, steps: Steps) -> Array:
    """(T, K): p(state of a step | the sequence up to it)."""
    _refuse_samples(fitted, "filter", "smooth")
    _check_memory(len(steps.values), 16.0 * fitted.model.n_states)
    return _joined(fitted, steps, lambda unit: chain.filtered(next(views(fitted, unit))))


def _check_memory(n_steps: int, n_bytes: float) -> None:
    """Refuse answers that would not fit into memory."""
    check_many(
        n_steps, n_bytes, "steps of probabilities of states", "ask of fewer sequences at a time"
    )


def best_paths(fitted: FittedStates, steps: Steps) -> tuple[Array, Ints]:
    """Log p(sequence, path) (S,) and the states (T,) of the most probable paths."""
    _refuse_samples(fitted, "decode", "predict")
    found = _each(fitted, steps, lambda unit: chain.best_path(next(views(fitted, unit))))
    value = np.concatenate([np.empty(0), *(value for value, _ in found)])
    chain.check_possible(value)
    return value, np.concatenate([np.empty(0, np.int64), *(path for _, path in found)])


def drawn_paths(fitted: FittedStates, steps: Steps, n: int, rng: np.random.Generator) -> Ints:
    """(n, T): paths drawn given the sequences; after Gibbs each from its own sample of θ."""
    check_many(n, 16.0 * max(len(steps.values), 1), "paths of all steps", "draw fewer at a time")
    units = _numbered(_units(fitted, steps))
    drawn = [_with_number(lambda unit: _draw_paths(fitted, unit, n, rng), job) for job in units]
    return np.concatenate([np.empty((n, 0), np.int64), *drawn], axis=1)


def _draw_paths(fitted: FittedStates, unit: Sequences, n: int, rng: np.random.Generator) -> Ints:
    every = list(views(fitted, unit))
    if len(every) == 1:
        return chain.drawn_paths(every[0], n, rng)
    share = _sample_weights(fitted, unit)  # (samples, S)
    paths = np.empty((n, int(unit.ptr[-1])), np.int64)
    chosen = np.stack([rng.choice(len(every), n, p=of_one) for of_one in share.T])  # (S, n)
    for k in np.unique(chosen):
        mine = chosen == k
        drawn = chain.drawn_paths(every[k], int(mine.sum(1).max()), rng)
        for here, a, b in zip(mine, unit.ptr[:-1], unit.ptr[1:], strict=True):
            paths[here, a:b] = drawn[: here.sum(), a:b]
    return paths


def check_draws(fitted: FittedStates, n_steps: int, n_sequences: int) -> None:
    """Refuse sequences that would not fit into memory."""
    steps, n_columns = n_steps * n_sequences, fitted.model.emission.n_columns
    check_many(steps, 8.0 * (4 * n_columns + 6), "steps of sequences", "draw fewer at a time")
    check_many(n_sequences, 512.0, "sequences", "draw fewer at a time")


def draw_sequence(
    fitted: FittedStates, n_steps: int | None, rng: np.random.Generator
) -> tuple[Array, NDArray[np.intp]]:
    """Rows and states of a sequence of n steps, or until it ends by itself.

    All steps share one θ, drawn from the posterior if there is one.
    """
    model: HiddenMarkov = fitted.model
    return model.simulate(draw_parameters(fitted, rng), n_steps, rng)


def draw_parameters(fitted: FittedStates, rng: np.random.Generator) -> Chained:
    """θ drawn from its posterior or its samples; the point estimate if there are neither."""
    if fitted.samples is not None:
        chosen = fitted.samples[rng.integers(len(fitted.samples))]
        return unflatten(fitted.model.blank, chosen)  # type: ignore[no-any-return]
    if fitted.eta is None:
        return fitted.t  # type: ignore[no-any-return]
    families = fitted.model.families
    return Chained(*(f.sample_stats(e, rng) for f, e in zip(families, fitted.eta, strict=True)))


# --- sequences in units, and views of them ---


def _units(fitted: FittedStates, steps: Steps) -> list[Sequences]:
    ptr = np.concatenate([[0], np.cumsum(steps.lengths)])
    return [
        fitted.model.encode_some(steps.values, ptr[a : b + 1], np.ones(b - a))
        for a, b in groups(steps.lengths)
    ]


def _each(fitted: FittedStates, steps: Steps, f: Callable[[Sequences], Any]) -> list[Any]:
    return list(ordered_map(lambda job: _with_number(f, job), _numbered(_units(fitted, steps))))


def _numbered(units: list[Sequences]) -> list[tuple[int, Sequences]]:
    """Every unit, with the number of sequences before it."""
    n = np.cumsum([0, *(len(unit.weight) for unit in units)])
    return list(zip(n[:-1].tolist(), units, strict=True))


def _with_number(f: Callable[[Sequences], Any], job: tuple[int, Sequences]) -> Any:
    """Apply f to a unit; an error names an impossible sequence by its number among all."""
    before, unit = job
    try:
        return f(unit)
    except ImpossibleSequenceError as error:
        raise ImpossibleSequenceError(before + error.number, error.what_to_do) from None


def _joined(fitted: FittedStates, steps: Steps, f: Callable[[Sequences], Array]) -> Array:
    parts = _each(fitted, steps, f)
    return np.concatenate(parts) if parts else f(whole_unit(fitted, steps))


def whole_unit(fitted: FittedStates, steps: Steps) -> Sequences:
    """All sequences in one unit."""
    ptr = np.concatenate([[0], np.cumsum(steps.lengths)]).astype(np.int64)
    unit: Sequences = fitted.model.encode_some(steps.values, ptr, np.ones(len(steps.lengths)))
    return unit


def views(fitted: FittedStates, unit: Sequences) -> Iterator[Chain]:
    """The potentials of sequences: one chain, or one for each sample of θ."""
    model = fitted.model
    if fitted.samples is not None:
        for t in fitted.draws():
            yield model.potentials(t)(unit)
    elif fitted.eta is not None and not isinstance(model.families.emission, PointMass):
        yield model.chain(fitted.t, model.emission.predict(fitted.eta.emission, unit.rows), unit)
    else:
        yield model.potentials(fitted.t)(unit)


def _log_shares(fitted: FittedStates, unit: Sequences) -> Array:
    """(samples, S): log p_s(sequence) - log(number of samples)."""
    found = np.array([chain.log_evidence(view) for view in views(fitted, unit)])
    return np.asarray(found - np.log(len(found)))


def _sample_weights(fitted: FittedStates, unit: Sequences) -> Array:
    """(samples, S): p(sample | sequence), the weight of each sample for each sequence."""
    log_share = _log_shares(fitted, unit)
    total = np.logaddexp.reduce(log_share, axis=0)
    return np.asarray(np.exp(log_share - np.where(total == -np.inf, 0.0, total)))


def _mixed(
    fitted: FittedStates,
    unit: Sequences,
    ask: Callable[[Chain], Array],
    spread: Callable[[Array, Sequences], Array],
) -> Array:
    """The answers of all samples, averaged with their weights for each sequence."""
    if fitted.samples is None:
        return ask(next(views(fitted, unit)))
    shares = _sample_weights(fitted, unit)
    total: Any = 0.0
    for view, share in zip(views(fitted, unit), shares, strict=True):
        answer = ask(view)
        each = spread(share, unit)
        total = total + each.reshape(-1, *[1] * (answer.ndim - 1)) * answer
    return np.asarray(total)


def _by_step(share: Array, unit: Sequences) -> Array:
    return np.repeat(share, np.diff(unit.ptr))


def _by_pair(share: Array, unit: Sequences) -> Array:
    return np.repeat(share, np.diff(unit.ptr) - 1)


def _refuse_samples(fitted: FittedStates, name: str, instead: str) -> None:
    if fitted.samples is not None:
        raise JensenError(
            f"{name} needs one set of parameters, and 'gibbs' leaves many samples: use {instead}, "
            f"which mixes over them"
        )


def parameters_of(fitted: FittedStates) -> Iterator[Chained]:
    """The point estimate of θ, or every sample of it."""
    if fitted.samples is None:
        yield fitted.t
    else:
        yield from fitted.draws()
