"""Rows of codes: every column a distribution of its own for each state, all with as many labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.families.beta import beta
from jensen.families.dirichlet import dirichlet
from jensen.families.masked import MaskedDirichlet
from jensen.hidden_states.readings import MAX, SUM, Reading
from jensen.hidden_states.records import ChainSums, ChainTables
from jensen.models.emissions.column_records import ColumnRows, ColumnSums, ColumnTables
from jensen.models.emissions.named import read_array, read_shares
from jensen.models.emissions.quick_columns import QuickColumns
from jensen.recycled import recycled

Array = NDArray[np.float64]
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Discrete:
    """Labels, or successes and failures, in D columns."""

    n_states: int
    n_columns: int
    n_labels: int
    prior: Array | None  # (K, D, V)
    is_binary: bool = False  # yes or no, known by the probability of yes
    mask: NDArray[np.bool_] | None = None  # (K, D, V): which labels a state may have

    @property
    def family(self) -> Any:
        """A Dirichlet for each state and column."""
        if self.mask is not None:
            return MaskedDirichlet(self.mask)
        return beta if self.is_binary else dirichlet

    @property
    def blank(self) -> Array:
        """Zeros."""
        return np.zeros((self.n_states, self.n_columns, self.n_labels))

    @property
    def has_distances(self) -> bool:
        """Rows may agree in some columns and not in others."""
        return self.n_columns > 1

    @property
    def n_parameters(self) -> int:
        """How many free parameters all states have."""
        possible = self.blank == 0.0 if self.mask is None else self.mask
        return int((possible.sum(-1) - 1).sum())

    def encode(self, values: Array) -> Codes:
        """(D, n); missing is the code after the last."""
        codes = np.where(np.isnan(values), self.n_labels, values)
        return np.ascontiguousarray(codes.T, dtype=np.int32)

    def by_kind(self, rows: Codes) -> ColumnRows:
        """Labels."""
        return ColumnRows.of(rows.shape[1], codes=rows)

    def of_kind(self, columns: ColumnRows) -> Codes:
        """The rows, from their columns."""
        return columns.codes

    def observe(self, t: Array, rows: Codes) -> "Seen":
        """Rows at this θ."""
        return Seen(t, rows)

    def predict(self, eta: Array, rows: Codes) -> "Seen":
        """Rows under the mean, which is the predictive distribution."""
        return Seen(self.point(eta), rows)

    def simulate(self, t: Array, states: NDArray[np.intp], rng: np.random.Generator) -> Array:
        """Codes of the rows of these states."""
        below = np.cumsum(np.exp(t), axis=-1)[states]  # (n, D, V)
        uniform = rng.random(below.shape[:2]) * below[:, :, -1]
        codes = (below <= uniform[:, :, None]).sum(-1)
        return np.asarray(np.minimum(codes, self.n_labels - 1), np.float64)

    def wide(self, values: Array) -> Array:
        """All states with the frequencies of all rows, none of them 0."""
        codes = np.where(np.isnan(values), self.n_labels, values).astype(int)
        counts = [np.bincount(column, minlength=self.n_labels + 1)[:-1] for column in codes.T]
        return np.repeat(np.stack(counts)[None] + 1.0, self.n_states, axis=0)

    def place(self, values: Array) -> Array:
        """One coordinate for each label: two labels are 1 apart."""
        codes = np.where(np.isnan(values), self.n_labels, values).astype(int)
        corners = np.eye(self.n_labels + 1)[:, :-1] / np.sqrt(2.0)
        return np.asarray(corners[codes].reshape(len(codes), -1))

    def point(self, eta: Array) -> Array:
        """The expected probabilities."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.family.mean(eta)))

    def by_state(self, record: Array) -> Array:
        """All labels of all columns."""
        return record.reshape(self.n_states, -1)

    def select(self, record: Array, states: NDArray[np.intp]) -> Array:
        """These states only, in this order."""
        return record[states]

    def read(self, named: Mapping[str, Any]) -> Array:
        """From "emission": (K, V), (K, D, V), or probabilities of yes (K, D)."""
        K, D, V = self.n_states, self.n_columns, self.n_labels
        if self.is_binary:
            yes = read_array(named, "emission", (K, D))
            both = {"emission": np.stack([1.0 - yes, yes], -1)}
            return read_shares(both, "emission", (K, D, 2))
        shape = (K, V) if D == 1 else (K, D, V)
        return read_shares(named, "emission", shape).reshape(K, D, V)

    def expected(self, t: Array) -> Array:
        """Probabilities, as they are shown."""
        return self.show(t)["emission"]

    def show(self, t: Array) -> dict[str, Array]:
        """Probabilities."""
        shares = dirichlet.share(np.exp(t))
        if self.is_binary:
            return {"emission": shares[:, :, 1]}
        return {"emission": shares[:, 0] if self.n_columns == 1 else shares}

    def show_average(self, draws: Sequence[Array]) -> dict[str, Array]:
        """Mean probabilities."""
        return {"emission": np.mean([self.show(t)["emission"] for t in draws], axis=0)}


