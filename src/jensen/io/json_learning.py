"""How a model was learned, as it stands in Jensen's JSON: choices, and what came of them.

Members that have their usual value are left out, so that most files stay short.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import label_text
from jensen.exceptions import JensenError
from jensen.io.checked import Checked
from jensen.models.priors import make_prior

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork

NEEDED = frozenset({"method", "prior", "equivalent_sample_size"})
WHOLE = ("n_init", "max_iter", "n_samples", "burn_in", "thin", "n_chains")
OPTIONAL = frozenset({"hidden", "tol", "random_state", *WHOLE})
LEARNED = ("free_energy", "is_bound", "trace", "n_sweeps", "converged")
OF_STARTS = frozenset({"starts", "r_hat", "effective_sample_size"})


# --- choices ---


def plain_choices(net: BayesianNetwork) -> dict[str, Any]:
    """What the user chose; not `start`, which may be a network, and no random generator."""
    chosen: dict[str, Any] = {
        "method": net.method,
        "prior": plain_prior(net.prior),
        "equivalent_sample_size": float(net.equivalent_sample_size),
    }
    if net.hidden:
        chosen["hidden"] = {name: _plain_states(x) for name, x in net.hidden.items()}
    return chosen | plain_loop(net)


def plain_loop(estimator: Any) -> dict[str, Any]:
    """Where the loop starts and ends, of whatever is learned; what is usual is left out."""
    usual = usual_choices(estimator)
    others: dict[str, Any] = {name: int(getattr(estimator, name)) for name in WHOLE}
    others["tol"] = float(estimator.tol)
    chosen = {name: value for name, value in others.items() if value != usual[name]}
    if isinstance(estimator.random_state, Integral):
        chosen["random_state"] = int(estimator.random_state)
    return chosen


def usual_choices(estimator: Any) -> dict[str, Any]:
    """The default of every choice."""
    parameters = inspect.signature(type(estimator)).parameters
    return {name: parameter.default for name, parameter in parameters.items()}


def read_choices(value: Checked) -> dict[str, Any]:
    """Choices as `BayesianNetwork` takes them."""
    members = value.fields(NEEDED, OPTIONAL)
    chosen: dict[str, Any] = {
        "prior": _read_prior(members["prior"]),
        "equivalent_sample_size": members["equivalent_sample_size"].number(),
    }
    if "hidden" in members:
        hidden = members["hidden"].members()
        chosen["hidden"] = {name: _read_states(states) for name, states in hidden.items()}
    return chosen | read_loop(members)


def read_loop(members: Mapping[str, Checked]) -> dict[str, Any]:
    """The method, and what there is of the other choices about the loop."""
    method = members["method"]
    chosen: dict[str, Any] = {"method": None if method.is_null() else method.text()}
    chosen |= {name: members[name].whole() for name in WHOLE if name in members}
    if "tol" in members:
        chosen["tol"] = members["tol"].number()
    if "random_state" in members:
        chosen["random_state"] = members["random_state"].whole()
        if chosen["random_state"] < 0:
            members["random_state"].fail("must not be negative")
    return chosen


def check_choices(net: BayesianNetwork) -> None:
    """Refuse choices that `fit` would refuse whatever the data: no file holds such."""
    from jensen.estimators.choices import Choices

    network = net.require_network()
    names = ("prior", "equivalent_sample_size", "method", "tol", *WHOLE)
    Choices(**{name: getattr(net, name) for name in names}).check()
    make_prior(
        net.prior,
        net.equivalent_sample_size,
        network.graph.nodes,
        network.wiring,
        np.zeros(len(network.tables)),
    )
    for name, states in (net.hidden or {}).items():
        known = network.variables[network.index(name)].states
        plain = _plain_states(states)
        if plain not in (len(known), list(known)):
            raise JensenError(
                f"hidden gives {name!r} the states {plain!r:.80}, but the network has {list(known)}"
            )


def plain_prior(prior: Any) -> Any:
    """Concentrations as floats, so that a file is the same when it is written again."""
    if isinstance(prior, Mapping):
        return {name: plain_prior(part) for name, part in prior.items()}
    return prior if prior is None or isinstance(prior, str) else np.asarray(prior, float).tolist()


def _plain_states(states: Any) -> int | list[str]:
    """The number of states of a hidden variable, or their labels."""
    return int(states) if isinstance(states, Integral) else [label_text(x) for x in states]


def _read_prior(value: Checked) -> Any:
    if value.is_null():
        return None
    if isinstance(value.value, str):
        return value.text()
    if isinstance(value.value, dict):
        return {name: read_concentrations(part) for name, part in value.members().items()}
    return value.number()


def read_concentrations(value: Checked) -> Any:
    """A number, or nested lists of numbers that are all equally long."""
    if not isinstance(value.value, list):
        return value.number()
    try:
        array = np.array(value.value, np.float64)
    except (TypeError, ValueError, OverflowError):
        value.fail("must be a number, or nested lists of numbers shaped as the table")
    return array


def _read_states(value: Checked) -> int | list[str]:
    return value.texts() if isinstance(value.value, list) else value.whole()


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


def read_learned(net: Any, value: Checked, *, has_posterior: bool, n_samples: int | None) -> None:
    """Set what `fit` sets, but the parameters, which the estimator holds already."""
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
    if net.is_bound_ != has_posterior:
        members["is_bound"].fail("must be true if there is a posterior, and false if there is none")
    if net.trace_.ndim == 1:
        _check_ascent(net, members)
    elif n_samples is not None and n_samples != net.trace_.size:
        members["trace"].fail(f"has {net.trace_.size} values, but there are {n_samples} samples")


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
