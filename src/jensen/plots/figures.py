"""Figures for reports, with matplotlib if it is installed; nothing of pyplot is touched."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from jensen.exceptions import JensenError
from jensen.plots.markup import show_share

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from jensen.estimators.bayesian_network import BayesianNetwork
    from jensen.estimators.bayesian_regression import BayesianRegression
    from jensen.estimators.choosing import ComponentsChoice
    from jensen.evidence.comparison import Comparison
    from jensen.inference.network import Network
    from jensen.q_graph.posterior.convergence import Convergence

MOST_NUMBERS = 150  # cells up to which the numbers are written
MOST_TICKS = 60


def trace(fit: Any, ax: Axes | None = None) -> Axes:
    """Draw F at the start and after every sweep; of chains the log joint at every sample.

    Parameters
    ----------
    fit
        Anything with a `trace_`, such as a fitted `BayesianNetwork`.
    ax
        Where to draw; a new figure, `ax.figure`, if None.

    Examples
    --------
    >>> import jensen as jn
    >>> net = jn.BayesianNetwork("x").fit({"x": ["no", "yes", "yes"]})
    >>> trace(net).figure.savefig("trace.png")  # doctest: +SKIP
    """
    values = getattr(fit, "trace_", None)
    if values is None:
        raise JensenError(f"this {type(fit).__name__} has no trace_ to draw: call fit(table) first")
    ticker = matplotlib_part("ticker")
    ax = new_axes((5.0, 3.2)) if ax is None else ax
    is_chain = np.ndim(values) == 2
    lines = np.atleast_2d(values)  # a line per chain
    sweeps = np.arange(lines.shape[1])
    marker, width = ("o", 1.5) if len(sweeps) <= 30 else ("", 0.8 if is_chain else 1.5)
    ax.plot(sweeps, lines.T, marker=marker, markersize=3, linewidth=width)
    ax.set_xlabel("sample" if is_chain else "sweep")
    ax.set_ylabel("log joint" if is_chain else "F")
    ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
    if is_chain:
        ax.set_title(f"R-hat {fit.r_hat_:.3f}")
    elif not getattr(fit, "converged_", True):
        ax.set_title("not converged")
    return ax


def components(choice: ComponentsChoice, ax: Axes | None = None) -> Axes:
    """Draw the bound (or estimate), or BIC, over the number of components; the best is marked.

    Parameters
    ----------
    choice
        What `jensen.choose_components` found.
    ax
        Where to draw; a new figure, `ax.figure`, if None.
    """
    ticker = matplotlib_part("ticker")
    ax = new_axes((5.0, 3.2)) if ax is None else ax
    ax.plot([c.n for c in choice.candidates], [c.value for c in choice.candidates], marker="o")
    ax.plot([choice.best.n], [choice.best.value], "o", markersize=11, fillstyle="none", color="C3")
    ax.set_xlabel("components")
    names = {"bound": "bound of the log evidence", "bic": "BIC"}
    ax.set_ylabel(names.get(choice.kind, "estimate of the log evidence (not a bound)"))
    ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
    return ax


def evidences(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Draw the log evidence of every model, a line for each method, with standard errors.

    Parameters
    ----------
    comparison
        What `jensen.compare` found.
    ax
        Where to draw; a new figure, `ax.figure`, if None.
    """
    ax = new_axes((5.0, 3.2)) if ax is None else ax
    names = list(comparison.evidences)
    for method in comparison.methods:
        found = [(i, own[method]) for i, own in enumerate(comparison.evidences.values())
                 if method in own]  # fmt: skip
        if found:
            errors = [one.standard_error or 0.0 for _, one in found]
            label = f"{method} ({found[0][1].kind})"
            at = [i for i, _ in found]
            ax.errorbar(at, [one.value for _, one in found], errors, marker="o", label=label)
    ax.set_xticks(range(len(names)), names)
    ax.set_ylabel("log evidence")
    ax.legend()
    return ax


