"""Exact queries to a network of tables: distributions, intervals, marginals, information."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum, inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.families import inner
from jensen.families.dirichlet import SegmentedDirichlet
from jensen.inference.distribution import Distribution, Distributions, Interval
from jensen.inference.findings import Findings, read_findings
from jensen.inference.fitted import FittedNetwork
from jensen.inference.impossible import explain
from jensen.inference.marginals import Marginals
from jensen.inference.questions import ExactAnswer, Question, find_question, form_of
from jensen.support.arguments import is_real
from jensen.support.machine import check_memory
from jensen.support.text import one_of, option, some

if TYPE_CHECKING:
    from jensen.inference.table_network import TableNetwork

Array = NDArray[np.float64]
Names = str | Sequence[str]

DRAWS = 1000
"""Number of tables drawn from a posterior for an interval."""

_ALONE = np.ones(1)
"""The weights of a single answer."""


class AnswerMixture(NamedTuple):
    """Answers under one set of tables or many samples, and the weight of each."""

    log_evidence: float  # of the mixture
    weights: Array  # (S,): p(tables | evidence)
    answers: Sequence[ExactAnswer]

    def mean(self, values: Sequence[Array]) -> Array:
        """Σ_s weight · value."""
        return values[0] if len(values) == 1 else np.tensordot(self.weights, np.array(values), 1)


def ask(
    network: TableNetwork, question: Question, findings: Findings, *, count: bool
) -> AnswerMixture:
    """The answer, or after Gibbs the answers under every sample; impossible evidence is refused.

    p(y | e) = Σ_s p_s(y, e) / Σ_s p_s(e), never the answer under averaged tables.
    """
    if network.samples is None:
        answer = question.ask(findings, *network.kernel_tables, count=count)
        if answer.log_evidence == -inf:
            raise explain(network, findings)
        return AnswerMixture(answer.log_evidence, _ALONE, [answer])
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
    return AnswerMixture(log_evidence, weights / weights.sum(), found)


def _log(tables: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.log(tables)


def query(
    network: TableNetwork,
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
    return Distribution(variables, values, findings.text(network), found)


def query_many(
    network: TableNetwork,
    targets: str | Sequence[str],
    evidence: Sequence[Mapping[str, Any]],
    do: Mapping[str, Any] | None = None,
) -> Distributions:
    """P(targets | do, given) for many sets of findings; equal sets are computed once."""
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
            raise error.after(f"row {i + 1}: ") from None
        values[i] = known[key]
    return Distributions(tuple(network.variables[v] for v in wanted), values)


def _plain(value: Any) -> Any:
    """A finding with an unabridged text: NumPy shortens that of a long array."""
    return value.tolist() if isinstance(value, np.ndarray) else value


def _positions(network: TableNetwork, targets: str | Sequence[str]) -> tuple[int, ...]:
    """Positions of the targets; repeated ones are refused."""
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


def _check_joint(network: TableNetwork, wanted: Sequence[int]) -> None:
    size = float(np.prod([float(network.variables[v].n_states) for v in wanted]))
    check_memory(
        3 * 8.0 * size,
        f"the joint distribution of {some(network.variables[v].name for v in wanted)}",
        "ask for fewer variables at once",
    )


def read_answer(question: Question, wanted: tuple[int, ...], answer: ExactAnswer) -> Array:
    """The distribution of the targets."""
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
    network: TableNetwork,
    question: Question,
    findings: Findings,
    wanted: tuple[int, ...],
    level: float,
    rng: np.random.Generator | None,
    mixture: AnswerMixture,
) -> Interval:
    """Equal-tailed bounds of the probabilities, from tables drawn from their posterior."""
    if not is_real(level) or not 0 < level < 1:
        raise JensenError(
            f"interval must be between 0 and 1, as in {option('interval', 0.9)}, not {level!r}"
        )
    if network.samples is not None:
        answers, weights = mixture.answers, mixture.weights
    elif network.concentration is None:
        raise JensenError(
            "this network has point estimates only: intervals need a posterior, from "
            f"{one_of('method', ['vbem', 'gibbs'])}"
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
    return Interval(level, quantile(values, weights, tail), quantile(values, weights, 1 - tail))


def quantile(values: Array, weights: Array, p: float) -> Array:
    """The weighted p-quantile along the first axis."""
    order = np.argsort(values, axis=0, kind="stable")
    mass = np.cumsum(weights[order], axis=0)
    first = np.minimum((mass < p).sum(0), len(values) - 1)
    sorted_values = np.take_along_axis(values, order, axis=0)
    return np.asarray(np.take_along_axis(sorted_values, first[None], axis=0)[0])


def marginals(
    network: TableNetwork, given: Mapping[str, Any] | None, do: Mapping[str, Any] | None
) -> Marginals:
    """P(X | do, given) of every variable that is not in `given` or `do`."""
    findings = read_findings(network, given, do)
    question = find_question(network, form_of(findings, everything=True))
    mixture = ask(network, question, findings, count=False)
    flat = question.share(mixture.mean([answer.marginals for answer in mixture.answers]))
    return Marginals(question.spans, flat, findings.text(network))


def log_probability(
    network: TableNetwork, given: Mapping[str, Any] | None, do: Mapping[str, Any] | None
) -> float:
    """Log P(given | do); -inf if it is impossible."""
    findings = read_findings(network, given, do)
    question = find_question(network, form_of(findings))
    if network.samples is None:
        asked = question.ask(findings, *network.kernel_tables)
        return asked.log_evidence - network.log_normalizer
    each = [
        question.ask(findings, tables, _log(tables)).log_evidence
        for tables in np.array(network.samples)
    ]
    return float(np.logaddexp.reduce(each) - np.log(len(each)))


# --- entropy and mutual information ---


def entropy(network: TableNetwork, targets: Names | None, given: Mapping[str, Any] | None) -> float:
    """H[P(targets | given)] in nats; targets=None means all variables that are not given."""
    if targets is not None:
        return query(network, targets, given).entropy()
    if network.samples is not None:
        raise JensenError(
            "the entropy of all variables under a mixture of sampled tables cannot be computed "
            "exactly: name the variables, or learn with method='vbem'"
        )
    findings = read_findings(network, given)
    question = find_question(network, form_of(findings, everything=True))
    answer = ask(network, question, findings, count=True).answers[0]
    _, log_tables = network.kernel_tables
    _, log_known = question.with_states(findings, log_tables)
    if question.n_extra:
        _, log_tables = question.with_extra(findings, log_tables, log_tables)
    # H = log Z - E[log potentials], for the part that is hidden
    return answer.log_evidence - log_known - inner(answer.counts, log_tables)


def mutual_information(
    network: FittedNetwork,
    a: Names,
    b: Names,
    given: Mapping[str, Any] | Sequence[str] | None,
) -> float:
    """I(a; b | given): under evidence, or averaged over the states of variables."""
    first, second = _names(a), _names(b)
    if set(first) & set(second):
        raise JensenError(f"{first} and {second} share a variable")
    evidence = given if isinstance(given, Mapping) else None
    over = [] if given is None or evidence is not None else _names(given)
    for name in over:
        if name in first or name in second:
            raise JensenError(f"{name!r} is asked for, but stands in given")
    joint: Any = network.query([*first, *second, *over], evidence, None)
    h_all = joint.entropy()
    h_first, h_second = (joint.marginal([*names, *over]).entropy() for names in (first, second))
    h_over = joint.marginal(over).entropy() if over else 0.0
    return float(max(h_first + h_second - h_all - h_over, 0.0))  # rounding may leave -1e-16


def _names(names: Any) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
