"""Files that appear whole or not at all, and names that no file can have.

A file is written beside its target and renamed when it is whole; its writer holds a lock on it. A
process that is killed leaves such a file without a lock, and the next writer of the same target
removes it.
"""

import hashlib
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from jensen.exceptions import FileError

if sys.platform != "win32":  # which removes no file that is open
    import fcntl

LONGEST_SHOWN = 200
"""The most letters of a path in a message."""


@contextmanager
def write_whole(path: str | Path) -> Iterator[BinaryIO]:
    """Write beside the target and rename at the end; on any error the old file stays.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> with write_whole(path) as file:
    ...     _ = file.write(b"whole")
    >>> path.read_text()
    'whole'
    """
    check_target(path)
    target = Path(os.path.realpath(path))  # a link stays a link, to the new file
    try:
        handle, name = _open_beside(target)
    except OSError as error:
        raise FileError(f"cannot write {show_path(path)}: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _usual_mode(target))
        os.replace(name, target)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise FileError(f"cannot write {show_path(path)}: {error.strerror or error}") from None
        raise


def check_name(path: str | PathLike[str]) -> None:
    """Refuse a path that no file can have, with a clearer text than that of the system."""
    if not isinstance(path, (str, PathLike)):
        raise FileError(f"a file is named by a text or a path, not by {path!r:.40}")
    try:
        name = os.fsencode(path)
    except UnicodeEncodeError:
        raise FileError(
            f"no file is named {show_path(path)}: half a character stands there"
        ) from None
    if b"\0" in name:
        raise FileError(f"no file is named {show_path(path)}: a NUL character stands there")


def show_path(path: object) -> str:
    r"""A path as messages show it: printable, and cut if it is long.

    >>> show_path("net.json"), show_path("a\nb"), len(show_path("x" * 5000))
    ('net.json', "'a\\nb'", 203)
    """
    text = str(path)
    shown = text if text.isprintable() else repr(text)
    return shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}..."


def check_target(path: str | Path) -> None:
    """Refuse a path that cannot be written, or that a rename would destroy without asking."""
    check_name(path)
    shown = show_path(path)
    try:
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise FileError(f"cannot write {shown}: it is a folder")
        if not target.parent.is_dir():
            raise FileError(f"cannot write {shown}: there is no folder {show_path(target.parent)}")
        if target.exists() and not target.is_file():
            raise FileError(f"cannot write {shown}: it is no ordinary file")
        if target.exists() and not os.access(target, os.W_OK):
            raise FileError(f"cannot write {shown}: the file is protected against writing")
    except OSError as error:  # a name that is too long
        raise FileError(f"cannot write {shown}: {error.strerror or error}") from None


def read_bytes(path: str | PathLike[str]) -> bytes:
    """The content of a file, or an error in words."""
    check_name(path)
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise FileError(f"cannot read {show_path(path)}: {error.strerror or error}") from None


def _usual_mode(target: Path) -> int:
    """The mode of the file that is replaced, else what a new file would get."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def check_writable(path: str | Path) -> None:
    """Say now, not after hours, that a file cannot be replaced."""
    check_target(path)
    folder = Path(os.path.realpath(path)).parent
    if not os.access(folder, os.W_OK):
        raise FileError(
            f"cannot write {show_path(path)}: the folder {folder} is protected against writing"
        )


def _open_beside(target: Path) -> tuple[int, str]:
    """A new locked file, and its name; what killed writers of this target left is removed."""
    digest = hashlib.blake2b(os.fsencode(target.name), digest_size=6).hexdigest()
    prefix = f".jensen-{digest}-"
    for left in os.listdir(target.parent):
        if left.startswith(prefix):
            with suppress(OSError):  # somebody writes it at this moment, or has just removed it
                _remove_unlocked(target.parent / left)
    while True:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=prefix)
        if sys.platform == "win32":
            return handle, name
        with suppress(OSError):  # a file system may have no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.path.exists(name):  # nobody took it for left over before it was locked
            return handle, name
        os.close(handle)


def _remove_unlocked(path: Path) -> None:
    """Remove a file; an error if somebody holds a lock on it."""
    if sys.platform == "win32":
        path.unlink()
        return
    with open(path, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()
