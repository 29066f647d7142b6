"""Questions compiled once per form: the relevant variables, and their junction tree.

The form of a question says what is asked and which variables will be known; states come later.
Irrelevant variables are left out: those without a descendant that is asked for or known. Variables
that the evidence separates from the rest make a sub-problem of their own, which is left out if it
is too large and contains no target.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable
from jensen.exceptions import JensenError
from jensen.graphs.indexed_graph import wire_families
from jensen.inference.findings import Findings
from jensen.q_hidden.trees.plans import Plans
from jensen.q_hidden.trees.problems import hidden_sets
from jensen.support.fields import add_at
from jensen.support.tree_records import (
    N_STATES,
    Problems,
    Program,
    Sets,
    SolverWorkspace,
    Wiring,
    make_solver_workspace,
)

if TYPE_CHECKING:
    from jensen.inference.table_network import RelevantTables, TableNetwork

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

KEPT = 128
"""Number of compiled questions that a network keeps."""

KEPT_BYTES = 1 << 28
"""Memory that the kept questions may use together; the last one asked is always kept."""

_NO_COUNTS = np.empty(0)
"""The counts of answers without counts."""


class Form(NamedTuple):
    """The form of a question: what is asked, and which variables will be known."""

    targets: tuple[int, ...]  # asked for jointly
    everything: bool  # whether all variables are asked for, each alone
    hard: frozenset[int]
    soft: frozenset[int]
    do: frozenset[int]


class Spans(NamedTuple):
    """The places of the hidden variables' marginals in a flat array, in the network's order."""

    number: dict[str, int]  # name → position in the next two
    variables: tuple[tuple[Variable], ...]  # each alone, as a distribution of it has them
    parts: tuple[slice, ...]


class ExactAnswer(NamedTuple):
    """The answer to a question under one set of tables."""

    log_evidence: float
    marginals: Array  # states of all hidden variables, flat; see `Question.place`
    counts: Array  # expected counts of all tables and extra factors, or empty


class Question:
    """A form of question, compiled for one network."""

    def __init__(self, network: TableNetwork, form: Form) -> None:
        from jensen.kernels.posteriors import expect

        self._expect = expect  # held: to import it in every call takes a tenth of a short one
        self.network, self.form = network, form
        self.lock = Lock()
        w = network.wiring
        known = form.hard | form.do
        relevant, inside = _relevant(network, form)
        extra: list[tuple[int, ...]] = [(v,) for v in sorted(form.soft)]
        if len(form.targets) > 1:
            extra.append(form.targets)
        families = [tuple(map(int, w.members(v))) for v in inside] + extra
        plain = wire_families(families, [int(c) for c in w.cards])
        sizes = np.diff(plain.fam_at)[len(inside) :]
        extra_at = int(w.fam_at[-1]) + np.cumsum(sizes) - sizes
        self.extra_at = {scope: int(a) for scope, a in zip(extra, extra_at, strict=True)}
        self.n_extra = int(sizes.sum())
        at = np.concatenate([w.fam_at[inside], extra_at, [w.fam_at[-1] + self.n_extra]])
        wiring = plain._replace(fam_at=at.astype(np.int64))
        hidden = [v for v in relevant if v not in known]
        words, begin, end = hidden_sets(wiring, hidden)
        which, sets = _compile(network, form, wiring, words, begin, end)
        begin, end = begin[which], end[which]
        self.program: Program = sets.program
        self._compile_bases(wiring, sets)
        self.work: SolverWorkspace = make_solver_workspace(self.program, self.problems.set_of)
        self._log_z = np.empty(len(self.problems.set_of))
        n = self.program.code[self.program.start + N_STATES]
        self.out_ptr: Ints = np.cumsum(n) - n
        self.n_out = int(n.sum())
        self.members = [words[a:b].tolist() for a, b in zip(begin, end, strict=True)]
        self.place = _places(w, self.members, self.out_ptr)
        self._at = np.array(sorted(self.place.values()), np.int64)
        sizes = np.diff(self._at, append=self.n_out)
        self._owner = np.repeat(np.arange(len(sizes)), sizes)
        self.spans = _spans(network, self.place)

    @property
    def n_bytes(self) -> int:
        """Size in memory."""
        return sum(array.nbytes for array in (self.program.code, *self.work))

    def _compile_bases(self, wiring: Wiring, sets: Sets) -> None:
        """Compute where the tables of the sets begin, and how known states shift these offsets."""
        parts = [sets.families_of(p) for p in range(len(sets.end))]
        n = np.array([len(part) for part in parts], np.int64)
        touched = np.concatenate([np.empty(0, np.int64), *parts])
        known = self.form.hard | self.form.do
        self._known = sorted(known)
        place = {v: k for k, v in enumerate(self._known)}
        scopes = wiring.scopes()
        rest = np.array([f for f, scope in enumerate(scopes) if known.issuperset(scope)], np.int64)
        self.fixed = wiring.fam_at[np.concatenate([touched, rest])]
        terms = [
            (j, place[int(u)], int(step))
            for j, f in enumerate(np.concatenate([touched, rest]))
            for u, step in zip(
                wiring.members(f),
                wiring.fam_stride[wiring.fam_ptr[f] : wiring.fam_ptr[f + 1]],
                strict=True,
            )
            if int(u) in known
        ]
        self.term_base, self.term_of, self.term_stride = (
            np.array([term[k] for term in terms], np.int64) for k in range(3)
        )
        self.n_inside = len(touched)
        bases = self.fixed[: self.n_inside]
        self.problems = Problems(np.arange(len(n)), np.cumsum(n) - n, bases, np.ones(len(n)))

    def ask(
        self, findings: Findings, tables: Array, log_tables: Array, *, count: bool = False
    ) -> ExactAnswer:
        """Answer at these states; tables are the network's, flat, each row normalised."""
        problems, log_known = self.with_states(findings, log_tables)
        if self.n_extra:
            tables, log_tables = self.with_extra(findings, tables, log_tables)
        out = np.zeros(self.n_out)
        counts = np.zeros(len(tables)) if count else _NO_COUNTS
        with self.lock:
            self._expect(
                self.program,
                problems,
                tables,
                log_tables,
                self.work,
                self._log_z,
                counts,
                self.out_ptr,
                out,
            )
            log_z = fsum(self._log_z.tolist())
        return ExactAnswer(log_known + log_z, out, counts)

    def with_states(self, findings: Findings, log_tables: Array) -> tuple[Problems, float]:
        """The problems at these states, and the log probability of the fully known families."""
        log_known = fsum([np.log(part.max()) for part in findings.soft.values()])
        if not len(self.term_of):  # no table depends on what is known, nor is any known whole
            return self.problems, log_known
        known = {**findings.hard, **findings.do}
        states = np.array([known[v] for v in self._known])
        bases = self.fixed.copy()
        add_at(bases, self.term_base, self.term_stride * states[self.term_of])
        log_known += fsum(log_tables[bases[self.n_inside :]].tolist())
        set_of, base_ptr, _, weight = self.problems
        return Problems(set_of, base_ptr, bases[: self.n_inside], weight), log_known

    def share(self, marginals: Array) -> Array:
        """Normalise marginals; long sums in large clusters leave errors of 1e-12."""
        if not self.place:
            return marginals
        return np.asarray(marginals / np.add.reduceat(marginals, self._at)[self._owner])

    def read_states(self, states: NDArray[np.int32]) -> dict[int, int]:
        """Variable → state, from the states of one configuration of every set."""
        members = [v for some in self.members for v in some]
        return dict(sorted(zip(members, states.tolist(), strict=True)))

    def with_extra(
        self, findings: Findings, tables: Array, log_tables: Array
    ) -> tuple[Array, Array]:
        """Tables extended by likelihoods, and by a table of ones for a joint query."""
        more = np.ones(self.n_extra)
        begin = int(self.network.wiring.fam_at[-1])
        for v, likelihood in findings.soft.items():
            at = self.extra_at[(v,)] - begin
            more[at : at + len(likelihood)] = likelihood / likelihood.max()
        with np.errstate(divide="ignore"):
            return np.concatenate([tables, more]), np.concatenate([log_tables, np.log(more)])