def model_probabilities(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Draw how probable every model is, a bar for each method, and for other priors.

    Parameters
    ----------
    comparison
        What `jensen.compare` found.
    ax
        Where to draw; a new figure, `ax.figure`, if None.
    """
    ax = new_axes((5.0, 3.2)) if ax is None else ax
    names = list(comparison.evidences)
    usable = [m for m in comparison.methods if all(m in x for x in comparison.evidences.values())]
    shares = {method: comparison.probabilities(method) for method in usable}
    for times in comparison.strengths:
        label = f"{comparison.methods[0]}, prior x {times:g}"
        shares[label] = comparison.probabilities(strength=times)
    width = 0.8 / max(len(shares), 1)
    for j, (label, share) in enumerate(shares.items()):
        at = [i + (j - 0.5 * (len(shares) - 1)) * width for i in range(len(names))]
        ax.bar(at, [share[name] for name in names], width, label=label)
    ax.set_xticks(range(len(names)), names)
    ax.set_ylabel("probability given the rows")
    ax.legend()
    return ax


def degrees(model: BayesianRegression, ax: Axes | None = None) -> Axes:
    """Draw how probable every degree of a polynomial is, as bars.

    Parameters
    ----------
    model
        A fitted `jensen.BayesianRegression`.
    ax
        Where to draw; a new figure, `ax.figure`, if None.
    """
    ax = new_axes((5.0, 3.2)) if ax is None else ax
    names = ["features" if one.degree is None else str(one.degree) for one in model.evidences_]
    ax.bar(names, [one.probability for one in model.evidences_])
    ax.set_xlabel("degree")
    ax.set_ylabel("probability given the points")
    return ax


def cpt(net: BayesianNetwork | Network, name: str, ax: Axes | None = None) -> Axes:
    """Draw P(name | parents) as a heat map: a row per configuration of the parents.

    Parameters
    ----------
    net
        A network with tables.
    name
        The variable.
    ax
        Where to draw; a new figure, `ax.figure`, if None.

    Examples
    --------
    >>> import jensen as jn
    >>> net = jn.examples.load("sprinkler")
    >>> cpt(net, "wet_grass").figure.savefig("wet_grass.png")  # doctest: +SKIP
    """
    table = net.cpt(name)
    states, parents = table.variable.states, [parent.name for parent in table.parents]
    values = table.values.reshape(-1, len(states))
    if ax is None:
        widest = max(map(len, states))
        width = 2.5 + max(0.7, 0.11 * widest) * len(states)
        ax = new_axes((width, min(1.2 + 0.32 * len(values), 18.0)))
    image = ax.imshow(values, vmin=0.0, vmax=1.0, cmap="Blues", aspect="auto")
    step = -(-len(values) // MOST_TICKS)
    labels = [", ".join(labels) for labels, _ in table.rows()]
    ax.set_yticks(range(0, len(values), step), labels[::step])
    ax.set_xticks(range(len(states)), states)
    ax.set_xlabel(name)
    ax.set_ylabel(", ".join(parents))
    if values.size <= MOST_NUMBERS:
        _write_numbers(ax, values)
    else:
        ax.figure.colorbar(image, ax=ax)
    return ax


def log_scores(chains: Convergence, ax: Axes | None = None) -> Axes:
    """Draw the log score of the samples of every chain over graphs.

    Parameters
    ----------
    chains
        `post.convergence` of a posterior over graphs.
    ax
        Where to draw; a new figure, `ax.figure`, if None.
    """
    ax = new_axes((5.0, 3.2)) if ax is None else ax
    ax.plot(chains.samples.states.T, linewidth=0.8)
    ax.set_xlabel("sample")
    ax.set_ylabel("log score")
    ax.set_title(f"R-hat {chains.r_hat:.3f}")
    return ax


def agreement(chains: Convergence, ax: Axes | None = None) -> Axes:
    """Draw the edge probabilities of every chain over those of all chains together.

    Chains that agree have all points on the diagonal.

    Parameters
    ----------
    chains
        `post.convergence` of a posterior over graphs.
    ax
        Where to draw; a new figure, `ax.figure`, if None.
    """
    ax = new_axes((4.2, 4.0)) if ax is None else ax
    apart, edges = chains.agreement, ~np.eye(len(chains.names), dtype=bool)
    ax.plot([0.0, 1.0], [0.0, 1.0], color="0.7", linewidth=0.8)
    for k, matrix in enumerate(apart.by_chain):
        ax.plot(
            chains.edge_probabilities[edges],
            matrix[edges],
            "o",
            markersize=3,
            label=f"chain {k + 1}",
        )
    ax.set_xlabel("edge probability, all chains")
    ax.set_ylabel("edge probability, each chain")
    ax.set_title(f"largest difference {apart.largest:.3f}")
    ax.legend(fontsize="small")
    return ax


def _write_numbers(ax: Axes, values: Any) -> None:
    for (row, column), p in np.ndenumerate(values):
        colour = "white" if p > 0.6 else "black"
        ax.text(column, row, show_share(p), ha="center", va="center", color=colour)


def new_axes(size: tuple[float, float]) -> Axes:
    """Axes of a figure that pyplot does not know, so nothing has to be closed."""
    figure = matplotlib_part("figure").Figure(figsize=size, layout="constrained")
    axes: Axes = figure.subplots()
    return axes


def matplotlib_part(module: str) -> Any:
    """A module of matplotlib, or an error that says how it is installed."""
    try:
        return import_module(f"matplotlib.{module}")
    except ImportError:
        raise JensenError(
            "this figure needs matplotlib, which is not installed: pip install 'jensen[plot]'"
        ) from None
