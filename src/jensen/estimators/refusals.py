"""Rows that cannot occur under a model of hidden states."""

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import ImpossibleError, JensenError
from jensen.support.text import plural, some


def refuse_impossible(lost: NDArray[np.bool_], impossible: str, noun: str = "row") -> None:
    """Unless rows, or sequences, of probability 0 may go without an answer."""
    check_impossible(impossible)
    if impossible == "nan" or not lost.any():
        return
    numbers = np.flatnonzero(lost) + 1
    raise ImpossibleError(
        f"{plural(len(numbers), noun)} cannot occur ({some(numbers)}), having probability 0 under "
        f"this model: correct the data, learn with a prior, which leaves nothing impossible, or "
        f"pass impossible='nan' (--impossible nan)"
    )


def check_impossible(impossible: str) -> None:
    """Refuse what is no choice, also where nothing is impossible."""
    if impossible not in ("raise", "nan"):
        raise JensenError(f"impossible must be 'raise' or 'nan', not {impossible!r}")
