"""Networks as BIF text, in the words that most programs read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING

from jensen.data.variable import Variable
from jensen.exceptions import JensenError
from jensen.inference import Network
from jensen.io.bif_syntax import KEYWORDS, UNNAMED
from jensen.io.losses import warn_of_losses

if TYPE_CHECKING:
    from jensen.estimators import BayesianNetwork

_BARE = re.compile(r"[+-]?[A-Za-z0-9_][A-Za-z0-9_.?%-]*")  # what needs no quotes anywhere


def dumps(net: BayesianNetwork) -> str:
    """The network as BIF text; numbers read back to the same bits."""
    network = net.require_network()
    warn_of_losses(network, "BIF")
    lines = [*_head(network)]
    for variable in network.variables:
        lines += _declaration(variable, network.variable_properties.get(variable.name, {}))
    for variable in network.variables:
        lines += _table(network, variable)
    return "\n".join([*lines, ""])


def _head(network: Network) -> Iterator[str]:
    properties = dict(network.properties)
    name = UNNAMED
    if properties.get("name", UNNAMED) != UNNAMED and _is_writable(properties["name"]):
        name = properties.pop("name")
    yield f"network {_quote(name)} {{"
    yield from map(_property, properties.items())
    yield "}"


def _declaration(variable: Variable, properties: Mapping[str, str]) -> Iterator[str]:
    states = ", ".join(map(_quote, variable.states))
    yield f"variable {_quote(variable.name)} {{"
    yield f"  type discrete [ {variable.n_states} ] {{ {states} }};"
    yield from map(_property, properties.items())
    yield "}"


def _table(network: Network, variable: Variable) -> Iterator[str]:
    parents = network.parents(variable.name)
    values = network.part(variable.name, network.tables).reshape(-1, variable.n_states).tolist()
    if not parents:
        yield f"probability ( {_quote(variable.name)} ) {{"
        yield f"  table {str(values[0])[1:-1]};"
    else:
        names = ", ".join(_quote(parent.name) for parent in parents)
        yield f"probability ( {_quote(variable.name)} | {names} ) {{"
        labels = product(*([_quote(label) for label in parent.states] for parent in parents))
        for row, numbers in zip(labels, values, strict=True):
            yield f"  ({', '.join(row)}) {str(numbers)[1:-1]};"  # Python prints a float exactly
    yield "}"


def _quote(name: str) -> str:
    """A name or a label, in quotes where it needs them."""
    if _BARE.fullmatch(name) and name not in KEYWORDS:
        return name
    if not _is_writable(name):
        raise JensenError(
            f"BIF cannot hold the name {name!r}, because of a quote or a line break in it; "
            f"a file that ends in .json can"
        )
    return f'"{name}"'


def _is_writable(name: str) -> bool:
    return not any(letter in name for letter in '"\r\n')


def _property(pair: tuple[str, str]) -> str:
    key, value = pair
    text = (f"{key} = {value}" if value else key).strip()
    if ";" not in text and not text.startswith(('"', "//", "/*")):
        return f"  property {text};"
    if not _is_writable(text):
        raise JensenError(
            f"BIF cannot hold the property {text!r}, because of quotes or line breaks beside a "
            f"semicolon; a file that ends in .json can"
        )
    return f'  property "{text}";'
