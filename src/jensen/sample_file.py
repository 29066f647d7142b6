"""Samples of a long run: a file that only ever grows, beside the checkpoint of the run.

A row is a sample and a hash of it, so that no bit can change unnoticed::

    jensen samples 2, <width> float64 a row, run <hash of its fingerprint>
    <width numbers> <8 bytes: BLAKE2 of the number of the row and of its numbers>
    ...

Format 1 had no hashes; it is read, and written anew when its run is resumed.
"""

import hashlib
import logging
import os
from pathlib import Path
from threading import Lock
from typing import BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jensen.atomic import check_writable, write_whole
from jensen.checkpoint import LONGEST_LINE, WAY_OUT
from jensen.exceptions import FileError, JensenError
from jensen.text import plural

SAMPLES_MAGIC = b"jensen samples "

CUT_OFF = (
    "the last samples in %s are cut short or damaged, as a run leaves them that is killed while it "
    "writes: they are cut off and drawn again"
)

log = logging.getLogger("jensen")


class SampleFile:
    """The file ``<path>.samples`` beside a checkpoint: rows of float64 that are only appended.

    Parameters
    ----------
    path
        Of the checkpoint.
    width
        Numbers in a row.
    n_known
        Rows that the checkpoint knows of: they are kept, or refused if one of them is damaged. What
        follows is cut off, half a row of a killed run included. With 0 the file starts anew.
    fingerprint
        Of the run, as in `Checkpoint`; the samples of another run are refused.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.checkpoint"
    >>> SampleFile(path, width=2, n_known=0).append([[1, 2], [3, 4]])
    >>> SampleFile(path, width=2, n_known=1).read()
    array([[1., 2.]])
    """

    def __init__(self, path: str | Path, width: int, n_known: int, fingerprint: str = "") -> None:
        self.path = Path(f"{path}.samples")
        self.width = width
        self.n_rows = n_known
        self._lock = Lock()
        run = hashlib.sha256(fingerprint.encode()).hexdigest()
        self._old_head, self._head = (
            SAMPLES_MAGIC + f"{version}, {width} float64 a row, run {run}\n".encode()
            for version in (1, 2)
        )
        check_writable(self.path)
        if n_known == 0:
            self._start_anew()
        else:
            self._cut()

    def append(self, rows: ArrayLike) -> None:
        """Add rows (n, width); they are on the disk when this returns."""
        block = np.ascontiguousarray(rows, dtype="<f8")
        if block.ndim != 2 or block.shape[1] != self.width:
            raise JensenError(
                f"a sample of {self.path} is a row of {plural(self.width, 'number')}, "
                f"but the array has the shape {block.shape}"
            )
        with self._lock:
            try:
                with open(self.path, "r+b") as file:
                    self._expect_rows(file)
                    # Not at the end of the file: there may be what an interrupted append left.
                    file.seek(self._end())
                    file.write(_with_hashes(block, self.n_rows))
                    file.truncate()
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:
                raise FileError(f"cannot write {self.path}: {error.strerror or error}") from None
            self.n_rows += len(block)

    def read(self) -> NDArray[np.float64]:
        """All rows (n, width)."""
        with self._lock:
            try:
                with open(self.path, "rb") as file:
                    self._expect_rows(file)
                    return self._read_known(file)
            except OSError as error:
                raise FileError(f"cannot read {self.path}: {error.strerror or error}") from None

    def _end(self) -> int:
        """Where the next row goes."""
        return len(self._head) + 8 * (self.width + 1) * self.n_rows

    def _read_known(self, file: BinaryIO) -> NDArray[np.float64]:
        """The rows, none of which has changed since it was written."""
        file.seek(len(self._head))
        found = np.fromfile(file, "<f8", self.n_rows * (self.width + 1))
        found = found.reshape(self.n_rows, self.width + 1)
        wrong = _first_wrong(found, 0)
        if wrong is not None:
            raise FileError(
                f"cannot use {self.path}: sample {wrong + 1:,} of {self.n_rows:,} is damaged, and "
                f"all that follows would be wrong; put back a copy of it and of the checkpoint, or "
                f"delete both"
            )
        return np.ascontiguousarray(found[:, :-1], np.float64)

    def _start_anew(self) -> None:
        """An empty file in the place of older samples, and of nothing else."""
        try:
            if self.path.exists() and self.path.stat().st_size > 0:
                with open(self.path, "rb") as file:
                    if file.read(len(SAMPLES_MAGIC)) != SAMPLES_MAGIC:
                        raise FileError(
                            f"cannot write {self.path}: it holds no samples of Jensen; {WAY_OUT}"
                        )
        except OSError as error:
            raise FileError(f"cannot read {self.path}: {error.strerror}") from None
        with write_whole(self.path) as file:
            file.write(self._head)

    def _cut(self) -> None:
        """Keep the known rows only."""
        try:
            with open(self.path, "r+b") as file:
                self._renew(file)
            with open(self.path, "r+b") as file:
                self._expect_rows(file)
                self._read_known(file)
                file.seek(self._end())
                rest = file.read()
                n_whole, n_over = divmod(len(rest), 8 * (self.width + 1))
                rows = np.frombuffer(rest, "<f8", n_whole * (self.width + 1))
                rows = rows.reshape(n_whole, self.width + 1)
                if n_over or _first_wrong(rows, self.n_rows) is not None:
                    log.warning(CUT_OFF, self.path)
                file.truncate(self._end())
        except FileNotFoundError:
            raise FileError(
                f"cannot resume without {self.path}: it should hold "
                f"{plural(self.n_rows, 'sample')}; put it back, or delete the checkpoint"
            ) from None
        except OSError as error:
            raise FileError(f"cannot write {self.path}: {error.strerror}") from None

    def _renew(self, file: BinaryIO) -> None:
        """Write rows of format 1 anew, with hashes, if all that are known are there."""
        if file.readline(LONGEST_LINE) != self._old_head:
            return
        rows = np.fromfile(file, "<f8", self.n_rows * self.width)
        rows = rows[: len(rows) // self.width * self.width].reshape(-1, self.width)
        with write_whole(self.path) as new:
            new.write(self._head)
            new.write(_with_hashes(rows, 0))

    def _expect_rows(self, file: BinaryIO) -> None:
        """Refuse a file that is another's, or shorter than it was."""
        if file.readline(LONGEST_LINE) != self._head:
            raise FileError(
                f"cannot use {self.path}: it does not hold the samples of this run; "
                f"delete it and the checkpoint, or name another file"
            )
        size = os.fstat(file.fileno()).st_size
        if size < self._end():
            found = (size - len(self._head)) // (8 * (self.width + 1))
            raise FileError(
                f"cannot use {self.path}: it holds {found:,} of "
                f"{plural(self.n_rows, 'sample')}; delete it and the checkpoint, or name another "
                f"file, and let no two runs share one"
            )


def _hashes(rows: NDArray[np.float64], first: int) -> NDArray[np.float64]:
    """(n,): a hash of every row and of its number, the first one having this number."""
    found = b"".join(
        hashlib.blake2b(b"%d " % number + row.tobytes(), digest_size=8).digest()
        for number, row in enumerate(rows, first)
    )
    return np.frombuffer(found, "<f8")


def _with_hashes(rows: NDArray[np.float64], first: int) -> bytes:
    """Rows as they are written."""
    return np.column_stack([rows, _hashes(rows, first)]).astype("<f8", copy=False).tobytes()


def _first_wrong(found: NDArray[np.float64], first: int) -> int | None:
    """The first row that does not have its hash; none if all are as they were written."""
    kept, made = np.ascontiguousarray(found[:, -1]), _hashes(found[:, :-1], first)
    wrong = np.flatnonzero(kept.view(np.uint64) != made.view(np.uint64))
    return int(wrong[0]) if len(wrong) else None
