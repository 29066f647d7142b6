"""The ways of approximate inference: log Z and marginals of a list of factors."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import EstimateWarning, JensenError, warn
from jensen.inference.approximate.conditioned import is_tree
from jensen.inference.approximate.labels import EXACT, Label, LabelledNumber
from jensen.q_hidden.factor_lists.factor_list import FactorList, make_factor_list
from jensen.q_hidden.factor_lists.feasible import feasible_states
from jensen.q_hidden.factor_lists.loopy import FixedPoint, loopy, propagate
from jensen.q_hidden.factor_lists.mean_field import ProductBound, product_bound
from jensen.q_hidden.factor_lists.mini_buckets import BucketBound, bucket_bound, split
from jensen.q_hidden.factor_lists.tree_blocks import make_blocks, sweep
from jensen.q_hidden.factor_lists.tree_reweighted import TreeBound, tree_bound
from jensen.q_hidden.trees.partition import shift_tables
from jensen.support.text import one_of, option

Array = NDArray[np.float64]

SEED = 0
"""Of random starts: the same question has the same answer."""

FEW_TREES = 2
"""Improvements of the mixture of trees, where the bound only judges fixed points."""
ROUNDING = 1e-7
APART = 0.1
"""Nats by which fixed points differ before all of them are shown."""
CHAINS, BURN_IN, SWEEPS, BATCHES = 4, 50, 400, 20
R_HAT = 1.05


class InferenceOptions(NamedTuple):
    """What a caller chose."""

    i_bound: int | None = None
    n_sweeps: int = SWEEPS


DEFAULT_OPTIONS = InferenceOptions()


class Beliefs(NamedTuple):
    """Marginals of all states that are left, flat, and what they are."""

    marginals: Array
    label: Label
    standard_errors: Array | None = None
    draws: NDArray[np.int32] | None = None  # (chains · sweeps, n): states


class Method(NamedTuple):
    """A way of inference."""

    log_z: Callable[[FactorList, InferenceOptions], LabelledNumber]
    beliefs: Callable[[FactorList, InferenceOptions], Beliefs]


def constant(factors: FactorList) -> LabelledNumber | None:
    """Log Z where nothing is left to sum, or nothing is possible."""
    if factors.constant == -np.inf or not factors.n_variables:
        return LabelledNumber(factors.constant, EXACT, factors.constant, factors.constant)
    return None


# --- bounds ---


def _product(factors: FactorList) -> ProductBound:
    return product_bound(factors, propagate(factors), np.random.default_rng(SEED))


def _mean_field_label(found: ProductBound) -> Label:
    if found.value == -np.inf:
        return Label(
            "mean-field", "lower bound", None, 0, ("no states were found that are possible",)
        )
    return Label("mean-field", "lower bound")


def _mean_field_log_z(factors: FactorList, options: InferenceOptions) -> LabelledNumber:
    found = _product(factors)
    return LabelledNumber(found.value, _mean_field_label(found), found.value)


def _mean_field_beliefs(factors: FactorList, options: InferenceOptions) -> Beliefs:
    found = _product(factors)
    if found.value == -np.inf:
        raise JensenError(
            "the zeros of the tables leave so few states possible that mean field found none to "
            f"begin with: ask with {one_of('inference', ['loopy', 'mini-bucket'])}"
        )
    return Beliefs(found.marginals, Label("mean-field", "estimate"))


def _tree_label(found: TreeBound, kind: str) -> Label:
    notes: tuple[str, ...] = ()
    if found.has_joined:
        notes = ("factors of three and more variables became pairs by their configurations",)
    return Label("trw", kind, found.converged, found.sweeps, notes)  # type: ignore[arg-type]


def _tree_log_z(factors: FactorList, options: InferenceOptions) -> LabelledNumber:
    found = tree_bound(factors)
    return LabelledNumber(found.value, _tree_label(found, "upper bound"), -np.inf, found.value)


def _tree_beliefs(factors: FactorList, options: InferenceOptions) -> Beliefs:
    found = tree_bound(factors)
    return Beliefs(found.marginals, _tree_label(found, "estimate"))


def bucket_bounds(
    factors: FactorList, options: InferenceOptions
) -> tuple[BucketBound, BucketBound]:
    """From below and above, at one i-bound."""
    buckets = split(factors, options.i_bound)
    upper = bucket_bound(factors, buckets, "upper")
    if buckets.is_exact:
        return upper, upper
    lower = bucket_bound(factors, buckets, "lower")
    return lower, upper


def _bucket_log_z(factors: FactorList, options: InferenceOptions) -> LabelledNumber:
    lower, upper = bucket_bounds(factors, options)
    if upper.is_exact:
        label = Label("mini-bucket", "exact", None, 0, (f"i-bound {upper.i_bound} splits nothing",))
        return LabelledNumber(upper.value, label, upper.value, upper.value)
    notes: tuple[str, ...] = (f"i-bound {upper.i_bound}",)
    if lower.value == -np.inf:
        notes += ("zeros in the tables leave the lower bound at -inf",)
    sweeps = lower.iterations + upper.iterations
    label = Label("mini-bucket", "upper bound", upper.converged, sweeps, notes)
    return LabelledNumber(upper.value, label, lower.value, upper.value)


def _bucket_beliefs(factors: FactorList, options: InferenceOptions) -> Beliefs:
    """Bounds of every p(x_i = s) = Z_s / Σ Z, from bounds of each; the centre of both is shown."""
    at = np.concatenate([[0], np.cumsum(factors.wiring.cards)])
    marginals, reach = np.empty(int(at[-1])), 0.0
    scopes, tables = factors.wiring.scopes(), factors.tables()
    cards = factors.wiring.cards.tolist()
    for v in range(factors.n_variables):
        bounds = []
        for s in range(cards[v]):
            mask = {v: np.arange(cards[v]) == s}
            part = make_factor_list(cards, scopes, tables, mask)
            alone = constant(part)
            bounds.append(
                (float(alone), float(alone))
                if alone is not None
                else tuple(b.value for b in bucket_bounds(part, options))
            )
        low, high = shares_between(np.array(bounds))
        centre = 0.5 * (low + high)
        marginals[at[v] : at[v + 1]] = centre / centre.sum()
        reach = max(reach, float(0.5 * (high - low).max()))
    note = (
        f"every probability is within {reach:.2g} of the exact one before they are made to sum to 1"
    )
    return Beliefs(marginals, Label("mini-bucket", "between bounds", None, 0, (note,)))


def shares_between(bounds: Array) -> tuple[Array, Array]:
    """Bounds of Z_s / Σ Z from bounds (S, 2) of log Z_s."""
    low, high = bounds.T
    least, most = np.zeros(len(bounds)), np.zeros(len(bounds))
    for s in range(len(bounds)):
        others = np.arange(len(bounds)) != s
        rest_low, rest_high = (np.logaddexp.reduce(x[others], initial=-np.inf) for x in (low, high))
        if low[s] > -np.inf:
            least[s] = np.exp(low[s] - np.logaddexp(low[s], rest_high))
        elif rest_high == -np.inf and high[s] > -np.inf:
            least[s] = 1.0  # nothing else is possible
        if high[s] > -np.inf:
            most[s] = np.exp(high[s] - np.logaddexp(high[s], rest_low))
    return least, most


def bracket(factors: FactorList, word: str) -> LabelledNumber:
    """Log Z between mean field and trees; the value is that of the one that was asked for."""
    alone = constant(factors)
    if alone is not None:
        return alone
    product, trees = _product(factors), tree_bound(factors)
    if word == "trw":
        value, label = trees.value, _tree_label(trees, "upper bound")
    else:
        value, label = product.value, _mean_field_label(product)
    return LabelledNumber(value, label, product.value, trees.value)


# --- loopy propagation ---


class ChosenPoints(NamedTuple):
    """Fixed points within the bracket of log Z, and the values of those outside."""

    points: list[FixedPoint]
    lower: float
    upper: float
    wrong: tuple[float, ...]
    is_exact: bool = False


def choose_points(factors: FactorList) -> ChosenPoints:
    """Run loopy propagation from several starts; keep what settled within the bracket."""
    points = loopy(factors)
    if is_tree(factors) and points[0].converged:
        return ChosenPoints(points[:1], points[0].log_z, points[0].log_z, (), is_exact=True)
    lower = product_bound(factors, points[0], np.random.default_rng(SEED)).value
    upper = tree_bound(factors, FEW_TREES).value
    slack = ROUNDING * max(1.0, abs(upper))
    inside = [p for p in points if lower - slack <= p.log_z <= upper + slack]
    wrong = tuple(p.log_z for p in points if not lower - slack <= p.log_z <= upper + slack)
    return ChosenPoints(inside, lower, upper, wrong)


def _loopy_label(factors: FactorList, chosen: ChosenPoints) -> Label:
    first = chosen.points[0]
    if chosen.is_exact:
        return Label("loopy", "exact", True, first.sweeps, ("the factors have no loop",))
    notes: list[str] = []
    if chosen.wrong:
        listed = ", ".join(f"{value:.6g}" for value in chosen.wrong)
        notes.append(f"wrong, as outside the bracket of log Z: Bethe values {listed}")
    settled = [p.log_z for p in chosen.points if p.converged]
    if settled and max(settled) - min(settled) > APART:
        listed = ", ".join(f"{value:.6g}" for value in settled)
        notes.append(f"fixed points within the bracket have Bethe values {listed}")
        warn(
            f"loopy belief propagation has several fixed points with Bethe values {listed}: the "
            f"answer is that of the largest; {one_of('inference', ['gibbs', 'mini-bucket'])} give "
            "another opinion",
            EstimateWarning,
        )
    return Label("loopy", "estimate", first.converged, first.sweeps, tuple(notes), tuple(settled))


def _loopy_log_z(factors: FactorList, options: InferenceOptions) -> LabelledNumber:
    chosen = choose_points(factors)
    if not chosen.points:
        note = "no fixed point of loopy propagation lies between the bounds: this is their middle"
        middle = 0.5 * (chosen.lower + chosen.upper)
        label = Label("loopy", "between bounds", None, 0, (note,))
        return LabelledNumber(middle, label, chosen.lower, chosen.upper)
    return LabelledNumber(
        chosen.points[0].log_z, _loopy_label(factors, chosen), chosen.lower, chosen.upper
    )


def _loopy_beliefs(factors: FactorList, options: InferenceOptions) -> Beliefs:
    chosen = choose_points(factors)
    if not chosen.points:
        raise JensenError(
            f"loopy belief propagation found no fixed point whose log Z lies between the bounds "
            f"{chosen.lower:.6g} and {chosen.upper:.6g}, so none of its answers can be right: ask "
            f"with {one_of('inference', ['gibbs', 'mini-bucket', 'mean-field'])}"
        )
    return Beliefs(chosen.points[0].marginals, _loopy_label(factors, chosen))


# --- draws ---


def _gibbs_log_z(factors: FactorList, options: InferenceOptions) -> LabelledNumber:
    raise JensenError(
        f"draws do not tell log Z: ask with {one_of('inference', ['loopy', 'mini-bucket', 'trw'])}"
    )


def _gibbs_beliefs(factors: FactorList, options: InferenceOptions) -> Beliefs:
    rng = np.random.default_rng(SEED)
    shifted, _ = shift_tables(factors.log_tables, factors.wiring)
    factors = factors._replace(log_tables=shifted)
    blocks = make_blocks(factors, rng)
    scores = np.repeat(1.0 / factors.wiring.cards, factors.wiring.cards)  # far apart
    begun = [feasible_states(factors, scores, rng) for _ in range(CHAINS)]
    if any(states is None for states in begun):
        raise JensenError(
            "the zeros of the tables leave so few states possible that no chain found one to begin "
            f"with: ask with {one_of('inference', ['loopy', 'mini-bucket'])}"
        )
    states = np.array(begun, np.int32)
    for _ in range(BURN_IN):
        states, _ = sweep(factors, blocks, states, rng)
    halves = np.zeros((2, CHAINS, len(scores)))
    batches = np.zeros((BATCHES, len(scores)))
    squares = np.zeros((CHAINS, len(scores)))
    drawn = np.empty((options.n_sweeps, CHAINS, factors.n_variables), np.int32)
    for k in range(options.n_sweeps):
        states, shares = sweep(factors, blocks, states, rng)
        drawn[k] = states
        halves[2 * k // options.n_sweeps] += shares
        batches[BATCHES * k // options.n_sweeps] += shares.mean(0)
        squares += shares**2
    halves *= 2.0 / options.n_sweeps
    batches *= BATCHES / options.n_sweeps
    mean = batches.mean(0)
    parts = halves.reshape(-1, len(mean))  # of half chains
    errors = np.maximum(
        batches.std(0, ddof=1) / np.sqrt(BATCHES), parts.std(0, ddof=1) / np.sqrt(len(parts))
    )
    within = np.maximum(squares / options.n_sweeps - halves.mean(0) ** 2, 0.0).mean(0)
    between = np.where(parts.std(0) > 1e-9, parts.var(0, ddof=1), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(between > 0.0, between / within, 0.0)
    r_hat = float(np.sqrt(1.0 + ratio.max(initial=0.0)))
    notes = [f"{CHAINS} chains of {options.n_sweeps} sweeps, R-hat at most {r_hat:.3f}"]
    notes.append(f"standard errors at most {errors.max(initial=0.0):.2g}")
    if not factors.is_positive:
        notes.append(
            "zeros in the tables may keep chains from some states, which R-hat may not see"
        )
    label = Label("gibbs", "estimate", r_hat < R_HAT, options.n_sweeps, tuple(notes))
    return Beliefs(mean, label, errors, drawn.reshape(-1, factors.n_variables))


METHODS: MappingProxyType[str, Method] = MappingProxyType(
    {
        "loopy": Method(_loopy_log_z, _loopy_beliefs),
        "trw": Method(_tree_log_z, _tree_beliefs),
        "mean-field": Method(_mean_field_log_z, _mean_field_beliefs),
        "mini-bucket": Method(_bucket_log_z, _bucket_beliefs),
        "gibbs": Method(_gibbs_log_z, _gibbs_beliefs),
    }
)
"""By the word of `inference=`; "exact" and "auto" are not among them."""

WORDS = ("exact", "auto", *METHODS)


def check_word(inference: object) -> None:
    """Refuse an unknown way of inference."""
    if inference not in WORDS:
        raise JensenError(
            f"there is no {option('inference', inference)}: choose "
            f"{one_of('inference', list(WORDS))}"
        )
