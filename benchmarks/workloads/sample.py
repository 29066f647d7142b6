"""Draw a million rows of alarm."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import alarm, peers
from benchmarks.agree import same_distribution
from benchmarks.alarm import STATES
from benchmarks.workload import Contender, Goal, Setting, Task, Workload


def jensen(setting: Setting) -> Task:
    import jensen as jn

    jn.set_threads(setting.threads)
    network = alarm.network()
    return Task(lambda _: network.sample(setting.rows, random_state=0), answer=_edge_counts)


def pyagrum(setting: Setting) -> Task:
    """In its own memory; turning the rows into a dataframe takes it three times as long."""
    import pyagrum

    pyagrum.setNumberOfThreads(setting.threads)
    network = peers.agrum_network()
    generator = pyagrum.BNDatabaseGenerator(network)

    def draw(_: None) -> Any:
        generator.drawSamples(setting.rows)
        return network, generator  # which does not keep its network alive

    return Task(draw, answer=lambda drawn: _read_back(drawn[1], setting.folder / "pyagrum.csv"))


def pgmpy(setting: Setting) -> Task:
    from pgmpy.sampling import BayesianModelSampling

    sampler = BayesianModelSampling(peers.pgmpy_network())
    return Task(
        lambda _: sampler.forward_sample(
            setting.rows, seed=0, show_progress=False, n_jobs=setting.threads
        ),
        answer=lambda frame: _edge_counts(_table(frame.astype(str))),
    )


def _read_back(generator: Any, path: Path) -> NDArray[np.int64]:
    generator.toCSV(str(path))
    return _edge_counts(_table(path))


def _table(source: Any) -> Any:
    import jensen as jn

    return jn.Table(source, states=STATES)


def _edge_counts(table: Any) -> NDArray[np.int64]:
    """The number of rows, then the counts of every edge's two ends."""
    found = [np.array([table.n_rows])]
    for parent, child in alarm.edges():
        m, n = len(STATES[parent]), len(STATES[child])
        cells = table.column(parent).data.astype(np.int64) * n + table.column(child).data
        found.append(np.bincount(cells, minlength=m * n))
    return np.concatenate(found)


WORKLOADS = [
    Workload(
        "sample",
        "rows drawn from alarm",
        Contender("jensen", jensen, "jensen"),
        [
            Contender("pyagrum", pyagrum, "pyagrum"),
            Contender("pgmpy", pgmpy, "pgmpy"),
        ],
        same_distribution,
        rows=1_000_000,
        goal=Goal(seconds=1.0),
    )
]
