"""Published numbers that an honest implementation reproduces: `python -m benchmarks.truths FOLDER`.

The folder holds data sets that are not part of this project (bnlearn/*.csv.gz, debd/*.data.gz and
others), files of local scores, and numbers.json.
Every line shows the published value, ours, and the relative difference.
"""

import argparse
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import jensen as jn

TOLERANCE = 1e-6


class Truth(NamedTuple):
    """A published score of a graph on a data set."""

    data: str
    key: str  # where it stands among the optimal scores
    number: str
    graph: str
    score: str
    sample_size: float | None = None


LEARNING = "[A][C][F][B|A][D|A:C][E|B:F]"
ASIA = "[A][S][T][L|S][B|S][E|T:L][X|E][D|B:E]"  # A and T are independent in these 5,000 rows
CLGAUSSIAN = "[A][B][C][H][D|A:H][F|B:C][E|B:D][G|A:D:E:F]"
LIZARDS = "[Species][Diameter|Species][Height|Species]"

TRUTHS = [
    Truth("bnlearn/learning.test.csv.gz", "learning.test", "k2_true", LEARNING, "k2"),
    Truth("bnlearn/learning.test.csv.gz", "learning.test", "bde_iss10_true", LEARNING, "bdeu", 10),
    Truth("bnlearn/learning.test.csv.gz", "learning.test", "loglik_true", LEARNING, "loglik"),
    Truth("bnlearn/learning.test.csv.gz", "learning.test", "bdeu1", LEARNING, "bdeu", 1),
    Truth("bnlearn/learning.test.csv.gz", "learning.test", "bic", LEARNING, "bic"),
    Truth("bnlearn/lizards.csv.gz", "lizards", "bdeu1", LIZARDS, "bdeu", 1),
    Truth("bnlearn/lizards.csv.gz", "lizards", "bic", LIZARDS, "bic"),
    Truth("bnlearn/asia.csv.gz", "asia_bnlearn5000", "bdeu1", ASIA, "bdeu", 1),
    Truth("bnlearn/asia.csv.gz", "asia_bnlearn5000", "bic", ASIA, "bic"),
]

OPTIMA = [
    ("learning.test", "bdeu1", "bdeu", None),
    ("learning.test", "bdeu1_maxpa1", "bdeu", 1),
    ("learning.test", "bic", "bic", None),
    ("gaussian.test", "bge", "bge", None),
    ("gaussian.test", "bge_maxpa3", "bge", 3),
    ("gaussian.test", "bic_exact_ML", "bic", None),
    ("asia_bnlearn5000", "bdeu1", "bdeu", None),
    ("asia_bnlearn5000", "bic", "bic", None),
    ("reinis", "bdeu1", "bdeu", None),
    ("reinis", "bic", "bic", None),
    ("lizards", "bdeu1", "bdeu", None),
    ("lizards", "bic", "bic", None),
    ("iris_eBNSL", "bdeu1", "bdeu", None),
    ("iris_eBNSL", "bic", "bic", None),
]
"""Data, where its optimum stands, the score, and the most parents."""


def compare(folder: Path) -> Iterator[tuple[str, float, float]]:
    """What, the published value, ours."""
    numbers: dict[str, Any] = json.loads((folder / "numbers.json").read_text())
    for truth in TRUTHS:
        published = numbers["optimal_scores"][truth.key][truth.number]
        table = jn.read_table(folder / truth.data)
        ours = jn.score(truth.graph, table, truth.score, equivalent_sample_size=truth.sample_size)
        yield f"{truth.key} {truth.number}", published, ours
    for key, published in numbers["chow_liu_train_loglik"].items():
        table = jn.read_table(folder / "bnlearn" / f"{key}.csv.gz")
        yield f"{key} best tree", published, jn.score(jn.chow_liu(table), table, "loglik")
    yield from tree_densities(folder, numbers)
    yield from optima(folder, numbers["optimal_scores"])
    yield from holes(folder)
    yield from mixed(folder)
    yield from independences(folder, numbers)
    cases = numbers["cooper_herskovits_1992"]
    columns = dict(zip("abc", zip(*cases["data"], strict=True), strict=True))
    for name, graph in (("chain", "a -> b -> c"), ("fork", "b <- a -> c")):
        ours = jn.score(graph, {x: list(v) for x, v in columns.items()}, "k2")
        yield f"ten cases, {name}", cases[f"P_D_given_{name}"], math.exp(ours)


def holes(folder: Path) -> Iterator[tuple[str, float, float]]:
    """Structural EM of asia with a fifth of the cells missing: where exact soft EM ends."""
    latent: dict[str, Any] = json.loads((folder / "latent.json").read_text())
    published = latent["A4_asia5000_mcar20_rng0_exact_soft_SEM_bic"]["final_observed_bic"]
    complete = jn.read_table(folder / "bnlearn" / "asia.csv.gz").to_pandas().astype(object)
    frame = complete[sorted(complete.columns)]
    table = jn.Table(frame.mask(np.random.default_rng(0).random(frame.shape) < 0.2))
    for method in ("hill-climb", "exact"):
        ours = jn.learn_structure(table, method, "bic", random_state=0).info.score
        yield f"asia with holes, observed bic, {method}", published, ours


