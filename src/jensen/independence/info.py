"""What learners by tests tell about their graphs."""

from dataclasses import dataclass, field

from jensen.q_graph.info import StructureInfo

Named = tuple[str, str]


@dataclass(frozen=True)
class PCInfo:
    """How a graph was found by tests of independence; pairs of names have the smaller first."""

    test: str
    alpha: float
    correction: str | None
    n_tests: int
    n_tests_by_size: tuple[int, ...]
    """Of the tests that looked for separating sets, by how many variables were given."""
    separators: dict[Named, tuple[str, ...]] = field(repr=False)
    """Of every pair that is not joined, the set that parted it."""
    p_values: dict[Named, float] = field(repr=False)
    """Of every pair that was tested, the largest p-value of its tests."""
    conflicts: tuple[Named, ...]
    """Edges that the tests direct both ways; they are `<->` in the graph."""
    unknown: tuple[tuple[str, str, str], ...] = field(repr=False)
    """Triples a, c, b in which half of the separating sets of a and b hold c, or of which no set of
    neighbours separates a and b: left undirected."""
    overruled: tuple[Named, ...]
    """Arrows (from, to) that tests ask for and constraints forbid; constraints win."""
    consistent: bool
    """Whether there is a DAG with these directions, these edges and no other v-structures."""
    interrupted: bool
    seconds: float
    method: str = "pc"


@dataclass(frozen=True)
class MMHCInfo(StructureInfo):
    """How a graph was found by climbing among pairs that tests left."""

    test: str
    alpha: float
    n_tests: int
    candidates: tuple[Named, ...] = field(repr=False)
    """Pairs that could be joined."""
