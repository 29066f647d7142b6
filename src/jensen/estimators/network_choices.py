"""The choices of a caller who learns a network, checked before any work begins.

Here are hidden variables, Dirichlet priors of tables, and interventions: rows in which a node was
set from outside say nothing about how it depends on its parents.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from jensen.data import RowSource, Variable
from jensen.data.counting import refuse_counts, require_states
from jensen.data.variable import hidden_variable
from jensen.estimators.learning import LoopChoices
from jensen.exceptions import DataError, JensenError
from jensen.free_energy import ALGORITHMS, COMMON
from jensen.graphs import DAG
from jensen.graphs.base import Graph
from jensen.models.discrete_network import (
    COORDINATES,
    LEARNED,
    PROBABILITIES,
    TableKind,
    Tables,
)
from jensen.q_hidden import loopy, meanfield
from jensen.scores.interventions import NONE, split_interventions
from jensen.scores.registry import DEFAULTS, PRIORS, SPECS, SPREAD_PRIORS
from jensen.support.arguments import check_sample_size, is_real
from jensen.support.text import called_here, either, for_reader, offer, one_of, option, some
from jensen.support.tree_records import Wiring

FACTORISED = [name for name, one in ALGORITHMS.items() if one.q_hidden is meanfield]
"""Methods with a q(h) that is a product."""
SEEKING = [name for name in COMMON if ALGORITHMS[name].seeks_mode]
"""Methods that end at a mode."""


class Estimator:
    """Choices can be read, changed and copied (`sklearn.base.clone` works); models are saved."""

    def save(self, path: str | Path) -> None:
        """Write the network to a file; `jn.load` reads it back. The suffix tells the format."""
        from jensen.io import save

        save(self, path)

    def __getstate__(self) -> dict[str, Any]:
        """All but the rows of `fit`, which are held in memory only."""
        return {name: x for name, x in vars(self).items() if name != "_rows_of_fit"}

    @classmethod
    def _choices(cls) -> list[str]:
        return [name for name in inspect.signature(cls).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The choices by name; `deep` is part of the contract, and nothing here nests."""
        return {name: getattr(self, name) for name in self._choices()}

    def set_params(self, **choices: Any) -> Self:
        """Change choices; what was fitted stays until the next fit."""
        for name, value in choices.items():
            if name not in self._choices():
                known = ", ".join(self._choices())
                raise JensenError(f"{type(self).__name__} has no choice {name!r}, only {known}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks before it cross-validates; only it ever calls this."""
        from sklearn.utils import Tags, TargetTags  # type: ignore[import-untyped]

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))


@dataclass(frozen=True)
class NetworkSettings(LoopChoices):
    """How tables are learned; `BayesianNetwork` says what each of these means."""

    methods = tuple(ALGORITHMS)

    equivalent_sample_size: float = 1.0
    mode: str = PROBABILITIES
    fixed: Iterable[str] = ()
    blocks: Iterable[Sequence[str]] = ()
    hidden: Mapping[str, int | Sequence[object]] = field(default_factory=dict)

    @property
    def used_prior(self) -> Any:
        """The prior; the default where none was chosen for a method that cannot do without."""
        needs_one = not self.algorithm.seeks_mode
        return DEFAULTS["categorical"] if self.prior is None and needs_one else self.prior

    def check(self) -> None:
        """Refuse what cannot be, and what would be ignored."""
        check_prior(self.used_prior, self.equivalent_sample_size)
        self.check_mode()
        self.check_fixed()
        self.check_blocks()
        if not isinstance(self.hidden, Mapping):
            raise JensenError(
                f"hidden must be a dict from node to its number of states, not {self.hidden!r:.80}"
            )
        super().check()

    @property
    def starts_at(self) -> Any:
        """Where all ascents begin: not at tables that are given because they are held."""
        given = self.start
        only_held = isinstance(given, Mapping) and set(given) <= set(self.fixed)
        return None if only_held else given

    def check_fixed(self) -> None:
        """Refuse what is no list of names."""
        if isinstance(self.fixed, str) or not isinstance(self.fixed, Iterable):
            raise JensenError(
                f"fixed must be a list of variables whose tables are held, not {self.fixed!r:.80}"
            )

    def check_blocks(self) -> None:
        """Refuse blocks that are no lists of names, or share one, or would be ignored."""
        if isinstance(self.blocks, str) or any(isinstance(block, str) for block in self.blocks):
            raise JensenError(f"blocks must be lists of variables, not {self.blocks!r:.80}")
        names = [name for block in self.blocks for name in block]
        for name in names:
            if names.count(name) > 1:
                raise JensenError(f"blocks name {name!r} twice, and each variable is in one block")
        if names and self.algorithm.q_hidden is not meanfield:
            raise JensenError(
                f"{option('block', ','.join(names))} belongs to {one_of('method', FACTORISED)}, "
                f"and would be ignored by {self.algorithm.name!r}"
            )

    def refuse_approximate(self) -> None:
        """Columns of numbers: what is missing is known exactly, and labels beside them too."""
        if self.algorithm.q_hidden in (meanfield, loopy):
            raise JensenError(
                f"the method {self.algorithm.name!r} is not for this model: it is for networks of "
                f"labels alone, so choose {one_of('method', ['em', 'vbem'])}"
            )
        self.check_blocks()

    def check_mode(self) -> None:
        """Refuse coordinates that are none, or that would be ignored."""
        if self.mode not in COORDINATES:
            raise JensenError(
                f"there is no {option('mode', self.mode)}: choose one of {some(COORDINATES)}"
            )
        if self.mode == PROBABILITIES:
            return
        if not self.algorithm.seeks_mode:
            raise JensenError(
                f"{option('mode', self.mode)} belongs to methods that seek a mode "
                f"({one_of('method', SEEKING)}), and {self.algorithm.name!r} seeks none"
            )
        if self.prior is None:
            raise JensenError(
                f"{option('mode', self.mode)} is the mode under a prior, and there is none: add "
                f"{option('prior', DEFAULTS['categorical'])}, or a concentration"
            )