def mixed(folder: Path) -> Iterator[tuple[str, float, float]]:
    """Labels and numbers together: bnlearn's clgaussian.test, with maximum-likelihood variances."""
    latent: dict[str, Any] = json.loads((folder / "latent.json").read_text())
    published = latent["D2_clgaussian_true_graph"]
    table = jn.read_table(folder / "bnlearn" / "clgaussian.test.csv.gz")
    for score in ("loglik", "bic"):
        yield (
            f"clgaussian.test {score}",
            published[f"{score}_exact_ML"],
            jn.score(CLGAUSSIAN, table, score),
        )
    for method in ("hill-climb", "exact"):
        found = jn.learn_structure(table, method, "bic").info.score
        yield f"clgaussian.test bic, {method}", published["bic_exact_ML"], found


def independences(folder: Path, numbers: dict[str, Any]) -> Iterator[tuple[str, float, float]]:
    """Tests of the lizards, and partial correlations of the marks, published to four digits."""
    lizards = jn.read_table(folder / "bnlearn" / "lizards.csv.gz")
    published = numbers["lizards_ci_H_D_given_S"]
    for test, key in (("g2", "G2"), ("x2", "X2")):
        found = jn.independent(lizards, "Height", "Diameter", given="Species", test=test)
        yield f"lizards {key}", published[key], found.statistic
        yield f"lizards {key} degrees of freedom", published["df"], found.degrees_of_freedom
        if test == "g2":
            yield "lizards p", published["p_G2"], found.p_value
    marks = jn.read_table(folder / "bnlearn" / "marks.csv.gz")
    marks = jn.Table(marks, continuous=marks.names)
    for pair, value in numbers["marks"]["partial_corr"].items():
        a, b = pair.split("-")
        rest = [name for name in marks.names if name not in (a, b)]
        z = jn.independent(marks, a, b, given=rest)
        r = math.tanh(z.statistic / math.sqrt(z.degrees_of_freedom))
        yield f"marks {pair}, four digits", value, round(r, 4)


def tree_densities(folder: Path, numbers: dict[str, Any]) -> Iterator[tuple[str, float, float]]:
    """Trees of binary rows, one added to each joint cell: the mean log-likelihood of other rows."""
    for key, published in numbers["debd_clt_test_ll_joint_laplace1"].items():
        if key == "note":
            continue
        train, test = (
            np.loadtxt(folder / "debd" / f"{key}.{part}.data.gz", np.int8, delimiter=",")
            for part in ("ts", "test")
        )
        states = {f"x{k}": [0, 1] for k in range(train.shape[1])}
        table = jn.Table(train, names=list(states), states=states)
        tree = jn.chow_liu(table, smoothing=1)
        net = jn.BayesianNetwork(tree, prior="bdeu", equivalent_sample_size=4).fit(table)
        yield f"{key} tree", published, net.score(jn.Table(test, names=list(states), states=states))


def optima(folder: Path, numbers: dict[str, Any]) -> Iterator[tuple[str, float, float]]:
    """The score of the best graph of all; of files of local scores, against that of their data."""
    files = {"asia_bnlearn5000": "asia"}
    for key, number, score, most in OPTIMA:
        if key == "reinis":
            table = jn.read_table(folder / "gRbase" / "reinis.csv", weights="Freq")
        elif key == "iris_eBNSL":
            table = _labels(np.loadtxt(folder / "eBNSL" / "iris.csv.gz", str, delimiter=","))
        else:
            table = jn.read_table(folder / "bnlearn" / f"{files.get(key, key)}.csv.gz")
        scale = {"scale": "unit"} if score == "bge" else {}  # the published parametrisation
        dag = jn.learn_structure(table, "exact", score, max_parents=most, **scale)
        yield f"{key} {number} optimum", numbers[key][number], dag.info.score
    asia = np.loadtxt(folder / "gobnilp" / "asia_10000.dat", str)
    wine = np.loadtxt(folder / "eBNSL" / "wine.csv.gz", str, delimiter=",")
    for file, table, score in (
        ("gobnilp/asia_10000.dat.3.jkl", _labels(asia[2:], asia[0]), "bdeu"),
        ("eBNSL/wine.BIC.3.jkl", _labels(wine), "bic"),
    ):
        known = jn.learn_structure(method="exact", scores=folder / file).info.score
        ours = jn.learn_structure(table, "exact", score, max_parents=3).info.score
        yield f"{Path(file).name} optimum", known, ours


def _labels(rows: Any, names: Any = None) -> jn.Table:
    """A table of labels."""
    named = range(rows.shape[1]) if names is None else names
    return jn.Table({str(name): column for name, column in zip(named, rows.T, strict=True)})


def main() -> int:
    """0 if all agree."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.truths", description=__doc__)
    parser.add_argument("folder", type=Path)
    worst = 0.0
    for what, published, ours in compare(parser.parse_args().folder):
        difference = abs(ours - published) / abs(published)
        worst = max(worst, difference)
        print(f"{what:32}{published:20.9g}{ours:20.9g}{difference:10.1e}")
    print(
        f"largest relative difference {worst:.1e}: {'agrees' if worst < TOLERANCE else 'DIFFERS'}"
    )
    return int(worst >= TOLERANCE)


if __name__ == "__main__":
    raise SystemExit(main())
