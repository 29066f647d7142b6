"""XDSL, the format of GeNIe and SMILE.

Kept are the label of a variable (there its ``name``), the middle of its box as its position, and
properties whose keys are identifiers. Names of variables must be identifiers, states may be any
text (GeNIe itself asks for identifiers there too). Besides tables, deterministic nodes are read;
nodes of other kinds are refused. pyAgrum lists the parents the other way round; its files tell who
wrote them, and are read as it means them.

References
----------
BayesFusion, *GeNIe Modeler user manual*, "XDSL file format": a table lists the states of the first
parent slowest and those of the variable itself fastest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable
from jensen.inference import Network
from jensen.io.declared_network import DeclaredNetwork, check_implied, parse_numbers
from jensen.io.lexer import LexerToken, shorten
from jensen.io.properties import IDENTIFIER, UNNAMED, check_identifier, read_point, warn_of_losses
from jensen.io.xml_reading import Element, XmlDocument, quote

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork


FORM = "XDSL"
WIDTH, HEIGHT = 80, 40
"""Of the boxes that are written."""

_BEGIN = re.compile(r"<smile[\s>]")


def looks_like(text: str) -> bool:
    """Whether the text begins as an XDSL file does."""
    return text.lstrip().startswith("<") and _BEGIN.search(text[:4000]) is not None


# --- reading ---


def loads(text: str, file: str) -> BayesianNetwork:
    """A network from XDSL text; `file` is for messages.

    Examples
    --------
    >>> net = loads(
    ...     '<smile version="1.0" id="n"><nodes><cpt id="x"><state id="no" /><state id="yes" />'
    ...     "<probabilities>0.8 0.2</probabilities></cpt></nodes></smile>",
    ...     "x.xdsl",
    ... )
    >>> net.states
    {'x': ('no', 'yes')}
    """
    document = XmlDocument(text, file)
    declared = DeclaredNetwork(document)
    root = document.root
    if root.tag != "SMILE":
        document.refuse(f"expected <smile>, but found <{root.tag.lower()}>", root.at)
    drawn = [genie for extension in root.all("EXTENSIONS") for genie in extension.all("GENIE")]
    name = root.attributes.get("id", "")
    for genie in drawn:
        name = genie.attributes.get("name", name)  # which need not be an identifier
    if name and name != UNNAMED:
        declared.properties["name"] = name
    declared.properties.update(_properties(document, root))
    labels = {node.attributes.get("id", ""): node for genie in drawn for node in genie.all("NODE")}
    nodes = document.only(root, "NODES")
    _check_size(document, nodes)
    turned = any(genie.attributes.get("app", "").startswith("aGrUM ") for genie in drawn)
    for element in nodes.children:
        _node(document, declared, element, labels, turned)
    return declared.finish()


def _properties(document: XmlDocument, element: Element) -> dict[str, str]:
    found = element.all("PROPERTY")
    return {document.attribute(child, "id").text: child.text for child in found}


def _check_size(document: XmlDocument, nodes: Element) -> None:
    """Refuse deterministic nodes, of which one word is a whole row, that would be too large."""
    n_entries = 0
    for element in nodes.all("DETERMINISTIC"):
        n_rows = sum(len(child.text.split()) for child in element.all("RESULTINGSTATES"))
        n_entries += n_rows * len(list(element.all("STATE")))
        check_implied(
            document,
            n_entries,
            len(document.content),
            element.at,
            what="the table of this node",
            way_out="give it fewer states or parents",
        )


def _node(
    document: XmlDocument,
    declared: DeclaredNetwork,
    element: Element,
    labels: dict[str, Element],
    turned: bool,
) -> None:
    """Add a node; `turned`: its last parent runs slowest, not its first."""
    name = document.attribute(element, "id")
    if element.tag not in ("CPT", "DETERMINISTIC"):
        document.refuse(
            f"Jensen reads <cpt> and <deterministic>, not <{element.tag.lower()}>", name.at
        )
    states = [document.attribute(child, "id") for child in element.all("STATE")]
    properties = _drawing(labels[name.text], name.text) if name.text in labels else {}
    declared.declare(name, states, properties | _properties(document, element))
    parents = [
        LexerToken(word, given.at)
        for given in element.all("PARENTS")
        for word in given.text.split()
    ]
    if turned:
        parents.reverse()
    if element.tag == "CPT":
        table = document.only(element, "PROBABILITIES")
        values = parse_numbers(table.text.split(), document, table.at)
    else:
        table = document.only(element, "RESULTINGSTATES")
        values = _certain(document, table, [state.text for state in states])
    declared.define(name, parents, values, table.at)


def _certain(document: XmlDocument, table: Element, states: list[str]) -> NDArray[np.float64]:
    """The rows of a node that is a function of its parents."""
    words = table.text.split()
    index = {state: k for k, state in enumerate(states)}
    for word in words:
        if word not in index:
            document.refuse(f"{shorten(word)} is no state of this variable", table.at)
    values = np.zeros((len(words), len(states)))
    values[np.arange(len(words)), [index[word] for word in words]] = 1
    return values.ravel()


def _drawing(node: Element, name: str) -> dict[str, str]:
    """The label and the position of a node in the picture."""
    properties = {}
    label = "".join(child.text for child in node.all("NAME"))
    if label and label != name:
        properties["label"] = label
    box = " ".join(child.text for child in node.all("POSITION")).split()
    if len(box) == 4 and all(re.fullmatch("-?[0-9]{1,9}", word) for word in box):
        left, top, right, bottom = map(int, box)
        properties["position"] = f"({(left + right) // 2}, {(top + bottom) // 2})"
    return properties


# --- writing ---


def dumps(net: BayesianNetwork) -> str:
    """The network as XDSL text; numbers read back to the same bits."""
    network = net.require_network()
    lost: list[str] = []
    name = network.properties.get("name", UNNAMED)
    identifier = name if IDENTIFIER.fullmatch(name) else UNNAMED
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append(f'<smile version="1.0" id="{identifier}" numsamples="1000">')
    lines.append("<nodes>")
    for variable in network.variables:
        lines += _node_lines(network, variable, lost)
    lines.append("</nodes>")
    lines += _property_lines(dict(network.properties), ("name",), lost)
    lines.append(f'<extensions>\n<genie version="1.0" app="Jensen" name="{quote(name, FORM)}">')
    for variable in network.variables:
        lines += _drawing_lines(network, variable)
    lines += ["</genie>", "</extensions>", "</smile>", ""]
    warn_of_losses(network, FORM, lost)
    return "\n".join(lines)


def _node_lines(network: Network, variable: Variable, lost: list[str]) -> Iterator[str]:
    yield f'<cpt id="{check_identifier(variable.name, FORM)}">'
    for state in variable.states:
        yield f'  <state id="{quote(state, FORM)}" />'
    parents = " ".join(parent.name for parent in network.parents(variable.name))
    if parents:
        yield f"  <parents>{parents}</parents>"
    values = network.part(variable.name, network.tables).ravel().tolist()
    yield f"  <probabilities>{' '.join(map(repr, values))}</probabilities>"
    properties = dict(network.variable_properties.get(variable.name, {}))
    yield from _property_lines(properties, ("label", "position"), lost)
    yield "</cpt>"


def _property_lines(
    properties: dict[str, str], elsewhere: tuple[str, ...], lost: list[str]
) -> Iterator[str]:
    """Properties; those that cannot be written are added to `lost`."""
    for key, value in properties.items():
        if key == "position" and read_point(value) is None:
            lost.append(key)
        elif key in elsewhere:
            continue
        elif not IDENTIFIER.fullmatch(key):
            lost.append(key)
        else:
            yield f'  <property id="{key}">{quote(value, FORM)}</property>'


def _drawing_lines(network: Network, variable: Variable) -> Iterator[str]:
    properties = network.variable_properties.get(variable.name, {})
    yield f'<node id="{variable.name}">'
    yield f"  <name>{quote(properties.get('label', variable.name), FORM)}</name>"
    point = read_point(properties.get("position", ""))
    if point is not None:
        x, y = (round(float(number)) for number in point)
        box = (x - WIDTH // 2, y - HEIGHT // 2, x + WIDTH // 2, y + HEIGHT // 2)
        yield f"  <position>{' '.join(map(str, box))}</position>"
    yield "</node>"
