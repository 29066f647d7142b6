"""Many rows of numbers, put to a Gaussian network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table, as_table
from jensen.data.encode import Column
from jensen.data.refill import is_frame, refill
from jensen.exceptions import DataError, JensenError
from jensen.inference.gaussian_distributions import GaussianDistributions
from jensen.inference.gaussian_joint import joint, log_density, missing_cells
from jensen.inference.gaussian_network import GaussianNetwork
from jensen.inference.gaussian_queries import Given, read_known, read_targets, root_of, sample
from jensen.models.gaussian_encoding import values_of
from jensen.randomness import as_generator
from jensen.text import plural, some

Array = NDArray[np.float64]


def read_rows(network: GaussianNetwork, table: Table, skip: Sequence[str] = ()) -> Array:
    """(rows, variables): numbers, NaN where they are missing or not looked at."""
    wanted = [v for v in network.variables if v.name in table and v.name not in skip]
    if not wanted:
        return np.full((table.n_rows, len(network.variables)), np.nan)
    rows, strange = table.select([v.name for v in wanted]).read_as(wanted)
    values = values_of(rows, network.graph.nodes)
    strange |= np.isinf(values).any(1)
    if strange.any():
        first = np.flatnonzero(strange)
        raise DataError(
            f"{plural(len(first), 'row')} ({some(int(i) + 1 for i in first)}) hold what is no "
            f"finite number: correct them, or declare missing=[...]"
        )
    return values


def log_likelihood(network: GaussianNetwork, table: Any) -> Array:
    """Log p(row), what is missing integrated out."""
    return log_density(joint(network), read_rows(network, as_table(table)))


def predict(network: GaussianNetwork, table: Any, target: str) -> Array:
    """E[target | the rest of the row] of every row."""
    v = network.index(target)
    values = read_rows(network, as_table(table), skip=(target,))
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
        values = read_rows(network, as_table(given), skip=names)
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


def impute(network: GaussianNetwork, table: Any, method: str, random_state: Any) -> Any:
    """The table with missing values filled in, as the kind of dataframe that came in."""
    if method not in ("mode", "marginal", "draw"):
        raise JensenError(f"method must be 'mode', 'marginal' or 'draw', not {method!r}")
    data, rng = as_table(table), as_generator(random_state)
    values = read_rows(network, data)
    for part in missing_cells(joint(network), values):
        filled = part.mean
        if method == "draw":
            normal = rng.standard_normal(filled.shape)
            filled = filled + np.einsum("ij,nj->ni", root_of(part.covariance), normal)
        values[np.ix_(part.rows, part.places)] = filled
    known = {
        v.name: Column(v, np.ascontiguousarray(values[:, k]))
        for k, v in enumerate(network.variables)
        if v.name in data
    }
    if is_frame(table):
        return refill(table, known)
    columns = [known.get(name, data.column(name)) for name in data.names]
    result = Table.from_columns(columns, data.weights, data.source)
    return result if isinstance(table, Table) else result.to_native()


def draw(network: GaussianNetwork, n: int, given: Any, do: Any, random_state: Any) -> Table:
    """N rows as a table."""
    values = sample(network, n, given, do, as_generator(random_state))
    return Table.from_columns(
        Column(v, np.ascontiguousarray(values[:, k])) for k, v in enumerate(network.variables)
    )
