"""Formulas of scores of categorical columns, which see the counts of one family.

Exact log evidences under Dirichlet priors, log p(x | G) = A(prior + stats) - A(prior): BDeu, BDs,
K2 and BDe. The maximised log-likelihood, alone or with a penalty for every free parameter: AIC,
BIC. The factorised normalised maximum likelihood (fNML).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

import numpy as np

from jensen.data import Table
from jensen.data.statistics import Array, FamilyCounts
from jensen.data.variable import Variable
from jensen.exceptions import DataError, JensenError
from jensen.families import log_evidence
from jensen.families.dirichlet import SegmentedDirichlet
from jensen.families.dirichlet_posterior import PosteriorDirichlet, symmetric_log_evidence
from jensen.scores.registry import penalty_of
from jensen.support.text import bare
from jensen.support.tree_records import Wiring


@dataclass(frozen=True)
class DirichletScore:
    """The exact evidence of one variable given its parents.

    Parameters
    ----------
    concentration
        The concentration of every cell, from the counts: only configurations that occur matter,
        because the others leave A unchanged.
    is_set_function
        Whether the score is L(parents + variable) - L(parents) for one function L of sets.
    """

    concentration: Callable[[FamilyCounts], float]
    is_set_function: bool
    needs_integer_weights: bool = False

    def local(self, counts: FamilyCounts, n_total: float) -> float:
        """The term of one variable."""
        alpha = self.concentration(counts)
        if not alpha > 0.0:
            raise JensenError(
                f"{bare('equivalent_sample_size')} is too small to be spread over "
                f"{counts.n_configs:.3g} parent configurations: raise it, or leave out parents"
            )
        cells, lengths = counts.stored()  # empty cells add nothing
        layout = SegmentedDirichlet(lengths)
        return symmetric_log_evidence(alpha, cells, counts.n_states, layout)


def bdeu(equivalent_sample_size: float) -> DirichletScore:
    """Buntine's score: the equivalent sample is spread evenly over all cells."""

    def concentration(counts: FamilyCounts) -> float:
        return float(equivalent_sample_size / (counts.n_configs * counts.n_states))

    return DirichletScore(concentration, is_set_function=True)


def bds(equivalent_sample_size: float) -> DirichletScore:
    """Sparse BDeu: spread evenly over the parent configurations that occur (Scutari 2016)."""

    def concentration(counts: FamilyCounts) -> float:
        return equivalent_sample_size / max(len(counts.above) * counts.n_states, 1)

    return DirichletScore(concentration, is_set_function=False)


k2 = DirichletScore(lambda counts: 1.0, is_set_function=False)
"""The concentration 1 for every cell (Cooper and Herskovits 1992)."""


@dataclass(frozen=True)
class PenalisedLikelihood:
    """Σ n log(n / n_parents) - penalty(N) · (free parameters).

    With missing values ("available-case") the sum over complete rows is replaced by N times its
    average: a raw sum would reward variables for being missing. Without a complete row there is
    no average, and the term is -inf: what was never seen together must not win.

    References
    ----------
    Bodewes and Scutari (2021), *Learning Bayesian networks from incomplete data with the
    node-average likelihood*, International Journal of Approximate Reasoning 138.
    """

    penalty: Callable[[float], float]
    is_set_function: bool = True
    needs_integer_weights: bool = False

    def local(self, counts: FamilyCounts, n_total: float) -> float:
        """The term of one variable; `n_total` is the weight of all rows."""
        if counts.total == 0.0 < n_total:
            return -math.inf
        log_like = maximum_log_likelihood(counts)
        if counts.total < n_total:
            log_like *= n_total / counts.total
        n_parameters = counts.n_configs * (counts.n_states - 1)
        return float(log_like - self.penalty(n_total) * n_parameters)


def maximum_log_likelihood(counts: FamilyCounts) -> float:
    """Σ n_jk log(n_jk / n_j), where 0 log 0 = 0."""
    n, above = counts.cells()
    return float(np.sum(n * (np.log(n) - np.log(above))))


loglik = PenalisedLikelihood(penalty_of("loglik"))
aic = PenalisedLikelihood(penalty_of("aic"))
bic = PenalisedLikelihood(penalty_of("bic"))


@dataclass(frozen=True)
class FactorisedNML:
    """Maximum log-likelihood minus the log regret of every parent configuration.

    References
    ----------
    Silander, Roos, Kontkanen and Myllymäki (2008), *Factorized normalized maximum likelihood
    criterion for learning Bayesian network structures*, PGM.
    """

    is_set_function: bool = False
    needs_integer_weights: bool = True

    def local(self, counts: FamilyCounts, n_total: float) -> float:
        """The term of one variable."""
        regret = sum(log_regret(float(n), counts.n_states) for n in counts.above)
        return maximum_log_likelihood(counts) - regret


