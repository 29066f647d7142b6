"""Words of other libraries are answered with ours; listings show public names only."""

import pickle

import pytest
from sklearn.base import clone

import jensen as jn
import jensen.estimators

TABLE = jn.examples.load("sprinkler").sample(50, random_state=0)
NUMBERS = {"x": [0.5, 1.5, 2.2, 3.1, 0.7], "y": [1.5, 0.2, 0.7, 1.1, 2.5]}


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda: jn.learn_structure(TABLE, "hc"), "; 'hc' is 'hill-climb' here$"),
        (lambda: jn.learn_structure(TABLE, "tubu"), r"; did you mean 'tabu'\?$"),
        (lambda: jn.learn_structure(TABLE, score="BIC"), "; 'BIC' is 'bic' here$"),
        (lambda: jn.learn_structure(TABLE, score="bic-d"), "; 'bic-d' is 'bic' here$"),
        (lambda: jn.learn_structure(NUMBERS, score="bic-g"), "; 'bic-g' is 'bic' here$"),
        (lambda: jn.score("rain", TABLE.select(["rain"]), "K2Score"), "'K2Score' is 'k2' here$"),
        (lambda: jn.structure_posterior(TABLE, "Order"), "; 'Order' is 'order' here$"),
        (lambda: jn.independent(TABLE, "rain", "cloudy", test="chi_square"), "is 'x2' here$"),
        (lambda: jn.BayesianNetwork("rain", prior="BDeu").fit(TABLE), "; 'BDeu' is 'bdeu' here$"),
        (lambda: jn.BayesianNetwork("rain", method="MLE").fit(TABLE), "; 'MLE' is 'em' here$"),
        (lambda: jn.HiddenMarkovModel(2, method="baum-welch").fit([[0, 1]]), "is 'em' here$"),
    ],
)
def test_names_of_choices(ask, text):
    with pytest.raises(jn.JensenError, match=text):
        ask()


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda: jn.HiddenMarkovModel(n_components=2), "has no n_components=: it is n_states$"),
        (lambda: jn.HiddenMarkovModel(2, n_iter=9), "has no n_iter=: it is max_iter$"),
        (lambda: jn.GaussianMixture(covariance_type="full"), "covariance_type=: it is covariance$"),
        (lambda: jn.LatentClass(n_components=2), "has no n_components=: it is n_classes$"),
        (lambda: jn.BayesianNetwork(ebunch=[("a", "b")]), "has no ebunch=: it is graph$"),
    ],
)
def test_keywords(ask, text):
    with pytest.raises(TypeError, match=text):
        ask()


@pytest.mark.parametrize(
    ("model", "name", "text"),
    [
        (jn.HiddenMarkovModel(2), "transmat_", "has no 'transmat_': it is transition_$"),
        (jn.HiddenMarkovModel(2), "startprob_", "it is initial_$"),
        (jn.GaussianMixture(2), "lower_bound_", "it is free_energy_$"),
        (jn.BayesianNetwork("a"), "map_query", r"it is most_probable\(given=...\)$"),
        (jn.BayesianNetwork("a"), "nothing", "object has no attribute 'nothing'$"),
    ],
)
def test_attributes(model, name, text):
    with pytest.raises(AttributeError, match=text):
        getattr(model, name)
    assert not hasattr(model, name)
    assert clone(model).get_params() == model.get_params()
    assert pickle.loads(pickle.dumps(model)).get_params() == model.get_params()


def test_what_words_lead_to_is_there():
    steps = [[0.1, 0.2, 3.0, 4.0, 3.5, 0.1, 0.3, 3.3]] * 3
    chain = jn.HiddenMarkovModel(2, random_state=0).fit(steps)
    for name in ("transition_", "initial_", "emission_", "covariances_", "n_states"):
        assert hasattr(chain, name)
    net = jn.BayesianNetwork("a -> b").fit({"a": ["x", "y"], "b": ["u", "v"]})
    for words in jn.BayesianNetwork._peer_words.values():
        target = net
        first = words.split("(")[0].split(",")[0]
        if not first.startswith("not needed"):
            for part in first.split("."):
                target = getattr(target, part)


@pytest.mark.parametrize("module", [jn, jn.plot, jensen.estimators])
def test_listings_show_public_names_only(module):
    assert dir(module) == sorted(module.__all__)
    assert all(hasattr(module, name) for name in dir(module))
