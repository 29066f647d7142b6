"""Questions to a network that an exact answer is computed for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum, inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.families.dirichlet import SegmentedDirichlet
from jensen.inference.distribution import Distribution, Distributions, Interval
from jensen.inference.findings import Findings, read_findings
from jensen.inference.impossible import explain
from jensen.inference.marginals import Marginals
from jensen.inference.questions import Answer, Question, find_question, form_of
from jensen.support.checks import is_real
from jensen.support.memory import check_memory
from jensen.support.text import some

if TYPE_CHECKING:
    from jensen.inference.network import Network

Array = NDArray[np.float64]

DRAWS = 1000
"""Tables drawn from a posterior for an interval."""

_ALONE = np.ones(1)
"""The weight of the only answer."""


class Mixture(NamedTuple):
    """Answers under one or many tables, and how much each counts."""

    log_evidence: float  # of all together
    weights: Array  # (S,): p(tables | evidence)
    answers: Sequence[Answer]

    def mean(self, values: Sequence[Array]) -> Array:
        """Σ_s weight · value."""
        return values[0] if len(values) == 1 else np.tensordot(self.weights, np.array(values), 1)


def ask(network: Network, question: Question, findings: Findings, *, count: bool) -> Mixture:
    """The answer, or after Gibbs the answers under every sample; impossible evidence is refused.

    p(y | e) = Σ_s p_s(y, e) / Σ_s p_s(e), never the answer under averaged tables.
    """
    if network.samples is None:
        answer = question.ask(findings, *network.kernel_tables, count=count)
        if answer.log_evidence == -inf:
            raise explain(network, findings)
        return Mixture(answer.log_evidence, _ALONE, [answer])
    found = [
        question.ask(findings, tables, _log(tables), count=count)
        for tables in np.array(network.samples)
    ]
    log_each = np.array([answer.log_evidence for answer in found])
    best = log_each.max()
    if best == -inf:
        raise explain(network, findings)
    weights = np.exp(log_each - best)
    log_evidence = float(best + np.log(weights.mean()))
    return Mixture(log_evidence, weights / weights.sum(), found)


def _log(tables: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.log(tables)


def query(
    network: Network,
    targets: str | Sequence[str],
    given: Mapping[str, Any] | None = None,
    do: Mapping[str, Any] | None = None,
    interval: float | None = None,
    rng: np.random.Generator | None = None,
) -> Distribution:
    """P(targets | do, given), jointly if there are several."""
    wanted = _positions(network, targets)
    findings = read_findings(network, given, do, wanted)
    question = find_question(network, form_of(findings, wanted))
    mixture = ask(network, question, findings, count=len(wanted) > 1)
    values = mixture.mean([read_answer(question, wanted, answer) for answer in mixture.answers])
    variables = tuple(network.variables[v] for v in wanted)
    found = None
    if interval is not None:
        found = _interval(network, question, findings, wanted, interval, rng, mixture)
    return Distribution(variables, values, findings.words(network), found)


def query_many(
    network: Network,
    targets: str | Sequence[str],
    evidence: Sequence[Mapping[str, Any]],
    do: Mapping[str, Any] | None = None,
) -> Distributions:
    """P(targets | do, given) for many sets of findings; equal ones are asked once."""
    wanted = _positions(network, targets)
    cards = [network.variables[v].n_states for v in wanted]
    values = np.empty((len(evidence), *cards))
    known: dict[Any, Array] = {}
    for i, given in enumerate(evidence):
        key = tuple(sorted((name, repr(_plain(value))) for name, value in given.items()))
        try:
            if key not in known:
                known[key] = query(network, targets, given, do).values
        except JensenError as error:
            raise type(error)(f"row {i + 1}: {error}") from None
        values[i] = known[key]
    return Distributions(tuple(network.variables[v] for v in wanted), values)


def _plain(value: Any) -> Any:
    """A finding whose text tells it apart: that of a long array is cut short."""
    return value.tolist() if isinstance(value, np.ndarray) else value


def _positions(network: Network, targets: str | Sequence[str]) -> tuple[int, ...]:
    """The variables that are asked for."""
    if isinstance(targets, str):
        return (network.index(targets),)
    names = list(targets or ())
    if not all(isinstance(name, str) for name in names):
        raise JensenError(f"variables are asked for by their names, not by {names!r}")
    wanted = tuple(network.index(name) for name in names)
    if not wanted or len(set(wanted)) < len(wanted):
        raise JensenError(f"ask for one variable or several different ones, not {names!r}")
    if len(wanted) > 1:
        _check_joint(network, wanted)
    return wanted


def _check_joint(network: Network, wanted: Sequence[int]) -> None:
    size = float(np.prod([float(network.variables[v].n_states) for v in wanted]))
    check_memory(
        3 * 8.0 * size,
        f"the joint distribution of {some(network.variables[v].name for v in wanted)}",
        "ask for fewer variables at once",
    )


def read_answer(question: Question, wanted: tuple[int, ...], answer: Answer) -> Array:
    """The distribution that was asked for."""
    if len(wanted) == 1:
        at = question.place[wanted[0]]
        values = answer.marginals[at : at + question.network.variables[wanted[0]].n_states]
        total = fsum(values.tolist())  # faster than a call of NumPy, for a few states
    else:
        at, cards = question.extra_at[wanted], question.network.wiring.cards[list(wanted)]
        values = answer.counts[at : at + int(np.prod(cards))].reshape(cards)
        total = float(values.sum())
    return np.asarray(values / total if total > 0 else values)


def _interval(
    network: Network,
    question: Question,
    findings: Findings,
    wanted: tuple[int, ...],
    level: float,
    rng: np.random.Generator | None,
    mixture: Mixture,
) -> Interval:
    """Equal-tailed bounds of the probabilities, from tables drawn from their posterior."""
    if not is_real(level) or not 0 < level < 1:
        raise JensenError(f"interval must be between 0 and 1, as in interval=0.9, not {level!r}")
    if network.samples is not None:
        answers, weights = mixture.answers, mixture.weights
    elif network.concentration is None:
        raise JensenError(
            "this network has point estimates only: intervals need a posterior, from "
            "method='vbem' or 'gibbs'"
        )
    else:
        answers, log_each = [], []
        rng = np.random.default_rng(0) if rng is None else rng
        family = SegmentedDirichlet(network.wiring.row_lengths())
        for _ in range(DRAWS):
            log_tables = family.sample_stats(network.concentration - 1.0, rng)
            answers.append(
                question.ask(findings, np.exp(log_tables), log_tables, count=len(wanted) > 1)
            )
            log_each.append(answers[-1].log_evidence)
        weights = np.exp(np.array(log_each) - max(log_each))
        weights /= weights.sum()
    values = np.array([read_answer(question, wanted, answer) for answer in answers])
    tail = (1 - level) / 2
    return Interval(level, _quantile(values, weights, tail), _quantile(values, weights, 1 - tail))


def _quantile(values: Array, weights: Array, p: float) -> Array:
    """The p-quantile along the first axis, by weight."""
    order = np.argsort(values, axis=0, kind="stable")
    mass = np.cumsum(weights[order], axis=0)
    first = np.minimum((mass < p).sum(0), len(values) - 1)
    sorted_values = np.take_along_axis(values, order, axis=0)
    return np.asarray(np.take_along_axis(sorted_values, first[None], axis=0)[0])


def marginals(
    network: Network, given: Mapping[str, Any] | None, do: Mapping[str, Any] | None
) -> Marginals:
    """P(X | do, given) of every variable that is not known."""
    findings = read_findings(network, given, do)
    question = find_question(network, form_of(findings, everything=True))
    mixture = ask(network, question, findings, count=False)
    flat = question.share(mixture.mean([answer.marginals for answer in mixture.answers]))
    return Marginals(question.spans, flat, findings.words(network))


def log_probability(
    network: Network, given: Mapping[str, Any] | None, do: Mapping[str, Any] | None
) -> float:
    """Log P(given | do); -inf if it is impossible."""
    findings = read_findings(network, given, do)
    question = find_question(network, form_of(findings))
    if network.samples is None:
        return question.ask(findings, *network.kernel_tables).log_evidence
    each = [
        question.ask(findings, tables, _log(tables)).log_evidence
        for tables in np.array(network.samples)
    ]
    return float(np.logaddexp.reduce(each) - np.log(len(each)))
