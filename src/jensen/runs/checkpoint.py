"""Checkpoints: a long run may be killed at any moment and resumed to the identical result.

A checkpoint is data only and is replaced whole at every save. It reads::

    jensen checkpoint 2
    <SHA-256 of all that follows>
    {"fingerprint": <data and settings of the run>, "notes": <JSON>, "arrays": [<names>]}
    <the arrays as .npy, one after another>

Samples only ever grow, so they have a file of their own, ``<path>.samples`` (see `sample_file`).
Append the samples first, then save a checkpoint that says how many there are: what a killed run
appended after its last checkpoint is cut off when the run resumes. `runner` does both.
Files of format 1 were written by three runners in three ways; they are refused.
"""

import hashlib
import io
import json
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import FileError
from jensen.support.atomic import check_name, check_writable, show_path, write_whole
from jensen.support.fingerprint import plain_array

EVERY_SECONDS = 2.0
VERSION = 2

MAGIC = b"jensen checkpoint %d\n"
LONGEST_LINE = 1000  # of the first lines; another program's file may be one line of gigabytes
WAY_OUT = "delete the file or name another"


class SavedRun(NamedTuple):
    """What a checkpoint holds of a run."""

    notes: Any  # JSON: tuples come back as lists
    arrays: dict[str, NDArray[Any]]


class Checkpoint:
    """The file from which one run resumes; may be saved from several threads.

    Parameters
    ----------
    path
        Where the file is. If it exists it is read, and refused if it belongs to another run or is
        damaged.
    fingerprint
        A hash of the data and of all settings that shape the result: see `support.fingerprint`.

    Attributes
    ----------
    content
        What the file held when the checkpoint was opened; None if there was no file, so that the
        run begins anew.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from jensen.support.fingerprint import fingerprint
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.checkpoint"
    >>> run = fingerprint("my data", {"seed": 0})
    >>> Checkpoint(path, run).save({"sweep": 7}, {"score": np.array([-np.inf, 0.5])})
    >>> found = Checkpoint(path, run).content
    >>> found.notes, found.arrays["score"]
    ({'sweep': 7}, array([-inf,  0.5]))
    """

    content: SavedRun | None

    def __init__(self, path: str | Path, fingerprint: str) -> None:
        check_writable(path)
        self.path = path
        self.fingerprint = fingerprint
        self.content = _read(path, fingerprint)
        self._lock = Lock()
        self._not_before = time.monotonic() + EVERY_SECONDS

    def save(self, notes: Any, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Replace the file: `notes` is anything JSON holds, with strings for keys."""
        with self._lock:
            self._save(notes, arrays)

    def save_sometimes(self, make: Callable[[], tuple[Any, Mapping[str, NDArray[Any]]]]) -> None:
        """Save what `make` returns, at most every 2 seconds and a tenth of the time.

        The clock decides only when something is saved, never what. While another thread saves,
        this does nothing: so `make` may take a lock that the callers hold.
        """
        if not self._lock.acquire(blocking=False):
            return
        try:
            start = time.monotonic()
            if start >= self._not_before:
                self._save(*make())
                end = time.monotonic()
                self._not_before = end + max(EVERY_SECONDS, 9 * (end - start))
        finally:
            self._lock.release()

    def _save(self, notes: Any, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write the file; the lock is held."""
        body = io.BytesIO()
        head = {"fingerprint": self.fingerprint, "notes": notes, "arrays": list(arrays)}
        body.write(json.dumps(head).encode() + b"\n")
        for array in arrays.values():
            np.lib.format.write_array(body, plain_array(array), allow_pickle=False)
        content = body.getbuffer()
        with write_whole(self.path) as file:
            file.write(MAGIC % VERSION)
            file.write(hashlib.sha256(content).hexdigest().encode() + b"\n")
            file.write(content)


def _read(path: str | Path, fingerprint: str) -> SavedRun | None:
    """The content of a file of this run, None without a file, else an error."""
    check_name(path)
    try:
        with open(path, "rb") as file:
            _check_version(path, file.readline(LONGEST_LINE))
            digest = file.readline(LONGEST_LINE).strip()
            content = file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileError(f"cannot read {show_path(path)}: {error.strerror}") from None
    damaged = FileError(f"cannot resume from {path}: it is cut short or damaged; {WAY_OUT}")
    if hashlib.sha256(content).hexdigest().encode() != digest:
        raise damaged
    try:
        body = io.BytesIO(content)
        head = json.loads(body.readline())
        if head["fingerprint"] != fingerprint:
            raise FileError(
                f"cannot resume from {path}: it belongs to another run, with other data or other "
                f"settings; {WAY_OUT}"
            )
        arrays = {
            name: np.lib.format.read_array(body, allow_pickle=False) for name in head["arrays"]
        }
        return SavedRun(head["notes"], arrays)
    except FileError:
        raise
    except (ValueError, KeyError, TypeError, EOFError, MemoryError, RecursionError):
        raise damaged from None  # whole, but never written by `Checkpoint.save`


def _check_version(path: str | Path, line: bytes) -> None:
    """Refuse a first line that is not that of a checkpoint this version reads."""
    found = re.fullmatch(rb"jensen checkpoint ([1-9][0-9]{0,8})\n", line)
    if found is None:
        raise FileError(f"cannot resume from {path}: it is no checkpoint of Jensen; {WAY_OUT}")
    if int(found[1]) > VERSION:
        raise FileError(
            f"cannot resume from {path}: a newer Jensen wrote it (format {int(found[1])}, this "
            f"one reads {VERSION}); update Jensen, {WAY_OUT}"
        )
    if int(found[1]) < VERSION:
        raise FileError(
            f"cannot resume from {path}: an older Jensen wrote it (format {int(found[1])}, this "
            f"one reads {VERSION}), whose sums differ in their last bits; finish the run with that "
            f"version, or begin it anew: {WAY_OUT}"
        )
