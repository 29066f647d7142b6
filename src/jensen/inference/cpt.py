"""A conditional probability table with its labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable, state_of
from jensen.exceptions import JensenError
from jensen.support.text import grid, plural, some

if TYPE_CHECKING:
    import pandas

MAX_SHOWN_ROWS = 40


@dataclass(frozen=True, eq=False)
class CPT:
    """P(variable | parents): an axis per parent, in the order of `parents`, then the variable's.

    Examples
    --------
    >>> import jensen as jn
    >>> cpt = jn.examples.load("sprinkler").cpt("wet_grass")
    >>> cpt
    P(wet_grass | rain, sprinkler)
    rain  sprinkler    no   yes
    ---------------------------
    no    off         1.0   0.0
    no    on          0.1   0.9
    yes   off         0.1   0.9
    yes   on         0.01  0.99
    >>> float(cpt["yes", "off"]["yes"])
    0.9
    """

    variable: Variable
    parents: tuple[Variable, ...]
    values: NDArray[np.float64]

    def __getitem__(self, labels: str | tuple[str, ...]) -> dict[str, float]:
        """State → probability, given one label per parent; `cpt[()]` where there is none."""
        given = labels if isinstance(labels, tuple) else (labels,)
        if not self.parents and given:
            name = self.variable.name
            raise JensenError(f"{name!r} has no parents: cpt[()] is its one row of probabilities")
        if len(given) != len(self.parents):
            names = some(parent.name for parent in self.parents)
            raise JensenError(
                f"{self.variable.name!r} has {plural(len(self.parents), 'parent')} ({names}), but "
                f"{plural(len(given), 'label')} came: give one label per parent"
            )
        row = self.values[tuple(map(state_of, self.parents, given))]
        return dict(zip(self.variable.states, map(float, row), strict=True))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype)

    def rows(self) -> Iterator[tuple[tuple[str, ...], NDArray[np.float64]]]:
        """Labels of the parents and probabilities, row by row."""
        flat = self.values.reshape(-1, self.variable.n_states)
        yield from zip(product(*(p.states for p in self.parents)), flat, strict=True)

    def to_pandas(self) -> pandas.DataFrame:
        """A dataframe: a row per configuration of the parents, a column per state."""
        import pandas

        columns = pandas.Index(self.variable.states, name=self.variable.name)
        flat = self.values.reshape(-1, self.variable.n_states)
        if not self.parents:
            return pandas.DataFrame(flat, columns=columns)
        index = pandas.MultiIndex.from_product(
            [p.states for p in self.parents], names=[p.name for p in self.parents]
        )
        return pandas.DataFrame(flat, index=index, columns=columns)

    def _repr_html_(self) -> str:
        from jensen.plots.html import cpt_html

        return cpt_html(self)

    def __repr__(self) -> str:
        given = ", ".join(parent.name for parent in self.parents)
        head = f"P({self.variable.name}{' | ' if given else ''}{given})"
        lines = [[*(p.name for p in self.parents), *self.variable.states]]
        n_rows = int(np.prod([p.n_states for p in self.parents]))
        for _, (labels, row) in zip(range(MAX_SHOWN_ROWS), self.rows(), strict=False):
            lines.append([*labels, *map(show_probability, row)])
        more = n_rows - MAX_SHOWN_ROWS
        tail = f"\n... and {plural(more, 'row')} more" if more > 0 else ""
        return f"{head}\n{grid(lines, left=len(self.parents), rule=True)}{tail}"


def show_probability(p: float) -> str:
    """Four significant digits, without noise.

    >>> show_probability(0.5), show_probability(1 / 3), show_probability(1e-7)
    ('0.5', '0.3333', '1e-07')
    """
    return "1.0" if p == 1 else "0.0" if p == 0 else f"{p:.4g}"
