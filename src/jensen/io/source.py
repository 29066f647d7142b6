"""What every reader asks of a file: that its families make a network, in proportion to the file."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import NoReturn, Protocol

from jensen.data.variable import Variable
from jensen.exceptions import GraphError, JensenError
from jensen.graphs import DAG
from jensen.graphs.names import show_path
from jensen.graphs.order import find_cycle
from jensen.io.lexer import Token, shorten
from jensen.support.memory import check_memory

MOST_PARENTS = 31
"""An array of NumPy has 32 axes at most, in its older versions."""

COPIES = 3
"""Of a table that a few words imply: as read, in the network, and normalised."""

MOST_IMPLIED = 1 << 22
IMPLIED_PER_LETTER = 100
"""Entries that a file may imply in all tables together, whatever the file; and by its length."""


class Source(Protocol):
    """A text that can tell where something stands, counted in its own way."""

    file: str

    def place(self, at: int) -> str:
        """A place as people count it."""

    def refuse(self, message: str, at: int) -> NoReturn:
        """Refuse the text for what stands at this place."""


def check_parents(
    source: Source, child: Token, parents: Sequence[Token], variables: Container[str]
) -> list[str]:
    """The names of the parents, as listed."""
    for name in (child, *parents):
        if name.text not in variables:
            source.refuse(f"there is no variable {shorten(name.text)} in this file", name.at)
    seen = {child.text}
    for name in parents:
        if name.text in seen:
            source.refuse(f"{name.text!r} stands twice in this list of variables", name.at)
        seen.add(name.text)
    if len(parents) > MOST_PARENTS:
        source.refuse(
            f"{child.text!r} has {len(parents)} parents, more than {MOST_PARENTS}", child.at
        )
    return [name.text for name in parents]


def make_graph(
    source: Source, parents: Mapping[str, Sequence[str]], children: Mapping[str, Token]
) -> DAG:
    """The graph; a cycle is refused where the first of its nodes has its table."""
    try:
        return DAG.from_parents(parents)
    except GraphError:
        names = sorted(parents)
        index = {name: k for k, name in enumerate(names)}
        cycle = [names[k] for k in find_cycle([[index[p] for p in parents[x]] for x in names])]
        source.refuse(
            f"a network has no cycles, but here is one: {show_path(cycle)}", children[cycle[0]].at
        )


def check_implied(
    source: Source, n_entries: int, n_letters: int, at: int, *, what: str, way_out: str
) -> None:
    """Refuse tables that a few words would make too large for memory, or for the file."""
    try:
        check_memory(8 * COPIES * n_entries, what, way_out)
    except JensenError as error:
        source.refuse(str(error), at)
    if n_entries > max(MOST_IMPLIED, IMPLIED_PER_LETTER * n_letters):
        source.refuse(
            f"{what} brings the entries that the file implies to {n_entries:,}, out of proportion "
            f"to its length: {way_out}",
            at,
        )


def show_row(place: int, parents: Sequence[Variable]) -> str:
    """A row of a table as a message names it."""
    if not parents:
        return "the table"
    labels = []
    for parent in reversed(parents):
        place, k = divmod(place, parent.n_states)
        labels.append(parent.states[k])
    return f"the row ({', '.join(reversed(labels))})"
