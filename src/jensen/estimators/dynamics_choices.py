"""What people say of a linear dynamical system: what is held, where it starts, its prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.estimators.factor_estimator import read_factor_prior
from jensen.exceptions import DataError, JensenError
from jensen.families.linear_block import blocks_of
from jensen.free_energy import Algorithm
from jensen.models.emissions.priors import check_names
from jensen.models.factor_parameters import FactorPrior
from jensen.q_hidden.known_chain import StateSpace
from jensen.support.text import one_of, option, plural, some

Array = NDArray[np.float64]

NOISES = ("diagonal", "isotropic", "full")
PROCESSES = ("full", "diagonal", "identity")
INITIALS = ("known", "spread", "diffuse", "learn")
PARTS = StateSpace._fields[:-1]
COVARIANCES = ("process_covariance", "noise_covariance", "initial_covariance")


def read_fixed(estimator: Any, sizes: tuple[int, int, int], algorithm: Algorithm) -> StateSpace:
    """Parameters in which NaN is learned; of D outputs, U inputs, K states."""
    K = sizes[2]
    given = {} if estimator.fixed is None else estimator.fixed
    if not isinstance(given, Mapping):
        raise JensenError(
            f"fixed must be a dict of parameters, NaN where they are learned, not {given!r:.60}"
        )
    check_names(given, PARTS, "fixed")
    shapes = shapes_of(*sizes)
    parts = {name: np.full(shape, np.nan) for name, shape in shapes.items()}
    parts["noise_covariance"] = _pattern(estimator.noise, shapes["noise_covariance"], NOISES)
    process = _process(estimator, given, algorithm)
    parts["process_covariance"] = _pattern(process, (K, K), PROCESSES)
    parts |= {name: read_part(given[name], name, shapes[name], "fixed") for name in given}
    mean, covariance, diffuse = _initial(estimator.initial, given, K)
    parts["initial_mean"], parts["initial_covariance"] = mean, covariance
    for name in COVARIANCES:
        check_covariance(parts[name], name)
    found = StateSpace(**parts, diffuse=diffuse)
    _check_rows_that_move(found)
    if not algorithm.seeks_mode or estimator.prior is not None:
        _check_posterior(found)
    elif diffuse.any() and np.isnan([*found.transition.ravel(), *found.loadings.ravel()]).any():
        raise JensenError(
            "of a diffuse start the likelihood has no bound where transition or loadings are "
            f"learned: hold them in fixed=, use {option('initial', 'known')}, or give a prior"
        )
    return found


def shapes_of(D: int, U: int, K: int) -> dict[str, tuple[int, ...]]:
    """The shape of every parameter."""
    return {
        "transition": (K, K),
        "input_transition": (K, U),
        "process_covariance": (K, K),
        "loadings": (D, K),
        "input_loadings": (D, U),
        "offset": (D,),
        "noise_covariance": (D, D),
        "initial_mean": (K,),
        "initial_covariance": (K, K),
    }


def read_part(value: Any, name: str, shape: tuple[int, ...], choice: str) -> Array:
    """Numbers of this shape, or one for all; NaN is learned."""
    try:
        found = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        found = np.full(1, np.inf)
    if np.isinf(found).any() or (found.shape != shape and found.ndim > 0):
        raise JensenError(f"{name} of {choice}= must be numbers of the shape {shape}")
    if found.ndim == 0 and name in COVARIANCES:
        return np.diag(np.full(shape[0], float(found)))
    return np.array(np.broadcast_to(found, shape))


def _pattern(word: str, shape: tuple[int, ...], words: tuple[str, ...]) -> Array:
    """A covariance in which NaN is learned."""
    if word not in words:
        name = "noise" if words is NOISES else "process"
        raise JensenError(f"{name} must be {one_of(name, words)}, not {word!r:.40}")
    n = shape[0]
    if word == "identity":
        return np.eye(n)
    return np.full(shape, np.nan) if word == "full" else np.diag(np.full(n, np.nan))


def _process(estimator: Any, given: Mapping[str, Any], algorithm: Algorithm) -> str:
    """The noise of the states, as the caller or the method has it."""
    if estimator.process is not None:
        found: str = estimator.process
        return found
    if algorithm.seeks_mode and estimator.prior is None:
        return "full"
    return "diagonal" if {"transition", "loadings"} & {*given} else "identity"


def _initial(word: Any, given: Mapping[str, Any], K: int) -> tuple[Array, Array, Array]:
    """Mean and covariance of first states, and which of them are diffuse."""
    mean, covariance, diffuse = np.zeros(K), np.eye(K), np.zeros(K)
    if isinstance(word, str):
        if word not in INITIALS:
            raise JensenError(f"initial must be {one_of('initial', INITIALS)}, not {word!r:.40}")
        if word == "diffuse":
            diffuse = np.ones(K)
        elif word == "learn":
            mean, covariance = np.full(K, np.nan), np.full((K, K), np.nan)
    elif isinstance(word, Mapping):
        check_names(word, ("mean", "covariance", "diffuse"), "initial")
        mean = read_part(word.get("mean", mean), "initial_mean", (K,), "initial")
        usual = word.get("covariance", covariance)
        covariance = read_part(usual, "initial_covariance", (K, K), "initial")
        diffuse = read_part(word.get("diffuse", diffuse), "diffuse", (K,), "initial")
        if not np.isin(diffuse, (0.0, 1.0)).all():
            raise JensenError("diffuse of initial= must be 0 or 1 for each state")
    else:
        raise JensenError(
            f"initial must be {one_of('initial', INITIALS)}, or a dict of mean and covariance, not "
            f"{word!r:.60}"
        )
    for name in ("initial_mean", "initial_covariance"):
        if name in given:
            raise JensenError(f"{name} stands in fixed=: write initial={{...}} instead")
    return mean, covariance, diffuse


def check_covariance(value: Array, name: str) -> None:
    """Refuse what is no covariance, and blocks of which a part is held."""
    free = np.isnan(value)
    if (
        not np.array_equal(np.where(free, 0.0, value), np.where(free, 0.0, value).T)
        or (free != free.T).any()
    ):
        raise JensenError(f"{name} must be symmetric")
    for block in blocks_of(value):
        part = value[np.ix_(block, block)]
        if np.isnan(part).any() and not np.isnan(part).all():
            raise JensenError(
                f"{name} holds a part of a block whose rest is learned: hold the whole block, or "
                f"put NaN (learned) in all of it and 0 between blocks"
            )
        if not np.isnan(part).any() and np.linalg.eigvalsh(part)[0] < -1e-9 * np.abs(part).max():
            raise JensenError(f"{name} is no covariance: it has a negative eigenvalue")


def _check_rows_that_move(fixed: StateSpace) -> None:
    """States without noise follow exactly: nothing could be learned of how."""
    still = np.diagonal(fixed.process_covariance) == 0.0
    if np.isnan(fixed.moves[still]).any():
        k = int(np.flatnonzero(still & np.isnan(fixed.moves).any(1))[0])
        raise JensenError(
            f"state {k} has no noise (process_covariance 0), so that rows never move its "
            f"transition: hold that row in fixed=, or give it noise"
        )
    bare = np.diagonal(fixed.noise_covariance) == 0.0
    if np.isnan(fixed.outputs[bare]).any():
        d = int(np.flatnonzero(bare & np.isnan(fixed.outputs).any(1))[0])
        raise JensenError(
            f"output {d} has no noise (noise_covariance 0), so that rows never move its loadings: "
            f"hold its loadings, input_loadings and offset in fixed=, or give it noise"
        )


def _check_posterior(fixed: StateSpace) -> None:
    """Refuse what has no conjugate prior here."""
    for name in ("process_covariance", "noise_covariance"):
        value = getattr(fixed, name)
        if len(blocks_of(value)) < len(value):
            raise JensenError(
                f"under a prior noise is independent: {name} must be diagonal "
                f"({option('noise', 'diagonal')}, {option('process', 'diagonal')})"
            )
        if (np.diagonal(value) == 0.0).any():
            raise JensenError(
                f"under a prior all noise has a density, and {name} holds a 0: leave out prior= "
                f"and use {option('method', 'em')}"
            )
    if np.isnan(fixed.initial_mean).any() or np.isnan(fixed.initial_covariance).any():
        raise JensenError(
            f"under a prior first states are known or diffuse, and initial= learns them: use "
            f"{option('initial', 'known')} or {option('initial', 'diffuse')}"
        )
    held = fixed.initial_covariance[np.ix_(fixed.diffuse == 0.0, fixed.diffuse == 0.0)]
    if len(held) and np.linalg.eigvalsh(held)[0] <= 0.0:
        raise JensenError("under a prior the covariance of first states must be above 0")


def check_initial(fixed: StateSpace, n_sequences: int) -> None:
    """Refuse a covariance of first states that would go to 0."""
    K = len(fixed.initial_mean)
    if np.isnan(fixed.initial_covariance).any() and n_sequences < K + 2:
        raise DataError(
            f"{plural(n_sequences, 'sequence')} cannot tell the covariance of "
            f"{plural(K, 'first state')}: it would go to 0. Hold it, as in "
            f"initial={{'mean': nan, 'covariance': 1}}, or use {option('initial', 'diffuse')}"
        )


def read_dynamics_prior(
    estimator: Any, algorithm: Algorithm
) -> tuple[FactorPrior | None, Mapping[str, Any]]:
    """The prior of all parts; None if it is flat."""
    return read_factor_prior(estimator.prior, algorithm, ("scale",))


def read_inputs(inputs: Any, names: Sequence[str]) -> tuple[list[int], list[int]]:
    """Which columns are outputs, and which are inputs."""
    given = [inputs] if isinstance(inputs, str) else list(inputs)
    found = []
    for one in given:
        whole = isinstance(one, int | np.integer) and not isinstance(one, bool)
        if whole and 0 <= int(one) < len(names):
            found.append(int(one))
        elif isinstance(one, str) and one in names:
            found.append(list(names).index(one))
        else:
            raise JensenError(
                f"inputs names {one!r:.40}, which is no column: there are {some(list(names))}"
            )
    if len(set(found)) < len(found):
        raise JensenError("inputs names a column twice")
    rest = [i for i in range(len(names)) if i not in found]
    if not rest:
        raise DataError("all columns are inputs: leave one to be explained")
    return rest, found
