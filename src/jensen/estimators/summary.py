"""A fitted network on one page of text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jensen.text import grid, plural, some

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork


@dataclass(frozen=True)
class Summary:
    """Text that shows itself."""

    text: str

    def __repr__(self) -> str:
        return self.text


def summarise(net: BayesianNetwork) -> Summary:
    """What was learned and how, and the variables with their parents."""
    network = net.require_network()
    lines = [[repr(net)], *([text] for text in _learning(net))]
    head = "\n".join(line for (line,) in lines)
    rows = [["variable", "states", "parents", "free parameters"]]
    for variable in network.variables:
        parents = network.parents(variable.name)
        configs = int(np.prod([p.n_states for p in parents]))
        rows.append(
            [
                variable.name,
                some(variable.states, most=4),
                some((p.name for p in parents), most=4) or "-",
                f"{configs * (variable.n_states - 1):,}",
            ]
        )
    return Summary(f"{head}\n\n{grid(rows, left=3, rule=True)}")


def _learning(net: BayesianNetwork) -> list[str]:
    """How the tables were found, if they were learned."""
    if not hasattr(net, "free_energy_"):
        return ["tables given, not learned"]
    if net.trace_.ndim == 2:
        return [
            f"{plural(net.trace_.shape[0], 'chain')} of {plural(net.trace_.shape[1], 'sample')}; "
            f"log joint: R-hat {net.r_hat_:.3f}, effective sample size "
            f"{net.effective_sample_size_:.0f}"
        ]
    meaning = "a bound of the log evidence" if net.is_bound_ else "log-likelihood + log prior"
    ended = "converged" if net.converged_ else "not converged"
    starts = f"; best of {plural(len(net.starts_), 'start')}" if len(net.starts_) > 1 else ""
    return [
        f"F = {net.free_energy_:.6g} ({meaning}) after {plural(net.n_sweeps_, 'sweep')}, "
        f"{ended}{starts}"
    ]
