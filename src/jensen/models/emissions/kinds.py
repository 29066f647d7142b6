"""What there is to know of an emission before there is one, and what its files and pages say."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.number_rows import ColumnSummary
from jensen.exceptions import DataError, JensenError
from jensen.families.tied import select_states
from jensen.support.fields import leaves

Array = NDArray[np.float64]
States = NDArray[np.intp]
PriorParts = Mapping[str, Any] | None
"""A prior as its caller gave it: values by the name of the part; None is the flat prior."""
Line = tuple[str, list[str]]
"""Of a summary: what it tells, and a text for each state."""
Fault = tuple[str, str]
"""A place, as it stands behind the path of a record in a file, and what is wrong there."""

BLOCK = 1 << 20
"""Numbers of parameters that are drawn at once."""
TOLERANCE = 1e-6
"""Of numbers that follow from each other; there is room for the rounding of other programs."""


class Chosen(NamedTuple):
    """What else is known of the columns of an emission."""

    covariance: str = "full"
    labels: tuple[str, ...] = ()  # of the one column of an emission that makes labels


class ColumnLaw(NamedTuple):
    """The distribution of every column of numbers, state by state."""

    cdf: Callable[[Array], Array]  # x (..., D) → P(column ≤ x | state), (..., K, D)
    mean: Array  # (K, D)
    spread: Array  # (K, D): about how far rows lie from it
    is_whole: bool


class EmissionKind(ABC):
    """A kind of emission. What is not abstract has an answer that does for most."""

    @abstractmethod
    def make(
        self, n_states: int, columns: ColumnSummary, prior_parts: PriorParts, chosen: Chosen
    ) -> Any:
        """The emission of such columns under a prior given by its parts; None is the flat one."""

    @abstractmethod
    def owns(self, emission: Any) -> bool:
        """Whether this made it."""

    @abstractmethod
    def lines(
        self, names: Sequence[str], shown: Mapping[str, Array], chosen: Chosen
    ) -> Iterator[Line]:
        """The parameters of columns by name, for people."""

    def check(self, values: Array, names: Sequence[str]) -> None:
        """Refuse values (n, D) that no state can make; what is missing (NaN) is not looked at."""
        return

    def size(self, n_columns: int, chosen: Chosen) -> float:
        """How many numbers a state has; asked before anything is allocated."""
        return 2.0 * n_columns

    def prior_numbers(self, emission: Any, prior: Any) -> dict[str, Array]:
        """Parts of a prior η₀ by name, as far as a summary tells them by their numbers."""
        return {}

    def law(self, emission: Any, t: Any, eta: Any = None) -> ColumnLaw | None:
        """How columns are distributed at t, or predicted by the posterior η; None: as labels."""
        return None

    def fewer(self, emission: Any, states: States) -> Any:
        """An emission of these states only, in this order; its prior stays as it was."""
        return replace(emission, n_states=len(states))

    def keep(self, emission: Any, eta: Any, states: States) -> Any:
        """η of these states for good: what the others say of what states share stays in it."""
        return select_states(eta, states)

    def hold(self, emission: Any, eta: Any, part: str) -> Any:
        """An emission with a part held at the mode of η: one that its record lists as `held`."""
        raise NotImplementedError

    def draw(self, emission: Any, eta: Any, states: States, rng: np.random.Generator) -> Array:
        """Rows of these states; the parameters of each are drawn from the posterior η."""
        size = max(1, BLOCK * emission.n_states // sum(np.size(x) for x in eta))
        blocks = [states[a : a + size] for a in range(0, len(states), size)]
        return np.concatenate([self._draw_block(emission, eta, block, rng) for block in blocks])

    def _draw_block(
        self, emission: Any, eta: Any, states: States, rng: np.random.Generator
    ) -> Array:
        """As if every row had a state of its own."""
        own = self.fewer(emission, states)
        t = own.family.sample_stats(select_states(eta, states), rng)
        return np.asarray(own.simulate(t, np.arange(len(states)), rng))

    def theta_fault(self, emission: Any, t: Any) -> Fault | None:
        """What is wrong with the t(θ) of a file, if anything is.

        It must be that of the parameters which it shows.
        """
        try:
            again = emission.family.mode_stats(emission.read(emission.show(t)))
        except JensenError as error:
            return "", f"makes no sense: {error}"
        for found, expected in zip(leaves(t), leaves(again), strict=True):
            if not near(found, expected, TOLERANCE):
                return "", "holds numbers that do not follow from one set of parameters"
        return None

    def belief_fault(self, emission: Any, eta: Any) -> Fault | None:
        """What is wrong with the η of a posterior or prior in a file, if anything is."""
        try:
            is_proper = np.isfinite(emission.family.log_partition(eta))
        except JensenError:
            is_proper = False
        return None if is_proper else ("", "is no distribution: it has no integral")


def near(found: Array, expected: Array, slack: Array | float) -> bool:
    """Whether numbers are the same but for rounding."""
    away = np.abs(found - expected) <= slack * (1.0 + np.abs(expected))
    return bool((away | (found == expected)).all())


def refuse_values(values: Array, wrong: NDArray[np.bool_], why: str) -> None:
    """Name the first wrong value; negative ones first, in the words that scikit-learn has."""
    for bad, what in ((values < 0.0, "Negative values in data: "), (wrong, "")):
        bad = bad & ~np.isnan(values)
        if bad.any():
            row, column = np.argwhere(bad)[0]
            where = f"row {row + 1}, column {column + 1} is {values[row, column]:g}"
            raise DataError(f"{what}{where}, but {why}")


def as_shares(values: Array) -> list[str]:
    """Probabilities as texts."""
    return [f"{value:.3f}" for value in values]


def as_numbers(values: Array) -> list[str]:
    """Any numbers as texts."""
    return [f"{value:.4g}" for value in values]


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
