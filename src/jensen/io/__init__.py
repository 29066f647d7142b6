"""Networks in files; the suffix tells the format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from jensen.atomic import write_whole
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
    try:
        return reader.loads(content.decode("utf-8"), str(target))
    except UnicodeDecodeError as error:
        raise FileError(f"{target}: byte {error.start + 1} is not UTF-8 text") from None


def save(net: BayesianNetwork, path: str | Path) -> None:
    """Write a network to a file, whole or not at all."""
    target = Path(path)
    text = _format(target).dumps(net)
    with write_whole(target) as file:
        file.write(text.encode("utf-8"))


def _format(path: Path) -> Format:
    if path.suffix.lower() not in FORMATS:
        raise FileError(f"cannot tell the format of {path}: a network ends in {', '.join(FORMATS)}")
    return FORMATS[path.suffix.lower()]
