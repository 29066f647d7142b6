"""Evidence about labels and numbers: findings, likelihoods and interventions, as one row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jensen.exceptions import JensenError
from jensen.inference.findings import Findings, read_findings
from jensen.inference.fitted import Given
from jensen.inference.gaussian_queries import GaussianEvidence, read_evidence
from jensen.inference.impossible import explain
from jensen.inference.mixed_solver import MixedQuestion, Weighing, make_question
from jensen.q_hidden.mixed.cells import MixedRows
from jensen.q_hidden.mixed.shapes import Asked

if TYPE_CHECKING:
    from jensen.inference.mixed_network import MixedNetwork


class MixedFindings(NamedTuple):
    """What is known: labels by their places among the labels, numbers by their nodes."""

    labels: Findings
    numbers: GaussianEvidence

    def text(self, network: MixedNetwork) -> str:
        """For headings: "XRay=abnormal, age=40, do(dose=2)"."""
        parts = self.labels.text(network.label_network), self.numbers.text(network)
        return ", ".join(part for part in parts if part)

    def was_set(self, network: MixedNetwork) -> frozenset[int]:
        """The nodes that were set from outside."""
        return frozenset([*(network.layout.labels[u] for u in self.labels.do), *self.numbers.do])

    def rows(self, network: MixedNetwork) -> MixedRows:
        """One row with all that is known."""
        layout = network.layout
        codes = np.full((1, len(layout.labels)), -1, np.int32)
        values = np.full((1, len(layout.numbers)), np.nan)
        for u, state in {**self.labels.hard, **self.labels.do}.items():
            codes[0, u] = state
        for node, value in {**self.numbers.given, **self.numbers.do}.items():
            v = layout.place[node]
            values[0, v] = value - network.centre[v]
        return MixedRows(codes, values, np.ones(1))


def read_mixed(
    network: MixedNetwork, given: Given, do: Given, targets: Sequence[int] = ()
) -> MixedFindings:
    """Convert evidence to codes and numbers; contradictions are refused."""
    layout = network.layout
    parts = [_parted(network, what, x) for what, x in (("given", given), ("do", do))]
    asked = [layout.place[v] for v in targets if layout.cards[v]]
    labels = read_findings(network.label_network, parts[0][0], parts[1][0], asked)
    at = [v for v in targets if not layout.cards[v]]
    numbers = read_evidence(network, parts[0][1], parts[1][1], at)
    for node, value in {**numbers.given, **numbers.do}.items():
        if node in layout.counts and not (value >= 0.0 and value == np.floor(value)):
            raise JensenError(
                f"{network.graph.nodes[node]!r} is a count, a whole number from 0, and not "
                f"{value:g}"
            )
    return MixedFindings(labels, numbers)


def _parted(
    network: MixedNetwork, what: str, findings: Given
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Findings of labels, and of numbers."""
    if findings is not None and not isinstance(findings, Mapping):
        raise JensenError(
            f"{what} must be a dict from variable to state or number, not {type(findings).__name__}"
        )
    labels, numbers = dict[str, Any](), dict[str, Any]()
    for name, value in (findings or {}).items():
        (labels if network.is_label(name) else numbers)[name] = value
    return labels, numbers


def question_of(
    network: MixedNetwork, findings: MixedFindings, nodes: Sequence[int], *together: tuple[int, ...]
) -> MixedQuestion:
    """The question of one set of findings."""
    asked = Asked(frozenset(nodes), together)
    was_set, soft = findings.was_set(network), findings.labels.soft
    return make_question(network, findings.rows(network), was_set, asked, soft)


def unknown_nodes(network: MixedNetwork, findings: MixedFindings) -> list[int]:
    """All nodes of which no value is known."""
    labels = [network.layout.labels[u] for u in (*findings.labels.hard, *findings.labels.do)]
    known = {*labels, *findings.numbers.given, *findings.numbers.do}
    return [v for v in range(len(network.variables)) if v not in known]


def refuse_impossible(question: MixedQuestion, weighing: Weighing) -> None:
    """Raise an error that names findings which contradict each other, if they do.

    Only labels can: every number has a positive density.
    """
    if weighing.possible.all():
        return
    network = question.network
    known = {u: int(code) for u, code in enumerate(question.rows.codes[0]) if code >= 0}
    done = {u: known.pop(u) for u in list(known) if network.layout.labels[u] in question.was_set}
    raise explain(network.label_network, Findings(known, dict(question.soft), done))
