"""Markov networks as plain data, with all that was chosen, and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jensen.estimators.markov_problem import MarkovSettings
from jensen.estimators.reports import (
    LABELS,
    LOOP,
    METHOD,
    Stored,
    plain_choices,
    plain_learned,
    plain_numbers,
    read_choices,
    read_learned,
    read_stored_prior,
    usual_choices,
)
from jensen.inference.undirected_network import UndirectedNetwork
from jensen.support.json_values import Checked, refusing
from jensen.support.text import plural

if TYPE_CHECKING:
    from jensen.estimators.markov_network import MarkovNetwork

NONE_OF = ("n_samples", "burn_in", "thin", "accelerate")
STORED = {
    "method": METHOD,
    "prior": Stored(plain_numbers, read_stored_prior, is_needed=True),
    "interactions": Stored(str, Checked.text),
    "n_steps": Stored(int, Checked.whole),
    "inference": Stored(str, Checked.text),
    "hidden": LABELS["hidden"],
    **{name: stored for name, stored in LOOP.items() if name not in NONE_OF},
}


def plain_markov(net: MarkovNetwork) -> dict[str, Any]:
    """Choices, what was learned, and the potentials, in the order of files."""
    network = net.require_any()
    _settings(net).check()
    return {
        "format": network.format,
        "choices": plain_choices(STORED, net.get_params(), usual_choices(net)),
        "learned": plain_learned(net) if net.method == "ml" else None,
        **network.to_dict(),
    }


def read_markov(make: type[MarkovNetwork], value: Checked) -> MarkovNetwork:
    """What `plain_markov` gave."""
    members, rest = value.parted({"format", "choices", "learned"})
    choices = read_choices(STORED, members["choices"])
    with refusing(value.file):
        network = UndirectedNetwork.from_dict(rest)
    net = make(network.graph, **choices)
    net.network_, net.graph_ = network, network.graph
    with refusing(f"{value.file}: choices"):
        _settings(net).check()
    read_learned(net, members["learned"], network)
    return net


def _settings(net: MarkovNetwork) -> MarkovSettings:
    names = [name for name in STORED if name not in ("hidden", "random_state")]
    return MarkovSettings(**{name: getattr(net, name) for name in names}, hidden=net.hidden or {})


def meaning(net: MarkovNetwork) -> str:
    """What F is."""
    f = "log-likelihood" if net.prior is None else "log-likelihood + log prior"
    if net.inference == "exact":
        return f
    return f"lower bound of the {f}" if net.inference == "trw" else f"estimate of the {f}"


def told(net: MarkovNetwork) -> str:
    """How the potentials were found, in words."""
    if net.method == "cd":
        return f"contrastive divergence, chains of {plural(net.n_steps, 'sweep')}: no F, no bound"
    if net.method == "pcd":
        return f"{plural(net.n_chains, 'persistent chain')}: an estimate, no F and no bound"
    if net.method == "pseudo":
        value = getattr(net, "pseudo_log_likelihood_", None)
        number = "" if value is None else f" {value:.6f}"
        return f"pseudo-log-likelihood{number}: no bound of the likelihood"
    if not hasattr(net, "free_energy_"):
        return "potentials given, not learned"
    ended = "converged" if net.converged_ else "not converged"
    starts = f"; the best of {plural(len(net.starts_), 'start')}" if len(net.starts_) > 1 else ""
    sweeps = plural(net.n_sweeps_, "sweep")
    return f"{meaning(net)} {net.free_energy_:.6f} after {sweeps}, {ended}{starts}"
