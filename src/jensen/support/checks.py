"""Checks of numbers that callers give to public functions."""

import math
from numbers import Integral, Real
from typing import Any

from jensen.exceptions import JensenError
from jensen.support.text import bare

LARGEST = 1e140
"""Of the numbers in rows: sums of their squares overflow not far beyond."""


def is_real(x: Any) -> bool:
    """Whether x is a real number; True and False are none."""
    return isinstance(x, Real) and not isinstance(x, bool)


def check_sample_size(equivalent_sample_size: Any) -> None:
    """Refuse an equivalent sample size that is not positive and finite."""
    if not (is_real(equivalent_sample_size) and 0 < equivalent_sample_size < math.inf):
        raise JensenError(
            f"{bare('equivalent_sample_size')} must be positive and finite, "
            f"not {equivalent_sample_size!r}"
        )


def check_whole(name: str, value: object, *, at_least: int) -> None:
    """Refuse a value that is no whole number, or is below `at_least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < at_least:
        shown = bare(name) if name.isidentifier() else name
        raise JensenError(f"{shown} must be a whole number, {at_least} or more, not {value!r}")
