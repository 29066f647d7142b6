"""BDeu of the alarm graph, equivalent sample size 1."""

import math

from benchmarks import peers
from benchmarks.agree import same_numbers
from benchmarks.alarm import STATES, parents
from benchmarks.workload import Contender, Setting, Task, Workload


def jensen(setting: Setting) -> Task:
    import jensen as jn

    table, graph = peers.jensen_table(setting), peers.jensen_graph()
    return Task(lambda new: jn.score(graph, new, "bdeu"), prepare=lambda: peers.fresh(table))


def pgmpy(setting: Setting) -> Task:
    from pgmpy.structure_score import BDeu

    frame, network = peers.frame(setting), peers.pgmpy_network()
    return Task(
        lambda score: score.score(network),
        prepare=lambda: BDeu(frame, equivalent_sample_size=1),  # it remembers local scores
        answer=float,
    )


def pyagrum(setting: Setting) -> Task:
    learner = peers.agrum_learner(setting)
    learner.useNoPrior()  # the score has its own, of size 1, and would add this one
    learner.useScoreBDeu()
    families = [(name, list(parents()[name])) for name in STATES]
    return Task(
        lambda _: sum(learner.score(name, above) for name, above in families),
        answer=lambda bits: bits * math.log(2),
    )


ROUNDED = "pyAgrum looks small log Γ up in a table, in steps of 0.01"

WORKLOADS = [
    Workload(
        f"score-{size}",
        "BDeu of the alarm graph",
        Contender("jensen", jensen, "jensen"),
        [
            Contender("pgmpy", pgmpy, "pgmpy", threads=1),
            Contender("pyagrum", pyagrum, "pyagrum", tolerance=1e-3, because=ROUNDED),
        ],
        same_numbers,
        rows=rows,
    )
    for size, rows in (("20k", 20_000), ("1m", 1_000_000))
]
