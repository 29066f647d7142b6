"""Choices of mixtures of trees: which columns they take, and what their prior says of trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource
from jensen.data.variable import Variable
from jensen.estimators.learning import LoopChoices
from jensen.exceptions import DataError, JensenError
from jensen.families.trees import PairTables, edge_base
from jensen.models.emissions.trees import TreeLabels
from jensen.support.arguments import is_real
from jensen.support.text import of_frame, offer, some

Array = NDArray[np.float64]

SAMPLE_SIZE = 1.0
"""Imagined rows of each tree, as everywhere."""


@dataclass(frozen=True)
class TreeChoices(LoopChoices):
    """Trees are read at their mode, or kept as a posterior."""

    methods = ("em", "vbem")


def refuse_kinds(rows: RowSource) -> None:
    """Refuse columns that are no labels."""
    numbers = [name for name in sorted(rows.names) if rows.variable(name).kind != "categorical"]
    if numbers:
        raise DataError(
            f"a mixture of trees links columns of labels, and {some(map(repr, numbers))} "
            f"{'holds' if len(numbers) == 1 else 'hold'} numbers: use jn.discretize, say "
            f"{of_frame(categorical=numbers)} if these are labels, or take jn.LatentClass"
        )


def make_trees(
    n_states: int,
    variables: Sequence[Variable],
    prior_parts: Mapping[str, Any] | None,
    *,
    is_shared: bool,
    is_whole: bool,
) -> TreeLabels:
    """The components of a mixture of such columns."""
    tables = PairTables(tuple(variable.n_states for variable in variables))
    if prior_parts is None:
        return TreeLabels(n_states, tables, None, None, is_shared, is_whole)
    size = prior_parts.get("equivalent_sample_size", SAMPLE_SIZE)
    if not is_real(size) or not 0.0 < float(size) < np.inf:
        raise JensenError(
            f"prior['equivalent_sample_size'] must be a number above 0, not {size!r:.80}"
        )
    prior = tables.even(n_states, float(size))
    log_beta = read_edges(prior_parts.get("edges"), [v.name for v in variables])
    base = edge_base(tables, prior, log_beta, is_shared)
    return TreeLabels(n_states, tables, prior, base, is_shared, is_whole)


def read_edges(given: Any, names: Sequence[str]) -> Array:
    """(pairs,): log β of all pairs u < v."""
    D = len(names)
    u, v = np.triu_indices(D, 1)
    if given is None:
        return np.zeros(len(u))
    beta = _from_pairs(given, names) if isinstance(given, Mapping) else _as_matrix(given, D)
    if not np.isfinite(beta).all() or (beta < 0.0).any():
        raise JensenError("prior['edges'] must hold finite numbers, 0 or more")
    if not _is_connected(beta > 0.0):
        raise JensenError("prior['edges'] forbids so many edges that no tree is left")
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(beta[u, v]))


def _as_matrix(given: Any, D: int) -> Array:
    try:
        beta = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        beta = np.empty(())
    if beta.shape != (D, D) or not np.array_equal(beta, beta.T):
        raise JensenError(
            f"prior['edges'] must be a dict from pairs of names to numbers, or a symmetric matrix "
            f"of the shape {(D, D)}"
        )
    beta = beta.copy()
    np.fill_diagonal(beta, 0.0)
    return beta


def _from_pairs(given: Mapping[Any, Any], names: Sequence[str]) -> Array:
    beta = np.ones((len(names), len(names)))
    np.fill_diagonal(beta, 0.0)
    for pair, value in given.items():
        if not isinstance(pair, tuple) or len(pair) != 2 or pair[0] == pair[1]:
            raise JensenError(
                f"prior['edges'] is a dict from pairs of two names to numbers; {pair!r:.80} is none"
            )
        for name in pair:
            if name not in names:
                raise JensenError(
                    f"prior['edges'] names {name!r:.80}; {offer(str(name), names, 'column')}"
                )
        if not is_real(value):
            raise JensenError(f"prior['edges'][{pair!r}] must be a number, not {value!r:.80}")
        a, b = names.index(pair[0]), names.index(pair[1])
        beta[a, b] = beta[b, a] = float(value)
    return beta


def _is_connected(joined: NDArray[np.bool_]) -> bool:
    reached = np.arange(len(joined)) == 0
    while True:
        further = reached | joined[reached].any(0)
        if np.array_equal(further, reached):
            return bool(reached.all())
        reached = further
