"""A chain of hidden states: sums, maxima and draws, in memory that does not grow with its length.

Blocks are gone through forwards, where only what goes into each is kept, and then from the last to
the first, each filtered again. Short sequences share a block, and nothing is computed twice.
"""

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import ImpossibleError
from jensen.fields import add
from jensen.hidden_states.chain_blocks import Group, groups, spans
from jensen.hidden_states.chain_spaces import Best, Logs, Scaled, Work
from jensen.hidden_states.records import Chain, ChainCounts, Observed
from jensen.hidden_states.segments import segment_rows

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

See = Callable[[tuple[int, int], Ints, Work, Array, Array | None], None]
"""Shown every block: its rows, spans, work, nodes, and the message of the block after it."""

FORCE_LOGS = False
"""Of tests."""


def expected(chain: Chain) -> tuple[Array, ChainCounts]:
    """Log Z of every sequence, and the statistics under p(h | x)."""
    value, parts = np.empty(len(chain.weight)), []
    for group in _groups(chain):
        value[group.start : group.stop], counts = _expected(chain, group)
        parts.append(counts)
    return value, reduce(add, parts)
