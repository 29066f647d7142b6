"""Sequences as people pass them: one array with lengths, or a list of sequences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from jensen.data import Table, Variable
from jensen.data.column_warnings import warn_of_row_names
from jensen.data.model_columns import UnknownLabels, read_known
from jensen.data.number_rows import NumberRows
from jensen.data.table_choices import check_weights, states_by_column
from jensen.data.variable import EXACT
from jensen.estimators.arrays import names_of, read_matrix, refuse_no_rows
from jensen.exceptions import DataError
from jensen.inference.chains import Steps
from jensen.models.emissions.registry import EMISSIONS, owner_of
from jensen.scores.table_checks import warn_of_constant_labels
from jensen.support.text import option

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

WHOLE = re.compile(r"-?[0-9]{1,18}")
"""The text of a whole number that has room in 64 bits."""


def join_sequences(X: Any, lengths: Any) -> tuple[Any, Any]:
    """All rows in one piece, and the lengths that the caller or a list of sequences says.

    A list of anything but single values is a list of sequences, unless lengths say that it is one
    of rows.
    """
    if isinstance(X, Iterator):
        raise DataError("X can be read once only: give a list of sequences, list(X)")
    refuse_no_rows(X)
    X = _named(X)
    if isinstance(X, list | tuple) and X and not _is_single(X[0]):
        if lengths is None:
            return _join(X)
        _refuse_sequences(X, lengths)
    return X, lengths


def read_lengths(lengths: Any, n_rows: int) -> Ints:
    """The length of every sequence; one has all rows, unless the caller says more."""
    if lengths is None:
        return np.array([n_rows])
    found = np.asarray(lengths)
    if found.ndim != 1 or not np.issubdtype(found.dtype, np.integer):
        raise DataError("lengths must be whole numbers, one for each sequence")
    found = found.astype(np.int64)
    refuse_empty(found)
    if found.sum() != n_rows:
        raise DataError(
            f"the lengths sum to {found.sum()}, but there are {n_rows} rows: give the lengths of "
            f"these sequences"
        )
    return found


def refuse_lengths_as_y(X: Any, y: Any) -> None:
    """Refuse lengths in the place of y, which is not used: pipelines give one for each row."""
    try:
        size = len(y)
    except TypeError:  # None, a number, or what is no array yet
        return
    if not hasattr(X, "__len__"):
        return
    n_rows = X.shape[:1] if hasattr(X, "shape") else (len(X),)
    if n_rows != (size,):
        raise DataError(
            "the second argument is y, which is not used, and it does not have a value for each "
            "row: if these are the lengths of sequences, write lengths=..."
        )


def refuse_empty(lengths: Ints) -> None:
    """Refuse sequences without a step."""
    if (lengths < 1).any():
        number = int(np.argmax(lengths < 1)) + 1
        raise DataError(f"sequence {number} has no steps: leave it out")


def read_sequence_weights(sequence_weight: Any, lengths: Ints, sample_weight: Any = None) -> Array:
    """How often each sequence counts: said of sequences, or of all their rows alike."""
    if sample_weight is None:
        if sequence_weight is None:
            return np.ones(len(lengths))
        return check_weights(sequence_weight, len(lengths), "sequence", EXACT)
    if sequence_weight is not None:
        raise DataError("give sequence_weight, or sample_weight for every row, not both")
    by_row = check_weights(sample_weight, int(lengths.sum()), most=EXACT)
    weight = by_row[np.cumsum(lengths) - lengths]
    differs = np.repeat(weight, lengths) != by_row
    if differs.any():
        raise DataError(
            f"row {int(differs.argmax()) + 1} has another weight than the row before: a sequence "
            f"counts as a whole, so all its rows have one weight"
        )
    return np.asarray(weight)


def seen_steps(rows: NumberRows, lengths: Ints) -> tuple[NumberRows, Ints, NDArray[np.intp]]:
    """Sequences without the steps after the last that shows something, and which have any.

    What comes after integrates to one, if how sequences end is not modelled. Rows that are read
    again in every pass stay.
    """
    everything = np.arange(len(lengths))
    if not rows.is_kept or not rows.has_gaps:
        return rows, lengths, everything
    values, ends = rows.values(), np.cumsum(lengths)
    shows = ~np.isnan(values).all(1)
    place = np.arange(len(values)) - np.repeat(ends - lengths, lengths)
    kept = np.zeros(len(lengths), np.int64)
    np.maximum.at(kept, np.repeat(everything, lengths)[shows], place[shows] + 1)
    if np.array_equal(kept, lengths):
        return rows, lengths, everything
    seen = values[place < np.repeat(kept, lengths)]
    some = np.flatnonzero(kept)
    return NumberRows.of(seen), kept[some], some


def chosen_steps(steps: Steps, chosen: NDArray[np.intp]) -> Steps:
    """These sequences, in this order."""
    if np.array_equal(chosen, np.arange(len(steps.lengths))):
        return steps
    begin = np.cumsum(steps.lengths) - steps.lengths
    rows = [np.arange(begin[s], begin[s] + steps.lengths[s]) for s in chosen]
    return Steps(
        steps.values[np.concatenate([np.empty(0, np.int64), *rows])], steps.lengths[chosen]
    )


# --- lists of sequences ---


def _is_single(part: Any) -> bool:
    """Whether this is one value; a text is one label, whatever its length."""
    is_many = hasattr(part, "__len__") and not isinstance(part, str | bytes)
    return not is_many or (isinstance(part, np.ndarray) and part.ndim == 0)


def _join(X: Sequence[Any]) -> tuple[Any, Ints]:
    """The rows of all sequences."""
    for k, part in enumerate(X):
        if _is_single(part):
            raise DataError(f"sequence {k + 1} is {part!r:.40}: give a list or an array of steps")
    refuse_empty(np.array([len(part) for part in X], np.int64))
    if all(_is_frame(part) for part in X):
        return _join_frames(X), np.array([len(part) for part in X], np.int64)
    parts = [_even_rows(k, part) for k, part in enumerate(X)]
    if len({part.shape[1:] for part in parts}) > 1:
        raise DataError("the sequences differ in their number of columns")
    return np.concatenate(parts), np.array([len(part) for part in parts], np.int64)


def _named(X: Any) -> Any:
    """A series with a name, or sequences that are such, as dataframes of that column."""
    parts = X if isinstance(X, list | tuple) and X else [X]
    found = [nw.from_native(part, pass_through=True, allow_series=True) for part in parts]
    if not all(isinstance(part, nw.Series) and isinstance(part.name, str) for part in found):
        return X
    if "" in (names := {part.name for part in found}) or len(names) > 1:
        return X
    frames = [part.to_frame().to_native() for part in found]
    return frames if parts is X else frames[0]


def _is_frame(part: Any) -> bool:
    return isinstance(part, Table) or hasattr(part, "columns")


def _join_frames(X: Sequence[Any]) -> Any:
    """One dataframe; that of tables is pandas'."""
    frames = [
        nw.from_native(part.to_pandas() if isinstance(part, Table) else part, eager_only=True)
        for part in X
    ]
    for k, frame in enumerate(frames):
        if frame.columns != frames[0].columns:
            raise DataError(
                f"sequence {k + 1} has the columns {frame.columns}, but the first one has "
                f"{frames[0].columns}"
            )
    return nw.concat(frames).to_native()


