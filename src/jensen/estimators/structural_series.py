"""Ready-made linear dynamical systems of one output: levels, trends, seasons, autoregressions."""

from __future__ import annotations

from typing import Any

import numpy as np

from jensen.estimators.linear_dynamics import LinearDynamicalSystem
from jensen.exceptions import JensenError
from jensen.support.arguments import check_whole

NAN = float("nan")


def local_level(**choices: Any) -> LinearDynamicalSystem:
    """A level that wanders: y_t = level_t + noise, level_t = level_{t-1} + noise.

    Parameters
    ----------
    choices
        Those of `LinearDynamicalSystem`, such as `initial`; by default the start is diffuse.

    References
    ----------
    Durbin and Koopman (2012), *Time Series Analysis by State Space Methods*, chapter 2.

    Examples
    --------
    >>> import jensen as jn
    >>> model = jn.local_level(tol=1e-5).fit([10.0, 10.5, 9.8, 11.0, 11.2, 10.9, 11.5])
    >>> bool(model.process_covariance_[0, 0] > 0)
    True
    """
    return _system([[1.0]], [[1.0]], [[NAN]], choices)


def local_trend(*, fixed_slope: bool = False, **choices: Any) -> LinearDynamicalSystem:
    """A level that wanders with a slope that wanders, or with one that stays (`fixed_slope`).

    State 0 is the level, state 1 the slope. A slope that stays has noise of variance 0.

    Examples
    --------
    >>> import jensen as jn
    >>> y = [1.0, 2.5, 2.4, 4.6, 4.3, 6.8, 6.5, 8.6, 8.4]
    >>> model = jn.local_trend(fixed_slope=True, tol=1e-2).fit(y)
    >>> bool(0.8 < model.forecast(y).states[0, 0, 1] < 1.1)
    True
    """
    process = [[NAN, 0.0], [0.0, 0.0 if fixed_slope else NAN]]
    return _system([[1.0, 1.0], [0.0, 1.0]], [[1.0, 0.0]], process, choices)


def seasonal(period: int, *, trend: str | None = "level", **choices: Any) -> LinearDynamicalSystem:
    """A season of so many steps, whose pattern wanders, on a level or a trend.

    Parameters
    ----------
    period
        Steps of a season: 12 for months. The effects of a season sum to 0, but for noise.
    trend
        "level", "trend", "fixed-slope", or None: nothing besides.
    choices
        As in `local_level`.

    Examples
    --------
    >>> import jensen as jn
    >>> y = [1.0, 2.0, 3.0, 4.0, 1.2, 2.1, 2.9, 4.1, 0.9, 2.2, 3.1, 3.8, 1.1, 1.9]
    >>> model = jn.seasonal(4, tol=1e-3).fit(y)
    >>> model.forecast(y, h=2).expected.round().ravel().tolist()
    [3.0, 4.0]
    """
    check_whole("period", period, at_least=2)
    n = int(period) - 1
    season = np.eye(n, k=-1)
    season[0] = -1.0
    noise = np.zeros((n, n))
    noise[0, 0] = NAN
    trends: dict[str | None, tuple[Any, list[float]]] = {
        None: (np.zeros((0, 0)), []),
        "level": ([[1.0]], [NAN]),
        "trend": ([[1.0, 1.0], [0.0, 1.0]], [NAN, NAN]),
        "fixed-slope": ([[1.0, 1.0], [0.0, 1.0]], [NAN, 0.0]),
    }
    if trend not in trends:
        raise JensenError(
            f"trend must be 'level', 'trend', 'fixed-slope' or None, not {trend!r:.40}"
        )
    first, variances = trends[trend]
    k = len(variances)
    transition, process = np.zeros((k + n, k + n)), np.zeros((k + n, k + n))
    transition[:k, :k], transition[k:, k:] = first, season
    process[range(k), range(k)], process[k:, k:] = variances, noise
    loadings = np.zeros((1, k + n))
    loadings[0, 0], loadings[0, k] = 1.0, 1.0
    return _system(transition, loadings, process, choices)


def autoregression(
    order: int, *, measurement_noise: bool = True, **choices: Any
) -> LinearDynamicalSystem:
    """An autoregression of this order, seen with noise or exactly: AR(p).

    State 0 is the value, the others are those before it; values before the first are N(0, v), v
    the variance of the outputs, from which the mean should be taken. Without measurement noise
    and missing values it is a regression: `choose_order` compares orders by exact evidence.

    Examples
    --------
    >>> import jensen as jn
    >>> y = [0.0, 1.0, 0.4, -0.5, -0.6, 0.2, 0.7, 0.1, -0.4, -0.3, 0.3, 0.4]
    >>> model = jn.autoregression(2, measurement_noise=False, tol=1e-4).fit(y)
    >>> model.transition_[0].round(1).tolist()
    [0.4, -0.8]
    """
    check_whole("order", order, at_least=1)
    p = int(order)
    transition, process = np.eye(p, k=-1), np.zeros((p, p))
    transition[0], process[0, 0] = NAN, NAN
    loadings = np.zeros((1, p))
    loadings[0, 0] = 1.0
    noise = {} if measurement_noise else {"noise_covariance": [[0.0]]}
    choices = {"initial": "spread", **choices}
    return _system(transition, loadings, process, choices, **noise)


def _system(
    transition: Any, loadings: Any, process: Any, choices: dict[str, Any], **more: Any
) -> LinearDynamicalSystem:
    """The system, its start diffuse unless the choices say something else."""
    held = {
        "transition": np.asarray(transition, float),
        "loadings": np.asarray(loadings, float),
        "offset": np.zeros(1),
        "process_covariance": np.asarray(process, float),
        **more,
    }
    given = choices.get("fixed") or {}
    choices = {"initial": "diffuse", **choices, "fixed": {**held, **given}}
    return LinearDynamicalSystem(len(held["transition"]), **choices)
