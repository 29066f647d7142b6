"""Ascents that look ahead: a sweep from a better place than the last one ended at.

A sweep maps η to η'. Near a maximum it is nearly linear, and slow along the directions in which the
hidden values say most. The last pairs (η, η') tell these directions. From them comes a proposal,
in turn by a quasi-Newton step of limited memory (L-BFGS, with η' - η for a gradient), or by the
combination of past η' whose residuals would cancel (Anderson 1965); where steps grow, as they do
while an ascent leaves a saddle, by a longer step of the same direction.

F decides: where it would fall, the proposal is dropped, which costs its one pass over the rows, and
the next sweep is a plain one. So F never falls, and an ascent ends only after a plain sweep. Where
a variance is nearly gone, F of a proposal may have no digits left; a plain sweep that shows it
makes the runner climb again from the start without proposals.

References
----------
Varadhan and Roland (2008), *Simple and globally convergent methods for accelerating the convergence
of any EM algorithm*, Scandinavian Journal of Statistics 35; Henderson and Varadhan (2019), *Damped
Anderson acceleration with restarts and monotonicity control*, JCGS 28.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.blocks import Units
from jensen.exceptions import JensenError
from jensen.free_energy import Algorithm, AnyState, climb, state_at, updated
from jensen.models.protocol import AnyModel
from jensen.support.fields import is_record, leaves, rebuild, record

Array = NDArray[np.float64]

REMEMBERED = 9
"""Pairs (η, η') of the last sweeps."""
LEAST_COUNT = 1e-2
"""Of a row: smaller counts weigh as much as this one where lengths of steps are measured."""
HALVINGS = 12
"""So often a proposal that is no distribution is moved halfway back."""
LEFT = 0.1
"""Of a count: no step leaves less, for a count near 0 would take long to come back."""
LONGEST = 1e4
"""How many times a step is made longer."""
CURVED = 1e-12
RIDGE = 1e-12


@record
class AscentPath(NamedTuple):
    """What the next sweep of an accelerated ascent needs besides the state."""

    before: tuple[Array, ...] = ()  # η of the last states, flat
    after: tuple[Array, ...] = ()  # where a sweep leads from each
    stretch: float = 1.0  # how much longer the next step is, where steps grow
    combines: bool = False  # whether proposals combine past states; else they are Newton steps
    is_plain: bool = False  # whether the next sweep is a plain one
    is_off: bool = False  # whether all sweeps are plain


def advance(
    model: AnyModel,
    data: Units,
    algorithm: Algorithm,
    state: AnyState,
    path: AscentPath,
    tol: float,
) -> tuple[AnyState, AscentPath, bool]:
    """One pass over the rows; the state, which has the same F at least, and whether it ended."""
    image = None if path.is_off else updated(model, algorithm, state).eta
    if not (path.is_off or path.is_plain):
        path = _remember(path, _flat(state.eta), _flat(image))
        proposal, path = _propose(model, algorithm, state, image, path)
        if proposal is not None:
            new = _try(model, data, algorithm, state, proposal)
            if new is None or not new.free_energy >= state.free_energy:
                dropped = path._replace(
                    stretch=1.0, combines=not path.combines, is_plain=True,
                    before=path.before[-1:], after=path.after[-1:],
                )  # fmt: skip
                return state._replace(sweep=state.sweep + 1), dropped, False
            scale = abs(new.free_energy) + data.total_weight
            is_small = new.free_energy - state.free_energy < tol * scale
            return new._replace(sweep=state.sweep + 1), path._replace(is_plain=is_small), False
    new, has_converged = climb(model, data, algorithm, state, tol)
    return new, path._replace(is_plain=False), has_converged


def _remember(path: AscentPath, before: Array, after: Array) -> AscentPath:
    if path.before and np.array_equal(path.before[-1], before):
        return path
    return path._replace(
        before=(*path.before, before)[-REMEMBERED:], after=(*path.after, after)[-REMEMBERED:]
    )


def _try(
    model: AnyModel, data: Units, algorithm: Algorithm, state: AnyState, eta: Any
) -> AnyState | None:
    try:
        return state_at(model, data, algorithm, eta, None, state)
    except (JensenError, ArithmeticError, np.linalg.LinAlgError):
        return None


def _propose(
    model: AnyModel, algorithm: Algorithm, state: AnyState, image: Any, path: AscentPath
) -> tuple[Any, AscentPath]:
    """An η ahead, or None; and the path with what was decided on the way."""
    if len(path.before) < 2:
        return None, path
    weight = _weights(model, algorithm, state, image)
    before, after = np.array(path.before), np.array(path.after)
    residuals = after - before
    step, turn = before[-1] - before[-2], residuals[-2] - residuals[-1]
    if not float((step * turn * weight).sum()) > 0.0:  # steps grow
        longer = min(2.0 * path.stretch, LONGEST)
        path, ahead = path._replace(stretch=longer), longer * residuals[-1]
    else:
        path = path._replace(stretch=1.0)
        ahead = (_combined if path.combines else _newton)(before, after, weight)
    least = np.concatenate([_least(one, algorithm) for one in image])
    for _ in range(HALVINGS):
        eta = _unflat(state.eta, np.maximum(before[-1] + ahead, least))
        if _is_allowed(model, algorithm, eta, image):
            return eta, path
        ahead = 0.5 * ahead
    return None, path


def _newton(before: Array, after: Array, weight: Array) -> Array:
    """L-BFGS: the last residual times the inverse of how residuals have changed."""
    residuals = after - before
    pairs = []
    for s, y in zip(np.diff(before, axis=0), -np.diff(residuals, axis=0), strict=True):
        curvature = float((s * y * weight).sum())
        lengths = float((s * s * weight).sum()) * float((y * y * weight).sum())
        if curvature > CURVED * np.sqrt(lengths):
            pairs.append((s, y, curvature))
    ahead, shares = residuals[-1].copy(), []
    for s, y, curvature in reversed(pairs):
        shares.append(float((s * ahead * weight).sum()) / curvature)
        ahead -= shares[-1] * y
    for (s, y, curvature), share in zip(pairs, reversed(shares), strict=True):
        ahead += (share - float((y * ahead * weight).sum()) / curvature) * s
    return np.asarray(ahead)


def _combined(before: Array, after: Array, weight: Array) -> Array:
    """Anderson: what of past steps makes the residual as small as can be, less where it stands."""
    residuals = (after - before) * np.sqrt(weight)
    turns = np.diff(residuals, axis=0)
    normal = turns @ turns.T
    normal += (RIDGE * np.trace(normal) + np.finfo(float).tiny) * np.eye(len(normal))
    shares = np.linalg.solve(normal, turns @ residuals[-1])
    return np.asarray(after[-1] - shares @ np.diff(after, axis=0) - before[-1])


def _weights(model: AnyModel, algorithm: Algorithm, state: AnyState, image: Any) -> Array:
    """How much each number of η weighs in lengths of steps.

    Counts weigh by one over themselves, as in the information of a multinomial distribution.
    Others weigh by how much t changes with them, so that units of columns change no step.
    """
    fields = zip(model.families, state.eta, image, state.t, strict=True)
    parts = [
        _weigh(eta, after, t, algorithm.q_theta.read(family, after, None, None)[0])
        for family, eta, after, t in fields
    ]
    found = np.concatenate(parts)
    return np.where(np.isfinite(found), found, 0.0)


@np.errstate(all="ignore")
def _weigh(eta: Any, image: Any, t: Any, read: Any) -> Array:
    if isinstance(eta, tuple) and not is_record(eta):
        parts = zip(eta, image, t, read, strict=True)
        return np.concatenate([_weigh(*part) for part in parts])
    if isinstance(eta, tuple):
        return np.asarray(np.abs((_flat(read) - _flat(t)) / (_flat(image) - _flat(eta))))
    return np.asarray(1.0 / np.maximum(np.abs(image), LEAST_COUNT)).ravel()


def _least(image: Any, algorithm: Algorithm) -> Array:
    """How small the numbers of a proposal may be, given where a sweep leads."""
    if isinstance(image, tuple) and not is_record(image):
        return np.concatenate([_least(part, algorithm) for part in image])
    if isinstance(image, tuple):
        return np.full(_flat(image).size, -np.inf)
    below = LEFT * (image + 1.0) - 1.0 if algorithm.q_theta.is_distribution else -np.inf
    return np.where(image > 0.0, LEFT * image, below).ravel()


def _is_allowed(model: AnyModel, algorithm: Algorithm, eta: Any, image: Any) -> bool:
    """Whether θ can be read of η, as it can where a sweep leads.

    Log Γ of a negative count is a number too, so a posterior is asked for its mode besides.
    """
    for family, one, after in zip(model.families, eta, image, strict=True):
        try:
            is_well = family.has_mode(one)
            if algorithm.q_theta.is_distribution:
                is_well = is_well or not family.has_mode(after)
                is_well = is_well and bool(np.isfinite(family.log_partition(one)))
        except (JensenError, ArithmeticError, ValueError, np.linalg.LinAlgError):
            return False
        if not is_well:
            return False
    return True


def _flat(eta: Any) -> Array:
    return np.concatenate([np.ravel(leaf) for leaf in leaves(eta)])


def _unflat(like: Any, flat: Array) -> Any:
    parts = leaves(like)
    ends = np.cumsum([np.size(part) for part in parts])
    pieces = zip(np.split(flat, ends[:-1]), parts, strict=True)
    return rebuild(like, (piece.reshape(np.shape(part)) for piece, part in pieces))
