"""Cut points of one column: where to cut, and how the intervals between cuts are called.

Every rule sees distinct values in rising order and how often each occurs, so a row of weight 2
is the same as two rows.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import label_text

Floats = NDArray[np.float64]

TIE = 1e-12
"""Entropies that differ by less than this, relatively, are equal; the lower cut is taken."""


def quantile_cuts(values: Floats, weights: Floats, bins: int) -> list[float]:
    """Cuts that come nearest to equal frequency; equal values are never parted."""
    below, last = np.cumsum(weights), len(values) - 1
    goals = [k * below[-1] / bins for k in range(1, bins)]
    nearest = {_nearest(below[:last], goal) for goal in goals} if last else set()
    return [between(values[k], values[k + 1]) for k in sorted(nearest)]


def _nearest(rising: Floats, goal: float) -> int:
    """Position of the number nearest to the goal; the first of two that are equally near."""
    k = int(np.searchsorted(rising, goal))
    if k == len(rising) or (k > 0 and goal - rising[k - 1] <= rising[k] - goal):
        return k - 1
    return k


def interval_cuts(values: Floats, weights: Floats, bins: int) -> list[float]:
    """Cuts of equal width; an inner bin may be empty."""
    low, high = float(values[0]), float(values[-1])
    shares = [k / bins for k in range(1, bins)]
    exact = [(1 - share) * low + share * high for share in shares]
    digits = -_exponent(high / bins - low / bins)
    cuts = {_rounded(cut, values, digits) for cut in exact} if high > low else set()
    return sorted(cut for cut in cuts if low <= cut < high)


def _rounded(cut: float, values: Floats, digits: int) -> float:
    """The cut without noise; to six digits of the width, if that parts the data in the same way."""
    clean, short = _round(cut, digits + 12), _round(cut, digits + 6)
    same = np.searchsorted(values, clean, "right") == np.searchsorted(values, short, "right")
    return (short if same else clean) + 0.0  # no -0.0


def mdl_cuts(values: Floats, counts: Floats) -> list[float]:
    """Cuts that tell most about a class, as long as they pay for their description.

    Parameters
    ----------
    values
        (V,) Distinct values in rising order.
    counts
        (V, C) How often each value comes with each class.

    References
    ----------
    Fayyad and Irani (1993), *Multi-interval discretization of continuous-valued attributes for
    classification learning*, section 3, criterion (MDLPC).
    """
    below = np.vstack([np.zeros(counts.shape[1]), np.cumsum(counts, axis=0)])
    open_ranges, found = [(0, len(values))], []
    while open_ranges:
        start, stop = open_ranges.pop()
        k = _best_split(below[start : stop + 1] - below[start])
        if k is not None:
            found.append(start + k - 1)
            open_ranges += [(start, start + k), (start + k, stop)]
    return [between(values[k], values[k + 1]) for k in sorted(found)]


def _best_split(below: Floats) -> int | None:
    """How many of the values go left in the best split, if the split pays for itself."""
    total = below[-1]
    n = total.sum()
    classes = np.count_nonzero(total)
    if len(below) <= 2 or n <= 1 or classes == 1:
        return None
    left, right = below[1:-1], total - below[1:-1]
    cost = _bits(left) + _bits(right)
    k = int(np.argmax(cost <= cost.min() + TIE * n))
    whole = float(_bits(total))
    saved = _class_bits(total) - _class_bits(left[k]) - _class_bits(right[k])
    choices = classes * math.log2(3) + math.log1p(-2 * 3.0**-classes) / math.log(2)  # log2(3^k - 2)
    price = math.log2(n - 1) + choices - saved
    return k + 1 if whole - cost[k] > price else None


def _class_bits(counts: Floats) -> float:
    """The number of classes that occur, times the entropy of the counts (C,)."""
    return float(np.count_nonzero(counts) * _bits(counts) / counts.sum())


def _bits(counts: Floats) -> Floats:
    """N times the entropy of counts (..., C), in bits: N log N - Σ n log n."""
    n = counts.sum(-1)
    logs = np.log2(counts, out=np.zeros_like(counts), where=counts > 0)
    log_n = np.log2(n, out=np.zeros_like(n), where=n > 0)
    return np.asarray(n * log_n - (counts * logs).sum(-1))


def between(low: float, high: float) -> float:
    """A short number c with low <= c < high, near the middle: all such cut the data alike.

    >>> between(3, 4), between(1.4142, 1.7321), between(10, 1000)
    (3.0, 1.6, 500.0)
    """
    low, high = float(low), float(high)
    coarse = -_exponent(high / 2 - low / 2, 2) - 1
    for digits in (coarse, coarse + 1):
        cut = _round(low / 2 + high / 2, digits)
        if cut >= high:
            cut = _round(cut - float(f"1e{-digits}"), digits)
        if low <= cut < high:
            return cut + 0.0  # no -0.0
    return low  # the two are neighbours among floats


def _round(number: float, digits: int) -> float:
    try:
        return round(number, digits)
    except OverflowError:  # up, beyond the largest float
        return number


def _exponent(size: float, times: int = 1) -> int:
    """The power of ten just below times · size, which itself may be too large for a float."""
    return math.floor(math.log10(size) + math.log10(times)) if size > 0 else -323


def interval_labels(cuts: Sequence[float]) -> tuple[str, ...]:
    """Names of the intervals between cuts.

    >>> interval_labels([1.5, 3.0])
    ('<= 1.5', '(1.5, 3]', '> 3')
    """
    if not cuts:
        return ("all",)
    texts = [label_text(cut) for cut in cuts]
    inner = [f"({a}, {b}]" for a, b in pairwise(texts)]
    return (f"<= {texts[0]}", *inner, f"> {texts[-1]}")
