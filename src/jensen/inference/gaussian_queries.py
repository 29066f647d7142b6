"""Exact queries to a Gaussian network, for one set of findings or for many rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table, Variable, as_table
from jensen.data.encode import Column
from jensen.data.fill_missing import Filled
from jensen.data.model_columns import MissingColumns, check_own_columns, warn_of_misspelt
from jensen.data.number_rows import numbers_of
from jensen.data.variable import parse_number
from jensen.exceptions import DataError, JensenError
from jensen.inference.fitted import FittedNetwork, Given, Method, RowChoices
from jensen.inference.gaussian_distribution import GaussianDistribution, GaussianDistributions
from jensen.inference.gaussian_joint import Joint, joint, log_density, missing_cells
from jensen.inference.marginals import missing_marginal
from jensen.inference.most_probable import Assignment
from jensen.q_hidden.gaussian_cells import LOG_2PI
from jensen.support.arguments import LARGEST, check_whole, is_real
from jensen.support.machine import check_many
from jensen.support.text import for_reader, plural, some

if TYPE_CHECKING:
    from jensen.inference.gaussian_network import GaussianNetwork

Array = NDArray[np.float64]


class GaussianEvidence(NamedTuple):
    """Observed values and interventions, by position."""

    given: dict[int, float]
    do: dict[int, float]

    def text(self, network: FittedNetwork) -> str:
        """For headings: "y=1, do(x=2)"."""
        names = network.graph.nodes
        seen = [f"{names[v]}={x:.6g}" for v, x in self.given.items()]
        return ", ".join([*seen, *(f"do({names[v]}={x:.6g})" for v, x in self.do.items())])


def read_evidence(
    network: FittedNetwork, given: Given, do: Given, targets: Sequence[int] = ()
) -> GaussianEvidence:
    """Convert evidence to numbers by position; contradictions are refused."""
    seen, done = _numbers(network, "given", given), _numbers(network, "do", do)
    for v in done:
        if v in seen:
            name = network.graph.nodes[v]
            raise JensenError(f"{name!r} stands in given and in do: it is either seen or set")
    for v in targets:
        if v in seen or v in done:
            name, where = network.graph.nodes[v], "given" if v in seen else "do"
            raise JensenError(f"{name!r} is asked for, but stands in {where}: leave it out there")
    return GaussianEvidence(seen, done)


def _numbers(network: FittedNetwork, what: str, findings: Given) -> dict[int, float]:
    if findings is None:
        return {}
    if not isinstance(findings, Mapping):
        raise JensenError(
            f"{what} must be a dict from variable to number, not {type(findings).__name__}"
        )
    found = {}
    for name, value in findings.items():
        number: Any = parse_number(value) if isinstance(value, str) else value
        if not is_real(number) or not abs(float(number)) <= LARGEST:
            python, shell = f"{what}={{{name!r}: {value!r:.40}}}", f"--{what} {name}={value!s:.40}"
            raise JensenError(
                f"{for_reader(python, shell)}: {name!r} takes a finite number of at most "
                f"{LARGEST:g}{_with_a_point(value)}"
            )
        found[network.index(name)] = float(number)
    return found


def _with_a_point(value: object) -> str:
    """What a number with a decimal comma is told."""
    point = value.replace(",", ".") if isinstance(value, str) else value
    is_told = point != value and parse_number(str(point)) is not None
    return f": write {point}, with a decimal point" if is_told else ""


def read_targets(
    network: FittedNetwork, targets: str | Sequence[str]
) -> tuple[tuple[str, ...], list[int]]:
    """Names and positions of the targets; repeated ones are refused."""
    names = (targets,) if isinstance(targets, str) else tuple(targets)
    at = [network.index(name) for name in names]
    if not at or len(set(at)) < len(at):
        raise JensenError("ask for one variable at least, and for each of them once")
    return names, at


def query(
    network: GaussianNetwork, targets: str | Sequence[str], given: Given = None, do: Given = None
) -> GaussianDistribution:
    """P(targets | do, given)."""
    names, at = read_targets(network, targets)
    known = read_evidence(network, given, do, at)
    rest, mean, covariance = _rest(network, known)
    own = [rest.index(v) for v in at]
    return GaussianDistribution(names, mean[own], covariance[np.ix_(own, own)], known.text(network))


def most_probable(network: GaussianNetwork, given: Given, do: Given, k: int) -> list[Assignment]:
    """The means of all that is not known, and the log density there."""
    check_whole("k", k, at_least=1)
    if k > 1:
        raise JensenError(
            f"numbers have one point of highest density, and those around it are nearly as good: "
            f"ask without k={k}, or draw some with sample(given=...)"
        )
    known = read_evidence(network, given, do)
    rest, mean, covariance = _rest(network, known)
    log_det = float(np.linalg.slogdet(2.0 * np.pi * covariance)[1]) if rest else 0.0
    conditional = 0.0 - 0.5 * log_det
    names = [network.graph.nodes[v] for v in rest]
    joint_value = conditional + log_probability(network, given, do)
    return [
        Assignment(dict(zip(names, mean.tolist(), strict=True)), joint_value, conditional, True)
    ]


class _Marginals(dict[str, GaussianDistribution]):
    """Name → marginal; an unknown name raises an error that suggests others."""

    def __missing__(self, name: str) -> GaussianDistribution:
        raise missing_marginal(name, self)


def marginals(
    network: GaussianNetwork, given: Given = None, do: Given = None
) -> dict[str, GaussianDistribution]:
    """P(x | do, given) of every variable that is not in `given` or `do`."""
    known = read_evidence(network, given, do)
    rest, mean, covariance = _rest(network, known)
    text = known.text(network)
    return _Marginals(
        {
            network.graph.nodes[v]: GaussianDistribution(
                (network.graph.nodes[v],), mean[[k]], covariance[[k]][:, [k]], text
            )
            for k, v in enumerate(rest)
        }
    )


def log_probability(network: GaussianNetwork, given: Given, do: Given = None) -> float:
    """The log density of the observed values."""
    known = read_evidence(network, given, do)
    model = joint(network, known.do)
    return float(log_density(model, _row(model, known))[0])


def sample(
    network: GaussianNetwork, n: int, given: Given, do: Given, rng: np.random.Generator
) -> Array:
    """(n, variables): exact draws given the evidence."""
    known = read_evidence(network, given, do)
    check_many(n, 24.0 * len(network.regressions), "rows", "draw fewer at a time")
    found = np.empty((n, len(network.regressions)))
    for v, value in {**known.given, **known.do}.items():
        found[:, v] = value
    rest, mean, covariance = _rest(network, known)
    normal = rng.standard_normal((n, len(rest)))
    found[:, rest] = mean + np.einsum("ij,nj->ni", root_of(covariance), normal)
    return found


def root_of(covariance: Array) -> Array:
    """A matrix R with R Rᵀ = covariance, also where rounding leaves it barely not positive."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def entropy(
    network: GaussianNetwork, targets: str | Sequence[str] | None, given: Given = None
) -> float:
    """Entropy of p(targets | given) in nats; negative where they are nearly known."""
    if targets is None:
        known = read_evidence(network, given, None)
        targets = [x for v, x in enumerate(network.graph.nodes) if v not in known.given]
    if not targets:
        return 0.0
    found = query(network, targets, given)
    log_det = float(np.linalg.slogdet(found.covariance)[1])
    return 0.5 * (len(found.names) * (LOG_2PI + 1.0) + log_det)