class Seen(QuickColumns):
    """Rows at one θ."""

    def __init__(self, t: Array, rows: Codes) -> None:
        self.t = t
        self.rows = rows

    def log_like(self, start: int, stop: int, how: Reading = SUM) -> Array:
        """(K, rows)."""
        from jensen.kernels.columns import add_looked_up

        tables = self._peaks if how == MAX else self._sums
        out = recycled(len(tables), stop - start)
        out[:] = 0.0
        add_looked_up(self.rows, start, stop, self._at, tables.reshape(len(tables), -1), out)
        return out

    def fill_scaled(self, start: int, stop: int, like: Array, shift: Array) -> bool:
        """The same as like (rows, K) · exp(shift); only if there is one column, of few labels."""
        from jensen.kernels.log_tables import look_up_rows

        if len(self.rows) != 1:
            return False
        look_up_rows(self.rows, start, stop, *self._scaled, like, shift)
        return True

    def expected_chains(
        self,
        tables: ChainTables,
        start: int,
        spans: NDArray[np.int64],
        weight: Array,
        sums: ChainSums,
    ) -> tuple[Array, Array]:
        """Log Z of sequences and the counts of their rows; those of one column are looked up."""
        from jensen.kernels.chains import learn_code_chains, room_size

        if len(self.rows) != 1:
            return super().expected_chains(tables, start, spans, weight, sums)
        log_z, room = np.zeros(len(spans)), recycled(room_size(spans, len(self.t)))
        counts = self._no_counts
        learn_code_chains(
            tables, spans, weight, self.rows, start, *self._scaled, room, log_z, sums, self._at,
            counts,
        )  # fmt: skip
        return log_z, self._complete(counts)

    def column_rows(self) -> ColumnRows:
        """Labels."""
        return ColumnRows.of(self.rows.shape[1], codes=self.rows)

    def column_tables(self) -> ColumnTables:
        """Of labels."""
        return ColumnTables.of(len(self.t), labels=self._sums)

    def gather(self, states: Array, sums: ColumnSums) -> Array:
        """Counts."""
        return self._complete(sums.labels)

    @property
    def _at(self) -> NDArray[np.int64]:
        """Where the labels of each column begin, and the missing one is the last."""
        _, D, V = self.t.shape
        return np.arange(0, (D + 1) * (V + 1), V + 1)

    @property
    def _no_counts(self) -> Array:
        return np.zeros((len(self.t), int(self._at[-1])))

    @cached_property
    def _scaled(self) -> tuple[Array, Array]:
        """Tables (labels, K) with 1 as the largest of each label, and the logs of what that was."""
        logs = np.ascontiguousarray(self._sums[:, 0].T)
        tops = logs.max(1)
        tops[tops == -np.inf] = 0.0
        return np.exp(logs - tops[:, None]), tops

    @cached_property
    def _sums(self) -> Array:
        """Log tables, and in a last column that of a missing label."""
        top = self.t.max(-1, keepdims=True)
        total = np.log(np.exp(self.t - top).sum(-1, keepdims=True)) + top
        return np.ascontiguousarray(np.concatenate([self.t, total], axis=-1))

    @cached_property
    def _peaks(self) -> Array:
        """The same, with the most probable label."""
        peak = self.t.max(-1, keepdims=True)
        return np.ascontiguousarray(np.concatenate([self.t, peak], axis=-1))

    def stats(self, start: int, stop: int, nodes: Array, how: Reading = SUM) -> Array:
        """Counts."""
        from jensen.kernels.columns import add_counts

        counts = self._no_counts
        add_counts(self.rows, start, stop, nodes, self._at, counts)
        return self._complete(counts, how)

    def _complete(self, counts: Array, how: Reading = SUM) -> Array:
        """Counts of labels (K, D, V), the last of (K, D · (V + 1)) shared out: the missing one."""
        K, D, V = self.t.shape
        counts = counts.reshape(K, D, V + 1)
        absent = counts[:, :, -1]
        if not absent.any():
            return counts[:, :, :-1]
        return np.asarray(counts[:, :, :-1] + self._missing(absent, how))

    def _missing(self, count: Array, how: Reading) -> Array:
        """How missing labels count; count (K, D) is how many are missing."""
        if how == MAX:
            return np.asarray(np.eye(self.t.shape[-1])[self.t.argmax(-1)] * count[:, :, None])
        shares = dirichlet.share(np.exp(self.t - self.t.max(-1, keepdims=True)))
        if how.rng is None:
            return np.asarray(shares * count[:, :, None])
        return how.rng.multinomial(count.astype(np.int64), shares).astype(np.float64)
