"""PC-stable: a graph from tests of independence.

Directions of the skeleton: constraints, then colliders by majority, then Meek's rules. A triple
a - c - b whose ends are not adjacent is a collider a -> c <- b if c is in fewer than half of all
sets that separate a and b, taken from the possible parents of either. If c is in more than half, it
is no collider. At exactly half, or where no set separates the two, the triple stays undecided.

References
----------
Colombo and Maathuis (2014), *Order-independent constraint-based causal structure learning*, JMLR
15: the majority rule.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from tqdm import tqdm

from jensen.data import as_rows
from jensen.data.column_warnings import warn_of_row_names
from jensen.data.variable import kind_in_graphs
from jensen.exceptions import GraphError, JensenError
from jensen.graphs import PDAG, orientation
from jensen.graphs.indexed_graph import IndexedGraph
from jensen.independence.independent import check_alpha, check_table, make_tests
from jensen.independence.skeleton import Flags, Skeleton, Watch, find_skeleton, possible_parents
from jensen.independence.testing import Around, Ends, Given, Question, Tests, portions, subsets
from jensen.q_graph.constraints import Constraints, keep_class, read_constraints
from jensen.scores.table_checks import (
    note_columns,
    warn_of_constant_labels,
    warn_of_constant_numbers,
)
from jensen.support.arguments import check_whole
from jensen.support.machine import interruptible

Triple = tuple[int, int, int]

Named = tuple[str, str]
Correction = Literal["bonferroni", "fdr"]


@dataclass(frozen=True)
class PCInfo:
    """How a graph was found by tests of independence; pairs of names have the smaller first."""

    test: str
    alpha: float
    correction: str | None
    n_tests: int
    n_tests_by_size: tuple[int, ...]
    """The number of tests that looked for separating sets, by the size of the sets."""
    separators: dict[Named, tuple[str, ...]] = field(repr=False)
    """For every pair that was tested and is not adjacent, the set that separates it."""
    p_values: dict[Named, float] = field(repr=False)
    """For every pair that was tested, the largest p-value of its tests."""
    conflicts: tuple[Named, ...]
    """Edges that the tests direct both ways; they are `<->` in the graph."""
    unknown: tuple[tuple[str, str, str], ...] = field(repr=False)
    """Undecided triples (a, c, b): exactly half of the sets that separate a and b contain c, or no
    set of neighbours separates them."""
    overruled: tuple[Named, ...]
    """Arrows (from, to) that the tests imply and the constraints forbid; the constraints win."""
    consistent: bool
    """Whether there is a DAG with these directions, these edges and no other v-structures."""
    interrupted: bool
    seconds: float
    cuts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """The cut points of columns that were made labels (`discretize=`)."""
    method: str = "pc"


def pc(
    table: Any,
    *,
    test: str | None = None,
    alpha: float = 0.05,
    max_given: int | None = None,
    correction: Correction | None = None,
    permutations: int = 0,
    required: Any = (),
    forbidden: Any = (),
    tiers: Iterable[Iterable[str]] | None = None,
    random_state: Any = None,
    progress: bool = False,
) -> PDAG:
    """Learn a graph by tests of independence; the order of columns changes nothing (PC-stable).

    Pairs that are independent given some of their neighbours are not adjacent. A triple a - c - b
    whose ends are not adjacent is a collider a -> c <- b if fewer than half of the sets that
    separate a and b contain c (the majority rule, over sets of neighbours of either end). Meek's
    rules then direct the edges that follow.

    Parameters
    ----------
    table
        Anything a `Table` can be built from. Values may be missing: every test is made on the rows
        that are complete in its own columns. Row weights are frequencies.
    test, alpha, permutations, random_state
        As in `jensen.independent`.
    max_given
        The most variables in the condition of a test; None: the number of neighbours.
    correction
        The p-value of an edge is the largest of its tests. "bonferroni": it must be below alpha
        divided by the number of pairs, so that with probability 1 - alpha there is no false edge.
        "fdr": the procedure of Benjamini and Hochberg selects among the remaining edges, so that
        about a share alpha of them is false. None: the p-value must be below alpha.
    required, forbidden, tiers
        As in `jensen.learn_structure`; they win over tests. Edges between a label and a number lead
        to the number, so that the graph can be fitted; by `tiers=()` tests alone direct them.
    progress
        Show the size of the sets and the pairs that are done. Ctrl-C ends the run with the edges
        that are left so far.

    Returns
    -------
    CPDAG or PDAG
        A `CPDAG` if the directions are those of a Markov equivalence class. Else a `PDAG`: where
        tests contradict each other (edges `<->`, or `info.consistent` is False), or where
        constraints direct more than the class does. `info` has the number of tests, separating
        sets, p-values and conflicts.

    Notes
    -----
    A column that is a copy or a function of other columns makes these look independent of all the
    rest (faithfulness does not hold). Leave such columns out.

    References
    ----------
    Spirtes, Glymour and Scheines (2000), *Causation, Prediction, and Search*. Colombo
    and Maathuis (2014), *Order-independent constraint-based causal structure learning*. Meek
    (1995), *Causal inference and causal explanation with background knowledge*. Benjamini and
    Hochberg (1995), *Controlling the false discovery rate*.

    Examples
    --------
    >>> import jensen as jn
    >>> from jensen.independence.pc import pc
    >>> table = jn.examples.load("sprinkler").sample(5000, random_state=0)
    >>> pc(table, alpha=0.01)
    CPDAG('cloudy -- rain; cloudy -- sprinkler; rain -> wet_grass; sprinkler -> wet_grass')
    """
    check_alpha(alpha)
    if correction is not None and correction not in get_args(Correction):
        raise JensenError(f"correction must be None, 'bonferroni' or 'fdr', not {correction!r}")
    data = as_rows(table)
    check_table(data)
    warn_of_row_names(data, counts=True)
    warn_of_constant_labels(data)
    warn_of_constant_numbers(data)
    is_free = isinstance(tiers, (list, tuple)) and not tiers
    note_columns(data.variables, is_class=not is_free)
    tests, name = make_tests(data, test, permutations, random_state)
    constraints = read_constraints(tests.names, None, required, forbidden, tiers)
    if not is_free:
        kinds = [kind_in_graphs(data.variable(name)) for name in tests.names]
        constraints = keep_class(constraints, tests.names, kinds)
    return pc_by_tests(
        tests, constraints, alpha=alpha, max_given=max_given, correction=correction,
        test=name, progress=progress,
    )  # fmt: skip


def pc_by_tests(
    tests: Tests,
    constraints: Constraints,
    *,
    alpha: float = 0.05,
    max_given: int | None = None,
    correction: Correction | None = None,
    test: str = "oracle",
    progress: bool = False,
) -> PDAG:
    """PC-stable with tests of any kind, such as an `Oracle`; see `pc`."""
    began = time.perf_counter()
    if max_given is not None:
        check_whole("max_given", max_given, at_least=0)
    n = len(tests.names)
    most = n if max_given is None else int(max_given)
    level = math.log(alpha)
    if correction == "bonferroni":
        level -= math.log(max(_n_pairs(constraints), 1))
    colliders = Colliders([], [], 0)
    with watched("pc", progress) as watch:
        skeleton = find_skeleton(tests, constraints, level, most, watch)
        if correction == "fdr":
            level = _part_false_discoveries(skeleton, alpha)
        if not skeleton.interrupted:
            colliders = find_colliders(tests, skeleton, constraints, level, most, watch)
    oriented = orient(tests.names, skeleton.adjacent, colliders.found, constraints)
    names = tests.names
    info = PCInfo(
        test=test,
        alpha=alpha,
        correction=correction,
        n_tests=sum(skeleton.n_tests) + colliders.n_tests,
        n_tests_by_size=tuple(skeleton.n_tests),
        separators={
            (names[a], names[b]): tuple(names[v] for v in verdict.given)
            for (a, b), verdict in sorted(skeleton.nearest.items())
            if not skeleton.adjacent[a, b]
        },
        p_values={
            (names[a], names[b]): math.exp(verdict.log_p)
            for (a, b), verdict in sorted(skeleton.nearest.items())
        },
        conflicts=oriented.graph.conflicting,
        unknown=tuple((names[a], names[c], names[b]) for a, c, b in colliders.unknown),
        overruled=tuple((names[a], names[b]) for a, b in oriented.overruled),
        consistent=oriented.consistent,
        interrupted=skeleton.interrupted or colliders.interrupted,
        seconds=time.perf_counter() - began,
    )
    return oriented.graph.with_info(info)


@contextmanager
def watched(method: str, progress: bool) -> Iterator[Callable[[int, int, int], bool]]:
    """A watch that shows the progress of a search, and stops it after Ctrl-C."""
    with interruptible() as stop, tqdm(desc=method, disable=not progress, delay=1.0) as bar:

        def watch(size: int, done: int, total: int) -> bool:
            if not bar.disable:
                bar.total, bar.n = total, done
                bar.set_postfix(given=size)
            return stop.is_set()

        yield watch


def _n_pairs(constraints: Constraints) -> int:
    """The number of pairs that are tested."""
    never = constraints.forbidden & constraints.forbidden.T
    must = constraints.required | constraints.required.T
    return int(np.triu(~never & ~must, 1).sum())


def _part_false_discoveries(skeleton: Skeleton, alpha: float) -> float:
    """Remove the edges that Benjamini and Hochberg's procedure rejects; return the log level."""
    ranked = sorted(skeleton.nearest.items(), key=lambda item: item[1].log_p)
    strictest = math.log(alpha) - math.log(max(len(ranked), 1))
    level = strictest
    for rank, (_, verdict) in enumerate(ranked, start=1):
        if verdict.log_p <= strictest + math.log(rank):
            level = max(level, verdict.log_p)
    for ends, verdict in ranked:
        if verdict.log_p > level:
            skeleton.part(ends)
    return level


