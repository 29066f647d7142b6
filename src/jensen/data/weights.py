"""Row weights: how often each row counts."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jensen.exceptions import DataError
from jensen.support.text import plural

LARGEST = 1e302
"""Of all weights together: sums of weights times log-likelihoods overflow not far beyond."""


def check_weights(
    weights: ArrayLike, n_rows: int, noun: str = "row", most: float = LARGEST
) -> NDArray[np.float64]:
    """Weights as finite floats ≥ 0 that sum to `most` at most, one per row, or an error."""
    try:
        array = np.array(weights, np.float64)  # a copy: the caller may go on to change theirs
    except (TypeError, ValueError):
        raise DataError(f"weights must be numbers, one per {noun}") from None
    if array.shape != (n_rows,):
        raise DataError(f"{n_rows} {noun}s need {n_rows} weights, but their shape is {array.shape}")
    wrong = ~(np.isfinite(array) & (array >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"the weight of {noun} {row + 1} is {array[row]}: a weight says how often a {noun} "
            f"counts, so it must be finite and >= 0"
        )
    with np.errstate(over="ignore"):
        total = float(array.sum())
    if total > most:
        raise DataError(
            f"the weights of {plural(n_rows, noun)} sum to {total:.3g}, and sums over more than "
            f"{most:.3g} {noun}s lose their digits or overflow: divide all weights by one number"
        )
    return array
