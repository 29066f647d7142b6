"""When a component is left without an estimate: which ones, and why."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import CollapseError

Array = NDArray[np.float64]

NO_ROWS = "no rows left, so nothing says what the parameters are"
NO_SPREAD = "collapsed: the rows leave no spread in some direction, so the likelihood has no bound"
TOO_FEW_ROWS = "too few rows for a distribution over precisions"

# A scatter is a difference, Σ x² - (Σ x)² / N. Both sums carry the error of some hundred or
# thousand roundings (2e-16 each), so what is left below 1e-12 of them is noise, not spread.
NOISE = 1e-12
# Below this variance (a component on rows that are all exactly 0) precisions would overflow.
SMALLEST = float(np.sqrt(np.finfo(np.float64).tiny))


def refuse(bad: NDArray[np.bool_], why: str) -> None:
    """Raise, naming the components (along the first axis) that are bad anywhere."""
    if bad.any():
        components = np.unique(np.nonzero(bad)[0])
        verb = "has" if components.size == 1 else "have"
        raise CollapseError(components.tolist(), f"{verb} {why}")


def is_proper(log_partition: Callable[[Any], float], eta: Any) -> bool:
    """Whether η is a distribution: its A(η) exists."""
    try:
        log_partition(eta)
    except CollapseError:
        return False
    return True
