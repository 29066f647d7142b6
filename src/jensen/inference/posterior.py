"""What is known of one table: a Dirichlet posterior per parent configuration."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from jensen.data.variable import Variable
from jensen.exceptions import JensenError
from jensen.families.dirichlet import dirichlet
from jensen.inference.cpt import CPT, MAX_SHOWN_ROWS, show_probability
from jensen.support.text import grid, plural


@dataclass(frozen=True, eq=False)
class TablePosterior:
    """Dirichlet posteriors of P(variable | parents); axes as in `CPT`.

    A row of zeros (a parent configuration that a bds prior leaves out) says nothing: its means are
    uniform and its intervals are (0, 1).

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
        """Posterior means: the probabilities that a Bayesian predicts with."""
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
