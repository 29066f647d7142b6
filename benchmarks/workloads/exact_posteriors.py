"""Probabilities of all edges, summed over all graphs: the first variables of alarm, 2,000 rows."""

from functools import partial
from typing import Any

from benchmarks.agree import same_numbers
from benchmarks.workload import Contender, Goal, Setting, Task, Workload

ROWS = 2_000


def jensen(setting: Setting, n: int = 16, prior: str = "uniform") -> Task:
    """All local scores and the sums, from a table that was never counted."""
    import jensen as jn
    from jensen.q_graph.constraints import read_constraints
    from jensen.q_graph.sums.exact_posterior import exact_posterior
    from jensen.scores.graph_priors import read_prior
    from jensen.scores.make_scorer import make_scorer

    jn.set_threads(setting.threads)
    table = jn.examples.load("alarm").sample(ROWS, random_state=0)
    names = sorted(table.names)[:n]

    def learn(new: Any) -> Any:
        scorer = make_scorer(new, "bdeu")
        read = read_prior(prior, scorer.names)
        return exact_posterior(scorer, read.prior, read_constraints(scorer.names))

    learn(table.select(names[:4]))  # compiled, or read from the cache
    return Task(learn, prepare=lambda: table.select(names), answer=lambda found: found.edge_matrix)


WORKLOADS = [
    Workload(
        f"exact-posterior-{words}-{n}",
        f"edge probabilities over {words}, {n} variables, BDeu, {ROWS:,} rows",
        Contender("jensen", partial(jensen, n=n, prior=prior), "jensen"),
        check=same_numbers,
        goal=Goal(seconds=seconds, gib=1.0),
    )
    for n, prior, words, seconds in ((16, "uniform", "dags", 15.0), (20, "order", "orders", 10.0))
]
