"""XML read with care: every element knows its place, and no entity is ever expanded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat
from xml.sax.saxutils import escape

from jensen.exceptions import FileError, JensenError
from jensen.io.lexer import LexerToken

DEEPEST = 50
"""How deep elements may be nested; no network needs more."""

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_SPACE = " \t\r\n"


@dataclass(frozen=True)
class Element:
    """``<tag key="value">text<child/></tag>``; tags in upper case, as XMLBIF writes them."""

    tag: str
    attributes: dict[str, str]
    at: int
    children: list[Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What stands in it, but for its children and the white space around it."""
        return "".join(self.pieces).strip(_SPACE)

    def token(self) -> LexerToken:
        """Its text with its place."""
        return LexerToken(self.text, self.at)

    def all(self, *tags: str) -> Iterator[Element]:
        """Its children with one of these tags."""
        return (child for child in self.children if child.tag in tags)


class XmlDocument:
    """An XML text, its root, and places in it, which are counted in bytes.

    Entities are refused, so that a short text cannot stand for a long one, and nothing outside
    of the text is read.

    Examples
    --------
    >>> document = XmlDocument("<a><b c='d'>x</b></a>", "x.xml")
    >>> [(child.tag, child.attributes, child.text) for child in document.root.children]
    [('B', {'c': 'd'}, 'x')]
    """

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        try:
            self.content = text.encode()
        except UnicodeEncodeError:
            raise FileError(f"{file}: half a character stands alone") from None
        at = self.content.find(b"<!ENTITY")
        if at >= 0:
            self.refuse("entities are not allowed here: no network needs any", at)
        self.root = self._parse()

    def place(self, at: int) -> str:
        """Line and column, counted from 1."""
        start = self.content.rfind(b"\n", 0, at) + 1
        line = self.content.count(b"\n", 0, at) + 1
        return f"line {line}, column {len(self.content[start:at].decode(errors='replace')) + 1}"

    def refuse(self, message: str, at: int) -> NoReturn:
        """Raise an error that names this place."""
        raise FileError(f"{self.file}, {self.place(at)}: {message}")

    def only(self, parent: Element, tag: str) -> Element:
        """The only child with this tag; none, or several, are refused."""
        found = list(parent.all(tag))
        if not found:
            self.refuse(f"<{parent.tag}> has no <{tag}>", parent.at)
        if len(found) > 1:
            self.refuse(f"<{parent.tag}> has a second <{tag}>", found[1].at)
        return found[0]

    def attribute(self, element: Element, key: str) -> LexerToken:
        """An attribute, with the place of its element; an absent one is refused."""
        if key not in element.attributes:
            self.refuse(f"<{element.tag}> has no attribute {key!r}", element.at)
        return LexerToken(element.attributes[key], element.at)

    def _parse(self) -> Element:
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.specified_attributes = True  # a long default could be repeated many times
        top = Element("", {}, 0)
        open_elements = [top]

        def start(tag: str, attributes: dict[str, str]) -> None:
            at = parser.CurrentByteIndex
            if len(open_elements) > DEEPEST:
                self.refuse("elements are nested deeper than any network needs", at)
            element = Element(tag.upper(), attributes, at)
            open_elements[-1].children.append(element)
            open_elements.append(element)

        def end(tag: str) -> None:
            open_elements.pop()

        def text(piece: str) -> None:
            open_elements[-1].pieces.append(piece)

        def skipped(name: str, is_parameter: bool) -> None:
            self.refuse(f"the entity {name!r} is not known", parser.CurrentByteIndex)

        parser.StartElementHandler = start
        parser.EndElementHandler = end
        parser.CharacterDataHandler = text
        parser.SkippedEntityHandler = skipped
        try:
            parser.Parse(self.content, True)
        except expat.ExpatError as error:
            place = f"line {error.lineno}, column {error.offset + 1}"
            message = expat.ErrorString(error.code)
            raise FileError(f"{self.file}, {place}: this is no XML: {message}") from None
        return top.children[0]


def quote(text: str, form: str) -> str:
    """A text escaped for use between tags or in double quotes; it reads back unchanged.

    >>> quote('a < "b"', "XMLBIF")
    'a &lt; &quot;b&quot;'
    """
    if _FORBIDDEN.search(text):
        raise JensenError(
            f"{form} cannot hold the text {text!r}, because of control characters in it; "
            f"a file that ends in .json can"
        )
    return escape(text, {'"': "&quot;", "\r": "&#13;", "\n": "&#10;", "\t": "&#9;"})


def quote_name(text: str, form: str) -> str:
    """A name between tags; readers strip white space there, so a name with such ends is refused."""
    if text != text.strip(_SPACE):
        raise JensenError(
            f"{form} cannot hold the name {text!r}, because of the white space around it; "
            f"a file that ends in .json can"
        )
    return quote(text, form)
