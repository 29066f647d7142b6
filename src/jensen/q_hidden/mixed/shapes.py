"""What rows with the same gaps have in common: which parts are missing, and what links them."""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from jensen.graphs.indexed_graph import wire_families
from jensen.q_hidden.mixed.layout import MixedLayout
from jensen.q_hidden.trees.plans import Plans
from jensen.support.cell_records import CONSTANT, GroupKinds
from jensen.support.machine import check_memory
from jensen.support.text import some
from jensen.support.tree_records import Program, SetFamilies

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Made = TypeVar("Made")
Terms = tuple[tuple[int, int], ...]
"""Labels and their steps: what is known selects Σ step · state."""


class GroupKind(NamedTuple):
    """Missing numbers that are linked, regressions that mention them, labels around them."""

    missing: tuple[int, ...]  # numbers
    families: tuple[int, ...]  # numbers whose regressions take part
    scope: tuple[int, ...]  # missing labels


class LabelSet(NamedTuple):
    """Missing labels that are linked, and the factors that link them."""

    members: tuple[int, ...]
    tables: tuple[int, ...]  # labels whose tables take part
    scopes: tuple[tuple[int, ...], ...]  # of the groups around them, one each


class Shape(NamedTuple):
    """The parts of a row with some gaps."""

    groups: tuple[int, ...]  # numbers of kinds
    sets: tuple[tuple[int, tuple[int, ...]], ...]  # number of a set, places of its groups above


class Asked(NamedTuple):
    """What a question wants to know besides what is known."""

    nodes: frozenset[int] = frozenset()  # which are kept although nothing below them is known
    together: tuple[tuple[int, ...], ...] = ()  # missing labels whose joint distribution is asked


NOTHING_ASKED = Asked()


class _AsOf(Generic[Made]):
    """What is made of all that was met so far: made again when there is more."""

    def __init__(self, make: Callable[[], Made]) -> None:
        self._make, self._lock = make, Lock()
        self._made: tuple[int, Made] | None = None

    def __call__(self, n: int) -> Made:
        with self._lock:
            if self._made is None or self._made[0] != n:
                self._made = n, self._make()
            return self._made[1]


