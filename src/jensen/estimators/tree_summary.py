"""A fitted mixture of trees on one page of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jensen.estimators.reports import Summary
from jensen.estimators.states_summary import MOST_ROWS, MOST_STATES, learning_of, lives
from jensen.models.emissions.trees import tree_tables
from jensen.support.text import grid, plural

if TYPE_CHECKING:
    from jensen.estimators.mixture_of_trees import MixtureOfTrees

Array = NDArray[np.float64]


def summarise_trees(trees: MixtureOfTrees) -> Summary:
    """What was learned and how, and the strongest edges of every tree."""
    fitted = trees.require_fitted()
    K = fitted.model.n_states
    shape = ", one structure" if trees.shared_structure and K > 1 else ""
    title = (
        f"{type(trees).__name__}({plural(K, trees.noun)}{shape}, "
        f"{plural(len(trees.variables_), 'column')}, "
        f"{plural(trees.n_parameters, 'free parameter')})"
    )
    head = [title, *learning_of(trees), *prior_of_trees(trees), lives(trees)]
    if trees.validation_score_ is not None:
        head.append(f"ended by other rows: mean log-likelihood {trees.validation_score_:.6f} there")
    return Summary("\n".join(head) + f"\n\n{_table(trees)}")


def prior_of_trees(trees: Any) -> list[str]:
    """Which prior a bound or a mode belongs to, in a line; none without one."""
    prior = {} if trees.prior is None and trees.require_fitted().has_posterior else trees.prior
    if prior is None:
        return []
    size = float(prior.get("equivalent_sample_size", 1.0))
    edges = ", edges weighted" if prior.get("edges") is not None else ""
    return [f"prior: equivalent_sample_size={size:g}{edges}"]


def _table(trees: MixtureOfTrees) -> str:
    """Edges as rows, components as columns: how much an edge tells there, in nats a row."""
    fitted, names = trees.require_fitted(), [v.name for v in trees.variables_]
    emission, t = fitted.model.emission, fitted.t.components
    K = fitted.model.n_states
    shown, margins = min(K, MOST_STATES), emission.margins(t)
    told: dict[tuple[str, str], list[float]] = {}
    for k in range(shown):
        for v, (u, table) in enumerate(tree_tables(emission, t, k)):
            if u >= 0:
                own = margins[k, emission.tables.at[u] : emission.tables.at[u + 1]]
                pair = (min(names[u], names[v]), max(names[u], names[v]))
                told.setdefault(pair, [np.nan] * shown)[k] = _information(own, table)
    order = sorted(told, key=lambda pair: (-np.nansum(told[pair]), pair))
    rows = [[trees.noun, *map(str, range(shown))]]
    rows.append(["weight", *(f"{w:.3f}" for w in trees.weights_[:shown])])
    rows.append(["rows", *(f"{n:,.1f}" for n in fitted.counts[:shown])])
    rows += [
        [" - ".join(pair), *("" if np.isnan(x) else f"{x:.3f}" for x in told[pair])]
        for pair in order[: MOST_ROWS - 3]
    ]
    notes = []
    if shown < K:
        notes.append(f"... and {plural(K - shown, trees.noun)} more")
    if len(order) > MOST_ROWS - 3:
        notes.append(f"... and {plural(len(order) - MOST_ROWS + 3, 'edge')} more")
    notes.append("edges: mutual information of two columns in a tree, in nats a row")
    return "\n".join([grid(rows, left=1, rule=True), *notes])


def _information(own: Array, table: Array) -> float:
    """I(parent; child) of a parent's probabilities and a child's table given it."""
    joint = own[:, None] * table
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(table / joint.sum(0))
    return float((joint * np.where(joint > 0.0, ratio, 0.0)).sum())
