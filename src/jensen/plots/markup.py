"""XML and HTML elements, and numbers as pictures show them; texts from outside are escaped here."""

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


def show_number(x: float) -> str:
    """A number in a picture: three digits, and whole thousands in full.

    >>> show_number(0.123456), show_number(98765.4), show_number(1.5), show_number(1e-7)
    ('0.123', '98,765', '1.5', '1e-07')
    """
    return f"{x:,.0f}" if 1e3 <= abs(x) < 1e7 else f"{x:.3g}"


def show_share(p: float) -> str:
    """A probability in a picture, with three digits; only 0 and 1 themselves are shown as such.

    >>> show_share(0.5), show_share(1 / 3), show_share(0.99996), show_share(1.0)
    ('0.5', '0.333', '>0.999', '1.0')
    """
    text = f"{p:.3g}"
    return {"1": "1.0" if p == 1.0 else ">0.999", "0": "0.0"}.get(text, text)


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
