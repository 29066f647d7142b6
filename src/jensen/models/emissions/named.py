"""Parameters that people give by name."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError


def read_array(named: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Finite numbers of this shape."""
    if name not in named:
        raise JensenError(f"start= lacks {name!r}, an array of the shape {shape}")
    try:
        array = np.asarray(named[name], np.float64)
    except (TypeError, ValueError):
        raise JensenError(f"start[{name!r}] must be an array of numbers") from None
    if array.shape != shape:
        raise JensenError(f"start[{name!r}] must have the shape {shape}, not {array.shape}")
    if not np.isfinite(array).all():
        raise JensenError(f"start[{name!r}] must hold finite numbers only")
    return array


def read_shares(named: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Probabilities that sum to one along the last axis."""
    array = read_array(named, name, shape)
    if (array < 0.0).any() or not np.allclose(array.sum(-1), 1.0, rtol=0.0, atol=1e-8):
        raise JensenError(f"start[{name!r}] must be probabilities that sum to 1 in every row")
    return array
