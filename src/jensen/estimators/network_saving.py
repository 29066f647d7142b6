"""A network with all that was chosen and learned as plain data, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jensen.estimators.choices import Choices
from jensen.estimators.network_kinds import NetworkKind, kind_of_format
from jensen.estimators.saving import (
    plain_choices,
    plain_learned,
    read_choices,
    read_learned,
    usual_choices,
)
from jensen.io.checked import Checked, refusing

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork


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


def _checked(net: BayesianNetwork, kind: NetworkKind) -> Choices:
    """Choices that no file holds unless `fit` would take them; a file says nothing of a start."""
    names = [name for name in kind.stored if name not in ("hidden", "random_state")]
    return Choices(**{name: getattr(net, name) for name in names}, hidden=net.hidden or {})
