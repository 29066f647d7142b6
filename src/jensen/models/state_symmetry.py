"""What tells hidden states apart: a prior, or where they start from."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from jensen.models.emissions.state_records import by_state
from jensen.models.state_labels import LIVE, live_states
from jensen.support.fields import add, leaves, rebuild, zip_fields

Array = NDArray[np.float64]


def is_symmetric(model: Any) -> bool:
    """Whether the prior says the same of all states, so that their labels mean nothing."""
    states = np.arange(model.n_states)
    neighbours = np.append(states[1::-1], states[2:])
    return all(_is_same_prior(model, order) for order in (np.roll(states, 1), neighbours))


def log_labellings(model: Any, counts: Array, eta: Any = None) -> float:
    """Log of how many labellings are as good as this one, and apart from it.

    Permuting states that are alike makes no other labelling: all that do not live, and live ones
    whose posteriors are much the same. So it is log K! less the log m! of every m that are alike.

    Parameters
    ----------
    model
        A symmetric model.
    counts : array (K,)
        How many rows each state has.
    eta
        The posterior, if there is one.
    """
    live = np.flatnonzero(live_states(counts))
    groups: list[list[int]] = []
    for k in live.tolist():
        for group in groups if eta is not None else ():
            if _overlap(model, eta, group[0], k) > 0.5:
                group.append(k)
                break
        else:
            groups.append([k])
    sizes = [len(counts) - len(live), *map(len, groups)]
    return float(gammaln(len(counts) + 1.0) - gammaln(np.add(sizes, 1.0)).sum())


def _overlap(model: Any, eta: Any, j: int, k: int) -> float:
    """∫ √(q q') for a posterior and the same with two states swapped; 1 if they are alike."""
    swapped = model.select(eta, _swap(model.n_states, j, k))
    pairs = zip(leaves(eta), leaves(swapped), strict=True)
    middle = rebuild(eta, (0.5 * (a + b) for a, b in pairs))
    gap = _log_partition(model, middle) - _log_partition(model, eta)
    return float(np.exp(min(gap, 0.0)))


def _log_partition(model: Any, eta: Any) -> float:
    pairs = zip(model.families, eta, strict=True)
    return float(sum(family.log_partition(own) for family, own in pairs))


def _swap(n_states: int, j: int, k: int) -> NDArray[np.intp]:
    order = np.arange(n_states)
    order[[j, k]] = k, j
    return order


def find_twins(model: Any, start: Any, counts: Array) -> tuple[int, int] | None:
    """Two states that have rows and begin alike, so that an ascent never parts them; or None.

    Components of a mixture are alike if their parameters are: whatever their weights, each gets
    the same share of every row. States of a chain must besides go on alike, and be come to in the
    same proportion from every state; else their shares differ from step to step. What is wholly
    held is as its owner wants it.

    Parameters
    ----------
    model
        The model, with what it holds.
    start
        η whose mode is the start.
    counts : array (K,)
        How many rows each state has at the start.
    """
    learned = {"components", "emission", "transition"}.intersection(start._fields)
    if learned <= set(model.held):
        return None
    t = zip_fields(lambda family, eta: family.mode_stats(eta), model.families, start)
    emission = by_state(t[-1])
    for j, k in _equal_rows(by_state(start[-1])):
        if (
            counts[j] + counts[k] > 2.0 * LIVE
            and np.allclose(emission[j], emission[k], rtol=1e-9, atol=0.0)
            and _moves_alike(t, j, k)
            and _is_same_prior(model, _swap(model.n_states, j, k))
        ):
            return j, k
    return None


def _is_same_prior(model: Any, order: NDArray[np.intp]) -> bool:
    prior = add(model.prior, model.blank)
    pairs = zip(leaves(prior), leaves(model.select(prior, order)), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


def _equal_rows(rows: Array) -> list[tuple[int, int]]:
    """Pairs of equal rows."""
    seen: dict[bytes, int] = {}
    first = [seen.setdefault(row.tobytes(), k) for k, row in enumerate(rows)]
    return [(j, k) for k, j in enumerate(first) if j != k]


def _moves_alike(t: Any, j: int, k: int) -> bool:
    """Whether two states of a chain have the same ways out, and ways in with one proportion."""
    if "transition" not in t._fields:
        return True
    moves = np.exp(t.transition)
    into = np.concatenate([np.exp(t.initial)[None], moves[:, : len(moves)]])
    a, b = into[:, j] * into[:, k].sum(), into[:, k] * into[:, j].sum()
    return np.allclose(moves[j], moves[k], rtol=1e-9, atol=0.0) and np.allclose(a, b, 1e-9, 0.0)
