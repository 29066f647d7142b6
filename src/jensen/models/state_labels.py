"""Labels of hidden states mean nothing: here they are given an order that is stable."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

Array = NDArray[np.float64]


def by_falling_count(counts: Array) -> NDArray[np.intp]:
    """States in the order of falling counts; equal ones stay in their order."""
    return np.argsort(-counts, kind="stable")


def best_match(signature: Array, reference: Array) -> NDArray[np.intp]:
    """Which state of a sample is which of the reference: the nearest, all in all."""
    distance = ((reference[:, None, :] - signature[None, :, :]) ** 2).sum(-1)
    return np.asarray(linear_sum_assignment(distance)[1])
