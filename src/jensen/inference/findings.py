"""Evidence as codes: findings, likelihoods and interventions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.data.variable import Variable, state_of
from jensen.exceptions import JensenError
from jensen.support.text import some

if TYPE_CHECKING:
    from jensen.inference.table_network import TableNetwork

_LIKELIHOODS = (list, tuple, np.ndarray, Mapping)
"""Types of a likelihood finding; Mapping is last, because its check is the slowest."""


class Findings(NamedTuple):
    """What is known about some variables, by their positions."""

    hard: dict[int, int]  # variable → state
    soft: dict[int, NDArray[np.float64]]  # variable → likelihood of each state
    do: dict[int, int]  # variable → the state it was set to

    def text(self, network: TableNetwork) -> str:
        """For headings and errors: "XRay=abnormal, do(Smoker=yes)"."""
        if not any(self):
            return ""
        parts = [_state_text(network, v, s) for v, s in self.hard.items()]
        parts += [f"likelihood of {network.variables[v].name}" for v in self.soft]
        parts += [f"do({_state_text(network, v, s)})" for v, s in self.do.items()]
        return ", ".join(parts)


def _state_text(network: TableNetwork, v: int, state: int) -> str:
    variable = network.variables[v]
    return f"{variable.name}={variable.states[state]}"


def read_findings(
    network: TableNetwork,
    given: Mapping[str, Any] | None,
    do: Mapping[str, Any] | None = None,
    targets: Sequence[int] = (),
) -> Findings:
    """Convert evidence to codes; contradictions are refused.

    A finding is a state, or a likelihood for every state: a list or array in the order of the
    states, or a dict from state to likelihood.
    """
    if given is None and do is None:
        return Findings({}, {}, {})
    hard: dict[int, int] = {}
    soft: dict[int, NDArray[np.float64]] = {}
    for name, value in _pairs("given", given):
        v = network.index(name)
        if isinstance(value, _LIKELIHOODS):
            soft[v] = _likelihood(network.variables[v], value)
        else:
            hard[v] = state_of(network.variables[v], value)
    done = {
        network.index(name): state_of(network.variables[network.index(name)], value)
        for name, value in _pairs("do", do)
    }
    _check_apart(network, {**hard, **soft}, done, ())
    _check_apart(network, hard, done, targets)  # a likelihood of a target is a question
    return Findings(hard, soft, done)


def known_states(network: TableNetwork, table: Table) -> list[dict[str, str]]:
    """The observed states of every row of a table: variable → state."""
    rows: list[dict[str, str]] = [{} for _ in range(table.n_rows)]
    for variable in network.variables:
        if variable.name in table:
            codes = table.column(variable.name).data
            for row in np.flatnonzero(codes < variable.n_states):
                rows[row][variable.name] = variable.states[codes[row]]
    return rows


def _pairs(what: str, findings: Mapping[str, Any] | None) -> list[tuple[str, Any]]:
    if findings is None:
        return []
    if not isinstance(findings, Mapping):
        raise JensenError(
            f"{what} must be a dict from variable to state, not {type(findings).__name__}"
        )
    return list(findings.items())


def _check_apart(
    network: TableNetwork, given: Mapping[int, Any], do: Mapping[int, int], targets: Sequence[int]
) -> None:
    for v in do:
        if v in given:
            name = network.variables[v].name
            raise JensenError(f"{name!r} stands in given and in do: it is either seen or set")
    for v in targets:
        if v in given or v in do:
            name = network.variables[v].name
            where = "given" if v in given else "do"
            raise JensenError(f"{name!r} is asked for, but stands in {where}: leave it out there")


def _likelihood(variable: Variable, value: Any) -> NDArray[np.float64]:
    if isinstance(value, Mapping):
        given = {state_of(variable, label): part for label, part in value.items()}
        if len(given) < variable.n_states:
            raise JensenError(
                f"the likelihood of {variable.name!r} needs a number for each of its states "
                f"{some(variable.states)}"
            )
        value = [given[k] for k in range(variable.n_states)]
    try:
        numbers = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        numbers = np.full(1, np.nan)
    if numbers.shape != (variable.n_states,):
        raise JensenError(
            f"the likelihood of {variable.name!r} must be {variable.n_states} numbers, one for "
            f"each of its states {some(variable.states)} (many rows of evidence come as a table)"
        )
    if not np.all((numbers >= 0) & (numbers < np.inf)) or not numbers.any():
        raise JensenError(
            f"the likelihood of {variable.name!r} must be finite, not negative, and not all 0"
        )
    return numbers
