"""Sweeps of the loop on rows with missing cells: rows encoded and trees compiled beforehand."""

from functools import partial
from typing import Any

from benchmarks import peers
from benchmarks.agree import same_numbers
from benchmarks.workload import Contender, Goal, Setting, Task, Workload


def sweeps(setting: Setting, method: str, n: int) -> Task:
    """N sweeps under a prior of one pseudo-count, from the counts of what is complete."""
    import numpy as np

    from jensen.estimators.network_choices import make_prior
    from jensen.free_energy import ALGORITHMS, state_at, step
    from jensen.graphs.indexed_graph import wire
    from jensen.models.discrete_network import DiscreteNetwork, Tables, encode
    from jensen.support.arguments import Streams
    from jensen.support.fields import add

    table, graph, algorithm = peers.jensen_table(setting), peers.jensen_graph(), ALGORITHMS[method]
    cards = [table.variable(name).n_states for name in graph.nodes]
    wiring = wire(graph.parent_indices, cards)
    data = encode(table, graph.nodes, wiring)
    model = DiscreteNetwork(wiring, make_prior(2.0, 1.0, graph.nodes, wiring, data.counts))

    def prepare() -> tuple[Any, Any]:
        streams = None if algorithm.ascends else Streams.of(np.random.default_rng(0))
        start = add(model.prior, Tables(data.counts))
        return state_at(model, data.units, algorithm, start, streams), streams

    def run(given: tuple[Any, Any]) -> Any:
        state, streams = given
        for _ in range(n):
            state = step(model, data.units, algorithm, state, streams)
        return state

    return Task(run, prepare, answer=lambda state: state.free_energy, details=_details(data))


def _details(data: Any) -> Any:
    n = sum(len(rows.weight) for rows in data.hidden)
    return lambda _: [f"{n:,} different sub-problems in {len(data.units)} units"]


def _contender(name: str, method: str, n: int, threads: int | None = None) -> Contender:
    return Contender(name, partial(sweeps, method=method, n=n), "jensen", threads)


WORKLOADS = [
    Workload(
        "sweeps-em",
        "an E-step, 30 % of all cells missing, one thread: 100 ms are 1 µs a row",
        _contender("jensen", "em", 1),
        rows=100_000,
        missing=0.3,
        threads=1,
        goal=Goal(seconds=0.15),
    ),
    Workload(
        "sweeps-vbem",
        "10 sweeps of VBEM, 30 % of all cells missing, two threads beside one",
        _contender("jensen", "vbem", 10),
        [_contender("jensen, one thread", "vbem", 10, threads=1)],
        same_numbers,
        rows=200_000,
        missing=0.3,
        threads=2,
        goal=Goal(speedup=1.7),
    ),
    Workload(
        "sweeps-gibbs",
        "1,000 sweeps of one Gibbs chain, 10 % of all cells missing: 1 s is 1 ms a sweep",
        _contender("jensen", "gibbs", 1000),
        rows=1_000,
        missing=0.1,
        threads=1,
    ),
]
