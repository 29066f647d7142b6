"""The marginal distributions of many variables, by name."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, Mapping, ValuesView
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import MissingNameError
from jensen.inference.distribution import Distribution
from jensen.inference.questions import Spans
from jensen.support.text import offer


def missing_marginal(name: object, names: Iterable[str]) -> MissingNameError:
    """The error for a name of which there is no marginal."""
    return MissingNameError(
        f"there is no marginal of {name!r}, which is known or is no variable; {offer(name, names)}"
    )


class Marginals(Mapping[str, Distribution]):
    """Name → distribution; each is created on access, because there may be thousands."""

    def __init__(self, spans: Spans, flat: NDArray[np.float64], condition: str) -> None:
        self._spans, self._flat, self._condition = spans, flat, condition

    def __getitem__(self, name: str) -> Distribution:
        if name not in self._spans.number:
            raise missing_marginal(name, self._spans.number)
        k = self._spans.number[name]
        part = self._flat[self._spans.parts[k]]
        return Distribution(self._spans.variables[k], part, self._condition)

    def __iter__(self) -> Iterator[str]:
        return iter(self._spans.number)

    def __len__(self) -> int:
        return len(self._spans.number)

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self.values()))

    def each(self) -> Iterator[Distribution]:
        """All distributions; `map` is twice as fast as a loop."""
        parts = map(self._flat.__getitem__, self._spans.parts)
        return map(Distribution, self._spans.variables, parts, repeat(self._condition))

    def values(self) -> ValuesView[Distribution]:
        """The distributions, in the order of the names."""
        return _Values(self)

    def items(self) -> ItemsView[str, Distribution]:
        """Pairs of name and distribution."""
        return _Items(self)


class _Values(ValuesView[Distribution]):
    _mapping: Marginals

    def __iter__(self) -> Iterator[Distribution]:
        return self._mapping.each()


class _Items(ItemsView[str, Distribution]):
    _mapping: Marginals

    def __iter__(self) -> Iterator[tuple[str, Distribution]]:
        return zip(self._mapping, self._mapping.each(), strict=True)
