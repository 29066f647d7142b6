"""Structural EM beside ten draws a row: `python -m benchmarks.structural_em [--tables 10]`.

Tables of 2,000 rows are drawn from child, insurance and alarm (the files of pgmpy), and every cell
goes missing with probability 0.1 or 0.3. On each the default learner with score="bic" is compared
with stochastic structural EM: ten draws a row, from the tree of the known cells, the bound of VB
first and BIC then, whose graph is also one of the learner's own starts. Both graphs are fitted to
convergence. Differences are ours less theirs, with the 95 % interval of their mean.

`--rows 1000000` learns one table of alarm with a tenth of the cells missing, and tells the wall
clock and the memory.
"""

import argparse
import gzip
import importlib.util
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

import jensen as jn
from jensen.data.encode import Column
from jensen.q_graph.constraints import read_constraints
from jensen.q_graph.structural.learning import make_search
from jensen.q_graph.structural.objective import Objective
from jensen.q_graph.structural.reading import StructuralChoices
from jensen.q_graph.structural.starts import start_graphs
from jensen.q_graph.structural.structural_em import StructuralTask, learn_graph
from jensen.q_graph.structural.tables import IncompleteTables

NETWORKS = ("child", "insurance", "alarm")
RATES = (0.1, 0.3)
N_ROWS = 2000
SECONDS = {0.1: 5.0, 0.3: 15.0}
"""The goal for the median of the processor time."""


class Found(NamedTuple):
    """A graph: what it is worth on the rows with holes, and on the same rows without."""

    objective: float
    shd: int
    complete_bic: float
    seconds: float


def network(name: str) -> Any:
    """One of pgmpy's example networks."""
    spec = importlib.util.find_spec("pgmpy")
    if spec is None or spec.origin is None:
        raise SystemExit("the networks are read from pgmpy: pip install '.[bench]'")
    packed = Path(spec.origin).parent / "utils" / "example_models" / f"{name}.bif.gz"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.bif"
        path.write_bytes(gzip.decompress(packed.read_bytes()))
        return jn.load(path)


def punched(table: jn.Table, rate: float, seed: int) -> jn.Table:
    """The same rows, every cell missing with this probability."""
    rng, columns = np.random.default_rng(1000 + seed), []
    for name in sorted(table.names):
        variable, codes = table.column(name)
        lost = rng.random(table.n_rows) < rate
        columns.append(Column(variable, np.where(lost, codes.dtype.type(variable.n_states), codes)))
    return jn.Table.from_columns(columns, None)


def compare(net: Any, rate: float, seed: int) -> tuple[Found, Found]:
    """Structural EM, and ten draws a row, on one table."""
    full = net.sample(N_ROWS, random_state=seed)
    table = punched(full, rate, seed)
    names = tuple(sorted(table.names))
    task = StructuralTask(
        IncompleteTables.of(table, tuple(table.variable(x) for x in names)),
        Objective("bic", 0.5 * np.log(N_ROWS)),
        read_constraints(names),
        make_search(StructuralChoices("hill-climb"), names),
        "exact",
        lambda value: False,
    )

    def judge(joined: Any, objective: float, seconds: float) -> Found:
        dag = jn.DAG.from_adjacency(joined, names)
        return Found(objective, dag.shd(net.graph), jn.score(dag, full, "bic"), seconds)

    began = time.process_time()
    ours = learn_graph(task, None, 0, np.random.default_rng(seed)).best
    seconds = time.process_time() - began
    began = time.process_time()
    stream = np.random.default_rng(seed).spawn(3)[0]  # as in the learner's own start by draws
    drawn = task.climb(start_graphs(task)["tree"], stream, stream, "draw").best
    drawn_seconds = time.process_time() - began
    last = task.finish(drawn, np.random.default_rng(seed))
    return judge(ours.joined, ours.value, seconds), judge(last.joined, last.value, drawn_seconds)


def interval(differences: list[float]) -> tuple[float, float, float]:
    """The mean, and its 95 % interval."""
    x = np.array(differences)
    half = (
        stats.t.ppf(0.975, len(x) - 1) * x.std(ddof=1) / np.sqrt(len(x)) if len(x) > 1 else np.inf
    )
    return float(x.mean()), float(x.mean() - half), float(x.mean() + half)


def lines(n_tables: int) -> Iterator[str]:
    """A line for each network and rate."""
    head = ("objective", "worst", "SHD", "complete BIC", "seconds", "by draws")
    yield f"{'':14}" + "".join(f"{word:>26}" for word in head)
    for name in NETWORKS:
        net = network(name)
        for rate in RATES:
            pairs = [compare(net, rate, seed) for seed in range(n_tables)]
            columns = []
            for field in ("objective", "shd", "complete_bic"):
                gains = [getattr(a, field) - getattr(b, field) for a, b in pairs]
                columns.append("{:.1f} [{:.1f}, {:.1f}]".format(*interval(gains)))
            worst = min(a.objective - b.objective for a, b in pairs)
            ours, theirs = (np.median([one[k].seconds for one in pairs]) for k in (0, 1))
            goal = "met" if ours <= SECONDS[rate] else "not met"
            cells = (
                columns[0],
                f"{worst:.3f}",
                *columns[1:],
                f"{ours:.1f} ({goal})",
                f"{theirs:.1f}",
            )
            yield f"{name} {rate:.0%}".ljust(14) + "".join(f"{cell:>26}" for cell in cells)


def many(n_rows: int) -> str:
    """Graph and tables of a large table."""
    net = network("alarm")
    table = punched(net.sample(n_rows, random_state=0), 0.1, 0)
    began = time.perf_counter()
    fitted = jn.learn_structure(table, score="bic", random_state=0)
    jn.BayesianNetwork(fitted, random_state=0).fit(table)
    seconds = time.perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return f"{n_rows:,} rows: {seconds:.0f} s, {memory:.1f} GB, SHD {fitted.shd(net.graph)}"


def main() -> None:
    """Print one table, or one line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.structural_em", description=__doc__)
    parser.add_argument("--tables", type=int, default=10, help="tables for each network and rate")
    parser.add_argument("--rows", type=int, help="one table of alarm with so many rows instead")
    asked = parser.parse_args()
    if asked.rows:
        print(many(asked.rows))
        return
    for line in lines(asked.tables):
        print(line, flush=True)


if __name__ == "__main__":
    main()
