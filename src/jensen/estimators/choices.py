"""What a caller chose for learning, checked before any work begins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

from jensen import q_theta
from jensen.checks import check_whole, is_real
from jensen.data import Table, Variable
from jensen.data.counting import require_states
from jensen.data.variable import label_text
from jensen.exceptions import DataError, JensenError
from jensen.free_energy import ALGORITHMS, Algorithm
from jensen.graphs import DAG
from jensen.models.priors import check_prior
from jensen.text import some


@dataclass(frozen=True)
class Choices:
    """How tables are learned; `BayesianNetwork` says what each of these means."""

    prior: Any = None
    equivalent_sample_size: float = 1.0
    method: str | None = None
    hidden: Mapping[str, int | Sequence[object]] = field(default_factory=dict)
    start: Any = None
    n_init: int = 1
    max_iter: int = 1000
    tol: float = 1e-8
    n_samples: int = 1000
    burn_in: int = 1000
    thin: int = 1
    n_chains: int = 4
    random_state: Any = None
    progress: bool = False

    @property
    def algorithm(self) -> Algorithm:
        """The algorithm that the method names; None: EM without a prior, VBEM with one."""
        default = "em" if self.prior is None else "vbem"
        name = default if self.method is None else self.method
        if not isinstance(name, str) or name not in ALGORITHMS:
            raise JensenError(f"there is no method {name!r}: choose one of {some(ALGORITHMS)}")
        return ALGORITHMS[name]

    @property
    def used_prior(self) -> Any:
        """The prior; "bdeu" if none was chosen for a method that cannot do without."""
        needs_one = self.algorithm.q_theta is not q_theta.mode
        return "bdeu" if self.prior is None and needs_one else self.prior

    def check(self) -> None:
        """Refuse what cannot be, and what would be ignored."""
        check_prior(self.used_prior, self.equivalent_sample_size)
        algorithm = self.algorithm
        if not isinstance(self.hidden, Mapping):
            raise JensenError(
                f"hidden must be a dict from node to its number of states, not {self.hidden!r:.80}"
            )
        for name in ("n_init", "n_samples", "thin", "n_chains"):
            check_whole(name, getattr(self, name), at_least=1)
        for name in ("max_iter", "burn_in"):
            check_whole(name, getattr(self, name), at_least=0)
        if not is_real(self.tol) or not self.tol >= 0:
            raise JensenError(f"tol must be a number, 0 or more, not {self.tol!r}")
        if algorithm.ascends:
            self._refuse_changed("n_samples", "burn_in", "thin", "n_chains", of="gibbs")
            if self.start is not None and self.n_init > 1:
                raise JensenError(
                    f"n_init={self.n_init} starts would all begin at start=: leave out one"
                )
        else:
            self._refuse_changed("n_init", "max_iter", "tol", of="em")

    def _refuse_changed(self, *names: str, of: str) -> None:
        for name in names:
            if getattr(self, name) != type(self).__dataclass_fields__[name].default:
                raise JensenError(
                    f"{name} belongs to methods such as {of!r}, and would be ignored by "
                    f"{self.algorithm.name!r}"
                )


def learned_variables(
    graph: DAG, table: Table, hidden: Mapping[str, int | Sequence[object]]
) -> tuple[Variable, ...]:
    """The variable of every node: of its column, or as declared hidden."""
    for name in hidden:
        if name not in graph:
            raise JensenError(f"hidden={{{name!r}: ...}}: the graph has no node {name!r}")
    return tuple(
        _hidden_variable(name, hidden[name], table) if name in hidden else _seen(name, table)
        for name in graph.nodes
    )


def _seen(name: str, table: Table) -> Variable:
    if not table.names:
        raise DataError("there is nothing to learn from: the table has no columns")
    if name not in table:
        raise DataError(
            f"the node {name!r} has no column: rename one of {some(table.names)}, or declare it "
            f"hidden with its number of states, hidden={{{name!r}: 2}} (--hidden {name}=2)"
        )
    return require_states(table, name)


def _hidden_variable(name: str, states: int | Sequence[object], table: Table) -> Variable:
    if name in table and not table.column(name).missing().all():
        raise DataError(
            f"{name!r} is declared hidden, but its column has values: leave it out of hidden, or "
            f"leave the column out"
        )
    labels = _labels(name, states)
    if len(labels) < 2:
        n = states if isinstance(states, Integral) else len(labels)
        raise JensenError(
            f"the hidden variable {name!r} needs two states at least, not {n}: with one "
            f"state it says nothing, so leave it out of the graph"
        )
    return Variable(name, "categorical", labels)


def _labels(name: str, states: int | Sequence[object]) -> tuple[str, ...]:
    if isinstance(states, str | bool) or not isinstance(states, Integral | Sequence):
        raise JensenError(
            f"hidden={{{name!r}: {states!r}}}: give its number of states, or their labels"
        )
    return tuple(map(label_text, range(int(states)) if isinstance(states, Integral) else states))
