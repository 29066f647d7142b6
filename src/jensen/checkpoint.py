"""Checkpoints: a long run may be killed at any moment and resumed to the identical result.

A checkpoint is data only and is replaced whole at every save. It reads::

    jensen checkpoint 1
    <SHA-256 of all that follows>
    {"fingerprint": <data and settings of the run>, "notes": <JSON>, "arrays": [<names>]}
    <the arrays as .npy, one after another>

Samples only ever grow, so they have a file of their own, ``<path>.samples``. Append the samples
first, then save a checkpoint that says how many there are: what a killed run appended after its
last checkpoint is cut off when the run resumes.
"""

import hashlib
import io
import json
import os
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jensen.atomic import check_target, write_whole
from jensen.exceptions import FileError, JensenError
from jensen.text import plural

EVERY_SECONDS = 2.0
VERSION = 1

MAGIC = b"jensen checkpoint %d\n"
SAMPLES_MAGIC = b"jensen samples "
LONGEST_LINE = 1000  # of the first lines; another program's file may be one line of gigabytes
WAY_OUT = "delete the file or name another"

BIT_GENERATORS = {
    kind.__name__: kind
    for kind in (
        np.random.PCG64,
        np.random.PCG64DXSM,
        np.random.MT19937,
        np.random.Philox,
        np.random.SFC64,
    )
}


class Saved(NamedTuple):
    """What a checkpoint holds."""

    notes: Any  # JSON: tuples come back as lists
    arrays: dict[str, NDArray[Any]]


class Checkpoint:
    """The file from which one run resumes; may be saved from several threads.

    Parameters
    ----------
    path
        Where. If the file is there, it is read; if it is not the file of this run, or not
        whole, it is refused.
    fingerprint
        Of the data and of all settings that shape the result: see `fingerprint`.

    Attributes
    ----------
    content
        What was found when the checkpoint was opened, or None: the run starts anew.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.checkpoint"
    >>> run = fingerprint("my data", {"seed": 0})
    >>> Checkpoint(path, run).save({"sweep": 7}, {"score": np.array([-np.inf, 0.5])})
    >>> found = Checkpoint(path, run).content
    >>> found.notes, found.arrays["score"]
    ({'sweep': 7}, array([-inf,  0.5]))
    """

    content: Saved | None

    def __init__(self, path: str | Path, fingerprint: str) -> None:
        _check_writable(path)
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

        The clock decides only when, never what. While another thread saves, nothing is done: so
        `make` may take a lock that the callers hold.
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
            np.lib.format.write_array(body, _plain_array(array), allow_pickle=False)
        content = body.getbuffer()
        with write_whole(self.path) as file:
            file.write(MAGIC % VERSION)
            file.write(hashlib.sha256(content).hexdigest().encode() + b"\n")
            file.write(content)


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
        _check_writable(self.path)
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


def fingerprint(*parts: Any) -> str:
    """A SHA-256 that is equal only for equal data and settings, on every run and machine.

    Parameters
    ----------
    *parts
        Of str, bytes, int, float, bool, None, NumPy arrays and numbers, and lists, tuples and
        dictionaries of these. A list and a tuple are the same; 1, 1.0 and True are not; the
        order of a dictionary does not matter; of an array count dtype, shape and content.

    Returns
    -------
    str
        64 hexadecimal digits.

    References
    ----------
    NIST (2015), *Secure Hash Standard*, FIPS 180-4, doi:10.6028/NIST.FIPS.180-4, section 6.2.

    Examples
    --------
    >>> fingerprint(["ab"]) == fingerprint(["a", "b"])
    False
    >>> fingerprint({"a": 1, "b": (2, 3)}) == fingerprint({"b": [2, 3], "a": 1})
    True
    """
    digest = hashlib.sha256()
    _feed(parts, digest.update)
    return digest.hexdigest()


def generator_state(rng: np.random.Generator) -> dict[str, Any]:
    """All there is to know about a generator, as JSON: its next draws and its next children.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> state = json.loads(json.dumps(generator_state(rng)))
    >>> bool(rng.random() == restore_generator(state).random())
    True
    """
    seed = rng.bit_generator.seed_seq
    state = rng.bit_generator.state
    if state["bit_generator"] not in BIT_GENERATORS or type(seed) is not np.random.SeedSequence:
        raise JensenError(
            f"a checkpoint cannot hold {rng!r} with the seed {seed!r}: "
            f"make the generator with np.random.default_rng(seed)"
        )
    return {"state": _plain(state), "seed": _plain(seed.state)}


def restore_generator(state: Mapping[str, Any]) -> np.random.Generator:
    """The generator that `generator_state` described; it draws and spawns as that one would."""
    name = state["state"]["bit_generator"]
    if name not in BIT_GENERATORS:
        raise JensenError(f"there is no generator {name!r}: {', '.join(BIT_GENERATORS)} are known")
    bits = BIT_GENERATORS[name](np.random.SeedSequence(**state["seed"]))
    bits.state = state["state"]
    return np.random.Generator(bits)


def _check_writable(path: str | Path) -> None:
    """Say now, not after hours, that a file cannot be replaced."""
    check_target(path)
    folder = Path(os.path.realpath(path)).parent
    if not os.access(folder, os.W_OK):
        raise FileError(f"cannot write {path}: the folder {folder} is protected against writing")


def _read(path: str | Path, fingerprint: str) -> Saved | None:
    """The content of a file of this run, None without a file, else an error."""
    try:
        with open(path, "rb") as file:
            _check_version(path, file.readline(LONGEST_LINE))
            digest = file.readline(LONGEST_LINE).strip()
            content = file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from None
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
        return Saved(head["notes"], arrays)
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


def _feed(part: Any, update: Callable[[Any], object]) -> None:
    """Hash one part: its kind, its size, its content, so that no two parts look alike."""

    def feed(kind: str, content: bytes) -> None:
        update(f"{kind} {len(content)}:".encode())
        update(content)

    match part:
        case None:
            feed("none", b"")
        case bool() | np.bool_():
            feed("bool", str(bool(part)).encode())
        case int() | np.integer():
            feed("int", f"{int(part):x}".encode())
        case float() | np.floating():
            feed("float", repr(float(part)).encode())
        case str():
            feed("str", part.encode("utf-8", "surrogatepass"))
        case bytes():
            feed("bytes", part)
        case list() | tuple():
            update(f"list {len(part)}:".encode())
            for item in part:
                _feed(item, update)
        case dict():
            items = sorted((fingerprint(key), value) for key, value in part.items())
            update(f"dict {len(items)}:".encode())
            for key, value in items:
                feed("key", key.encode())
                _feed(value, update)
        case np.ndarray():
            array = np.ascontiguousarray(_plain_array(part))
            feed("array", f"{array.dtype.str} {part.shape}".encode())
            update(array.reshape(-1).view(np.uint8).data)
        case _:
            raise TypeError(f"a fingerprint is taken of plain data, not of {type(part).__name__}")


def _plain_array(array: NDArray[Any]) -> NDArray[Any]:
    """Refuse arrays whose bytes are not their content: objects, records, long doubles."""
    if array.dtype.kind not in "biufcSUmM" or array.dtype.char in "gG":
        raise TypeError(f"an array of {array.dtype} cannot be kept as plain data")
    return array


def _plain(value: Any) -> Any:
    """Arrays and NumPy's numbers as JSON knows them."""
    match value:
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case np.ndarray() | np.generic():
            return value.tolist()
        case _:
            return value