def _refuse_sequences(X: Sequence[Any], lengths: Any) -> None:
    """With lengths, parts are rows, all equally long; refuse those that must be sequences."""
    sizes = [len(part) for part in X if not _is_single(part)]
    deep = any(len(getattr(part, "shape", (0,))) > 1 or _is_frame(part) for part in X)
    is_sum = np.ndim(lengths) == 1 and np.array_equal(sizes, lengths) and sum(sizes) != len(X)
    if deep or is_sum or len(set(sizes)) > 1:
        raise DataError("X is a list of sequences, which tells their lengths: leave out lengths")


def _even_rows(k: int, part: Any) -> NDArray[Any]:
    """The k-th sequence as rows and columns."""
    try:
        return _rows(part)
    except ValueError:
        raise DataError(
            f"the rows of sequence {k + 1} differ in length: give each as many values, None where "
            f"one is missing"
        ) from None


def _rows(part: Any) -> NDArray[Any]:
    """One sequence as rows and columns; labels keep their type."""
    if hasattr(part, "__array__"):
        array = np.asarray(part)
    else:
        is_numbers = all(isinstance(x, int | float | np.number) for x in np.ravel(part))
        array = np.array(part) if is_numbers else np.array(part, dtype=object)
    return array[:, None] if array.ndim == 1 else array


# --- labels and numbers ---


def learn_labels(
    estimator: Any, X: Any, symbols: Sequence[object] | None
) -> tuple[Array, tuple[Variable, ...], tuple[bool, ...]]:
    """Codes (n, D), missing NaN, the variable of each column, and whether labels are numbers."""
    columns = _label_columns(estimator, X, reset=True)
    table = label_table(columns, symbols)
    inferred = Table.from_columns(map(table.column, table.names))
    rows = X if isinstance(X, Table) else inferred
    is_frame = isinstance(X, Table) or _is_frame(X)
    warn_of_row_names(rows, numbers=is_frame and estimator.emission is None)
    warn_of_constant_labels(rows, learned="states")
    given = columns.values() if symbols is None else [list(symbols)] * len(columns)
    pairs = zip(table.variables, given, strict=True)
    return _codes(table), table.variables, tuple(are_whole(v, labels) for v, labels in pairs)


