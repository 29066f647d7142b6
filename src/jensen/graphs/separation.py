"""Which nodes a set of nodes separates, in directed graphs."""

from collections.abc import Collection

from jensen.graphs.order import Links


def d_separated(
    parents: Links,
    children: Links,
    a: Collection[int],
    b: Collection[int],
    given: Collection[int],
) -> bool:
    """Tell whether every trail from a to b is blocked by given, in time linear in the edges.

    A ball rolls from a. It passes any node that is not given, up only if it came up; a given node
    throws it back up if it came down, which also opens the colliders above that node.

    References
    ----------
    Shachter (1998), *Bayes-ball: the rational pastime*.
    """
    seen: set[tuple[int, bool]] = set()
    todo = [(x, True) for x in a]  # (node, whether the ball came up to it from a child)
    while todo:
        step = todo.pop()
        if step in seen:
            continue
        seen.add(step)
        x, rising = step
        passes = x not in given
        if passes and x in b:
            return False
        if passes:
            todo.extend((y, False) for y in children[x])
        if passes == rising:
            todo.extend((y, True) for y in parents[x])
    return True
