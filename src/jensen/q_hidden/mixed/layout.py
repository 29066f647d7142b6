"""A graph of labels and numbers as flat arrays: tables of labels, forms of the others."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import prod

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from jensen.data.variable import Variable
from jensen.families.gamma import Gamma
from jensen.families.linear_regression import Regression
from jensen.graphs.indexed_graph import topological_order, wire
from jensen.q_hidden.gaussian_cells import LOG_2PI
from jensen.support.tree_records import Wiring

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MixedLayout:
    """Parents of nodes, of which some are labels; labels and numbers are counted apart.

    The forms of all regressions stand end to end, configuration by configuration of the label
    parents: ⟨form, (1, z zᵀ)⟩ is the log potential, where z is the constant 1, then the parents
    that are numbers, then the variable itself.

    A count is a number without children, whose parents are labels. It is Poisson distributed, and
    its log potential x log λ - λ is such a form too; -log x! is the same for all parameters, and
    stands with the rows. A missing count sums to one, and is never part of what is hidden.
    """

    parents: tuple[tuple[int, ...], ...]  # of every node
    cards: tuple[int, ...]  # of every node: its states, 0 of a number
    counts: frozenset[int] = frozenset()  # the nodes that are counts

    @classmethod
    def of(
        cls, parents: tuple[tuple[int, ...], ...], variables: Sequence[Variable]
    ) -> "MixedLayout":
        """Of nodes that are these variables, each a label, a number or a count."""
        counts = frozenset(v for v, each in enumerate(variables) if each.kind == "count")
        return cls(parents, tuple(each.n_states for each in variables), counts)

    @cached_property
    def labels(self) -> tuple[int, ...]:
        """The nodes that are labels."""
        return tuple(v for v, card in enumerate(self.cards) if card)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The nodes that are numbers."""
        return tuple(v for v, card in enumerate(self.cards) if not card)

    @cached_property
    def place(self) -> tuple[int, ...]:
        """Of every node: which label, or which number, it is."""
        found = [0] * len(self.cards)
        for nodes in (self.labels, self.numbers):
            for k, v in enumerate(nodes):
                found[v] = k
        return tuple(found)

    @cached_property
    def wiring(self) -> Wiring:
        """The tables of the labels."""
        parents = [[self.place[u] for u in self.parents[v]] for v in self.labels]
        return wire(parents, [self.cards[v] for v in self.labels])

    @cached_property
    def label_parents(self) -> tuple[tuple[int, ...], ...]:
        """Of every number its parents that are labels, as labels are counted."""
        return self._parents_of_numbers(are_labels=True)

    @cached_property
    def number_parents(self) -> tuple[tuple[int, ...], ...]:
        """Of every number its parents that are numbers, as numbers are counted."""
        return self._parents_of_numbers(are_labels=False)

    def _parents_of_numbers(self, *, are_labels: bool) -> tuple[tuple[int, ...], ...]:
        return tuple(
            tuple(self.place[u] for u in self.parents[v] if bool(self.cards[u]) == are_labels)
            for v in self.numbers
        )

    @cached_property
    def strides(self) -> tuple[dict[int, int], ...]:
        """Of every number: the step of each label parent in the number of a configuration."""
        found = []
        for above in self.label_parents:
            steps, step = {}, 1
            for u in reversed(above):
                steps[u] = step
                step *= self.cards[self.labels[u]]
            found.append(steps)
        return tuple(found)

    @cached_property
    def n_configs(self) -> tuple[int, ...]:
        """Of every number: the configurations of its label parents."""
        return tuple(
            prod(self.cards[self.labels[u]] for u in above) for above in self.label_parents
        )

    @cached_property
    def n_members(self) -> tuple[int, ...]:
        """Of every number: the constant, its number parents, itself."""
        return tuple(len(above) + 2 for above in self.number_parents)

    @cached_property
    def is_count(self) -> tuple[bool, ...]:
        """Of every number: whether it is a count."""
        return tuple(v in self.counts for v in self.numbers)

    @cached_property
    def n_free(self) -> tuple[int, ...]:
        """Of every number its free parameters in a configuration: of a count the rate."""
        pairs = zip(self.n_members, self.is_count, strict=True)
        return tuple(1 if is_count else n for n, is_count in pairs)

    @cached_property
    def n_kept(self) -> tuple[int, ...]:
        """Of every number its free parameters in all configurations."""
        return tuple(k * n for k, n in zip(self.n_configs, self.n_free, strict=True))

    @cached_property
    def form_at(self) -> tuple[int, ...]:
        """Where the forms of every number begin; then how many entries all have."""
        sizes = (k * (1 + n * n) for k, n in zip(self.n_configs, self.n_members, strict=True))
        return tuple(accumulate(sizes, initial=0))

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of every node."""
        found: list[list[int]] = [[] for _ in self.parents]
        for v, above in enumerate(self.parents):
            for u in above:
                found[u].append(v)
        return tuple(map(tuple, found))

    @cached_property
    def children_first(self) -> tuple[int, ...]:
        """All nodes, children before parents."""
        return tuple(reversed(topological_order(self.parents)))

    # --- between regressions and forms ---

    def forms_of(self, t: Sequence[Regression | Gamma]) -> Array:
        """Forms at statistics of θ."""
        parts = []
        for one, n in zip(t, self.n_members, strict=True):
            if isinstance(one, Gamma):
                parts.append(count_forms(one).ravel())
                continue
            form = np.empty((len(one.count), 1 + n * n))
            form[:, 0] = one.count - 0.5 * LOG_2PI
            square = form[:, 1:].reshape(-1, n, n)
            square[:, :-1, :-1] = one.strength
            square[:, -1, :-1] = square[:, :-1, -1] = 0.5 * one.first
            square[:, -1, -1] = one.second
            parts.append(form.ravel())
        return np.concatenate([np.empty(0), *parts])

    def stats_of(self, moments: Array) -> tuple[Regression | Gamma, ...]:
        """The statistics of every regression and rate, from moments in the layout of forms."""
        found: list[Regression | Gamma] = []
        for v, n in enumerate(self.n_members):
            own = moments[self.form_at[v] : self.form_at[v + 1]].reshape(-1, 1 + n * n)
            square = own[:, 1:].reshape(-1, n, n)
            if self.is_count[v]:
                found.append(Gamma(square[:, 0, 1:].copy(), own[:, :1].copy()))
                continue
            found.append(
                Regression(
                    own[:, 0].copy(),
                    square[:, -1, -1].copy(),
                    square[:, -1, :-1].copy(),
                    square[:, :-1, :-1].copy(),
                )
            )
        return tuple(found)

    def permuted_configs(
        self, orders: Mapping[int, NDArray[np.intp]]
    ) -> tuple[NDArray[np.int64], ...]:
        """Of every number its configurations, with the states of some labels in another order."""
        found = []
        for above, n in zip(self.label_parents, self.n_configs, strict=True):
            configs = np.arange(n).reshape([self.cards[self.labels[u]] for u in above])
            for axis, u in enumerate(above):
                if u in orders:
                    configs = np.take(configs, orders[u], axis=axis)
            found.append(configs.ravel())
        return tuple(found)

    def configs_of(self, v: int, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        """(rows,): the configuration of the label parents of number v, where all are known."""
        found = np.zeros(len(codes), np.int64)
        for label, stride in self.strides[v].items():
            found += stride * codes[:, label]
        return found

    def log_bases(self, values: Array, was_set: Collection[int] = ()) -> Array:
        """(rows,): Σ -log x! of the counts that are known, but for those that were set."""
        places = [self.place[v] for v in self.counts if v not in was_set]
        return np.asarray(-np.nansum(gammaln(values[:, sorted(places)] + 1.0), axis=1))


def count_forms(t: Gamma) -> Array:
    """(K, 5): -λ, then ½ log λ for the pairs of the constant and the count."""
    half = 0.5 * t.total[:, 0]
    nothing = np.zeros(len(half))
    return np.column_stack([t.exposure[:, 0], nothing, half, half, nothing])
