"""What `jensen learn` tells about a graph of which no parameters are learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jensen.cli import learned, outputs

if TYPE_CHECKING:
    from jensen.cli.learn_structure import Structure
    from jensen.data import Table

KEPT = "--svg FILE or --json keep the graph"
NO_PARAMETERS = f"columns of both kinds have no parameters yet; {KEPT}"
NOT_DIRECTED = (
    f"a network needs a direction for every edge, and the tests were interrupted before that; "
    f"{KEPT} so far, and --max-given 1, or a lower --alpha, makes fewer tests"
)
OF_BOTH_KINDS = "The graph alone: no parameters are learned of columns of both kinds yet."
OF_TESTS_LEFT = (
    "The graph alone, without parameters: it still has all edges that no test has parted so far."
)


def write(
    found: Structure, table: Table, output: str | None, svg: str | None, as_json: bool
) -> None:
    """Tell about the graph, and that there is no network to be written."""
    from jensen.plots.svg import graph_svg

    if svg is not None:
        outputs.write_text(graph_svg(found.graph), svg)
    if as_json:
        outputs.print_json(summary(found, table, svg))
    elif "-" not in (svg, output):
        learned.tell_structure(found)
        print(OF_TESTS_LEFT if found.interrupted else OF_BOTH_KINDS)
        if svg is not None:
            print(f"drawn in {svg}")
    if output is not None:
        why = NOT_DIRECTED if found.interrupted else NO_PARAMETERS
        outputs.tell(f"jensen: nothing is written to {output}: {why}")


def summary(found: Structure, table: Table, svg: str | None) -> dict[str, Any]:
    """All of it, for programs."""
    from jensen.graphs import DAG

    graph = found.graph
    if isinstance(graph, DAG):
        pairs = {"edges": graph.edges}
    else:
        pairs = {"edges": graph.directed, "undirected": graph.undirected}
    return {
        "nodes": list(graph.nodes),
        **{kind: list(map(list, ends)) for kind, ends in pairs.items()},
        "structure": learned.structure_summary(found),
        "rows": table.total_weight,
        "svg": svg,
    }
