"""How many orders a directed acyclic graph allows."""

from collections.abc import Collection, Mapping, Sequence
from math import comb

from jensen.exceptions import GraphError
from jensen.graphs.indexed_graph import Links, inverse

MOST_STEPS = 500_000  # each takes one node off one set; some ten seconds and 150 MB


def count_linear_extensions(parents: Links) -> int:
    """Count the topological orders, by dynamic programming over connected sets of nodes.

    A connected set begins with one of its sources; what is left falls into connected parts,
    and their orders can be shuffled into each other in any way. Sets are bit masks.

    References
    ----------
    Kangas, Hankala, Niinimäki and Koivisto (2016), *Counting linear extensions of sparse posets*.
    """
    above, below = [_mask(up) for up in parents], [_mask(down) for down in inverse(parents)]
    joined = [up | down for up, down in zip(above, below, strict=True)]
    whole = _parts((1 << len(parents)) - 1, joined)
    plan = _plan(whole, above, below, joined)
    orders: dict[int, int] = {}
    for part in sorted(plan, key=int.bit_count):
        orders[part] = sum(_shuffles(rest, orders) for rest in plan[part])
    return _shuffles(whole, orders)


def _plan(
    whole: list[int], above: list[int], below: list[int], joined: list[int]
) -> dict[int, list[list[int]]]:
    """For every connected set that is met: what each way to begin (or end) it leaves, in parts."""
    plan: dict[int, list[list[int]]] = {}
    todo = list(whole)
    steps = 0
    while todo:
        part = todo.pop()
        if part in plan:
            continue
        last = _ends(part, below)
        taken = (
            last if len(last) == 1 else _ends(part, above)
        )  # a single sink comes last in every order
        plan[part] = [_parts(part ^ (1 << x), joined) for x in taken]
        todo.extend(smaller for rest in plan[part] for smaller in rest)
        steps += len(taken)
        if steps > MOST_STEPS:
            raise GraphError(
                f"counting the orders of this graph takes more than {MOST_STEPS:,} steps: "
                f"its largest connected part has {max(map(int.bit_count, whole))} nodes; "
                f"count them in a subgraph()"
            )
    return plan


def _shuffles(parts: Sequence[int], orders: Mapping[int, int]) -> int:
    """Count the orders of parts that are not joined, from the orders of each."""
    size, count = 0, 1
    for part in parts:
        size += part.bit_count()
        count *= comb(size, part.bit_count()) * orders[part]
    return count


def _parts(nodes: int, joined: Sequence[int]) -> list[int]:
    """Cut a set into its connected parts."""
    parts = []
    while nodes:
        part = todo = nodes & -nodes
        while todo:
            x = todo.bit_length() - 1
            new = joined[x] & nodes & ~part
            part |= new
            todo ^= new | (1 << x)
        parts.append(part)
        nodes ^= part
    return parts


def _mask(nodes: Collection[int]) -> int:
    """Write a set of nodes as bits."""
    return sum(1 << x for x in nodes)


def _ends(nodes: int, beyond: Sequence[int]) -> list[int]:
    """List the members of a set beyond which it has no others: its sources or its sinks."""
    ends = []
    left = nodes
    while left:
        x = left.bit_length() - 1
        left ^= 1 << x
        if not beyond[x] & nodes:
            ends.append(x)
    return ends
