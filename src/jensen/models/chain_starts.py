"""Where learners of chains begin: states by rows, transitions at random."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.families.masked import MaskedDirichlet
from jensen.models.hidden_markov import Chained, HiddenMarkov
from jensen.models.state_starts import start_stats

Array = NDArray[np.float64]


def chain_start(
    model: HiddenMarkov,
    values: Array,
    lengths: NDArray[np.int64],
    weight: Array,
    k: int,
    rng: np.random.Generator,
) -> Chained:
    """Statistics for the k-th start, as if every sequence had been seen once."""
    K = model.n_states
    by_row = np.repeat(weight, lengths)
    counts, rows = start_stats(model.emission, K, values, by_row, k % 2 == 0, rng)
    families = model.families
    initial = _shares(families.initial, (K,), rng) * weight.sum()
    transition = _shares(families.transition, (K, K + model.has_end), rng) * counts[:, None]
    return Chained(initial, transition, _inside(model.emission, rows))


def _shares(family: Any, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Rows halfway between uniform and random, 0 where they must be."""
    share = 0.5 / shape[-1] + 0.5 * rng.dirichlet(np.ones(shape[-1]), shape[:-1])
    return family.share(share) if isinstance(family, MaskedDirichlet) else np.asarray(share)


def _inside(emission: Any, stats: Any) -> Any:
    """Counts of labels that a state may not have are taken away."""
    mask = getattr(emission, "mask", None)
    return stats if mask is None else np.where(mask, stats, 0.0)
