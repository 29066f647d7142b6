"""The base class of mixtures and hidden Markov models, with the checks that they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.blocks import ENTRIES
from jensen.data.number_rows import NumberRows
from jensen.estimators.arrays import ArrayEstimator
from jensen.estimators.reports import Summary
from jensen.exceptions import DataError, ImpossibleError, JensenError
from jensen.free_energy import Algorithm
from jensen.inference.mixtures import FittedStates
from jensen.models.state_labels import live_states, log_labellings
from jensen.models.state_model import LOOKED_AT
from jensen.support.arguments import AnswersToPeers, check_whole
from jensen.support.json_values import Checked
from jensen.support.machine import check_memory
from jensen.support.text import USUAL_PRIOR, one_of, option, plural, some

if TYPE_CHECKING:
    from jensen.evidence.variational import BoundGap

Array = NDArray[np.float64]


class StatesEstimator(AnswersToPeers, ArrayEstimator):
    """A learner of hidden states: what `fit` leaves behind, whatever the states make."""

    fitted_: FittedStates
    r_hat_: float
    effective_sample_size_: float

    watched = "log joint and sizes"  # what tells how well chains have mixed
    size = "n_components"  # the choice that says how many there are

    def _plain(self) -> dict[str, Any]:
        """All that was chosen and learned as plain data."""
        from jensen.estimators.states_saving import plain_states

        return plain_states(self)

    @staticmethod
    def _read_plain(value: Checked) -> StatesEstimator:
        """What `_plain` gave."""
        from jensen.estimators.states_saving import read_states

        return read_states(value)

    def _summarise(self) -> Summary:
        """The parameters, one column for each state."""
        from jensen.estimators.states_summary import summarise_states

        return summarise_states(self)

    @property
    def n_live_(self) -> int:
        """How many states live: those with more than half a row, and always the largest."""
        return int(self._lives().sum())

    def _lives(self) -> NDArray[np.bool_]:
        return live_states(self.require_fitted().counts)

    @property
    def label_correction_(self) -> float:
        """Log K! / (K - L)!: so many labellings of L live states have the same bound.

        The bound counts one of them. Live states whose posteriors are much the same count as one
        kind: m of them take log m! away. 0 where something tells states apart. `free_energy_` plus
        this is an estimate of the log evidence, not a bound: where the labellings overlap it may
        lie above.
        """
        fitted = self.require_fitted()
        if not fitted.is_symmetric:
            return 0.0
        return log_labellings(fitted.model, fitted.counts, fitted.eta)

    def bound_gap(
        self, X: Any, n_samples: int = 2000, *, random_state: Any = None, **fit: Any
    ) -> BoundGap:
        """How far F lies below the log evidence, by importance sampling from q(θ).

        Pareto's k̂ says whether the weights can be believed; modes that q does not reach, such as
        other labels of hidden states, are not seen.

        Parameters
        ----------
        X
            The rows of `fit`.
        n_samples
            Draws from q(θ).
        random_state
            An int, `SeedSequence`, `Generator` or None: that of the model.
        **fit
            What `fit` takes besides.
        """
        from jensen.evidence.variational import bound_gap

        return bound_gap(self, X, n_samples, random_state, **fit)

    def require_fitted(self) -> FittedStates:
        """What was learned, or an error if nothing was yet."""
        super().require_fitted()
        return self.fitted_


def read_prior_parts(prior: Any, algorithm: Algorithm) -> Mapping[str, Any] | None:
    """The prior as words; None if it is flat. A method that keeps a posterior cannot do without."""
    if prior is None:
        return None if algorithm.seeks_mode else {}
    if not isinstance(prior, Mapping):
        raise JensenError(
            f"prior must be None or a dict of its parts ({{}} for the usual one), not {prior!r:.80}"
        )
    return prior


def with_labels(
    prior_parts: Mapping[str, Any] | None, algorithm: Algorithm
) -> Mapping[str, Any] | None:
    """Words with the usual concentration of labels: 1, or 2 where only the mode is looked at.

    At the mode a concentration of 2 adds one count of each label; 1 would add nothing.
    """
    usual = 2.0 if algorithm.seeks_mode else 1.0
    return None if prior_parts is None else {"emission": usual, **prior_parts}


def concentration(
    prior_parts: Mapping[str, Any] | None, name: str, shape: tuple[int, ...], algorithm: Algorithm
) -> Array | None:
    """η₀ of shares: 1 / K by default, which lets surplus states die; 1 for methods with a mode."""
    from jensen.models.emissions.priors import label_prior

    if prior_parts is None:
        return None
    is_mode = algorithm.seeks_mode
    usual = 1.0 if is_mode else 1.0 / shape[-1]
    found = label_prior({name: prior_parts.get(name, usual)}, name, shape)
    return None if is_mode and not found.any() else found


def check_held(fixed: Any, known: tuple[str, ...], start: Any) -> tuple[str, ...]:
    """Names of what is held, each of which the start must say."""
    if isinstance(fixed, str) or not isinstance(fixed, Iterable):
        raise JensenError(f"fixed must be a list of names ({', '.join(known)}), not {fixed!r:.80}")
    names = tuple(fixed)
    for name in names:
        if name not in known:
            raise JensenError(f"fixed has no part {name!r}: hold any of {', '.join(known)}")
    if names and start is None:
        raise JensenError(f"fixed={list(names)!r} holds parameters at start=, which is missing")
    return names


def repeat_by_weight(weight: Array, algorithm: Algorithm) -> NDArray[np.intp] | None:
    """Which rows to take so that each counts once, where q(h) is drawn row by row."""
    if not algorithm.q_hidden.is_random or np.all(weight == 1.0):
        return None
    if np.any(weight % 1.0):
        raise DataError(
            f"{algorithm.name!r} draws what is missing row by row, so weights must be whole "
            f"numbers: use {one_of('method', ['em', 'vbem'])}"
        )
    check_memory(
        64.0 * weight.sum(),
        f"drawing row by row for rows of weight {weight.sum():.3g}",
        f"use {one_of('method', ['em', 'vbem'])}, which take a weight at once",
    )
    return np.repeat(np.arange(len(weight)), weight.astype(np.int64))


def repeat_rows(rows: NumberRows, algorithm: Algorithm) -> NumberRows:
    """Rows of which each counts once, where q(h) is drawn row by row."""
    if not algorithm.q_hidden.is_random or rows.counts_once:
        return rows
    values, weight = rows.values(), rows.weights()
    chosen = repeat_by_weight(weight, algorithm)
    return rows if chosen is None else NumberRows.of(values[chosen])


def check_rows(n_rows: int, n_states: int, noun: str) -> None:
    """Refuse rows so few that a Gaussian without a prior would have no spread."""
    if n_rows < max(n_states, 2):
        raise DataError(
            f"{plural(n_rows, 'row')} (n_samples={n_rows}) cannot tell the spread of "
            f"{plural(n_states, noun)}: take fewer, or give a prior ({USUAL_PRIOR})"
        )


def check_one_of(name: str, value: Any, known: tuple[str, ...]) -> None:
    """Refuse what is none of the words that a choice has."""
    if value not in known:
        raise JensenError(f"{name} must be one of {', '.join(known)}, not {value!r}")


def check_states(name: str, n: Any) -> int:
    """A number of states."""
    check_whole(name, n, at_least=1)
    return int(n)


def best_states(values: Array) -> NDArray[np.intp]:
    """The most probable state of every row (n, K); -1 where there is no answer."""
    lost = np.isnan(values[:, 0])
    return np.where(lost, -1, np.where(lost[:, None], 0.0, values).argmax(1))


def refuse_impossible(lost: NDArray[np.bool_], impossible: str, noun: str = "row") -> None:
    """Unless rows, or sequences, of probability 0 may go without an answer."""
    check_impossible(impossible)
    if impossible == "nan" or not lost.any():
        return
    numbers = np.flatnonzero(lost) + 1
    raise ImpossibleError(
        f"{plural(len(numbers), noun)} cannot occur ({some(numbers)}), having probability 0 under "
        f"this model: correct the data, learn with a prior, which leaves nothing impossible, or "
        f"pass {option('impossible', 'nan')}"
    )


def check_impossible(impossible: str) -> None:
    """Refuse what is no choice, also where nothing is impossible."""
    if impossible not in ("raise", "nan"):
        raise JensenError(f"impossible must be 'raise' or 'nan', not {impossible!r}")


PARAMETERS = 24
"""So many copies of all parameters: prior, posterior, statistics of units, starts, factors."""
STARTS = 3
"""So many numbers for each state and row from which a start is made."""


def check_state_memory(n_states: int, n_parameters: float, rows: NumberRows, noun: str) -> None:
    """Refuse more states than there is room for; `n_parameters` are those of all states."""
    started = STARTS * float(n_states) * min(rows.n_rows, LOOKED_AT)
    held = rows.n_rows if rows.is_kept else 0
    encoded = 2.0 * held * rows.n_columns + 4.0 * max(ENTRIES, 64 * n_states)
    check_memory(
        8.0 * (PARAMETERS * n_parameters + started + encoded),
        lambda: (
            f"learning {plural(n_states, noun)} ({n_parameters:.3g} parameters) from "
            f"{plural(rows.n_rows, 'row')}"
        ),
        f"choose fewer {noun}s" if noun != "class" else "choose fewer classes",
    )
