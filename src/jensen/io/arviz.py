"""Samples of a network's tables as ArviZ reads them, if it is installed (extra `arviz`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jensen.exceptions import JensenError

if TYPE_CHECKING:
    from jensen.estimators import BayesianNetwork


def to_arviz(net: BayesianNetwork) -> Any:
    """The samples of every table, by chain, and their log joint density.

    The table of X is the variable "P(X)" of the posterior: chain, draw, an axis per parent, then
    its own states; coordinates carry the labels.
    """
    network = net.require_network()
    if network.samples is None:
        raise JensenError("this network has no samples: learn it with method='gibbs'")
    arviz = _import()
    n_chains = len(net.trace_)
    posterior, dims, coords = {}, {}, {v.name: list(v.states) for v in network.variables}
    for variable in network.variables:
        name, draws = f"P({variable.name})", network.table_samples(variable.name)
        posterior[name] = draws.reshape(n_chains, -1, *draws.shape[1:])
        dims[name] = [v.name for v in (*network.parents(variable.name), variable)]
    return arviz.from_dict(
        posterior=posterior, sample_stats={"lp": net.trace_}, dims=dims, coords=coords
    )


def _import() -> Any:
    try:
        import arviz
    except ImportError:
        raise JensenError("ArviZ is not installed: pip install 'jensen[arviz]'") from None
    return arviz
