"""Explanations of evidence with probability 0: a minimal set of contradictory findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jensen.data import RowSource, Table
from jensen.exceptions import ImpossibleError
from jensen.inference.findings import Findings
from jensen.inference.questions import find_question, form_of
from jensen.support.text import plural

if TYPE_CHECKING:
    from jensen.inference.table_network import TableNetwork

MOST_TRIALS = 400
"""Number of smaller sets of findings that are tried."""


def explain(network: TableNetwork, findings: Findings) -> ImpossibleError:
    """The error that names a set of contradictory findings, none of which can be left out."""
    smallest = contradiction(network, findings)
    text = smallest.text(network)
    if network.samples is not None:
        text += " (under every sample)"
    one = _n_findings(smallest) == 1
    return ImpossibleError(
        f"the evidence is impossible: {text} cannot occur{'' if one else ' together'} in this "
        f"network. Leave out {'this finding' if one else 'one of these findings'}, or learn with a "
        f"prior, which leaves nothing impossible"
    )


def contradiction(network: TableNetwork, findings: Findings) -> Findings:
    """The findings without all that are not needed for the contradiction."""
    kept = findings
    pieces = [list(findings.hard) + list(findings.soft)]
    for _ in range(MOST_TRIALS):  # halves first, single findings last
        if not pieces:
            break
        piece = pieces.pop()
        fewer = _without(kept, piece)
        if is_impossible(network, fewer):
            kept = fewer
        elif len(piece) > 1:
            middle = len(piece) // 2
            pieces += [piece[:middle], piece[middle:]]
    return kept


def is_impossible(network: TableNetwork, findings: Findings) -> bool:
    """Whether findings have probability 0, after Gibbs under every sample."""
    question = find_question(network, form_of(findings))
    tables = [network.kernel_tables[0]] if network.samples is None else network.samples
    for values in tables:
        with np.errstate(divide="ignore"):
            answer = question.ask(findings, np.array(values), np.log(values))
        if answer.log_evidence > -np.inf:
            return False
    return True


def _without(findings: Findings, dropped: list[int]) -> Findings:
    def rest(part: dict[int, Any]) -> dict[int, Any]:
        return {v: value for v, value in part.items() if v not in dropped}

    return Findings(rest(findings.hard), rest(findings.soft), findings.do)


def _n_findings(findings: Findings) -> int:
    return len(findings.hard) + len(findings.soft) + len(findings.do)


def row_findings(network: TableNetwork, table: Table, row: int) -> Findings:
    """The observed cells of a row as findings."""
    hard = {}
    for v, variable in enumerate(network.variables):
        if variable.name in table:
            code = int(table.column(variable.name).data[row])
            if code < variable.n_states:
                hard[v] = code
    return Findings(hard, {}, {})


def explain_row(network: TableNetwork, table: RowSource, where: str) -> ImpossibleError:
    """The error that names the first impossible row, and its contradictory cells."""
    from jensen.inference.rows import log_likelihood

    start, others, found = 0, -1, None
    for part in table.tables():
        weights = np.ones(part.n_rows) if part.weights is None else part.weights
        impossible = np.flatnonzero((log_likelihood(network, part) == -np.inf) & (weights > 0))
        others += len(impossible)
        if found is None and len(impossible):
            found = start + int(impossible[0]), row_findings(network, part, int(impossible[0]))
        start += part.n_rows
    if found is None:
        return ImpossibleError(f"the rows together are too improbable {where}: F is not finite")
    row, findings = found
    smallest = contradiction(network, findings)
    together = " together" if _n_findings(smallest) > 1 else ""
    more = f" (and {plural(others, 'other row')})" if others else ""
    return ImpossibleError(
        f"row {row + 1} is impossible {where}{more}: {smallest.text(network)} cannot "
        f"occur{together}. Correct the row, or make every state possible there"
    )
