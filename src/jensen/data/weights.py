"""Row weights: how often each row counts."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jensen.data.variable import EXACT
from jensen.exceptions import DataError
from jensen.text import plural


def check_weights(weights: ArrayLike, n_rows: int, noun: str = "row") -> NDArray[np.float64]:
    """Weights as finite floats ≥ 0 that sum to 2**53 at most, one per row, or an error."""
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
    if total > EXACT:
        raise DataError(
            f"the weights of {plural(n_rows, noun)} sum to {total:.3g}, and counts beyond 2**53 = "
            f"{float(EXACT):.3g} lose their digits: divide all weights by one number"
        )
    return array
