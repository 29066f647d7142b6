"""The data as each library likes it best; none of this is timed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.alarm import GRAPH, STATES, edges, parents, tables
from benchmarks.holes import HOLE
from benchmarks.workload import Setting


def jensen_graph() -> Any:
    """Alarm as a `jensen.DAG`."""
    import jensen as jn

    return jn.DAG(GRAPH)


def jensen_table(setting: Setting) -> Any:
    """The rows as a `jensen.Table`, on as many threads as the setting says."""
    import jensen as jn

    jn.set_threads(setting.threads)
    return jn.read_table(setting.csv, states=STATES, missing=[HOLE])


def fresh(table: Any) -> Any:
    """The same table, as if just read: nothing packed yet."""
    return table.select(table.names)


def first_met(table: Any) -> Any:
    """The same table, as if just read, of a network of which nothing was compiled yet."""
    from jensen.q_hidden.trees.plans import _kept

    _kept.cache_clear()
    return fresh(table)


def codes(setting: Setting) -> NDArray[np.uint8]:
    """The rows as numbers of states (variables, rows), in the order of STATES."""
    table = jensen_table(setting)
    return np.stack([table.column(name).data for name in STATES])


def frame(setting: Setting) -> Any:
    """The rows as a pandas dataframe of Categoricals, which pgmpy counts fastest."""
    return jensen_table(setting).to_pandas()


def pgmpy_network() -> Any:
    """Alarm in pgmpy, with its tables."""
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    network = DiscreteBayesianNetwork(edges())
    for name, table in tables().items():
        family = (*parents()[name], name)
        network.add_cpds(
            TabularCPD(
                name,
                len(STATES[name]),
                table.reshape(-1, table.shape[-1]).T,
                evidence=list(parents()[name]),
                evidence_card=list(table.shape[:-1]),
                state_names={member: list(STATES[member]) for member in family},
            )
        )
    return network


def pgmpy_tables(network: Any) -> dict[str, NDArray[np.float64]]:
    """The tables of a pgmpy network, in the order of ours."""
    return {name: _pgmpy_table(network.get_cpds(name), name) for name in STATES}


def _pgmpy_table(cpd: Any, name: str) -> NDArray[np.float64]:
    """Pgmpy's axes are its own, then the parents, each with its own order of states."""
    family = (*parents()[name], name)
    array = np.transpose(cpd.values, [cpd.variables.index(member) for member in family])
    order = [[cpd.state_names[m].index(label) for label in STATES[m]] for m in family]
    return array[np.ix_(*order)]


def agrum_network() -> Any:
    """Alarm in pyAgrum, with its tables."""
    import pyagrum

    network = pyagrum.BayesNet("alarm")
    for name, labels in STATES.items():
        network.add(pyagrum.LabelizedVariable(name, name, list(labels)))
    for parent, child in edges():
        network.addArc(parent, child)
    for name, table in tables().items():
        family = (*parents()[name], name)
        axes = [family.index(member) for member in reversed(network.cpt(name).names)]
        network.cpt(name)[:] = np.ascontiguousarray(np.transpose(table, axes))
    return network


def agrum_tables(network: Any) -> dict[str, NDArray[np.float64]]:
    """The tables of a pyAgrum network, in the order of ours; its states are ours already."""
    found = {}
    for name in STATES:
        axes = list(reversed(network.cpt(name).names))
        family = (*parents()[name], name)
        array = network.cpt(name).toarray()
        found[name] = np.transpose(array, [axes.index(member) for member in family])
    return found


def agrum_learner(setting: Setting) -> Any:
    """PyAgrum's learner with the rows read and coded."""
    import pyagrum

    learner = pyagrum.BNLearner(str(setting.csv), agrum_network())
    learner.setNumberOfThreads(setting.threads)
    return learner
