"""Evidences under Dirichlet priors, log p(x | G) = A(prior + stats) - A(prior): BDeu, BDs, K2."""

from collections.abc import Callable
from dataclasses import dataclass

from jensen.data.statistics import FamilyCounts
from jensen.exceptions import JensenError
from jensen.families.dirichlet import SegmentedDirichlet
from jensen.families.tilted import symmetric_log_evidence


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
                f"equivalent_sample_size is too small to be spread over {counts.n_configs:.3g} "
                f"parent configurations: raise it, or leave out parents"
            )
        cells, lengths = counts.stored()  # the others add nothing
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
"""One for every cell (Cooper and Herskovits 1992)."""
