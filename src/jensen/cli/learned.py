"""What `jensen learn` tells about a network that was learned."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from jensen.cli import options
from jensen.text import plural

if TYPE_CHECKING:
    from jensen.data import Table
    from jensen.estimators import BayesianNetwork


def summary(net: BayesianNetwork, table: Table, output: str | None) -> dict[str, Any]:
    """All of it, for programs."""
    return {
        "nodes": list(net.graph.nodes),
        "edges": [list(edge) for edge in net.graph.edges],
        "rows": table.total_weight,
        "free_parameters": net.parameters_count,
        "method": _algorithm(net).name,
        "free_energy": net.free_energy_,
        "meaning": meaning(net, table),
        "is_bound": net.is_bound_,
        "n_sweeps": net.n_sweeps_,
        "converged": net.converged_,
        "starts": net.starts_.tolist(),
        "r_hat": net.r_hat_,
        "effective_sample_size": net.effective_sample_size_,
        "output": output,
    }


def tell(net: BayesianNetwork, table: Table, output: str | None) -> None:
    """The same for people, and the tables if they are not written."""
    rows = table.total_weight
    noun = "row" if rows == 1 else "rows"
    print(f"{net}, learned from {options.show_number(rows)} {noun}{_value(net, table)}")
    print(f"{_algorithm(net).name}: {_course(net, table)}")
    if output is None:
        print()
        for name in net.graph.topological_order():
            print(net.cpt(name), end="\n\n")
        print("Nothing was written: -o net.json keeps the network.")
    else:
        print(f"written to {output}")


def was_stopped(net: BayesianNetwork) -> bool:
    """Whether the run was interrupted: it ended neither by converging nor at its limit."""
    if _algorithm(net).ascends:
        return not net.converged_ and net.n_sweeps_ < net.max_iter
    return bool(net.trace_.shape[1] < net.n_samples)


def meaning(net: BayesianNetwork, table: Table) -> str | None:
    """What F is; None after Gibbs, which has none."""
    algorithm, complete = _algorithm(net), is_complete(net, table)
    if math.isnan(net.free_energy_):
        return None
    if algorithm.keeps_posterior:
        return "log evidence" if complete else "lower bound of the log evidence"
    of = " of the completed rows" if algorithm.name == "viterbi" and not complete else ""
    prior = "" if net.prior is None else " + log prior"
    return f"log-likelihood{of}{prior}"


def is_complete(net: BayesianNetwork, table: Table) -> bool:
    """Whether nothing was missing in the rows that count."""
    nodes = net.graph.nodes
    if not all(name in table for name in nodes):
        return False
    rows = table if table.weights is None else table.take(table.weights > 0)
    return not rows.n_missing(nodes)


def _value(net: BayesianNetwork, table: Table) -> str:
    what = meaning(net, table)
    return "" if what is None else f"; {what} {net.free_energy_:.6f}"


def _course(net: BayesianNetwork, table: Table) -> str:
    """How it went, in a line."""
    if not _algorithm(net).ascends:
        n_chains, n_samples = net.trace_.shape
        return (
            f"{plural(n_chains, 'chain')} of {plural(n_samples, 'sample')} after "
            f"{plural(net.burn_in, 'sweep')} of burn-in; R-hat {_known(net.r_hat_, '.3f')}, "
            f"effective sample size {_known(net.effective_sample_size_, ',.0f')}"
        )
    if is_complete(net, table):
        return "nothing is missing, so this is exact"
    end = "converged" if net.converged_ else "not converged"
    starts = f"; the best of {len(net.starts_)} starts" if len(net.starts_) > 1 else ""
    return f"{end} after {plural(net.n_sweeps_, 'sweep')}{starts}"


def _known(value: float, form: str) -> str:
    return "unknown" if math.isnan(value) else format(value, form)


def _algorithm(net: BayesianNetwork) -> Any:
    from jensen.estimators.choices import Choices

    return Choices(prior=net.prior, method=net.method).algorithm
