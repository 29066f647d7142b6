"""Learn the tables of alarm from rows with missing cells, by EM under a prior.

The prior adds one to every count. Pgmpy's EM drops rows that miss a cell, so it does not take part.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import alarm, peers
from benchmarks.agree import relative_difference
from benchmarks.alarm import STATES
from benchmarks.workload import Check, Contender, Goal, Setting, Task, Workload

PRIOR = 2.0
"""Dirichlet concentration of every cell."""


def jensen(setting: Setting, tol: float) -> Task:
    """From a table that was never counted, and a graph that was never compiled."""
    import jensen as jn

    table, graph = peers.jensen_table(setting), peers.jensen_graph()

    def run(new: Any) -> Any:
        net = jn.BayesianNetwork(graph, method="em", prior=PRIOR, tol=tol, random_state=0)
        return net.fit(new)

    return Task(
        run,
        prepare=lambda: peers.first_met(table),
        answer=lambda net: log_posterior(setting, {x: net.cpt(x).values for x in STATES}),
        details=lambda net: [f"{net.n_sweeps_} sweeps, F = {net.free_energy_:.2f}"],
    )


def pyagrum(setting: Setting, tol: float) -> Task:
    """From a learner that has read and coded the rows; its start is its own, with noise."""
    import pyagrum

    pyagrum.initRandom(alarm.SEED)
    learner, empty = peers.agrum_learner(setting), peers.agrum_network()
    for name in STATES:
        empty.cpt(name).fillWith(0.0)  # else it would begin with the truth
    learner.useSmoothingPrior(PRIOR - 1.0)
    learner.useEM(tol)
    return Task(
        lambda _: learner.learnParameters(empty, False),
        answer=lambda net: log_posterior(setting, peers.agrum_tables(net)),
    )


def log_posterior(setting: Setting, tables: dict[str, NDArray[np.float64]]) -> float:
    """What EM climbs, up to a constant: log p(rows | tables) + log p(tables)."""
    import jensen as jn

    net = jn.BayesianNetwork.from_tables(alarm.GRAPH, tables, STATES)
    prior = sum((PRIOR - 1.0) * np.log(table).sum() for table in tables.values())
    return float(net.log_likelihood(peers.jensen_table(setting)).sum() + prior)


TOLERANCE = 1e-5
"""Both stop when a sweep gains less than this, each where its own start has led it."""

MANY = "EM under a prior, 10 % of all cells missing, to a relative tolerance of 1e-6"

WORKLOADS = [
    Workload(
        "em-5k",
        "EM under a prior, 10 % of all cells missing, to a relative tolerance of 1e-5; first fit",
        Contender("jensen", partial(jensen, tol=TOLERANCE), "jensen"),
        [Contender("pyagrum", partial(pyagrum, tol=TOLERANCE), "pyagrum")],
        Check(relative_difference, TOLERANCE, "relative, of the log posterior"),
        rows=5_000,
        missing=0.1,
        threads=1,
        goal=Goal(ratio=1000),
    ),
    *(
        Workload(
            f"em-1m-{words.replace(' ', '-')}",
            f"{MANY}, {words}; no peer finishes",
            Contender("jensen", partial(jensen, tol=1e-6), "jensen"),
            rows=1_000_000,
            missing=0.1,
            threads=threads,
            goal=Goal(seconds=10.0, gib=2.0),
        )
        for threads, words in ((1, "1 thread"), (2, "2 threads"))
    ),
]
