"""The same tests and skeletons as pgmpy's, pyAgrum's and causal-learn's, where these are right."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import jensen as jn
from jensen.independence.pc import pc

pytestmark = pytest.mark.filterwarnings("ignore")


def states(seed=0, n_rows=500, n=4):
    """Columns of three states; no stratum is 2 × 2, where pgmpy corrects counts as Yates did."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, 3, n_rows)]
    for _ in range(1, n):
        noise = rng.random(n_rows) < 0.7
        columns.append(np.where(noise, rng.integers(0, 3, n_rows), columns[-1]))
    return pd.DataFrame({f"x{k}": column for k, column in enumerate(columns)})


def numbers(seed=0, n_rows=400, n=7):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, n))
    for k in range(1, n):
        x[:, k] += x[:, :k] @ (rng.uniform(0.5, 1.0, k) * (rng.random(k) < 0.4))
    return pd.DataFrame(x, columns=[f"x{k}" for k in range(n)])


@pytest.mark.parametrize("test", ["g2", "x2", "fisher-z"])
def test_statistics_are_those_of_pgmpy(test):
    from pgmpy.ci_tests import ChiSquare, FisherZ, GSq

    frame = numbers(n=4) if test == "fisher-z" else states()
    theirs = {"g2": GSq, "x2": ChiSquare, "fisher-z": FisherZ}[test](data=frame)
    for a, b in combinations(frame.columns, 2):
        rest = [name for name in frame.columns if name not in (a, b)]
        for given in ([], rest[:1], rest):
            ours = jn.independent(frame, a, b, given, test=test)
            theirs(X=a, Y=b, Z=given, significance_level=0.05)
            np.testing.assert_allclose(abs(ours.statistic), abs(theirs.statistic_), rtol=1e-8)
            np.testing.assert_allclose(ours.p_value, theirs.p_value_, rtol=1e-7, atol=1e-15)
            if test != "fisher-z":
                assert ours.degrees_of_freedom == theirs.dof_


@pytest.mark.parametrize("given", [[], ["x2"], ["x2", "x3"]])
def test_statistics_are_those_of_pyagrum(given, tmp_path):
    import pyagrum as gum

    path = tmp_path / "rows.csv"
    states(1).to_csv(path, index=False)
    learner = gum.BNLearner(str(path))
    for test, theirs in (("g2", learner.G2), ("x2", learner.chi2)):
        ours = jn.independent(path, "x0", "x1", given, test=test)
        statistic, p = theirs("x0", "x1", given)
        np.testing.assert_allclose(
            (ours.statistic, ours.p_value), (statistic, p), rtol=1e-6, atol=1e-9
        )


CAUSAL_LEARN = {
    "g2": (5.627088901377425e-20, 1.6031766353594933e-15, 6.550758191718231e-13),
    "x2": (3.0000663494564586e-21, 1.721468284930754e-16, 3.1092740347184106e-12),
    "fisher-z": (0.46328145019938605, 0.4374082874276841, 5.309934429931218e-06),
}
"""p-values of causal-learn 0.1.4.8 (gsq, chisq, fisherz) on these rows."""


@pytest.mark.parametrize("test", CAUSAL_LEARN)
def test_p_values_are_those_of_causal_learn(test):
    frame = numbers(n=4) if test == "fisher-z" else states(1)
    for given, p in zip(([], ["x2"], ["x2", "x3"]), CAUSAL_LEARN[test], strict=True):
        np.testing.assert_allclose(
            jn.independent(frame, "x0", "x1", given, test=test).p_value, p, rtol=1e-9
        )


@pytest.mark.parametrize(
    ("seed", "graph"),
    [
        (0, "x0 -- x3; x0 -> x4; x0 -- x6; x1 -> x4; x3 -- x5; x3 -- x6; x2"),
        (2, "x0 -> x6; x1 -- x2; x2 -- x3; x2 -- x4; x3 -- x4; x4 -- x5; x5 -> x6"),
        (5, "x0 -> x5; x0 -- x6; x1 -- x3; x1 -- x4; x1 -> x5; x2 -- x4; x2 -> x5"),
    ],
)
def test_graphs_are_those_of_causal_learn(seed, graph):
    """Of its `pc` (fisherz, 0.01, stable), where no two separating sets disagree on a collider."""
    assert pc(numbers(seed), alpha=0.01) == jn.CPDAG(graph)


@pytest.mark.parametrize("seed", range(4))
def test_skeletons_are_those_of_pgmpy(seed):
    from pgmpy.causal_discovery import PC

    frame = numbers(seed)
    theirs = PC(
        variant="stable", ci_test="fisher_z", significance_level=0.01, max_cond_vars=5, n_jobs=1,
        show_progress=False, return_type="pdag",
    ).fit(frame)  # fmt: skip
    edges = {tuple(sorted(edge)) for edge in theirs.causal_graph_.edges()}
    assert edges == set(pc(frame, alpha=0.01, max_given=5).skeleton().edges)
