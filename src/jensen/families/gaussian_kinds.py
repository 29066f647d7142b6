"""The four kinds of Gaussians, by the words that people choose them with.

Their formulas are in two modules: `tied`, where a precision is a matrix, and `spherical`, where it
is a number. The other two kinds are seen as one of these.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.families import normal_gamma, normal_wishart, spherical, tied

Array = NDArray[np.float64]


class Kind(NamedTuple):
    """Where the formulas of a kind are, and how they see it."""

    core: Any  # tied or spherical
    inside: Callable[[Any], Any]  # a record as the core has it
    outside: Callable[[Any], Any]  # and back
    means: Callable[[Array], Array]  # means (K, D) as the core has them


def _same(x: Any) -> Any:
    return x


KINDS = {
    "full": Kind(
        tied, normal_wishart.to_tied, normal_wishart.from_tied, lambda mean: mean[..., None, :]
    ),
    "tied": Kind(tied, _same, _same, _same),
    "diagonal": Kind(
        spherical,
        normal_gamma.to_spherical,
        normal_gamma.from_spherical,
        lambda mean: mean[..., None],
    ),
    "spherical": Kind(spherical, _same, _same, _same),
}
