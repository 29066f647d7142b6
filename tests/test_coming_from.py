"""The scripts of `docs/coming-from.md`: those of other libraries run too, and say the same."""

import warnings

import numpy as np
import pytest

import jensen as jn
from benchmarks.coming_from import run, scripts

SCRIPTS = scripts()


@pytest.mark.parametrize("name", ["pgmpy", "hmmlearn", "scikit-learn"])
def test_both_halves_are_whole_scripts_on_the_same_data(name):
    """Thirty lines, and no more of them after."""
    before, after = (
        sum(bool(line.strip()) for line in code.splitlines())
        for code in (SCRIPTS[name].before, SCRIPTS[name].after)
    )
    assert 28 <= before <= 36
    assert 15 <= after <= before


def run_peer(name):
    with warnings.catch_warnings(action="ignore"):
        return run(SCRIPTS[name], before=True)


def test_the_script_of_pgmpy_runs_and_says_the_same_of_its_rows():
    """Of complete rows, which are all that it reads."""
    theirs = run_peer("pgmpy")
    net = jn.BayesianNetwork(
        jn.DAG(theirs["edges"]), prior="bdeu", equivalent_sample_size=10.0
    ).fit(theirs["train"])
    factor = theirs["model"].get_cpds("Xray")
    assert factor.state_names["Xray"] == list(net.states["Xray"])
    np.testing.assert_allclose(factor.get_values().T, net.cpt("Xray").values, rtol=1e-12)
    answer = theirs["inference"].query(["Cancer"], evidence=theirs["seen"], show_progress=False)
    own = net.query("Cancer", given=theirs["seen"]).values
    np.testing.assert_allclose(answer.values, own, rtol=1e-10)


def test_the_script_of_scikit_learn_runs():
    theirs = run_peer("scikit-learn")
    assert theirs["shares"].shape == (150, 3)
    assert (theirs["mixture"].weights_ > 0.01).sum() >= 2
