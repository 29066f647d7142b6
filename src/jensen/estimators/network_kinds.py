"""The kinds of networks that `BayesianNetwork` learns: which columns they need, and their files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jensen.data import RowSource
from jensen.data.variable import label_text
from jensen.estimators.learning import Problem
from jensen.estimators.mixed_problem import PRIOR, check_mixed_choices, mixed_problem
from jensen.estimators.network_choices import InterventionTargets, NetworkSettings, make_prior
from jensen.estimators.network_problems import (
    check_gaussian_choices,
    regression_problem,
    table_problem,
)
from jensen.estimators.saving import (
    LOOP,
    METHOD,
    Stored,
    plain_choices,
    plain_learned,
    plain_numbers,
    read_choices,
    read_concentrations,
    read_learned,
    text_or_none,
    usual_choices,
)
from jensen.exceptions import JensenError
from jensen.graphs import DAG, PDAG
from jensen.inference.fitted import FittedNetwork
from jensen.inference.gaussian_network import GaussianNetwork
from jensen.inference.mixed_network import MixedNetwork
from jensen.inference.network import Network
from jensen.scores.registry import SPREAD_PRIORS
from jensen.support.arguments import is_real
from jensen.support.json_values import Checked, refusing

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork


class NetworkKind(NamedTuple):
    """A kind of network."""

    fitted: type[FittedNetwork]
    learns: Callable[[DAG, RowSource], bool]  # whether these columns make such a network
    problem: Callable[[DAG, RowSource, NetworkSettings, InterventionTargets], Problem]
    check: Callable[
        [NetworkSettings, FittedNetwork | None], None
    ]  # refuses what `fit` would refuse
    stored: Mapping[str, Stored]  # the choices that files hold
    has_scale: bool = False  # whether its prior may have a scale
    scoring: Callable[[NetworkSettings], dict[str, Any]] = lambda choices: {}
    # the score of graphs that fits a prior, as `learn_structure` takes it; default: its own


def kind_of_data(graph: DAG, table: RowSource) -> NetworkKind:
    """Which kind of network the columns of a graph make."""
    return next(kind for kind in KINDS if kind.learns(graph, table))


def is_mixed(graph: DAG | PDAG, table: RowSource) -> bool:
    """Whether some nodes are numbers and others are labels, or have no column."""
    kinds = {table.variable(x).kind if x in table else "" for x in graph.nodes}
    return bool(kinds & {"continuous", "count"}) and bool(kinds & {"categorical", ""})


def is_gaussian(graph: DAG, table: RowSource) -> bool:
    """Whether a node of the graph is measured, not counted: then all of them must be."""
    return any(table.variable(x).kind == "continuous" for x in graph.nodes if x in table)


def kind_of_format(name: str) -> NetworkKind:
    """The kind that files of a format hold."""
    return next(kind for kind in KINDS if kind.fitted.format == name)


# --- tables ---


def _check_tables(choices: NetworkSettings, known: FittedNetwork | None) -> None:
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


def _score_of_tables(choices: NetworkSettings) -> dict[str, Any]:
    """BIC approximates the evidence under any prior that has no score of its own."""
    prior = choices.used_prior
    if isinstance(prior, str) and prior in SPREAD_PRIORS:
        return {"score": prior, "equivalent_sample_size": choices.equivalent_sample_size}
    is_k2 = prior == "k2" if isinstance(prior, str) else is_real(prior) and float(prior) == 1.0
    return {"score": "k2" if is_k2 else "bic"}


# --- regressions ---


def _score_of_regressions(choices: NetworkSettings) -> dict[str, Any]:
    prior = choices.prior
    if prior is None and choices.algorithm.seeks_mode:
        return {"score": "bic"}
    return {"score": "bge", **(prior if isinstance(prior, Mapping) else {})}


def _check_regressions(choices: NetworkSettings, known: FittedNetwork | None) -> None:
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


# --- labels and numbers ---


def _score_of_mixed(choices: NetworkSettings) -> dict[str, Any]:
    prior = choices.prior
    if prior is None and choices.algorithm.seeks_mode:
        return {"score": "bic"}
    own = prior if isinstance(prior, Mapping) else {}
    if "concentration" in own:  # BIC approximates the evidence under any prior
        return {"score": "bic"}
    return {"score": PRIOR, "equivalent_sample_size": choices.equivalent_sample_size, **own}


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


LABELS = {
    "mode": Stored(str, Checked.text),
    "fixed": Stored(list, Checked.texts),
    "hidden": Stored(_plain_hidden, _read_hidden),
}
"""Choices of networks with labels."""

REGRESSIONS = NetworkKind(
    GaussianNetwork,
    is_gaussian,
    regression_problem,
    _check_regressions,
    _stored(_read_bge),
    has_scale=True,
    scoring=_score_of_regressions,
)
TABLES = NetworkKind(
    Network,
    lambda graph, table: True,
    table_problem,
    _check_tables,
    _stored(_read_prior, LABELS),
    scoring=_score_of_tables,
)
MIXED = NetworkKind(
    MixedNetwork,
    is_mixed,
    mixed_problem,
    lambda choices, known: check_mixed_choices(choices),
    _stored(_read_bge, LABELS),
    scoring=_score_of_mixed,
)
KINDS = (MIXED, REGRESSIONS, TABLES)
"""The first that learns the columns of a graph does."""


def plain_network(net: BayesianNetwork) -> dict[str, Any]:
    """Choices, what was learned, and the network, in the order of files."""
    network = net.require_any()
    kind = kind_of_format(network.format)
    kind.check(_checked(net, kind), network)
    own = network.to_dict()
    first = {name: own.pop(name) for name in ("properties",) if name in own}
    return {
        "format": network.format,
        **first,
        "choices": plain_choices(kind.stored, net.get_params(), usual_choices(net)),
        "learned": plain_learned(net),
        **own,
    }


def read_network(make: type[BayesianNetwork], value: Checked) -> BayesianNetwork:
    """What `plain_network` gave."""
    members, rest = value.parted({"format", "choices", "learned"})
    kind = kind_of_format(members["format"].text())
    choices = read_choices(kind.stored, members["choices"])
    with refusing(value.file):
        network = kind.fitted.from_dict(rest)
    net = make(network.graph, **choices)
    net.network_ = network
    with refusing(f"{value.file}: choices"):
        kind.check(_checked(net, kind), network)
    read_learned(net, members["learned"], network)
    return net


def _checked(net: BayesianNetwork, kind: NetworkKind) -> NetworkSettings:
    """Choices that no file holds unless `fit` would take them; a file says nothing of a start."""
    names = [name for name in kind.stored if name not in ("hidden", "random_state")]
    return NetworkSettings(**{name: getattr(net, name) for name in names}, hidden=net.hidden or {})
