"""Dirichlet priors of a network's tables, from what the caller says."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.graphs.wiring import Wiring
from jensen.models.discrete_network import Tables
from jensen.scores.registry import PRIORS, SPECS, SPREAD_PRIORS
from jensen.support.checks import check_sample_size, is_real
from jensen.support.text import either

SMALLEST, LARGEST = 1e-10, 1e10
"""Natural parameters, concentration - 1, keep six digits of the one, and F four decimals of the
other; beyond, results would be wrong before anything looks wrong."""


def make_prior(
    prior: Any,
    equivalent_sample_size: float,
    names: Sequence[str],
    wiring: Wiring,
    counts: NDArray[np.float64],
) -> Tables:
    """η₀ of all tables: None (flat), a number, the name of a prior, or arrays by variable."""
    check_prior(prior, equivalent_sample_size)
    if prior is None:
        return Tables(None)
    if isinstance(prior, Mapping):
        alpha = _explicit(prior, names, wiring)
    elif isinstance(prior, str) and prior in SPREAD_PRIORS:
        everywhere = SPECS[prior].prior == "everywhere"
        alpha = _spread(equivalent_sample_size, wiring, counts, everywhere=everywhere)
    else:  # a name that is left is that of one for each cell
        alpha = np.full(len(counts), 1.0 if isinstance(prior, str) else float(prior))
    _check_range(alpha[alpha > 0.0])
    return Tables(alpha - 1.0)


def _check_range(alpha: NDArray[np.float64]) -> None:
    if alpha.min(initial=np.inf) < SMALLEST:
        raise JensenError(
            f"this prior has concentrations down to {alpha.min():.3g}, and tables cannot be "
            f"computed below {SMALLEST:g}: raise the prior, or leave out parents"
        )
    if alpha.max(initial=0.0) > LARGEST:
        raise JensenError(
            f"this prior has concentrations up to {alpha.max():.3g}, and tables cannot be "
            f"computed above {LARGEST:g}, where data no longer count: lower the prior"
        )


def _spread(
    equivalent_sample_size: float,
    wiring: Wiring,
    counts: NDArray[np.float64],
    *,
    everywhere: bool,
) -> NDArray[np.float64]:
    """An equivalent sample, evenly over every table or over its rows that were counted."""
    rows = wiring.row_lengths()
    table_of_row = np.repeat(np.arange(len(wiring.cards)), np.diff(wiring.fam_at) // wiring.cards)
    counted = np.ones(len(rows), bool)
    if not everywhere:
        counted = np.add.reduceat(counts, np.cumsum(rows) - rows) > 0
    n_counted = np.bincount(table_of_row, counted, minlength=len(wiring.cards))
    share = np.where(counted, equivalent_sample_size / np.maximum(n_counted[table_of_row], 1), 0.0)
    return np.asarray(np.repeat(share / rows, rows))


def check_prior(prior: Any, equivalent_sample_size: float) -> None:
    """Refuse a prior that is none, and a sample size that would be ignored."""
    if isinstance(prior, str) and prior not in PRIORS:
        raise JensenError(f"there is no prior {prior!r}: use a number, or one of {list(PRIORS)}")
    if is_real(prior) and not 0 < float(prior) < np.inf:
        raise JensenError(f"a Dirichlet concentration must be positive and finite, not {prior}")
    if not (prior is None or isinstance(prior, str | Mapping) or is_real(prior)):
        raise JensenError(
            f"prior must be None, a number, one of {list(PRIORS)}, or a dict of concentrations by "
            f"variable, not {type(prior).__name__}"
        )
    check_sample_size(equivalent_sample_size)
    if equivalent_sample_size != 1.0 and prior not in SPREAD_PRIORS:
        raise JensenError(
            f"equivalent_sample_size={equivalent_sample_size} belongs to "
            f"prior={either(map(repr, SPREAD_PRIORS))}, and would be ignored with prior={prior!r}"
        )


def _explicit(
    prior: Mapping[str, Any], names: Sequence[str], wiring: Wiring
) -> NDArray[np.float64]:
    """Concentrations given for every variable, as a number or an array of its table's shape."""
    unknown = [name for name in prior if name not in names]
    absent = [name for name in names if name not in prior]
    if unknown or absent:
        raise JensenError(
            f"a prior by variable names each of them once; unknown: {unknown}, absent: {absent}"
        )
    parts = []
    for v, name in enumerate(names):
        members = wiring.fam_vars[wiring.fam_ptr[v] : wiring.fam_ptr[v + 1]]
        shape = tuple(int(card) for card in wiring.cards[members])
        try:
            part = np.broadcast_to(np.asarray(prior[name], np.float64), shape)
        except (TypeError, ValueError):
            raise JensenError(
                f"the prior of {name!r} must be a number or an array of shape {shape}"
            ) from None
        if not np.all((part > 0) & (part < np.inf)):
            raise JensenError(f"the prior of {name!r} must be positive and finite in every cell")
        parts.append(part.ravel())
    return np.concatenate(parts)
