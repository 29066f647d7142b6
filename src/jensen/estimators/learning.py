"""From complete rows to the tables of a network."""

import warnings
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.data.counting import COMPLETE_ROWS, require_complete, require_states
from jensen.exceptions import DataError, EstimateWarning, JensenError
from jensen.free_energy import ALGORITHMS, Algorithm, State, fit_complete
from jensen.graphs import DAG
from jensen.graphs.wiring import wire
from jensen.inference import Network
from jensen.memory import check_memory
from jensen.models.discrete_network import DiscreteNetwork, complete_stats
from jensen.models.priors import make_prior
from jensen.text import plural

ARRAYS = 6
"""How many arrays as long as all tables together are alive at once while learning."""


def choose_algorithm(method: Any, prior: Any) -> Algorithm:
    """The algorithm that a method names; None: EM without a prior, VBEM with one."""
    default = "em" if prior is None else "vbem"
    name = default if method is None else method
    if not isinstance(name, str) or name not in ALGORITHMS:
        choices = ", ".join(map(repr, ALGORITHMS))
        raise JensenError(f"there is no method {name!r}: choose one of {choices}")
    return ALGORITHMS[name]


def learn_tables(
    graph: DAG, table: Table, prior: Any, equivalent_sample_size: float, algorithm: Algorithm
) -> tuple[Network, State]:
    """Count every family once; the tables are read out of prior + counts."""
    variables = [require_states(table, name) for name in graph.nodes]
    if table.total_weight == 0:
        raise DataError("there is nothing to learn from: the table has no rows, or no weight")
    require_complete(
        table,
        graph.nodes,
        "learning tables from counts",
        COMPLETE_ROWS,
    )
    wiring = wire(graph.parent_indices, [v.n_states for v in variables])
    check_memory(
        8.0 * ARRAYS * float(wiring.fam_at[-1]),
        f"the tables of this graph ({int(wiring.fam_at[-1]):,} entries)",
        "leave out parents, or merge states",
    )
    stats = complete_stats(table, graph.nodes, wiring)
    assert stats.tables is not None
    eta0 = make_prior(prior, equivalent_sample_size, graph.nodes, wiring, stats.tables)
    model = DiscreteNetwork(wiring, eta0)
    state = fit_complete(model, stats, algorithm)
    family, eta = model.families.tables, state.eta.tables
    if algorithm.q_theta.is_distribution:
        tables, concentration = family.mean(eta), eta + 1.0
    else:
        tables, concentration = family.mode(eta), None
    network = Network(graph, tuple(variables), tables, concentration)
    weight = eta if concentration is None else concentration
    _warn_of_empty_rows(network, family.totals(weight) <= 0.0)
    return network, state


def _warn_of_empty_rows(network: Network, empty: NDArray[np.bool_]) -> None:
    """Parent configurations without counts and without a prior have no estimate: say which."""
    if not empty.any():
        return
    shown = list(islice(_configurations(network, empty), 5))
    n = int(np.sum(empty))
    more = f" and {n - len(shown)} more" if n > len(shown) else ""
    warnings.warn(
        f"{plural(n, 'parent configuration')} never occurred, so the data say nothing about "
        f"{'; '.join(shown)}{more}. Uniform probabilities were filled in; "
        f"a prior (prior='bdeu', --prior bdeu) makes an honest estimate of them",
        EstimateWarning,
        stacklevel=4,
    )


def _configurations(network: Network, empty: NDArray[np.bool_]) -> Any:
    """Empty rows in words: P(wet | rain=yes)."""
    at = 0
    for variable in network.variables:
        for labels, _ in network.cpt(variable.name).rows():
            if empty[at]:
                parents = network.parents(variable.name)
                pairs = [f"{p.name}={x}" for p, x in zip(parents, labels, strict=True)]
                yield f"P({variable.name}{' | ' if pairs else ''}{', '.join(pairs)})"
            at += 1
