"""Models in files; the suffix tells the format, and where it does not, the content does."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from jensen.exceptions import FileError
from jensen.io.compression import compress, decompress, is_compressed
from jensen.support.atomic import check_target, read_bytes, write_whole
from jensen.support.text import either


class Format(Protocol):
    """What the module of a format offers."""

    def looks_like(self, text: str) -> bool:
        """Whether the beginning of a text is of this format."""

    def dumps(self, net: Any) -> str:
        """The network as text; JSON holds other models too."""

    def loads(self, text: str, file: str) -> Any:
        """A network from text; `file` is for messages."""


FORMATS = {
    ".json": "json_files",
    ".bif": "bif",
    ".net": "net",
    ".xmlbif": "xmlbif",
    ".bifxml": "xmlbif",
    ".xbif": "xmlbif",
    ".xml": "xmlbif",
    ".uai": "uai",
    ".dsc": "dsc",
    ".xdsl": "xdsl",
}
"""Which module of this folder reads and writes files of a suffix."""


ALSO = {"MarkovNetwork": (".json", ".uai")}
"""What has formats besides JSON, and is no Bayesian network, which has all of them."""

WORDS = {(".json",): "JSON", (".json", ".uai"): "JSON or UAI"}


def load(path: str | Path) -> Any:
    """Read a model from a file; a malformed file is refused in words, and can run no code.

    What comes back is of the class that was saved: a `BayesianNetwork`, or from JSON also a
    `GaussianMixture`, `LatentClass`, `HiddenMarkovModel` or a posterior over graphs.

    Parameters
    ----------
    path
        JSON, BIF, XMLBIF, NET, UAI, DSC or XDSL, by the suffix, else by the content; also .gz.

    Examples
    --------
    >>> import jensen as jn
    >>> net = jn.load("cancer.bif")  # doctest: +SKIP
    """
    return from_bytes(read_bytes(path), str(path))


def save(net: Any, path: str | Path) -> None:
    """Write a model to a file, whole or not at all; the suffix tells the format (also .gz)."""
    content = to_bytes(net, path)
    with write_whole(path) as file:
        file.write(content)


def check_path(path: str | Path, *, holds: str = "BayesianNetwork") -> None:
    """Refuse a path that `save` would refuse, before there is anything to save.

    `holds` is the class of what will be saved.
    """
    _format_to_write(path, holds)
    check_target(path)


def from_bytes(content: bytes, file: str) -> Any:
    """A model from the content of a file; its name is a hint, and for messages."""
    if is_compressed(content):
        content = decompress(content, file)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{file}: byte {error.start + 1} is not UTF-8 text") from None
    reader = find_format(file) or _by_content(text, file)
    return reader.loads(text, file)


def to_bytes(net: Any, path: str | Path = "network.json") -> bytes:
    """The content of a file of that name."""
    try:
        content = _format_to_write(path, _holds(net)).dumps(net).encode("utf-8")
    except UnicodeEncodeError as error:
        near = error.object[max(0, error.start - 20) : error.end]
        raise FileError(f"half a character, which no file can hold, ends {near!r}") from None
    return compress(content) if Path(path).suffix.lower() == ".gz" else content


def find_format(path: str | Path) -> Format | None:
    """The format that a suffix tells, if it tells one; .gz is looked under."""
    suffix = Path(str(path).lower().removesuffix(".gz")).suffix
    return _module(FORMATS[suffix]) if suffix in FORMATS else None


def _format_to_write(path: str | Path, holds: str) -> Format:
    found = find_format(path)
    known = ALSO.get(holds, (".json",))
    if holds != "BayesianNetwork" and found not in [_module(FORMATS[end]) for end in known]:
        raise FileError(
            f"cannot write {path}: a {holds} is kept in {WORDS[known]}, so name a file that ends "
            f"in {either(known)}"
        )
    if found is None:
        raise FileError(f"cannot tell the format of {path}: a network ends in {_suffixes()}")
    return found


def _holds(model: Any) -> str:
    """What a file of this model holds, in words."""
    return getattr(model, "holds", type(model).__name__)


def _by_content(text: str, file: str) -> Format:
    head = text[:4096].lstrip()
    for candidate in map(_module, dict.fromkeys(FORMATS.values())):
        if candidate.looks_like(head):
            return candidate
    raise FileError(
        f"cannot tell the format of {file}, neither by its name nor by its content: "
        f"a network ends in {_suffixes()}"
    )


def _module(name: str) -> Format:
    return cast(Format, import_module(f"jensen.io.{name}"))


def _suffixes() -> str:
    return ", ".join(FORMATS)
