"""XML and HTML elements; all text that comes from outside is escaped here."""

import re

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPECIAL = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
_TO_ESCAPE = re.compile("[&<>\"']")


def escape(text: object) -> str:
    r"""Text that is only text, in an element or an attribute; what XML cannot hold becomes �.

    >>> escape("<b> & \x00")
    '&lt;b&gt; &amp; �'
    """
    clean = _NOT_XML.sub("\ufffd", str(text))
    return _TO_ESCAPE.sub(lambda found: _SPECIAL[found[0]], clean)


def number(x: float) -> str:
    """A coordinate: one decimal, and none where it is zero.

    >>> number(12.04), number(3.25), number(-0.01)
    ('12', '3.2', '0')
    """
    text = f"{x:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def tag(name: str, *children: str, **attributes: object) -> str:
    """An element; ``class_`` is class, and text_anchor is text-anchor. Children are markup.

    >>> tag("text", escape("a < b"), class_="name", x=1.25)
    '<text class="name" x="1.2">a &lt; b</text>'
    """
    shown = ""
    for key, value in attributes.items():
        text = number(value) if isinstance(value, float) else str(value)
        shown += f' {key.rstrip("_").replace("_", "-")}="{escape(text)}"'
    inside = "".join(children)
    return f"<{name}{shown}>{inside}</{name}>" if inside else f"<{name}{shown}/>"
