"""`scan_table`: rows of files larger than memory, decoded once into columns on disk.

Text and Parquet are slow to read, so they are read once. What is decoded takes a byte for most
labels and eight for a number, is mapped to memory, and every later pass is as quick as the disk.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from jensen.data import blocks
from jensen.data.column_warnings import warn_of_labels
from jensen.data.dialect import TextChoices
from jensen.data.encode import Column
from jensen.data.pieces import Piecewise, find_sources
from jensen.data.spill import ColumnDraft, MixedColumnError, Told
from jensen.data.table import Table
from jensen.data.table_choices import check_weights, mark_counts, no_column, read_declared
from jensen.data.table_scan import TableScan
from jensen.data.variable import Variable
from jensen.exceptions import DataError, FileError
from jensen.support.atomic import write_whole
from jensen.support.fingerprint import fingerprint
from jensen.support.machine import ordered_map
from jensen.support.text import some

MANIFEST = "columns.json"
"""What a spill folder holds; written last, so that a folder without it is not whole."""

UNFINISHED = ".unfinished"
"""The folder within a spill folder in which columns grow."""


def scan_table(
    data: Any,
    *,
    spill: str | PathLike[str] | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    categorical: Iterable[str] = (),
    counts: Iterable[str] = (),
    continuous: Iterable[str] | Literal["all"] = (),
    states: Mapping[str, Sequence[object]] | None = None,
    missing: Iterable[object] | None = None,
    weights: str | None = None,
) -> TableScan:
    """Scan more rows than memory holds: what learns from a table learns from them, bit for bit.

    Parameters
    ----------
    data
        A file, a folder, a pattern such as "rows/*.parquet", or a list of these: CSV, TSV and
        Parquet, also compressed, files of a folder or pattern in the natural order of their names
        (2 before 10). Or what streams Arrow: a dataset, a record batch reader, a DuckDB relation, a
        lazy frame of polars. These are written down once and never asked again.
    spill
        A folder for the decoded columns. It is used again while files and choices stay the same.
        None: temporary files, which take no place any more when the scan is gone.
    separator, decimal
        Of text files, as in `read_table`. Numbers with a comma are refused unless `decimal` says
        what it means.
    categorical, counts, continuous, states, missing
        As in `Table`. Kinds and states are those that a table in memory would have.
    weights
        The column that says how often each row counts; it is then no variable.

    Returns
    -------
    TableScan
        It prints like a table, and stands wherever learners and scores take one.

    Examples
    --------
    >>> import tempfile, pathlib, jensen as jn
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for k in range(3):
    ...     jn.examples.load("asia").sample(1000, random_state=k).write(folder / f"{k}.parquet")
    >>> rows = jn.scan_table(folder)
    >>> rows.n_rows, rows.variable("xray").states
    (3000, ('no', 'yes'))
    >>> jn.chow_liu(rows) == jn.chow_liu(rows.gather(rows.names))
    True
    """
    choices = TextChoices(separator, decimal)
    choices.check()
    declared = read_declared(categorical, counts, continuous, states, missing)
    kinds, labels, said, is_all = declared
    if weights is not None:
        declared.refuse_weights(weights)
    others = Told(missing=said or (), as_numbers=is_all)
    told = {name: Told(kinds.get(name), labels.get(name), said or ()) for name in [*kinds, *labels]}
    if weights is not None:
        told[weights] = Told("continuous")
    sources = find_sources(data)
    key = _key(
        sources,
        [choices, said, is_all, [(x, *y) for x, y in sorted(told.items())], weights],
    )
    folder, is_kept = _folder(spill)
    columns = _read_spill(folder, key) if is_kept else None
    with _removed_on_error(folder / UNFINISHED if is_kept else folder):
        if columns is None:
            drafts = _decode(sources, choices, told, others, folder / UNFINISHED)
            columns = list(ordered_map(ColumnDraft.finish, drafts))
            coded = {draft.name for draft in drafts if draft.is_coded}
            numbers = [c for c in columns if c.variable.name not in {*labels, *coded, weights}]
            inferred = [column for column in numbers if column.variable.name not in kinds]
            files = [each.where for each in sources if isinstance(each.source, Path)]
            warn_of_labels(inferred, numbers, data, choices, declared.has_words, files=files)
            if is_kept:
                _place(columns, folder, key)
        rows = _scan(mark_counts(columns, kinds), weights)
    if not is_kept:
        _forget_later(columns, folder)
    return rows


def _scan(columns: Sequence[Column], weights: str | None) -> TableScan:
    """Columns on disk as rows that are read again in every pass."""
    own = [column.data for column in columns if column.variable.name == weights]
    table = Table.from_columns(c for c in columns if c.variable.name != weights)
    if own:
        for start in range(0, len(own[0]), blocks.UNIT_ROWS):
            part = own[0][start : start + blocks.UNIT_ROWS]
            check_weights(part, len(part), before=start)
    read = partial(_read, table, own[0] if own else None)
    whole = None if own else table
    return TableScan(table.variables, read, bool(own), "pandas", table.checks_done, whole=whole)


def _read(table: Table, weights: np.ndarray[Any, Any] | None) -> Iterator[Table]:
    """The rows, some at a time."""
    for start in range(0, table.n_rows, blocks.UNIT_ROWS):
        part = table.rows(start, min(start + blocks.UNIT_ROWS, table.n_rows))
        yield part if weights is None else part.with_weights(weights[start:][: part.n_rows])


# --- decoding ---


def _decode(
    sources: Sequence[Piecewise],
    choices: TextChoices,
    told: Mapping[str, Told],
    others: Told,
    folder: Path,
) -> list[ColumnDraft]:
    """All columns, decoded into the folder; again if numbers turn out to be labels."""
    as_text: set[str] = set()
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was killed
    folder.mkdir(parents=True)
    sources = [_as_file(one, folder) for one in sources]
    while True:
        drafts: dict[str, ColumnDraft] = {}
        mixed = _decode_once(sources, choices, told, others, folder, drafts, as_text)
        if not mixed:
            return list(drafts.values())
        as_text |= mixed
        for draft in drafts.values():
            draft.discard()


def _decode_once(
    sources: Sequence[Piecewise],
    choices: TextChoices,
    told: Mapping[str, Told],
    others: Told,
    folder: Path,
    drafts: dict[str, ColumnDraft],
    as_text: set[str],
) -> set[str]:
    """One pass over all sources; the columns of numbers that went on with labels."""

    def add(job: Any) -> str | None:
        draft, raw = job
        try:
            draft.add(raw)
        except MixedColumnError:
            return str(draft.name)
        return None

    for source in sources:
        for piece in source.pieces(choices, others.missing):
            names = [raw.name for raw in piece]
            if not drafts:
                for name in told:
                    if name not in names:
                        raise DataError(no_column(name, names))
                drafts.update(
                    (x, ColumnDraft(x, told.get(x, others), folder / f"{k}.column", x in as_text))
                    for k, x in enumerate(names)
                )
            _check_names(names, list(drafts), source.where, sources[0].where)
            mixed = set(ordered_map(add, [(drafts[raw.name], raw) for raw in piece])) - {None}
            if mixed:
                return {str(name) for name in mixed}
    if not drafts:
        raise DataError(f"{sources[0].where} has no rows")
    return set()


def _check_names(names: list[str], first: list[str], where: str, where_first: str) -> None:
    """Refuse a source whose columns are others than those of the first."""
    lost, extra = [x for x in first if x not in names], [x for x in names if x not in first]
    if lost or extra:
        parts = [f"no column {some(map(repr, lost))}"] if lost else []
        parts += [f"a column {some(map(repr, extra))} more"] if extra else []
        raise DataError(
            f"{where} has {' and '.join(parts)}, unlike {where_first}: all files of a scan have "
            f"the same columns"
        )


def _as_file(source: Piecewise, folder: Path) -> Piecewise:
    """What streams is written down, for it cannot always be asked again."""
    if isinstance(source.source, Path):
        return source
    path, writer = folder / "streamed.parquet", None
    try:
        for batch in source.batches():
            writer = writer or pa.parquet.ParquetWriter(path, batch.schema, compression="lz4")
            writer.write_batch(batch)
    except OSError as error:
        raise FileError(
            f"{source.where} cannot be written to {folder.parent}: {error.strerror or error}"
        ) from None
    finally:
        if writer is not None:
            writer.close()
    if writer is None:
        raise DataError(f"{source.where} has no rows")
    return Piecewise(source.where, path)


# --- the folder ---


def _folder(spill: str | PathLike[str] | None) -> tuple[Path, bool]:
    """The folder of the columns, and whether it is kept."""
    if spill is None:
        return Path(tempfile.mkdtemp(prefix="jensen-scan-")), False
    folder = Path(spill)
    if folder.exists() and not folder.is_dir():
        raise FileError(f"spill={str(spill)!r} is a file, and a folder is needed")
    strange = [x.name for x in folder.iterdir()] if folder.exists() else []
    if strange and MANIFEST not in strange and strange != [UNFINISHED]:
        raise FileError(
            f"the folder {str(spill)!r} holds other things ({some(strange)}): give an empty or a "
            f"new one as spill"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {str(spill)!r}: {error.strerror}") from None
    return folder, True


@contextmanager
def _removed_on_error(folder: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _key(sources: Sequence[Piecewise], choices: list[Any]) -> str | None:
    """A hash of files and choices; None if a source is no file, which may change unseen."""
    if not all(isinstance(one.source, Path) for one in sources):
        return None
    known = [(one.where, *one.state()) for one in sources]
    return fingerprint("a scan, 1", known, repr(choices))


def _place(columns: Sequence[Column], folder: Path, key: str | None) -> None:
    """Move finished columns into the folder, and list them."""
    (folder / MANIFEST).unlink(missing_ok=True)
    listed = []
    for k, column in enumerate(columns):
        (folder / UNFINISHED / f"{k}.column").replace(folder / f"{k}.column")
        v = column.variable
        listed.append([v.name, v.kind, list(v.states), str(column.data.dtype), len(column.data)])
    shutil.rmtree(folder / UNFINISHED)
    with write_whole(folder / MANIFEST) as file:
        file.write(json.dumps({"key": key, "columns": listed}).encode())


def _read_spill(folder: Path, key: str | None) -> list[Column] | None:
    """The columns that were decoded from the same files with the same choices; else None."""
    try:
        found = json.loads((folder / MANIFEST).read_bytes())
        if key is None or found["key"] != key:
            return None
        columns = []
        for k, (name, kind, states, dtype, n) in enumerate(found["columns"]):
            path, width = folder / f"{k}.column", np.dtype(dtype).itemsize
            if path.stat().st_size != n * width:
                return None
            data = np.memmap(path, dtype, "r", shape=(n,)) if n else np.empty(0, dtype)
            columns.append(Column(Variable(name, kind, tuple(states)), np.asarray(data)))
        return columns
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _forget_later(columns: Sequence[Column], folder: Path) -> None:
    """Remove temporary columns; where open files can be removed, now, as the maps stay."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        for column in columns:
            weakref.finalize(column.data, shutil.rmtree, folder, ignore_errors=True)
