"""The posterior of every missing cell of alarm, given what its row knows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import alarm, peers
from benchmarks.agree import relative_difference
from benchmarks.alarm import STATES
from benchmarks.workload import Check, Contender, Goal, Setting, Task, Workload


def jensen(setting: Setting) -> Task:
    """From a table that was never split, with a network that was never compiled."""
    table, network = peers.jensen_table(setting), alarm.network()
    lost = {name: table.column(name).missing() for name in STATES}

    def answer(found: Any) -> NDArray[np.float64]:
        return np.concatenate([found[name][lost[name]].ravel() for name in STATES])

    return Task(network.predict_proba, lambda: peers.first_met(table), answer)


def pyagrum(setting: Setting) -> Task:
    """One engine for all rows; targets of its own for each row, or a new engine, take longer."""
    import pyagrum

    pyagrum.setNumberOfThreads(setting.threads)
    network, rows = peers.agrum_network(), _rows(setting)

    def run(_: None) -> list[dict[str, Any]]:
        engine, found = pyagrum.LazyPropagation(network), []
        for known, lost in rows:
            engine.setEvidence(known)
            engine.makeInference()
            found.append({name: engine.posterior(name) for name in lost})
        return found

    return Task(run, answer=lambda found: _by_column(found, lambda p: p.toarray()))


def pgmpy(setting: Setting) -> Task:
    """All cells of a row in one query, which is the quickest."""
    from pgmpy.inference import VariableElimination

    engine, rows = VariableElimination(peers.pgmpy_network()), _rows(setting)

    def run(_: None) -> list[dict[str, Any]]:
        return [
            engine.query(lost, known, joint=False, show_progress=False) if lost else {}
            for known, lost in rows
        ]

    return Task(run, answer=lambda found: _by_column(found, _pgmpy_values))


def _rows(setting: Setting) -> list[tuple[dict[str, str], list[str]]]:
    """What each row knows, and what it misses."""
    codes = peers.codes(setting).T
    return [
        (
            {x: s[k] for (x, s), k in zip(STATES.items(), row, strict=True) if k < len(s)},
            [x for (x, s), k in zip(STATES.items(), row, strict=True) if k == len(s)],
        )
        for row in codes
    ]


def _pgmpy_values(factor: Any) -> NDArray[np.float64]:
    (name,) = factor.variables
    return factor.values[[factor.state_names[name].index(label) for label in STATES[name]]]


def _by_column(rows: list[dict[str, Any]], values: Any) -> NDArray[np.float64]:
    """Column by column, as Jensen's answer."""
    cells = [values(row[name]) for name in STATES for row in rows if name in row]
    return np.concatenate([np.empty(0), *cells])


WORKLOADS = [
    Workload(
        "posteriors",
        "posterior of every missing cell of alarm, 10 % of all",
        Contender("jensen", jensen, "jensen"),
        [Contender("pyagrum", pyagrum, "pyagrum"), Contender("pgmpy", pgmpy, "pgmpy")],
        Check(relative_difference, 1e-9, "relative"),
        rows=5_000,
        missing=0.1,
        threads=1,
        goal=Goal(ratio=100),
    )
]
