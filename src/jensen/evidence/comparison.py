"""Models compared by their evidence: a table of all methods, and the posterior over the models."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jensen.evidence.held_out import HeldOut, predict_held_out
from jensen.evidence.methods import METHODS, log_evidence
from jensen.evidence.record import WORKS, Evidence, shown
from jensen.exceptions import JensenError
from jensen.support.text import grid, keyword, offer

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


STRENGTHS = (0.5, 2.0)


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
    held_out : dict
        Model → `HeldOut`: what it says of rows that it has not seen.
    strengths : dict
        Times the strength of the prior → model → log evidence by the first method.
    """

    evidences: dict[str, dict[str, Evidence]]
    refusals: dict[tuple[str, str], str]
    methods: tuple[str, ...]
    held_out: dict[str, HeldOut] = field(default_factory=dict)
    strengths: dict[float, dict[str, float]] = field(default_factory=dict)

    def probabilities(
        self, method: str | None = None, *, strength: float = 1.0
    ) -> dict[str, float]:
        """P(model | table) by one method (the first), all models being as probable beforehand.

        `strength` asks for those under priors so many times as strong, by the first method.
        """
        method = self._known(method)
        if strength != 1.0:
            return self._under(method, strength)
        if any(method not in own for own in self.evidences.values()):
            lost = [name for name, own in self.evidences.items() if method not in own]
            raise JensenError(f"{method!r} gave no evidence of {lost[0]!r}: {self._why(method)}")
        return _shares({name: own[method].value for name, own in self.evidences.items()})

    def _under(self, method: str, strength: float) -> dict[str, float]:
        if method != self.methods[0] or strength not in self.strengths:
            known = ", ".join(f"{times:g}" for times in (1.0, *self.strengths))
            raise JensenError(
                f"not compared by {method!r} under priors {strength:g} times as strong: "
                f"{self.methods[0]!r} was, with {known}"
            )
        return _shares(self.strengths[strength])

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
            (name, method, one.value, one.kind, one.standard_error, one.pareto_k, one.seconds)
            for name, own in self.evidences.items()
            for method, one in own.items()
        ]
        names = ["model", "method", "log_evidence", "kind", "standard_error", "pareto_k", "seconds"]
        return pd.DataFrame(rows, columns=names)

    def plot(self, ax: Axes | None = None, *, of: str = "evidence") -> Axes:
        """Draw all models: each method a line of evidences, or bars of probabilities.

        Parameters
        ----------
        ax
            Where to draw; a new figure, `ax.figure`, if None.
        of
            "evidence", or "probability": P(model | table) by every method that knows all models,
            and under the weaker and stronger priors.
        """
        from jensen.plots.figures import evidences, model_probabilities

        if of not in ("evidence", "probability"):
            raise JensenError(f"of must be 'evidence' or 'probability', not {of!r}")
        return evidences(self, ax) if of == "evidence" else model_probabilities(self, ax)

    def _notes(self) -> list[str]:
        """What the ranking under other priors says, and what new rows are."""
        found = []
        if self.held_out:
            found.append("per new row: log p of a row that was left out, and -log2 of it, in bits")
        if self.strengths:
            best = {max(own, key=own.__getitem__) for own in self.strengths.values()}
            if best == {self.best()}:
                found.append(f"{self.best()} is the best under priors of half and double strength")
            else:
                found.append("the ranking moves with the strength of the prior: it is the prior's")
        return found

    def __repr__(self) -> str:
        usable = [m for m in self.methods if all(m in own for own in self.evidences.values())]
        ks = {n: own["vb"].pareto_k if "vb" in own else None for n, own in self.evidences.items()}
        has_k = any(k is not None for k in ks.values())
        head = ["model", *self.methods, *(["k of vb"] if has_k else [])]
        shares = {f"P by {method}": self.probabilities(method) for method in usable}
        for times, values in self.strengths.items():
            shares[f"prior x {times:g}"] = _shares(values)
        unseen = ["per new row", "bits"] if self.held_out else []
        rows = [[*head, *shares, *unseen]]
        for name, own in self.evidences.items():
            cells = [_cell(own.get(method)) for method in self.methods]
            if has_k:
                cells.append("" if ks[name] is None else f"{ks[name]:.2f}")
            cells += [f"{share[name]:.4f}" for share in shares.values()]
            found = self.held_out.get(name)
            if unseen:
                cells += ["", ""] if found is None else [str(found), f"{found.bits:.4f}"]
            rows.append([name, *cells])
        notes = [_kind_of(self, method) for method in self.methods]
        notes += self._notes()
        notes += [f"{name}, {method}: {why}" for (name, method), why in self.refusals.items()]
        if any(k is not None and k > WORKS for k in ks.values()):
            notes.append("k above 0.7: how far the bound is below the evidence is not known")
        return "\n".join([grid(rows, left=1, rule=True), *notes])


def _shares(values: dict[str, float]) -> dict[str, float]:
    top = max(values.values())
    total = sum(math.exp(value - top) for value in values.values())
    return {name: math.exp(value - top) / total for name, value in values.items()}


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
    held_out: int = 5,
    sensitivity: bool = True,
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
    held_out
        Into how many parts the rows are cut, each of which is predicted after learning from the
        others: log p of a new row, and the same in bits of surprise; 0: not at all.
    sensitivity
        Whether the first method is asked again under priors of half and of double the strength:
        where the ranking moves, it is the prior's.
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
    strengths: dict[float, dict[str, float]] = {}
    if sensitivity and all(methods[0] in own for own in evidences.values()):
        try:
            for times in STRENGTHS:
                asked = {**told, "strength": times}
                strengths[times] = {
                    str(name): log_evidence(model, table, methods[0], **asked).value
                    for name, model in models.items()
                }
        except JensenError as error:
            strengths = {}
            refusals["all", "other strengths of the prior"] = str(error)
    unseen: dict[str, HeldOut] = {}
    for name, model in models.items() if held_out else ():
        try:
            unseen[str(name)] = predict_held_out(model, table, held_out, choices)
        except JensenError as error:
            refusals[str(name), "held out"] = str(error)
    return Comparison(evidences, refusals, methods, unseen, strengths)
