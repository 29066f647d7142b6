"""A network of tables and what is known, as a list of factors."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.inference.findings import Findings
from jensen.q_hidden.factor_lists.factor_list import FactorList, make_factor_list

if TYPE_CHECKING:
    from jensen.inference.table_network import TableNetwork

NOTHING_KNOWN = Findings({}, {}, {})


def condition(
    network: TableNetwork, findings: Findings, targets: Collection[int] | None = ()
) -> FactorList:
    """The factors that an answer about the targets depends on; None: about all variables.

    Their sum is the probability of what is known, times that of the product's own sum.
    """
    if network.samples is not None:
        raise JensenError(
            "a network with samples of its tables is a mixture of networks, which approximate "
            "inference does not average: leave out inference=, or learn with method='vbem'"
        )
    hard, soft, do = findings
    wanted = range(len(network.variables)) if targets is None else {*targets, *hard, *soft}
    part = network.relevant(set(wanted), do)
    w, log_tables = network.wiring, network.log_tables
    scopes, tables = [], []
    for f in part.tables:
        members = w.members(f)
        table = log_tables[w.fam_at[f] : w.fam_at[f + 1]].reshape(w.cards[members])
        scopes.append(tuple(map(int, members)))
        tables.append(table)
    with np.errstate(divide="ignore"):
        for v, likelihood in soft.items():
            scopes.append((v,))
            tables.append(np.log(likelihood))
    cards = w.cards.tolist()
    inside = set(part.variables)
    allowed: dict[int, NDArray[np.bool_]] = {}
    for v, card in enumerate(cards):
        if v in hard or v in do:
            allowed[v] = np.arange(card) == {**hard, **do}[v]
        elif v not in inside:
            allowed[v] = np.arange(card) == 0
    return make_factor_list(cards, scopes, tables, allowed)


def is_tree(factors: FactorList) -> bool:
    """Whether the factors have no loop, so that messages are exact."""
    w: Any = factors.wiring
    parent = list(range(factors.n_variables))

    def root(v: int) -> int:
        while parent[v] != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        return v

    for f in range(w.n_families):
        roots = [root(v) for v in w.members(f).tolist()]
        if len(set(roots)) < len(roots):
            return False
        for r in roots:
            parent[r] = roots[0]
    return True
