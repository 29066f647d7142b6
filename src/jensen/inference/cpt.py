"""Conditional probability tables with their labels, and their Dirichlet posteriors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from jensen.data.variable import Variable, state_of
from jensen.exceptions import JensenError
from jensen.families.dirichlet import dirichlet
from jensen.support.text import PAGE, grid, plural, some

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
        return f"{head}\n{grid(lines, left=len(self.parents), rule=True, page=PAGE)}{tail}"


def show_probability(p: float) -> str:
    """A probability with four significant digits.

    >>> show_probability(0.5), show_probability(1 / 3), show_probability(1e-7)
    ('0.5', '0.3333', '1e-07')
    """
    return "1.0" if p == 1 else "0.0" if p == 0 else f"{p:.4g}"


@dataclass(frozen=True, eq=False)
class TablePosterior:
    """Dirichlet posteriors of P(variable | parents); axes as in `CPT`.

    A row of zeros (a parent configuration that a bds prior leaves out) carries no information: its
    means are uniform and its intervals are (0, 1).

    Examples
    --------
    >>> import jensen as jn
    >>> net = jn.BayesianNetwork("x", prior=1.0).fit({"x": ["no", "yes", "yes"]})
    >>> net.posterior("x")
    posterior of P(x), 90 % intervals
    state  mean         interval  concentration
    -------------------------------------------
    no      0.4  0.09761..0.7514              2
    yes     0.6   0.2486..0.9024              3
    """

    variable: Variable
    parents: tuple[Variable, ...]
    concentration: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        """Posterior means, which are the predictive probabilities."""
        return dirichlet.share(self.concentration)

    @property
    def predictive(self) -> CPT:
        """The predictive probabilities as a labelled table."""
        return CPT(self.variable, self.parents, self.mean)

    @property
    def variance(self) -> NDArray[np.float64]:
        """Posterior variances of every probability."""
        total = self.concentration.sum(-1, keepdims=True)
        return np.asarray(self.mean * (1.0 - self.mean) / (total + 1.0))

    def interval(self, level: float = 0.9) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Equal-tailed credible intervals of every probability, from its beta marginal."""
        if not 0 < level < 1:
            raise JensenError(f"the level of an interval lies between 0 and 1, not {level}")
        a = self.concentration
        b = a.sum(-1, keepdims=True) - a
        both, tail = (a > 0) & (b > 0), (1.0 - level) / 2.0
        inside = np.where(both, a, 1.0), np.where(both, b, 1.0)
        low = np.where(both, betaincinv(*inside, tail), a > 0)  # a single state is certain
        return low, np.where(both, betaincinv(*inside, 1.0 - tail), b <= 0)

    def _repr_html_(self) -> str:
        from jensen.plots.html import posterior_html

        return posterior_html(self)

    def __repr__(self) -> str:
        given = ", ".join(parent.name for parent in self.parents)
        head = f"posterior of P({self.variable.name}{' | ' if given else ''}{given})"
        low, high = self.interval(0.9)
        lines = [[*(p.name for p in self.parents), "state", "mean", "interval", "concentration"]]
        for (labels, mean), lo, hi, alpha in zip(
            self.predictive.rows(), *map(self._rows, (low, high, self.concentration)), strict=True
        ):
            for k, state in enumerate(self.variable.states):
                span = f"{show_probability(lo[k])}..{show_probability(hi[k])}"
                lines.append([*labels, state, show_probability(mean[k]), span, f"{alpha[k]:.5g}"])
            if len(lines) > MAX_SHOWN_ROWS:
                break
        table = grid(lines, left=len(self.parents) + 1, rule=True)
        more = self.concentration.size - len(lines) + 1
        tail = f"\n... and {plural(more, 'row')} more" if more else ""
        return f"{head}, 90 % intervals\n{table}{tail}"

    def _rows(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return values.reshape(-1, self.variable.n_states)
