"""The best tree of all columns (Chow-Liu): the alarm rows, and very many columns of few rows."""

from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.agree import same_numbers
from benchmarks.workload import Contender, Goal, Setting, Task, Workload

BNLEARN = {20_000: 0.030, 1_000_000: 1.7}
"""Seconds of bnlearn 5 (`chow.liu`), measured once on this kind of machine, on alarm's own rows."""

TIMES_BNLEARN = 50
"""The goal."""

MANY, FEW = 10_000, 1_000
"""Columns and rows of the wide tables."""

NAMES = [f"v{k:05d}" for k in range(MANY)]


def jensen(setting: Setting) -> Task:
    """From a table that was never counted."""
    import jensen as jn

    table = peers.jensen_table(setting)
    return Task(
        jn.chow_liu,
        prepare=lambda: peers.fresh(table),
        answer=lambda tree: jn.score(tree, table, "loglik"),
        details=lambda _: [
            f"bnlearn 5 took {BNLEARN[setting.rows]:g} s for such a table, measured once on this "
            f"kind of machine"
        ],
    )


def pgmpy(setting: Setting) -> Task:
    from pgmpy.estimators import TreeSearch

    import jensen as jn

    frame, table = peers.frame(setting), peers.jensen_table(setting)
    search = TreeSearch(frame, root_node=frame.columns[0], n_jobs=1)
    return Task(
        lambda _: search.estimate(estimator_type="chow-liu", show_progress=False),
        answer=lambda tree: jn.score(jn.DAG(list(tree.edges), tree.nodes), table, "loglik"),
    )


def jensen_wide(setting: Setting) -> Task:
    """A binary tree of columns, each a noisy copy of the one above it."""
    import jensen as jn

    rng = np.random.default_rng(0)
    x = np.empty((MANY, FEW), np.int8)
    for k in range(MANY):
        above = x[(k - 1) // 2] if k else rng.integers(0, 2, FEW)
        x[k] = np.where(rng.random(FEW) < 0.2, rng.integers(0, 2, FEW), above)
    states = {name: [0, 1] for name in NAMES}
    return _find_again(setting, jn.Table(x.T, names=NAMES, states=states))


def jensen_wide_continuous(setting: Setting) -> Task:
    """The same of numbers, each correlated by 0.8 with the one above it."""
    import jensen as jn
    from jensen.data.encode import Column

    rng = np.random.default_rng(0)
    x = rng.normal(size=(MANY, FEW))
    for k in range(1, MANY):
        x[k] = 0.8 * x[(k - 1) // 2] + 0.6 * x[k]
    variables = [jn.Variable(name, "continuous") for name in NAMES]
    return _find_again(setting, jn.Table.from_columns(map(Column, variables, x)))


def _find_again(setting: Setting, table: Any) -> Task:
    """Learn the binary tree that the rows were drawn from."""
    import jensen as jn

    jn.set_threads(setting.threads)
    truth = {(NAMES[(k - 1) // 2], NAMES[k]) for k in range(1, MANY)}

    def details(tree: Any) -> list[str]:
        return [f"{len(truth & set(tree.edges)):,} of {len(truth):,} edges are those of the truth"]

    return Task(jn.chow_liu, prepare=lambda: peers.fresh(table), details=details)


WORKLOADS = [
    *(
        Workload(
            f"trees-{size}",
            "the best tree of the 37 alarm columns, packing included",
            Contender("jensen", jensen, "jensen"),
            [Contender("pgmpy", pgmpy, "pgmpy", threads=1)] if rows == 20_000 else [],
            same_numbers if rows == 20_000 else None,
            rows=rows,
            goal=Goal(seconds=BNLEARN[rows] / TIMES_BNLEARN),
        )
        for size, rows in (("20k", 20_000), ("1m", 1_000_000))
    ),
    Workload(
        "trees-wide",
        f"the best tree of {MANY:,} binary columns of {FEW:,} rows",
        Contender("jensen", jensen_wide, "jensen"),
        goal=Goal(seconds=10.0, gib=1.0),
    ),
    Workload(
        "trees-wide-continuous",
        f"the best tree of {MANY:,} continuous columns of {FEW:,} rows",
        Contender("jensen", jensen_wide_continuous, "jensen"),
        goal=Goal(seconds=10.0, gib=1.0),
    ),
]
