"""Rows of codes: labels, or 0 and 1. Each state has a distribution of its own for every column.

All columns have the same number of labels.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.number_rows import ColumnSummary
from jensen.families.dirichlet import MaskedDirichlet, beta, dirichlet
from jensen.models.emissions import Survey
from jensen.models.emissions.independent_columns import FastColumns
from jensen.models.emissions.kinds import (
    TOLERANCE,
    Chosen,
    EmissionKind,
    Fault,
    Line,
    PriorParts,
    as_shares,
    read_array,
    read_shares,
    refuse_values,
)
from jensen.models.emissions.priors import label_prior
from jensen.q_hidden.structures import MAX, SUM, ReadMode
from jensen.support.machine import pooled_array
from jensen.support.row_records import (
    ChainSums,
    ChainTables,
    ColumnRows,
    ColumnSums,
    ColumnTables,
    room_size,
)

Array = NDArray[np.float64]


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
    def n_parameters(self) -> int:
        """How many free parameters all states have."""
        possible = self.blank == 0.0 if self.mask is None else self.mask
        return int((possible.sum(-1) - 1).sum())

    def masked(self, mask: NDArray[np.bool_]) -> "Discrete":
        """The same, of which states may have these labels (K, D, V) only."""
        prior = None if self.prior is None else np.where(mask, self.prior, 0.0)
        return replace(self, mask=mask, prior=prior)

    def encode(self, values: Array) -> ColumnRows:
        """Labels; missing is the code after the last."""
        codes = np.where(np.isnan(values), self.n_labels, values)
        return ColumnRows.of(len(values), codes=np.ascontiguousarray(codes.T, dtype=np.int32))

    def observe(self, t: Array, rows: ColumnRows) -> "ObservedLabels":
        """Rows at this θ."""
        return ObservedLabels(t, rows)

    def predict(self, eta: Array, rows: ColumnRows) -> "ObservedLabels":
        """Rows under the mean, which is the predictive distribution."""
        return ObservedLabels(self.point(eta), rows)

    def simulate(self, t: Array, states: NDArray[np.intp], rng: np.random.Generator) -> Array:
        """Codes of the rows of these states."""
        below = np.cumsum(np.exp(t), axis=-1)[states]  # (n, D, V)
        uniform = rng.random(below.shape[:2]) * below[:, :, -1]
        codes = (below <= uniform[:, :, None]).sum(-1)
        return np.asarray(np.minimum(codes, self.n_labels - 1), np.float64)

    def survey(self, values: Array) -> Survey:
        """One coordinate for each label: two are 1 apart. All states with the frequencies, not 0.

        Rows may agree in some columns and not in others, if there are several.
        """
        codes = np.where(np.isnan(values), self.n_labels, values).astype(int)
        corners = np.eye(self.n_labels + 1)[:, :-1] / np.sqrt(2.0)
        points = np.asarray(corners[codes].reshape(len(codes), -1))
        counts = [np.bincount(column, minlength=self.n_labels + 1)[:-1] for column in codes.T]
        wide = np.repeat(np.stack(counts)[None] + 1.0, self.n_states, axis=0)
        return Survey(points, self.n_columns > 1, wide)

    def point(self, eta: Array) -> Array:
        """The expected probabilities."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.family.mean(eta)))

    def read(self, named: Mapping[str, Any]) -> Array:
        """From "emission": (K, V), (K, D, V), or probabilities of yes (K, D)."""
        K, D, V = self.n_states, self.n_columns, self.n_labels
        if self.is_binary:
            yes = read_array(named, "emission", (K, D))
            both = {"emission": np.stack([1.0 - yes, yes], -1)}
            return read_shares(both, "emission", (K, D, 2))
        shape = (K, V) if D == 1 else (K, D, V)
        return read_shares(named, "emission", shape).reshape(K, D, V)

    def show(self, *draws: Array) -> dict[str, Array]:
        """(Mean) probabilities."""
        shares = np.mean([dirichlet.share(np.exp(t)) for t in draws], axis=0)
        if self.is_binary:
            return {"emission": shares[:, :, 1]}
        return {"emission": shares[:, 0] if self.n_columns == 1 else shares}


