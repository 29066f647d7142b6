"""`jensen learn` without --graph: the graph of all columns, then its parameters."""

from __future__ import annotations

import logging
import math
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from jensen.cli import inputs
from jensen.cli.gaussian_scale import read_scale, refuse_scale
from jensen.cli.graph_prior import name_score, read_summed_prior
from jensen.cli.learn_missing import Asked, refuse_empty, refuse_kinds, refuse_missing
from jensen.cli.learn_network import has_bge, read_prior, scaled_prior
from jensen.cli.learn_options import Loop, NetworkChoices, Source
from jensen.cli.mixed_trees import is_mixed_tree, of_parameters, refuse_parameters
from jensen.cli.structure_options import Search, StructureChoices
from jensen.exceptions import GraphError, JensenError
from jensen.scores.registry import (
    DEFAULTS,
    SAMPLE_SIZED,
    SPREAD_PRIORS,
    UNPENALISED,
    WITH_JOINT_PRIOR,
)
from jensen.support.text import either

if TYPE_CHECKING:
    from jensen.data import Table
    from jensen.estimators.bayesian_network import BayesianNetwork
    from jensen.estimators.network_kinds import NetworkKind
    from jensen.graphs import DAG, PDAG
    from jensen.q_graph.edge_strengths import EdgeStrengths

log = logging.getLogger("jensen")


class Structure(NamedTuple):
    """A graph that was learned, and how."""

    graph: DAG | PDAG  # the second of interrupted tests
    method: str
    score_name: str
    score: float  # NaN of interrupted tests
    proven: bool
    interrupted: bool
    seconds: float
    trace: Sequence[float] = ()  # of a search
    n_scored: int | None = None
    strengths: EdgeStrengths | None = None  # of a bootstrap
    gap: float | None = None  # of exact and trees: how much higher another graph may score


def learn_structure(
    source: Source,
    loop: Loop,
    network: NetworkChoices,
    choices: StructureChoices,
    words: Sequence[str],
) -> tuple[Any, Table, Structure]:
    """Learn; the network, the table of its parameters, and how its graph was found.

    Of a tree of columns of both kinds there is no network, but None; so of tests that were
    interrupted, which leave a graph of nearly all edges.
    """
    from jensen.estimators.network_kinds import kind_of_data
    from jensen.graphs import DAG
    from jensen.scores.constant_columns import noting, warn_of_constants

    choices.check()
    constraints, start = choices.constraints(), choices.start()
    believed = read_summed_prior(choices.graph_prior)
    table, names = _read(source, network, choices)
    asked = Asked(words, choices, network.prior, not of_parameters(loop, network))
    refuse_empty(table, names, asked)
    refuse_kinds(table, names, asked)
    is_mixed = is_mixed_tree(table, names, choices)
    if is_mixed:
        refuse_parameters(loop, network)
    is_numbers = not is_mixed and table.variable(names[0]).kind == "continuous"
    kind = kind_of_data(DAG((), names), table)
    network.check_output(kind.fitted.holds)
    of_score = _of_score(choices, network, is_numbers)
    if network.scale is not None:
        if is_numbers and of_score["score"] in WITH_JOINT_PRIOR:
            of_score["scale"] = read_scale(network.scale, names)
        elif not (is_numbers and has_bge(network, loop)):
            refuse_scale()
    rows = table.complete_rows(names) if source.complete_rows else table
    gaps = rows.n_missing(names) and not choices.available_case
    if gaps or (table.n_rows and not rows.n_rows):
        refuse_missing(table, names, asked)
    with _in_words():
        task = Task(
            rows, of_score, believed, constraints, start, loop.random_state, network.checkpoint
        )
        if is_mixed:
            return None, rows, _tree(task)
        net = _estimator(names, loop, network, kind)
        with noting(is_drawn=False) as constant:  # one warning, of the graph and the parameters
            found = _learn(task, choices)
            if isinstance(found.graph, DAG):
                net.graph = found.graph
                _fit(net, rows, choices, network.checkpoint)
        if not isinstance(found.graph, DAG):
            warn_of_constants(sorted(constant))
            return None, rows, found
        left_out = net.require_any().constants
        warn_of_constants(sorted(constant), "both" if left_out else "score")
    return net, rows, found


