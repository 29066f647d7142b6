"""Many rows of numbers, put to a Gaussian network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table, Variable, as_table
from jensen.data.encode import Column
from jensen.data.fill_missing import Filled
from jensen.data.model_columns import MissingColumns, check_own_columns
from jensen.data.number_rows import numbers_of
from jensen.exceptions import DataError, JensenError
from jensen.inference.fitted import Given, Method, RowChoices
from jensen.inference.gaussian_distributions import GaussianDistributions
from jensen.inference.gaussian_joint import joint, log_density, missing_cells
from jensen.inference.gaussian_queries import read_known, read_targets, root_of, sample
from jensen.support.text import plural, some

if TYPE_CHECKING:
    from jensen.inference.gaussian_network import GaussianNetwork

Array = NDArray[np.float64]


def read_rows(
    network: GaussianNetwork,
    table: Table,
    missing_columns: MissingColumns,
    skip: Sequence[str] = (),
) -> Array:
    """(rows, variables): numbers, NaN where they are missing or not looked at."""
    check_own_columns(network.graph.nodes, table.names, skip=skip, missing_columns=missing_columns)
    wanted = [v for v in network.variables if v.name in table and v.name not in skip]
    if not wanted:
        return np.full((table.n_rows, len(network.variables)), np.nan)
    rows, strange = table.select([v.name for v in wanted]).read_as(wanted)
    values = numbers_of(rows, network.graph.nodes)
    strange |= np.isinf(values).any(1)
    if strange.any():
        first = np.flatnonzero(strange)
        raise DataError(
            f"{plural(len(first), 'row')} ({some(int(i) + 1 for i in first)}) hold what is no "
            f"finite number: correct them, or declare missing=[...]"
        )
    return values


def log_likelihood(network: GaussianNetwork, table: Table, choices: RowChoices) -> Array:
    """Log p(row), what is missing integrated out."""
    return log_density(joint(network), read_rows(network, table, choices.missing_columns))


def predict(
    network: GaussianNetwork, table: Table, target: str, missing_columns: MissingColumns = "warn"
) -> Array:
    """E[target | the rest of the row] of every row."""
    v = network.index(target)
    values = read_rows(network, table, missing_columns, skip=(target,))
    found = np.empty(len(values))
    for part in missing_cells(joint(network), values):
        found[part.rows] = part.mean[:, part.places == v][:, 0]
    return found


def query_many(
    network: GaussianNetwork, targets: str | Sequence[str], given: Any, do: Given
) -> GaussianDistributions:
    """P(targets | do, given) for every row of a table, or for every dict of a list."""
    names, at = read_targets(network, targets)
    done = read_known(network, None, do, at).do
    if isinstance(given, list | tuple):
        values = _read_dicts(network, given, at)
    else:
        values = read_rows(network, as_table(given), "ignore", skip=names)
    for v in done:
        seen = np.flatnonzero(~np.isnan(values[:, v]))
        if len(seen):
            name = network.graph.nodes[v]
            raise JensenError(
                f"row {seen[0] + 1}: {name!r} stands in given and in do: it is either seen or set"
            )
    model = joint(network, done)
    means, covariances = np.empty((len(values), len(at))), np.empty((len(values), len(at), len(at)))
    for part in missing_cells(model, values[:, model.places]):
        own = [model.places[part.places].tolist().index(v) for v in at]
        means[part.rows] = part.mean[:, own]
        covariances[part.rows] = part.covariance[np.ix_(own, own)]
    return GaussianDistributions(names, means, covariances)


def _read_dicts(network: GaussianNetwork, given: Sequence[Any], targets: Sequence[int]) -> Array:
    """(rows, variables): numbers, NaN where nothing is known."""
    values = np.full((len(given), len(network.variables)), np.nan)
    for i, row in enumerate(given):
        if not isinstance(row, Mapping):
            raise JensenError("a list of evidence holds a dict for every row")
        try:
            known = read_known(network, row, None, targets).given
        except JensenError as error:
            raise type(error)(f"row {i + 1}: {error}") from None
        values[i, list(known)] = list(known.values())
    return values


def fill(
    network: GaussianNetwork,
    data: Table,
    method: Method,
    rng: np.random.Generator,
    choices: RowChoices,
) -> dict[str, Filled]:
    """The columns of a table before and after missing values are filled in, by name."""
    if method not in get_args(Method):
        raise JensenError(f"method must be 'mode', 'marginal' or 'draw', not {method!r}")
    known = read_rows(network, data, choices.missing_columns)
    values = known.copy()
    for part in missing_cells(joint(network), known):
        filled = part.mean
        if method == "draw":
            normal = rng.standard_normal(filled.shape)
            filled = filled + np.einsum("ij,nj->ni", root_of(part.covariance), normal)
        values[np.ix_(part.rows, part.places)] = filled
    return {
        v.name: Filled(_column(v, known[:, k]), _column(v, values[:, k]))
        for k, v in enumerate(network.variables)
        if v.name in data
    }


def _column(variable: Variable, values: Array) -> Column:
    return Column(variable, np.ascontiguousarray(values))


def draw(
    network: GaussianNetwork, n: int, given: Given, do: Given, rng: np.random.Generator
) -> Table:
    """N rows as a table."""
    values = sample(network, n, given, do, rng)
    return Table.from_columns(_column(v, values[:, k]) for k, v in enumerate(network.variables))
