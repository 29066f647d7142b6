"""Samples of chains over graphs as rows of numbers, for the file beside a checkpoint."""

import numpy as np
from numpy.typing import NDArray

from jensen.q_graph.chains.kinds import room_for_samples
from jensen.q_graph.chains.records import Array, Kept, n_words

HEAD = 4
"""Chain, number of the sample, score and state stand before the graph."""


def row_width(n: int, keeps_orders: bool) -> int:
    """Numbers in a row."""
    return HEAD + n * n_words(n) + (n if keeps_orders else 0)


def to_rows(chain: int, first: int, kept: Kept) -> Array:
    """One row for each sample; words of bits are only called numbers."""
    n_samples = len(kept.scores)
    numbers = np.arange(first, first + n_samples)
    head = np.column_stack([np.full(n_samples, chain), numbers, kept.scores, kept.states])
    words = kept.parents.reshape(n_samples, -1).view(np.float64)
    return np.hstack([head, words, kept.orders.reshape(n_samples, -1).astype(np.float64)])


def from_rows(rows: Array, n_chains: int, n_samples: int, n: int, keeps_orders: bool) -> list[Kept]:
    """The samples of every chain, in their order."""
    all_kept = [room_for_samples(n_samples, n, keeps_orders=keeps_orders) for _ in range(n_chains)]
    n_bits = n * n_words(n)
    chains: NDArray[np.int64] = rows[:, 0].astype(np.int64)
    for chain, kept in enumerate(all_kept):
        mine = rows[chains == chain]
        at = mine[:, 1].astype(np.int64)
        kept.scores[at], kept.states[at] = mine[:, 2], mine[:, 3]
        words = np.ascontiguousarray(mine[:, HEAD : HEAD + n_bits]).view(np.uint64)
        kept.parents[at] = words.reshape(len(at), n, n_words(n))
        if keeps_orders:
            kept.orders[at] = mine[:, HEAD + n_bits :]
    return all_kept