def _fit(
    net: BayesianNetwork, rows: Table, choices: StructureChoices, checkpoint: str | None
) -> None:
    """Learn the parameters of the graph that was found."""
    try:
        file = None if choices.bootstrap else checkpoint
        net.fit(rows, interventions=choices.interventions, checkpoint=file)
    except JensenError as error:
        raise type(error)(f"the graph is {net.graph}, but its parameters: {error}") from None


def _estimator(
    names: Sequence[str], loop: Loop, network: NetworkChoices, kind: NetworkKind
) -> BayesianNetwork:
    """The network, its graph still to be found; choices of its parameters are checked before."""
    from jensen.estimators.bayesian_network import BayesianNetwork
    from jensen.estimators.network_choices import NetworkSettings
    from jensen.graphs import DAG

    prior = scaled_prior(network, loop, names) if kind.has_scale else read_prior(network.prior)
    chosen = {**loop.chosen(), "prior": prior}
    if network.prior in SPREAD_PRIORS and network.equivalent_sample_size is not None:
        chosen["equivalent_sample_size"] = network.equivalent_sample_size
    net = BayesianNetwork(DAG((), names), progress=sys.stderr.isatty(), **chosen)
    given = {name: value for name, value in net.get_params().items() if name != "graph"}
    kind.check(NetworkSettings(**{**given, "hidden": {}}), None)
    return net


# --- which columns, of which kind ---


def _read(
    source: Source, network: NetworkChoices, choices: StructureChoices
) -> tuple[Table, list[str]]:
    """The table, and the variables in it."""
    from jensen.scores.interventions import split_interventions

    table = inputs.choose_columns(
        source.read(network.states), choices.column, choices.without, choices.interventions
    )
    if table.weights is not None:
        table = table.take(table.weights > 0.0)  # what is missing elsewhere, nobody misses
    with _in_words():
        split_interventions(table, choices.interventions)  # refused before gaps are looked for
    names = [name for name in table.names if name != choices.interventions]
    if not names:
        raise JensenError("there is no column to learn a graph of")
    return table, names


# --- the graph ---


def _of_score(
    choices: StructureChoices, network: NetworkChoices, is_numbers: bool
) -> dict[str, Any]:
    """The score, as the library takes it."""
    sample_size = network.equivalent_sample_size
    usual = DEFAULTS["continuous" if is_numbers else "categorical"]
    if choices.search is Search.TREE:
        usual = UNPENALISED
    found: dict[str, Any] = {"score": choices.score or usual}
    if sample_size is not None and found["score"] in SAMPLE_SIZED:
        found["equivalent_sample_size"] = sample_size
    elif sample_size is not None and network.prior not in SPREAD_PRIORS:
        raise JensenError(
            f"--equivalent-sample-size belongs to --score {either(SAMPLE_SIZED)}, not to "
            f"{found['score']}, or to --prior {either(SPREAD_PRIORS)}"
        )
    return found | of_rows(choices, is_numbers)


def of_rows(choices: StructureChoices, is_numbers: bool) -> dict[str, Any]:
    """What a score is told of the rows, and the network that it begins with."""
    found: dict[str, Any] = {}
    if choices.available_case:
        if is_numbers:
            raise JensenError(
                "--available-case belongs to columns of labels, and these hold numbers"
            )
        found["missing"] = "available-case"
    if choices.prior_network is not None:
        found["prior_network"] = inputs.read_net(choices.prior_network)
    if choices.interventions is not None:
        found["interventions"] = choices.interventions
    return found


class Task(NamedTuple):
    """What a graph is learned from."""

    table: Table
    of_score: dict[str, Any]
    prior: Any  # of graphs
    constraints: dict[str, Any]
    start: DAG | None
    seed: int | None
    checkpoint: str | None

    @property
    def score_name(self) -> str:
        """What graphs are compared by."""
        return name_score(str(self.of_score["score"]), self.prior)


def _learn(task: Task, choices: StructureChoices) -> Structure:
    from jensen.graphs import as_dag
    from jensen.q_graph.learning import learn_structure

    if choices.search is Search.TREE:
        return _tree(task)
    if choices.bootstrap is not None:
        return _averaged(task, choices, choices.bootstrap)
    given = {**task.constraints, "method": choices.search.value, **choices.tests()}
    if choices.search is Search.PC:
        return _tested(task, given)
    limit = choices.time_limit
    found = learn_structure(
        task.table, **task.of_score, **given, **choices.of_search(), prior=task.prior,
        start=task.start,
        time_limit=limit, random_state=task.seed, progress=sys.stderr.isatty(),
    )  # fmt: skip
    graph, info = as_dag(found), found.info
    was_wished = limit is not None and info.seconds >= limit
    return Structure(
        graph, info.method, task.score_name, info.score, info.proven,
        info.interrupted and not was_wished, info.seconds, info.trace.tolist(), info.n_scored,
        gap=info.gap,
    )  # fmt: skip


