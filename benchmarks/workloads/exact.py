"""The best network of all by dynamic programming: the first variables of alarm, 2,000 rows."""

from functools import partial
from typing import Any

from benchmarks.agree import same_numbers
from benchmarks.workload import Contender, Goal, Setting, Task, Workload

ROWS = 2_000


def jensen(setting: Setting, n: int = 20) -> Task:
    """All local scores and the optimum, from a table that was never counted."""
    import jensen as jn
    from jensen.q_graph.optimum.dynamic_programming import best_network
    from jensen.scores.make_scorer import make_scorer

    jn.set_threads(setting.threads)
    table = jn.examples.load("alarm").sample(ROWS, random_state=0)
    names = sorted(table.names)[:n]
    best_network(make_scorer(table.select(names[:4]), "bdeu"))  # compiled, or read from the cache

    def learn(new: Any) -> Any:
        return best_network(make_scorer(new, "bdeu"))

    def answer(found: Any) -> float:
        above = {names[v]: [names[u] for u in up] for v, up in enumerate(found[0])}
        return jn.score(jn.DAG.from_parents(above), table, "bdeu")

    return Task(learn, prepare=lambda: table.select(names), answer=answer)


WORKLOADS = [
    Workload(
        f"exact-{n}",
        f"the best network of {n} variables, BDeu, {ROWS:,} rows",
        Contender("jensen", partial(jensen, n=n), "jensen"),
        check=same_numbers,
        goal=goal,
    )
    for n, goal in ((20, Goal(seconds=5.0)), (22, Goal(seconds=20.0, gib=1.0)))
]
