"""The options of `jensen learn` that say how a graph is learned, and those that go together."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from jensen.cli import inputs
from jensen.cli.independence_options import BELONG_TO, CorrectionFor, IndependenceTest
from jensen.cli.learn_options import spelled
from jensen.exceptions import JensenError
from jensen.scores.registry import AVAILABLE, PENALISED, TOLD, WITH_NETWORK
from jensen.support.text import either

if TYPE_CHECKING:
    from jensen.graphs import DAG


class Search(StrEnum):
    """How the graph is found."""

    HILL_CLIMB = "hill-climb"
    TABU = "tabu"
    EXACT = "exact"
    GES = "ges"
    PC = "pc"
    MMHC = "mmhc"
    TREE = "tree"


Structure = Annotated[
    Search | None,
    typer.Option(
        "--structure",
        help="How a graph is learned; hill-climb: by the best change of an edge until none gains; "
        "tabu: the same, and on over losses; exact: the proven optimum (of more than 24 "
        "variables with --max-parents 3 or so, and the extra jensen[exact]); ges: by changes of "
        "whole classes of graphs; pc: by tests of independence; mmhc: "
        "tests, then hill climbing; tree: the most likely tree (forest with --score bic or aic). "
        "hill-climb unless given.",
    ),
]
Score = Annotated[
    str | None,
    typer.Option(
        "--score",
        metavar="SCORE",
        help=f"By what graphs are compared: {TOLD}",
    ),
]
MaxParents = Annotated[
    int | None,
    typer.Option(
        "--max-parents", metavar="N", min=0, help="The most parents of a variable, when learned."
    ),
]
Required = Annotated[
    list[str] | None,
    typer.Option(
        "--required", metavar="'A -> B'", help="An edge of the learned graph; repeatable."
    ),
]
Forbidden = Annotated[
    list[str] | None,
    typer.Option("--forbidden", metavar="'A -> B'", help="An edge that must not be; repeatable."),
]
Tiers = Annotated[
    list[str] | None,
    typer.Option(
        "--tier",
        metavar="A,B",
        help="Variables of one time; give two or more, from first to last: no learned edge leads "
        "back. A variable in none of them may have any edge.",
    ),
]
Restarts = Annotated[
    int | None,
    typer.Option(
        "--restarts",
        metavar="N",
        min=0,
        help="How often a search begins again from its best graph, changed at random (--seed).",
    ),
]
TabuLength = Annotated[
    int | None,
    typer.Option(
        "--tabu-length",
        metavar="N",
        min=0,
        help="Of tabu: how many moves it goes on without a better graph; 100 unless given. "
        "Without --restarts a longer one never ends at a worse graph.",
    ),
]
StartGraph = Annotated[
    str | None,
    typer.Option(
        "--start-graph", metavar="GRAPH", help="Where a search begins, written as in --graph."
    ),
]
Interventions = Annotated[
    str | None,
    typer.Option(
        "--interventions",
        metavar="COLUMN",
        help="The column that names, row by row, the variable that was set from outside, or is "
        "empty. Such a row is left out of that variable's score, and of the parameters.",
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        metavar="SECONDS",
        help="Of exact: when to end with the best graph so far; how much better another one may "
        "be is told.",
    ),
]
Bootstrap = Annotated[
    int | None,
    typer.Option(
        "--bootstrap",
        metavar="N",
        min=1,
        help="Learn N graphs from rows drawn again (--seed); keep the edges found often enough.",
    ),
]
Without = Annotated[
    list[str] | None,
    typer.Option("--without", metavar="NAME", help="A column to leave out; repeatable."),
]
Svg = Annotated[
    str | None,
    typer.Option(
        "--svg", metavar="FILE", help="Draw a network into this file too; - prints the picture."
    ),
]

BEYOND_TREE = (
    "--max-parents", "--required", "--forbidden", "--tier", "--restarts", "--start-graph",
    "--interventions", "--bootstrap", "--available-case", "--prior-network", "--graph-prior",
)  # fmt: skip
"""Options that a tree does not have."""

_OF_SEARCH = ("--restarts", "--interventions", "--available-case")
BEYOND = {
    Search.GES: _OF_SEARCH,
    Search.MMHC: (*_OF_SEARCH, "--start-graph"),
    Search.PC: (
        *_OF_SEARCH, "--start-graph", "--score", "--max-parents", "--prior-network",
        "--graph-prior",
    ),
}  # fmt: skip
"""Options that a structure does not have."""


class StructureChoices(NamedTuple):
    """What was said of the graph on the command line."""

    structure: Search | None
    score: str | None
    prior_network: str | None
    graph_prior: list[str] | None
    available_case: bool
    max_parents: int | None
    required: list[str] | None
    forbidden: list[str] | None
    tier: list[str] | None
    start_graph: str | None
    restarts: int | None
    tabu_length: int | None
    interventions: str | None
    bootstrap: int | None
    test: IndependenceTest | None
    alpha: float | None
    max_given: int | None
    correction: CorrectionFor | None
    permutations: int | None
    time_limit: float | None
    column: list[str] | None
    without: list[str] | None

    @property
    def search(self) -> Search:
        """How the graph is found."""
        return self.structure or Search.HILL_CLIMB

    def given(self) -> list[str]:
        """The options that stand on the command line, as they are spelled there."""
        return spelled(self)

    def refuse_beside_graph(self) -> None:
        """Refuse what a graph that is given makes pointless; nothing is ignored in silence."""
        for option in self.given():
            raise JensenError(
                f"--graph and {option} do not go together: {option} says how a graph is learned, "
                f"and --graph gives one"
            )

    def check(self) -> None:
        """Refuse what does not go together, before anything is read."""
        if self.search is Search.TREE:
            self._check_tree()
        if self.search is Search.EXACT:
            self._refuse_beside("exact", ("--restarts", "--start-graph"), "it finds the optimum")
        if self.search in BEYOND:
            why = "it has no such choice; --structure hill-climb has"
            self._refuse_beside(self.search, BEYOND[self.search], why)
        self._check_tests()
        if self.tabu_length is not None and self.search is not Search.TABU:
            raise JensenError("--tabu-length belongs to --structure tabu")
        if self.time_limit is not None and self.search is not Search.EXACT:
            raise JensenError("--time-limit belongs to --structure exact, which proves its graph")
        if self.time_limit is not None and self.bootstrap is not None:
            raise JensenError("--time-limit and --bootstrap do not go together: take one of them")
        if (self.score in WITH_NETWORK) != (self.prior_network is not None):
            raise JensenError(
                f"--score {either(WITH_NETWORK)} and --prior-network go together: give both, or "
                f"neither"
            )
        if self.available_case and self.score not in AVAILABLE:
            raise JensenError(f"--available-case belongs to --score {either(AVAILABLE)}: add one")

    def _check_tests(self) -> None:
        foreign = {Search.PC: (), Search.MMHC: ("--correction",)}.get(self.search, BELONG_TO)
        for option in self.given():
            if option in foreign:
                raise JensenError(f"{option} belongs to --structure {BELONG_TO[option]}")

    @property
    def fits_tree(self) -> bool:
        """Whether a tree could be learned with all that was said, but for the structure."""
        foreign = {*BEYOND_TREE, *BELONG_TO, "--time-limit", "--tabu-length"}
        return self.score in (None, *PENALISED) and foreign.isdisjoint(self.given())

    def _check_tree(self) -> None:
        self._refuse_beside(
            "tree",
            BEYOND_TREE,
            "the most likely tree knows no such choice; --structure hill-climb does",
        )
        if self.score is not None and self.score not in PENALISED:
            raise JensenError(
                f"--structure tree and --score {self.score} do not go together: a tree has the "
                f"score {either(PENALISED[::-1])}"
            )

    def _refuse_beside(self, search: str, refused: Sequence[str], why: str) -> None:
        for option in self.given():
            if option in refused:
                raise JensenError(f"--structure {search} and {option} do not go together: {why}")

    def constraints(self) -> dict[str, Any]:
        """Which graphs are allowed, as the library takes it."""
        return {
            "max_parents": self.max_parents,
            "required": _edges("--required", self.required),
            "forbidden": _edges("--forbidden", self.forbidden),
            "tiers": [_names(text) for text in self.tier or []],
        }

    def of_search(self) -> dict[str, Any]:
        """How long a search goes on, as the library takes it."""
        length = {} if self.tabu_length is None else {"tabu_length": self.tabu_length}
        return {"restarts": self.restarts or 0, **length}

    def tests(self) -> dict[str, Any]:
        """How tests of independence are made, as the library takes it: what was chosen of it."""
        names = [option.removeprefix("--").replace("-", "_") for option in BELONG_TO]
        chosen = {name: getattr(self, name) for name in names}
        return {
            name: value.value if isinstance(value, StrEnum) else value
            for name, value in chosen.items()
            if value is not None
        }

    def start(self) -> DAG | None:
        """Where a search begins."""
        return None if self.start_graph is None else inputs.read_graph(self.start_graph)


def _edges(option: str, texts: list[str] | None) -> list[tuple[str, str]]:
    """Every edge that an option names; together they may make a cycle, which is told later."""
    from jensen.graphs import DAG

    found: list[tuple[str, str]] = []
    for text in texts or []:
        edges = DAG(text).edges
        if not edges:
            raise JensenError(f"{option} {text}: write an edge: {option} 'A -> B'")
        found += edges
    return found


def _names(text: str) -> list[str]:
    """Names with commas between them; one that holds a comma stands in double quotes."""
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