def _tested(task: Task, given: dict[str, Any]) -> Structure:
    """By tests alone; what they leave undirected is directed as a DAG allows."""
    from jensen.graphs import as_dag
    from jensen.q_graph.learning import learn_structure

    progress = sys.stderr.isatty()
    found = learn_structure(task.table, **given, random_state=task.seed, progress=progress)
    info, score = found.info, task.of_score["score"]
    if info.interrupted:
        return Structure(found, "pc", score, math.nan, False, True, info.seconds)
    try:
        graph = as_dag(found)
    except GraphError as error:
        raise GraphError(
            f"the tests contradict each other: {found}; {error}. Try another --alpha, direct what "
            f"you know with --required 'A -> B', or use --structure mmhc or ges"
        ) from None
    return Structure(
        graph, "pc", score, _score(graph, task), proven=False, interrupted=False,
        seconds=info.seconds,
    )  # fmt: skip


def _tree(task: Task) -> Structure:
    from jensen.q_graph.trees.chow_liu import chow_liu

    score = task.of_score["score"]
    graph = chow_liu(task.table, penalty=None if score == UNPENALISED else score)
    info = graph.info
    return Structure(
        graph, "tree", score, info.score, proven=True, interrupted=False, seconds=info.seconds,
        n_scored=info.n_scored, gap=info.gap,
    )  # fmt: skip


def _averaged(task: Task, choices: StructureChoices, n: int) -> Structure:
    """The edges that are found often enough when rows are drawn again."""
    from jensen.q_graph.bootstrap import bootstrap_edges

    began = time.perf_counter()
    strengths = bootstrap_edges(
        task.table, n, random_state=task.seed, prior=task.prior,
        checkpoint=task.checkpoint, progress=sys.stderr.isatty(), method=choices.search.value,
        start=task.start, **choices.of_search(), **choices.tests(), **task.constraints,
        **({} if choices.search is Search.PC else task.of_score),
    )  # fmt: skip
    graph = strengths.averaged()
    seconds, value = time.perf_counter() - began, _score(graph, task)
    return Structure(
        graph, choices.search.value, task.score_name, value, proven=False,
        interrupted=strengths.n_graphs < n, seconds=seconds, strengths=strengths,
    )  # fmt: skip


def _score(graph: DAG, task: Task) -> float:
    from jensen.scores.graph_priors import read_family_prior
    from jensen.scores.make_scorer import make_scorer
    from jensen.scores.scorer import total

    scorer = make_scorer(task.table, **task.of_score)
    believed = read_family_prior(task.prior or "uniform", scorer.names)
    parents = graph.parent_indices
    of_prior = sum(believed.of_family(v, above) for v, above in enumerate(parents))
    return total(scorer, parents) + of_prior


# --- errors ---

IN_WORDS = (
    (r"\b(required|forbidden)=", r"--\1"),
    (r"\btiers=", "--tier"),
    (r"\bstart=", "--start-graph"),
    (r"\bmax_parents=(\d+)", r"--max-parents \1"),
    (r"\bmax_parents\b", "--max-parents"),
    (r"\btime_limit\b", "--time-limit"),
    (r"\btest='([\w-]+)'", r"--test \1"),
    (r"\b(test|permutations)=", r"--\1"),
    (r"\binterventions='(\w+)'", r"--interventions \1"),
    (r"^interventions\b", "--interventions"),
    (r"\bprior='(\w+)'", r"--prior \1"),
    (r"\bscale=", "--scale"),
    (r"\bprior= (is|has|names|gives)\b", r"--graph-prior \1"),
    (r"\bequivalent_sample_size\b", "--equivalent-sample-size"),
)
"""How the library's choices are spelled on the command line."""


@contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except JensenError as error:
        text = str(error)
        for pattern, spelled in IN_WORDS:
            text = re.sub(pattern, spelled, text)
        raise type(error)(text) from None
