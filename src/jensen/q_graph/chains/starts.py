"""Where chains begin: at a random order with the required edges, and at graphs drawn from it."""

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def random_order(required: NDArray[np.bool_], rng: np.random.Generator) -> Integers:
    """All variables, parents of required edges first."""
    n = len(required)
    left, order = list(range(n)), np.empty(n, np.int64)
    for i in range(n):
        free = [v for v in left if not required[left, v].any()]
        order[i] = free[rng.integers(len(free))]
        left.remove(int(order[i]))
    return order


def layers(parents: NDArray[np.uint64]) -> Integers:
    """(n,): roots 0, others one more than their highest parent; parents (n, W) are bits."""
    n = len(parents)
    bits = np.arange(n, dtype=np.uint64)
    joined = (parents[:, bits // 64] >> bits % 64) & 1 == 1  # [child, parent]
    found = np.zeros(n, np.int64)
    for _ in range(n):
        found = np.where(joined.any(1), np.where(joined, found, -1).max(1) + 1, 0)
    return found