class Shapes:
    """All shapes that were met; kinds and sets are numbered as they come."""

    def __init__(self, layout: MixedLayout, names: Sequence[str]) -> None:
        self.layout = layout
        self.names = names  # of all nodes
        self.group_kinds: dict[GroupKind, int] = {}
        self.label_sets: dict[LabelSet, int] = {}
        self._known: dict[tuple[bytes, frozenset[int], Asked], Shape] = {}
        self._kinds, self._program = _AsOf(self._make_kinds), _AsOf(self._make_program)

    def shape_of(
        self, missing: NDArray[np.bool_], was_set: frozenset[int], asked: Asked = NOTHING_ASKED
    ) -> Shape:
        """The shape of rows that miss these nodes; families of those in `was_set` take no part.

        Missing nodes without a descendant that is known integrate to one and are left out, but for
        those that are asked for.
        """
        key = missing.tobytes(), was_set, asked
        if key not in self._known:
            self._known[key] = self._analyse(missing, was_set, asked)
        return self._known[key]

    def _analyse(self, missing: NDArray[np.bool_], was_set: frozenset[int], asked: Asked) -> Shape:
        layout = self.layout
        hidden, families = set[int](), list[int]()
        wanted = asked.nodes & layout.counts  # counts whose parents are asked for in their place
        for v in layout.children_first:
            is_missing = bool(missing[v])
            below = (u for u in layout.children[v] if u not in was_set)
            shows = any(not missing[u] or u in hidden or u in wanted for u in below)
            if is_missing and (v in layout.counts or not (shows or v in asked.nodes)):
                continue
            if is_missing:
                hidden.add(v)
            if v not in was_set and (is_missing or any(missing[u] for u in layout.parents[v])):
                families.append(v)
        place, cards = layout.place, layout.cards
        kinds = self._groups(hidden, sorted(place[v] for v in families if not cards[v]))
        kinds += [GroupKind((), (), scope) for scope in asked.together]
        tables = sorted(place[v] for v in families if cards[v])
        groups = tuple(self.group_kinds.setdefault(k, len(self.group_kinds)) for k in kinds)
        labels = {place[v] for v in hidden if cards[v]}
        return Shape(groups, tuple(self._sets(labels, tables, kinds)))

    def _groups(self, hidden: set[int], families: list[int]) -> list[GroupKind]:
        """Regressions that share missing numbers, or only missing labels, side by side."""
        layout = self.layout
        labels = {layout.place[v] for v in hidden if layout.cards[v]}
        numbers = {layout.place[v] for v in hidden if not layout.cards[v]}
        parts: list[tuple[set[int], list[int]]] = []
        alone: dict[tuple[int, ...], list[int]] = {}
        for v in families:
            own = numbers & {v, *layout.number_parents[v]}
            if not own:
                scope = tuple(sorted(labels & set(layout.label_parents[v])))
                alone.setdefault(scope, []).append(v)
                continue
            members = [v]
            for part in [part for part in parts if part[0] & own]:
                parts.remove(part)
                own |= part[0]
                members += part[1]
            parts.append((own, members))
        found = []
        for own, members in parts:
            around = {u for v in members for u in layout.label_parents[v]} & labels
            found.append(
                GroupKind(tuple(sorted(own)), tuple(sorted(members)), tuple(sorted(around)))
            )
        return found + [GroupKind((), tuple(vs), scope) for scope, vs in alone.items()]

    def _sets(
        self, missing: set[int], tables: list[int], kinds: list[GroupKind]
    ) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Missing labels that share a table or a group, side by side."""
        wiring = self.layout.wiring
        factors = [(missing & set(map(int, wiring.members(f))), f, -1) for f in tables]
        factors += [(set(kind.scope), -1, k) for k, kind in enumerate(kinds) if kind.scope]
        parts: list[tuple[set[int], list[tuple[int, int]]]] = []
        for scope, table, group in factors:
            members, own = set(scope), [(table, group)]
            for part in [part for part in parts if part[0] & members]:
                parts.remove(part)
                members |= part[0]
                own = part[1] + own
            parts.append((members, own))
        for members, own in parts:
            groups = tuple(sorted(group for _, group in own if group >= 0))
            of_set = LabelSet(
                tuple(sorted(members)),
                tuple(sorted(table for table, _ in own if table >= 0)),
                tuple(kinds[group].scope for group in groups),
            )
            yield self.label_sets.setdefault(of_set, len(self.label_sets)), groups

    # --- as kernels read them ---

    def known_terms(self, kind: GroupKind) -> list[Terms]:
        """For each regression of a kind: how labels that are known select its configuration."""
        return [
            tuple((u, step) for u, step in self.layout.strides[v].items() if u not in kind.scope)
            for v in kind.families
        ]

    def table_terms(self, of_set: LabelSet) -> list[tuple[int, Terms]]:
        """For each table of a set: where it begins, and how labels that are known select in it."""
        wiring, found = self.layout.wiring, []
        for f in of_set.tables:
            at = slice(wiring.fam_ptr[f], wiring.fam_ptr[f + 1])
            pairs = zip(wiring.fam_vars[at].tolist(), wiring.fam_stride[at].tolist(), strict=True)
            terms = tuple((u, step) for u, step in pairs if u not in of_set.members)
            found.append((int(wiring.fam_at[f]), terms))
        return found

    def n_configs(self, scope: Sequence[int]) -> int:
        """How many configurations some labels have."""
        return int(np.prod([self.layout.cards[self.layout.labels[u]] for u in scope], dtype=object))

    @property
    def kinds(self) -> GroupKinds:
        """All kinds that were met, as flat arrays."""
        return self._kinds(len(self.group_kinds))

    @property
    def program(self) -> Program:
        """The trees of all sets that were met; compiled when a rule asks for them."""
        return self._program(len(self.label_sets))

    def _make_kinds(self) -> GroupKinds:
        layout, cards = self.layout, self.layout.wiring.cards
        family_end, form_at, form_size, member_end, member = [0], [], [], [], list[int]()
        steps, step_at, n_configs = list[int](), [], []
        for kind in self.group_kinds:
            self.check_kind(kind)
            place = {v: k for k, v in enumerate(kind.missing)}
            for v in kind.families:
                form_at.append(layout.form_at[v])
                form_size.append(1 + layout.n_members[v] ** 2)
                member.append(CONSTANT)
                member += [place.get(u, -2 - u) for u in (*layout.number_parents[v], v)]
                member_end.append(len(member))
            family_end.append(len(form_at))
            step_at.append(len(steps))
            n_configs.append(self.n_configs(kind.scope))
            for states in product(*(range(cards[u]) for u in kind.scope)):
                at = dict(zip(kind.scope, states, strict=True))
                steps += [
                    sum(step * at.get(u, 0) for u, step in layout.strides[v].items())
                    for v in kind.families
                ]
        n_missing = [len(kind.missing) for kind in self.group_kinds]
        parts = (n_missing, n_configs, family_end[1:], form_at, form_size, member_end, member)
        return GroupKinds(*(np.array(part, np.int64) for part in (*parts, step_at, steps)))

    def check_kind(self, kind: GroupKind) -> None:
        """Refuse a part whose table of labels is too large."""
        size = self.n_configs(kind.scope)
        named = some((self.names[self.layout.labels[u]] for u in kind.scope), most=6)
        check_memory(
            8.0 * size * (3 + len(kind.families)),
            f"{size:.3g} configurations of missing labels ({named}) around numbers that are "
            f"missing together",
            "declare fewer labels hidden, leave out parents, merge states, or give more evidence",
        )

    def _make_program(self) -> Program:
        wiring = self.layout.wiring
        scopes = {scope for of_set in self.label_sets for scope in of_set.scopes}
        number = {scope: wiring.n_families + k for k, scope in enumerate(sorted(scopes))}
        extended = wire_families([*wiring.scopes(), *sorted(scopes)], wiring.cards.tolist())
        names = [self.names[v] for v in self.layout.labels]
        members, families, ptr, end = list[int](), list[int](), [0], list[int]()
        for of_set in self.label_sets:
            members += of_set.members
            families += [*of_set.tables, *(number[scope] for scope in of_set.scopes)]
            ptr.append(len(members))
            end.append(len(families))
        nothing = np.empty(0, np.int64)
        touched = SetFamilies(
            np.array(end, np.int64), np.array(families, np.int64), *(nothing,) * 4
        )
        plans = Plans(extended, names)
        return plans.compile_sets(np.array(ptr), np.array(members, np.int32), touched)
