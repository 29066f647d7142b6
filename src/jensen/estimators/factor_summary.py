"""A fitted factor analysis, or binary factors, on one page of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jensen.estimators.arrays import names_of
from jensen.estimators.summary import Summary, algorithm_of, learning
from jensen.support.text import grid, plural

if TYPE_CHECKING:
    from jensen.estimators.factor_estimator import FactorEstimator

MOST_FACTORS = 8
MOST_ROWS = 40
"""What fits on a page; the attributes hold all of it."""


def summarise_factors(model: FactorEstimator) -> Summary:
    """What was learned and how, and the loadings, one column for each factor."""
    fitted = model.require_fitted()
    D, K = fitted.point.loadings.shape
    parts = [plural(K, "factor"), plural(D, "column")]
    if hasattr(model, "noise"):
        parts.append(f"{model.noise} noise")
    parts.append(plural(model.n_parameters, "free parameter"))
    head = [f"{type(model).__name__}({', '.join(parts)})"]
    head += [f"{algorithm_of(model).name}: {text}" for text in learning(model)]
    if fitted.n_live is not None:
        verb = "lives" if model.n_factors_ == 1 else "live"
        head.append(f"{model.n_factors_} of {plural(K, 'factor')} {verb}")
    return Summary("\n".join(head) + f"\n\n{_table(model)}")


def _table(model: Any) -> str:
    """The loadings, and what else there is of columns or factors."""
    point = model.require_fitted().point
    D, K = point.loadings.shape
    shown, names = min(K, MOST_FACTORS), names_of(model, D)
    own = {"mean": point.mean, "noise": point.noise} if hasattr(point, "mean") else {}
    lines = [["factor", *map(str, range(shown)), *own]]
    if not own:
        lines.append(["on", *(f"{x:.4g}" for x in point.on[:shown])])
    for d, name in enumerate(names[:MOST_ROWS]):
        numbers = [*point.loadings[d, :shown], *(part[d] for part in own.values())]
        lines.append([name, *(f"{x:.4g}" for x in numbers)])
    notes = [] if own else [f"variance of the noise: {float(point.noise):.4g}"]
    if shown < K:
        notes.append(f"... and {plural(K - shown, 'factor')} more")
    if len(names) > MOST_ROWS:
        notes.append(f"... and {plural(len(names) - MOST_ROWS, 'column')} more")
    return "\n".join([grid(lines, left=1, rule=True), *notes])
