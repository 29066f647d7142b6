"""Samples of a network's tables as ArviZ reads them, if it is installed (extra `arviz`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jensen.exceptions import JensenError

if TYPE_CHECKING:
    from jensen.estimators import BayesianNetwork


def to_arviz(net: BayesianNetwork) -> Any:
    """The samples of every table, by chain, and their log joint density.

    The table of X is the variable "P(X)" of the posterior: chain, draw, an axis per parent, then its
    own states; coordinates carry the labels.
    """
    network = net.require_network()
    if network.samples is None:
        raise JensenError("this network has no samples: learn it with method='gibbs'")
    arviz = _import()
    n_chains = len(net.trace_)
    draws = network.samples.reshape(n_chains, -1, network.samples.shape[1])
    posterior, dims, coords = {}, {}, {v.name: list(v.states) for v in network.variables}
    for x, variable in enumerate(network.variables):
        start, stop = network.wiring.fam_at[x : x + 2]
        shape = [v.n_states for v in (*network.parents(variable.name), variable)]
        name = f"P({variable.name})"
        posterior[name] = np.array(draws[:, :, start:stop]).reshape(*draws.shape[:2], *shape)
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
