"""When two answers are the same."""

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.workload import Check

TOLERANCE = 1e-6
STANDARD_ERRORS = 6.0
"""Among a thousand frequencies, one in a million pairs of correct samplers is further apart."""


def relative_difference(ours: ArrayLike, theirs: ArrayLike) -> float:
    """The largest |a - b| over the largest |a|; infinite where the shapes differ."""
    a, b = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    if a.shape != b.shape or np.isnan(a).any() or np.isnan(b).any():
        return float("inf")
    largest = np.abs(a).max(initial=0.0)
    return float(np.abs(a - b).max(initial=0.0) / (largest or 1.0))


def standard_errors(ours: ArrayLike, theirs: ArrayLike) -> float:
    """How far the frequencies of two independent samples of equal size are apart, at worst.

    The first entry is the number of rows, the rest are counts.
    """
    a, b = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    if a.shape != b.shape or a[0] != b[0]:
        return float("inf")
    p = (a[1:] + b[1:]) / (2 * a[0])
    error = np.sqrt(np.maximum(2 * p * (1 - p) / a[0], np.finfo(float).tiny))
    return float(np.max(np.abs(a[1:] - b[1:]) / a[0] / error, initial=0.0))


same_numbers = Check(relative_difference, TOLERANCE, "relative")
same_distribution = Check(standard_errors, STANDARD_ERRORS, "standard errors")