def form_of(findings: Findings, targets: tuple[int, ...] = (), *, everything: bool = False) -> Form:
    """The form of a question that is asked given these findings."""
    hard, soft, do = findings
    return Form(targets, everything, frozenset(hard), frozenset(soft), frozenset(do))


def find_question(network: TableNetwork, form: Form) -> Question:
    """The compiled question of this form."""
    found = network.questions.get(form)
    if found is None:
        found = Question(network, form)
        _make_room(network.questions, found)
        network.questions[form] = found
    return found


def _make_room(kept: dict[Form, Question], new: Question) -> None:
    """Drop the oldest questions until there is room for a new one."""
    known = list(kept.items())  # a copy: threads share the dict
    n_bytes = new.n_bytes + sum(question.n_bytes for _, question in known)
    for k, (form, question) in enumerate(known):
        if len(known) - k < KEPT and n_bytes <= KEPT_BYTES:
            break
        kept.pop(form, None)
        n_bytes -= question.n_bytes


def _relevant(network: TableNetwork, form: Form) -> RelevantTables:
    """Variables with a descendant that is asked for or known, where `do` cuts the arrows."""
    if form.everything:
        wanted: Iterable[int] = range(len(network.variables))
    else:
        wanted = {*form.targets, *form.hard, *form.soft}
    return network.relevant(set(wanted), form.do)


def _compile(
    network: TableNetwork,
    form: Form,
    wiring: Wiring,
    words: NDArray[np.int32],
    begin: Ints,
    end: Ints,
) -> tuple[list[int], Sets]:
    """Compile connected sets of hidden variables; return which of them, and the result.

    A set without a target only decides whether the evidence is possible; it is left out if it is
    too large. After Gibbs such sets also decide the weights of the samples, so none is left out.
    """
    plans = Plans(wiring, network.graph.nodes)
    asked = [
        k
        for k, (a, b) in enumerate(zip(begin, end, strict=True))
        if not form.targets or not set(form.targets).isdisjoint(words[a:b].tolist())
    ]
    _, sets = plans.number(words, begin[asked], end[asked])
    kept = list(asked)
    for k in sorted(set(range(len(begin))).difference(asked)):
        try:
            _, sets = plans.number(words, begin[k : k + 1], end[k : k + 1])
        except JensenError:
            if network.samples is not None:
                raise
        else:
            kept.append(k)
    return kept, sets


def _places(wiring: Wiring, sets: Sequence[Sequence[int]], out_ptr: Ints) -> dict[int, int]:
    """Where the marginal of every hidden variable begins."""
    places: dict[int, int] = {}
    for members, at in zip(sets, out_ptr, strict=True):
        sizes = wiring.cards[list(members)]
        places.update(zip(members, (at + np.cumsum(sizes) - sizes).tolist(), strict=True))
    return places


def _spans(network: TableNetwork, place: Mapping[int, int]) -> Spans:
    """The same places by name, for `Marginals`."""
    variables = [(network.variables[v], at) for v, at in sorted(place.items())]
    return Spans(
        {x.name: k for k, (x, _) in enumerate(variables)},
        tuple((x,) for x, _ in variables),
        tuple(slice(at, at + x.n_states) for x, at in variables),
    )
