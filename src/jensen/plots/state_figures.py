"""Figures of what is hidden: clusters as ellipses, paths of states, loadings, what comes next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jensen.estimators.arrays import read_matrix
from jensen.estimators.chain_questions import ChainQuestions
from jensen.estimators.states_summary import column_names
from jensen.exceptions import JensenError
from jensen.inference.regression import check_level
from jensen.models.state_labels import live_states
from jensen.plots.figures import matplotlib_part, new_axes
from jensen.support.text import offer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from jensen.estimators.binary_factors import BinaryFactors
    from jensen.estimators.factor_analysis import FactorAnalysis
    from jensen.estimators.factor_mixture import MixtureOfFactorAnalyzers
    from jensen.estimators.gaussian_mixture import GaussianMixture
    from jensen.estimators.hidden_markov_model import HiddenMarkovModel
    from jensen.inference.forecasts import Forecast


def forecast(
    ahead: Forecast,
    rows: Any = None,
    *,
    sequence: int = 0,
    column: int | str = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw what comes after a sequence: expected values with their interval, or probabilities.

    Parameters
    ----------
    ahead
        What `forecast` of a hidden Markov model answered; with `interval` there is a band, with
        `draws` a thin line for each.
    rows
        The rows up to now, or the values of this column alone, which are drawn before step 1.
    sequence, column
        Which sequence, counted from 0, and which column.
    ax
        Where to draw; a new figure, `ax.figure`, if None.

    Examples
    --------
    >>> import jensen as jn
    >>> model = jn.HiddenMarkovModel(2, random_state=0).fit([0.1, 0.3, 5.2, 5.1, 0.2, 0.4, 5.6])
    >>> ahead = model.forecast([0.1, 0.3, 5.2], h=5, interval=0.9)
    >>> forecast(ahead, [0.1, 0.3, 5.2]).figure.savefig("ahead.png")  # doctest: +SKIP
    """
    d = _column(column, ahead.names)
    if not 0 <= sequence < len(ahead.states):
        raise JensenError(f"there is no sequence {sequence}: there are {len(ahead.states)}, from 0")
    ticker = matplotlib_part("ticker")
    ax = new_axes((6.0, 3.2)) if ax is None else ax
    steps = np.arange(1, ahead.states.shape[1] + 1)
    at = sum(max(1, len(labels)) for labels in ahead.labels[:d])
    labels = ahead.labels[d]
    if len(labels) > 1:
        shares = ahead.expected[sequence, :, at : at + len(labels)]
        below = np.zeros(len(steps))
        for k, label in enumerate(labels):
            ax.bar(steps, shares[:, k], bottom=below, label=label, width=0.9)
            below = below + shares[:, k]
        ax.legend(title=ahead.names[d], loc="center left", bbox_to_anchor=(1.0, 0.5))
        ax.set_ylabel("probability")
    else:
        if ahead.draws is not None:
            ax.plot(steps, ahead.draws[sequence, :, :, d].T, color="C0", alpha=0.15, linewidth=0.7)
        if ahead.low is not None and ahead.high is not None:
            band = ahead.low[sequence, :, d], ahead.high[sequence, :, d]
            ax.fill_between(steps, *band, alpha=0.25, label=f"{100 * (ahead.level or 0):g}%")
        ax.plot(steps, ahead.expected[sequence, :, at], marker="o", markersize=3, label="expected")
        if rows is not None:
            seen = _seen(rows, ahead.names[d], d)
            ax.plot(np.arange(1 - len(seen), 1), seen, color="0.3", marker=".", label="seen")
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        ax.set_ylabel(f"P({ahead.names[d]}={labels[0]})" if labels else ahead.names[d])
    ax.set_xlabel("step")
    ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
    return ax


