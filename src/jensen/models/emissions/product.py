"""Several emissions side by side, each with columns of its own; independent given the state."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.families.product import Product as ProductFamily
from jensen.models.emissions import Emission, Survey
from jensen.models.emissions.independent_columns import FastColumns
from jensen.q_hidden.structures import SUM, ReadMode, RowLikelihood
from jensen.support.fields import LastResult, without_cached
from jensen.support.row_records import ColumnRows, ColumnSums, ColumnTables

Array = NDArray[np.float64]


class EmissionPart(NamedTuple):
    """One of the emissions that make up another."""

    emission: Any
    columns: NDArray[np.intp]  # where its columns are among all
    name: str  # by which `read` and `show` know it; empty if it is all there is


class ProductRows(NamedTuple):
    """Encoded rows."""

    parts: tuple[ColumnRows, ...]  # as each part wants them: views of the columns
    columns: ColumnRows


@dataclass(frozen=True, eq=False)
class ProductEmission:
    """Parts whose encoded rows are `ColumnRows`, and where the columns of each are."""

    parts: tuple[Emission, ...]
    columns: tuple[NDArray[np.intp], ...]
    names: tuple[str, ...]  # of the parts, in `read` and `show`

    __getstate__ = without_cached

    @property
    def prior(self) -> tuple[Any, ...] | None:
        """η₀ of every part."""
        priors = tuple(part.prior for part in self.parts)
        return None if all(prior is None for prior in priors) else priors

    @cached_property
    def family(self) -> ProductFamily:
        """Of every part."""
        return ProductFamily(tuple(part.family for part in self.parts))

    @property
    def blank(self) -> tuple[Any, ...]:
        """Zeros."""
        return tuple(part.blank for part in self.parts)

    @property
    def n_columns(self) -> int:
        """Of all parts."""
        return sum(part.n_columns for part in self.parts)

    @property
    def n_parameters(self) -> int:
        """How many free parameters all states have."""
        return sum(part.n_parameters for part in self.parts)

    def encode(self, values: Array) -> ProductRows:
        """Each part its columns."""
        pairs = zip(self.parts, self.columns, strict=True)
        own = [part.encode(values[:, columns]) for part, columns in pairs]
        joined = ColumnRows.joined(own)
        return ProductRows(tuple(joined.split(own)), joined)

    def observe(self, t: Any, rows: ProductRows) -> "ObservedProduct":
        """Rows at this θ."""
        return ObservedProduct(self._observe(t, rows.parts), rows.columns, self._at(t))

    def _observe(self, t: Any, rows: Sequence[Any]) -> tuple[Any, ...]:
        triples = zip(self.parts, t, rows, strict=True)
        return tuple(part.observe(x, r) for part, x, r in triples)

    @cached_property
    def _at(self) -> "LastResult[ProductTables]":
        return LastResult(self._theta)

    def _theta(self, t: Any) -> "ProductTables":
        no_rows = ColumnRows.of(0)
        parts = self._observe(t, [no_rows] * len(self.parts))
        tables = [part.column_tables() for part in parts]
        return ProductTables(parts, tables, ColumnTables.joined(tables))

    def predict(self, eta: Any, rows: ProductRows) -> "PredictedProduct":
        """Rows under the predictive distribution."""
        triples = zip(self.parts, eta, rows.parts, strict=True)
        return PredictedProduct(tuple(part.predict(x, r) for part, x, r in triples))

    def simulate(self, t: Any, states: NDArray[np.intp], rng: np.random.Generator) -> Array:
        """Rows of these states."""
        values = np.empty((len(states), self.n_columns))
        for part, x, columns in zip(self.parts, t, self.columns, strict=True):
            values[:, columns] = part.simulate(x, states, rng)
        return values

    def survey(self, values: Array) -> Survey:
        """The coordinates of all parts; rows may agree in some parts and not in others."""
        pairs = zip(self.parts, self.columns, strict=True)
        found = [part.survey(values[:, columns]) for part, columns in pairs]
        return Survey(
            np.concatenate([one.points for one in found], axis=1),
            len(found) > 1 or found[0].has_distances,
            tuple(one.wide for one in found),
        )

    def point(self, eta: Any) -> tuple[Any, ...]:
        """Of every part."""
        return tuple(part.point(e) for part, e in zip(self.parts, eta, strict=True))

    def read(self, named: Mapping[str, Any]) -> tuple[Any, ...]:
        """Each part from the parameters under its name."""
        return tuple(
            part.read(_under(named, name))
            for part, name in zip(self.parts, self.names, strict=True)
        )

    def show(self, *draws: Any) -> dict[str, Any]:
        """The parameters of each part under its name."""
        each = zip(self.names, self.parts, zip(*draws, strict=True), strict=True)
        return {name: part.show(*own) for name, part, own in each}


def parts_of(emission: Any) -> tuple[EmissionPart, ...]:
    """The emissions that one is made of, each with its columns; most are one part."""
    if not isinstance(emission, ProductEmission):
        return (EmissionPart(emission, np.arange(emission.n_columns), ""),)
    return tuple(map(EmissionPart, emission.parts, emission.columns, emission.names))


def records_of(emission: Any, record: Any) -> tuple[Any, ...]:
    """What an η, t or statistics hold of each part."""
    return tuple(record) if isinstance(emission, ProductEmission) else (record,)


def joined_records(emission: Any, records: Sequence[Any]) -> Any:
    """The inverse of `records_of`."""
    return tuple(records) if isinstance(emission, ProductEmission) else records[0]


def with_parts(emission: Any, parts: Sequence[Any]) -> Any:
    """The same emission, made of these parts."""
    if not isinstance(emission, ProductEmission):
        return parts[0]
    return replace(emission, parts=tuple(parts))


def expected_rows(emission: Any, t: Any) -> Array:
    """(K, ...): the expected row of each state, which `show` names first; of labels the shares."""
    pairs = zip(parts_of(emission), records_of(emission, t), strict=True)
    rows = [next(iter(part.emission.show(own).values())) for part, own in pairs]
    return np.concatenate(rows, axis=1)


def _under(named: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    if name not in named:
        raise JensenError(f"start= lacks the parameters of {name!r}")
    found = named[name]
    return found if isinstance(found, Mapping) else {"emission": found}


class PredictedProduct:
    """How likely rows are under all parts together."""

    def __init__(self, parts: tuple[RowLikelihood, ...]) -> None:
        self.parts: tuple[Any, ...] = parts

    def log_like(self, start: int, stop: int, how: ReadMode = SUM) -> Array:
        """The sum over parts."""
        total: Array
        total, *others = (part.log_like(start, stop, how) for part in self.parts)
        for other in others:
            total += other
        return total


class ProductTables(NamedTuple):
    """What all parts make of one θ, whatever the rows."""

    parts: tuple[FastColumns, ...]
    tables: list[ColumnTables]
    joined: ColumnTables


class ObservedProduct(PredictedProduct, FastColumns):
    """Rows as all parts see them at one θ."""

    def __init__(self, parts: tuple[Any, ...], columns: ColumnRows, theta: ProductTables) -> None:
        super().__init__(parts)
        self.columns = columns
        self.theta = theta

    def column_rows(self) -> ColumnRows:
        """The columns of all parts."""
        return self.columns

    def column_tables(self) -> ColumnTables:
        """Those of all parts."""
        return self.theta.joined

    def gather(self, states: Array, sums: ColumnSums) -> tuple[Any, ...]:
        """Of every part."""
        pairs = zip(self.theta.parts, sums.split(self.theta.tables), strict=True)
        return tuple(part.gather(states, own) for part, own in pairs)

    def stats(self, start: int, stop: int, nodes: Array, how: ReadMode = SUM) -> tuple[Any, ...]:
        """Of every part."""
        return tuple(part.stats(start, stop, nodes, how) for part in self.parts)
