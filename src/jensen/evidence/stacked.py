"""Many η, or many θ, of one model at once: records whose leaves have one more axis in front."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.evidence.labels import shape_of
from jensen.exceptions import JensenError
from jensen.families.dirichlet import SegmentedDirichlet
from jensen.families.partly_known import KnownMeans, KnownPrecisions
from jensen.families.point_mass import PointMass
from jensen.families.product import Product
from jensen.support.fields import leaves, rebuild

Array = NDArray[np.float64]


def stack(model: Any, flat: Array) -> Any:
    """The record of flat parameters (M, P)."""
    like = shape_of(model)
    shapes = [leaf.shape for leaf in leaves(like)]
    ends = list(accumulate(int(np.prod(shape)) for shape in shapes))
    pieces = np.split(flat, ends[:-1], axis=1)
    pairs = zip(pieces, shapes, strict=True)
    return rebuild(like, (piece.reshape(len(flat), *shape) for piece, shape in pairs))


def flat_rows(record: Any) -> Array:
    """(M, P): the inverse of `stack`."""
    parts = leaves(record)
    return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)


def log_partitions(model: Any, flat: Array) -> Array:
    """(M,): A(η) of flat η (M, P); of what is held nothing."""
    record = stack(model, flat)
    total = np.zeros(len(flat))
    for family, eta in zip(model.families, record, strict=True):
        total += _of_family(family, eta, len(flat))
    return total


def _of_family(family: Any, eta: Any, n: int) -> Array:
    if isinstance(family, PointMass):
        return np.zeros(n)
    if isinstance(family, Product):
        pairs = zip(family.parts, eta, strict=True)
        return np.asarray(sum((_of_family(part, own, n) for part, own in pairs), np.zeros(n)))
    if isinstance(family, SegmentedDirichlet):
        several = SegmentedDirichlet(np.tile(family.lengths, n))
        return np.asarray(several.log_partitions(eta.ravel()).reshape(n, -1).sum(1))
    return np.asarray(family.log_partitions(eta).reshape(n, -1).sum(1))


def can_sample(model: Any) -> bool:
    """Whether `sample` knows all families: not where only means or only covariances are held."""
    parts = [part for family in model.families for part in getattr(family, "parts", (family,))]
    return not any(isinstance(part, KnownMeans | KnownPrecisions) for part in parts)


def has_draws(model: Any) -> bool:
    """Whether all families have a sampler: trees have none."""
    parts = [part for family in model.families for part in getattr(family, "parts", (family,))]
    return all(hasattr(part, "sample_stats") for part in parts)


def sample(model: Any, eta: Any, rng: np.random.Generator) -> Any:
    """A draw of t at every η of a stack."""
    n = len(leaves(eta)[0])
    pairs = zip(model.families, eta, strict=True)
    return type(eta)(*(_sample(family, own, n, rng) for family, own in pairs))


def _sample(family: Any, eta: Any, n: int, rng: np.random.Generator) -> Any:
    if isinstance(family, PointMass):
        parts = (np.broadcast_to(leaf, (n, *np.shape(leaf))) for leaf in leaves(family.t))
        return rebuild(eta, parts)
    if isinstance(family, Product):
        pairs = zip(family.parts, eta, strict=True)
        return tuple(_sample(part, own, n, rng) for part, own in pairs)
    if isinstance(family, SegmentedDirichlet):
        several = SegmentedDirichlet(np.tile(family.lengths, n))
        return several.sample_stats(eta.ravel(), rng).reshape(n, -1)
    if isinstance(family, KnownMeans | KnownPrecisions):
        raise JensenError(
            "draws at many temperatures know no model of which only means or only covariances are "
            "held: leave fixed= out, or use method='vb'"
        )
    return family.sample_stats(eta, rng)


def repeat(record: Any, n: int) -> Any:
    """The same η n times."""
    return rebuild(record, (np.repeat(leaf[None], n, axis=0) for leaf in leaves(record)))


def take(record: Any, chosen: NDArray[np.intp]) -> Any:
    """Some of a stack."""
    return rebuild(record, (leaf[chosen] for leaf in leaves(record)))
