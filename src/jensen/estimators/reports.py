"""How a model was learned: as plain data for files, and in words for people.

In files, members that have their usual value are left out, so that most files stay short.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import label_text
from jensen.estimators.network_choices import NetworkSettings
from jensen.free_energy import Algorithm
from jensen.inference.fitted import Fitted
from jensen.inference.mixed_network import MixedNetwork
from jensen.support.json_values import Checked
from jensen.support.text import plural

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork

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
    "accelerate": Stored(bool, Checked.flag),
    "random_state": Stored(_plain_seed, _read_seed),
}
"""Where the loop starts and ends, of whatever is learned."""


# --- results ---


def plain_learned(net: Any) -> dict[str, Any] | None:
    """How the parameters were found, or None if they were not learned."""
    if not hasattr(net, "free_energy_") or _is_of_a_stream(net):
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


def _is_of_a_stream(net: Any) -> bool:
    """Whether updates ended where no F of all rows is known; chains have none either."""
    return bool(np.ndim(net.trace_) == 1 and math.isnan(net.free_energy_))


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


def plain_states(states: Any) -> int | list[str]:
    """The number of states of a hidden variable, or their labels."""
    return int(states) if isinstance(states, Integral) else [label_text(x) for x in states]


def _plain_hidden(hidden: Mapping[str, Any] | None) -> dict[str, int | list[str]]:
    return {name: plain_states(states) for name, states in (hidden or {}).items()}


def _read_hidden(value: Checked) -> dict[str, int | list[str]]:
    return {
        name: states.texts() if isinstance(states.value, list) else states.whole()
        for name, states in value.members().items()
    }


def read_stored_prior(value: Checked) -> Any:
    """The prior of a file: none, a name, or a number."""
    if value.is_null() or isinstance(value.value, str):
        return text_or_none(value)
    if isinstance(value.value, dict):
        return {name: read_concentrations(part) for name, part in value.members().items()}
    return value.number()


def read_bge(value: Checked) -> Any:
    """The prior of columns of numbers: none, a name, or a scale."""
    if value.is_null() or isinstance(value.value, str):
        return text_or_none(value)
    return {name: _read_part(part) for name, part in value.members().items()}


def _read_part(value: Checked) -> Any:
    if isinstance(value.value, str):
        return value.text()
    if isinstance(value.value, dict):
        return {name: part.number() for name, part in value.members().items()}
    return read_concentrations(value)


def stored_choices(
    read_prior: Callable[[Checked], Any], own: Mapping[str, Stored] | None = None
) -> dict[str, Stored]:
    """Choices in the order of files; not `start`, which may be a network of its own."""
    return {
        "method": METHOD,
        "prior": Stored(plain_numbers, read_prior, is_needed=True),
        "equivalent_sample_size": Stored(float, Checked.number, is_needed=True),
        **(own or {}),
        **LOOP,
    }


LABELS = {
    "mode": Stored(str, Checked.text),
    "fixed": Stored(list, Checked.texts),
    "blocks": Stored(
        lambda blocks: [list(block) for block in blocks],
        lambda value: [block.texts() for block in value.items()],
    ),
    "hidden": Stored(_plain_hidden, _read_hidden),
}
"""Choices of networks with labels."""


# --- in words ---


@dataclass(frozen=True)
class Summary:
    """Text that shows itself."""

    text: str

    def __repr__(self) -> str:
        return self.text


def summarise(net: BayesianNetwork) -> Summary:
    """What was learned and how, and the variables with their parents."""
    network = net.require_any()
    head = "\n".join([repr(net), *learning(net), *network.constants_note()])
    return Summary(f"{head}\n\n{network.listing()}")


def learning(net: Any) -> list[str]:
    """How the parameters of a network or another model were found, if they were learned."""
    if not hasattr(net, "free_energy_"):
        return ["tables given, not learned"]
    if _is_of_a_stream(net):
        return [f"{plural(net.n_updates_, 'update')}; {net.update_}"]
    if net.trace_.ndim == 2:
        return [
            f"{plural(net.trace_.shape[0], 'chain')} of {plural(net.trace_.shape[1], 'sample')}; "
            f"{getattr(net, 'watched', 'log joint')}: R-hat {net.r_hat_:.3f}, effective sample "
            f"size {net.effective_sample_size_:.0f}"
        ]
    ended = "converged" if net.converged_ else "not converged"
    starts = f"; the best of {plural(len(net.starts_), 'start')}" if len(net.starts_) > 1 else ""
    course = f" after {plural(net.n_sweeps_, 'sweep')}, {ended}{starts}"
    return [f"{meaning(net)} {net.free_energy_:.6f}{'' if is_exact(net) else course}"]


def meaning(net: Any) -> str | None:
    """What F is; None after Gibbs, which has none."""
    algorithm, exact = algorithm_of(net), is_exact(net)
    if math.isnan(net.free_energy_):
        return None
    is_estimate = not (algorithm.q_hidden.is_bound or exact)
    if algorithm.keeps_posterior:
        side = "" if exact else "estimate of the " if is_estimate else "lower bound of the "
        return f"{side}log evidence{_strength(net)}"
    of = " of the completed rows" if algorithm.name == "viterbi" and not exact else ""
    below = "lower bound of the " if algorithm.name == "variational-em" else ""
    below = "estimate of the " if is_estimate and not algorithm.q_hidden.is_random else below
    prior = "" if net.prior is None else " + log prior"
    return f"{below}log-likelihood{of}{prior}"


def _strength(net: Any) -> str:
    """How strong the prior of the numbers is beside labels: a score of graphs has its own."""
    network = getattr(net, "network_", None)
    if not isinstance(network, MixedNetwork):
        return ""
    given = net.prior if isinstance(net.prior, Mapping) else {}
    strength, chosen = given.get("strength", network.strength), ", that of the highest evidence"
    if strength is None:  # there are no numbers but counts, or it stands in an older file
        return "" if network.layout.counts else " (numbers: the prior of the highest evidence)"
    return f" (numbers: prior of strength {strength:g}{'' if 'strength' in given else chosen})"


def is_exact(net: Any) -> bool:
    """Whether nothing was missing: only then an ascent is at its end from the start."""
    return algorithm_of(net).ascends and net.converged_ and net.n_sweeps_ == 0


def algorithm_of(net: Any) -> Algorithm:
    """The algorithm that the choices of an estimator name."""
    return NetworkSettings(prior=net.prior, method=net.method).algorithm
