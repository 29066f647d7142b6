"""Posteriors of tables with holes: `python -m benchmarks.incomplete_posterior FOLDER`.

Chains over graphs, parameters and missing values, beside the chains of the complete rows: the
largest R-hat and the effective samples per second of processor time, of edges whose probability is
between 0.02 and 0.98. Of the tables with so few holes that all completions can be summed, the
largest error of an edge, in standard errors and in probability. The folder is that of
`benchmarks.truths`.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import jensen as jn
from benchmarks.posterior_errors import exact_edges, tables_with_holes

IN_DOUBT = 0.02

TABLES = {"asia": (5000, 0.2), "alarm": (2000, 0.1)}
"""Rows, and the share of cells that are missing."""


def rows_of(folder: Path, name: str) -> tuple[Any, Any]:
    """The complete rows, and the same with cells missing at random."""
    n_rows, share = TABLES[name]
    table = jn.read_table(folder / "bnlearn" / f"{name}.csv.gz").to_pandas()[:n_rows]
    table = table[sorted(table.columns)]
    return table, table.mask(np.random.default_rng(0).random(table.shape) < share)


def tell(name: str, table: Any, n_samples: int) -> None:
    """A line about one run."""
    clock, processor = time.perf_counter(), time.process_time()
    post = jn.structure_posterior(table, n_samples=n_samples, random_state=0)
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    p, checks = post.edge_matrix, post.convergence
    doubt = (p > IN_DOUBT) & (p < 1.0 - IN_DOUBT)
    sizes = checks.edge_sizes[doubt]
    print(
        f"{name:18}{4 * n_samples:8}{doubt.sum():6}{np.nanmax(checks.edge_r_hat[doubt]):9.3f}"
        f"{checks.r_hat:11.3f}{processor:12.1f}{clock:9.1f}{sizes.min() / processor:11.1f}"
        f"{np.median(sizes) / processor:9.1f}",
        flush=True,
    )


def compare_with_sums(folder: Path, n_samples: int) -> None:
    """The largest errors where all completions are summed."""
    print(f"\n{'exact table':18}{'largest error':>14}{'in standard errors':>20}")
    for name, table in tables_with_holes(folder).items():
        truth = exact_edges(table, None)
        post = jn.structure_posterior(table, n_samples=n_samples, thin=80, random_state=0)
        error = np.abs(post.edge_matrix - truth)
        np.fill_diagonal(error, 0.0)
        shares = error / np.maximum(post.edge_errors, 1e-12)
        print(f"{name:18}{error.max():14.4f}{shares[error > 1e-9].max(initial=0.0):20.2f}")


def main() -> int:
    """A line for each run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--samples", type=int, default=1000, help="of each of the four chains")
    parser.add_argument("--only", choices=[*TABLES, "exact"], action="append")
    given = parser.parse_args()
    warnings.simplefilter("ignore", jn.EstimateWarning)
    warnings.simplefilter("ignore", jn.DataWarning)
    wanted = given.only or [*TABLES, "exact"]
    print(
        f"{'table':18}{'samples':>8}{'edges':>6}{'R-hat':>9}{'of score':>11}{'processor s':>12}"
        f"{'clock s':>9}{'least ESS/s':>11}{'median':>9}"
    )
    for name in [x for x in TABLES if x in wanted]:
        complete, holes = rows_of(given.folder, name)
        tell(f"{name}, complete", complete, given.samples)
        tell(f"{name}, holes", holes, given.samples)
    if "exact" in wanted:
        compare_with_sums(given.folder, 8 * given.samples)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
