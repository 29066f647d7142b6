"""Constraints on learned graphs: required and forbidden edges, tiers, numbers of parents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import Variable
from jensen.data.variable import Kind
from jensen.exceptions import DataError, GraphError
from jensen.graphs import DAG, as_dag, formats
from jensen.graphs.base import Graph
from jensen.graphs.indexed_graph import find_cycle, show_edge, show_path
from jensen.scores.graph_priors import ReadPrior, read_family_prior, with_prior
from jensen.scores.mixed_class import edges_outside, outside_class
from jensen.scores.scorer import Scorer, isolated, kinds_of
from jensen.scores.table_checks import are_drawn, no_edge, warn_of_constants
from jensen.support.arguments import check_whole
from jensen.support.text import keyword, offer, option, some

Flags = NDArray[np.bool_]

START, TIERS = keyword("start", "start_graph"), keyword("tiers", "tier")
ORDER = keyword("known_order")


class Constraints(NamedTuple):
    """Constraints as matrices, indexed [parent, child] by position among the sorted names."""

    required: Flags  # (n, n)
    forbidden: Flags  # (n, n)
    most_parents: int

    @property
    def allowed(self) -> NDArray[np.uint8]:
        """Bit 0: the edge may be added; bit 1: it may be dropped."""
        may_add = ~self.forbidden & ~np.eye(len(self.forbidden), dtype=bool)
        return np.asarray(may_add + 2 * ~self.required, np.uint8)

    def refuse(self, joined: Flags) -> bool:
        """Whether a graph lacks a required edge or has a forbidden one."""
        return bool((self.required & ~joined).any() or (self.forbidden & joined).any())


def read_constraints(
    names: Sequence[str],
    max_parents: int | None = None,
    required: Any = (),
    forbidden: Any = (),
    tiers: Iterable[Iterable[str]] | None = None,
) -> Constraints:
    """Read the constraints that the user gave; an error if they contradict each other.

    Parameters
    ----------
    max_parents
        The most parents that a variable may have.
    required, forbidden
        Pairs (from, to), or a text like "A -> B; C -> D".
    tiers
        At least two groups of variables, in the order of time: no edge leads from a later group to
        an earlier one. A variable in no group may have any edge.
    """
    if max_parents is not None:
        check_whole("max_parents", max_parents, at_least=0)
    must, never = (
        _edges(names, required, keyword("required")),
        _edges(names, forbidden, keyword("forbidden")),
    )
    back = _backwards(names, tiers)
    _refuse(names, must & never, "is required and forbidden at once: leave one out")
    _refuse(names, must & back, "is required, but leads back to an earlier tier")
    cycle = find_cycle([tuple(np.flatnonzero(column)) for column in must.T])
    if cycle:
        path = show_path([names[i] for i in cycle])
        raise GraphError(f"the required edges make a cycle: {path}")
    most = len(names) if max_parents is None else min(int(max_parents), len(names))
    crowded = np.flatnonzero(must.sum(0) > most)
    if len(crowded):
        raise GraphError(
            f"{option('max_parents', most)}, but {must[:, crowded[0]].sum()} edges to "
            f"{names[crowded[0]]!r} are required"
        )
    return Constraints(must, never | back, most)


def read_rules(
    scorer: Scorer,
    max_parents: int | None = None,
    required: Any = (),
    forbidden: Any = (),
    tiers: Iterable[Iterable[str]] | None = None,
) -> Constraints:
    """The constraints on the graphs of a scorer: `read_constraints` followed by `restrict`."""
    given = read_constraints(scorer.names, max_parents, required, forbidden, tiers)
    return restrict(given, scorer)


def restrict(constraints: Constraints, scorer: Scorer) -> Constraints:
    """Add what the columns of a scorer forbid: edges at constants, and from numbers to labels."""
    names = scorer.names
    found = isolate(constraints, names, isolated(scorer))
    return keep_class(found, names, kinds_of(scorer))


def keep_class(
    constraints: Constraints, names: Sequence[str], kinds: Sequence[Kind]
) -> Constraints:
    """Forbid every edge that no network has of variables of these kinds: from a number to a label.

    Nor has a count children, or parents but labels. An edge that is required is refused.
    """
    if not kinds:
        return constraints
    never = edges_outside(kinds)
    for u, v in np.argwhere(constraints.required & never):
        raise DataError(outside_class(Variable(names[u], kinds[u]), Variable(names[v], kinds[v])))
    return constraints._replace(forbidden=constraints.forbidden | never)


def isolate(constraints: Constraints, names: Sequence[str], columns: Iterable[int]) -> Constraints:
    """Forbid every edge at a constant column of numbers, and warn of such columns once.

    A required edge at such a column is an error; but in a bootstrap sample it is allowed, because
    the column varies in the table that the user gave.
    """
    constant = sorted(columns)
    if not constant:
        return constraints
    at = np.zeros((len(names), len(names)), bool)
    at[constant], at[:, constant] = True, True
    wrong = np.argwhere(constraints.required & at)
    if len(wrong) and not are_drawn():
        a, b = (names[v] for v in wrong[0])
        raise DataError(no_edge(a, b, a if wrong[0][0] in constant else b))
    warn_of_constants([names[v] for v in constant])
    return constraints._replace(forbidden=constraints.forbidden | (at & ~constraints.required))


def add_certain_edges(names: Sequence[str], given: Constraints, read: ReadPrior) -> Constraints:
    """Add the edges that a prior requires (probability 1) and forbids (probability 0)."""

    def pairs(flags: Flags) -> list[tuple[str, str]]:
        return [(names[u], names[v]) for u, v in np.argwhere(flags)]

    required, forbidden = given.required | read.required, given.forbidden | read.forbidden
    return read_constraints(names, given.most_parents, pairs(required), pairs(forbidden))


def add_prior(prior: Any, scorer: Scorer, given: Constraints) -> tuple[Scorer, Constraints]:
    """Add a prior of graphs: to the scores its log odds, to the constraints its certain edges."""
    if prior is None:
        return scorer, given
    read = read_family_prior(prior, scorer.names)
    return with_prior(scorer, read.prior), add_certain_edges(scorer.names, given, read)


def as_lists(choices: Mapping[str, Any]) -> dict[str, Any]:
    """Copy the choices with edges and tiers as lists, because an iterator can be read only once."""
    found = dict(choices)
    for name in ("required", "forbidden"):
        if name in found:
            found[name] = sorted(_pairs(found[name], name))
    if found.get("tiers") is not None:
        found["tiers"] = _groups(found["tiers"])
    return found


def without_edges_at(start: Any, columns: Set[str]) -> DAG:
    """The start graph without the edges at constant columns."""
    dag = as_dag(start)
    return DAG([edge for edge in dag.edges if columns.isdisjoint(edge)], dag.nodes)


def plain_choice(choice: Any) -> Any:
    """A choice as plain data for the fingerprint of the run."""
    if choice is None or isinstance(choice, (str, bool, int, float, np.ndarray, np.generic)):
        return choice
    if isinstance(choice, Mapping):
        return {str(name): plain_choice(value) for name, value in choice.items()}
    if isinstance(choice, Graph):
        return [list(choice.nodes), str(choice)]
    if hasattr(choice, "save"):
        from jensen import io

        return io.to_bytes(choice)
    return [plain_choice(part) for part in choice] if isinstance(choice, Iterable) else repr(choice)


def read_start(start: Any, names: Sequence[str], constraints: Constraints) -> Flags:
    """The start graph of a search with the required edges added; an error if it breaks constraints.

    A CPDAG or PDAG is extended to a DAG.
    """
    joined = constraints.required.copy()
    if start is None:
        return joined
    dag = as_dag(start)
    unknown = sorted(set(dag.nodes) - set(names))
    if unknown:
        raise GraphError(
            f"{START} has a node {unknown[0]!r} that is no column; "
            f"{offer(unknown[0], names, 'column')}"
        )
    joined |= _edges(names, dag.edges, START)
    _refuse(names, joined & constraints.forbidden, f"of {START} is forbidden")
    cycle = find_cycle([tuple(np.flatnonzero(column)) for column in joined.T])
    if cycle:
        path = show_path([names[i] for i in cycle])
        raise GraphError(f"{START} together with the required edges makes a cycle: {path}")
    crowded = np.flatnonzero(joined.sum(0) > constraints.most_parents)
    if len(crowded):
        raise GraphError(
            f"{START} gives {names[crowded[0]]!r} more parents than "
            f"{option('max_parents', constraints.most_parents)}"
        )
    return joined


def _edges(names: Sequence[str], given: Any, what: str) -> Flags:
    """(n, n): pairs of names, or a text, as flags."""
    at = {name: i for i, name in enumerate(names)}
    flags = np.zeros((len(names), len(names)), bool)
    for pair in _pairs(given, what):
        for name in pair:
            if name not in at:
                raise GraphError(
                    f"{what} names {name!r}, which is no column; {offer(name, names, 'column')}"
                )
        if pair[0] == pair[1]:
            raise GraphError(f"{what} has an edge from {pair[0]!r} to itself")
        flags[at[pair[0]], at[pair[1]]] = True
    return flags


def _pairs(given: Any, what: str) -> list[tuple[str, str]]:
    """Edges (from, to) of a DAG, a text or an iterable of pairs."""
    if isinstance(given, DAG):
        return list(given.edges)
    if isinstance(given, str):
        edges = formats.parse(given).edges
        for edge in edges:
            if edge[1] != "->":
                raise GraphError(f"{what} lists arrows, not {show_edge(edge)!r}")
        return [(a, b) for a, _, b in edges]
    if not isinstance(given, Iterable):
        raise GraphError(f"{what} lists pairs (from, to), and is not {given!r}")
    return [_pair(pair, what) for pair in given]


def _pair(given: Any, what: str) -> tuple[str, str]:
    is_group = isinstance(given, Iterable) and not isinstance(given, str)
    names = list(given) if is_group else []
    if len(names) != 2 or not all(isinstance(name, str) for name in names):
        raise GraphError(f"{what} lists pairs (from, to), not {given!r}")
    if isinstance(given, Set):
        a, b = sorted(names)
        raise GraphError(
            f"{what} has the set of {a!r} and {b!r}, which has no direction: write the pair "
            f"({a!r}, {b!r}), or ({b!r}, {a!r})"
        )
    return str(names[0]), str(names[1])


def _groups(tiers: Any) -> list[list[str]]:
    """The names of each tier, sorted, because the order of a set is not reproducible."""
    if tiers is None:
        return []
    if isinstance(tiers, str) or not isinstance(tiers, Iterable):
        raise GraphError(f"{TIERS} is a list of lists of names, not {tiers!r}")
    groups: list[list[str]] = []
    for tier in tiers:
        if isinstance(tier, str) or not isinstance(tier, Iterable):
            raise GraphError(f"{TIERS} is a list of lists of names; write [{tier!r}]")
        groups.append(sorted(tier, key=str))
    return groups


def _backwards(names: Sequence[str], tiers: Any) -> Flags:
    """(n, n): flags of edges from a later tier to an earlier one."""
    tier_of: dict[str, int] = {}
    groups = _groups(tiers)
    if [] in groups:
        raise GraphError(f"{TIERS} has a tier without names: leave it out")
    for number, tier in enumerate(groups):
        for name in tier:
            if name not in names:
                raise GraphError(
                    f"{TIERS} names {name!r}, which is no column; {offer(name, names, 'column')}"
                )
            if name in tier_of:
                raise GraphError(f"{TIERS} names {name!r} twice")
            tier_of[name] = number
    if len(groups) == 1:
        raise GraphError(
            f"{TIERS} has a single tier, which forbids nothing, for a variable in no tier may have "
            "any edge: add a tier of those that come later"
        )
    last = len(tier_of) + 1
    after = np.array([tier_of.get(name, -1) for name in names])
    before = np.array([tier_of.get(name, last) for name in names])
    flags: Flags = after[:, None] > before[None, :]
    return flags


def read_order(names: Sequence[str], known_order: Any) -> tuple[int, ...]:
    """A known order of all variables, from first to last, as positions among the sorted names."""
    if isinstance(known_order, str) or not isinstance(known_order, Sequence | np.ndarray):
        raise GraphError(f"{ORDER} lists all columns, from first to last, not {known_order!r}")
    at = {name: v for v, name in enumerate(names)}
    found: list[int] = []
    for name in known_order:
        if not isinstance(name, str):
            raise GraphError(
                f"{ORDER} lists single columns, and {name!r} is none: groups of columns whose own "
                f"order is unknown are {TIERS}"
            )
        if name not in at:
            raise GraphError(
                f"{ORDER} names {name!r}, which is no column; {offer(name, names, 'column')}"
            )
        if at[name] in found:
            raise GraphError(f"{ORDER} names {name!r} twice")
        found.append(at[name])
    if len(found) < len(names):
        left = some(name for name in names if at[name] not in found)
        raise GraphError(
            f"{ORDER} lacks {left}: it lists all columns; if a place is unknown, give {TIERS}"
        )
    return tuple(found)


def follow_order(
    constraints: Constraints, names: Sequence[str], order: Sequence[int]
) -> Constraints:
    """Forbid every edge that leads backward in an order; one that is required is refused."""
    place = np.argsort(order)
    back: Flags = place[:, None] > place[None, :]
    _refuse(names, constraints.required & back, f"is required, but leads back in {ORDER}")
    return constraints._replace(forbidden=constraints.forbidden | back)


def order_of_tiers(names: Sequence[str], tiers: Sequence[Sequence[str]]) -> list[str] | None:
    """The order that tiers of one variable each are; None if they leave some order open."""
    flat = [name for tier in tiers for name in tier]
    return flat if len(flat) == len(tiers) == len(names) > 1 else None


def _refuse(names: Sequence[str], edges: Flags, why: str) -> None:
    found = np.argwhere(edges)
    if len(found):
        a, b = found[0]
        raise GraphError(f"the edge {names[a]} -> {names[b]} {why}")
