"""Descriptions of what was learned, for people and as JSON: networks and graphs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from jensen.cli import outputs
from jensen.cli.describe_posterior import how_climbed, structural_lines, structural_summary
from jensen.scores.registry import UNPENALISED
from jensen.support.text import grid, plural, show_number

if TYPE_CHECKING:
    from jensen.cli.structure import FoundGraph
    from jensen.data import Table
    from jensen.estimators.bayesian_network import BayesianNetwork
    from jensen.graphs import DAG, PDAG
    from jensen.q_graph.edge_strengths import EdgeStrengths

WIDTH = 98

KEPT = "--svg FILE or --json keep the graph"
NO_PARAMETERS = f"columns of both kinds have no parameters yet; {KEPT}"
NOT_DIRECTED = (
    f"a network needs a direction for every edge, and the tests were interrupted before that; "
    f"{KEPT} so far, and --max-given 1, or a lower --alpha, makes fewer tests"
)
BOTH_KINDS = "The graph alone: no parameters are learned for columns of both kinds yet."
TESTS_INTERRUPTED = (
    "The graph alone, without parameters: it still has all edges that no test has removed so far."
)

# --- networks ---


class DescribedNetwork(NamedTuple):
    """A network, the table that it was learned from, and how its graph was found."""

    net: BayesianNetwork
    table: Table
    found: FoundGraph | None  # None: the graph was given
    svg: str | None  # the file in which it is drawn

    def save(self, output: str | None) -> None:
        """Write it; - prints it."""
        save_model(self.net, output)

    def picture(self) -> str:
        """The graph as SVG."""
        return self.net.to_svg()

    def summary(self, output: str | None) -> dict[str, Any]:
        """All of it, for programs."""
        net = self.net
        return {
            "nodes": list(net.graph.nodes),
            "edges": [list(edge) for edge in net.graph.edges],
            "structure": None if self.found is None else graph_summary(self.found),
            "rows": self.table.total_weight,
            "free_parameters": net.parameters_count,
            **net.require_any().facts(),
            **run_summary(net),
            "output": output,
            "svg": self.svg,
        }

    def print(self, output: str | None) -> None:
        """The same for people, and the tables if they are not written."""
        from jensen.estimators.reports import algorithm_of, meaning

        network, value = self.net.require_any(), meaning(self.net)
        if self.found is not None:
            print_graph(self.found)
        rows = self.table.total_weight
        end = "" if value is None else f"; {value} {self.net.free_energy_:.6f}"
        noun = "row" if rows == 1 else "rows"
        print(f"{self.net}, learned from {show_number(rows)} {noun}{end}")
        print(f"{algorithm_of(self.net).name}: {_progress(self.net)}")
        print("".join(f"{line}\n" for line in network.constants_note()), end="")
        if output is None:
            print()
            for name in network.graph.topological_order():
                print(network.conditional(name), end="\n\n")
            print("Nothing was written: -o net.json keeps the network.")
        else:
            print(f"written to {output}")
        if self.svg is not None:
            print(f"drawn in {self.svg}")

    @property
    def was_interrupted(self) -> bool:
        """Whether an interrupt ended the search or the learning of parameters."""
        return (self.found is not None and self.found.interrupted) or run_was_interrupted(self.net)


def save_model(model: Any, output: str | None) -> None:
    """Write a model, if it is to be written; - prints it."""
    from jensen import io

    if output == "-":
        outputs.print_bytes(io.to_bytes(model))
    elif output is not None:
        model.save(output)


def run_was_interrupted(model: Any) -> bool:
    """Whether a run ended neither because it converged nor at its limit."""
    from jensen.estimators.reports import algorithm_of

    if algorithm_of(model).ascends:
        return not model.converged_ and model.n_sweeps_ < model.max_iter
    return bool(model.trace_.shape[1] < model.n_samples)


def run_summary(model: Any) -> dict[str, Any]:
    """How parameters were learned, for programs."""
    from jensen.estimators.reports import algorithm_of, meaning

    return {
        "method": algorithm_of(model).name,
        "free_energy": model.free_energy_,
        "meaning": meaning(model),
        "is_bound": model.is_bound_,
        "n_sweeps": model.n_sweeps_,
        "converged": model.converged_,
        "starts": model.starts_.tolist(),
        "r_hat": model.r_hat_,
        "effective_sample_size": model.effective_sample_size_,
    }


def _progress(net: BayesianNetwork) -> str:
    """How the parameters were learned, in a line."""
    from jensen.estimators.reports import algorithm_of, is_exact

    if not algorithm_of(net).ascends:
        n_chains, n_samples = net.trace_.shape
        return (
            f"{plural(n_chains, 'chain')} of {plural(n_samples, 'sample')} after "
            f"{plural(net.burn_in, 'sweep')} of burn-in; R-hat {_known(net.r_hat_, '.3f')}, "
            f"effective sample size {_known(net.effective_sample_size_, ',.0f')}"
        )
    if is_exact(net):
        return "no missing value bears on the parameters, so this is exact"
    end = "converged" if net.converged_ else "not converged"
    starts = f"; the best of {len(net.starts_)} starts" if len(net.starts_) > 1 else ""
    return f"{end} after {plural(net.n_sweeps_, 'sweep')}{starts}"


def _known(value: float, form: str) -> str:
    return "unknown" if math.isnan(value) else format(value, form)


# --- graphs ---


class DescribedGraph(NamedTuple):
    """A graph for which no parameters are learned."""

    found: FoundGraph
    table: Table
    svg: str | None

    def save(self, output: str | None) -> None:
        """Say why no network is written."""
        if output is not None:
            why = NOT_DIRECTED if self.found.interrupted else NO_PARAMETERS
            outputs.report(f"jensen: nothing is written to {output}: {why}")

    def picture(self) -> str:
        """The graph as SVG."""
        from jensen.plots.svg import graph_svg

        return graph_svg(self.found.graph)

    def summary(self, output: str | None) -> dict[str, Any]:
        """All of it, for programs."""
        from jensen.graphs import DAG

        graph = self.found.graph
        if isinstance(graph, DAG):
            pairs = {"edges": graph.edges}
        else:
            pairs = {"edges": graph.directed, "undirected": graph.undirected}
        return {
            "nodes": list(graph.nodes),
            **{kind: list(map(list, ends)) for kind, ends in pairs.items()},
            "structure": graph_summary(self.found),
            "rows": self.table.total_weight,
            "svg": self.svg,
        }

    def print(self, output: str | None) -> None:
        """The same for people."""
        print_graph(self.found)
        print(TESTS_INTERRUPTED if self.found.interrupted else BOTH_KINDS)
        if self.svg is not None:
            print(f"drawn in {self.svg}")

    @property
    def was_interrupted(self) -> bool:
        """Whether an interrupt ended the tests."""
        return self.found.interrupted


def graph_summary(found: FoundGraph) -> dict[str, Any]:
    """How a graph was found, for programs."""
    answer: dict[str, Any] = {
        "method": found.method,
        "score_name": found.score_name,
        "score": found.score,
        "proven": found.proven,
        "gap": None if found.gap is None or math.isinf(found.gap) else found.gap,
        "interrupted": found.interrupted,
        "seconds": found.seconds,
        "n_moves": max(0, len(found.trace) - 1),
        "n_scored": found.n_scored,
        "trace": list(found.trace),
        "bootstrap": None,
        "structural_em": structural_summary(found.structural, found.score_name),
    }
    if found.strengths is not None:
        answer["bootstrap"] = {
            "n_graphs": found.strengths.n_graphs,
            "threshold": found.strengths.threshold,
            "edges": [
                {"from": a, "to": b, "strength": strength, "direction": direction}
                for a, b, strength, direction in found.strengths.edges()
            ],
        }
    return answer


def print_graph(found: FoundGraph) -> None:
    """The graph, in a form that --graph reads again, and how it was found."""
    value = "" if math.isnan(found.score) else f"; {found.value_name} {found.score:.6f}"
    head = f"{_how_found(found)}{value}; {found.seconds:.2f} s"
    climbs = found.structural and structural_lines(found.structural, found.score_name)
    print("\n".join([head, *(climbs or ())]))
    if found.strengths is None:
        print("\n".join(f"  {line}" for line in _lines(found.graph)))
    else:
        _print_strengths(found.strengths)
    print()


def _how_found(found: FoundGraph) -> str:
    so_far = ", interrupted: the best so far" if found.interrupted else ""
    if found.strengths is not None:
        return (
            f"bootstrap: {plural(found.strengths.n_graphs, 'graph')} by {found.method}{so_far}, "
            f"edges in more than {100.0 * found.strengths.threshold:.1f} % of them"
        )
    if found.structural is not None:
        return f"{found.method}: {how_climbed(found.structural)}{so_far}, not proven to be the best"
    if found.method == "tree":
        kind = "trees" if found.score_name == UNPENALISED else "forests"
        return f"tree: the best of all {kind}"
    if found.method in ("naive", "tan"):
        more = ", joined by their most likely tree" if found.method == "tan" else ""
        return f"{found.method}: the class points to every column{more}"
    if found.proven:
        return f"exact: proven to be the best graph by {found.score_name}"
    if math.isnan(found.score) and found.interrupted:
        return f"{found.method}: by tests of independence, interrupted before the last of them"
    if not len(found.trace):
        return f"{found.method}: by tests of independence, undirected edges directed freely"
    if found.method == "exact":
        return f"exact: the best graph so far, not proven; {_how_much_better(found.gap)}"
    moves = plural(len(found.trace) - 1, "move")
    return f"{found.method}: {moves}{so_far}, not proven to be the best graph"


def _how_much_better(gap: float | None) -> str:
    """How much better another graph may be."""
    if gap is None or math.isinf(gap):
        return "how much better another may be is not known yet"
    return f"another may score up to {gap:.6g} more"


def _print_strengths(strengths: EdgeStrengths) -> None:
    from jensen.graphs.indexed_graph import show_path

    graph = strengths.averaged()
    if not graph.edges:
        print("  no edge")
        return
    rows = [["edge", "found in", "in this direction"]]
    for a, b in sorted(graph.edges, key=lambda edge: (-strengths.strength(*edge), edge)):
        shares = (strengths.strength(a, b), strengths.direction(a, b))
        rows.append([show_path([a, b]), *(f"{100.0 * share:.0f} %" for share in shares)])
    print("\n".join(f"  {line}" for line in grid(rows, left=1).splitlines()))


def _lines(graph: DAG | PDAG) -> list[str]:
    """The statements of a graph, as many in a line as fit; a new line parts them as well."""
    lines: list[str] = []
    for statement in str(graph).split("; "):
        if lines and len(lines[-1]) + len(statement) + 2 <= WIDTH:
            lines[-1] += f"; {statement}"
        else:
            lines.append(statement)
    return lines
