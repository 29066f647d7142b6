"""What a caller chose for learning a network, checked before any work begins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

from jensen.data import RowSource, Variable
from jensen.data.counting import refuse_counts, require_states
from jensen.data.variable import label_text
from jensen.estimators.loop_choices import LoopChoices
from jensen.exceptions import DataError, JensenError
from jensen.graphs import DAG
from jensen.models.priors import check_prior
from jensen.scores.registry import DEFAULTS
from jensen.support.memory import check_many
from jensen.support.text import offer, some


@dataclass(frozen=True)
class Choices(LoopChoices):
    """How tables are learned; `BayesianNetwork` says what each of these means."""

    equivalent_sample_size: float = 1.0
    hidden: Mapping[str, int | Sequence[object]] = field(default_factory=dict)

    @property
    def used_prior(self) -> Any:
        """The prior; the default where none was chosen for a method that cannot do without."""
        needs_one = not self.algorithm.seeks_mode
        return DEFAULTS["categorical"] if self.prior is None and needs_one else self.prior

    def check(self) -> None:
        """Refuse what cannot be, and what would be ignored."""
        check_prior(self.used_prior, self.equivalent_sample_size)
        if not isinstance(self.hidden, Mapping):
            raise JensenError(
                f"hidden must be a dict from node to its number of states, not {self.hidden!r:.80}"
            )
        super().check()


def learned_variables(
    graph: DAG, table: RowSource, hidden: Mapping[str, int | Sequence[object]]
) -> tuple[Variable, ...]:
    """The variable of every node: of its column, or as declared hidden."""
    for name in hidden:
        if name not in graph:
            raise JensenError(
                f"hidden={{{name!r}: ...}}: the graph has no node {name!r}; "
                f"{offer(name, graph.nodes, 'node')}"
            )
    refuse_counts(table, [x for x in graph.nodes if x in table and x not in hidden])
    return tuple(
        _hidden_variable(name, hidden[name], table) if name in hidden else _seen(name, table)
        for name in graph.nodes
    )


def _seen(name: str, table: RowSource) -> Variable:
    if not table.names:
        raise DataError("there is nothing to learn from: the table has no columns")
    if name not in table:
        raise DataError(
            f"the node {name!r} has no column: rename one of {some(table.names)}, or declare it "
            f"hidden with its number of states, hidden={{{name!r}: 2}} (--hidden {name}=2)"
        )
    return require_states(table, name)


def _hidden_variable(name: str, states: int | Sequence[object], table: RowSource) -> Variable:
    if name in table and table.n_seen(name):
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
    if isinstance(states, Integral):
        check_many(int(states), 128.0, f"states of {name!r} (hidden)", "choose fewer")
    return tuple(map(label_text, range(int(states)) if isinstance(states, Integral) else states))