class Colliders(NamedTuple):
    """Decisions about the triples (a, c, b), a < b, with edges a - c - b but no edge a - b."""

    found: list[Triple]
    unknown: list[Triple]
    n_tests: int
    interrupted: bool = False


def find_colliders(
    tests: Tests,
    skeleton: Skeleton,
    constraints: Constraints,
    log_alpha: float,
    max_given: int,
    watch: Watch,
) -> Colliders:
    """Decide every triple by the sets that separate its ends; none if the caller stops."""
    around = possible_parents(skeleton.adjacent, constraints)
    todo = _unshielded(skeleton.adjacent)
    separating: dict[Ends, list[Given]] = {ends: [] for ends in todo}
    place = {ends: k for k, ends in enumerate(todo)}
    n_tests = 0
    for some in portions(_questions(todo, skeleton, around, log_alpha, max_given)):
        a, b, given = some[0]
        if watch(len(given), place[a, b], len(todo)):
            return Colliders([], [], n_tests, interrupted=True)
        n_tests += len(some)
        for (a, b, given), log_p in zip(some, tests.log_p_values(some).tolist(), strict=True):
            if log_p > log_alpha:
                separating[a, b].append(given)
    return Colliders(*_decide(todo, separating), n_tests)


def _unshielded(adjacent: Flags) -> dict[Ends, list[int]]:
    """The pairs that are not adjacent but have common neighbours, and these neighbours."""
    apart = ~adjacent & (adjacent.astype(np.int64) @ adjacent.astype(np.int64) > 0)
    return {
        (a, b): np.flatnonzero(adjacent[a] & adjacent[b]).tolist()
        for a, b in np.argwhere(np.triu(apart, 1)).tolist()
    }


