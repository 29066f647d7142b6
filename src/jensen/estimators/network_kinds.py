"""The kinds of networks that `BayesianNetwork` learns: by which columns, how, and how saved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from jensen.data import RowSource
from jensen.data.variable import label_text
from jensen.estimators.choices import Choices
from jensen.estimators.learning import Problem
from jensen.estimators.regression_problem import (
    check_gaussian_choices,
    is_gaussian,
    regression_problem,
)
from jensen.estimators.saving import (
    LOOP,
    METHOD,
    Stored,
    plain_numbers,
    read_concentrations,
    text_or_none,
)
from jensen.estimators.set_rows import WasSet
from jensen.estimators.table_problem import table_problem
from jensen.exceptions import JensenError
from jensen.graphs import DAG
from jensen.inference.fitted import FittedNetwork
from jensen.inference.gaussian_network import GaussianNetwork
from jensen.inference.network import Network
from jensen.io.checked import Checked
from jensen.models.priors import make_prior


class NetworkKind(NamedTuple):
    """A kind of network."""

    fitted: type[FittedNetwork]
    learns: Callable[[DAG, RowSource], bool]  # whether these columns make such a network
    problem: Callable[[DAG, RowSource, Choices, WasSet], Problem]
    check: Callable[[Choices, FittedNetwork | None], None]  # refuses what `fit` would refuse
    stored: Mapping[str, Stored]  # the choices that files hold
    has_scale: bool = False  # whether its prior may have a scale


def kind_of_data(graph: DAG, table: RowSource) -> NetworkKind:
    """Which kind of network the columns of a graph make."""
    return next(kind for kind in KINDS if kind.learns(graph, table))


def kind_of_format(name: str) -> NetworkKind:
    """The kind that files of a format hold."""
    return next(kind for kind in KINDS if kind.fitted.format == name)


# --- tables ---


def _check_tables(choices: Choices, known: FittedNetwork | None) -> None:
    """Refuse choices that make no sense whatever the data, or not with a network."""
    choices.check()
    if known is None:
        return
    network = known.require_tables()
    size, counts = choices.equivalent_sample_size, np.zeros(len(network.tables))
    make_prior(choices.prior, size, network.graph.nodes, network.wiring, counts)
    for name, states in choices.hidden.items():
        labels = network.variables[network.index(name)].states
        plain = _plain_states(states)
        if plain not in (len(labels), list(labels)):
            raise JensenError(
                f"hidden gives {name!r} the states {plain!r:.80}, but the network has "
                f"{list(labels)}"
            )


def _plain_states(states: Any) -> int | list[str]:
    """The number of states of a hidden variable, or their labels."""
    return int(states) if isinstance(states, Integral) else [label_text(x) for x in states]


def _plain_hidden(hidden: Mapping[str, Any] | None) -> dict[str, int | list[str]]:
    return {name: _plain_states(states) for name, states in (hidden or {}).items()}


def _read_hidden(value: Checked) -> dict[str, int | list[str]]:
    return {
        name: states.texts() if isinstance(states.value, list) else states.whole()
        for name, states in value.members().items()
    }


def _read_prior(value: Checked) -> Any:
    if value.is_null() or isinstance(value.value, str):
        return text_or_none(value)
    if isinstance(value.value, dict):
        return {name: read_concentrations(part) for name, part in value.members().items()}
    return value.number()


# --- regressions ---


def _check_regressions(choices: Choices, known: FittedNetwork | None) -> None:
    check_gaussian_choices(choices)


def _read_bge(value: Checked) -> Any:
    if value.is_null() or isinstance(value.value, str):
        return text_or_none(value)
    return {name: _read_part(part) for name, part in value.members().items()}


def _read_part(value: Checked) -> Any:
    if isinstance(value.value, str):
        return value.text()
    if isinstance(value.value, dict):
        return {name: part.number() for name, part in value.members().items()}
    return read_concentrations(value)


# --- all of them ---


def _stored(
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


REGRESSIONS = NetworkKind(
    GaussianNetwork,
    is_gaussian,
    regression_problem,
    _check_regressions,
    _stored(_read_bge),
    has_scale=True,
)
TABLES = NetworkKind(
    Network,
    lambda graph, table: True,
    table_problem,
    _check_tables,
    _stored(_read_prior, {"hidden": Stored(_plain_hidden, _read_hidden)}),
)
KINDS = (REGRESSIONS, TABLES)
"""The first that learns the columns of a graph does."""
