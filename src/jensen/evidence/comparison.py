"""Models compared by their evidence: a table of all methods, and the posterior over the models."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jensen.evidence.methods import METHODS, log_evidence
from jensen.evidence.record import WORKS, Evidence, shown
from jensen.exceptions import JensenError
from jensen.support.text import grid, keyword, offer

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Comparison:
    """Evidences of several models; prints as a table.

    Attributes
    ----------
    evidences : dict
        Model → method → `Evidence`; a method that a model refuses is absent.
    refusals : dict
        (model, method) → why it was refused.
    methods : tuple of str
        In the order asked for.
    """

    evidences: dict[str, dict[str, Evidence]]
    refusals: dict[tuple[str, str], str]
    methods: tuple[str, ...]

    def probabilities(self, method: str | None = None) -> dict[str, float]:
        """P(model | table) by one method (the first), all models being as probable beforehand."""
        method = self._known(method)
        if any(method not in own for own in self.evidences.values()):
            lost = [name for name, own in self.evidences.items() if method not in own]
            raise JensenError(f"{method!r} gave no evidence of {lost[0]!r}: {self._why(method)}")
        values = {name: own[method].value for name, own in self.evidences.items()}
        top = max(values.values())
        total = sum(math.exp(value - top) for value in values.values())
        return {name: math.exp(value - top) / total for name, value in values.items()}

    def best(self, method: str | None = None) -> str:
        """The model with the highest evidence."""
        found = self.probabilities(method)
        return max(found, key=lambda name: found[name])

    def _known(self, method: str | None) -> str:
        if method is None:
            return self.methods[0]
        if method not in self.methods:
            raise JensenError(
                f"not compared by {method!r}: {offer(method, self.methods, 'method')}"
            )
        return method

    def _why(self, method: str) -> str:
        return next(text for (_, other), text in self.refusals.items() if other == method)

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each model and method."""
        import pandas as pd

        rows = [
            (name, method, one.value, one.kind, one.standard_error, one.seconds)
            for name, own in self.evidences.items()
            for method, one in own.items()
        ]
        names = ["model", "method", "log_evidence", "kind", "standard_error", "seconds"]
        return pd.DataFrame(rows, columns=names)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the evidences of all models, each method a line."""
        from jensen.plots.figures import evidences

        return evidences(self, ax)

    def __repr__(self) -> str:
        usable = [m for m in self.methods if all(m in own for own in self.evidences.values())]
        ks = {n: own["vb"].pareto_k if "vb" in own else None for n, own in self.evidences.items()}
        has_k = any(k is not None for k in ks.values())
        head = ["model", *self.methods, *(["k of vb"] if has_k else [])]
        rows = [[*head, *(f"P by {m}" for m in usable)]]
        shares = {method: self.probabilities(method) for method in usable}
        for name, own in self.evidences.items():
            cells = [_cell(own.get(method)) for method in self.methods]
            if has_k:
                cells.append("" if ks[name] is None else f"{ks[name]:.2f}")
            rows.append([name, *cells, *(f"{shares[m][name]:.4f}" for m in usable)])
        notes = [_kind_of(self, method) for method in self.methods]
        notes += [f"{name}, {method}: {why}" for (name, method), why in self.refusals.items()]
        if any(k is not None and k > WORKS for k in ks.values()):
            notes.append("k above 0.7: how far the bound is below the evidence is not known")
        return "\n".join([grid(rows, left=1, rule=True), *notes])


def _cell(one: Evidence | None) -> str:
    if one is None:
        return "refused"
    error = "" if one.standard_error is None else f" ± {one.standard_error:.2g}"
    return shown(one.value) + error


def _kind_of(found: Comparison, method: str) -> str:
    kinds = {own[method].kind: None for own in found.evidences.values() if method in own}
    return f"{method}: {' or '.join(kinds)}" if kinds else f"{method}: refused by every model"


def compare(
    models: Mapping[str, Any],
    table: Any,
    methods: Sequence[str] = ("vb",),
    *,
    random_state: Any = None,
    progress: bool = False,
    **choices: Any,
) -> Comparison:
    """Find the evidence of several models by one or several methods, side by side.

    Bounds may rank models wrongly on few rows, each lying below its evidence by a gap of its own;
    so beside "vb" stands Pareto's k̂ of that gap (`bound_gap`), and an estimate ("ais", "smc",
    "bridge") beside a bound is a second opinion.

    Parameters
    ----------
    models
        Name → model, as in `log_evidence`.
    table
        The rows.
    methods
        Any of those of `log_evidence`; the first one ranks unless another is asked.
    random_state
        An int, `SeedSequence`, `Generator` or None: that of each model.
    progress
        Whether to show progress bars.
    **choices
        Passed on to `fit`, such as `lengths` or `sample_weight`.

    Returns
    -------
    Comparison
        With `probabilities(method)`, `best(method)`, `to_pandas()` and `plot()`.

    Examples
    --------
    >>> import jensen as jn
    >>> rows = {"a": ["0", "1", "1", "0", "1", "1"], "b": ["0", "1", "1", "0", "1", "0"]}
    >>> graphs = {"joined": "a -> b", "apart": "a; b"}
    >>> models = {name: jn.BayesianNetwork(g, prior="bdeu") for name, g in graphs.items()}
    >>> jn.compare(models, rows, ["exact"]).best()
    'joined'
    """
    if not isinstance(models, Mapping) or not models:
        raise JensenError(f"{keyword('models')} must be a dict, name → model, and not empty")
    methods = (methods,) if isinstance(methods, str) else tuple(methods)
    for method in methods or ("",):
        if method not in METHODS:
            raise JensenError(f"there is no method {method!r}: {offer(method, METHODS, 'method')}")
    evidences: dict[str, dict[str, Evidence]] = {}
    refusals: dict[tuple[str, str], str] = {}
    told = {"random_state": random_state, "progress": progress, **choices}
    for name, model in models.items():
        own = evidences[str(name)] = {}
        for method in methods:
            try:
                own[method] = log_evidence(model, table, method, **told)
            except JensenError as error:
                refusals[str(name), method] = str(error)
    if not any(evidences.values()):
        raise JensenError(
            f"no model has an evidence by these methods: {next(iter(refusals.values()))}"
        )
    return Comparison(evidences, refusals, methods)
