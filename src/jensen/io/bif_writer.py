"""Networks as BIF text, in the words that most programs read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from jensen.exceptions import JensenError
from jensen.inference import Network
from jensen.io.bif_syntax import KEYWORDS, PROPERTY_END, UNNAMED
from jensen.io.losses import warn_of_losses
from jensen.io.properties import write_pair

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork

_BARE = re.compile(r"[+-]?[A-Za-z0-9_][A-Za-z0-9_.?%-]*")  # what needs no quotes anywhere


class _Texts(dict[bytes, str]):
    """Rows of tables as text, by their bytes (-0.0 is not 0.0): most repeat, and take a while."""

    def __missing__(self, row: bytes) -> str:
        text = str(memoryview(row).cast("d").tolist())[1:-1]  # Python prints a float exactly
        self[row] = text
        return text


def dumps(net: BayesianNetwork) -> str:
    """The network as BIF text; numbers read back to the same bits."""
    network = net.require_network()
    lost: list[str] = []
    states = {v.name: [_quote(label) for label in v.states] for v in network.variables}
    texts = _Texts()
    lines = [*_head(network, lost)]
    for name, labels in states.items():
        lines += _declaration(name, labels, network.variable_properties.get(name, {}), lost)
    for name in states:
        lines += _block(network, name, states, texts)
    warn_of_losses(network, "BIF", lost)
    return "\n".join([*lines, ""])


def _head(network: Network, lost: list[str]) -> Iterator[str]:
    properties = dict(network.properties)
    name = UNNAMED
    if properties.get("name", UNNAMED) != UNNAMED and _is_writable(properties["name"]):
        name = properties.pop("name")
    yield f"network {_quote(name)} {{"
    yield from _properties(properties, lost)
    yield "}"


def _declaration(
    name: str, labels: list[str], properties: Mapping[str, str], lost: list[str]
) -> Iterator[str]:
    yield f"variable {_quote(name)} {{"
    yield f"  type discrete [ {len(labels)} ] {{ {', '.join(labels)} }};"
    yield from _properties(properties, lost)
    yield "}"


def _block(
    network: Network, name: str, states: Mapping[str, list[str]], texts: _Texts
) -> list[str]:
    parents = network.graph.parents(name)
    table = network.part(name, network.tables).view(f"V{8 * len(states[name])}")
    rows = [texts[row] for row in table.ravel().tolist()]
    if not parents:
        return [f"probability ( {_quote(name)} ) {{", f"  table {rows[0]};", "}"]
    heads, *others = [states[parent] for parent in parents]
    for labels in others:
        heads = [f"{head}, {label}" for head in heads for label in labels]
    lines = [f"  ({head}) {row};" for head, row in zip(heads, rows, strict=True)]
    names = ", ".join(map(_quote, parents))
    return [f"probability ( {_quote(name)} | {names} ) {{", *lines, "}"]


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


def _properties(properties: Mapping[str, str], lost: list[str]) -> Iterator[str]:
    """Properties, in quotes where they need them; those that no quotes can hold are `lost`."""
    for key, value in properties.items():
        text = write_pair(key, value)
        if not PROPERTY_END.search(text) and not text.startswith(('"', "//", "/*")):
            yield f"  property {text};"
        elif _is_writable(text):
            yield f'  property "{text}";'
        else:
            lost.append(key)
