"""The bootstrap: how often an edge is found again in graphs learned from resampled rows."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table, as_table
from jensen.data.column_warnings import warn_of_row_names
from jensen.data.counting import counts_as_numbers
from jensen.exceptions import DataError, JensenError
from jensen.graphs import DAG, PDAG
from jensen.q_graph.classes.rules import with_known_directions
from jensen.q_graph.constraints import (
    Constraints,
    add_certain_edges,
    as_lists,
    keep_class,
    plain_choice,
    read_constraints,
)
from jensen.q_graph.edge_strengths import EdgeStrengths
from jensen.q_graph.learned_columns import learned_columns
from jensen.q_graph.learning import cut_columns, learn_structure
from jensen.runs.checkpoint import Checkpoint
from jensen.runs.runner import Task, run
from jensen.scores.graph_priors import read_family_prior
from jensen.scores.table_checks import (
    note_columns,
    noting,
    warn_of_constant_labels,
    warn_of_drawn_constants,
)
from jensen.support.arguments import Streams, as_generator, check_whole, generator_state
from jensen.support.fields import record
from jensen.support.fingerprint import fingerprint
from jensen.support.machine import check_many, interruptible
from jensen.support.text import keyword

Array = NDArray[np.float64]

RULES = ("max_parents", "required", "forbidden", "tiers")
DIRECTING = ("required", "forbidden", "tiers", "interventions")
"""Choices that determine directions which the data alone leave open."""

MOST_ROWS = float(1 << 62)
"""The largest number of rows whose counts fit into 64-bit integers."""


def bootstrap_edges(
    table: Any,
    n: int = 200,
    *,
    random_state: Any = None,
    cpdag: bool | None = None,
    checkpoint: str | Path | None = None,
    progress: bool = False,
    **choices: Any,
) -> EdgeStrengths:
    """How often each edge is found when the graph is learned from rows drawn with replacement.

    Parameters
    ----------
    table
        Anything a `Table` can be built from. If rows have weights, the number of rows that are
        drawn is the sum of the weights, rounded.
    n
        The number of graphs to learn, on all threads.
    cpdag
        If True, an edge whose direction the data cannot determine counts half in each direction; if
        False, every edge counts in the direction that the learner chose. The default is True,
        unless constraints, interventions or a prior determine further directions.
    checkpoint
        A file to resume from after a stop, to the identical result.
    progress
        Show how many graphs are learned. Ctrl-C ends the run with the graphs so far.
    **choices
        As in `jensen.learn_structure`, including its `prior` of graphs. The default prior of "bge"
        is computed from the rows that were drawn; a column that is constant among these, or has no
        value there, has no edges in their graph, and one warning names all such columns. Where
        values are missing every graph is learned by structural EM.

    References
    ----------
    Friedman, Goldszmidt and Wyner (1999), *Data analysis with Bayesian networks: a bootstrap
    approach*, UAI. Scutari and Nagarajan (2013), *Identifying significant edges in graphical models
    of molecular networks*, Artificial Intelligence in Medicine 57.

    Examples
    --------
    >>> import jensen as jn
    >>> table = jn.examples.load("cancer").sample(5000, random_state=0)
    >>> strengths = jn.bootstrap_edges(table, 20, random_state=0, score="bic")
    >>> strengths.strength("Cancer", "Xray") > 0.9
    True
    >>> dag = strengths.averaged()
    """
    check_whole("n", n, at_least=1)
    if not isinstance(choices.get("interventions", ""), (str, type(None))):
        raise JensenError("bootstrap_edges draws rows: give interventions= as a column")
    choices = as_lists(choices)
    data = as_table(cut_columns(table, choices.pop("discretize", None))[0])
    data, choices = learned_columns(data, choices)
    rng = as_generator(random_state)
    check_many(n, 128.0 + 8.0 * len(data.names) ** 2, "replicates (n)", "draw fewer")
    _check_weights(data)
    columns = sorted(set(data.names) - {choices.get("interventions")})
    warn_of_row_names(data, columns, counts=True)
    warn_of_constant_labels(data, columns)
    if choices.get("missing_indicators"):
        raise JensenError(
            f"{keyword('missing_indicators')} has no meaning for a bootstrap: other values are "
            f"missing in every draw, so the graphs would have other variables"
        )
    names = tuple(sorted([*columns, *(choices.get("hidden") or {})]))
    rules = read_constraints(names, **{k: choices[k] for k in RULES if k in choices})
    variables = {v.name: v for v in counts_as_numbers(data).variables}
    kinds = [variables[x].kind if x in variables else "categorical" for x in names]
    is_mixed = len({kind == "categorical" for kind in kinds}) > 1
    if is_mixed:
        rules = keep_class(rules, names, kinds)
    note_columns([data.variable(name) for name in columns])
    directs = any(choices.get(name) for name in DIRECTING)
    if choices.get("prior") is not None:
        read = read_family_prior(choices["prior"], names)
        rules, directs = add_certain_edges(names, rules, read), directs or read.directs
    if cpdag is None:
        cpdag = not directs
    settings = sorted((name, plain_choice(value)) for name, value in choices.items())
    seed = None if random_state is None else generator_state(rng)
    # The default scale of bge was another one once, so graphs of numbers are not mixed with those.
    is_numeric = any(variable.kind == "continuous" for variable in data.variables)
    kind = "bootstrap, scale by variances" if is_numeric else "bootstrap"
    identity = fingerprint(kind, _content(data), n, cpdag, settings, seed)
    seeds = rng.integers(0, 1 << 63, n).tolist()
    in_order = data.select(sorted(data.names))  # any order of columns gives the same replicates
    outcome = run(
        ReplicateTask(in_order, choices, cpdag, rules if is_mixed else None),
        [Streams(seed, ()) for seed in seeds],
        name="bootstrap",
        progress=progress,
        checkpoint=None if checkpoint is None else Checkpoint(checkpoint, identity),
    )
    begun = [one for one in outcome.states if one is not None]
    shares = [one.shares for one in begun if one.shares is not None]
    if not shares:
        raise KeyboardInterrupt
    warn_of_drawn_constants(Counter(name for one in begun for name in one.constant), len(shares))
    return EdgeStrengths(names, np.sum(shares, axis=0) / len(shares), len(shares), rules)


@record
class Replicate(NamedTuple):
    """What was learned from rows that were drawn again."""

    shares: Array | None = None  # (n, n): see `_shares`; None until the graph is learned
    constant: tuple[str, ...] = ()  # columns that are constant among the drawn rows


class ReplicateTask(Task[Replicate]):
    """Learns the graph of one replicate, in one step."""

    def __init__(
        self, table: Table, choices: Mapping[str, Any], cpdag: bool, rules: Constraints | None
    ) -> None:
        self.table, self.choices, self.cpdag, self.rules = table, choices, cpdag, rules

    def begin(self, number: int, streams: Streams) -> Replicate:
        """Nothing is learned yet."""
        return Replicate()

    def advance(
        self, number: int, state: Replicate, streams: Streams, n: int
    ) -> tuple[Replicate, None]:
        """Draw rows and learn their graph; a search that Ctrl-C cut short is not kept."""
        rng = streams()
        with interruptible() as stop, noting() as constant:
            found = learn_structure(_drawn(self.table, rng), random_state=rng, **self.choices)
            if stop.is_set() and found.info.interrupted:
                return state, None
        shares = _shares(found, self.cpdag, self.rules)
        return Replicate(shares, tuple(sorted(constant))), None

    def is_done(self, state: Replicate) -> bool:
        """Whether the graph is learned."""
        return state.shares is not None


def _check_weights(table: Table) -> None:
    """Refuse a table without rows, or with weights from which no rows can be drawn."""
    total = table.total_weight
    if not 0.5 < total < MOST_ROWS:
        few = "there are no rows" if not table.n_rows else f"the rows weigh {total:g} in all"
        raise DataError(
            f"a bootstrap draws as many rows as there are, and {few}: give rows, and weights that "
            f"say how often each was seen"
        )


def _drawn(table: Table, rng: np.random.Generator) -> Table:
    """A bootstrap sample: rows drawn with replacement, or multinomial weights of weighted rows."""
    if table.weights is None:
        return table.take(rng.integers(0, table.n_rows, table.n_rows))
    total = table.weights.sum()
    return table.with_weights(rng.multinomial(round(total), table.weights / total))


def _shares(found: DAG | PDAG, cpdag: bool, rules: Constraints | None) -> Array:
    """(n, n): 1 for a directed edge, 0.5 in each direction for an undirected one.

    `rules`, of labels and numbers together, direct edges of the class: arrows lead to numbers.
    """
    graph = found.cpdag() if cpdag and isinstance(found, DAG) else found
    if graph is not found and rules is not None:
        graph = with_known_directions(graph.adjacency, graph.nodes, rules)
    joined = np.asarray(graph.adjacency, np.float64)
    return joined / np.maximum(joined + joined.T, 1.0)


def _content(table: Table) -> list[Any]:
    """Weights, variables and values of a table, for the fingerprint of the run."""
    columns = [table.column(name) for name in sorted(table.names)]
    return [table.weights, *([repr(column.variable), column.data] for column in columns)]
