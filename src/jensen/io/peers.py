"""Networks as the objects of pgmpy and pyAgrum, and back; samples as ArviZ reads them.

Each package is needed only when it is asked for (extra `arviz` for the last one).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable, label_text
from jensen.exceptions import JensenError
from jensen.graphs import DAG
from jensen.inference.network import Network, assemble
from jensen.support.machine import check_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jensen.q_graph.posterior.graph_samples import GraphSamples


def to_pgmpy(network: Network) -> Any:
    """Make a pgmpy `DiscreteBayesianNetwork` with the same graph, states and probabilities.

    Posteriors and samples are not passed on: pgmpy's tables are points.
    """
    factors, models = _need("pgmpy.factors.discrete"), _need("pgmpy.models")
    model = models.DiscreteBayesianNetwork()
    model.add_nodes_from(network.graph.nodes)
    model.add_edges_from(network.graph.edges)
    for variable in network.variables:
        parents = network.parents(variable.name)
        table = network.part(variable.name, network.probabilities)
        cpd = factors.TabularCPD(
            variable.name,
            variable.n_states,
            table.reshape(-1, variable.n_states).T,
            evidence=[p.name for p in parents] or None,
            evidence_card=[p.n_states for p in parents] or None,
            state_names={v.name: list(v.states) for v in (*parents, variable)},
        )
        model.add_cpds(cpd)
    return model


def from_pgmpy(model: Any) -> Network:
    """Make a network of a pgmpy model.

    Parameters
    ----------
    model
        A network of pgmpy in which every node has a `TabularCPD`. Names of states become labels;
        the order of parents and of their states may differ from table to table.
    """
    if not hasattr(model, "get_cpds"):
        raise JensenError(f"a {type(model).__name__} is no network of pgmpy")
    cpds = {str(cpd.variable): cpd for cpd in model.get_cpds()}
    names = sorted(map(str, model.nodes()))
    absent = [name for name in names if name not in cpds]
    if absent:
        raise JensenError(f"the pgmpy model has no table of {absent[0]!r}: fit it, or add one")
    variables = {n: _variable(n, cpds[n].state_names[cpds[n].variable]) for n in names}
    parents, tables = {}, {}
    for name in names:
        axes = [str(x) for x in cpds[name].variables[1:]]
        parents[name] = axes
        values = np.moveaxis(cpds[name].values, 0, -1)
        for k, parent in enumerate(cpds[name].variables[1:]):
            order = _order_of_states(cpds[name], parent, variables[str(parent)])
            values = np.take(values, order, axis=k)
        tables[name] = _sorted_axes(values, axes)
    return assemble(DAG.from_parents(parents), variables, tables)


def _order_of_states(cpd: Any, parent: Any, variable: Variable) -> list[int]:
    """Where a table has each state of a parent; pgmpy lists them in every table anew."""
    listed = [label_text(state) for state in cpd.state_names[parent]]
    if sorted(listed) != sorted(variable.states):
        raise JensenError(
            f"the table of {str(cpd.variable)!r} gives {variable.name!r} the states {listed}, "
            f"but its own table has {list(variable.states)}"
        )
    return [listed.index(state) for state in variable.states]


def to_pyagrum(network: Network) -> Any:
    """Make a pyAgrum `BayesNet` with the same graph, states and probabilities."""
    gum = _need("pyagrum")
    bn = gum.BayesNet()
    for variable in network.variables:
        bn.add(gum.LabelizedVariable(variable.name, variable.name, list(variable.states)))
    for a, b in network.graph.edges:
        bn.addArc(a, b)
    for variable in network.variables:
        axes = [*(p.name for p in network.parents(variable.name)), variable.name]
        table = network.part(variable.name, network.probabilities)
        # pyAgrum's first variable runs fastest, so its arrays have their axes in reverse.
        wanted = list(reversed(bn.cpt(variable.name).names))
        turned = table.transpose([axes.index(name) for name in wanted])
        bn.cpt(variable.name)[:] = np.ascontiguousarray(turned)
    return bn


def from_pyagrum(bn: Any) -> Network:
    """Make a network of a pyAgrum `BayesNet`; labels of states are kept."""
    if not hasattr(bn, "cpt"):
        raise JensenError(f"a {type(bn).__name__} is no network of pyAgrum")
    names = sorted(bn.names())
    variables = {name: _variable(name, bn.variable(name).labels()) for name in names}
    parents, tables = {}, {}
    for name in names:
        axes = list(reversed(bn.cpt(name).names))
        array = np.moveaxis(np.asarray(bn.cpt(name)[:], np.float64), axes.index(name), -1)
        axes.remove(name)
        parents[name] = axes
        tables[name] = _sorted_axes(array, axes)
    return assemble(DAG.from_parents(parents), variables, tables)


def _variable(name: str, states: Sequence[object]) -> Variable:
    return Variable(name, "categorical", tuple(map(label_text, states)))


def _sorted_axes(array: NDArray[np.float64], parents: list[str]) -> NDArray[np.float64]:
    """The axes of the parents in the order of their names; the variable's own axis stays last."""
    by_name = sorted(range(len(parents)), key=parents.__getitem__)
    return np.asarray(array, np.float64).transpose([*by_name, len(parents)])


def _need(module: str) -> Any:
    from importlib import import_module

    package = module.split(".")[0]
    try:
        return import_module(module)
    except ImportError:
        raise JensenError(f"this needs {package}: pip install {package}") from None


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
