"""The columns of anything that can become a table, ready to be encoded as the caller chooses."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data import convert
from jensen.data.encode import Column, encode
from jensen.data.files import read_columns
from jensen.data.separators import TextChoices
from jensen.data.sources import collected, kind_of_source, raw_columns
from jensen.data.variable import Kind
from jensen.exceptions import DataError
from jensen.support.text import offer
from jensen.support.wording import option

Reader = Callable[[Kind | None, Sequence[str] | None, Collection[str]], Column]
"""Encodes one column as the caller's choices say: kind, states, missing labels."""


def open_columns(
    data: Any, names: Sequence[str] | None, absent: Sequence[str], choices: TextChoices
) -> tuple[str, list[tuple[str, Reader]], list[str]]:
    """The kind of source, a reader for each column, and the columns whose states it declares."""
    if isinstance(data, (str, PathLike)):
        raws = read_columns(data, absent, choices)
    else:
        choices.refuse_for(f"this {type(data).__name__}")
        data = collected(data)
        raws = raw_columns(data, names)
    readers: list[tuple[str, Reader]] = [(raw.name, partial(encode, raw)) for raw in raws]
    return kind_of_source(data), readers, [raw.name for raw in raws if raw.declared is not None]


def encode_again(
    column: Column, kind: Kind | None, states: Sequence[str] | None, missing: Collection[str]
) -> Column:
    """Encode a column of a table again, with other choices."""
    if kind is None and states is None and not missing:
        return column
    old = column.variable
    if kind is None and states is None:
        kind = old.kind
    new = encode(raw_columns(convert.to_arrow([column]))[0], kind, states, missing)
    same = new.variable == replace(old, cuts=None)
    return Column(old, new.data) if same else new


def take_weights(
    name: str, readers: list[tuple[str, Reader]]
) -> tuple[NDArray[np.float64], list[tuple[str, Reader]]]:
    """The weights in a column, and the readers of the other columns."""
    chosen = [read for known, read in readers if known == name]
    if not chosen:
        raise DataError(no_column(name, [known for known, _ in readers]))
    try:
        column = chosen[0]("continuous", None, ())
    except DataError as error:
        raise DataError(f"{option('weights', name)}: {error.marked}") from None
    return np.asarray(column.data, np.float64), [pair for pair in readers if pair[0] != name]


def no_column(name: str, names: Sequence[str]) -> str:
    """The error text for an unknown column, with the nearest names."""
    return f"there is no column {name!r}; {offer(name, names, 'column')}"
