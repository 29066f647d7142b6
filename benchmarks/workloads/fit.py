"""Learn the tables of alarm from a million complete rows."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks import alarm, peers
from benchmarks.agree import same_numbers
from benchmarks.alarm import STATES
from benchmarks.workload import Contender, Goal, Setting, Task, Workload


def jensen(setting: Setting, prior: str | None) -> Task:
    """From a table that was never counted: packing is part of the time."""
    import jensen as jn

    table, graph = peers.jensen_table(setting), peers.jensen_graph()
    return Task(
        lambda new: jn.BayesianNetwork(graph, prior=prior).fit(new),
        prepare=lambda: peers.fresh(table),
        answer=lambda net: _flat({name: net.cpt(name).values for name in STATES}),
    )


def pgmpy(setting: Setting, prior: str | None) -> Task:
    """On one thread: its processes (n_jobs=2) take several times as long."""
    from pgmpy.models import DiscreteBayesianNetwork
    from pgmpy.parameter_estimator import DiscreteBayesianEstimator, DiscreteMLE

    frame, edges = peers.frame(setting), alarm.edges()
    bayesian = partial(DiscreteBayesianEstimator, prior_type="BDeu", equivalent_sample_size=1)
    estimator = DiscreteMLE if prior is None else bayesian
    return Task(
        lambda network: network.fit(frame, estimator=estimator()),
        prepare=lambda: DiscreteBayesianNetwork(edges),
        answer=lambda network: _flat(peers.pgmpy_tables(network)),
    )


def pyagrum(setting: Setting, prior: str | None) -> Task:
    """From a learner that has read and coded the rows."""
    learner, network = peers.agrum_learner(setting), peers.agrum_network()
    if prior is None:
        learner.useNoPrior()
    else:
        learner.useBDeuPrior(1.0)
    return Task(
        lambda _: learner.learnParameters(network, False),
        answer=lambda net: _flat(peers.agrum_tables(net)),
    )


def _flat(tables: dict[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.concatenate([tables[name].ravel() for name in STATES])


def _workload(name: str, title: str, prior: str | None, threads: int | None) -> Workload:
    return Workload(
        name,
        title,
        Contender("jensen", partial(jensen, prior=prior), "jensen"),
        [
            Contender("pyagrum", partial(pyagrum, prior=prior), "pyagrum"),
            Contender("pgmpy", partial(pgmpy, prior=prior), "pgmpy", threads=1),
        ],
        same_numbers,
        rows=1_000_000,
        threads=threads,
        goal=Goal(seconds=0.1, ratio=10),
    )


WORKLOADS = [
    _workload("fit-1-thread", "tables of alarm by maximum likelihood, one thread", None, 1),
    _workload("fit-2-threads", "tables of alarm by maximum likelihood, two threads", None, 2),
    _workload("fit-bdeu", "tables of alarm under the BDeu prior, all cores", "bdeu", None),
]
