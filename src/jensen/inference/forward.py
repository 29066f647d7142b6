"""Rows drawn from a network, parents first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from jensen.data import Table
from jensen.data.encode import Column, smallest_code_type
from jensen.data.threads import ordered_map
from jensen.graphs.order import topological_order
from jensen.support.memory import check_memory

if TYPE_CHECKING:
    from jensen.inference.network import Network

DRAWN_ROWS = 1 << 13
"""Rows drawn with one random stream: fixed, so that the number of threads changes nothing."""


def sample(network: Network, n: int, rng: np.random.Generator, *, progress: bool = False) -> Table:
    """Draw n rows, parents first; every block of rows has its own random stream."""
    from jensen.kernels.forward import draw_rows

    types = [np.dtype(smallest_code_type(v.n_states)) for v in network.variables]
    check_memory(float(n) * sum(t.itemsize for t in types), f"{n:,} rows", "draw fewer at a time")
    w, order = network.wiring, np.array(topological_order(network.graph.parent_indices), np.int64)
    cumulative = _cumulative(network)
    codes = [np.empty(n, dtype) for dtype in types]

    def draw(unit: tuple[int, np.random.Generator]) -> None:
        start, stream = unit
        size = min(DRAWN_ROWS, n - start)
        uniforms, drawn = stream.random((len(codes), size)), np.empty((len(codes), size), np.int32)
        draw_rows(order, w.fam_ptr, w.fam_vars, w.fam_stride, w.fam_at, cumulative, uniforms, drawn)
        for column, row in zip(codes, drawn, strict=True):
            column[start : start + size] = row

    starts = range(0, n, DRAWN_ROWS)
    done = ordered_map(draw, list(zip(starts, rng.spawn(len(starts)), strict=True)))
    for _ in tqdm(done, "drawing", len(starts), disable=not progress, delay=1.0):
        pass
    return Table.from_columns(map(Column, network.variables, codes))


def _cumulative(network: Network) -> NDArray[np.float64]:
    """Running sums within every row of every table; 1 is reached where nothing more can follow."""
    parts = []
    for variable, start, stop in zip(
        network.variables, network.wiring.fam_at[:-1], network.wiring.fam_at[1:], strict=True
    ):
        rows = network.probabilities[start:stop].reshape(-1, variable.n_states)
        sums = np.cumsum(rows, axis=1)
        parts.append((sums / sums[:, -1:]).ravel())
    return np.concatenate(parts) if parts else np.empty(0)
