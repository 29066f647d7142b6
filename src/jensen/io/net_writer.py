"""Networks as NET text, in the words that Hugin reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from jensen.data.variable import Variable
from jensen.inference import Network
from jensen.io.losses import warn_of_losses
from jensen.io.properties import IDENTIFIER, check_identifier, read_point

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork

UNQUOTED = ("node_size", "position", "state_values", "subtype")
"""Fields that hold numbers or words; Hugin wants the others in quotes."""

_BARE = re.compile(r"[\w.+-]+|\([\w\s.+-]*\)")
_PARENTHESES = str.maketrans("[]", "()", ",")


def dumps(net: BayesianNetwork) -> str:
    """The network as NET text; numbers read back to the same bits."""
    network = net.require_network()
    lost: list[str] = []
    lines = ["net", "{", *_lines(network.properties, lost, ()), "}"]
    for variable in network.variables:
        lines += _node(variable, network.variable_properties.get(variable.name, {}), lost)
    for variable in network.variables:
        lines += _table(network, variable)
    warn_of_losses(network, "NET", lost)
    return "\n".join([*lines, ""])


def _node(variable: Variable, properties: Mapping[str, str], lost: list[str]) -> Iterator[str]:
    yield f"node {check_identifier(variable.name, 'NET')}"
    yield "{"
    yield f"  states = ({' '.join(map(quote, variable.states))});"
    yield from _lines(properties, lost, ("states",))
    yield "}"


def _lines(properties: Mapping[str, str], lost: list[str], taken: tuple[str, ...]) -> Iterator[str]:
    """Properties as fields; those that cannot be are added to `lost`."""
    for key, value in properties.items():
        point = read_point(value)
        if key in taken or not IDENTIFIER.fullmatch(key):
            lost.append(key)
        elif key == "position" and point:
            yield f"  {key} = ({point[0]} {point[1]});"
        else:
            bare = key in UNQUOTED and _BARE.fullmatch(value)
            yield f"  {key} = {value if bare else quote(value)};"


def _table(network: Network, variable: Variable) -> Iterator[str]:
    parents = " ".join(parent.name for parent in network.parents(variable.name))
    yield (
        f"potential ( {variable.name} | {parents} )" if parents else f"potential ({variable.name})"
    )
    yield "{"
    values = str(network.part(variable.name, network.tables).tolist())  # prints floats exactly
    rows = values.translate(_PARENTHESES).replace(") (", ")\n          (")
    yield f"  data = {rows};"
    yield "}"


def quote(text: str) -> str:
    """A text in quotes, with escapes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\r", "\\r") + '"'
