"""`jensen learn --structure tree` of columns with labels and with numbers: the graph alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jensen.cli import learned, outputs
from jensen.cli.learn_options import Loop, NetworkChoices, spelled
from jensen.cli.structure_options import Search, StructureChoices
from jensen.exceptions import JensenError

if TYPE_CHECKING:
    from jensen.cli.learn_structure import Structure
    from jensen.data import Table


def is_mixed_tree(table: Table, names: Sequence[str], choices: StructureChoices) -> bool:
    """Whether a tree of columns of both kinds is asked for."""
    kinds = {table.variable(name).kind for name in names}
    return choices.search is Search.TREE and kinds == {"categorical", "continuous"}


def of_parameters(loop: Loop, network: NetworkChoices) -> list[str]:
    """The options that were given and belong to parameters."""
    return [name for name in (*spelled(loop), *network.given()) if name != "--states"]


def refuse_parameters(loop: Loop, network: NetworkChoices) -> None:
    """Refuse what belongs to parameters, for no network holds columns of both kinds yet."""
    given = of_parameters(loop, network)
    if given:
        raise JensenError(
            f"{given[0].replace('--output', '-o')}: of columns with labels and columns with "
            f"numbers together only the graph is learned, no parameters: leave it out (--json and "
            f"--svg keep the graph)"
        )


def write(found: Structure, table: Table, svg: str | None, as_json: bool) -> None:
    """Tell about the graph."""
    from jensen.plots.svg import graph_svg

    if svg is not None:
        outputs.write_text(graph_svg(found.graph), svg)
    if as_json:
        outputs.print_json(summary(found, table, svg))
    elif svg != "-":
        learned.tell_structure(found)
        print("The graph alone: no parameters are learned of columns of both kinds yet.")
        if svg is not None:
            print(f"drawn in {svg}")


def summary(found: Structure, table: Table, svg: str | None) -> dict[str, Any]:
    """All of it, for programs."""
    return {
        "nodes": list(found.graph.nodes),
        "edges": [list(edge) for edge in found.graph.edges],
        "structure": learned.structure_summary(found),
        "rows": table.total_weight,
        "svg": svg,
    }
