"""Mixtures of trees on the twenty density sets: `python -m benchmarks.density_sets FOLDER`.

FOLDER holds NAME.ts.data.gz, NAME.valid.data.gz and NAME.test.data.gz, rows of 0 and 1 (Van Haaren
and Davis 2012). How many trees, how many imagined rows and which of the starts: the validation rows
decide alone. The test rows are read once, for the mixture that was chosen and for one tree, whose
imagined rows were chosen in the same way.
"""

import argparse
import gzip
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

import jensen as jn

SETS = (
    "nltcs", "msnbc", "kdd", "plants", "baudio", "jester", "bnetflix", "accidents", "tretail",
    "pumsb_star", "dna", "kosarek", "msweb", "book", "tmovie", "cwebkb", "cr52", "c20ng", "bbc",
    "ad",
)  # fmt: skip
COMPONENTS = (2, 4, 8, 16, 32, 64)
"""Tried in turn, until one does worse on the validation rows than the one before."""
SIZES = (1.0, 4.0, 16.0)
"""Imagined rows of each tree: the middle one first, the others for the best number of trees."""
STARTS = 5
MOST = 2.5e8
"""Numbers in the tables of all pairs of a mixture; larger ones are not tried."""


class Found(NamedTuple):
    """A mixture, and how it did on the validation rows."""

    model: jn.MixtureOfTrees
    score: float
    n_components: int
    size: float


def read(folder: Path, name: str, part: str) -> jn.Table:
    """A file of rows as a table of labels."""
    with gzip.open(folder / f"{name}.{part}.data.gz") as file:
        rows = np.loadtxt(file, delimiter=",", dtype=np.int8)
    columns = {f"x{i:04d}": rows[:, i] for i in range(rows.shape[1])}
    states = {column: ["0", "1"] for column in columns}
    return jn.Table(columns, categorical=states)


def fit(train: jn.Table, valid: jn.Table, n_components: int, size: float, starts: int) -> Found:
    """The best of some starts by the validation rows."""
    model = jn.MixtureOfTrees(
        n_components,
        method="em",
        prior={"equivalent_sample_size": size},
        n_init=1 if n_components == 1 else starts,
        max_iter=300,
        random_state=0,
    ).fit(train, validation=valid)
    return Found(model, model.validation_score_, n_components, size)


def choose(train: jn.Table, valid: jn.Table, starts: int) -> tuple[Found, Found]:
    """One tree, and the mixture that does best on the validation rows."""
    one = max((fit(train, valid, 1, size, starts) for size in SIZES), key=lambda x: x.score)
    best = None
    for n in COMPONENTS:
        if n * 2.0 * len(train.names) ** 2 > MOST:
            break
        found = fit(train, valid, n, SIZES[1], starts)
        if best is not None and found.score <= best.score:
            break
        best = found
    assert best is not None
    others = [fit(train, valid, best.n_components, s, starts) for s in (SIZES[0], SIZES[2])]
    return one, max([best, *others], key=lambda x: x.score)


def main() -> None:
    """Print a line for each set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--starts", type=int, default=STARTS)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        "set         one tree   mixture  validation  trees  rows  sweeps  processor s", flush=True
    )
    for name in given.sets:
        begin = time.process_time()
        train, valid = (read(given.folder, name, part) for part in ("ts", "valid"))
        one, best = choose(train, valid, given.starts)
        took = time.process_time() - begin
        test = read(given.folder, name, "test")
        print(
            f"{name:10s} {one.model.score(test):9.4f} {best.model.score(test):9.4f} "
            f"{best.score:11.4f} {best.n_components:6d} {best.size:5g} {best.model.n_sweeps_:7d} "
            f"{took:12.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
