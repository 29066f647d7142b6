"""Hill climbing and tabu search beside plain greedy search: `python -m benchmarks.greedy FOLDER`.

The folder holds data sets that are not part of this project, as `benchmarks.truths` reads them. On
every pair of a data set and a score the default search is compared with `hc` and `tabu` of R's
bnlearn (`benchmarks.plain_greedy`), which depend on the order of the columns: in that of the file,
in that of the names, and in some random ones. In the first two neither is below, because plain
greedy search is one of the climbs; the random ones are compared with what is found in that of the
file.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import jensen as jn
from benchmarks.plain_greedy import Greedy
from jensen.scores.make_scorer import make_scorer

CATEGORICAL = [
    ("bdeu", {"equivalent_sample_size": 1.0}, None),
    ("bdeu", {"equivalent_sample_size": 10.0}, None),
    ("bic", {}, None),
    ("aic", {}, None),
    ("k2", {}, None),
    ("bds", {"equivalent_sample_size": 1.0}, None),
    ("loglik", {}, 3),
    ("fnml", {}, None),
]
CONTINUOUS = [("bge", {}, None), ("bic", {}, None), ("aic", {}, None)]
"""Scores, their choices, and the most parents."""

TINY = 1e-8
"""In proportion to a score, what is no difference."""

MANY_ROWS = 2_000_000
"""Cells of a table; of more, fnml is left out: it is counted family by family."""


class Pair(NamedTuple):
    """A table, a score, and what was found."""

    name: str
    ours: float
    tabu: float
    plain: list[float]  # in the order of the file, of the names, then in random ones
    plain_tabu: list[float]  # in the order of the file, and of the names
    seconds: float  # of processor time, of hill climbing


def tables(folder: Path) -> Iterator[tuple[str, jn.Table]]:
    """All tables without missing values."""
    for path in sorted((folder / "bnlearn").glob("*.csv.gz")):
        if "clgaussian" not in path.name:
            table = jn.read_table(path)
            numbers = table.names if "marks" in path.name else None
            yield path.name, jn.Table(table, continuous=numbers) if numbers else table
    for path in sorted((folder / "gobnilp").glob("*.dat*")):
        if "jkl" not in path.name:
            rows = np.loadtxt(path, str)
            yield path.name, _labels(rows[2:], rows[0])
    for path in sorted((folder / "eBNSL").glob("*.csv.gz")):
        if path.name == "costs.csv.gz":  # what others' programs took, no data
            continue
        yield path.name, _labels(np.loadtxt(path, str, delimiter=","))
    for name in ("cad1", "chestSim500", "chestSim1000"):
        yield name, jn.read_table(folder / "gRbase" / f"{name}.csv")
    yield "reinis", jn.read_table(folder / "gRbase" / "reinis.csv", weights="Freq")
    carcass = jn.read_table(folder / "gRbase" / "carcass.csv")
    yield "carcass", jn.Table(carcass, continuous=carcass.names)
    for path in sorted((folder / "sachs").glob("[0-9]*.csv.gz")):
        yield path.name, jn.read_table(path)


def compare(name: str, table: jn.Table, n_orders: int) -> Iterator[Pair]:
    """Every score on one table."""
    is_numbers = table.variables[0].kind == "continuous"
    for score, choices, most in CONTINUOUS if is_numbers else CATEGORICAL:
        if score == "fnml" and table.n_rows * len(table.names) > MANY_ROWS:
            continue
        given = {"score": score, "max_parents": most, **choices}
        began = time.process_time()
        ours = jn.learn_structure(table, **given).info.score
        seconds = time.process_time() - began
        tabu = jn.learn_structure(table, "tabu", **given).info.score
        scorer, known = make_scorer(table, score, **choices), {}
        n = len(scorer.names)
        orders = [[scorer.names.index(x) for x in table.names], list(range(n))]
        orders += [np.random.default_rng(k).permutation(n).tolist() for k in range(n_orders)]
        greedy: list[Any] = [Greedy(scorer, order, most or n, known) for order in orders]
        plain = [search.climb() for search in greedy]
        plain_tabu = [Greedy(scorer, order, most or n, known).tabu() for order in orders[:2]]
        size = choices.get("equivalent_sample_size")
        label = f"{name} {score}{'' if size is None else f' {size:g}'}"
        yield Pair(label, ours, tabu, plain, plain_tabu, seconds)


def _labels(rows: Any, names: Any = None) -> jn.Table:
    """A table of labels."""
    named = range(rows.shape[1]) if names is None else names
    return jn.Table({str(name): column for name, column in zip(named, rows.T, strict=True)})


def main() -> int:
    """0 if nothing is below plain greedy search in the orders of the file and of the names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.greedy", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--orders", type=int, default=4, help="random orders of columns")
    parser.add_argument("--only", default="", help="tables whose name begins so")
    asked = parser.parse_args()
    found = [
        pair
        for name, table in tables(asked.folder)
        if name.startswith(asked.only)
        for pair in compare(name, table, asked.orders)
    ]

    def n_below(pairs: list[tuple[float, float]]) -> int:
        return sum(ours < plain - TINY * abs(plain) for ours, plain in pairs)

    print(f"{'table, score':36}{'hill-climb':>16}{'- hc':>12}{'tabu':>16}{'- tabu':>12}")
    for pair in found:
        print(
            f"{pair.name:36}{pair.ours:16.2f}{pair.ours - pair.plain[0]:12.2f}"
            f"{pair.tabu:16.2f}{pair.tabu - pair.plain_tabu[0]:12.2f}"
        )
    below, named = (n_below([(pair.ours, pair.plain[k]) for pair in found]) for k in (0, 1))
    tabu, named_tabu = (
        n_below([(pair.tabu, pair.plain_tabu[k]) for pair in found]) for k in (0, 1)
    )
    below_any = n_below([(pair.ours, max(pair.plain)) for pair in found])
    print(
        f"{len(found)} pairs: hill-climb below hc in {below}, in the order of names in {named}, "
        f"below the best of {asked.orders + 2} orders in {below_any}; tabu below tabu in {tabu}, "
        f"in the order of names in {named_tabu}; "
        f"{sum(pair.seconds for pair in found):.1f} s of hill climbing"
    )
    return int(below + named + tabu + named_tabu > 0)


if __name__ == "__main__":
    raise SystemExit(main())