class ObservedLabels(FastColumns):
    """Rows at one θ."""

    def __init__(self, t: Array, rows: ColumnRows) -> None:
        self.t = t
        self.rows = rows

    def log_like(self, start: int, stop: int, how: ReadMode = SUM) -> Array:
        """(K, rows)."""
        from jensen.kernels.columns import add_looked_up

        tables = self._peaks if how == MAX else self._sums
        out = pooled_array(len(tables), stop - start)
        out[:] = 0.0
        add_looked_up(self.rows.codes, start, stop, self._at, tables.reshape(len(tables), -1), out)
        return out

    def fill_scaled(self, start: int, stop: int, like: Array, shift: Array) -> bool:
        """The same as like (rows, K) · exp(shift); only if there is one column, of few labels."""
        from jensen.kernels.log_tables import look_up_rows

        if len(self.rows.codes) != 1:
            return False
        look_up_rows(self.rows.codes, start, stop, *self._scaled, like, shift)
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
        from jensen.kernels.chains import learn_code_chains

        if len(self.rows.codes) != 1:
            return super().expected_chains(tables, start, spans, weight, sums)
        log_z, room = np.zeros(len(spans)), pooled_array(room_size(spans, len(self.t)))
        counts = self._no_counts
        learn_code_chains(
            tables, spans, weight, self.rows.codes, start, *self._scaled, room, log_z, sums,
            self._at, counts,
        )  # fmt: skip
        return log_z, self._complete(counts)

    def column_rows(self) -> ColumnRows:
        """The rows."""
        return self.rows

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

    def stats(self, start: int, stop: int, nodes: Array, how: ReadMode = SUM) -> Array:
        """Counts."""
        from jensen.kernels.columns import add_counts

        counts = self._no_counts
        add_counts(self.rows.codes, start, stop, nodes, self._at, counts)
        return self._complete(counts, how)

    def _complete(self, counts: Array, how: ReadMode = SUM) -> Array:
        """Counts of labels (K, D, V), the last of (K, D · (V + 1)) shared out: the missing one."""
        K, D, V = self.t.shape
        counts = counts.reshape(K, D, V + 1)
        absent = counts[:, :, -1]
        if not absent.any():
            return counts[:, :, :-1]
        return np.asarray(counts[:, :, :-1] + self._missing(absent, how))

    def _missing(self, count: Array, how: ReadMode) -> Array:
        """How missing labels count; count (K, D) is how many are missing."""
        if how == MAX:
            return np.asarray(np.eye(self.t.shape[-1])[self.t.argmax(-1)] * count[:, :, None])
        shares = dirichlet.share(np.exp(self.t - self.t.max(-1, keepdims=True)))
        if how.rng is None:
            return np.asarray(shares * count[:, :, None])
        return how.rng.multinomial(count.astype(np.int64), shares).astype(np.float64)


class Labels(EmissionKind):
    """What both have in common."""

    is_binary: bool

    def owns(self, emission: Any) -> bool:
        """Whether this made it."""
        return isinstance(emission, Discrete) and emission.is_binary == self.is_binary

    def fewer(self, emission: Discrete, states: NDArray[np.intp]) -> Discrete:
        """These states only, with their masks."""
        mask = None if emission.mask is None else emission.mask[states]
        return replace(emission, n_states=len(states), mask=mask)

    def draw(
        self, emission: Discrete, eta: Array, states: NDArray[np.intp], rng: np.random.Generator
    ) -> Array:
        """The mean is the predictive distribution."""
        return emission.simulate(emission.point(eta), states, rng)

    def theta_fault(self, emission: Discrete, t: Array) -> Fault | None:
        """Logs of probabilities."""
        return shares_fault(t, emission.mask)

    def belief_fault(self, emission: Discrete, eta: Array) -> Fault | None:
        """Concentrations."""
        return concentration_fault(eta, emission.mask)


class Categorical(Labels):
    """One column of labels."""

    is_binary = False

    def make(
        self, n_states: int, columns: ColumnSummary, prior_parts: PriorParts, chosen: Chosen
    ) -> Discrete:
        """Whatever the rows look like."""
        shape = (n_states, 1, len(chosen.labels))
        return Discrete(*shape, prior=_prior(prior_parts, shape))

    def size(self, n_columns: int, chosen: Chosen) -> float:
        """A number for each label."""
        return float(len(chosen.labels))

    def lines(
        self, names: Sequence[str], shown: Mapping[str, Array], chosen: Chosen
    ) -> Iterator[Line]:
        """One for each label."""
        for label, column in zip(chosen.labels, shown["emission"].T, strict=True):
            yield f"{names[0]} = {label}", as_shares(column)


class Bernoulli(Labels):
    """Columns of 0 and 1."""

    is_binary = True

    def make(
        self, n_states: int, columns: ColumnSummary, prior_parts: PriorParts, chosen: Chosen
    ) -> Discrete:
        """Whatever the rows look like."""
        shape = (n_states, len(columns.mean), 2)
        return Discrete(*shape, prior=_prior(prior_parts, shape), is_binary=True)

    def check(self, values: Array, names: Sequence[str]) -> None:
        """Refuse other numbers."""
        refuse_values(values, (values != 0.0) & (values != 1.0), "Bernoulli values are 0 or 1")

    def lines(
        self, names: Sequence[str], shown: Mapping[str, Array], chosen: Chosen
    ) -> Iterator[Line]:
        """The probability of 1."""
        for name, column in zip(names, shown["emission"].T, strict=True):
            yield f"P({name} = 1)", as_shares(column)


def _prior(prior_parts: PriorParts, shape: tuple[int, int, int]) -> Array | None:
    if prior_parts is None:
        return None
    given = prior_parts.get("emission")
    if given is not None and np.ndim(given) == 2 and shape[1] == 1:
        prior_parts = {"emission": np.asarray(given)[:, None, :]}  # (K, V): one column
    return label_prior(prior_parts, "emission", shape)


def shares_fault(t: Array, mask: NDArray[np.bool_] | None) -> Fault | None:
    """What is wrong with logs of probabilities along the last axis, if anything is."""
    total = np.exp(np.minimum(t, 1.0)).sum(-1)
    if not (np.abs(total - 1.0) <= TOLERANCE).all():
        worst = total.flat[np.argmax(np.abs(total - 1.0))]
        return "", f"holds logs of probabilities that sum to {worst:.6g}, not to 1"
    if mask is not None and (t[~mask] > -np.inf).any():
        return "", "has a probability where its mask says that there is none"
    return None


def concentration_fault(eta: Array, mask: NDArray[np.bool_] | None) -> Fault | None:
    """What is wrong with the η of Dirichlet distributions, if anything is."""
    inside = eta if mask is None else eta[mask]
    is_empty_outside = mask is None or not eta[~mask].any()
    if (inside > -1.0).all() and is_empty_outside:
        return None
    return "", "holds the η of a concentration (minus 1) that is not above 0"
