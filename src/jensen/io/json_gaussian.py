"""Gaussian networks in Jensen's JSON, exact to the bit; docs/json-format.md describes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from jensen.families.linear_regression import RegressionWords
from jensen.graphs import DAG
from jensen.inference.gaussian_network import (
    GaussianNetwork,
    Posterior,
    network_from_regressions,
    point_network,
)
from jensen.inference.regression import LinearRegression
from jensen.io.checked import Checked, check_version, dump, refusing
from jensen.io.json_files import GAUSSIAN
from jensen.io.json_gaussian_prior import plain_prior, read_prior
from jensen.io.json_learning import (
    NEEDED,
    OPTIONAL,
    WHOLE,
    plain_choices,
    plain_learned,
    read_concentrations,
    read_learned,
    read_loop,
)

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork

VERSION = 1
REGRESSION = frozenset({"name", "parents", "intercept", "coefficients", "variance"})
POSTERIOR = frozenset({"centre", "coefficients", "strength", "degrees_of_freedom", "scale"})


def dumps(net: BayesianNetwork) -> str:
    """The network as JSON text."""
    network = net.require_gaussian()
    _check_choices(net)
    head = {
        "format": GAUSSIAN,
        "version": VERSION,
        "choices": plain_choices(net),
        "learned": plain_learned(net),
    }
    if network.prior is not None:
        head["prior"] = plain_prior(network.prior)
    if network.constants:
        head["constants"] = dict(network.constants)
    lines = [f"{dump(name)}: {dump(value)}" for name, value in head.items()]
    entries = ",\n".join(dump(_entry(network, v)) for v in range(len(network.regressions)))
    lines.append(f'"variables": [\n{entries}\n]')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _entry(network: GaussianNetwork, v: int) -> dict[str, Any]:
    """One variable with its regression."""
    own = network.regressions[v]
    entry: dict[str, Any] = {
        "name": own.name,
        "parents": list(own.coefficients),
        "intercept": own.intercept,
        "coefficients": list(own.coefficients.values()),
        "variance": own.variance,
    }
    if network.posterior_words is not None:
        words = network.posterior_words.words[v]
        entry["posterior"] = {
            "centre": float(network.posterior_words.centre[v]),
            **{name: part[0].tolist() for name, part in words._asdict().items()},
        }
    return entry


def read(head: Checked) -> BayesianNetwork:
    """A network from a document."""
    from jensen.estimators.bayesian_network import BayesianNetwork

    check_version(head, GAUSSIAN, VERSION)
    document = head.fields(
        {"format", "version", "choices", "learned", "variables"}, {"prior", "constants"}
    )
    choices = _read_choices(document["choices"])
    with refusing(head.file):
        network = _network(document["variables"])
    if "prior" in document:
        prior = read_prior(document["prior"], len(network.graph.nodes))
        network = replace(network, prior=prior)
    if "constants" in document:
        network = replace(network, constants=_constants(document["constants"], network))
    net = BayesianNetwork(network.graph, **choices)
    net.network_ = network
    with refusing(f"{head.file}: choices"):
        _check_choices(net)
    has_posterior = network.posterior_words is not None
    read_learned(net, document["learned"], has_posterior=has_posterior, n_samples=None)
    return net


def _network(entries: Checked) -> GaussianNetwork:
    found = [item.fields(REGRESSION, {"posterior"}) for item in entries.items()]
    names = [members["name"].text() for members in found]
    for name, members in zip(names, found, strict=True):
        if names.count(name) > 1:
            members["name"].fail(f"repeats the variable {name!r}")
        for parent in members["parents"].texts():
            if parent not in names:
                members["parents"].fail(f"names {parent!r}, which is no variable of this file")
    by_name = dict(zip(names, found, strict=True))
    graph = DAG.from_parents({x: m["parents"].texts() for x, m in by_name.items()})
    network = network_from_regressions(graph, {x: _regression(m) for x, m in by_name.items()})
    with_posterior = [name for name, m in by_name.items() if "posterior" in m]
    if not with_posterior:
        return network
    if len(with_posterior) < len(names):
        entries.fail("must have a posterior each, or none")
    return _with_posterior(network, by_name)


def _constants(value: Checked, network: GaussianNetwork) -> dict[str, float]:
    """Columns that did not vary in the data, and their value."""
    found = {name: part.number() for name, part in value.members().items()}
    for name in found:
        if name in network.graph:
            value.fail(f"names {name!r}, which is a variable of the network")
    return found


def _regression(members: Mapping[str, Checked]) -> dict[str, Any]:
    parents, slopes = members["parents"].texts(), members["coefficients"].numbers()
    if len(slopes) != len(parents):
        members["coefficients"].fail(f"has {len(slopes)} numbers for {len(parents)} parents")
    return {
        "intercept": members["intercept"].number(),
        "coefficients": dict(zip(parents, map(float, slopes), strict=True)),
        "variance": members["variance"].number(),
    }


def _with_posterior(
    network: GaussianNetwork, entries: Mapping[str, Mapping[str, Checked]]
) -> GaussianNetwork:
    words, centre = [], []
    for name in network.graph.nodes:
        value = entries[name]["posterior"]
        parts = value.fields(POSTERIOR)
        centre.append(parts["centre"].number())
        order = [0, *(1 + k for k in np.argsort(entries[name]["parents"].texts()))]
        words.append(_words(value, parts, order))
    found = point_network(network.graph, Posterior(np.array(centre), tuple(words)))
    for one, other in zip(network.regressions, found.regressions, strict=True):
        if not np.allclose(_numbers(one), _numbers(other), rtol=1e-6, atol=1e-9):
            entries[one.name]["posterior"].fail("must have the regression as its mean")
    return found


def _numbers(one: LinearRegression) -> list[float]:
    return [one.intercept, *one.coefficients.values(), one.variance]


def _words(value: Checked, parts: Mapping[str, Checked], order: list[int]) -> RegressionWords:
    """The posterior of one regression, its parents in the order of their names."""
    slopes = parts["coefficients"].numbers()
    strength = np.array([row.numbers() for row in parts["strength"].items()], object)
    degrees, scale = parts["degrees_of_freedom"].number(), parts["scale"].number()
    if len(slopes) != len(order) or any(len(row) != len(order) for row in strength):
        value.fail(f"must have {len(order)} coefficients, and a strength of that many rows each")
    matrix = np.array(strength.tolist(), np.float64).reshape(-1, len(order))
    if len(matrix) != len(order) or not _is_positive(matrix):
        value.fail("must have a strength that is symmetric and positive definite")
    if degrees <= 0.0 or scale <= 0.0:
        value.fail("must have degrees_of_freedom and a scale above 0")
    return RegressionWords(
        slopes[order][None],
        matrix[np.ix_(order, order)][None],
        np.array([degrees]),
        np.array([scale]),
    )


def _is_positive(matrix: Any) -> bool:
    return bool(np.allclose(matrix, matrix.T) and np.linalg.eigvalsh(matrix).min() > 0.0)


def _read_choices(value: Checked) -> dict[str, Any]:
    members = value.fields(NEEDED, OPTIONAL - {"hidden"})
    return {
        "prior": _read_prior(members["prior"]),
        "equivalent_sample_size": members["equivalent_sample_size"].number(),
        **read_loop(members),
    }


def _read_prior(value: Checked) -> Any:
    if value.is_null():
        return None
    if isinstance(value.value, str):
        return value.text()
    return {name: _read_part(part) for name, part in value.members().items()}


def _read_part(value: Checked) -> Any:
    if isinstance(value.value, str):
        return value.text()
    if isinstance(value.value, dict):
        return {name: part.number() for name, part in value.members().items()}
    return read_concentrations(value)


def _check_choices(net: BayesianNetwork) -> None:
    """Refuse choices that `fit` would refuse whatever the data: no file holds such."""
    from jensen.estimators.choices import Choices
    from jensen.estimators.regression_problem import check_gaussian_choices

    names = ("prior", "equivalent_sample_size", "method", "tol", *WHOLE)
    chosen = {name: getattr(net, name) for name in names}
    check_gaussian_choices(Choices(**chosen, hidden=net.hidden or {}))
