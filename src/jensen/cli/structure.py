"""Graphs in commands: how they are searched for and scored, from options to the library."""

from __future__ import annotations

import csv
import math
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from jensen.cli import inputs
from jensen.cli.command import Given
from jensen.cli.learn_options import TESTS
from jensen.exceptions import GraphError, JensenError
from jensen.q_graph.method_choices import HAVE
from jensen.scores.registry import AVAILABLE, PENALISED, WITH_JOINT_PRIOR, WITH_NETWORK
from jensen.support.text import either

if TYPE_CHECKING:
    from jensen.data import Table
    from jensen.graphs import DAG, PDAG
    from jensen.q_graph.edge_strengths import EdgeStrengths
    from jensen.q_graph.info import StructuralInfo


class FoundGraph(NamedTuple):
    """A graph that was learned, and how."""

    graph: DAG | PDAG  # a PDAG if tests were interrupted
    method: str
    score_name: str
    score: float  # NaN if tests were interrupted
    proven: bool
    interrupted: bool
    seconds: float
    trace: Sequence[float] = ()  # the scores of a search, move by move
    n_scored: int | None = None
    strengths: EdgeStrengths | None = None  # of a bootstrap
    gap: float | None = None  # of exact and trees: how much higher another graph may score
    structural: StructuralInfo | None = None  # of incomplete rows

    @property
    def value_name(self) -> str:
        """What the score is called: that of incomplete rows is J."""
        return self.score_name if self.structural is None else "J"


class GraphTask(NamedTuple):
    """What a graph is learned from."""

    table: Table
    scoring: dict[str, Any]  # the score and its choices
    prior: Any  # of graphs
    given: Given

    @property
    def score_name(self) -> str:
        """The name of what graphs are compared by."""
        is_average = self.scoring.get("missing") == "node-average"
        return name_score("node-average" if is_average else self.scoring["score"], self.prior)

    def search(self) -> dict[str, Any]:
        """How to search and which graphs are allowed, as the library takes it."""
        given = self.given
        return {
            **self._checkpoint(),
            **constraints(given),
            **given.chosen("tabu_length", "completion", *TESTS),
            "hidden": read_hidden(given.hidden),
            "missing_indicators": given.missing_indicators,
            "method": given.structure,
            "random_state": given.seed,
            "progress": sys.stderr.isatty(),
        }

    def _checkpoint(self) -> dict[str, str]:
        """The file of the climbs of structural EM, beside that of the parameters; {} if none."""
        from jensen.q_graph.methods import needs_structural_em

        given = self.given
        is_climbed = given.structure in HAVE["checkpoint"] and not given.bootstrap
        if given.checkpoint is None or not is_climbed or "missing" in self.scoring:
            return {}
        told = {"hidden": given.hidden, "interventions": self.scoring.get("interventions")}
        if given.missing_indicators or needs_structural_em(self.table, told):
            return {"checkpoint": f"{given.checkpoint}.graph"}
        return {}

    def start(self) -> dict[str, Any]:
        """Where a search begins, and how often."""
        text = self.given.start_graph
        dag = None if text is None else inputs.read_graph(text)
        return {"start": dag, "restarts": self.given.restarts or 0}


def check_structure(given: Given) -> None:
    """Refuse what does not go together, before anything is read."""
    if given.structure == "tree" and given.score not in (None, *PENALISED):
        raise JensenError(
            f"--structure tree and --score {given.score} do not go together: a tree has the "
            f"score {either(PENALISED[::-1])}"
        )
    given.refuse_together(
        ("--time-limit", given.time_limit is not None), ("--bootstrap", given.bootstrap)
    )
    check_score(given)


def constraints(given: Given) -> dict[str, Any]:
    """Which graphs are allowed, as the library takes it."""
    return {
        "max_parents": given.max_parents,
        "required": _edges("--required", given.required),
        "forbidden": _edges("--forbidden", given.forbidden),
        **({"tiers": [read_names(text) for text in given.tier]} if given.tier else {}),
    }


def _edges(option: str, texts: list[str]) -> list[tuple[str, str]]:
    """Every edge that an option names; a cycle of several is refused by the library."""
    from jensen.graphs import DAG

    found: list[tuple[str, str]] = []
    for text in texts:
        edges = DAG(text).edges
        if not edges:
            raise JensenError(f"{option} {text}: write an edge: {option} 'A -> B'")
        found += edges
    return found


