"""What the completions of each row add to the statistics of a network.

Cells that are missing below which nothing is seen are left out: whatever they are, they integrate
to one. So are the tables of variables that were set from outside.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.number_rows import numbers_of
from jensen.evidence.asked import EvidenceQuestion
from jensen.evidence.stacked import flat_rows
from jensen.exceptions import JensenError
from jensen.graphs.indexed_graph import topological_order
from jensen.models.discrete_network import DiscreteNetwork
from jensen.models.mixed_network import MixedParameters
from jensen.models.mixed_rows import seen_moments
from jensen.q_hidden.mixed.cells import MixedRows
from jensen.q_hidden.trees.problems import code_rows
from jensen.support.fields import leaves, rebuild
from jensen.support.text import one_of

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


def network_completions(asked: EvidenceQuestion) -> Iterator[tuple[Array, int]]:
    """(completions, P) and how often, for every different row of a network."""
    model: Any = asked.model
    names, source = model.graph.nodes, asked.problem.data.rows.source
    rows, targets = source.rows, source.targets
    labels, numbers = _kinds(model)
    block = next(iter(rows.blocks(max(rows.n_rows, 1))))
    codes = code_rows(block, [names[v] for v in labels])
    values = numbers_of(block, [names[v] for v in numbers])
    weight = np.asarray(block.weights)
    if (weight % 1.0).any():
        raise JensenError(
            "completions are summed row by row, so weights must be whole numbers: use "
            f"{one_of('method', ['vb', 'laplace'])}"
        )
    target = np.full(len(codes), -1) if targets is None else targets
    both = np.column_stack([codes, values, target])
    _, first, group = np.unique(
        both, axis=0, return_index=True, return_inverse=True, equal_nan=True
    )
    times = np.bincount(group.ravel(), weight, len(first))
    for i, n in zip(first, times, strict=True):
        yield _of_row(model, codes[i], values[i], int(target[i])), int(n)


def _kinds(model: Any) -> tuple[list[int], list[int]]:
    """The nodes that are labels, and those that are numbers."""
    if isinstance(model, DiscreteNetwork):
        return list(range(len(model.graph.nodes))), []
    return list(model.layout.labels), list(model.layout.numbers)


def _of_row(model: Any, codes: NDArray[np.int32], values: Array, target: int) -> Array:
    """(completions, P): what the completions of one row add."""
    labels, numbers = _kinds(model)
    parents = model.graph.parent_indices
    seen = np.zeros(len(parents), bool)
    seen[labels], seen[numbers] = codes >= 0, ~np.isnan(values)
    matters = seen.copy()
    for v in topological_order(parents)[::-1]:
        for u in parents[v] if v != target else ():
            matters[u] |= matters[v]
    if (matters & ~seen)[numbers].any():
        raise JensenError(
            "the sum over completions knows missing labels, and here numbers are missing too: use "
            f"{one_of('method', ['vb', 'laplace'])}, or leave out the rows with gaps"
        )
    hidden = [j for j, v in enumerate(labels) if matters[v] and not seen[v]]
    cards = _cards(model)
    options = np.array(list(product(*(range(int(cards[j])) for j in hidden))), np.int32)
    full = np.repeat(codes[None], len(options), axis=0)
    full[:, hidden] = options
    counts = _counts(model, full, [bool(matters[v]) and v != target for v in labels])
    if isinstance(model, DiscreteNetwork):
        return counts
    shifted = values - model.shift
    moments = []
    for one in full:
        row = MixedRows(one[None], shifted[None], np.ones(1))
        found = seen_moments(row, model.layout)
        if target in numbers:
            own = model.layout.form_at[model.layout.place[target] :][:2]
            found[own[0] : own[1]] = 0.0
        moments.append(found)
    records = [model.layout.stats_of(x) for x in moments]
    rows = [MixedParameters(c, r) for c, r in zip(counts, records, strict=True)]
    return np.concatenate([flat_rows(_lifted(row)) for row in rows])


def _lifted(record: Any) -> Any:
    return rebuild(record, (leaf[None] for leaf in leaves(record)))


def _cards(model: Any) -> Ints:
    wiring = model.wiring if isinstance(model, DiscreteNetwork) else model.layout.wiring
    return np.asarray(wiring.cards)


def _counts(model: Any, codes: NDArray[np.int32], counts: list[bool]) -> Array:
    """(completions, P of tables): one for the cell of every family that counts."""
    wiring = model.wiring if isinstance(model, DiscreteNetwork) else model.layout.wiring
    found = np.zeros((len(codes), int(wiring.fam_at[-1])))
    rows = np.arange(len(codes))
    for f, is_counted in enumerate(counts):
        if is_counted:
            members = wiring.members(f)
            place = np.ravel_multi_index(tuple(codes[:, members].T), tuple(wiring.cards[members]))
            found[rows, wiring.fam_at[f] + place] += 1.0
    return found