def learned_variables(
    graph: Graph, table: RowSource, hidden: Mapping[str, int | Sequence[object]]
) -> tuple[Variable, ...]:
    """The variable of every node: of its column, or as declared hidden."""
    refuse_counts(table, [x for x in graph.nodes if x in table and x not in hidden])
    return hidden_or_seen(graph, table, hidden, lambda name, table: require_states(table, name))


def hidden_or_seen(
    graph: Graph,
    table: RowSource,
    hidden: Mapping[str, int | Sequence[object]],
    read: Callable[[str, RowSource], Variable],
) -> tuple[Variable, ...]:
    """The variable of every node: as `read` finds it in its column, or as declared hidden."""
    for name in hidden:
        if name not in graph:
            raise JensenError(
                f"{for_reader(f'hidden={{{name!r}: ...}}', f'--hidden {name}')}: the graph has no "
                f"node {name!r}; "
                f"{offer(name, graph.nodes, 'node')}"
            )
    return tuple(
        _hidden_variable(name, hidden[name], table)
        if name in hidden
        else read(_seen(name, table), table)
        for name in graph.nodes
    )


def _seen(name: str, table: RowSource) -> str:
    """The name, if it has a column."""
    if not table.names:
        raise DataError("there is nothing to learn from: the table has no columns")
    if name not in table:
        raise DataError(
            f"the node {name!r} has no column: rename one of {some(table.names)}, or declare it "
            f"hidden with its number of states, "
            f"{for_reader(f'hidden={{{name!r}: 2}}', f'--hidden {name}=2')}"
        )
    return name


def _hidden_variable(name: str, states: int | Sequence[object], table: RowSource) -> Variable:
    if name in table and table.n_seen(name):
        raise DataError(
            f"{name!r} is declared hidden, but its column has values: leave it out of hidden, or "
            f"leave the column out"
        )
    return hidden_variable(name, states)


InterventionTargets = NDArray[np.int64] | None
"""(rows,): the node that was set from outside in each row, -1 where none was; None: nowhere."""


def counted_rows(table: RowSource, targets: InterventionTargets) -> InterventionTargets:
    """The intervention targets of the rows that have a weight."""
    if targets is None or not table.is_weighted:
        return targets
    has_weight = np.concatenate([block.weights > 0.0 for block in table.blocks()])
    return np.asarray(targets[has_weight])


def split_targets(
    graph: DAG, table: RowSource, interventions: Any
) -> tuple[RowSource, InterventionTargets]:
    """Split off the column that names the intervention targets, and return it as node numbers.

    Targets that are no nodes of the graph change nothing.
    """
    if interventions is None:
        return table, None
    data, targets = split_interventions(table, interventions)
    assert targets is not None
    position = {name: v for v, name in enumerate(graph.nodes)}
    by_column = [position.get(name, NONE) for name in sorted(data.names)]
    nodes = np.array([*by_column, NONE], np.int64)[targets]
    for v in np.unique(nodes[nodes != NONE]).tolist():
        missing = np.concatenate([block.missing(graph.nodes[v]) for block in data.blocks()])
        unknown = np.flatnonzero((nodes == v) & missing)
        if len(unknown):
            raise DataError(
                f"row {unknown[0] + 1:,} says that {graph.nodes[v]!r} was set, but not to what: "
                f"its value is missing there"
            )
    return data, nodes


