"""Networks in files; the suffix tells the format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from jensen.atomic import check_target, write_whole
from jensen.exceptions import FileError
from jensen.io import json_format

if TYPE_CHECKING:
    from jensen.estimators import BayesianNetwork


class Format(Protocol):
    """What a module of this folder offers."""

    def dumps(self, net: BayesianNetwork) -> str:
        """The network as text."""

    def loads(self, text: str, file: str) -> BayesianNetwork:
        """A network from text; `file` is for messages."""


FORMATS: dict[str, Format] = {".json": json_format}


def load(path: str | Path) -> BayesianNetwork:
    """Read a network from a file; a malformed file is refused in words, and can run no code.

    Examples
    --------
    >>> import jensen as jn
    >>> net = jn.load("cancer.json")  # doctest: +SKIP
    """
    target = Path(path)
    reader = _format(target)
    try:
        content = target.read_bytes()
    except OSError as error:
        raise FileError(f"cannot read {target}: {error.strerror}") from None
    return from_bytes(content, str(target), reader)


def save(net: BayesianNetwork, path: str | Path) -> None:
    """Write a network to a file, whole or not at all."""
    content = to_bytes(net, _format(Path(path)))
    with write_whole(path) as file:
        file.write(content)


def check_path(path: str | Path) -> None:
    """Refuse a path that `save` would refuse, before there is anything to save."""
    _format(Path(path))
    check_target(path)


def from_bytes(content: bytes, file: str, reader: Format = json_format) -> BayesianNetwork:
    """A network from the content of a file; `file` is for messages."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{file}: byte {error.start + 1} is not UTF-8 text") from None
    return reader.loads(text, file)


def to_bytes(net: BayesianNetwork, writer: Format = json_format) -> bytes:
    """The content of a file."""
    try:
        return writer.dumps(net).encode("utf-8")
    except UnicodeEncodeError as error:
        near = error.object[max(0, error.start - 20) : error.end]
        raise FileError(f"half a character, which no file can hold, ends {near!r}") from None


def _format(path: Path) -> Format:
    if path.suffix.lower() not in FORMATS:
        raise FileError(f"cannot tell the format of {path}: a network ends in {', '.join(FORMATS)}")
    return FORMATS[path.suffix.lower()]
