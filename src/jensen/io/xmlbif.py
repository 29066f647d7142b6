"""XMLBIF, the interchange format in XML, as JavaBayes, WEKA and SamIam write it too.

A property ``key = text`` is kept under its key, of a definition with its variable; the name of the
network is the property "name". Names may be any text that XML can hold, without white space
around it. Decisions and utilities are refused.

References
----------
Cozman (1998), *The interchange format for Bayesian networks*, XMLBIF version 0.3: a table lists
the states of the first GIVEN slowest and those of FOR fastest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jensen.data.variable import Variable
from jensen.inference import Network
from jensen.io.declared_network import DeclaredNetwork, parse_numbers
from jensen.io.properties import UNNAMED, read_pairs, show_point, warn_of_losses, write_pair
from jensen.io.xml_reading import Element, XmlDocument, quote, quote_name

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork


FORM = "XMLBIF"
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<BIF VERSION="0.3">\n<NETWORK>'
"""Without the document type that JavaBayes writes, which pyAgrum cannot read."""

_BEGIN = re.compile(r"<(?:!DOCTYPE\s+)?BIF[\s>\[]", re.IGNORECASE)


def looks_like(text: str) -> bool:
    """Whether the text begins as an XMLBIF file does."""
    return text.lstrip().startswith("<") and _BEGIN.search(text[:4000]) is not None


# --- reading ---


def loads(text: str, file: str) -> BayesianNetwork:
    """A network from XMLBIF text; `file` is for messages.

    Examples
    --------
    >>> net = loads(
    ...     '<BIF VERSION="0.3"><NETWORK><NAME>n</NAME>'
    ...     "<VARIABLE><NAME>x</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>"
    ...     "<DEFINITION><FOR>x</FOR><TABLE>0.8 0.2</TABLE></DEFINITION></NETWORK></BIF>",
    ...     "x.xmlbif",
    ... )
    >>> net.states
    {'x': ('no', 'yes')}
    """
    document = XmlDocument(text, file)
    declared = DeclaredNetwork(document)
    if document.root.tag != "BIF":
        document.refuse(f"expected <BIF>, but found <{document.root.tag}>", document.root.at)
    network = document.only(document.root, "NETWORK")
    name = "".join(element.text for element in network.all("NAME"))
    if name and name != UNNAMED:
        declared.properties["name"] = name
    declared.properties.update(_properties(network))
    for element in network.all("VARIABLE"):
        _variable(document, declared, element)
    for element in network.all("DEFINITION", "PROBABILITY"):
        _definition(document, declared, element)
    return declared.finish()


def _properties(*elements: Element) -> dict[str, str]:
    texts = (child.text for element in elements for child in element.all("PROPERTY"))
    pairs = read_pairs(text for text in texts if text)
    if "position" in pairs:
        pairs["position"] = show_point(pairs["position"])
    return pairs


def _variable(document: XmlDocument, declared: DeclaredNetwork, element: Element) -> None:
    kind = element.attributes.get("TYPE", "nature")
    if kind.lower() != "nature":
        document.refuse(f"Jensen reads variables of TYPE 'nature', not {kind!r}", element.at)
    states = [child.token() for child in element.all("OUTCOME", "VALUE")]
    declared.declare(document.only(element, "NAME").token(), states, _properties(element))


def _definition(document: XmlDocument, declared: DeclaredNetwork, element: Element) -> None:
    child, table = document.only(element, "FOR").token(), document.only(element, "TABLE")
    parents = [given.token() for given in element.all("GIVEN")]
    values = parse_numbers(table.text.split(), document, table.at)
    declared.define(child, parents, values, table.at)
    own = declared.variable_properties.get(child.text, {})
    more = {key: text for key, text in _properties(element).items() if key not in own}
    if more:
        declared.variable_properties[child.text] = {**own, **more}


# --- writing ---


def dumps(net: BayesianNetwork) -> str:
    """The network as XMLBIF text; numbers read back to the same bits."""
    network = net.require_network()
    properties = dict(network.properties)
    name = properties.pop("name", UNNAMED)
    lines = [HEAD, f"<NAME>{quote_name(name, FORM)}</NAME>", *_property_lines(properties)]
    for variable in network.variables:
        lines += _variable_lines(network, variable)
    for variable in network.variables:
        lines += _definition_lines(network, variable)
    warn_of_losses(network, FORM)
    return "\n".join([*lines, "</NETWORK>", "</BIF>", ""])


def _property_lines(properties: dict[str, str]) -> Iterator[str]:
    for key, value in properties.items():
        yield f"<PROPERTY>{quote(write_pair(key, value), FORM)}</PROPERTY>"


def _variable_lines(network: Network, variable: Variable) -> Iterator[str]:
    yield '<VARIABLE TYPE="nature">'
    yield f"  <NAME>{quote_name(variable.name, FORM)}</NAME>"
    for state in variable.states:
        yield f"  <OUTCOME>{quote_name(state, FORM)}</OUTCOME>"
    yield from _property_lines(dict(network.variable_properties.get(variable.name, {})))
    yield "</VARIABLE>"


def _definition_lines(network: Network, variable: Variable) -> Iterator[str]:
    yield "<DEFINITION>"
    yield f"  <FOR>{quote_name(variable.name, FORM)}</FOR>"
    for parent in network.parents(variable.name):
        yield f"  <GIVEN>{quote_name(parent.name, FORM)}</GIVEN>"
    values = network.part(variable.name, network.tables).reshape(-1, variable.n_states).tolist()
    rows = "\n    ".join(" ".join(map(repr, row)) for row in values)
    yield f"  <TABLE>\n    {rows}\n  </TABLE>"
    yield "</DEFINITION>"
