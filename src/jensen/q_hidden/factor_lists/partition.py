"""Log Z of all variables, and the distribution of every table, where no tree of clusters fits.

They stand for the exact `Partition` while a Markov network is learned from complete rows. Trees
bound log Z from above, so that the likelihood is bounded from below, and the bound is concave in
the log tables; loopy beliefs give an estimate that is neither. Mean field has no place here: it
bounds log Z from below, and so the likelihood from above, which may be raised without end.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.q_hidden.factor_lists.factor_list import FactorList
from jensen.q_hidden.factor_lists.loopy import Propagation, propagate
from jensen.q_hidden.factor_lists.of_rows import DAMPED, FLOOR
from jensen.q_hidden.factor_lists.tree_mixtures import all_trees
from jensen.support.factor_records import make_messages
from jensen.support.text import one_of, option
from jensen.support.tree_records import Wiring

Array = NDArray[np.float64]

WAYS = ("trw", "loopy")
SWEEPS = 3000
TOLERANCE = 1e-11
"""Log messages that change by less have settled: slopes are only as good."""


def check_way(way: str, method: str) -> None:
    """Refuse what does not stand for log Z in learning by this method."""
    if way == "mean-field":
        raise JensenError(
            f"{option('inference', way)} bounds log Z from below, and so the likelihood from "
            f"above, which can be raised without end: learn with {one_of('inference', WAYS)}"
        )
    if way not in ("exact", *WAYS):
        raise JensenError(
            f"a Markov network is not learned with {option('inference', way)}: choose "
            f"{one_of('inference', ['exact', *WAYS])}"
        )
    if way != "exact" and method != "ml":
        raise JensenError(
            f"{option('inference', way)} belongs to {option('method', 'ml')}, and would be "
            f"ignored by {method!r}"
        )


def approximate_partition(wiring: Wiring, way: str) -> Callable[[Array], tuple[float, Array]]:
    """A function of log tables that gives log Z and p(states) of every table, flat.

    Parameters
    ----------
    wiring
        Tables of one or two variables each.
    way
        "trw", an upper bound with all spanning trees alike, or "loopy", the Bethe value.
    """
    sizes = np.diff(wiring.fam_ptr)
    if (sizes > 2).any():
        raise JensenError(
            f"{option('inference', way)} learns pairwise interactions, and there are tables of "
            f"{int(sizes.max())} variables: choose {option('interactions', 'pairwise')}"
        )
    pairs = np.flatnonzero(sizes == 2)
    weights = np.ones(wiring.n_families)
    if way == "trw":
        ends = wiring.fam_vars[wiring.fam_ptr[pairs][:, None] + np.arange(2)]
        weights[pairs] = all_trees(len(wiring.cards), ends).weights
    n = len(wiring.cards)
    like = FactorList(wiring, np.empty(0), 0.0, np.arange(n), (np.empty(0, np.int64),) * n, {})

    def solve(log_tables: Array) -> tuple[float, Array]:
        factors = like._replace(log_tables=np.maximum(log_tables, FLOOR))
        for how in (Propagation("sweeps"), DAMPED, Propagation("sweeps", 0.8)):
            point = propagate(
                factors, how, weights, net=make_messages(wiring), most_sweeps=SWEEPS, tol=TOLERANCE
            )
            if point.converged:
                return point.log_z, point.shares
        raise JensenError(
            f"messages of {option('inference', way)} did not settle at the potentials that were "
            f"reached: use {option('method', 'pseudo')}, or a penalty that keeps interactions small"
        )

    return solve
