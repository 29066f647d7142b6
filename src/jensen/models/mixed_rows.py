"""Rows of labels and numbers as a network learns from them: counted, or solved in every sweep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource
from jensen.data.blocks import Block, Units
from jensen.data.number_rows import numbers_of
from jensen.models.discrete_network import CountedRows, complete_counts
from jensen.models.mixed_starts import MixedStarts
from jensen.q_hidden.mixed.cells import CellUnit, MixedMoments, MixedRows, encode_rows
from jensen.q_hidden.mixed.layout import MixedLayout
from jensen.q_hidden.mixed.shapes import NOTHING_ASKED, Asked, Shapes
from jensen.q_hidden.trees.problems import code_rows
from jensen.support.fields import add

Array = NDArray[np.float64]

BLOCK_ROWS = 1 << 16
"""Rows that are encoded at a time."""


class CompleteFamilies(NamedTuple):
    """A unit: counts and moments of all families of all rows that miss none of their members."""

    stats: MixedMoments
    base: float = 0.0  # Σ -log x! of all counts that are known: the same at all parameters


Unit = CompleteFamilies | CellUnit


class EncodedRows(NamedTuple):
    """Units for the loop, and what a start is made of."""

    units: Units
    counted: CompleteFamilies
    starts: MixedStarts
    source: CountedRows


def read_block(block: Block, layout: MixedLayout, names: Sequence[str], shift: Array) -> MixedRows:
    """Codes and numbers, relative to `shift`, of some rows."""
    codes = code_rows(block, [names[v] for v in layout.labels])
    values = numbers_of(block, [names[v] for v in layout.numbers]) - shift
    return MixedRows(codes, values, np.asarray(block.weights, np.float64))


def encode(
    rows: RowSource,
    layout: MixedLayout,
    names: Sequence[str],
    shift: Array,
    targets: NDArray[np.int64] | None = None,
    *,
    keep_all: bool = False,
) -> tuple[CompleteFamilies, tuple[CellUnit, ...]]:
    """Count families without gaps, and collect the other parts of rows.

    Parameters
    ----------
    targets
        (rows,): the node that was set from outside, -1 where none was; None: nowhere.
    keep_all
        Whether missing cells are kept below which nothing is known, as where graphs are compared:
        all of them must have the same cells in h.
    """
    asked = Asked(frozenset(range(len(names)))) if keep_all else NOTHING_ASKED
    groups = [(-1, rows)]
    if targets is not None:
        groups = [(v, rows.take(targets == v)) for v in np.unique(targets).tolist()]
    shapes, labels = Shapes(layout, names), [names[v] for v in layout.labels]
    total: MixedMoments | None = None
    base = 0.0
    units: list[CellUnit] = []
    for v, part in groups:
        counts = complete_counts(part, labels, layout.wiring)
        if v >= 0 and layout.cards[v]:
            own = layout.wiring.fam_at[layout.place[v] : layout.place[v] + 2]
            counts[own[0] : own[1]] = 0.0
        moments = part.sum(
            lambda block: seen_moments(read_block(block, layout, names, shift), layout)
        )
        if v >= 0 and not layout.cards[v]:
            own_forms = layout.form_at[layout.place[v] : layout.place[v] + 2]
            moments[own_forms[0] : own_forms[1]] = 0.0
        found = MixedMoments(counts, moments)
        total = found if total is None else add(total, found)
        for block in part.blocks(BLOCK_ROWS):
            own_rows = read_block(block, layout, names, shift)
            base += float(own_rows.weight @ layout.log_bases(own_rows.values, {v}))
            was_set = (v,) if v >= 0 else ()
            units += encode_rows(shapes, own_rows, was_set, asked)
    assert total is not None
    return CompleteFamilies(total, base), tuple(units)


def seen_moments(rows: MixedRows, layout: MixedLayout) -> Array:
    """Moments of every regression over the rows that miss none of its members."""
    found = np.zeros(layout.form_at[-1])
    for v, above in enumerate(layout.number_parents):
        members = rows.values[:, [*above, v]]
        known = ~np.isnan(members).any(1)
        if layout.label_parents[v]:
            known &= (rows.codes[:, list(layout.label_parents[v])] >= 0).all(1)
        z = np.column_stack([np.ones(int(known.sum())), members[known]])
        weight, config = rows.weight[known], layout.configs_of(v, rows.codes[known])
        own = found[layout.form_at[v] : layout.form_at[v + 1]].reshape(layout.n_configs[v], -1)
        order = np.argsort(config, kind="stable")
        starts = np.flatnonzero(np.diff(config[order], prepend=-1))
        for part in np.split(order, starts[1:]) if len(order) else ():
            at, here = config[part[0]], z[part]
            own[at, 0] = weight[part].sum()
            own[at, 1:] = (here.T @ (here * weight[part, None])).ravel()
    return found