def read_hidden(texts: list[str]) -> dict[str, int | list[str]] | None:
    """Hidden variables and their states, as the library takes them."""
    return dict(map(_one_hidden, texts)) or None


def _one_hidden(text: str) -> tuple[str, int | list[str]]:
    """NAME=3 or NAME=a,b,c; a name may hold =, so the last one counts."""
    name, equals, states = text.rpartition("=")
    if not equals:
        raise JensenError(
            f"--hidden {text}: write the node, =, and its number of states or their labels: "
            f"--hidden {text}=2"
        )
    return name, int(states) if states.strip().isdecimal() else states.split(",")


def read_names(text: str) -> list[str]:
    """Names with commas between them; one that holds a comma stands in double quotes."""
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


# --- the ways to find a graph ---


def find_graph(task: GraphTask) -> FoundGraph:
    """Learn the graph, in the way that --structure and --bootstrap say."""
    if task.given.structure == "tree":
        return _find_tree(task)
    if task.given.structure in ("naive", "tan"):
        return _classifier(task)
    if task.given.bootstrap is not None:
        return _average(task)
    return _test(task) if task.given.structure == "pc" else _search(task)


def _search(task: GraphTask) -> FoundGraph:
    from jensen.graphs import as_dag
    from jensen.q_graph.learning import learn_structure

    limit = task.given.time_limit
    found = learn_structure(
        task.table,
        **task.scoring,
        **task.search(),
        **task.start(),
        prior=task.prior,
        time_limit=limit,
    )
    info = found.info
    was_wanted = limit is not None and info.seconds >= limit
    return FoundGraph(
        as_dag(found), info.method, task.score_name, info.score, info.proven,
        info.interrupted and not was_wanted, info.seconds, info.trace.tolist(), info.n_scored,
        gap=info.gap, structural=_structural(info),
    )  # fmt: skip


def _structural(info: Any) -> StructuralInfo | None:
    from jensen.q_graph.info import StructuralInfo

    return info if isinstance(info, StructuralInfo) else None


def _test(task: GraphTask) -> FoundGraph:
    """By tests alone; edges that they leave undirected are directed as a DAG allows."""
    from jensen.graphs import as_dag
    from jensen.q_graph.learning import learn_structure

    found = learn_structure(task.table, **task.search())
    info, score = found.info, task.scoring["score"]
    if info.interrupted:
        return FoundGraph(found, "pc", score, math.nan, False, True, info.seconds)
    try:
        graph = as_dag(found)
    except GraphError as error:
        raise GraphError(
            f"the tests contradict each other: {found}; {error.marked}. Try another --alpha, "
            f"direct what you know with --required 'A -> B', or use --structure mmhc or ges"
        ) from None
    return FoundGraph(graph, "pc", score, _score(graph, task), False, False, info.seconds)


def _classifier(task: GraphTask) -> FoundGraph:
    """The graph of a class and what is predicted by."""
    from jensen.q_graph.trees.chow_liu import naive_bayes, tan

    name, target = task.given.structure, task.given.target
    if target is None:
        raise JensenError(f"--structure {name} points from a class: name it with --target")
    graph = (naive_bayes if name == "naive" else tan)(task.table, target)
    score = task.scoring["score"]
    return FoundGraph(graph, name, score, _score(graph, task), False, False, seconds=0.0)


def _find_tree(task: GraphTask) -> FoundGraph:
    from jensen.q_graph.trees.chow_liu import chow_liu

    score = task.scoring["score"]
    graph = chow_liu(task.table, score=score)
    info = graph.info
    return FoundGraph(
        graph, "tree", score, info.score, info.proven, interrupted=False, seconds=info.seconds,
        n_scored=info.n_scored, gap=info.gap, structural=_structural(info),
    )  # fmt: skip


def _average(task: GraphTask) -> FoundGraph:
    """The edges that are found often enough when rows are drawn again."""
    from jensen.q_graph.bootstrap import bootstrap_edges

    given, began = task.given, time.perf_counter()
    scoring = {} if given.structure == "pc" else task.scoring
    strengths = bootstrap_edges(
        task.table,
        given.bootstrap,
        **scoring,
        **task.search(),
        **task.start(),
        prior=task.prior,
        checkpoint=given.checkpoint,
    )
    graph = strengths.averaged()
    seconds, value = time.perf_counter() - began, _score(graph, task)
    return FoundGraph(
        graph, given.structure, task.score_name, value, proven=False,
        interrupted=strengths.n_graphs < given.bootstrap, seconds=seconds, strengths=strengths,
    )  # fmt: skip


