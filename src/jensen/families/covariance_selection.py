"""Gaussian with zeros in its precision: maximum likelihood on a given undirected graph.

With z = (1, x) the log density of a row is -½ zᵀ Q z, and rows add Σ z zᵀ. The precision K has a
zero wherever no edge joins two variables. At the maximum the covariance agrees with the rows' on
every clique (Dempster's covariance selection). Iterative proportional scaling makes it so clique by
clique, K_cc += (S_cc)⁻¹ - (Σ_cc)⁻¹, and no step lowers the likelihood.

References
----------
Dempster (1972), *Covariance selection*; Speed and Kiiveri (1986), *Gaussian Markov distributions
over finite graphs*; Lauritzen (1996), *Graphical Models*, section 5.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import UnboundedError
from jensen.families.wishart import cholesky, gram, inverse_root
from jensen.support.fields import record

Array = NDArray[np.float64]

LOG_2PI = float(np.log(2.0 * np.pi))
SWEEPS = 10_000
"""Sweeps over all cliques; far more than any graph needs."""
CLOSE = 1e-12
"""How far correlations of cliques may be from those of the rows."""


@record
class Scatter(NamedTuple):
    """η: Σ z zᵀ; t: -½ Q."""

    moments: Any  # (n + 1, n + 1)


@record
class Scaled(NamedTuple):
    """The precision at which the next scaling begins."""

    precision: Any  # (n, n)


@dataclass(frozen=True)
class CovarianceSelection:
    """The mean, and the precision with zeros where no edge is.

    Parameters
    ----------
    cliques
        The maximal cliques of the graph, by number.
    names
        Of the variables, for messages.
    """

    cliques: tuple[tuple[int, ...], ...]
    names: tuple[str, ...] = ()

    def improve(self, eta: Scatter, memory: Scaled | None) -> tuple[Scatter, Scaled]:
        """The maximum of ⟨η, t⟩, from the precision that is remembered."""
        count = float(eta.moments[0, 0])
        mean = eta.moments[0, 1:] / count
        spread = eta.moments[1:, 1:] / count - np.outer(mean, mean)
        variances = spread.diagonal()
        if not (variances > 0.0).all():
            self._refuse([int(np.argmin(variances))])
        unit = np.sqrt(variances)
        known = None if memory is None else memory.precision * np.outer(unit, unit)
        precision = self._scale(spread / np.outer(unit, unit), known) / np.outer(unit, unit)
        return Scatter(-0.5 * quadratic_form(mean, precision)), Scaled(precision)

    def _scale(self, target: Array, precision: Array | None) -> Array:
        """Scale clique by clique until correlations of all cliques are those of the rows."""
        found = np.eye(len(target)) if precision is None else precision.copy()
        wanted = []
        for clique in self.cliques:
            block = target[np.ix_(clique, clique)]
            if np.linalg.eigvalsh(block)[0] < 1e-12:
                self._refuse(list(clique))
            wanted.append(np.linalg.inv(block))
        for _ in range(SWEEPS):
            worst = 0.0
            for clique, inverse in zip(self.cliques, wanted, strict=True):
                at = np.ix_(clique, clique)
                covariance = gram(inverse_root(cholesky(found)))[at]
                worst = max(worst, float(np.abs(covariance - target[at]).max()))
                found[at] += inverse - np.linalg.inv(covariance)
            if worst < CLOSE:
                break
        return np.asarray(0.5 * (found + found.T))

    def _refuse(self, clique: list[int]) -> None:
        shown = ", ".join(self.names[v] for v in clique)
        raise UnboundedError(
            f"the likelihood has no bound: the rows leave no spread in some direction of {shown}, "
            f"because a column is constant or a function of others, or the rows are too few",
            "leave out a column, or edges",
        )

    def has_mode(self, eta: Scatter) -> bool:
        """There is no prior."""
        return True


def quadratic_form(mean: Array, precision: Array) -> Array:
    """Q of zᵀ Q z = -2 log density."""
    n = len(mean)
    found = np.empty((n + 1, n + 1))
    found[1:, 1:] = precision
    found[0, 1:] = found[1:, 0] = -precision @ mean
    log_det = 2.0 * np.log(np.diagonal(cholesky(precision))).sum()
    found[0, 0] = mean @ precision @ mean + n * LOG_2PI - log_det
    return found
