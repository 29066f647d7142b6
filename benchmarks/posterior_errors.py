"""Are standard errors of sampled posteriors right? `python -m benchmarks.posterior_errors FOLDER`.

Many short runs on data whose posterior is known exactly. z = (probability - exact) / standard error
of every edge whose exact probability is between 0.05 and 0.95; if errors are right, the root mean
square of z is 1. The 95 % interval is a bootstrap over runs. The folder is that of
`benchmarks.truths`. An hour on two cores; --runs 50 or one --method take less.
"""

import argparse
import itertools
import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import jensen as jn

METHODS = ("partition", "order", "structure")
AUGMENTED = ("partition", "structure")
IN_DOUBT = 0.05
HIGHEST = 1.15  # of the interval


def tables(folder: Path) -> dict[str, Any]:
    """The data, by name."""
    return {
        "reinis": jn.read_table(folder / "gRbase" / "reinis.csv", weights="Freq"),
        "asia": jn.read_table(folder / "bnlearn" / "asia.csv.gz"),
    }


def tables_with_holes(folder: Path) -> dict[str, Any]:
    """Cooper and Herskovits' ten cases, and two drawn tables."""
    case = json.loads((folder / "latent.json").read_text())[
        "A1_cooper_herskovits_10x3_with_6_holes_bdeu1"
    ]
    cells: list[list[Any]] = [[str(x) for x in row] for row in case["data"]]
    for row, column in case["holes_row_col_0based"]:
        cells[row][column] = None
    columns = {f"x{k + 1}": [row[k] for row in cells] for k in range(3)}
    return {"cases": jn.Table(columns), "cancer": drawn(60, 7), "cancer120": drawn(120, 8)}


def drawn(n_rows: int, n_holes: int) -> Any:
    """Rows of four variables, some cells of which are missing."""
    rows = jn.examples.load("cancer").sample(n_rows, random_state=1).to_pandas()
    rows = rows[["Smoker", "Cancer", "Xray", "Dyspnoea"]].astype(object)
    for cell in np.random.default_rng(1).choice(rows.size, n_holes, replace=False).tolist():
        rows.iloc[divmod(cell, 4)] = None
    return jn.Table(rows)


def completions(table: Any) -> Iterator[Any]:
    """The table with its missing cells filled in, in every way."""
    names, states = sorted(table.names), {n: table.variable(n).states for n in table.names}
    rows = {name: list(table.to_pandas()[name]) for name in names}
    holes = [(name, k) for name in names for k in np.flatnonzero(table.column(name).missing())]
    for values in itertools.product(*(states[name] for name, _ in holes)):
        full = {name: list(column) for name, column in rows.items()}
        for (name, k), value in zip(holes, values, strict=True):
            full[name][k] = value
        yield jn.Table(full, states=states)


def exact_edges(table: Any, prior: str | None) -> NDArray[np.float64]:
    """The probability of every edge, summed over all graphs, and completions if there are any."""
    posts = [jn.structure_posterior(t, "exact", prior=prior) for t in completions(table)]
    logs = np.array([post.log_evidence for post in posts])
    shares = np.exp(logs - logs.max())
    return np.average([post.edge_matrix for post in posts], axis=0, weights=shares)


def z_scores(table: Any, method: Any, n_runs: int, **choices: Any) -> NDArray[np.float64]:
    """(runs, edges): errors of edges in doubt by their standard errors."""
    prior = "order" if method == "order" else None
    if any(table.n_missing().values()):
        truth = exact_edges(table, prior)
    else:
        truth = jn.structure_posterior(table, "exact", prior=prior).edge_matrix
    edges = (truth >= IN_DOUBT) & (truth <= 1 - IN_DOUBT)
    found = []
    for seed in range(n_runs):
        post = jn.structure_posterior(table, method, random_state=seed, **choices)
        found.append((post.edge_matrix[edges] - truth[edges]) / post.edge_errors[edges])
    return np.array(found)


def interval(z: NDArray[np.float64], n_draws: int = 4000) -> tuple[float, float]:
    """95 % of bootstrap samples of runs have their root mean square between these."""
    squares, rng = np.square(z).mean(1), np.random.default_rng(0)
    draws = squares[rng.integers(len(squares), size=(n_draws, len(squares)))].mean(1)
    low, high = np.sqrt(np.quantile(draws, [0.025, 0.975]))
    return float(low), float(high)


def main() -> int:
    """A line for each data set and method; 1 if an interval lacks 1 or is too high."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--samples", type=int, default=200, help="of each chain")
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--thin", type=int, help="proposals between samples; Jensen's unless given")
    parser.add_argument("--method", choices=METHODS, action="append")
    parser.add_argument("--holes", action="store_true", help="of tables with missing values")
    given = parser.parse_args()
    warnings.simplefilter("ignore", jn.EstimateWarning)  # some of so many short chains disagree
    choices = {"n_samples": given.samples, "n_chains": given.chains, "thin": given.thin}
    is_wrong = False
    print(
        f"{'data':8}{'method':11}{'edges':>6}{'rms z':>8}{'95 % from':>11}{'to':>7}{'largest':>9}"
    )
    found = tables_with_holes(given.folder) if given.holes else tables(given.folder)
    for name, table in found.items():
        for method in given.method or (AUGMENTED if given.holes else METHODS):
            start = time.perf_counter()
            z = z_scores(table, method, given.runs, **choices)
            low, high = interval(z)
            is_right = low <= 1 <= high < HIGHEST
            is_wrong |= not is_right
            print(
                f"{name:8}{method:11}{z.shape[1]:6}{np.sqrt(np.square(z).mean()):8.3f}{low:11.3f}"
                f"{high:7.3f}{abs(z).max():9.2f}  {'calibrated' if is_right else 'NOT CALIBRATED'}"
                f"  ({time.perf_counter() - start:.0f} s)",
                flush=True,
            )
    return int(is_wrong)


if __name__ == "__main__":
    raise SystemExit(main())