def _score(graph: DAG, task: GraphTask) -> float:
    """The score of a graph; not known where rows would have to be completed by a network."""
    from jensen.scores.graph_priors import read_family_prior
    from jensen.scores.make_scorer import make_scorer
    from jensen.scores.scorer import total

    names = [name for name in task.table.names if name != task.given.interventions]
    if "missing" not in task.scoring and (task.table.n_missing(names) or task.given.hidden):
        return math.nan
    scorer = make_scorer(task.table, **task.scoring)
    prior = read_family_prior(task.prior or "uniform", scorer.names)
    parents = graph.parent_indices
    log_prior = sum(prior.of_family(v, above) for v, above in enumerate(parents))
    return total(scorer, parents) + log_prior


# --- rows, and the network that spreads a prior sample ---


def check_score(given: Given) -> None:
    """Refuse a score without what it needs, before anything is read."""
    if (given.score in WITH_NETWORK) != (given.prior_network is not None):
        raise JensenError(
            f"--score {either(WITH_NETWORK)} and --prior-network go together: give both, or neither"
        )
    if given.available_case and given.score not in AVAILABLE:
        raise JensenError(f"--available-case belongs to --score {either(AVAILABLE)}: add one")


def row_choices(given: Given, is_numbers: bool) -> dict[str, Any]:
    """How a score treats the rows, and the network that it begins with."""
    found: dict[str, Any] = given.chosen("interventions")
    if given.available_case:
        if is_numbers:
            raise JensenError(
                "--available-case belongs to columns of labels, and these hold numbers"
            )
        found["missing"] = "available-case"
    if given.prior_network is not None:
        found["prior_network"] = inputs.read_net(given.prior_network)
    return found


# --- priors of graphs ---


def read_summed_prior(texts: list[str]) -> Any:
    """A prior of graphs that can be added to scores of families, as the library takes it."""
    if "order" in texts:
        raise JensenError(
            "--graph-prior order counts a graph once for every order that it allows, which is no "
            "sum over families, so no graph is scored or searched by it: it is for jensen "
            "posterior; take uniform, fair, or probabilities of edges"
        )
    return read_graph_prior(texts, "--graph-prior")


def name_score(score: str, prior: Any) -> str:
    """The name of a score to which the log prior of the graph is added."""
    return score if prior is None else f"{score} + log prior"


def read_graph_prior(texts: list[str], option: str = "--prior") -> Any:
    """The prior, as the library takes it; `option` is what it was given by."""
    words = [text for text in texts if "->" not in text and "<-" not in text]
    edges = dict(_edge(text, option) for text in texts if text not in words)
    kinds: list[Any] = [word for word in words if word != "order"] + ([edges] if edges else [])
    for word in words:
        if word not in ("uniform", "fair", "order"):
            raise JensenError(
                f"there is no {option} {word}: choose uniform, fair, order, or an edge with its "
                f"probability, 'A -> B=0.9'"
            )
    if len(kinds) > 1:
        raise JensenError(f"{option}: choose one of uniform, fair, and probabilities of edges")
    inner = kinds[0] if kinds else None
    if "order" not in words:
        return inner
    return "order" if inner is None else ("order", inner)


def _edge(text: str, option: str) -> tuple[tuple[str, str], float]:
    from jensen.graphs import DAG

    graph, _, number = text.rpartition("=")
    edges = DAG(graph).edges if graph else []
    try:
        (edge,), p = edges, float(number)
    except ValueError:
        raise JensenError(
            f"{option} {text}: write one edge and its probability: {option} 'A -> B=0.9'"
        ) from None
    return edge, p


# --- the scale of the prior of columns of numbers ---


def check_scaled(score: str) -> None:
    """Refuse a scale for a score that has no such prior."""
    if score not in WITH_JOINT_PRIOR:
        owners = either(WITH_JOINT_PRIOR)
        raise JensenError(f"--scale belongs to --score {owners}, not to {score}")


def refuse_scale() -> None:
    """Refuse a scale where nothing has such a prior."""
    raise JensenError(
        "--scale belongs to the prior of columns of numbers: use it with --score bge, --prior bge "
        "or --method vbem"
    )
