"""Entropies and mutual informations of a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jensen.exceptions import JensenError
from jensen.families import inner
from jensen.inference.findings import read_findings
from jensen.inference.query import ask, query
from jensen.inference.questions import find_question, form_of

if TYPE_CHECKING:
    from jensen.inference.network import Network

Names = str | Sequence[str]


def entropy(network: Network, targets: Names | None, given: Mapping[str, Any] | None) -> float:
    """H[P(targets | given)] in nats; of everything that is not known if targets is None."""
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
    network: Network,
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
    joint = query(network, [*first, *second, *over], evidence)
    h_all = joint.entropy()
    h_first, h_second = (joint.marginal([*names, *over]).entropy() for names in (first, second))
    h_over = joint.marginal(over).entropy() if over else 0.0
    return max(h_first + h_second - h_all - h_over, 0.0)  # rounding may leave -1e-16


def _names(names: Any) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