def read_labels(
    estimator: Any, X: Any, known: tuple[Variable, ...]
) -> tuple[Array, UnknownLabels | None]:
    """Codes (n, D), missing NaN, and labels that are not known; labels match by their text."""
    columns = _label_columns(estimator, X, reset=False)
    renamed = dict(zip((v.name for v in known), columns.values(), strict=True))
    table, unknown = read_known(Table(renamed, categorical=list(renamed)), known)
    return _codes(table), unknown


def _codes(table: Table) -> Array:
    columns = [table.column(name) for name in table.names]
    values = [np.where(c.missing(), np.nan, c.data.astype(np.float64)) for c in columns]
    return np.stack(values, axis=1)


def are_whole(variable: Variable, labels: Any) -> bool:
    """Whether all labels of a column are whole numbers, and were given as such: 2, not "2"."""
    if not isinstance(labels, list):
        labels = np.asarray(labels)
    is_typed = isinstance(labels, np.ndarray) and labels.dtype != object
    kinds = {labels.dtype.type} if is_typed else set(map(type, labels))
    is_text = any(issubclass(kind, str) for kind in kinds)
    return not is_text and all(WHOLE.fullmatch(text) for text in variable.states)


def refuse_texts(X: Any, variables: tuple[Variable, ...]) -> None:
    """Refuse texts that are no labels, but are spelled with labels: they were meant as sequences.

    Elsewhere a text is one label; `merge_states` takes it for a sequence of its characters.
    """
    texts = X.tolist() if isinstance(X, np.ndarray) else X
    if not isinstance(texts, list | tuple) or not all(isinstance(x, str) for x in texts):
        return
    known = {label for variable in variables for label in variable.states}
    strange = [x for x in texts if x not in known]
    if strange and all(len(x) > 1 and known.issuperset(x) for x in strange):
        raise DataError(
            f"the text {strange[0]!r:.40} is one label, which this model does not know, though it "
            f"knows its characters: for sequences of characters give [list(text) for text in ...]"
        )


def label_table(columns: dict[str, Any], symbols: Sequence[object] | None) -> Table:
    """Columns of labels; `symbols` are all that there are, unless None."""
    table = Table(columns, categorical=list(columns))
    if symbols is None:
        return table
    labels = states_by_column({"symbols": symbols}, {})["symbols"]
    table, unknown = read_known(table, [Variable(name, "categorical", labels) for name in columns])
    if unknown is not None:
        raise DataError(
            f"row {int(unknown.rows.argmax()) + 1} has the label {unknown.label!r}, which is not "
            f"among symbols={list(labels)!r:.80}: add it there"
        )
    return table


def _label_columns(estimator: Any, X: Any, *, reset: bool) -> dict[str, Any]:
    """Columns by name; scikit-learn learns or checks how many there are, and their names."""
    from sklearn.utils.validation import validate_data  # type: ignore[import-untyped]

    if isinstance(X, str):
        raise DataError(f"the text {X!r:.40} is no sequence: give a list of labels, [list(text)]")
    if isinstance(X, Table):
        X = X.to_pandas()
    if hasattr(X, "columns") and not isinstance(X, np.ndarray):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return {str(name): X[name] for name in X.columns}
    array = validate_data(
        estimator,
        X if issparse(X) else _rows(X),
        reset=reset,
        dtype=None,
        ensure_all_finite="allow-nan",
    )
    is_object = array.dtype == object
    columns = [list(column) if is_object else column for column in array.T]
    return {f"x{i}": column for i, column in enumerate(columns)}


LABELS = (
    f"leave the column out, or choose {option('emission', owner_of('symbols').word)} for labels"
)
"""What to do with words in sequences of numbers."""


def read_numbers(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    emission: str | None = None,
    otherwise: str = LABELS,
) -> Array:
    """Numbers (n, D), missing NaN, that the emission can make; a flat X is one column."""
    is_list = isinstance(X, list | tuple) and bool(X) and all(map(_is_single, X))
    if is_list or len(getattr(X, "shape", ())) == 1:
        X = _rows(X)
    values = read_matrix(estimator, X, reset=reset, otherwise=otherwise)
    if emission is not None:
        EMISSIONS[emission].kind.check(values, names_of(estimator, values.shape[1]))
    return values
