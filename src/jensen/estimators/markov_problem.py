"""What a Markov network learns: its graph and tables, the encoded rows, penalties and a start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource, Variable
from jensen.data.blocks import Units
from jensen.data.column_warnings import warn_of_row_names
from jensen.data.counting import count_families
from jensen.estimators.learning import LoopChoices, Problem, Start
from jensen.estimators.markov_graphs import CLIQUES, PAIRWISE, read_cliques
from jensen.estimators.network_choices import learned_variables
from jensen.estimators.network_problems import rows_that_count
from jensen.exceptions import DataError, JensenError, warn
from jensen.families.effects import Effects, Scope, contrasts, effects_of
from jensen.families.log_linear import LogLinear
from jensen.free_energy import EM, Algorithm
from jensen.graphs import UndirectedGraph
from jensen.graphs.cliques import maximal_cliques, separators
from jensen.inference.undirected_network import UndirectedNetwork
from jensen.models.discrete_network import Complete, Encoded, encode
from jensen.models.log_linear_network import (
    COMPLETE_STEPS,
    LogLinearNetwork,
    UndirectedRows,
    Weights,
    around,
)
from jensen.models.log_linear_sums import ListedSums, Whitened, sums_of
from jensen.models.protocol import Data
from jensen.models.pseudo_sums import PseudoSums
from jensen.q_hidden.factor_lists.partition import check_way
from jensen.q_hidden.trees.problems import code_rows
from jensen.scores.table_checks import warn_of_constant_labels
from jensen.support.arguments import check_whole, is_real
from jensen.support.machine import STREAM, check_many
from jensen.support.text import one_of, option, plural, some

Array = NDArray[np.float64]

PENALTIES = ("ridge", "l1")
ASCENTS = ("ml", "pseudo")
CHAINS = ("cd", "pcd")
ML = EM._replace(name="ml")
SHRUNKEN_STEPS = 20_000
"""Steps of one sweep under a Laplace prior where a step is cheap."""


@dataclass(frozen=True)
class MarkovSettings(LoopChoices):
    """How a Markov network is learned; `MarkovNetwork` says what each of these means."""

    methods = (*ASCENTS, *CHAINS)

    interactions: str = PAIRWISE
    tol: float = 1e-10
    n_chains: int = 100
    n_steps: int = 1
    inference: str = "exact"
    hidden: Mapping[str, int | Sequence[object]] = field(default_factory=dict)

    @property
    def algorithm(self) -> Algorithm:
        """Exact q(h), and θ improved step by step."""
        if self.method not in (None, *self.methods):
            raise JensenError(
                f"there is no method {self.method!r} for a Markov network: choose "
                f"{one_of('method', self.methods)}"
            )
        return ML._replace(name=self.used_method)

    @property
    def used_method(self) -> str:
        """The method; None: maximum likelihood."""
        return self.method or ASCENTS[0]

    def check(self) -> None:
        """Refuse what cannot be, and what would be ignored."""
        if self.interactions not in (PAIRWISE, CLIQUES):
            raise JensenError(
                f"there is no {option('interactions', self.interactions)}: choose "
                f"{one_of('interactions', [PAIRWISE, CLIQUES])}"
            )
        if not isinstance(self.hidden, Mapping):
            raise JensenError(
                f"hidden must be a dict from node to its number of states, not {self.hidden!r:.80}"
            )
        penalty = read_penalty(self.prior)
        check_way(self.inference, self.used_method)
        if self.algorithm.name not in CHAINS:
            self._refuse_changed("n_steps", of="pcd")
            super().check()
            return
        for name in ("n_chains", "n_steps", "max_iter"):
            check_whole(name, getattr(self, name), at_least=1)
        check_many(self.n_chains, STREAM, "chains (n_chains)", "choose fewer")
        self._refuse_changed("n_init", "tol", "start", of="ml")
        if penalty is not None and penalty.kind == "l1":
            raise JensenError(
                f"{option('prior', 'l1')} needs {one_of('method', ASCENTS)}: steps of chains are "
                f"never exactly 0"
            )


class Penalty(NamedTuple):
    """A penalty of interactions."""

    kind: str
    strength: float


def read_penalty(prior: Any) -> Penalty | None:
    """None, {"ridge": λ} or {"l1": λ}; all else is refused."""
    if prior is None:
        return None
    if not isinstance(prior, Mapping) or len(prior) != 1 or next(iter(prior)) not in PENALTIES:
        raise JensenError(
            f"the prior of a Markov network is None (flat), or a penalty of its interactions, "
            f'{{"ridge": λ}} or {{"l1": λ}}, not {prior!r:.80}'
        )
    kind, strength = next(iter(prior.items()))
    if not is_real(strength) or not 0 < float(strength) < np.inf:
        raise JensenError(f"the strength of {kind!r} must be positive and finite, not {strength!r}")
    return Penalty(kind, float(strength))


# --- the problem ---


def markov_problem(graph: Any, table: RowSource, choices: MarkovSettings) -> Problem:
    """The model with its penalties, the encoded rows, the choices."""
    choices.check()
    if not table.names:
        raise DataError("there is nothing to learn from: the table has no columns")
    known = [*table.names, *(x for x in choices.hidden if x not in table)]
    own, scopes = read_cliques(graph, known, choices.interactions)
    variables = learned_variables(own, table, choices.hidden)
    rows, _ = rows_that_count(own, table, variables, None)
    warn_of_row_names(table, rows.names, "Leave it out of the graph")
    warn_of_constant_labels(table, rows.names, "network")
    effects = effects_of(scopes, tuple(v.n_states for v in variables))
    encoded = encode(rows, own.nodes, effects.wiring, None, all_cells=True)
    hidden = tuple(v for v, name in enumerate(own.nodes) if name not in rows)
    alone = _marginals(rows, own.nodes, variables)
    penalty = read_penalty(choices.prior)
    support = _support(effects, encoded, alone, penalty)
    shares = [n / n.sum() for n in alone]
    if choices.inference != "exact" and not encoded.units.is_complete:
        raise DataError(
            f"{option('inference', choices.inference)} needs complete rows: what a row misses has "
            f"a normaliser of its own, which is not bounded from the same side"
        )
    if choices.used_method in ("pseudo", "cd") and not encoded.units.is_complete:
        raise DataError(
            f"{option('method', choices.used_method)} needs complete rows: every variable is seen "
            f"given all others; use {one_of('method', ['ml', 'pcd'])}"
        )
    sums = _sums(choices, effects, rows, own.nodes, support, shares)
    n_free = _degrees_of_freedom(effects, support, sums)
    if support is not None:
        _warn_of_zeros(effects, support, own, variables, n_free)
    is_complete = encoded.units.is_complete
    repeats = 1
    if is_complete and isinstance(sums, ListedSums):
        is_shrunken = penalty is not None and penalty.kind == "l1"
        repeats = SHRUNKEN_STEPS if is_shrunken else COMPLETE_STEPS
    begin = _begin(own, effects, encoded, shares, support)
    model = LogLinearNetwork(
        effects, sums, _prior(penalty, effects), own, variables, support, begin,
        _loose(effects, encoded), hidden, repeats, n_free, not is_complete,
    )  # fmt: skip
    total = table.total_weight
    counts = encoded.counts
    if choices.used_method == "pseudo":  # each table is read once for each of its variables
        counts = counts * np.repeat(list(map(len, scopes)), np.diff(effects.wiring.fam_at))
    complete = Complete(np.append(counts, rows.total_weight))
    units = Units((complete, *list(encoded.units.each())[1:]), total, is_complete=is_complete)
    seen = rows.select([name for name in own.nodes if name in rows])
    content = (
        (choices.used_method, choices.inference),
        own.nodes,
        scopes,
        [v.states for v in variables],
        seen,
        choices.prior,
    )
    return Problem(
        model, Data(units, UndirectedRows(table), content), choices, _start(model, choices)
    )


def _sums(
    choices: MarkovSettings,
    effects: Effects,
    rows: RowSource,
    names: Sequence[str],
    support: Array | None,
    shares: Sequence[Array],
) -> Any:
    """What stands for sums over all states; chains have none."""
    if choices.used_method == "ml":
        return sums_of(effects, names, support, shares, choices.inference)
    if choices.used_method == "pseudo":
        return PseudoSums(effects, *distinct_rows(rows, names), support, shares)
    return Whitened(effects, shares)


def distinct_rows(rows: RowSource, names: Sequence[str]) -> tuple[NDArray[np.int64], Array]:
    """The distinct rows (R, n) of complete rows as codes, and the weight of each."""
    parts = [(code_rows(block, names), block.weights) for block in rows.blocks()]
    codes = np.concatenate([part for part, _ in parts])
    found, which = np.unique(codes, axis=0, return_inverse=True)
    weights = np.bincount(which.ravel(), np.concatenate([w for _, w in parts]), len(found))
    return found.astype(np.int64), weights.astype(np.float64)


def _start(model: LogLinearNetwork, choices: MarkovSettings) -> Start | None:
    """The coefficients to start from: those of a network with the same tables."""
    given = getattr(choices.start, "network_", choices.start)
    if given is None:
        return None
    if not isinstance(given, UndirectedNetwork):
        raise JensenError(f"start must be a Markov network, not {type(given).__name__}")
    same = given.graph.nodes == model.graph.nodes and given.scopes == model.effects.scopes
    if not same or given.variables != model.variables:
        raise JensenError(
            "start must be a Markov network with the same graph, interactions and states as the "
            "one to be learned"
        )
    theta = model.effects.project(given.log_potentials)
    return Start(around(np.where(np.isfinite(theta), theta, 0.0), len(model.effects.terms)))


def _marginals(rows: RowSource, names: Sequence[str], variables: Sequence[Variable]) -> list[Array]:
    """Counts of the states of each variable; ones where it is hidden."""
    shown = [name for name in names if name in rows]
    found = dict(zip(shown, count_families(rows, [[name] for name in shown]), strict=True))
    return [np.asarray(found.get(v.name, np.ones(v.n_states)), float) for v in variables]


def _support(
    effects: Effects, encoded: Encoded, alone: Sequence[Array], penalty: Penalty | None
) -> Array | None:
    """(P,): -inf for entries of fitted margins that no row can have; None if there are none."""
    w = effects.wiring
    impossible = np.zeros(int(w.fam_at[-1]), bool)
    if penalty is None:
        impossible = encoded.counts == 0.0
        for f in encoded.touched:  # a row with a gap there may have any entry
            impossible[w.fam_at[f] : w.fam_at[f + 1]] = False
    for f, scope in enumerate(effects.scopes):
        unseen = np.zeros([effects.cards[v] for v in scope], bool)
        for axis, v in enumerate(scope):
            shape = [1] * len(scope)
            shape[axis] = -1
            unseen |= (alone[v] == 0.0).reshape(shape)
        impossible[w.fam_at[f] : w.fam_at[f + 1]] |= unseen.ravel()
    if not impossible.any():
        return None
    return np.where(impossible, -np.inf, 0.0)


def _degrees_of_freedom(effects: Effects, support: Array | None, sums: Any) -> int:
    """How many coefficients the possible states can tell apart.

    Without a list of all states: of every margin its possible entries less one, less those of its
    own margins, which is exact on decomposable graphs.
    """
    if support is None:
        return effects.n_coefficients
    if isinstance(sums, ListedSums):
        return sums.rank()
    free: dict[Scope, int] = {}
    for k, term in enumerate(effects.terms):
        f = effects.owner[k]
        scope = effects.scopes[f]
        at = slice(effects.wiring.fam_at[f], effects.wiring.fam_at[f + 1])
        table = (support[at] == 0.0).reshape([effects.cards[v] for v in scope])
        over = tuple(axis for axis, v in enumerate(scope) if v not in term)
        parts = (p for size in range(1, len(term)) for p in combinations(term, size))
        free[term] = max(int(table.any(axis=over).sum()) - 1 - sum(free[p] for p in parts), 0)
    return sum(free.values())


def _warn_of_zeros(
    effects: Effects,
    support: Array,
    graph: UndirectedGraph,
    variables: Sequence[Variable],
    n_free: int,
) -> None:
    """Tell which margins without rows send parameters to infinity."""
    shown = []
    for cell in np.flatnonzero(support < 0.0).tolist():
        f = int(np.searchsorted(effects.wiring.fam_at, cell, side="right")) - 1
        scope = effects.scopes[f]
        shape = [effects.cards[v] for v in scope]
        states = np.unravel_index(cell - int(effects.wiring.fam_at[f]), shape)
        texts = (
            f"{graph.nodes[v]}={variables[v].states[s]}" for v, s in zip(scope, states, strict=True)
        )
        shown.append(" and ".join(texts))
    warn(
        f"no row has {some(shown, most=3)}: the parameters of "
        f"{plural(len(shown), 'entry')} of fitted margins are minus infinity, so such rows are "
        f"impossible in this network, which has {plural(n_free, 'degree')} of freedom. A penalty "
        f"of the interactions, as in prior={{'ridge': 1.0}}, keeps them possible, but for states "
        f"that no row has"
    )


def _prior(penalty: Penalty | None, effects: Effects) -> Weights:
    """The penalty as natural parameters; interactions alone have one."""
    if penalty is None:
        return Weights(None)
    n, is_interaction = effects.n_coefficients, effects.is_interaction
    ridge, lasso = np.zeros(n), np.zeros(len(effects.terms))
    if penalty.kind == "ridge":
        ridge = np.where(is_interaction, penalty.strength, 0.0)
    else:
        of_term = [len(term) > 1 for term in effects.terms]
        lasso = np.where(of_term, penalty.strength, 0.0)
    return Weights(LogLinear(np.zeros(n), np.float64(0.0), ridge, lasso))


def _loose(effects: Effects, encoded: Encoded) -> NDArray[np.bool_]:
    """Interactions of a variable that is hidden or missing somewhere."""
    members = {int(v) for rows in encoded.hidden for v in rows.members}
    of_term = [len(t) > 1 and not members.isdisjoint(t) for t in effects.terms]
    return np.array(of_term, bool)[effects.term_of]


def _begin(
    graph: UndirectedGraph,
    effects: Effects,
    encoded: Encoded,
    shares: Sequence[Array],
    support: Array | None,
) -> Array:
    """The answer itself on a decomposable graph of complete rows, else independent variables."""
    begin = np.zeros(effects.n_coefficients)
    is_decomposable = encoded.units.is_complete and graph.is_chordal()
    if is_decomposable and set(effects.scopes).issuperset(maximal_cliques(graph)):
        return effects.project(_closed_form(graph, effects, encoded))
    for k, term in enumerate(effects.terms):
        if len(term) == 1:
            p = shares[term[0]]
            least = p[p > 0.0].min(initial=1.0)
            basis = contrasts(len(p))
            at = slice(effects.term_ptr[k], effects.term_ptr[k + 1])
            begin[at] = basis.T @ np.log(np.where(p > 0.0, p, least)) / len(p)
    return begin


def _closed_form(graph: UndirectedGraph, effects: Effects, encoded: Encoded) -> Array:
    """Flat log tables: log counts of cliques less those of separators; impossible entries 0."""
    tables = np.zeros(int(effects.wiring.fam_at[-1]))
    cliques = maximal_cliques(graph)
    place = {scope: f for f, scope in enumerate(effects.scopes)}

    def counts(scope: Scope) -> Array:
        at = slice(effects.wiring.fam_at[place[scope]], effects.wiring.fam_at[place[scope] + 1])
        return encoded.counts[at].reshape([effects.cards[v] for v in scope])

    for scope in cliques:
        at = slice(effects.wiring.fam_at[place[scope]], effects.wiring.fam_at[place[scope] + 1])
        tables[at] += _log(counts(scope)).ravel()
    for clique, shared in separators(cliques):
        scope = cliques[clique]
        at = slice(effects.wiring.fam_at[place[scope]], effects.wiring.fam_at[place[scope] + 1])
        over = tuple(axis for axis, v in enumerate(scope) if v not in shared)
        less = _log(counts(scope).sum(over, keepdims=True))
        tables[at] -= np.broadcast_to(less, counts(scope).shape).ravel()
    return tables


def _log(counts: Array) -> Array:
    return np.log(np.where(counts > 0.0, counts, 1.0))
