"""The k most probable joint states of all variables that are not known."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.inference.findings import Findings, read_findings
from jensen.inference.impossible import explain
from jensen.inference.questions import Question, find_question, form_of
from jensen.q_hidden.trees import run
from jensen.support.arguments import check_whole
from jensen.support.machine import check_many
from jensen.support.text import grid, offer, one_of

if TYPE_CHECKING:
    from jensen.inference.table_network import TableNetwork

Masks = dict[int, NDArray[np.float64]]
"""Variable → likelihood of its states."""

Solve = Callable[[Masks], tuple[dict[int, int], float]]


@dataclass(frozen=True)
class Assignment:
    """A state for every variable that was not known, and its probability.

    Of labels and numbers together the states of the labels are the most probable ones, with all
    numbers that are not known integrated out, and densities of those that are known; a number in
    the answer is its mean given these labels and what is known. So it is not the highest point of
    the joint density, which depends on the units.

    Reads like a mapping from variable to state.

    Attributes
    ----------
    states
        Variable → state.
    log_probability
        Log P(states, given | do): the joint probability of these states and of the evidence. It
        falls with every finding that is added.
    log_conditional
        Log P(states | given, do) = log_probability - log P(given | do): how probable these states
        are once the evidence is known. Without evidence it is `log_probability`.
    is_density
        Whether all variables are numbers, so that both are log densities.
    log_product
        Where these states were not found exactly: the log of the product of all tables at them.
    bound
        What the log of no such product exceeds: where `log_product` reaches it, no states are more
        probable (but those that stand before it among the k best).
    label
        Where these states were not found exactly: how they were found, and why.
    """

    states: Mapping[str, Any]
    log_probability: float
    log_conditional: float
    is_density: bool = False
    log_product: float | None = None
    bound: float | None = None
    label: Any = None

    @property
    def is_certain(self) -> bool:
        """Whether no other states are more probable."""
        if self.bound is None or self.log_product is None:
            return True
        return self.bound - self.log_product <= CERTAIN * max(1.0, abs(self.log_product))

    def __getitem__(self, name: str) -> Any:
        if name not in self.states:
            raise JensenError(
                f"{name!r} was known, or is no variable of the network; {offer(name, self.states)}"
            )
        return self.states[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.states)

    def __len__(self) -> int:
        return len(self.states)

    def keys(self) -> Any:
        """Names of the variables."""
        return self.states.keys()

    def items(self) -> Any:
        """Names and states."""
        return self.states.items()

    def __repr__(self) -> str:
        if self.log_product is not None:
            return self._approximately()
        lines = grid([[name, _shown(state)] for name, state in self.states.items()], left=2)
        joint, conditional = (f"{x:.6g}" for x in (self.log_probability, self.log_conditional))
        text = f"log {'density' if self.is_density else 'probability'} {joint}"
        if joint != conditional:
            text += f" together with the evidence, {conditional} given the evidence"
        if not all(isinstance(state, str) for state in self.states.values()):
            text += (
                "\n(of the labels, numbers integrated out; a number is its mean given these labels)"
            )
        return f"{text}\n{lines}".rstrip()

    def _approximately(self) -> str:
        """The text of states that were not found exactly."""
        lines = grid([[name, str(state)] for name, state in self.states.items()], left=2)
        if self.is_certain:
            what = "no states are more probable"
        else:
            what = f"no states have more than {self.bound:.6g}, so more probable ones may exist"
        if self.label is not None:
            what += "".join(f"; {note}" for note in self.label.notes)
        return f"log product {self.log_product:.6g}; {what}\n{lines}".rstrip()


CERTAIN = 1e-9
"""Of a log product: what is closer to its bound reaches it."""


def _shown(state: str | float) -> str:
    return state if isinstance(state, str) else f"{state:.4g}"


def most_probable(
    network: TableNetwork,
    given: Mapping[str, Any] | None,
    do: Mapping[str, Any] | None,
    k: int,
) -> list[Assignment]:
    """The k most probable assignments of what is not known; fewer if no more are possible."""
    check_whole("k", k, at_least=1)
    if network.samples is not None:
        raise JensenError(
            "the most probable assignment under a mixture of sampled tables cannot be computed "
            f"exactly: learn with {one_of('method', ['em', 'vbem'])} for it"
        )
    findings = read_findings(network, given, do)
    known = {*findings.hard, *findings.do}
    hidden = [v for v in range(len(network.variables)) if v not in known]
    n_possible = math.prod(network.variables[v].n_states for v in hidden)
    n_bytes = 1000.0 + 400.0 * len(hidden)  # of an assignment, and of what is left beside it
    check_many(min(k, n_possible), n_bytes, "assignments (k)", "ask for fewer")
    masks = {v: findings.soft.get(v, np.ones(network.variables[v].n_states)) for v in hidden}
    solver = _TableSolver(network, findings, masks, bans=k > 1)
    best = list(AssignmentSearch(masks, solver.solve, allow_bans=k > 1).best(k))
    if not best:
        raise explain(network, findings)
    log_evidence = log_whole = network.log_normalizer
    if findings.hard or findings.soft:
        question = find_question(network, form_of(findings))
        log_evidence = question.ask(findings, *network.kernel_tables).log_evidence
    return [
        Assignment(
            {network.variables[v].name: network.variables[v].states[s] for v, s in states.items()},
            value - log_whole,
            min(value - log_evidence, 0.0),  # rounding may leave 1e-16
        )
        for states, value in best
    ]


class AssignmentSearch:
    """Best-first search: after each answer, the remaining assignments are split into parts.

    A part fixes some variables as in the answer and excludes one state of the next (Nilsson 1998).

    Parameters
    ----------
    masks
        Variable → likelihood of its states, of all variables that are not known.
    solve
        The best states where such likelihoods hold, and their log probability.
    allow_bans
        Whether there will be a second answer.
    """

    def __init__(self, masks: Masks, solve: Solve, *, allow_bans: bool) -> None:
        self.masks, self.solve, self.allow_bans = masks, solve, allow_bans
        self.hidden = list(masks)
        self.n_pushed = 0

    def best(self, k: int) -> Iterator[tuple[dict[int, int], float]]:
        """Yield the k best assignments, or as many as are possible."""
        waiting: list[Any] = []
        self._push(waiting, self.masks, 0)
        for _ in range(k):
            if not waiting:
                return
            loss, _, first, masks, states = heapq.heappop(waiting)
            yield states, -loss
            if self.allow_bans:
                self._branch(waiting, masks, states, first)

    def _branch(self, waiting: list[Any], masks: Masks, states: dict[int, int], first: int) -> None:
        """Split the remaining assignments after an answer; variables before `first` are fixed."""
        fixed = dict(masks)
        for i in range(first, len(self.hidden)):
            v = self.hidden[i]
            banned = fixed[v].copy()
            banned[states[v]] = 0.0
            if banned.any():
                self._push(waiting, {**fixed, v: banned}, i)
            only = np.zeros_like(banned)
            only[states[v]] = fixed[v][states[v]]
            fixed[v] = only

    def _push(self, waiting: list[Any], masks: Masks, first: int) -> None:
        states, value = self.solve(masks)
        if value > -np.inf:
            self.n_pushed += 1  # breaks ties, so that masks are never compared
            heapq.heappush(waiting, (-value, self.n_pushed, first, masks, states))


class _TableSolver:
    """The best states of a network of tables under masks."""

    def __init__(
        self, network: TableNetwork, findings: Findings, masks: Masks, *, bans: bool
    ) -> None:
        self.network, self.findings, self.bans = network, findings, bans
        form = form_of(findings, everything=True)
        if bans:
            form = form._replace(soft=form.soft.union(masks))
        self.question: Question = find_question(network, form)

    def solve(self, masks: Masks) -> tuple[dict[int, int], float]:
        """The best states, and log p."""
        question, findings = self.question, self.findings
        if self.bans:
            findings = findings._replace(soft=masks)
        log_tables = self.network.kernel_tables[1]
        problems, log_known = question.with_states(findings, log_tables)
        if question.n_extra:
            _, log_tables = question.with_extra(findings, log_tables, log_tables)
        value, _, states = run.best_states(log_tables, question.program, problems)
        return question.read_states(states), log_known + float(value.sum())
