"""Samples of a long run: a file that only ever grows, beside the checkpoint of the run."""

import hashlib
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


class SampleFile:
    """The file ``<path>.samples`` beside a checkpoint: rows of float64 that are only appended.

    Parameters
    ----------
    path
        Of the checkpoint.
    width
        Numbers in a row.
    n_known
        Rows that the checkpoint knows of: they are kept and what follows is cut, half a row of a
        killed run included. With 0 the file starts anew.
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
        self._head = SAMPLES_MAGIC + f"1, {width} float64 a row, run {run}\n".encode()
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
                    file.write(block.data)
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
                    file.seek(len(self._head))
                    numbers = np.fromfile(file, dtype="<f8", count=self.n_rows * self.width)
            except OSError as error:
                raise FileError(f"cannot read {self.path}: {error.strerror or error}") from None
            return numbers.astype(np.float64, copy=False).reshape(self.n_rows, self.width)

    def _end(self) -> int:
        """Where the next row goes."""
        return len(self._head) + 8 * self.width * self.n_rows

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
                self._expect_rows(file)
                file.truncate(self._end())
        except FileNotFoundError:
            raise FileError(
                f"cannot resume without {self.path}: it should hold "
                f"{plural(self.n_rows, 'sample')}; put it back, or delete the checkpoint"
            ) from None
        except OSError as error:
            raise FileError(f"cannot write {self.path}: {error.strerror}") from None

    def _expect_rows(self, file: BinaryIO) -> None:
        """Refuse a file that is another's, or shorter than it was."""
        if file.readline(LONGEST_LINE) != self._head:
            raise FileError(
                f"cannot use {self.path}: it does not hold the samples of this run; "
                f"delete it and the checkpoint, or name another file"
            )
        size = os.fstat(file.fileno()).st_size
        if size < self._end():
            found = (size - len(self._head)) // (8 * self.width)
            raise FileError(
                f"cannot use {self.path}: it holds {found:,} of "
                f"{plural(self.n_rows, 'sample')}; delete it and the checkpoint, or name another "
                f"file, and let no two runs share one"
            )