def mutual_information(
    network: GaussianNetwork,
    a: str | Sequence[str],
    b: str | Sequence[str],
    given: Mapping[str, Any] | Sequence[str] | None = None,
) -> float:
    """I(a; b | given) in nats; it does not depend on the given values."""
    first, second = ([x] if isinstance(x, str) else list(x) for x in (a, b))
    both = set(first) & set(second)
    if both:
        raise JensenError(f"{sorted(both)[0]!r} stands on both sides: leave it out on one")
    evidence: Given = given if isinstance(given, Mapping) else dict.fromkeys(given or (), 0.0)
    parts = (entropy(network, x, evidence) for x in (first, second, [*first, *second]))
    one, other, together = parts
    return max(one + other - together, 0.0)


def _rest(network: GaussianNetwork, known: GaussianEvidence) -> tuple[list[int], Array, Array]:
    """The variables that are not known, their conditional mean and covariance."""
    model = joint(network, known.do)
    if not known.given:
        return model.places.tolist(), model.mean, model.covariance
    (found,) = missing_cells(model, _row(model, known))
    return model.places[found.places].tolist(), found.mean[0], found.covariance


def _row(model: Joint, known: GaussianEvidence) -> Array:
    """(1, k): observed values, NaN elsewhere."""
    return np.array([[known.given.get(int(v), np.nan) for v in model.places]])


# --- many rows ---


def read_rows(
    network: GaussianNetwork,
    table: Table,
    missing_columns: MissingColumns,
    skip: Sequence[str] = (),
) -> Array:
    """(rows, variables): numbers, NaN where they are missing or skipped."""
    check_own_columns(network.graph.nodes, table.names, skip=skip, missing_columns=missing_columns)
    wanted = [v for v in network.variables if v.name in table and v.name not in skip]
    if not wanted:
        return np.full((table.n_rows, len(network.variables)), np.nan)
    return numbers_of(read_numbers(table, wanted), network.graph.nodes)


def read_numbers(table: Table, wanted: Sequence[Variable]) -> Table:
    """Columns as variables that are numbers; what is no finite number is refused."""
    rows, strange = table.select([v.name for v in wanted]).read_as(wanted)
    values = np.abs(numbers_of(rows, [v.name for v in wanted]))
    too_large = values > LARGEST  # also where they are infinite
    strange |= too_large.any(1)
    if strange.any():
        first = np.flatnonzero(strange)
        raise DataError(
            f"what is no finite number of at most {LARGEST:g} stands in "
            f"{plural(len(first), 'row')} ({some(int(i) + 1 for i in first)})"
            f"{_columns(wanted, too_large)}: correct it, or make it missing with "
            f"{for_reader('missing=[...]', '--missing')}"
        )
    return rows


def _columns(wanted: Sequence[Variable], where: NDArray[np.bool_]) -> str:
    """The columns in which something stands, for an error."""
    found = [v.name for v, own in zip(wanted, where.T, strict=True) if own.any()]
    return f", in {some(map(repr, found))}" if found else ""


def log_likelihood(network: GaussianNetwork, table: Table, choices: RowChoices) -> Array:
    """Log p(row); missing values are integrated out."""
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
    done = read_evidence(network, None, do, at).do
    if isinstance(given, list | tuple):
        values = _read_dicts(network, given, at)
    else:
        evidence = as_table(given)
        warn_of_misspelt(network.graph.nodes, evidence.names)
        values = read_rows(network, evidence, "ignore", skip=names)
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
            known = read_evidence(network, row, None, targets).given
        except JensenError as error:
            raise error.after(f"row {i + 1}: ") from None
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
    """Draw n rows as a table."""
    values = sample(network, n, given, do, rng)
    return Table.from_columns(_column(v, values[:, k]) for k, v in enumerate(network.variables))
