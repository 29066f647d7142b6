"""Several families side by side: η, statistics and t are tuples, one place for each part.

A part whose prior is None is flat: it costs nothing, and always has a mode.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.families import Family


@dataclass(frozen=True)
class Product:
    """Independent parameters, for example one family for each kind of column."""

    parts: tuple[Family[Any], ...]

    def log_partition(self, eta: tuple[Any, ...]) -> float:
        """Σ A(η) of the parts."""
        pairs = zip(self.parts, eta, strict=True)
        return float(sum(part.log_partition(e) for part, e in pairs if e is not None))

    def log_partitions(self, eta: tuple[Any, ...]) -> NDArray[np.float64]:
        """Those of all parts, flat, part after part."""
        pairs = zip(self.parts, eta, strict=True)
        found = [part.log_partitions(e).ravel() for part, e in pairs if e is not None]
        return np.concatenate([np.empty(0), *found])

    def mean_stats(self, eta: tuple[Any, ...]) -> tuple[Any, ...]:
        """E[t(θ)], part by part."""
        return tuple(part.mean_stats(e) for part, e in zip(self.parts, eta, strict=True))

    def mode_stats(self, eta: tuple[Any, ...]) -> tuple[Any, ...]:
        """Read t at the modes."""
        return tuple(part.mode_stats(e) for part, e in zip(self.parts, eta, strict=True))

    def sample_stats(self, eta: tuple[Any, ...], rng: np.random.Generator) -> tuple[Any, ...]:
        """Read t at draws, made in the order of the parts."""
        return tuple(part.sample_stats(e, rng) for part, e in zip(self.parts, eta, strict=True))

    def has_mode(self, eta: tuple[Any, ...]) -> bool:
        """Whether every part has one."""
        pairs = zip(self.parts, eta, strict=True)
        return all(e is None or part.has_mode(e) for part, e in pairs)

    def describe(self, eta: tuple[Any, ...]) -> dict[str, NDArray[np.float64]]:
        """What the parts say, with the number of the part in front: "0.mean"."""
        return {
            f"{number}.{name}": value
            for number, (part, e) in enumerate(zip(self.parts, eta, strict=True))
            for name, value in part.describe(e).items()
        }
