"""Advice in the words of whoever reads it: arguments of Python, or options of the command line."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

Say = Callable[..., str]
"""Spells choices, given by their names."""

_in_shell = False
"""For the whole process: columns are read on threads, and their errors give advice too."""


@contextmanager
def for_shell() -> Iterator[None]:
    """Inside, advice is given as options of the command line."""
    global _in_shell
    before, _in_shell = _in_shell, True
    try:
        yield
    finally:
        _in_shell = before


def option(name: str, value: str | Sequence[str]) -> str:
    """How a choice is made: a text is one value, a sequence of texts a list.

    The command line has no empty list; the empty text stands for it.

    >>> option("missing", ["NA", "?"]), option("separator", ";")
    ("missing=['NA', '?']", "separator=';'")
    >>> with for_shell():
    ...     option("missing", ["NA", "?"])
    "--missing NA --missing '?'"
    """
    if not _in_shell:
        return f"{name}={(value if isinstance(value, str) else list(value))!r}"
    flag = f"--{name.replace('_', '-')}"
    values = [value] if isinstance(value, str) else list(value) or [""]
    return " ".join(f"{flag} {_shell_word(each)}" for each in values)


def for_reader(in_python: str, in_shell: str) -> str:
    """The text for whoever reads it, where the two have little in common.

    >>> for_reader("pass interval=None", "leave --interval out")
    'pass interval=None'
    """
    return in_shell if _in_shell else in_python


def of_file(**choices: str | Sequence[str]) -> str:
    """How choices are made for a file, which is named in the same call or command.

    >>> of_file(missing=["NA"], continuous=["x"])
    "missing=['NA'], continuous=['x']"
    """
    return (" " if _in_shell else ", ").join(option(*choice) for choice in choices.items())


def of_frame(**choices: str | Sequence[str]) -> str:
    """How choices are made for a table of any kind: in the shell it is always a file.

    >>> of_frame(missing=["NA"])
    "jn.Table(..., missing=['NA'])"
    """
    return of_file(**choices) if _in_shell else f"jn.Table(..., {of_file(**choices)})"


def leave_out(columns: Sequence[str]) -> str:
    """How columns of a table are left out.

    >>> leave_out(["id"])
    "table.select([x for x in table.names if x not in ['id']]) of a jn.Table"
    """
    if _in_shell:
        return option("without", columns)
    return f"table.select([x for x in table.names if x not in {list(columns)!r}]) of a jn.Table"


def _shell_word(value: str) -> str:
    return "tab" if value == "\t" else shlex.quote(value)
