"""Other libraries, where they compute the same thing and compute it right."""

import math

import numpy as np
import pytest

import jensen as jn
from jensen.data.counting import count_families

FAMILIES = {"a": [], "b": ["a"], "c": [], "d": ["b", "c"], "e": ["a", "d"]}
DAG = jn.DAG.from_parents(FAMILIES)


@pytest.fixture(scope="module")
def frame():
    """Five variables of two to four states; every parent configuration occurs."""
    rng = np.random.default_rng(0)
    n = 2000
    a, c = rng.integers(0, 3, n), rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.7, a, rng.integers(0, 3, n))
    d = np.where(rng.random(n) < 0.7, b + c, rng.integers(0, 4, n))
    e = np.where(rng.random(n) < 0.6, (a + d) % 2, rng.integers(0, 2, n))
    columns = {"a": a, "b": b, "c": c, "d": d, "e": e}
    table = jn.Table({x: [f"s{k}" for k in column] for x, column in columns.items()})
    assert all(count_families(table, [parents])[0].all() for parents in FAMILIES.values())
    return table.to_pandas()


@pytest.mark.parametrize(
    ("name", "theirs", "choices"),
    [
        ("loglik", "LogLikelihood", {}),
        ("aic", "AIC", {}),
        ("bic", "BIC", {}),
        ("k2", "K2", {}),
        ("bdeu", "BDeu", {"equivalent_sample_size": 5}),
        ("bds", "BDs", {"equivalent_sample_size": 5}),
    ],
)
def test_pgmpy(frame, name, theirs, choices):
    """Where a parent configuration does not occur, pgmpy 1.1.2 is wrong in two of them.

    Its BDs divides by the configurations that occur in Γ(α_ij) but by all of them in Γ(α_ijk), so
    that a row of concentrations does not sum to its total; its K2 adds log Γ(r) for every
    configuration that does not occur. Here all occur.
    """
    from pgmpy import structure_score

    scorer = getattr(structure_score, theirs)(frame, **choices)
    found = jn.local_scores(DAG, frame, name, **choices)
    for x, parents in FAMILIES.items():
        assert found[x] == pytest.approx(scorer.local_score(x, tuple(parents)), rel=1e-12)


@pytest.mark.filterwarnings("ignore:builtin type swigvarlink:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:builtin type SwigPy:DeprecationWarning")
@pytest.mark.parametrize(
    ("name", "theirs", "rtol"),
    [
        ("loglik", "useScoreLog2Likelihood", 1e-12),
        ("bic", "useScoreBIC", 1e-12),
        ("k2", "useScoreK2", 1e-7),
    ],
)
def test_pyagrum(frame, name, theirs, rtol):
    """PyAgrum's scores are in bits.

    Its AIC takes one bit-less unit for a parameter from a likelihood in bits, so it is another
    score. Its log Γ is an approximation: six digits in K2, too few for the small arguments of
    BDeu.
    """
    import pyagrum

    learner = pyagrum.BNLearner(frame)
    getattr(learner, theirs)()
    learner.useNoPrior()
    found = jn.local_scores(DAG, frame, name)
    for x, parents in FAMILIES.items():
        expected = learner.score(x, parents) * math.log(2.0)
        assert found[x] == pytest.approx(expected, rel=rtol)
