"""What comes after sequences of a hidden Markov model: probabilities, intervals and draws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import ImpossibleError, JensenError
from jensen.families.point_mass import PointMass
from jensen.inference.chains import (
    Steps,
    draw_parameters,
    parameters_of,
    views,
    whole_unit,
)
from jensen.inference.cpt import show_probability
from jensen.inference.mixtures import FittedStates
from jensen.inference.regression import check_level
from jensen.models.emissions.kinds import ColumnLaw
from jensen.models.emissions.product import expected_rows
from jensen.models.emissions.registry import record_of
from jensen.models.hidden_markov import Chained
from jensen.models.state_model import unflatten
from jensen.q_hidden.states import chain
from jensen.q_hidden.structures import Chain
from jensen.support.machine import check_many
from jensen.support.text import PAGE, bare, grid, plural

if TYPE_CHECKING:
    import pandas

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_LINES = 60
"""Steps that are printed; `to_pandas` has them all."""
HALVINGS = 2000
"""Steps of the search for a quantile; it ends when the bounds are neighbouring numbers."""


@dataclass(frozen=True, eq=False)
class Forecast:
    """What comes after sequences, step by step; it prints as a table.

    Every step is told on the condition that its sequence has not ended before it.

    Attributes
    ----------
    states : array
        (S, h, K): probabilities of hidden states.
    expected : array
        (S, h, D): expected rows; of labels the probability of each, (S, h, V), of 0 and 1 that
        of 1.
    low, high : arrays or None
        (S, h, D): the central interval of every column, with probability `level` at least, exact
        up to rounding; counts are whole.
    draws, drawn_states : arrays or None
        (S, n, h, D) and (S, n, h): futures drawn jointly. After the end of a sequence rows are
        missing and the state is -1.
    names, labels, sequences
        Of the columns; the labels of each, none of numbers; of the sequences.
    """

    states: Array
    expected: Array
    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    sequences: tuple[str, ...]
    level: float | None = None
    low: Array | None = None
    high: Array | None = None
    draws: NDArray[Any] | None = None
    drawn_states: Ints | None = None

    def columns(self) -> dict[str, Any]:
        """A row for each step of each sequence: states, expected values, intervals."""
        n, h, K = self.states.shape
        found: dict[str, Any] = {
            "sequence": np.repeat(np.array(self.sequences, object), h),
            "step": np.tile(np.arange(1, h + 1), n),
            "state": self.states.argmax(-1).ravel(),
        }
        found |= {f"P(state={k})": self.states[:, :, k].ravel() for k in range(K)}
        found |= {
            name: self.expected[:, :, i].ravel() for i, name in enumerate(self._expected_names())
        }
        if self.low is not None and self.high is not None:
            for i, name in enumerate(self.names):
                found[f"{name} from"] = self.low[:, :, i].ravel()
                found[f"{name} to"] = self.high[:, :, i].ravel()
        return found

    def drawn_columns(self) -> dict[str, Any]:
        """A row for each step of each draw; none after the end of a sequence."""
        if self.draws is None or self.drawn_states is None:
            raise JensenError(f"this forecast has no draws: ask for them with {bare('draws')}")
        s, i, step = np.nonzero(self.drawn_states >= 0)
        found: dict[str, Any] = {
            "sequence": np.array(self.sequences, object)[s],
            "draw": i + 1,
            "step": step + 1,
            "state": self.drawn_states[s, i, step],
        }
        values = self.draws[s, i, step]
        return found | {name: values[:, d] for d, name in enumerate(self.names)}

    def to_pandas(self, *, draws: bool = False) -> pandas.DataFrame:
        """The forecast, or the draws, as a dataframe with a row for each step."""
        import pandas

        return pandas.DataFrame(self.drawn_columns() if draws else self.columns())

    def _expected_names(self) -> list[str]:
        pairs = zip(self.names, self.labels, strict=True)
        return [
            name
            for column, labels in pairs
            for name in ([f"P({column}={label})" for label in labels] or [column])
        ]

    def __repr__(self) -> str:
        n, h, _ = self.states.shape
        head = ["step", "state", "probability"]
        for name, labels in zip(self.names, self.labels, strict=True):
            head += [f"P({name}={labels[0]})"] if len(labels) == 1 else [name]
            if len(labels) > 1:
                head.append("probability")
            elif self.level is not None:
                head += [f"{100 * self.level:g}% from", "to"]
        rows = [head if n == 1 else ["sequence", *head]]
        for s, step in list(np.ndindex(n, h))[:MOST_LINES]:
            rows.append([self.sequences[s]] * (n > 1) + [str(step + 1), *self._cells(s, step)])
        after = "" if n == 1 else f" after each of {plural(n, 'sequence')}"
        table = grid(rows, left=int(n > 1), rule=True, page=PAGE)
        text = f"{plural(h, 'step')} ahead{after}\n{table}"
        left = n * h + 1 - len(rows)
        return text + (f"\n... and {plural(left, 'row')} more" if left else "")

    def _cells(self, s: int, step: int) -> Iterator[str]:
        best = int(self.states[s, step].argmax())
        yield from (str(best), show_probability(self.states[s, step, best]))
        at = 0
        for d, labels in enumerate(self.labels):
            own = self.expected[s, step, at : at + max(1, len(labels))]
            at += len(own)
            k = int(own.argmax())
            if len(labels) > 1:
                yield labels[k]
            yield show_probability(own[k]) if labels else f"{own[k]:.4g}"
            if self.low is not None and self.high is not None:
                yield f"{self.low[s, step, d]:.4g}"
                yield f"{self.high[s, step, d]:.4g}"


class Outlook(NamedTuple):
    """The steps ahead at one θ."""

    t: Chained
    shares: Array  # (S, h, K): p(this θ, state | the sequence goes on so far)


def look_ahead(fitted: FittedStates, steps: Steps, h: int) -> list[Outlook]:
    """States of the h steps after each sequence, at the point estimate or at every sample."""
    t = next(parameters_of(fitted))
    width = sum(expected_rows(fitted.model.emission, t.emission).shape)  # states, and columns
    n_samples = 1 if fitted.samples is None else len(fitted.samples)
    each = 8.0 * len(steps.lengths) * (3 * width + (2 + fitted.model.n_states) * n_samples)
    check_many(h, each, f"steps after {len(steps.lengths)} sequences", "look less far ahead")
    unit = whole_unit(fitted, steps)
    found = [
        (here := _open_sequences(view), *_states_ahead(here, h)) for view in views(fitted, unit)
    ]
    log_share = np.array([here.log_z[:, None] + log_alive for here, _, log_alive in found])
    _check_goes_on(log_share.max(0))
    share = np.exp(log_share - np.logaddexp.reduce(log_share, axis=0))  # (samples, S, h)
    triples = zip(parameters_of(fitted), found, share, strict=True)
    return [Outlook(t, weight[:, :, None] * states) for t, (_, states, _), weight in triples]


def expect_rows(fitted: FittedStates, outlook: Sequence[Outlook]) -> tuple[Array, Array]:
    """States (S, h, K) and expected rows (S, h, ...)."""
    emission = fitted.model.emission
    rows = sum(
        np.tensordot(one.shares, expected_rows(emission, one.t.emission), axes=1) for one in outlook
    )
    return np.asarray(sum(one.shares for one in outlook)), np.asarray(rows)


# --- intervals ---


def intervals(
    fitted: FittedStates, outlook: Sequence[Outlook], level: float
) -> tuple[Array, Array]:
    """The central interval of every column of numbers, (S, h, D) each."""
    check_level(level)
    emission = fitted.model.emission
    kind, eta = record_of(emission).kind, None
    if fitted.eta is not None and not isinstance(fitted.model.families.emission, PointMass):
        eta = fitted.eta.emission
    laws = [kind.law(emission, one.t.emission, eta) for one in outlook]
    parts = [(law, one.shares) for law, one in zip(laws, outlook, strict=True) if law is not None]
    if not parts:
        raise JensenError(
            f"an interval is one of numbers, and these columns are labels: leave "
            f"{bare('interval')} out, their probabilities are the whole answer"
        )
    tails = np.array([0.5 - 0.5 * level, 0.5 + 0.5 * level])
    low, high = _quantiles(parts, tails)
    return low, high


def _quantiles(parts: Sequence[tuple[ColumnLaw, Array]], p: Array) -> Array:
    """(P, S, h, D): the quantiles of the mixtures of all states, by bisection."""
    law, shares = parts[0]
    shape = (len(p), *shares.shape[:2], law.mean.shape[1])
    wanted = np.broadcast_to(p[:, None, None, None], shape)

    def below(x: Array) -> Array:
        return np.asarray(sum(np.einsum("shk,pshkd->pshd", own, law.cdf(x)) for law, own in parts))

    wide = np.max([law.spread.max(0) for law, _ in parts], axis=0)
    low = np.broadcast_to(np.min([law.mean.min(0) for law, _ in parts], axis=0) - wide, shape)
    high = np.broadcast_to(np.max([law.mean.max(0) for law, _ in parts], axis=0) + wide, shape)
    if law.is_whole:
        low, high = np.full(shape, -1.0), np.ceil(high)
    step = np.broadcast_to(wide + law.is_whole, shape)
    for _ in range(HALVINGS):
        is_above, is_below = below(low) >= wanted, below(high) < wanted
        if not (is_above.any() or is_below.any()):
            break
        low, high = np.where(is_above, low - step, low), np.where(is_below, high + step, high)
        step = 2.0 * step if not law.is_whole else np.ceil(2.0 * step)
    for _ in range(HALVINGS):
        middle = low + 0.5 * (high - low)
        if law.is_whole:
            middle = np.floor(middle)
        if np.all((middle <= low) | (middle >= high)):
            break
        is_under = below(middle) < wanted
        low, high = np.where(is_under, middle, low), np.where(is_under, high, middle)
    return high


# --- draws ---


def draw_ahead(
    fitted: FittedStates, steps: Steps, h: int, n: int, rng: np.random.Generator
) -> tuple[Array, Ints]:
    """Rows (S, n, h, D) and states (S, n, h) of n futures of each sequence.

    A future has one θ: the point estimate, a draw from its posterior, or one of its samples by how
    probable it makes the sequence. What comes after an end is missing, and its state -1.
    """
    model, n_sequences = fitted.model, len(steps.lengths)
    size = 8.0 * n_sequences * h * (2 * model.emission.n_columns + 3)
    check_many(
        n,
        size,
        f"futures of {plural(n_sequences, 'sequence')}",
        "draw fewer, or look less far ahead",
    )
    rows = np.full((n_sequences, n, h, model.emission.n_columns), np.nan)
    states = np.full((n_sequences, n, h), -1, np.int64)
    seen = [_open_sequences(view) for view in views(fitted, whole_unit(fitted, steps))]
    for t, here, chosen in _worlds(fitted, seen, n, rng):
        s, i = np.nonzero(chosen)
        states[s, i] = paths = _walk(model.n_states, t, here.now[s], h, rng)
        there = paths >= 0
        found = np.full((*paths.shape, rows.shape[-1]), np.nan)
        found[there] = model.emission.simulate(t.emission, paths[there], rng)
        rows[s, i] = found
    return rows, states


def _worlds(
    fitted: FittedStates, seen: Sequence[OpenSequences], n: int, rng: np.random.Generator
) -> Iterator[tuple[Chained, OpenSequences, NDArray[np.bool_]]]:
    """Every θ that is used, what it makes of the sequences, and for which draws (S, n) it is."""
    n_sequences = len(seen[0].log_z)
    if fitted.samples is not None:
        log_z = np.array([here.log_z for here in seen])  # (samples, S)
        share = np.exp(log_z - np.logaddexp.reduce(log_z, axis=0))
        chosen = np.stack([rng.choice(len(seen), n, p=of_one) for of_one in share.T])
        for k in np.unique(chosen):
            yield unflatten(fitted.model.blank, fitted.samples[k]), seen[k], chosen == k
    elif fitted.eta is None:
        yield fitted.t, seen[0], np.ones((n_sequences, n), bool)
    else:
        for i in range(n):
            only = np.zeros((n_sequences, n), bool)
            only[:, i] = True
            yield draw_parameters(fitted, rng), seen[0], only


def _walk(K: int, t: Chained, now: Array, h: int, rng: np.random.Generator) -> Ints:
    """(m, h): states after the last one, whose probabilities are (m, K); -1 after the end."""
    moves = np.exp(t.transition)
    at = _pick(now, rng)
    found = np.full((len(at), h), -1, np.int64)
    goes_on = np.ones(len(at), bool)
    for step in range(h):
        at = np.where(goes_on, _pick(moves[np.minimum(at, K - 1)], rng), K)
        goes_on &= at < K
        found[goes_on, step] = at[goes_on]
    return found


def _pick(shares: Array, rng: np.random.Generator) -> Ints:
    """One of the columns for each row, by its shares."""
    below = np.cumsum(shares, axis=1)
    uniform = rng.random(len(below)) * below[:, -1]
    return np.asarray((below <= uniform[:, None]).sum(1), np.int64)


class OpenSequences(NamedTuple):
    """Sequences that have not ended, at one θ."""

    log_z: Array  # (S,)
    now: Array  # (S, K): p(last state | sequence)
    trans: Array  # (K, K); a row sums to 1 - p(end)


def _open_sequences(view: Chain) -> OpenSequences:
    going_on = view._replace(log_end=np.zeros_like(view.log_end))
    now = chain.filtered(going_on)[view.ptr[1:] - 1]
    return OpenSequences(chain.log_evidence(going_on), now, np.exp(view.log_trans))


def _states_ahead(here: OpenSequences, h: int) -> tuple[Array, Array]:
    """States (S, h, K) of the next steps, and log p(the sequence goes on so far), (S, h)."""
    now, log_alive = here.now, np.zeros(len(here.now))
    states, alive = np.empty((len(now), h, now.shape[1])), np.empty((len(now), h))
    for step in range(h):
        now = (now[:, :, None] * here.trans).sum(1)
        total = now.sum(1)
        with np.errstate(divide="ignore"):
            log_alive = log_alive + np.log(total)
        now = now / np.where(total > 0.0, total, 1.0)[:, None]
        states[:, step], alive[:, step] = now, log_alive
    return states, alive


def _check_goes_on(log_share: Array) -> None:
    ended = np.argwhere(log_share == -np.inf)
    if len(ended):
        number, step = ended[0]
        raise ImpossibleError(
            f"sequence {number + 1} cannot go on for {step + 1} more steps: all its states end. "
            f"Ask for fewer steps, or leave it out"
        )
