"""Records of arrays about missing labels and numbers of the same rows, shared with kernels.

A cell group is one part of a row: numbers that are missing and linked by regressions, with all the
regressions that mention them, or regressions whose numbers are all known and whose label parents
are not. It is summed for every configuration of the missing labels around it. Groups of one kind
differ in the known values only.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Array = NDArray[np.float64]

CONSTANT = -1
"""The member of a regression that is always 1, before its parents and itself; a member k ≥ 0 is
the k-th missing number of the group, and a smaller one is column -2 - member, which is known."""


class GroupKinds(NamedTuple):
    """The kinds of cell groups."""

    n_missing: Ints  # (kinds,): numbers that are missing
    n_configs: Ints  # (kinds,): configurations of the missing labels
    family_end: Ints  # (kinds,): where the regressions of each kind end in the next three
    form_at: Ints  # where the forms of that regression begin
    form_size: Ints  # entries of a form: 1 + members²
    member_end: Ints  # where its members end in the next
    member: Ints
    step_at: Ints  # (kinds,): where the steps of each kind begin in the next
    step: Ints  # configuration by configuration, one number for each regression


class CellGroups(NamedTuple):
    """Groups of some rows."""

    kind: Ints  # (G,)
    row: Ints  # (G,)
    base_at: Ints  # (G,): where its bases begin in the next
    base: Ints  # of each regression: its configuration by the labels that are known
    table_at: Ints  # (G,): where its table of missing labels begins


class GroupWorkspace(NamedTuple):
    """Arrays that a kernel writes while it works on one group."""

    precision: Array  # (m²,): of the missing numbers, then its Cholesky factor
    mean: Array  # (m,)
    spread: Array  # (m²,): their covariance
    filled: Array  # (members,): values of the members of a regression


def make_group_workspace(kinds: GroupKinds) -> GroupWorkspace:
    """Arrays that are large enough for these kinds."""
    m = int(kinds.n_missing.max(initial=0))
    n_members = int(np.diff(kinds.member_end, prepend=0).max(initial=0))
    return GroupWorkspace(np.empty(m * m), np.empty(m), np.empty(m * m), np.empty(n_members))
