"""Graphs learned by tests of independence: PC-stable and MMHC on the alarm rows."""

from typing import Any

from benchmarks import peers
from benchmarks.agree import relative_difference
from benchmarks.workload import Check, Contender, Goal, Setting, Task, Workload
from benchmarks.workloads.search import rows

ROWS, ALPHA = 20_000, 0.05

BNLEARN = 0.9
"""Seconds of bnlearn 5 (`pc.stable`), measured once on this kind of machine, on its own rows."""

TIMES = 10
"""The goal."""

SAME_SIZE = Check(relative_difference, 0.15, "relative, of the number of edges")
"""Peers correct the statistic or count degrees of freedom otherwise, and so some edges differ."""


def jensen(setting: Setting) -> Task:
    """From a table that was never counted."""
    from jensen.independence.pc import pc

    table = rows(setting, "alarm", ROWS)

    def details(graph: Any) -> list[str]:
        info = graph.info
        found = f"{len(graph.skeleton().edges)} edges, {info.n_tests:,} tests"
        return [f"{found}, {len(info.conflicts)} conflicts", f"bnlearn 5 took {BNLEARN:g} s"]

    return Task(
        lambda table: pc(table, alpha=ALPHA),
        prepare=lambda: peers.fresh(table),
        answer=lambda graph: len(graph.skeleton().edges),
        details=details,
    )


def pgmpy(setting: Setting) -> Task:
    from pgmpy.causal_discovery import PC

    frame = rows(setting, "alarm", ROWS).to_pandas().astype(str)
    learner = PC(
        variant="stable", ci_test="g_sq", significance_level=ALPHA, max_cond_vars=5, n_jobs=1,
        show_progress=False,
    )  # fmt: skip

    def answer(found: Any) -> int:
        return len({frozenset(edge) for edge in found.causal_graph_.edges()})

    return Task(lambda _: learner.fit(frame), answer=answer)


def pyagrum(setting: Setting) -> Task:
    import pyagrum as gum

    path = setting.folder / f"alarm-{ROWS}-pc.csv"
    rows(setting, "alarm", ROWS).write(path)
    learner = gum.BNLearner(str(path))
    learner.setNumberOfThreads(1)
    learner.usePC()
    learner.useG2Test()
    return Task(
        lambda _: learner.learnPDAG(),
        answer=lambda graph: len(graph.arcs()) + len(graph.edges()),
    )


def causal_learn(setting: Setting) -> Task:
    import numpy as np
    from causallearn.search.ConstraintBased.PC import pc
    from causallearn.utils.cit import gsq

    table = rows(setting, "alarm", ROWS)
    codes = np.stack([table.column(name).data for name in table.names], axis=1).astype(np.int64)
    return Task(
        lambda _: pc(codes, ALPHA, gsq, stable=True, show_progress=False),
        answer=lambda found: found.G.get_num_edges(),
    )


def jensen_mmhc(setting: Setting) -> Task:
    """From a table that was never counted."""
    from jensen.independence.mmhc import mmhc

    table = rows(setting, "alarm", ROWS)

    def details(dag: Any) -> list[str]:
        found = f"{len(dag.edges)} edges, {dag.info.n_tests:,} tests"
        return [f"{found}, score {dag.info.score:.2f}"]

    return Task(
        lambda table: mmhc(table, alpha=ALPHA),
        prepare=lambda: peers.fresh(table),
        details=details,
    )


WORKLOADS = [
    Workload(
        "pc",
        f"PC-stable on {ROWS:,} rows of alarm, G², alpha {ALPHA:g}, packing included",
        Contender("jensen", jensen, "jensen"),
        [
            Contender("pgmpy", pgmpy, "pgmpy", threads=1),
            Contender("causal-learn", causal_learn, "causal-learn", threads=1),
            Contender("pyagrum", pyagrum, "pyagrum", threads=1),
        ],
        SAME_SIZE,
        goal=Goal(seconds=BNLEARN / TIMES),
    ),
    Workload(
        "mmhc",
        f"MMHC on {ROWS:,} rows of alarm, G² and BDeu, packing included",
        Contender("jensen", jensen_mmhc, "jensen"),
    ),
]
