"""Questions to a network of labels, answered approximately; each answer says what it is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.model_columns import warn_of_unknown
from jensen.exceptions import ImpossibleError, JensenError, TooLargeError
from jensen.inference.approximate.conditioned import NOTHING_KNOWN, condition
from jensen.inference.approximate.labels import EXACT, Label, LabelledArray, LabelledNumber, joined
from jensen.inference.approximate.maximum import Maximum
from jensen.inference.approximate.methods import (
    DEFAULT_OPTIONS,
    METHODS,
    Beliefs,
    InferenceOptions,
    bracket,
    check_word,
    constant,
    shares_between,
)
from jensen.inference.distribution import Distribution, Interval
from jensen.inference.findings import Findings, read_findings
from jensen.inference.fitted import DEFAULTS, RowChoices
from jensen.inference.most_probable import Assignment, AssignmentSearch
from jensen.inference.network_rows import RowReader
from jensen.inference.network_rows import best_states as best_states_of
from jensen.support.arguments import check_whole
from jensen.support.text import bare, option, some

if TYPE_CHECKING:
    from jensen.data import Table
    from jensen.inference.fitted import FittedNetwork
    from jensen.inference.table_network import TableNetwork

Array = NDArray[np.float64]
Given = Mapping[str, Any] | None

NOTHING_POSSIBLE = "these potentials leave no state possible: in every joint state one of them is 0"
MOST_JOINT = 4096
"""Configurations of several targets, each of which is a question of its own."""


class Approximate:
    """A network of labels, asked in one way.

    Parameters
    ----------
    network
        With tables; networks with numbers are refused, for their answers are exact.
    inference
        A word of `METHODS`, or "auto": exact where memory allows, else "loopy" with a note.
    """

    def __init__(
        self, network: FittedNetwork, inference: str, options: InferenceOptions = DEFAULT_OPTIONS
    ) -> None:
        check_word(inference)
        if options.i_bound is not None and inference != "mini-bucket":
            raise JensenError(
                f"{bare('i_bound')} belongs to {option('inference', 'mini-bucket')}, and would be "
                f"ignored by {inference!r}"
            )
        if inference not in ("exact", "auto") and not hasattr(network, "kernel_tables"):
            raise JensenError(
                f"{option('inference', inference)} is for networks of labels alone; answers of "
                "networks with numbers are exact: leave it out"
            )
        self.network: TableNetwork = network  # type: ignore[assignment]
        self.fitted, self.options, self.word = network, options, inference
        self.notes: tuple[str, ...] = ()

    # --- one question ---

    def query(self, targets: str | Sequence[str], given: Given, do: Given) -> Distribution:
        """P(targets | do, given)."""
        if self.word in ("exact", "auto"):
            try:
                exact: Distribution = _labelled(self.fitted.query(targets, given, do), EXACT)
                return exact
            except TooLargeError as error:
                self._give_up_exactness(error)
        names = [targets] if isinstance(targets, str) else list(targets)
        wanted = [self.network.index(name) for name in names]
        if not wanted or len(set(wanted)) < len(wanted):
            raise JensenError(f"ask for one variable or several different ones, not {names!r}")
        findings = read_findings(self.network, given, do, wanted)
        shape = tuple(self.network.variables[v].n_states for v in wanted)
        if self.word == "mini-bucket":
            values, label, interval = self._between(wanted, findings, shape)
        else:
            values, label, interval = self._believed(wanted, findings, shape)
        variables = tuple(self.network.variables[v] for v in wanted)
        found = Distribution(variables, values, findings.text(self.network), interval)
        answer: Distribution = _labelled(found, self._noted(label))
        return answer

    def marginals(self, given: Given, do: Given) -> dict[str, Distribution]:
        """P(X | do, given) of every variable that is not known."""
        if self.word in ("exact", "auto"):
            try:
                exact = self.fitted.marginals(given, do)
                return {name: _labelled(found, EXACT) for name, found in exact.items()}
            except TooLargeError as error:
                self._give_up_exactness(error)
        findings = read_findings(self.network, given, do)
        found, beliefs, errors = self._beliefs(findings, None)
        text, label = findings.text(self.network), self._noted(beliefs.label)
        known = {**findings.hard, **findings.do}
        answers = {}
        for v, variable in enumerate(self.network.variables):
            if v not in known:
                answer = Distribution((variable,), found[v], text, _around(found[v], errors.get(v)))
                answers[variable.name] = _labelled(answer, label)
        return answers

    def log_probability(self, given: Given, do: Given) -> LabelledNumber:
        """Log P(given | do)."""
        if self.word in ("exact", "auto"):
            try:
                value = self.fitted.log_probability(given, do)
                return LabelledNumber(value, EXACT, value, value)
            except TooLargeError as error:
                self._give_up_exactness(error)
        return self._log_probability(read_findings(self.network, given, do))

    def probability(self, given: Given, do: Given) -> LabelledNumber:
        """P(given | do)."""
        found = self.log_probability(given, do)
        value, lower, upper = (float(np.exp(x)) for x in (found, found.lower, found.upper))
        return LabelledNumber(value, found.label, lower, upper)

    def log_z(self, given: Given, do: Given) -> LabelledNumber:
        """The log of the sum of the product of all tables, over all states that fit."""
        if self.word in ("exact", "auto"):
            try:
                value = self.fitted.log_probability(given or {}, do) if given or do else 0.0
                value += getattr(self.network, "log_z", 0.0)
                return LabelledNumber(value, EXACT, value, value)
            except TooLargeError as error:
                self._give_up_exactness(error)
        findings = read_findings(self.network, given, do)
        found = self._log_sum(findings, everything=not self.network.sums_to_one)
        return LabelledNumber(found, self._noted(found.label), found.lower, found.upper)

    def most_probable(self, given: Given, do: Given, k: int) -> list[Assignment]:
        """The most probable states found; each says whether no others are more probable."""
        if self.word in ("exact", "auto"):
            try:
                return self.fitted.most_probable(given, do, k)
            except TooLargeError as error:
                self._give_up_exactness(error)
        check_whole("k", k, at_least=1)
        findings = read_findings(self.network, given, do)
        solver = Maximum(self.network, findings)
        hidden = [v for v in range(len(self.network.variables)) if v not in solver.known]
        masks = {v: np.ones(self.network.variables[v].n_states) for v in hidden}
        search = AssignmentSearch(masks, solver.solve, allow_bans=k > 1)
        found = sorted(search.best(k), key=lambda one: -one[1])
        if not found:
            raise self._impossible(findings)
        return solver.assignments(found, hidden, self.notes)

    # --- rows ---

    def log_likelihood(self, table: Table, rows: RowChoices = DEFAULTS) -> LabelledArray:
        """Log p(row) of every row, what is missing summed out; -inf if impossible or unknown."""
        if self.word == "auto":
            try:
                return LabelledArray(self.fitted.log_likelihood(table, rows), EXACT)
            except TooLargeError as error:
                self._give_up_exactness(error)
        reader = RowReader(self.network, rows.hidden)
        known, strange = reader.recode(table, rows.missing_columns)
        labels, values = [EXACT], np.empty(table.n_rows)
        for row, findings in enumerate(self._rows(known)):
            found = self._log_probability(findings)
            labels.append(found.label)
            values[row] = found
        if strange is not None:
            warn_of_unknown(strange)
            values[strange.rows] = -np.inf
        return LabelledArray(values, self._noted(joined(labels)))

    def predict_proba(
        self, table: Table, target: str | None, rows: RowChoices = DEFAULTS
    ) -> LabelledArray:
        """P(target | the rest of the row), (N, K)."""
        if target is None:
            raise JensenError("name the target: approximate inference answers for one at a time")
        if self.word == "auto":
            try:
                return LabelledArray(self.fitted.predict_proba(table, target, rows), EXACT)
            except TooLargeError as error:
                self._give_up_exactness(error)
        v = self.network.index(target)
        labels, shape = [EXACT], (self.network.variables[v].n_states,)
        found = np.full((table.n_rows, *shape), np.nan)
        ask = self._between if self.word == "mini-bucket" else self._believed
        reader = RowReader(self.network, rows.hidden)
        known = reader.read(table, rows.unknown, rows.missing_columns, skip=[target])
        for row, findings in enumerate(self._rows(known)):
            try:
                found[row], label, _ = ask([v], findings, shape)
            except ImpossibleError as error:
                if rows.impossible == "raise":
                    raise error.after(f"row {row + 1}: ") from None
                continue
            labels.append(label)
        return LabelledArray(found, self._noted(joined(labels)))

    def predict(
        self, table: Table, target: str, *, hidden: Collection[str] = (), **choices: Any
    ) -> LabelledArray:
        """The most probable state of every row; "" where it is impossible, if it may be."""
        values = self.predict_proba(table, target, RowChoices(hidden=hidden, **choices))
        variable = self.network.variables[self.network.index(target)]
        assert values.label is not None, "it was labelled"
        return LabelledArray(best_states_of(variable, np.asarray(values)), values.label)

    def _rows(self, known: Table) -> Iterator[Findings]:
        """What each row knows."""
        rows: list[dict[int, int]] = [{} for _ in range(known.n_rows)]
        for v, variable in enumerate(self.network.variables):
            if variable.name in known:
                codes = known.column(variable.name).data
                for row in np.flatnonzero((codes >= 0) & (codes < variable.n_states)).tolist():
                    rows[row][v] = int(codes[row])
        return (Findings(row, {}, {}) for row in rows)

    # --- how ---

    def _give_up_exactness(self, error: TooLargeError) -> None:
        """Go on with loopy propagation where "auto" cannot be exact; else refuse."""
        if self.word == "exact":
            raise error
        self.word = "loopy"
        self.notes = (f"not exact, because {error}",)

    def _noted(self, label: Label) -> Label:
        return replace(label, notes=label.notes + self.notes) if self.notes else label

    def _log_sum(self, findings: Findings, *, everything: bool = False) -> LabelledNumber:
        """Log Σ of the product at these findings, times the likelihoods."""
        factors = condition(self.network, findings, None if everything else ())
        alone = constant(factors)
        return alone if alone is not None else METHODS[self.word].log_z(factors, self.options)

    def _log_probability(self, findings: Findings) -> LabelledNumber:
        """Log p(findings): of a product that does not sum to one, the difference of two sums."""
        if self.network.sums_to_one:
            above = self._log_sum(findings)
            upper = above.upper if findings.soft else min(above.upper, 0.0)
            return LabelledNumber(min(above, upper), self._noted(above.label), above.lower, upper)
        inside = condition(self.network, findings, None)
        everything = condition(self.network, NOTHING_KNOWN, None)
        if everything.constant == -np.inf:
            raise JensenError(NOTHING_POSSIBLE)
        if inside.constant == -np.inf:
            return LabelledNumber(-np.inf, EXACT, -np.inf, -np.inf)
        if self.word in ("trw", "mean-field"):  # a bound of a quotient takes one of each side
            above, below = (bracket(part, self.word) for part in (inside, everything))
        else:
            above, below = self._log_sum(findings), self._log_sum(NOTHING_KNOWN, everything=True)
        lower, upper = above.lower - below.upper, above.upper - below.lower
        if not findings.soft:
            upper = min(upper, 0.0)
        label = joined([above.label, below.label])
        value = {"upper bound": upper, "lower bound": lower}.get(label.kind)
        if value is None:
            value = min(max(above - below, lower), upper)
        return LabelledNumber(value, self._noted(label), lower, upper)

    def _beliefs(
        self, findings: Findings, targets: Sequence[int] | None
    ) -> tuple[dict[int, Array], Beliefs, dict[int, Array]]:
        """Marginals by variable, of all its states, and standard errors, where there are any."""
        factors = condition(self.network, findings, targets)
        if factors.constant == -np.inf:
            raise self._impossible(findings)
        if factors.n_variables:
            beliefs = METHODS[self.word].beliefs(factors, self.options)
        else:
            beliefs = Beliefs(np.empty(0), EXACT)
        at = np.concatenate([[0], np.cumsum(factors.wiring.cards)]).tolist()
        found, errors = {}, {}
        for v, state in factors.known.items():
            found[v] = np.zeros(self.network.variables[v].n_states)
            found[v][state] = 1.0
        for k, v in enumerate(factors.variables.tolist()):
            card = self.network.variables[v].n_states
            own = slice(at[k], at[k + 1])
            found[v] = factors.original_marginal(k, beliefs.marginals[own], card)
            if beliefs.standard_errors is not None:
                errors[v] = factors.original_marginal(k, beliefs.standard_errors[own], card)
        return found, beliefs, errors

    def _believed(
        self, wanted: Sequence[int], findings: Findings, shape: tuple[int, ...]
    ) -> tuple[Array, Label, Interval | None]:
        """The joint distribution by the chain rule: each target given states of those before."""
        found, beliefs, errors = self._beliefs(findings, wanted)
        first = found[wanted[0]]
        if len(wanted) == 1:
            return first, beliefs.label, _around(first, errors.get(wanted[0]))
        _check_joint(shape)
        values, labels = np.zeros(shape), [beliefs.label]
        for state in np.flatnonzero(first > 0.0).tolist():
            hard = {**findings.hard, wanted[0]: state}
            soft = {v: x for v, x in findings.soft.items() if v != wanted[0]}
            known = Findings(hard, soft, findings.do)
            try:
                rest, label, _ = self._believed(wanted[1:], known, shape[1:])
            except ImpossibleError:  # what was believed possible is not
                continue
            values[state] = first[state] * rest
            labels.append(label)
        return values / values.sum(), joined(labels), None

    def _between(
        self, wanted: Sequence[int], findings: Findings, shape: tuple[int, ...]
    ) -> tuple[Array, Label, Interval | None]:
        """The middle between bounds of every probability."""
        _check_joint(shape)
        bounds, labels = np.empty((prod(shape), 2)), []
        for k, states in enumerate(np.ndindex(shape)):
            hard = {**findings.hard, **dict(zip(wanted, states, strict=True))}
            soft = {v: x for v, x in findings.soft.items() if v not in wanted}
            found = self._log_sum(Findings(hard, soft, findings.do))
            extra = sum(
                np.log(findings.soft[v][s])
                for v, s in zip(wanted, states, strict=True)
                if v in findings.soft and findings.soft[v][s] > 0.0
            )
            if any(
                v in findings.soft and findings.soft[v][s] == 0.0
                for v, s in zip(wanted, states, strict=True)
            ):
                extra = -np.inf
            bounds[k] = found.lower + extra, found.upper + extra
            labels.append(found.label)
        if bounds[:, 1].max() == -np.inf:
            raise self._impossible(findings)
        low, high = (part.reshape(shape) for part in shares_between(bounds))
        label = joined(labels)
        values = 0.5 * (low + high)
        if label.kind == "exact":
            return values / values.sum(), label, None
        note = "shown is the middle between the bounds, made to sum to 1"
        label = Label("mini-bucket", "between bounds", label.converged, label.sweeps, (note,))
        return values / values.sum(), label, Interval(1.0, low, high)

    def _impossible(self, findings: Findings) -> ImpossibleError:
        names = some(
            f"{self.network.variables[v].name}={self.network.variables[v].states[s]}"
            for v, s in {**findings.hard, **findings.do}.items()
        )
        if not names:
            return ImpossibleError(NOTHING_POSSIBLE)
        return ImpossibleError(f"the evidence is impossible: {names} cannot hold together")


def _check_joint(shape: tuple[int, ...]) -> None:
    if prod(shape) > MOST_JOINT:
        raise JensenError(
            f"the targets have {prod(shape):,} states together, each of which would be a question "
            f"of its own: ask for at most {MOST_JOINT:,}"
        )


def _around(shares: Array, errors: Array | None) -> Interval | None:
    """What lies within two standard errors, 95 %; None without errors."""
    if errors is None:
        return None
    low, high = shares - 1.96 * errors, shares + 1.96 * errors
    return Interval(0.95, np.maximum(low, 0.0), np.minimum(high, 1.0))


def _labelled(found: Any, label: Label) -> Any:
    if isinstance(found, Distribution):  # answers with numbers are exact anyway
        found.label = label
    return found