fnml = FactorisedNML()


@lru_cache(maxsize=1 << 16)
def log_regret(n: float, n_states: int) -> float:
    """Log Σ over all samples of size n of the maximum likelihood of a multinomial.

    The sum C(n, 2) for two states, then C(n, r + 2) = C(n, r + 1) + n/r C(n, r) (Kontkanen and
    Myllymäki 2007), as ratios so that it never overflows.

    >>> round(log_regret(1, 3), 12) == round(math.log(3), 12)
    True
    """
    if n == 0 or n_states <= 1:
        return 0.0
    ratio = 1.0 + _ramanujan_q(n)  # C(n, 2) / C(n, 1)
    log_sum = math.log(ratio)
    for r in range(1, n_states - 1):
        ratio = 1.0 + n / (r * ratio)
        log_sum += math.log(ratio)
    return log_sum


def _ramanujan_q(n: float) -> float:
    """Q(n) = 1 + (1 - 1/n) + (1 - 1/n)(1 - 2/n) + ...; the regret of two states is 1 + Q(n).

    References
    ----------
    Mononen and Myllymäki (2008), *Computing the multinomial stochastic complexity in sub-linear
    time*, PGM; the series is that of Flajolet et al. (1995), *On Ramanujan's Q-function*.
    """
    if n > 1e4:
        root = math.sqrt(math.pi / 2.0 / n)
        series = n + 1.0 / 12.0 + 1.0 / (288.0 * n) - 139.0 / (51840.0 * n * n)
        return root * series - 1.0 / 3.0 - 4.0 / (135.0 * n) + 8.0 / (2835.0 * n * n)
    k = np.arange(1.0, min(n, 10.0 + 9.0 * math.sqrt(n)))  # what follows is below 1e-17
    return 1.0 + float(np.cumprod(1.0 - k / n).sum())


@runtime_checkable
class TableNetwork(Protocol):
    """A network of probability tables, such as `jensen.inference.Network`."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, sorted by name."""

    @property
    def wiring(self) -> Wiring:
        """How the tables are laid out; only networks of tables have it."""

    def index(self, name: str) -> int:
        """Position of a variable."""

    def query(self, targets: Sequence[str], given: None, do: None) -> Any:
        """The joint distribution of some variables; its `values` have an axis for each of them."""


@dataclass(frozen=True)
class PriorNetworkScore:
    """BDe: a cell has the concentration α = equivalent sample size · P(cell) in a prior network.

    References
    ----------
    Heckerman, Geiger and Chickering (1995), *Learning Bayesian networks: the combination of
    knowledge and statistical data*, Machine Learning 20.
    """

    network: TableNetwork
    equivalent_sample_size: float
    is_set_function: bool = True
    needs_integer_weights: bool = False

    def local(self, counts: FamilyCounts, n_total: float) -> float:
        """The term of one variable; -inf if the prior network excludes a row."""
        if counts.configs is None:
            raise JensenError(f"the family {counts.family} has too many configurations for bde")
        alpha = self.concentration(counts).reshape(-1, counts.n_states)[counts.configs]
        return log_evidence(PosteriorDirichlet(alpha, alpha.sum(1)), None, counts.table)

    def concentration(self, counts: FamilyCounts) -> Array:
        """Concentrations of all cells of a family, an axis per member."""
        joint = self.network.query(counts.family, None, None).values
        return np.asarray(self.equivalent_sample_size * joint)


def bde(prior_network: Any, equivalent_sample_size: float) -> PriorNetworkScore:
    """BDe with this prior network, or with that of a fitted estimator."""
    return PriorNetworkScore(_network_of(prior_network), equivalent_sample_size)


def read_states(prior_network: Any, table: Table, names: Sequence[str]) -> Table:
    """The table encoded with the states of the prior network."""
    network = _network_of(prior_network)
    rows, unknown = table.read_as([network.variables[network.index(name)] for name in names])
    if unknown.any():
        raise DataError(
            f"row {int(unknown.argmax()) + 1} holds a state that prior_network does not know"
        )
    return rows


def _network_of(prior_network: Any) -> TableNetwork:
    if hasattr(prior_network, "require_network"):
        prior_network = prior_network.require_network()
    if not isinstance(prior_network, TableNetwork):
        raise JensenError(
            f"prior_network must be a network with tables, not {type(prior_network).__name__}"
        )
    return prior_network
