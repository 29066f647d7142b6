"""Files that appear whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from jensen.exceptions import FileError


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
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise FileError(f"cannot write {target}: {error.strerror}") from None
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
            raise FileError(f"cannot write {target}: {error.strerror}") from None
        raise


def _usual_mode(target: Path) -> int:
    """The mode of the file that is replaced, else what a new file would get."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
