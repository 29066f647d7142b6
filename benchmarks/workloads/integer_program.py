"""The proven optimum by integer programming: all of alarm, at most three parents."""

from typing import Any

from benchmarks import peers
from benchmarks.agree import same_numbers
from benchmarks.workload import Contender, Goal, Setting, Task, Workload
from benchmarks.workloads.search import rows

ROWS, MAX_PARENTS = 10_000, 3


def jensen(setting: Setting) -> Task:
    """All local scores, and the proof, from a table that was never counted."""
    import jensen as jn

    table = rows(setting, "alarm", ROWS)

    def details(dag: Any) -> list[str]:
        proof = "proven" if dag.info.proven else f"a gap of {dag.info.gap:.3g} left"
        return [f"{dag.info.n_scored:,} families, score {dag.info.score:.4f}, {proof}"]

    return Task(
        lambda table: jn.learn_structure(table, "exact", "bdeu", max_parents=MAX_PARENTS),
        prepare=lambda: peers.fresh(table),
        answer=lambda dag: dag.info.score,
        details=details,
    )


WORKLOADS = [
    Workload(
        "integer-program",
        f"the best network of alarm's 37 variables, BDeu, {ROWS:,} rows, three parents at most",
        Contender("jensen", jensen, "jensen"),
        check=same_numbers,
        goal=Goal(seconds=600.0),
    )
]
