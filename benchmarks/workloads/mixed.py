"""Graphs of labels and numbers together: searches and sums over graphs, and rows with holes."""

from functools import partial
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.workload import Contender, Goal, Setting, Task, Workload

BNLEARN = 0.42
"""Seconds of bnlearn 5 (`hc`, bic-cg) for its 5,000 rows of four labels and four numbers."""


def rows(n: int, n_labels: int, n_numbers: int) -> Any:
    """Labels in a chain; numbers that depend on one label and on the number before."""
    import jensen as jn

    rng, columns = np.random.default_rng(0), dict[str, Any]()
    code = rng.integers(0, 2, n)
    for k in range(n_labels):
        code = (code + (rng.random(n) < 0.3)) % (2 + k % 3)
        columns[f"label{k}"] = np.array(list("pqrs"))[code]
    value = np.zeros(n)
    for k in range(n_numbers):
        group = columns[f"label{k % n_labels}"] == "p"
        value = np.where(group, 1.0, -2.0) + np.where(group, 0.5, 1.5) * value
        value = value + rng.normal(size=n)
        columns[f"number{k}"] = value
    return jn.Table(columns)


def with_holes(n: int, n_labels: int, n_numbers: int, share: float) -> Any:
    """The same rows, a share of their values missing at random."""
    import jensen as jn

    rng, columns = np.random.default_rng(1), rows(n, n_labels, n_numbers).to_pandas()
    return jn.Table(columns.mask(rng.random(columns.shape) < share))


def graph(n_labels: int, n_numbers: int) -> str:
    """A chain of labels, a chain of numbers, a label above every number."""
    edges = [f"label{k} -> label{k + 1}" for k in range(n_labels - 1)]
    edges += [f"number{k} -> number{k + 1}" for k in range(n_numbers - 1)]
    edges += [f"label{k % n_labels} -> number{k}" for k in range(n_numbers)]
    return "; ".join(edges)


def likelihood(setting: Setting, n: int) -> Task:
    """The log-likelihood of every row, a fifth of all values missing."""
    import jensen as jn

    jn.set_threads(setting.threads)
    net = jn.BayesianNetwork(graph(4, 4)).fit(rows(5_000, 4, 4))
    table = with_holes(n, 4, 4, 0.2)
    return Task(
        net.log_likelihood,
        prepare=lambda: peers.fresh(table),
        answer=lambda found: float(found.sum()),
    )


def learn(setting: Setting, n: int) -> Task:
    """Tables and regressions by EM, a tenth of all values missing."""
    import jensen as jn

    jn.set_threads(setting.threads)
    table = with_holes(n, 10, 10, 0.1)
    net = jn.BayesianNetwork(graph(10, 10), random_state=0)
    return Task(
        net.fit,
        prepare=lambda: peers.fresh(table),
        answer=lambda found: found.free_energy_,
        details=lambda found: [f"{found.n_sweeps_} sweeps, converged: {found.converged_}"],
    )


def climb(setting: Setting) -> Task:
    """Hill climbing by BIC, from a table that was never counted."""
    import jensen as jn

    jn.set_threads(setting.threads)
    table = rows(5_000, 4, 4)
    return Task(
        lambda new: jn.learn_structure(new, score="bic"),
        prepare=lambda: peers.fresh(table),
        answer=lambda dag: dag.info.score,
        details=lambda dag: [
            f"{len(dag.edges)} edges, {dag.info.n_scored} families",
            f"bnlearn 5 took {BNLEARN:g} s for such a table",
        ],
    )


def posterior(setting: Setting, n: int) -> Task:
    """The probabilities of all edges, exactly."""
    import jensen as jn

    jn.set_threads(setting.threads)
    table = rows(2_000, n // 2, n - n // 2)
    return Task(
        lambda new: jn.structure_posterior(new, "exact"),
        prepare=lambda: peers.fresh(table),
        answer=lambda post: post.edge_matrix,
    )


WORKLOADS = [
    Workload(
        "mixed-search",
        "hill climbing on 5,000 rows of four labels and four numbers, bic",
        Contender("jensen", climb, "jensen"),
        goal=Goal(seconds=BNLEARN / 30),
    ),
    Workload(
        "mixed-posterior",
        "edge probabilities over all graphs of five labels and five numbers, 2,000 rows",
        Contender("jensen", partial(posterior, n=10), "jensen"),
        goal=Goal(seconds=2.0),
    ),
    Workload(
        "mixed-likelihood",
        "log-likelihood of 100,000 rows of four labels and four numbers, a fifth missing",
        Contender("jensen", partial(likelihood, n=100_000), "jensen"),
        goal=Goal(seconds=0.5),
    ),
    Workload(
        "mixed-em",
        "EM on 100,000 rows of ten labels and ten numbers, a tenth missing",
        Contender("jensen", partial(learn, n=100_000), "jensen"),
        goal=Goal(seconds=10.0),
    ),
]
