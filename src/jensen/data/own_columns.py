"""Which variables of a fitted model have a column in a table, and what is told of the others."""

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from typing import Literal, get_args

from jensen.exceptions import DataError, JensenError, warn
from jensen.support.text import plural, some
from jensen.support.wording import option

MissingColumns = Literal["warn", "ignore"]


def check_own_columns(
    variables: Iterable[str],
    columns: Iterable[str],
    *,
    hidden: Collection[str] = (),
    skip: Collection[str] = (),
    missing_columns: MissingColumns = "warn",
) -> None:
    """Warn of variables without a column; refuse a table that has none of them.

    Parameters
    ----------
    variables
        All variables of the model, by name.
    columns
        All columns of the table.
    hidden
        Variables that never have a column.
    skip
        Variables whose columns are not looked at.
    missing_columns
        "warn", or "ignore" where it is known that columns are missing.
    """
    if missing_columns not in get_args(MissingColumns):
        raise JensenError(f"missing_columns must be 'warn' or 'ignore', not {missing_columns!r}")
    nodes, there = list(variables), list(columns)
    wanted = [name for name in nodes if name not in skip]
    absent = [name for name in wanted if name not in there]
    if any(name not in hidden for name in wanted) and not set(nodes).intersection(there):
        raise DataError(
            f"no column of the table ({some(there)}) is a variable of the network "
            f"({some(wanted)}): rename the columns{_spellings(absent, there)}"
        )
    absent = [name for name in absent if name not in hidden]
    if absent and missing_columns == "warn":
        others = [name for name in there if name not in nodes]
        warn(
            f"the table has no column for {plural(len(absent), 'variable')} of the network, "
            f"{some(map(repr, absent))}: taken as missing in every row"
            f"{_spellings(absent, others)}; rename the columns, or say "
            f"{option('missing_columns', 'ignore')} if they are missing indeed"
        )


def _spellings(absent: Sequence[str], columns: Sequence[str]) -> str:
    """Which columns may be meant, in brackets."""
    found = {name: nearest(name, columns) for name in absent}
    meant = [f"{other!r} for {name!r}" for name, other in found.items() if other is not None]
    return f" (is it {some(meant)}?)" if meant else ""


def nearest(name: str, columns: Iterable[str]) -> str | None:
    """The column whose name is spelled most alike, whatever its case; None if none is near.

    >>> nearest("Smoker", ["age", "smokr"]), nearest("Smoker", ["age"])
    ('smokr', None)
    """
    by_text = {column.strip().casefold(): column for column in columns}
    close = get_close_matches(name.strip().casefold(), list(by_text), n=1)
    return by_text[close[0]] if close else None
