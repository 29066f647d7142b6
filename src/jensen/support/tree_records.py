"""Records of arrays that discrete networks, their cluster trees and kernels share."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

N_CLUSTERS, N_MEMBERS, N_ENTRIES, N_SENT, N_STATES, CLUSTERS = range(6)
"""The head of a program: its clusters, members, entries of all tables, of all messages, states of
all members; then where each cluster begins, counted from the head."""

SIZE, TILE, WIDTH, PSI, MESSAGE, FAMILIES, CHILDREN, ENDS, SEEN, SLOTS = range(10)
"""The head of a cluster; its slots follow, then the members that end in it, then those that are
seen in its message, then offsets."""

SOURCE, KIND, RUN, INNER, OUTER, SLOT = range(6)
"""A slot, and its length."""

INDEX, STRIDE, CARD, PLACE, MEMBER = range(5)
"""A member, and its length."""

GATHER, CONTIGUOUS, CONSTANT = range(3)
"""Kinds of slots: how a run of entries of a cluster walks through its source."""

ELSEWHERE = -1
"""The place of a member that ends in a cluster but is seen in a message."""


PARENT, N_DIGITS, N_ENDS, ENTRIES, SEPARATOR, SENT_AT, STATES, SEEN_IN, STEP, BOARD = range(10)
"""A line of the board on which a tree is planned, and its length. Of a cluster: its parent, how
many members it holds and how many end in it, the sizes of its table and of its message, and where
this begins. Of a member: its states, the cluster in whose message its marginal is read, and its
step in what a slot reads."""


class Program(NamedTuple):
    """Trees of clusters, one per set of hidden variables, written as integers.

    The clusters of a set stand children before parents. A cluster has a table of SIZE entries in
    tiles of TILE; the digits of its separator run fastest and have WIDTH configurations; its table
    and its message begin at PSI and MESSAGE of the work arrays. It multiplies FAMILIES slots, whose
    SOURCE is a position in the list of families of the set, and then CHILDREN slots, whose SOURCE
    is where the message of a child begins. Entry i reads its source at
    ``code[q + OUTER + i // TILE] + code[q + INNER + i % TILE]``, where q is where the cluster
    begins; within every RUN entries of a tile this grows by one (CONTIGUOUS) or not at all
    (CONSTANT), unless such runs are too short to be of use (GATHER).

    ENDS members end in the cluster: INDEX in the set, STRIDE in the cluster, CARD, and PLACE of
    their first state among the states of all members. The marginal of a member is read where that
    is short: in the smallest message that holds it, as one of the SEEN members of the cluster that
    sends it (with its STRIDE in the message), or in the table of the only cluster that holds it.
    """

    code: Ints
    start: Ints  # (sets,): where the head of each set stands


class SetFamilies(NamedTuple):
    """What sets touch, and how evidence selects in the tables of these families."""

    end: Ints  # (sets,): where the families of each set end in the next
    of: Ints
    base: Ints  # where the table of that family begins
    term_end: Ints  # the position is base + Σ term_stride · state number term_around
    term_around: Ints
    term_stride: Ints


class Sets(NamedTuple):
    """Sets of hidden variables that are compiled: what `Plans` knew at one moment."""

    entries: NDArray[np.int32]  # members of all sets, end to end
    begin: Ints
    end: Ints
    families: SetFamilies
    program: Program

    @property
    def n_members(self) -> Ints:
        """How many variables each set has."""
        return self.end - self.begin

    @property
    def n_families(self) -> Ints:
        """How many families each set touches."""
        return np.diff(self.families.end, prepend=0)

    @property
    def cost(self) -> Ints:
        """What solving a problem of each set costs: entries of tables and messages, and a fee."""
        code, start = self.program
        return code[start + N_ENTRIES] + code[start + N_SENT] + 8

    def families_of(self, p: int) -> Ints:
        """The families that set p touches."""
        return self.families.of[self.families.end[p - 1] if p else 0 : self.families.end[p]]


class Problems(NamedTuple):
    """Sub-problems: a set of hidden variables and the table positions its evidence selects."""

    set_of: Ints  # (K,)
    base_ptr: Ints  # (K,): where its bases begin
    bases: Ints
    weight: NDArray[np.float64]  # (K,): how many rows share it


class TreeWorkspace(NamedTuple):
    """Where kernels plan the trees of one set after the other."""

    adjacent: NDArray[np.bool_]  # a square of the members
    digits: Ints  # the same
    board: Ints
    home: Ints  # of every family: the cluster that multiplies it
    local: Ints  # of every variable: its number in the set, or -1


def make_tree_workspace(n_members: int, n_families: int, n_variables: int) -> TreeWorkspace:
    """Arrays that are large enough for sets of at most so many members and families."""
    return TreeWorkspace(
        np.empty(n_members**2, bool),
        np.empty(n_members**2, np.int64),
        np.empty(n_members * BOARD, np.int64),
        np.empty(n_families, np.int64),
        np.full(n_variables, -1, np.int64),
    )


class SolverWorkspace(NamedTuple):
    """Arrays that a kernel writes while it solves one problem."""

    psi: NDArray[np.float64]
    message: NDArray[np.float64]
    back: NDArray[np.float64]
    chosen: Ints


def make_solver_workspace(program: Program, sets: Ints) -> SolverWorkspace:
    """Arrays that are large enough for these sets."""
    heads = program.start[sets]
    entries = program.code[heads + N_ENTRIES].max(initial=1)
    sent = program.code[heads + N_SENT].max(initial=1)
    return SolverWorkspace(
        np.empty(entries), np.empty(sent), np.empty(sent), np.empty(sent, np.int64)
    )


class Wiring(NamedTuple):
    """Families of discrete variables and their flat tables, as int64.

    The table of family f is the slice ``fam_at[f]:fam_at[f + 1]`` of one long array. Its members
    are the positions ``fam_ptr[f]:fam_ptr[f + 1]`` of `fam_vars` and `fam_stride`. In a directed
    graph family v is variable v with its parents: the parents in ascending order, then v.
    """

    cards: NDArray[np.int64]  # (n,) number of states
    fam_ptr: NDArray[np.int64]  # (F + 1,)
    fam_vars: NDArray[np.int64]
    fam_stride: NDArray[np.int64]  # step of that variable in the table; 1 for the last
    fam_at: NDArray[np.int64]  # (F + 1,) the last is the size of all tables
    touch_ptr: NDArray[np.int64]  # (n + 1,) the families that hold variable v are
    touch: NDArray[np.int64]  # touch[touch_ptr[v]:touch_ptr[v + 1]]

    @property
    def n_families(self) -> int:
        """How many families there are."""
        return len(self.fam_ptr) - 1

    def members(self, family: int) -> NDArray[np.int64]:
        """The variables of a family, in the order of the axes of its table."""
        return self.fam_vars[self.fam_ptr[family] : self.fam_ptr[family + 1]]

    def scopes(self) -> list[tuple[int, ...]]:
        """The variables of every family."""
        return [tuple(map(int, self.members(f))) for f in range(self.n_families)]

    def row_lengths(self) -> NDArray[np.int64]:
        """The length of every row of every table of a directed graph, in storage order."""
        n_rows = np.diff(self.fam_at) // np.maximum(self.cards, 1)
        return np.repeat(self.cards, n_rows)


class EliminationWorkspace(NamedTuple):
    """Workspace of kernels that eliminate one set of variables after another (n in the largest)."""

    adjacent: NDArray[np.bool_]  # (n²,): which variables stand together in a table
    near: NDArray[np.int64]  # (n²,): the neighbours of each variable, as a list
    degree: NDArray[np.int64]  # (n,): how many neighbours
    cost: NDArray[np.float64]  # (n,): what eliminating a variable costs by the rule
    log_card: NDArray[np.float64]  # (n,): log numbers of states
    local: NDArray[np.int64]  # of every variable of the wiring: its number in the set, or -1


class CompletedRows(NamedTuple):
    """Coded rows, and which sub-problems their missing cells belong to."""

    codes: NDArray[np.int32]  # (N, n); -1 is missing
    weights: NDArray[np.float64]  # (N,)
    row_end: Ints  # (N,): the sub-problems of row i end before of_row[row_end[i]]
    of_row: Ints


class CompletionLists(NamedTuple):
    """The completions of every sub-problem, with their probabilities."""

    members: NDArray[np.int32]  # of sub-problem k: members[begin[k]:end[k]]
    begin: Ints  # (K,)
    end: Ints  # (K,)
    list_at: Ints  # (K + 1,): its completions are list_at[k], ..., list_at[k + 1] - 1
    mass: NDArray[np.float64]  # of every completion; those of a sub-problem sum to one
    state_at: Ints  # (K,): where the states of its first completion begin
    states: NDArray[np.int32]  # completion by completion, a state for each member
    offset: Ints  # of every member: where its states begin among those of its sub-problem
    width: Ints  # (K,): how many states all members of a sub-problem have
    pair_at: Ints  # (K,): where the probabilities of its pairs of states begin, (width, width)
    pair: NDArray[np.float64]
