"""Graphs learned by hill climbing: the alarm and hailfinder rows, and very many columns."""

from functools import partial
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.agree import relative_difference
from benchmarks.workload import Check, Contender, Goal, Setting, Task, Workload
from benchmarks.workloads.networks import files

BNLEARN = {
    ("alarm", 20_000, "bdeu"): 0.95,
    ("alarm", 20_000, "bic"): 0.86,
    ("alarm", 1_000_000, "bic"): 43.0,
    ("hailfinder", 20_000, "bdeu"): 2.3,
}
"""Seconds of bnlearn 5 (`hc`), measured once on this kind of machine, on its own rows."""

TIMES = {20_000: 30, 1_000_000: 100}
"""The goals."""

MANY, ROWS = 500, 5_000
"""Columns and rows of the wide table."""


def rows(setting: Setting, name: str, n: int) -> Any:
    """Rows drawn from a published network, whose tables hold zeros as real data do."""
    import jensen as jn

    jn.set_threads(setting.threads)
    return jn.load(files(setting, [name])[0]).sample(n, random_state=0)


def jensen(setting: Setting, name: str, n: int, score: str) -> Task:
    """From a table that was never counted."""
    import jensen as jn

    table = rows(setting, name, n)

    def details(dag: Any) -> list[str]:
        found = f"{len(dag.edges)} edges, {dag.info.n_moves} moves, score {dag.info.score:.2f}"
        known = BNLEARN.get((name, n, score))
        return [found, *([f"bnlearn 5 took {known:g} s for such a table"] if known else [])]

    return Task(
        lambda table: jn.learn_structure(table, score=score),
        prepare=lambda: peers.fresh(table),
        answer=lambda dag: dag.info.score,
        details=details,
    )


def pyagrum(setting: Setting, name: str, n: int, score: str) -> Task:
    """Its greedy search with the score of the same name; it may end elsewhere."""
    import pyagrum as gum

    import jensen as jn

    table = rows(setting, name, n)
    path = setting.folder / f"drawn-{name}-{n}.csv"
    table.write(path)
    learner = gum.BNLearner(str(path))
    learner.setNumberOfThreads(1)
    learner.useGreedyHillClimbing()
    getattr(learner, {"bdeu": "useScoreBDeu", "bic": "useScoreBIC"}[score])()
    names = learner.names()

    def answer(dag: Any) -> float:
        edges = [(names[a], names[b]) for a, b in dag.arcs()]
        return jn.score(jn.DAG(edges, names), table, score)

    return Task(lambda _: learner.learnDAG(), answer=answer)


def jensen_wide(setting: Setting) -> Task:
    """Columns of three states, each a noisy function of two before it."""
    import jensen as jn

    jn.set_threads(setting.threads)
    rng = np.random.default_rng(0)
    x = np.empty((MANY, ROWS), np.int8)
    for k in range(MANY):
        above = x[rng.integers(0, k, 2)].sum(0) % 3 if k > 1 else rng.integers(0, 3, ROWS)
        x[k] = np.where(rng.random(ROWS) < 0.4, rng.integers(0, 3, ROWS), above)
    names = [f"v{k:03d}" for k in range(MANY)]
    table = jn.Table(x.T, names=names, states={name: [0, 1, 2] for name in names})

    def details(dag: Any) -> list[str]:
        return [f"{len(dag.edges)} edges, {dag.info.n_moves} moves"]

    return Task(
        lambda rows: jn.learn_structure(rows, score="bic"),
        prepare=lambda: peers.fresh(table),
        details=details,
    )


def _race(name: str, n: int, score: str, title: str) -> Workload:
    choices = {"name": name, "n": n, "score": score}
    small = n == 20_000
    return Workload(
        title,
        f"hill climbing on {n:,} rows of {name}, {score}, packing included",
        Contender("jensen", partial(jensen, **choices), "jensen"),
        [Contender("pyagrum", partial(pyagrum, **choices), "pyagrum", threads=1)] if small else [],
        Check(relative_difference, 2e-2, "relative, of the score") if small else None,
        goal=Goal(seconds=BNLEARN[name, n, score] / TIMES[n]),
    )


LARGE = partial(jensen, name="alarm", n=1_000_000, score="bic")

WORKLOADS = [
    _race("alarm", 20_000, "bdeu", "search-bdeu"),
    _race("alarm", 20_000, "bic", "search-bic"),
    _race("hailfinder", 20_000, "bdeu", "search-hailfinder"),
    _race("alarm", 1_000_000, "bic", "search-1m"),
    Workload(
        "search-threads",
        "hill climbing on 1,000,000 rows of alarm, bic, two threads beside one",
        Contender("jensen", LARGE, "jensen"),
        [Contender("jensen, one thread", LARGE, "jensen", threads=1)],
        Check(relative_difference, 1e-12, "relative, of the score"),
        threads=2,
        goal=Goal(speedup=1.4),
    ),
    Workload(
        "search-wide",
        f"hill climbing on {ROWS:,} rows of {MANY} columns",
        Contender("jensen", jensen_wide, "jensen"),
        goal=Goal(seconds=60.0),
    ),
]