SMALLEST, LARGEST = 1e-10, 1e10
"""Natural parameters, concentration - 1, keep six digits of the one, and F four decimals of the
other; beyond, results would be wrong before anything looks wrong."""


def make_prior(
    prior: Any,
    equivalent_sample_size: float,
    names: Sequence[str],
    wiring: Wiring,
    counts: NDArray[np.float64],
    kind: TableKind = LEARNED,
) -> Tables:
    """η₀ of all tables: None (flat), a number, the name of a prior, or arrays by variable."""
    check_prior(prior, equivalent_sample_size)
    if prior is None:
        return Tables(None)
    if isinstance(prior, Mapping):
        alpha = _explicit(prior, names, wiring)
    elif isinstance(prior, str) and prior in SPREAD_PRIORS:
        everywhere = SPECS[prior].prior == "everywhere"
        alpha = _spread(equivalent_sample_size, wiring, counts, everywhere=everywhere)
    else:  # a name that is left is that of one for each cell
        alpha = np.full(len(counts), 1.0 if isinstance(prior, str) else float(prior))
    _check_range(alpha[alpha > 0.0])
    return Tables(kind.family(wiring).natural(alpha))


def _check_range(alpha: NDArray[np.float64]) -> None:
    if alpha.min(initial=np.inf) < SMALLEST:
        raise JensenError(
            f"this prior has concentrations down to {alpha.min():.3g}, and tables cannot be "
            f"computed below {SMALLEST:g}: raise the prior, or leave out parents"
        )
    if alpha.max(initial=0.0) > LARGEST:
        raise JensenError(
            f"this prior has concentrations up to {alpha.max():.3g}, and tables cannot be "
            f"computed above {LARGEST:g}, where data no longer count: lower the prior"
        )


def _spread(
    equivalent_sample_size: float,
    wiring: Wiring,
    counts: NDArray[np.float64],
    *,
    everywhere: bool,
) -> NDArray[np.float64]:
    """An equivalent sample, evenly over every table or over its rows that were counted."""
    rows = wiring.row_lengths()
    table_of_row = np.repeat(np.arange(len(wiring.cards)), np.diff(wiring.fam_at) // wiring.cards)
    counted = np.ones(len(rows), bool)
    if not everywhere:
        counted = np.add.reduceat(counts, np.cumsum(rows) - rows) > 0
    n_counted = np.bincount(table_of_row, counted, minlength=len(wiring.cards))
    share = np.where(counted, equivalent_sample_size / np.maximum(n_counted[table_of_row], 1), 0.0)
    return np.asarray(np.repeat(share / rows, rows))


def check_prior(prior: Any, equivalent_sample_size: float) -> None:
    """Refuse a prior that is none, and a sample size that would be ignored."""
    if isinstance(prior, str) and prior not in PRIORS:
        raise JensenError(
            f"there is no prior {prior!r}: use a number, or one of {list(PRIORS)}"
            f"{called_here(prior, PRIORS)}"
        )
    if is_real(prior) and not 0 < float(prior) < np.inf:
        raise JensenError(f"a Dirichlet concentration must be positive and finite, not {prior}")
    if not (prior is None or isinstance(prior, str | Mapping) or is_real(prior)):
        raise JensenError(
            f"prior must be None, a number, one of {list(PRIORS)}, or a dict of concentrations by "
            f"variable, not {type(prior).__name__}"
        )
    check_sample_size(equivalent_sample_size)
    if equivalent_sample_size != 1.0 and prior not in SPREAD_PRIORS:
        raise JensenError(
            f"{option('equivalent_sample_size', equivalent_sample_size)} belongs to "
            f"prior={either(map(repr, SPREAD_PRIORS))}, and would be ignored with prior={prior!r}"
        )


def _explicit(
    prior: Mapping[str, Any], names: Sequence[str], wiring: Wiring
) -> NDArray[np.float64]:
    """Concentrations given for every variable, as a number or an array of its table's shape."""
    unknown = [name for name in prior if name not in names]
    absent = [name for name in names if name not in prior]
    if unknown or absent:
        raise JensenError(
            f"a prior by variable names each of them once; unknown: {unknown}, absent: {absent}"
        )
    parts = []
    for v, name in enumerate(names):
        members = wiring.fam_vars[wiring.fam_ptr[v] : wiring.fam_ptr[v + 1]]
        shape = tuple(int(card) for card in wiring.cards[members])
        try:
            part = np.broadcast_to(np.asarray(prior[name], np.float64), shape)
        except (TypeError, ValueError):
            raise JensenError(
                f"the prior of {name!r} must be a number or an array of shape {shape}"
            ) from None
        if not np.all((part > 0) & (part < np.inf)):
            raise JensenError(f"the prior of {name!r} must be positive and finite in every cell")
        parts.append(part.ravel())
    return np.concatenate(parts)
