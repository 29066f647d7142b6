"""Samples of tables and of graphs as ArviZ reads them, if it is installed (extra `arviz`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jensen.exceptions import JensenError
from jensen.support.memory import check_memory

if TYPE_CHECKING:
    from jensen.q_graph.posterior.graph_samples import GraphSamples


def to_arviz(net: Any) -> Any:
    """Samples of every table, by chain, with their log joint density, as ArviZ holds them.

    Parameters
    ----------
    net
        A `BayesianNetwork` that was learned by "gibbs".

    Returns
    -------
    arviz.InferenceData
        In the group `posterior` the variable "P(X)" is the table of X, (chains, draws, parents of
        X ..., states of X), with labels as coordinates. In `sample_stats`, "lp" is the log joint
        density (chains, draws).
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


def graphs_to_arviz(samples: GraphSamples) -> Any:
    """Edges of every sampled graph, by chain, with its log score, as ArviZ holds them.

    Parameters
    ----------
    samples
        Graphs that chains have drawn; sums over all graphs are refused.

    Returns
    -------
    arviz.InferenceData
        In the group `posterior`, "edge" (chains, draws, edges) is 1 where a graph has an edge,
        for all edges that some sample has, with coordinates such as "A -> B"; "n_edges" (chains,
        draws) is the number of edges. In `sample_stats`, "lp" is the log weight of the state of
        the chain, "log_score" that of the graph, and "log_weight" is there for weighted samples.
    """
    if samples.kind == "all":
        raise JensenError("every graph is known here with its probability: nothing was sampled")
    arviz = _import()
    names, p = samples.names, samples.edge_matrix()
    pairs = np.argwhere(p > 0)
    check_memory(
        float(samples.n_samples * len(pairs)),
        f"{len(pairs):,} edges of {samples.n_samples:,} samples",
        "keep fewer samples, with a larger thin",
    )
    edges = np.empty((*samples.which.shape, len(pairs)), np.int8)
    for k, (a, b) in enumerate(pairs.tolist()):
        edges[:, :, k] = samples.members[samples.graphs[:, b], a][samples.which]
    sizes = samples.members.sum(1)[samples.graphs].sum(1)
    stats = {"lp": samples.states, "log_score": samples.scores}
    if samples.log_weights is not None:
        stats["log_weight"] = samples.log_weights
    return arviz.from_dict(
        posterior={"edge": edges, "n_edges": sizes[samples.which]},
        sample_stats=stats,
        dims={"edge": ["pair"]},
        coords={"pair": [f"{names[a]} -> {names[b]}" for a, b in pairs.tolist()]},
    )


def _import() -> Any:
    try:
        import arviz
    except ImportError:
        raise JensenError("ArviZ is not installed: pip install 'jensen[arviz]'") from None
    return arviz
