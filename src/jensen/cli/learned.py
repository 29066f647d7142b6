"""What `jensen learn` tells about a network that was learned, and about its graph."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from jensen.cli import outputs
from jensen.graphs.names import show_path
from jensen.scores.registry import UNPENALISED
from jensen.support.text import grid, plural

if TYPE_CHECKING:
    from jensen.cli.learn_structure import Structure
    from jensen.data import Table
    from jensen.estimators.bayesian_network import BayesianNetwork
    from jensen.graphs import DAG, PDAG
    from jensen.q_graph.edge_strengths import EdgeStrengths

WIDTH = 98


class LearnedFrom(NamedTuple):
    """What a network was learned from."""

    table: Table
    structure: Structure | None  # None: the graph was given
    svg: str | None  # where it is drawn


def summary(net: BayesianNetwork, learned: LearnedFrom, output: str | None) -> dict[str, Any]:
    """All of it, for programs."""
    from jensen.estimators.summary import algorithm_of, meaning

    table, structure, svg = learned

    return {
        "nodes": list(net.graph.nodes),
        "edges": [list(edge) for edge in net.graph.edges],
        "structure": None if structure is None else structure_summary(structure),
        "rows": table.total_weight,
        "free_parameters": net.parameters_count,
        **net.require_any().facts(),
        "method": algorithm_of(net).name,
        "free_energy": net.free_energy_,
        "meaning": meaning(net),
        "is_bound": net.is_bound_,
        "n_sweeps": net.n_sweeps_,
        "converged": net.converged_,
        "starts": net.starts_.tolist(),
        "r_hat": net.r_hat_,
        "effective_sample_size": net.effective_sample_size_,
        "output": output,
        "svg": svg,
    }


def tell(net: BayesianNetwork, learned: LearnedFrom, output: str | None) -> None:
    """The same for people, and the tables if they are not written."""
    from jensen.estimators.summary import algorithm_of

    network = net.require_any()
    if learned.structure is not None:
        tell_structure(learned.structure)
    rows = learned.table.total_weight
    noun = "row" if rows == 1 else "rows"
    print(f"{net}, learned from {outputs.show_number(rows)} {noun}{_value(net)}")
    print(f"{algorithm_of(net).name}: {_course(net)}")
    print("".join(f"{line}\n" for line in network.constants_note()), end="")
    if output is None:
        print()
        for name in network.graph.topological_order():
            print(network.conditional(name), end="\n\n")
        print("Nothing was written: -o net.json keeps the network.")
    else:
        print(f"written to {output}")
    if learned.svg is not None:
        print(f"drawn in {learned.svg}")


def was_stopped(net: BayesianNetwork, learned: Any = None) -> bool:
    """Whether the run was interrupted: it ended neither by converging nor at its limit."""
    from jensen.estimators.summary import algorithm_of

    structure = getattr(learned, "structure", None)
    if structure is not None and structure.interrupted:
        return True
    if algorithm_of(net).ascends:
        return not net.converged_ and net.n_sweeps_ < net.max_iter
    return bool(net.trace_.shape[1] < net.n_samples)


def _value(net: BayesianNetwork) -> str:
    from jensen.estimators.summary import meaning

    what = meaning(net)
    return "" if what is None else f"; {what} {net.free_energy_:.6f}"


def _course(net: BayesianNetwork) -> str:
    """How it went, in a line."""
    from jensen.estimators.summary import algorithm_of, is_exact

    if not algorithm_of(net).ascends:
        n_chains, n_samples = net.trace_.shape
        return (
            f"{plural(n_chains, 'chain')} of {plural(n_samples, 'sample')} after "
            f"{plural(net.burn_in, 'sweep')} of burn-in; R-hat {_known(net.r_hat_, '.3f')}, "
            f"effective sample size {_known(net.effective_sample_size_, ',.0f')}"
        )
    if is_exact(net):
        return "nothing is missing, so this is exact"
    end = "converged" if net.converged_ else "not converged"
    starts = f"; the best of {len(net.starts_)} starts" if len(net.starts_) > 1 else ""
    return f"{end} after {plural(net.n_sweeps_, 'sweep')}{starts}"


def _known(value: float, form: str) -> str:
    return "unknown" if math.isnan(value) else format(value, form)


# --- the graph ---


def structure_summary(found: Structure) -> dict[str, Any]:
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


def tell_structure(found: Structure) -> None:
    """The graph, in a form that --graph reads again, and how it was found."""
    value = "" if math.isnan(found.score) else f"; {found.score_name} {found.score:.6f}"
    print(f"{_how_found(found)}{value}; {found.seconds:.2f} s")
    if found.strengths is None:
        print("\n".join(f"  {line}" for line in _lines(found.graph)))
    else:
        _tell_strengths(found.strengths)
    print()


def _how_found(found: Structure) -> str:
    so_far = ", interrupted: the best so far" if found.interrupted else ""
    if found.strengths is not None:
        return (
            f"bootstrap: {plural(found.strengths.n_graphs, 'graph')} by {found.method}{so_far}, "
            f"edges in more than {100.0 * found.strengths.threshold:.1f} % of them"
        )
    if found.method == "tree":
        kind = "trees" if found.score_name == UNPENALISED else "forests"
        return f"tree: the best of all {kind}"
    if found.proven:
        return f"exact: proven to be the best graph by {found.score_name}"
    if math.isnan(found.score):
        return f"{found.method}: by tests of independence, interrupted before the last of them"
    if not len(found.trace):
        return f"{found.method}: by tests of independence, undirected edges directed freely"
    if found.method == "exact":
        return f"exact: the best graph so far, not proven; {_beyond(found.gap)}"
    moves = plural(len(found.trace) - 1, "move")
    return f"{found.method}: {moves}{so_far}, not proven to be the best graph"


def _beyond(gap: float | None) -> str:
    """How much better another graph may be."""
    if gap is None or math.isinf(gap):
        return "how much better another may be is not known yet"
    return f"another may score up to {gap:.6g} more"


def _tell_strengths(strengths: EdgeStrengths) -> None:
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