def _questions(
    todo: dict[Ends, list[int]],
    skeleton: Skeleton,
    around: Around,
    log_alpha: float,
    max_given: int,
) -> Iterator[Question]:
    """All sets that might separate each pair.

    Smaller sets than the separating set of the skeleton are skipped: all of them were tested
    before, at the same level.
    """
    is_same = log_alpha == skeleton.log_alpha
    for ends in todo:
        known = skeleton.separator(ends)
        most = min(max_given, max(len(around[v]) for v in ends))
        for size in range(len(known) if known and is_same else 0, most + 1):
            for given in subsets(ends, around, size):
                yield (*ends, given)


def _decide(
    todo: dict[Ends, list[int]], separating: dict[Ends, list[Given]]
) -> tuple[list[Triple], list[Triple]]:
    """The colliders, and the undecided triples.

    The separating set of the skeleton has no vote of its own: it may contain variables that are no
    longer neighbours.
    """
    found: list[Triple] = []
    unknown: list[Triple] = []
    for ends, middles in todo.items():
        for c in middles:
            balance = sum(1 if c in given else -1 for given in separating[ends])
            if balance < 0:
                found.append((ends[0], c, ends[1]))
            elif balance == 0:
                unknown.append((ends[0], c, ends[1]))
    return sorted(found), sorted(unknown)


class Oriented(NamedTuple):
    """A directed skeleton, and the arrows that constraints overruled."""

    graph: PDAG
    overruled: tuple[Ends, ...]  # arrows of colliders that constraints forbid
    consistent: bool


def orient(
    names: Sequence[str], adjacent: Flags, colliders: Sequence[Triple], constraints: Constraints
) -> Oriented:
    """Direct edges by constraints, then by colliders, then by Meek's rules.

    Constraints win over colliders. An edge that colliders or Meek's rules direct both ways is
    marked as conflicting.
    """
    n = len(names)
    known = adjacent & (constraints.required | constraints.forbidden.T)
    wanted = np.zeros((n, n), bool)
    for a, c, b in colliders:
        wanted[a, c] = wanted[b, c] = True
    overruled = wanted & known.T
    arrows = known | (wanted & ~known.T)
    both = arrows & arrows.T
    content = IndexedGraph(
        tuple(names),
        _pairs(arrows & ~both),
        _pairs(np.triu(adjacent & ~arrows & ~arrows.T)),
        _pairs(np.triu(both)),
    )
    graph = PDAG._of(orientation.meek(content))
    try:
        complete = graph.cpdag()
    except GraphError:
        return Oriented(graph, _pairs(overruled), consistent=False)
    is_class = complete._indexed == graph._indexed
    return Oriented(complete if is_class else graph, _pairs(overruled), consistent=True)


def _pairs(flags: Flags) -> tuple[Ends, ...]:
    return tuple((a, b) for a, b in np.argwhere(flags).tolist())
