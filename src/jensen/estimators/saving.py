"""How a model was learned, as plain data for files: choices, and what came of them.

Members that have their usual value are left out, so that most files stay short.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.inference.fitted import Fitted
from jensen.support.json_values import Checked

WHOLE = ("n_init", "max_iter", "n_samples", "burn_in", "thin", "n_chains")
LEARNED = ("free_energy", "is_bound", "trace", "n_sweeps", "converged")
OF_STARTS = frozenset({"starts", "r_hat", "effective_sample_size"})


# --- choices ---


class Stored(NamedTuple):
    """A choice that files hold."""

    plain: Callable[[Any], Any]
    read: Callable[[Checked], Any]
    is_needed: bool = False  # else it is left out where it has its usual value


def usual_choices(estimator: Any) -> dict[str, Any]:
    """The default of every choice."""
    parameters = inspect.signature(type(estimator)).parameters
    return {name: parameter.default for name, parameter in parameters.items()}


def plain_choices(
    stored: Mapping[str, Stored], chosen: Mapping[str, Any], usual: Mapping[str, Any]
) -> dict[str, Any]:
    """What the user chose, but no random generator."""
    plain = {name: part.plain(chosen[name]) for name, part in stored.items()}
    return {
        name: value
        for name, value in plain.items()
        if stored[name].is_needed or value != stored[name].plain(usual[name])
    }


def needed(stored: Mapping[str, Stored]) -> set[str]:
    """The choices that every file holds."""
    return {name for name, part in stored.items() if part.is_needed}


def read_choices(stored: Mapping[str, Stored], value: Checked) -> dict[str, Any]:
    """Choices as an estimator takes them."""
    members = value.fields(needed(stored), stored.keys() - needed(stored))
    return {name: stored[name].read(member) for name, member in members.items()}


def plain_numbers(prior: Any) -> Any:
    """Numbers as floats, so that a file is the same when it is written again."""
    if isinstance(prior, Mapping):
        return {name: plain_numbers(part) for name, part in prior.items()}
    return prior if prior is None or isinstance(prior, str) else np.asarray(prior, float).tolist()


def read_concentrations(value: Checked) -> Any:
    """A number, or nested lists of numbers that are all equally long."""
    if not isinstance(value.value, list):
        return value.number()
    try:
        array = np.array(value.value, np.float64)
    except (TypeError, ValueError, OverflowError):
        value.fail("must be a number, or nested lists of numbers shaped as the table")
    return array


def text_or_none(value: Checked) -> str | None:
    """A text, or nothing."""
    return None if value.is_null() else value.text()


def _plain_seed(random_state: Any) -> int | None:
    """A whole number; another source of randomness is not stored."""
    return int(random_state) if isinstance(random_state, Integral) else None


def _read_seed(value: Checked) -> int:
    if value.whole() < 0:
        value.fail("must not be negative")
    return value.whole()


METHOD = Stored(lambda method: method, text_or_none, is_needed=True)
LOOP = {
    **{name: Stored(int, Checked.whole) for name in WHOLE},
    "tol": Stored(float, Checked.number),
    "random_state": Stored(_plain_seed, _read_seed),
}
"""Where the loop starts and ends, of whatever is learned."""


# --- results ---


def plain_learned(net: Any) -> dict[str, Any] | None:
    """How the parameters were found, or None if they were not learned."""
    if not hasattr(net, "free_energy_"):
        return None
    found = {
        "free_energy": _plain_number(net.free_energy_),
        "is_bound": bool(net.is_bound_),
        "trace": np.asarray(net.trace_, np.float64).tolist(),
        "n_sweeps": int(net.n_sweeps_),
        "converged": bool(net.converged_),
    }
    starts = np.asarray(net.starts_, np.float64)
    if not np.array_equal(starts, _usual_starts(net)):
        found["starts"] = [None if math.isnan(value) else value for value in starts.tolist()]
    for name in ("r_hat", "effective_sample_size"):
        value = float(getattr(net, f"{name}_"))
        if not math.isnan(value):
            found[name] = _plain_number(value)
    return found


def read_learned(net: Any, value: Checked, fitted: Fitted) -> None:
    """Set what `fit` sets, but the parameters, which are read already."""
    if value.is_null():
        return
    members = value.fields(set(LEARNED), OF_STARTS)
    net.free_energy_ = _read_number(members["free_energy"])
    net.is_bound_ = members["is_bound"].flag()
    net.trace_ = _read_trace(members["trace"])
    net.n_sweeps_ = members["n_sweeps"].whole()
    net.converged_ = members["converged"].flag()
    net.starts_ = _read_starts(members["starts"]) if "starts" in members else _usual_starts(net)
    net.r_hat_, net.effective_sample_size_ = (
        _read_number(members[name]) if name in members else math.nan
        for name in ("r_hat", "effective_sample_size")
    )
    if net.n_sweeps_ < 0:
        members["n_sweeps"].fail("must not be negative")
    if net.is_bound_ != fitted.has_posterior:
        members["is_bound"].fail("must be true if there is a posterior, and false if there is none")
    if net.trace_.ndim == 1:
        _check_ascent(net, members)
    elif fitted.n_samples not in (None, net.trace_.size):
        members["trace"].fail(
            f"has {net.trace_.size} values, but there are {fitted.n_samples} samples"
        )


def _check_ascent(net: Any, members: Mapping[str, Checked]) -> None:
    if math.isnan(net.free_energy_):
        members["free_energy"].fail("may be null for chains only, whose trace is a list of lists")
    if len(net.trace_) == 0 or net.trace_[-1] != net.free_energy_:
        members["trace"].fail("must end in free_energy")
    ended = net.starts_[~np.isnan(net.starts_)]
    if len(ended) == 0 or ended.max() != net.free_energy_:
        members["starts"].fail("must have free_energy as its largest number")


def _usual_starts(net: Any) -> NDArray[np.float64]:
    """One start that ended in F; chains have none."""
    return np.array([net.free_energy_] if np.ndim(net.trace_) == 1 else [], np.float64)


def _read_starts(value: Checked) -> NDArray[np.float64]:
    """F of every start; null where it came to nothing."""
    starts = [math.nan if item.is_null() else item.number() for item in value.items()]
    return np.array(starts, np.float64)


def _read_trace(value: Checked) -> NDArray[np.float64]:
    """A list of numbers, or a list of chains that are equally long."""
    chains = list(value.items())
    if not chains or not all(isinstance(chain.value, list) for chain in chains):
        return value.numbers()
    rows = [chain.numbers() for chain in chains]
    for chain, row in zip(chains, rows, strict=True):
        if len(row) == 0 or len(row) != len(rows[0]):
            chain.fail("must hold one number at least, and as many as every other chain")
    return np.stack(rows)


def _plain_number(value: float) -> float | str | None:
    """JSON has no words for what is not finite: null is not a number, and text says which way."""
    if math.isnan(value):
        return None
    return float(value) if math.isfinite(value) else str(float(value))


def _read_number(value: Checked) -> float:
    if value.is_null():
        return math.nan
    return math.inf if value.value == "inf" else value.number()