def states(
    model: HiddenMarkovModel,
    X: Any,
    lengths: Any = None,
    *,
    sequence: int = 0,
    column: int | str = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw a column of a sequence, and behind it the most probable path of states.

    After "gibbs", which has many parameters, the most probable state of every step instead.

    Parameters
    ----------
    model
        A fitted hidden Markov model.
    X, lengths
        Sequences as in `fit`.
    sequence, column
        Which sequence, counted from 0, and which column.
    ax
        Where to draw; a new figure, `ax.figure`, if None.
    """
    steps = model.read_steps(X, lengths)
    if not 0 <= sequence < len(steps.lengths):
        raise JensenError(
            f"there is no sequence {sequence}: there are {len(steps.lengths)}, from 0"
        )
    names = column_names(model)
    d = _column(column, names)
    is_sampled = model.require_fitted().samples is not None
    path = (model.predict if is_sampled else model.decode)(X, lengths)
    start = int(steps.lengths[:sequence].sum())
    rows = slice(start, start + int(steps.lengths[sequence]))
    path, values = path[rows], steps.values[rows, d]
    ax = new_axes((7.0, 3.0)) if ax is None else ax
    ends = np.append(np.flatnonzero(np.diff(path)) + 1, len(path))
    spans = {}
    for a, b in zip(np.append(0, ends[:-1]).tolist(), ends.tolist(), strict=True):
        k = int(path[a])
        spans[k] = ax.axvspan(a + 0.5, b + 0.5, color=f"C{k % 10}", alpha=0.3, linewidth=0)
    ax.plot(np.arange(1, len(path) + 1), values, color="0.2", marker=".", linewidth=0.8)
    if model.variables_ is not None:
        labels = model.variables_[d].states
        ax.set_yticks(range(len(labels)), labels)
    ax.set_xlim(0.5, len(path) + 0.5)
    ax.set_xlabel("step")
    ax.set_ylabel(names[d])
    live = sorted(spans)
    ax.legend([spans[k] for k in live], [f"state {k}" for k in live], loc="center left",
              bbox_to_anchor=(1.0, 0.5))  # fmt: skip
    return ax


def clusters(
    model: GaussianMixture | HiddenMarkovModel | MixtureOfFactorAnalyzers,
    X: Any = None,
    *,
    columns: Sequence[int | str] = (0, 1),
    level: float = 0.9,
    ax: Axes | None = None,
) -> Axes:
    """Draw the Gaussian of every live component or state as an ellipse over two columns.

    Of factor analysers the live loadings are drawn too, as lines from each mean.

    Parameters
    ----------
    model
        A fitted `GaussianMixture`, a `HiddenMarkovModel` of Gaussians or a
        `MixtureOfFactorAnalyzers`, with two columns or more.
    X
        Rows to draw too, each in the colour of its most probable component.
    columns
        Two columns, by number or name.
    level
        The probability inside an ellipse.
    ax
        Where to draw; a new figure, `ax.figure`, if None.
    """
    check_level(level)
    fitted = model.require_fitted()
    if not hasattr(model, "means_") or model.means_.shape[1] < 2:
        raise JensenError(
            f"clusters are drawn over two columns of Gaussians, and this {type(model).__name__} "
            f"has {'one' if hasattr(model, 'means_') else 'none'}"
        )
    names = column_names(model)
    if isinstance(columns, str) or len(columns) != 2:
        raise JensenError(
            f"clusters are drawn over two columns, as columns=(0, 1), not {columns!r}"
        )
    at = [_column(one, names) for one in columns]
    means, spread = model.means_[:, at], _covariances(model)[:, at][:, :, at]
    ax = new_axes((4.6, 4.0)) if ax is None else ax
    if X is not None:
        is_chain = isinstance(model, ChainQuestions)
        values = (
            model.read_steps(X, None).values if is_chain else read_matrix(model, X, reset=False)
        )
        own, values = model.predict(X), values[:, at]
        ax.scatter(values[:, 0], values[:, 1], s=8, c=[f"C{k % 10}" for k in own], linewidths=0)
    angles = np.linspace(0.0, 2.0 * np.pi, 201)
    circle = np.sqrt(-2.0 * np.log1p(-level)) * np.stack([np.cos(angles), np.sin(angles)])
    for k in np.flatnonzero(live_states(fitted.counts)):
        ring = means[k][:, None] + np.linalg.cholesky(spread[k]) @ circle
        ax.plot(*ring, color=f"C{k % 10}", linewidth=1.6)
        for way in _directions(model, int(k))[at].T:
            ax.plot(*np.stack([means[k] - way, means[k] + way]).T, color=f"C{k % 10}")
        behind = {"boxstyle": "round,pad=0.15", "facecolor": "white", "alpha": 0.75, "linewidth": 0}
        ax.annotate(str(k), means[k], ha="center", va="center", bbox=behind)
    ax.set_xlabel(names[at[0]])
    ax.set_ylabel(names[at[1]])
    ax.set_title(f"{100 * level:g}% of each {model.noun}", fontsize="medium")
    return ax


def loadings(
    model: FactorAnalysis | BinaryFactors | MixtureOfFactorAnalyzers,
    *,
    component: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the loadings of every column on every live factor, as a table of colours.

    Parameters
    ----------
    model
        A fitted model of factors.
    component
        Of which component of a mixture, counted from 0.
    ax
        Where to draw; a new figure, `ax.figure`, if None.

    Examples
    --------
    >>> import numpy as np, jensen as jn
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(60, 1)) * [1.0, 2.0, -1.0] + 0.3 * rng.normal(size=(60, 3))
    >>> jn.plot.loadings(jn.FactorAnalysis(1).fit(x)).get_title()
    'loadings'
    """
    values = np.asarray(model.require_fitted().point.loadings)
    title = "loadings"
    if values.ndim == 3:
        if component is None or not 0 <= component < len(values):
            raise JensenError(
                f"say of which component the loadings are drawn: component=0 to {len(values) - 1}, "
                f"not {component!r}"
            )
        values, title = values[component], f"loadings of {model.noun} {component}"
    elif component is not None:
        raise JensenError(f"component={component!r}: only mixtures have components")
    live = np.flatnonzero((values != 0.0).any(0))
    if not len(live):
        raise JensenError("there is nothing to draw: no factor is left")
    values, names = values[:, live], column_names(model)
    words = 0.085 * max(len(name) for name in names)
    size = max(1.2, 0.42 * len(live)) + 1.6 + words, max(2.2, 1.0 + 0.24 * len(values))
    ax = new_axes(size) if ax is None else ax
    most = float(np.abs(values).max())
    image = ax.imshow(values, cmap="RdBu_r", vmin=-most, vmax=most, aspect="auto")
    ax.set_xticks(range(len(live)), [str(k) for k in live])
    ax.set_yticks(range(len(values)), names)
    ax.set_xlabel("factor")
    ax.set_title(title, fontsize="medium")
    ax.figure.colorbar(image, ax=ax, shrink=0.9)
    return ax


def _directions(model: Any, k: int) -> Any:
    """(D, live factors): the loadings of a component; none of other models."""
    if not hasattr(model, "dimensions_"):
        return np.empty((model.means_.shape[1], 0))
    own = np.asarray(model.loadings_[k])
    return own[:, (own != 0.0).any(0)]


def _covariances(model: Any) -> Any:
    """(K, D, D), whatever the form of the covariances."""
    if hasattr(model, "dimensions_"):
        return model.get_covariance()
    means, found = model.means_, np.asarray(model.covariances_)
    K, D = means.shape
    if model.covariance in ("full", "tied"):
        return np.broadcast_to(found, (K, D, D))
    return (
        np.eye(D) * np.broadcast_to(found if found.ndim == 2 else found[:, None], (K, D))[:, None]
    )


def _seen(rows: Any, name: str, d: int) -> Any:
    """The values of one column, of rows of all columns or of it alone."""
    if hasattr(rows, "columns"):
        rows = rows[name] if name in rows.columns else rows.to_numpy()
    values = np.asarray(rows, float)
    return values if values.ndim == 1 else values[:, d if values.shape[1] > 1 else 0]


def _column(chosen: int | str, names: Sequence[str]) -> int:
    """The number of a column that is given by its name or number."""
    if isinstance(chosen, str):
        if chosen not in names:
            raise JensenError(f"there is no column {chosen!r}; {offer(chosen, names, 'column')}")
        return list(names).index(chosen)
    if not 0 <= chosen < len(names):
        raise JensenError(f"there is no column {chosen}: there are {len(names)}, from 0")
    return int(chosen)
