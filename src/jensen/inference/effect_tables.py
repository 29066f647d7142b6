"""Effects of a Markov network as people read them, with standard errors where they are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable
from jensen.exceptions import MissingNameError
from jensen.support.text import grid, offer

if TYPE_CHECKING:
    from jensen.inference.undirected_network import UndirectedNetwork

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Effect:
    """The effect of one variable, or the interaction of several: a table of log potentials.

    Attributes
    ----------
    variables
        Of the axes.
    values : array
        Sums to zero along each axis. Of two bits it is J s s', with s = -1 for the first state and
        +1 for the second.
    errors : array or None
        The standard error of each entry.
    """

    variables: tuple[Variable, ...]
    values: Array
    errors: Array | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The variables by name."""
        return tuple(v.name for v in self.variables)

    @property
    def strength(self) -> float:
        """The root of the mean square of the table: |J| of two bits."""
        return float(np.sqrt(np.mean(self.values**2)))

    def rows(self) -> Iterator[list[str]]:
        """Entries for a listing: of bits the last one, which tells all; of others every one."""
        shape = self.values.shape
        cells = [tuple(n - 1 for n in shape)] if set(shape) <= {2} else list(np.ndindex(shape))
        for cell in cells:
            at = ", ".join(v.states[k] for v, k in zip(self.variables, cell, strict=True))
            row = [" - ".join(self.names), at, f"{self.values[cell]:.4g}"]
            if self.errors is not None:
                error = self.errors[cell]
                ratio = self.values[cell] / error if error > 0.0 else np.nan
                row += [f"{error:.2g}", f"{ratio:.3g}"]
            yield row

    def __array__(self, dtype: object = None, copy: bool | None = None) -> NDArray[np.float64]:
        return np.array(self.values, dtype=dtype)  # type: ignore[call-overload,no-any-return]

    def __repr__(self) -> str:
        return repr(EffectTable((self,)))


class EffectTable(Mapping[str | tuple[str, ...], Effect]):
    """Effects by the names of their variables: one name, or a tuple of several in any order."""

    def __init__(self, effects: tuple[Effect, ...]) -> None:
        self._effects = effects
        self._place = {frozenset(effect.names): k for k, effect in enumerate(effects)}

    def __getitem__(self, names: str | tuple[str, ...]) -> Effect:
        wanted = (names,) if isinstance(names, str) else tuple(names)
        k = self._place.get(frozenset(wanted))
        if k is None or len(set(wanted)) < len(wanted):
            known = sorted({x for effect in self._effects for x in effect.names})
            strange = [x for x in wanted if x not in known]
            told = offer(strange[0], known) if strange else "these do not interact in this network"
            raise MissingNameError(f"there is no effect of {' - '.join(map(str, wanted))}; {told}")
        return self._effects[k]

    def __iter__(self) -> Iterator[str | tuple[str, ...]]:
        return (e.names[0] if len(e.names) == 1 else e.names for e in self._effects)

    def __len__(self) -> int:
        return len(self._effects)

    @property
    def interactions(self) -> EffectTable:
        """Those of several variables, the strongest first."""
        several = [effect for effect in self._effects if len(effect.variables) > 1]
        order = np.argsort([-effect.strength for effect in several], kind="stable")
        return EffectTable(tuple(several[k] for k in order))

    def of(self, names: Iterable[str]) -> EffectTable:
        """Those in which one of these variables stands."""
        wanted = set(names)
        for name in wanted:
            self[name]  # refused where there is no such variable
        return EffectTable(tuple(e for e in self._effects if not wanted.isdisjoint(e.names)))

    def plain(self) -> list[dict[str, Any]]:
        """As plain data, for programs."""
        return [
            {
                "variables": list(effect.names),
                "states": [list(v.states) for v in effect.variables],
                "log_potential": effect.values.tolist(),
                **({} if effect.errors is None else {"error": effect.errors.tolist()}),
            }
            for effect in self._effects
        ]

    def __repr__(self) -> str:
        has_errors = any(effect.errors is not None for effect in self._effects)
        head = ["effect", "of", "log potential", *(["error", "z"] if has_errors else [])]
        lines = [head, *(row for effect in self._effects for row in effect.rows())]
        return grid(lines, left=2, rule=True)


def effect_table(
    network: UndirectedNetwork, coefficients: Array, covariance: Array | None = None
) -> EffectTable:
    """All effects of a network, at these coefficients with this covariance."""
    effects, found = network.effects, []
    for k, scope in enumerate(effects.terms):
        variables = tuple(network.variables[v] for v in scope)
        values, errors = effects.table_of(k, coefficients), None
        if covariance is not None:
            at = slice(effects.term_ptr[k], effects.term_ptr[k + 1])
            own = effects.basis_of(k)
            with np.errstate(invalid="ignore"):
                variance = np.einsum("ij,jk,ik->i", own, covariance[at, at], own)
                errors = np.sqrt(variance).reshape(values.shape)
        found.append(Effect(variables, values, errors))
    return EffectTable(tuple(found))
