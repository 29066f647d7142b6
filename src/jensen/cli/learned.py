"""What `jensen learn` tells about a network that was learned."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from jensen.cli import options
from jensen.text import plural

if TYPE_CHECKING:
    from jensen.data import Table
    from jensen.estimators.bayesian_network import BayesianNetwork


def summary(net: BayesianNetwork, table: Table, output: str | None) -> dict[str, Any]:
    """All of it, for programs."""
    from jensen.estimators.summary import algorithm_of, meaning

    return {
        "nodes": list(net.graph.nodes),
        "edges": [list(edge) for edge in net.graph.edges],
        "rows": table.total_weight,
        "free_parameters": net.parameters_count,
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
    }


def tell(net: BayesianNetwork, table: Table, output: str | None) -> None:
    """The same for people, and the tables if they are not written."""
    from jensen.estimators.summary import algorithm_of

    rows = table.total_weight
    noun = "row" if rows == 1 else "rows"
    print(f"{net}, learned from {options.show_number(rows)} {noun}{_value(net)}")
    print(f"{algorithm_of(net).name}: {_course(net)}")
    if output is None:
        print()
        show = net.cpt if net.gaussian is None else net.regression
        for name in net.graph.topological_order():
            print(show(name), end="\n\n")
        print("Nothing was written: -o net.json keeps the network.")
    else:
        print(f"written to {output}")


def was_stopped(net: BayesianNetwork) -> bool:
    """Whether the run was interrupted: it ended neither by converging nor at its limit."""
    from jensen.estimators.summary import algorithm_of

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
