"""Which edges networks of labels, numbers and counts have: none from a number to a label."""

from collections.abc import Sequence
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Kind, Variable
from jensen.exceptions import DataError
from jensen.support.text import for_reader, keyword


def outside_class(parent: Variable, child: Variable) -> str:
    """The error text for an edge that no network of labels and numbers has; "" if it has it."""
    a, b = parent.name, child.name
    is_number = parent.kind != "categorical"
    cut = for_reader(f"discretize={{{a!r}: 3}}, or jn.discretize", f"--discretize {a}=3")
    if is_number and child.kind == "categorical":
        return (
            f"the edge {a} -> {b} leads from a number to a label, and in a network of both a "
            f"label depends on labels only: reverse the edge, or make states of {a!r} ({cut})"
        )
    out = f"out of {keyword('counts')}, so that it is a number"
    if parent.kind == "count":
        return (
            f"the edge {a} -> {b} begins at a count, and counts have no children in a network: "
            f"reverse the edge, make states of {a!r} ({cut}), or leave {a!r} {out}"
        )
    if is_number and child.kind == "count":
        return (
            f"the edge {a} -> {b} leads from a number to a count, which depends on labels only: "
            f"make states of {a!r} ({cut}), or leave {b!r} {out}"
        )
    return ""


def edges_outside(kinds: Sequence[Kind]) -> NDArray[np.bool_]:
    """(n, n): the edges that no network of variables of these kinds has."""
    each = [Variable("", kind) for kind in get_args(Kind)]
    never = np.array([[bool(outside_class(a, b)) for b in each] for a in each])
    number = [get_args(Kind).index(kind) for kind in kinds]
    return np.asarray(never[np.ix_(number, number)])


def refuse_outside(
    names: Sequence[str], parents: Sequence[Sequence[int]], kinds: Sequence[Kind]
) -> None:
    """Refuse a graph with an edge that no network of variables of these kinds has."""
    for v, above in enumerate(parents if kinds else ()):
        for u in above:
            why = outside_class(Variable(names[u], kinds[u]), Variable(names[v], kinds[v]))
            if why:
                raise DataError(why)
