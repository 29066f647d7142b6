"""Larger networks: beside pyAgrum, and all that pgmpy ships."""

import warnings

import numpy as np
import pytest
from naive.bif import shipped

import jensen as jn
from jensen.exceptions import JensenError
from jensen.io import bif

RTOL = 1e-12
MOST_BYTES = 4 * 2**30

SHIPPED = [
    "alarm", "andes", "asia", "barley", "cancer", "child", "diabetes", "earthquake", "hailfinder",
    "hepar2", "insurance", "link", "mildew", "munin", "munin1", "munin2", "munin3", "munin4",
    "pathfinder", "pigs", "sachs", "survey", "water", "win95pts",
]  # fmt: skip
TOO_LARGE = {"munin1"}


@pytest.fixture(autouse=True)
def _usual_limit():
    yield
    jn.set_memory_limit(None)


@pytest.fixture(scope="module")
def pyagrum():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # else its import ends the process
        import pyagrum
    return pyagrum


@pytest.mark.parametrize("name", ["alarm", "insurance", "hailfinder"])
def test_all_posteriors_are_pyagrums(name, pyagrum):
    """Evidence that a drawn row gives, so that it is possible; P(evidence) goes down to 1e-9."""
    net = bif.loads(shipped()[name], name)
    theirs = net.to_pyagrum()
    rng = np.random.default_rng(0)
    rows = net.sample(4, random_state=1).to_pandas()
    for i, n_known in enumerate((0, 2, 5, 9)):
        names = rng.permutation(list(net.states))[:n_known].tolist()
        given = {x: rows[x][i] for x in names}
        inference = pyagrum.LazyPropagation(theirs)
        inference.setEvidence(given)
        inference.makeInference()
        if given:
            expected = inference.evidenceProbability()
            assert net.probability(given) == pytest.approx(expected, rel=RTOL)
        for x, found in net.marginals(given).items():
            np.testing.assert_allclose(
                found.values, inference.posterior(x)[:], rtol=RTOL, atol=1e-15
            )


def test_joint_posteriors_are_pyagrums(pyagrum):
    net = bif.loads(shipped()["insurance"], "insurance")
    inference = pyagrum.LazyPropagation(net.to_pyagrum())
    targets = ["MedCost", "ThisCarCost", "Age"]
    inference.addJointTarget(set(targets))
    given = {"DrivHist": "Many", "Airbag": "True"}
    inference.setEvidence(given)
    theirs = inference.jointPosterior(set(targets))
    found = net.query(targets, given)
    for key, p in found.items():
        state = dict(zip(targets, key, strict=True))
        assert p == pytest.approx(theirs[state], rel=RTOL, abs=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_network_answers_or_is_refused(name):
    """All marginals, under a limit of 4 GiB; roots have what their tables say.

    Some variables are asked for alone too, whose tree is another one.
    """
    jn.set_memory_limit(MOST_BYTES)
    net = bif.loads(shipped()[name], name)
    if name in TOO_LARGE:
        with pytest.raises(
            JensenError, match=r"the junction tree of \d+ unobserved variables, who"
        ):
            net.marginals()
        marginals = {}
    else:
        marginals = net.marginals()
        assert list(marginals) == list(net.graph.nodes)
    for x, found in marginals.items():
        assert found.values.min() >= 0.0
        assert found.values.sum() == pytest.approx(1.0, rel=1e-14)
        if not net.graph.parents(x):
            np.testing.assert_allclose(found.values, net.cpt(x).values, rtol=1e-9)
    for x in net.graph.nodes[:: max(len(net.graph) // 4, 1)]:
        alone = net.query(x).values
        np.testing.assert_allclose(alone, marginals.get(x, alone), rtol=1e-9)
