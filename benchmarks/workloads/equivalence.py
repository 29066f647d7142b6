"""Equivalence classes learned by greedy equivalence search, BDeu: rows of asia and of alarm."""

from functools import partial
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.agree import relative_difference
from benchmarks.workload import Check, Contender, Goal, Setting, Task, Workload

SMALL, LARGE = ("asia", 5_000), ("alarm", 20_000)


def rows(setting: Setting, name: str, n: int) -> Any:
    """Rows drawn from a published network."""
    import jensen as jn

    jn.set_threads(setting.threads)
    return jn.examples.load(name).sample(n, random_state=0)


def score_of(table: Any, directed: Any, undirected: Any) -> float:
    """The score of any graph of a class."""
    import jensen as jn

    graph = jn.PDAG(directed, table.names, undirected=undirected)
    return jn.score(graph.extension(), table, "bdeu")


def jensen(setting: Setting, name: str, n: int) -> Task:
    """From a table that was never counted."""
    import jensen as jn
    from jensen.q_graph.classes.equivalence_search import equivalence_search
    from jensen.q_graph.constraints import read_constraints
    from jensen.scores.make_scorer import make_scorer

    table = rows(setting, name, n)

    def learn(new: Any) -> Any:
        scorer = make_scorer(new, "bdeu")
        return equivalence_search(scorer, read_constraints(scorer.names), None, lambda *_: False)

    def details(found: Any) -> list[str]:
        climbed = jn.learn_structure(table, score="bdeu").info.score
        edges = np.triu(found.joined | found.joined.T).sum()
        return [f"{edges} edges, score {found.score:.2f}; hill climbing: {climbed:.2f}"]

    return Task(
        learn, prepare=lambda: peers.fresh(table), answer=lambda f: f.score, details=details
    )


def pgmpy(setting: Setting, name: str, n: int) -> Task:
    from pgmpy.estimators import GES

    table = rows(setting, name, n)
    search = GES(table.to_pandas())
    return Task(
        lambda _: search.estimate(scoring_method="bdeu"),
        answer=lambda graph: score_of(table, graph.directed_edges, graph.undirected_edges),
    )


def causal_learn(setting: Setting, name: str, n: int) -> Task:
    """Its BDeu comes with a prior over graphs; it may end elsewhere."""
    from causallearn.search.ScoreBased.GES import ges

    table = rows(setting, name, n)
    codes = np.column_stack([table.column(x).data for x in table.names]).astype(np.float64)

    def answer(found: Any) -> float:
        tail = found["G"].graph == -1  # [a, b]: at the end of a
        pairs = [(a, b) for a, b in np.argwhere(tail) if not tail[b, a]]
        both = [(a, b) for a, b in np.argwhere(tail & tail.T) if a < b]
        named = ([(table.names[a], table.names[b]) for a, b in some] for some in (pairs, both))
        return score_of(table, *named)

    return Task(lambda _: ges(codes, score_func="local_score_BDeu"), answer=answer)


def _race(name: str, n: int, others: bool, goal: Goal) -> Workload:
    choices = {"name": name, "n": n}
    rivals = [
        Contender("pgmpy", partial(pgmpy, **choices), "pgmpy", threads=1),
        Contender("causal-learn", partial(causal_learn, **choices), "causal-learn", threads=1),
    ]
    return Workload(
        f"equivalence-{name}",
        f"greedy equivalence search on {n:,} rows of {name}, BDeu, packing included",
        Contender("jensen", partial(jensen, **choices), "jensen"),
        rivals if others else [],
        Check(relative_difference, 2e-2, "relative, of the score"),
        goal=goal,
    )


WORKLOADS = [
    _race(*SMALL, others=True, goal=Goal(seconds=0.1)),
    _race(*LARGE, others=False, goal=Goal(seconds=1.0)),
]
