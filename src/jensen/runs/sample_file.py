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
from typing import BinaryIO, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jensen.exceptions import FileError, JensenError
from jensen.runs.checkpoint import LONGEST_LINE, WAY_OUT
from jensen.support.atomic import check_writable, write_whole
from jensen.support.text import plural

SAMPLES_MAGIC = b"jensen samples "

CUT_OFF = (
    "the last samples in %s are cut short or damaged, as a run leaves them that is killed while it "
    "writes: they are cut off and drawn again"
)

BEGINS_ANEW = (
    "of %s in %s only %s whole, the rest is cut short or damaged: the run begins anew from its "
    "seed, and draws the same samples again"
)

log = logging.getLogger("jensen")


class LostSamplesError(FileError):
    """The last samples that a checkpoint counts on are cut short or damaged, and none follows them.

    A checkpoint knows where a chain ended, not where the first lost sample was drawn. So the chain
    cannot go on from there, but only begin anew from its seed.
    """

    def __init__(self, path: Path, n_whole: int, n_known: int) -> None:
        self.path, self.n_whole, self.n_known = path, n_whole, n_known
        super().__init__(
            f"cannot use {path}: of {plural(n_known, 'sample')} {n_whole:,} "
            f"{'is' if n_whole == 1 else 'are'} whole, and the rest is cut short or damaged: put "
            f"back copies of this file and of {path.with_suffix('')}, or delete both, and the run "
            f"begins anew"
        )

    def warn(self) -> None:
        """Log a warning that the run begins anew."""
        whole = f"{self.n_whole:,} {'is' if self.n_whole == 1 else 'are'}"
        log.warning(BEGINS_ANEW, plural(self.n_known, "sample"), self.path, whole)


class SampleFile:
    """The file ``<path>.samples`` beside a checkpoint: rows of float64 that are only appended.

    Parameters
    ----------
    path
        The path of the checkpoint.
    width
        How many numbers a row has.
    n_known
        How many rows the checkpoint counts. They are kept; if one of them is damaged, the file is
        refused (with `LostSamplesError` if no whole row follows it). Later rows are cut off, also
        half a row that a killed run left. With 0 the file begins anew.
    fingerprint
        The fingerprint of the run, as in `Checkpoint`; the samples of another run are refused.

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
        self._refuse_wrong(_wrong(found))
        return np.ascontiguousarray(found[:, :-1], np.float64)

    def _refuse_wrong(self, wrong: NDArray[np.bool_]) -> None:
        if wrong.any():
            raise FileError(
                f"cannot use {self.path}: sample {int(wrong.argmax()) + 1:,} of {self.n_rows:,} is "
                f"damaged, and all that follows would be wrong; put back a copy of it and of "
                f"{self.path.with_suffix('')}, or delete both, and the run begins anew"
            )

    def _read_all(self, file: BinaryIO) -> tuple[NDArray[np.float64], bool]:
        """All whole rows with their hashes, known or not, and whether part of a row follows."""
        if not self._head.startswith(file.readline(LONGEST_LINE)):  # which may be cut short too
            self._refuse_other()
        rest = file.read()
        n_rows, n_over = divmod(len(rest), 8 * (self.width + 1))
        rows = np.frombuffer(rest, "<f8", n_rows * (self.width + 1))
        return rows.reshape(n_rows, self.width + 1), n_over > 0

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
                rows, is_cut = self._read_all(file)
                wrong = _wrong(rows)
                known = np.append(wrong, np.ones(max(self.n_rows - len(rows), 0), bool))
                n_whole = int(known.argmax()) if known.any() else len(known)
                if n_whole < self.n_rows and wrong[n_whole:].all():
                    raise LostSamplesError(self.path, n_whole, self.n_rows)
                self._refuse_wrong(wrong[: self.n_rows])
                if is_cut or wrong.any():
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
            self._refuse_other()
        size = os.fstat(file.fileno()).st_size
        if size < self._end():
            found = (size - len(self._head)) // (8 * (self.width + 1))
            raise FileError(
                f"cannot use {self.path}: it holds {found:,} of "
                f"{plural(self.n_rows, 'sample')}; delete it and the checkpoint, or name another "
                f"file, and let no two runs share one"
            )

    def _refuse_other(self) -> NoReturn:
        raise FileError(
            f"cannot use {self.path}: it does not hold the samples of this run; "
            f"delete it and the checkpoint, or name another file"
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


def _wrong(found: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(n,): which rows, from the first of the file on, do not have their hash."""
    kept, made = np.ascontiguousarray(found[:, -1]), _hashes(found[:, :-1], 0)
    return np.asarray(kept.view(np.uint64) != made.view(np.uint64))
