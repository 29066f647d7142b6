"""The normal-Wishart prior that Gaussian networks and posteriors of graphs were learned with."""

from __future__ import annotations

from typing import Any

import numpy as np

from jensen.families.joint_prior import NormalWishartPrior
from jensen.io.checked import Checked
from jensen.io.json_arrays import plain_array, read_array

MEMBERS = frozenset({"mean", "mean_strength", "degrees_of_freedom", "scale"})


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
    parts = value.fields(MEMBERS)
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
