"""Networks as DSC text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING

from jensen.data.variable import Variable
from jensen.exceptions import JensenError
from jensen.inference import Network
from jensen.io.bif_syntax import UNNAMED
from jensen.io.losses import warn_of_losses
from jensen.io.properties import check_identifier, read_point, show_point

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork


def dumps(net: BayesianNetwork) -> str:
    """The network as DSC text; numbers read back to the same bits."""
    network = net.require_network()
    name = network.properties.get("name", UNNAMED)
    lost = [key for key in network.properties if key != "name"]
    lines = [f"belief network {_quote(name)}"]
    for variable in network.variables:
        properties = network.variable_properties.get(variable.name, {})
        lines += _node(variable, properties)
        lost += [key for key in properties if not _can_hold(key, properties[key])]
    for variable in network.variables:
        lines += _table(network, variable)
    warn_of_losses(network, "DSC", lost)
    return "\n".join([*lines, ""])


def _can_hold(key: str, value: str) -> bool:
    return key == "label" or (key == "position" and read_point(value) is not None)


def _node(variable: Variable, properties: Mapping[str, str]) -> Iterator[str]:
    yield f"node {check_identifier(variable.name, 'DSC')} {{"
    if "label" in properties:
        yield f"  name : {_quote(properties['label'])};"
    yield (
        f"  type : discrete [ {variable.n_states} ] = "
        f"{{ {', '.join(map(_quote, variable.states))} }};"
    )
    if "position" in properties and read_point(properties["position"]):
        yield f"  position : {show_point(properties['position'])};"
    yield "}"


def _table(network: Network, variable: Variable) -> Iterator[str]:
    parents = network.parents(variable.name)
    names = ", ".join(parent.name for parent in parents)
    yield f"probability ( {variable.name}{' | ' if names else ''}{names} ) {{"
    values = network.part(variable.name, network.tables).reshape(-1, variable.n_states).tolist()
    places = product(*(range(parent.n_states) for parent in parents))
    for place, numbers in zip(places, values, strict=True):
        label = f"({', '.join(map(str, place))}) : " if parents else ""
        yield f"  {label}{str(numbers)[1:-1]};"  # Python prints a float exactly
    yield "}"


def _quote(text: str) -> str:
    if any(letter in text for letter in '"\r\n'):
        raise JensenError(
            f"DSC cannot hold the text {text!r}, because of a quote or a line break in it; "
            f"a file that ends in .json can"
        )
    return f'"{text}"'
