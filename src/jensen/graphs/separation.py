"""Which nodes a set of nodes separates, in directed graphs."""

from collections.abc import Collection

from jensen.graphs.order import Links, reach


def d_separated(
    parents: Links,
    children: Links,
    a: Collection[int],
    b: Collection[int],
    given: Collection[int],
) -> bool:
    """Tell whether every trail from a to b is blocked by given, in time linear in the edges.

    References
    ----------
    Koller and Friedman (2009), *Probabilistic Graphical Models*, Algorithm 3.1.
    """
    open_colliders = reach(parents, given)
    seen: set[tuple[int, bool]] = set()
    todo = [(x, True) for x in a]  # (node, whether the trail comes up to it from a child)
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
        if (passes and rising) or (x in open_colliders and not rising):
            todo.extend((y, True) for y in parents[x])
    return True
