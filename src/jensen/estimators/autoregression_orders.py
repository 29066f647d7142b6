"""The order of an autoregression without measurement noise, by exact evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from jensen.estimators.sequences import join_sequences, read_lengths
from jensen.exceptions import DataError, JensenError
from jensen.families import linear_regression, log_evidence
from jensen.families.linear_regression import Regression
from jensen.support.arguments import check_whole, is_real
from jensen.support.text import grid, plural

Array = NDArray[np.float64]

INTERCEPT = 0.01
"""The strength of the prior of the intercept, in rows."""


@dataclass(frozen=True, eq=False)
class OrderChoice:
    """The evidence of every order; it prints as a table.

    Attributes
    ----------
    log_evidence : array
        Log p(the values after the first max_order | the first, order), for orders 0, 1, ...
    probability : array
        Of each order, if all were equally probable before.
    best : int
        The order of the largest evidence.
    coefficients : list of arrays
        Posterior means of the coefficients of each order, the last value first.
    n_values : int
        How many values were explained.
    """

    log_evidence: Array
    probability: Array
    best: int
    coefficients: list[Array]
    n_values: int

    def __repr__(self) -> str:
        lines = [["order", "log evidence", "probability"]]
        for k, (value, share) in enumerate(zip(self.log_evidence, self.probability, strict=True)):
            lines.append([str(k), f"{value:.4f}", f"{share:.4f}"])
        head = f"order {self.best} has the largest evidence, of {plural(self.n_values, 'value')}"
        return f"{head}\n{grid(lines, left=0, rule=True)}"


def choose_order(
    X: Any, max_order: int = 8, *, lengths: Any = None, strength: float = 1.0
) -> OrderChoice:
    """Compare orders of an autoregression y_t = b + Σ a_k y_{t-k} + noise by exact evidence.

    Without measurement noise an autoregression is a regression, whose evidence has a closed form.
    All orders explain the same values: those with max_order known values before them.

    Parameters
    ----------
    X
        A sequence of numbers, one column; NaN is missing. Or a list of sequences.
    max_order
        The largest order.
    lengths
        Steps of each sequence; None: one sequence.
    strength
        Of the prior: coefficients are N(0, σ² / strength) in units of the deviation of the values,
        σ² being the variance of the noise, whose inverse is Gamma(1, rate 1/2).

    References
    ----------
    Bishop (2006), *Pattern Recognition and Machine Learning*, exercise 3.23.

    Examples
    --------
    >>> import numpy as np, jensen as jn
    >>> rng, y = np.random.default_rng(0), np.zeros(300)
    >>> for t in range(2, 300):
    ...     y[t] = 0.5 * y[t - 1] - 0.7 * y[t - 2] + rng.normal()
    >>> jn.choose_order(y, 5).best
    2
    """
    check_whole("max_order", max_order, at_least=0)
    if not is_real(strength) or not 0.0 < strength < np.inf:
        raise JensenError(f"strength must be a number above 0, not {strength!r:.40}")
    values, lags = _lagged(X, int(max_order), lengths)
    n, mean, deviation = len(values), float(values.mean()), float(values.std())
    if not deviation > 0.0:
        raise DataError("the values do not vary: there is nothing to explain")
    y, z = (values - mean) / deviation, (lags - mean) / deviation
    constant = -n * (0.5 * np.log(2.0 * np.pi) + np.log(deviation))
    found, coefficients = [], []
    for order in range(int(max_order) + 1):
        x = np.column_stack([np.ones(n), z[:, :order]])
        prior = _prior(order, float(strength))
        stats = Regression(np.array([float(n)]), np.array([y @ y]), (y @ x)[None], (x.T @ x)[None])
        found.append(log_evidence(linear_regression, prior, stats) + constant)
        eta = Regression(*(a + b for a, b in zip(prior, stats, strict=True)))
        coefficients.append(linear_regression.to_standard(eta).coefficients[0, 1:])
    evidence = np.array(found)
    share = np.exp(evidence - logsumexp(evidence))
    return OrderChoice(evidence, share, int(evidence.argmax()), coefficients, n)


def _prior(order: int, strength: float) -> Regression:
    precision = np.diag([INTERCEPT, *[strength] * order])
    nothing = np.zeros((1, 1 + order))
    return linear_regression.from_standard(
        nothing, precision[None], np.array([2.0]), np.array([1.0])
    )


def _lagged(X: Any, most: int, lengths: Any) -> tuple[Array, Array]:
    """Values, and those before each; only where all are known."""
    X, lengths = join_sequences(X, lengths)
    try:
        values = np.asarray(X, np.float64)
    except (TypeError, ValueError):
        raise DataError("X must be a sequence of numbers, or a list of such") from None
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or np.isinf(values).any():
        raise DataError("X must be one column of finite numbers, NaN where they are missing")
    parts = np.split(values, np.cumsum(read_lengths(lengths, len(values)))[:-1])
    windows = [
        np.lib.stride_tricks.sliding_window_view(part, most + 1)[:, ::-1]
        for part in parts
        if len(part) > most
    ]
    rows = np.concatenate([np.empty((0, most + 1)), *windows])
    rows = rows[~np.isnan(rows).any(1)]
    if len(rows) < 2:
        raise DataError(
            f"{plural(len(rows), 'value')} with {plural(most, 'known value')} before it: give a "
            f"longer sequence, or a smaller max_order"
        )
    return rows[:, 0], rows[:, 1:]
