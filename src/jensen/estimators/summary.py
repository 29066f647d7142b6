"""A fitted network on one page of text; how anything was learned, in a line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jensen.estimators.network_choices import NetworkSettings
from jensen.free_energy import Algorithm
from jensen.inference.mixed_network import MixedNetwork
from jensen.support.text import plural

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
    network = net.require_any()
    head = "\n".join([repr(net), *learning(net), *network.constants_note()])
    return Summary(f"{head}\n\n{network.listing()}")


def learning(net: Any) -> list[str]:
    """How the parameters of a network or another model were found, if they were learned."""
    if not hasattr(net, "free_energy_"):
        return ["tables given, not learned"]
    if net.trace_.ndim == 2:
        return [
            f"{plural(net.trace_.shape[0], 'chain')} of {plural(net.trace_.shape[1], 'sample')}; "
            f"{getattr(net, 'watched', 'log joint')}: R-hat {net.r_hat_:.3f}, effective sample "
            f"size {net.effective_sample_size_:.0f}"
        ]
    ended = "converged" if net.converged_ else "not converged"
    starts = f"; the best of {plural(len(net.starts_), 'start')}" if len(net.starts_) > 1 else ""
    course = f" after {plural(net.n_sweeps_, 'sweep')}, {ended}{starts}"
    return [f"{meaning(net)} {net.free_energy_:.6f}{'' if is_exact(net) else course}"]


def meaning(net: Any) -> str | None:
    """What F is; None after Gibbs, which has none."""
    algorithm, exact = algorithm_of(net), is_exact(net)
    if math.isnan(net.free_energy_):
        return None
    if algorithm.keeps_posterior:
        kind = "log evidence" if exact else "lower bound of the log evidence"
        return f"{kind}{_strength(net)}"
    of = " of the completed rows" if algorithm.name == "viterbi" and not exact else ""
    below = "lower bound of the " if algorithm.name == "variational-em" else ""
    prior = "" if net.prior is None else " + log prior"
    return f"{below}log-likelihood{of}{prior}"


def _strength(net: Any) -> str:
    """How strong the prior of the numbers is beside labels: a score of graphs has its own."""
    if not isinstance(getattr(net, "network_", None), MixedNetwork):
        return ""
    given = net.prior if isinstance(net.prior, Mapping) else {}
    if "strength" not in given:
        return " (numbers: the strength of the prior with the highest evidence)"
    return f" (numbers: prior of strength {given['strength']:g})"


def is_exact(net: Any) -> bool:
    """Whether nothing was missing: only then an ascent is at its end from the start."""
    return algorithm_of(net).ascends and net.converged_ and net.n_sweeps_ == 0


def algorithm_of(net: Any) -> Algorithm:
    """The algorithm that the choices of an estimator name."""
    return NetworkSettings(prior=net.prior, method=net.method).algorithm
