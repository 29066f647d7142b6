"""Files that appear whole or not at all.

What is written stands beside its target until it is whole, and its writer holds a lock on it. Who
is killed leaves such a file without a lock: the next writer of the same target removes it.
"""

import hashlib
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from jensen.exceptions import FileError

if sys.platform != "win32":  # which removes no file that is open
    import fcntl


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
        raise FileError(f"cannot write {path}: {error.strerror}") from None
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
            raise FileError(f"cannot write {path}: {error.strerror or error}") from None
        raise


def check_target(path: str | Path) -> None:
    """Refuse a path that cannot be written, or that a rename would destroy without asking."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileError(f"cannot write {path}: there is no folder {target.parent}")
    if target.is_dir():
        raise FileError(f"cannot write {path}: it is a folder")
    if target.exists() and not target.is_file():
        raise FileError(f"cannot write {path}: it is no ordinary file")
    if target.exists() and not os.access(target, os.W_OK):
        raise FileError(f"cannot write {path}: the file is protected against writing")


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
        raise FileError(f"cannot write {path}: the folder {folder} is protected against writing")


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
