"""How what is hidden is read out of log potentials: summed, at its maximum, or drawn.

Sum, max and draw are the same passes over the same potentials. A row may hide more than its state,
a missing cell, and whoever completes it is told the same word.
"""

from typing import Literal, NamedTuple

import numpy as np


class Reading(NamedTuple):
    """One word, and the stream that a draw takes."""

    word: Literal["sum", "max", "draw"]
    rng: np.random.Generator | None = None  # of a draw


SUM = Reading("sum")
MAX = Reading("max")


def draw(rng: np.random.Generator) -> Reading:
    """Draws from this stream."""
    return Reading("draw", rng)
