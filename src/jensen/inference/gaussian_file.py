"""A network of regressions as plain data, and back; docs/json-format.md describes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from jensen.families.joint_prior import NormalWishartPrior
from jensen.families.linear_regression import RegressionParameters
from jensen.inference.file_entries import read_entries
from jensen.inference.gaussian_network import (
    Posterior,
    network_from_regressions,
    point_network,
)
from jensen.inference.regression import LinearRegression
from jensen.io.checked import Checked
from jensen.io.json_arrays import plain_array, read_array

if TYPE_CHECKING:
    from jensen.inference.gaussian_network import GaussianNetwork

POSTERIOR = frozenset({"centre", "coefficients", "strength", "degrees_of_freedom", "scale"})
PRIOR = frozenset({"mean", "mean_strength", "degrees_of_freedom", "scale"})


def plain(network: GaussianNetwork) -> dict[str, Any]:
    """The network as a file has it."""
    found: dict[str, Any] = {}
    if network.prior is not None:
        found["prior"] = plain_prior(network.prior)
    if network.constants:
        found["constants"] = dict(network.constants)
    return {**found, "variables": [entry(network, name) for name in network.graph.nodes]}


def entry(network: GaussianNetwork, name: str) -> dict[str, Any]:
    """One variable with its regression."""
    v = network.index(name)
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


def read(value: Checked) -> GaussianNetwork:
    """A network from its members."""
    members = value.fields({"variables"}, {"prior", "constants"})
    required = {"intercept", "coefficients", "variance"}
    entries = read_entries(members["variables"], required, frozenset())
    regressions = {name: _regression(own) for name, own in entries.members.items()}
    network = network_from_regressions(entries.graph(), regressions)
    posteriors = entries.posteriors()
    if posteriors:
        network = _with_posterior(network, posteriors, entries.parents)
    if "prior" in members:
        network = replace(network, prior=read_prior(members["prior"], len(network.graph.nodes)))
    if "constants" in members:
        network = replace(network, constants=_constants(members["constants"], network))
    return network


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
    network: GaussianNetwork, posteriors: Mapping[str, Checked], parents: Mapping[str, list[str]]
) -> GaussianNetwork:
    words, centre = [], []
    for name in network.graph.nodes:
        parts = posteriors[name].fields(POSTERIOR)
        centre.append(parts["centre"].number())
        order = [0, *(1 + k for k in np.argsort(parents[name]))]
        words.append(_words(posteriors[name], parts, order))
    found = point_network(network.graph, Posterior(np.array(centre), tuple(words)))
    for one, other in zip(network.regressions, found.regressions, strict=True):
        if not np.allclose(_numbers(one), _numbers(other), rtol=1e-6, atol=1e-9):
            posteriors[one.name].fail("must have the regression as its mean")
    return found


def _numbers(one: LinearRegression) -> list[float]:
    return [one.intercept, *one.coefficients.values(), one.variance]


def _words(value: Checked, parts: Mapping[str, Checked], order: list[int]) -> RegressionParameters:
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
    return RegressionParameters(
        slopes[order][None],
        matrix[np.ix_(order, order)][None],
        np.array([degrees]),
        np.array([scale]),
    )


def _is_positive(matrix: Any) -> bool:
    return bool(np.allclose(matrix, matrix.T) and np.linalg.eigvalsh(matrix).min() > 0.0)


def plain_prior(prior: NormalWishartPrior | None) -> dict[str, Any] | None:
    """The prior as JSON has it, by sorted name; of a diagonal scale the diagonal."""
    if prior is None:
        return None
    scale, diagonal = prior.scale, np.diagonal(prior.scale)
    return {
        "mean": plain_array(prior.mean),
        "mean_strength": float(prior.mean_strength),
        "degrees_of_freedom": float(prior.degrees_of_freedom),
        "scale": plain_array(diagonal if np.array_equal(scale, np.diag(diagonal)) else scale),
    }


def read_prior(value: Checked, n: int) -> NormalWishartPrior | None:
    """The prior of n columns."""
    if value.is_null():
        return None
    parts = value.fields(PRIOR)
    strength, degrees = (parts[name].number() for name in ("mean_strength", "degrees_of_freedom"))
    mean, rows = read_array(parts["mean"], (n,)), list(parts["scale"].items())
    if rows and isinstance(rows[0].value, list):
        scale = read_array(parts["scale"], (n, n))
    else:
        scale = np.diag(read_array(parts["scale"], (n,)))
    if strength <= 0.0 or degrees <= n - 1:
        value.fail(f"must have a mean_strength above 0, and degrees_of_freedom above {n - 1}")
    if not np.allclose(scale, scale.T) or (n and np.linalg.eigvalsh(scale).min() <= 0.0):
        parts["scale"].fail("must be positive; a matrix symmetric and positive definite")
    return NormalWishartPrior(mean, strength, degrees, scale)
