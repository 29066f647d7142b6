"""Bounds of log Z beside the exact value: on random models, and on instances of UAI where given.

``python -m benchmarks.brackets [--models 200] [FOLDER]`` prints, for random models of 3 to 8
variables (half of them frustrated, with tables N(0, 4²), a third with zeros, factors of up to 4
variables), how many bounds were broken, and the median width of each bracket. FOLDER may hold
instances in the format of the UAI competitions (``*.uai`` or ``*.uai.gz`` with ``*.evid``).
"""

import argparse
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

SLACK = 1e-8


def random_model(seed: int) -> tuple[list[int], list[tuple[int, ...]], list[Any]]:
    """Numbers of states, scopes and log tables."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    cards = rng.integers(2, 4, n).tolist()
    scopes: list[tuple[int, ...]] = [(v,) for v in range(n)]
    for _ in range(int(rng.integers(n, 2 * n))):
        size = min(int(rng.choice([2, 2, 2, 3, 4])), n)
        scopes.append(tuple(rng.choice(n, size, replace=False).tolist()))
    tables = []
    for scope in scopes:
        spread = (4.0 if seed % 2 else 1.0) if len(scope) > 1 else 0.5
        table = rng.normal(0.0, spread, [cards[v] for v in scope])
        if seed % 3 == 0 and len(scope) > 1:
            table = np.where(rng.random(table.shape) < 0.25, -np.inf, table)
        tables.append(table)
    return cards, scopes, tables


def enumerated(cards: list[int], scopes: list[tuple[int, ...]], tables: list[Any]) -> float:
    """Log Z by the sum over all joint states."""
    states = np.array(list(product(*map(range, cards))))
    logs = np.zeros(len(states))
    for scope, table in zip(scopes, tables, strict=True):
        logs += table[tuple(states[:, list(scope)].T)]
    return float(np.logaddexp.reduce(logs))


def random_models(n: int) -> None:
    """Print how many bounds are broken, and the widths of brackets."""
    from jensen.q_hidden.factor_lists.factor_list import make_factor_list
    from jensen.q_hidden.factor_lists.loopy import propagate
    from jensen.q_hidden.factor_lists.mean_field import product_bound
    from jensen.q_hidden.factor_lists.mini_buckets import bucket_bound, split
    from jensen.q_hidden.factor_lists.tree_reweighted import tree_bound

    widths: dict[str, list[float]] = {
        "mean field, trees": [],
        **{f"i-bound {i}": [] for i in (1, 2, 3)},
    }
    broken = solved = 0
    for seed in range(n):
        model = random_model(seed)
        exact, factors = enumerated(*model), make_factor_list(*model)
        if factors.constant == -np.inf or not factors.n_variables:
            broken += factors.constant != exact and abs(factors.constant - exact) > SLACK
            continue
        solved += 1
        rng = np.random.default_rng(0)
        pairs = {
            "mean field, trees": (
                product_bound(factors, propagate(factors), rng).value,
                tree_bound(factors).value,
            )
        }
        for i_bound in (1, 2, 3):
            buckets = split(factors, i_bound)
            low, high = (bucket_bound(factors, buckets, side).value for side in ("lower", "upper"))
            pairs[f"i-bound {i_bound}"] = low, high
        slack = SLACK * max(1.0, abs(exact))
        for name, (low, high) in pairs.items():
            broken += not low - slack <= exact <= high + slack
            widths[name].append(high - low)
    print(f"{n} models, {solved} with something left to sum; {broken} brackets broken")
    for name, each in widths.items():
        print(
            f"  {name:18} median width {np.median(each):8.4f}, widest finite "
            f"{max(x for x in each if x < np.inf):8.3f}, -inf below in {np.isinf(each).sum()}"
        )


def instances(folder: Path) -> None:
    """Print brackets of UAI instances, whose exact value is computed where memory allows."""
    import jensen as jn

    print("instance: exact, mean field, loopy, trees, mini-buckets (each with processor seconds)")
    for path in sorted([*folder.glob("*.uai"), *folder.glob("*.uai.gz")]):
        evidence_file = path.with_name(path.name.replace(".uai", ".uai.evid"))
        evidence = jn.read_evidence(evidence_file)[0] if evidence_file.exists() else {}
        net = jn.load(path)
        row = []
        for way in ("exact", "mean-field", "loopy", "trw", "mini-bucket"):
            begin = time.process_time()
            try:
                found = net.log_z(evidence, inference=way)
                text = f"{float(found):.3f}"
                if way == "mini-bucket":
                    text = f"{found.lower:.3f}..{found.upper:.3f}"
            except jn.JensenError as error:
                text = type(error).__name__[:10]
            row.append(f"{text} ({time.process_time() - begin:.1f} s)")
        print(f"{path.name.split('.')[0]:14} " + "  ".join(row))


def main() -> None:
    """Read the choices and print both tables."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", nargs="?", type=Path)
    asked.add_argument("--models", type=int, default=200)
    chosen = asked.parse_args()
    random_models(chosen.models)
    if chosen.folder is not None:
        instances(chosen.folder)


if __name__ == "__main__":
    main()
