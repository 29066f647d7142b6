"""Every count that a caller may choose: one too large is refused before anything is made."""

import functools
import itertools

import numpy as np
import pytest

import jensen as jn

BILLIONS = 10**12
ROWS = np.random.default_rng(0).normal(size=(40, 2))
NUMBERS = jn.Table({"a": ROWS[:, 0], "b": ROWS[:, 1]})
STATES = jn.Table({name: ["no", "yes", "no", "no", "yes", "yes"] * 9 for name in "abcd"})
HIDDEN = {"hidden": {"h": 2}, "prior": "bdeu"}


@functools.cache
def learned(name):
    """Models to ask."""
    return {
        "network": lambda: jn.examples.load("asia"),
        "gaussian": lambda: jn.BayesianNetwork("a -> b").fit(NUMBERS),
        "mixture": lambda: jn.GaussianMixture(2, prior={}, random_state=0).fit(ROWS),
        "classes": lambda: jn.LatentClass(2, prior={}, random_state=0).fit(STATES),
        "chain": lambda: jn.HiddenMarkovModel(2, prior={}, random_state=0).fit(ROWS),
        "factors": lambda: jn.FactorAnalysis(1, prior={}).fit(ROWS),
        "bits": lambda: jn.BinaryFactors(1, prior={}, random_state=0).fit(ROWS),
        "analyzers": lambda: jn.MixtureOfFactorAnalyzers(1, 1, prior={}).fit(ROWS),
        "ending": lambda: jn.HiddenMarkovModel(2, end=True, prior={}, random_state=0).fit(
            [ROWS[:20], ROWS[20:]]
        ),
        "graphs": lambda: jn.structure_posterior(STATES, "exact"),
    }[name]()


def hidden(**choices):
    return jn.BayesianNetwork("h -> a; h -> b", **{**HIDDEN, **choices}).fit(
        STATES.select(["a", "b"])
    )


DOORS = {
    "rows of a network": (lambda n: learned("network").sample(n), "rows"),
    "rows given something": (
        lambda n: learned("network").sample(n, given={"smoke": "yes"}),
        "rows",
    ),
    "rows of a Gaussian network": (lambda n: learned("gaussian").sample(n), "rows"),
    "rows of a mixture": (lambda n: learned("mixture").sample(n), "rows"),
    "rows of classes": (lambda n: learned("classes").sample(n), "rows"),
    "rows of factors": (lambda n: learned("factors").sample(n), "rows"),
    "rows of analyzers": (lambda n: learned("analyzers").sample(n), "rows"),
    "analyzers": (lambda n: jn.MixtureOfFactorAnalyzers(n, 1).fit(ROWS), "components"),
    "rows of bits": (lambda n: learned("bits").sample(n), "rows"),
    "starts of factors": (
        lambda n: jn.FactorAnalysis(1, n_init=n).fit(ROWS),
        r"starts \(n_init\)",
    ),
    "bits": (lambda n: jn.BinaryFactors(n, method="mean-field").fit(ROWS), "factors"),
    "steps": (lambda n: learned("chain").sample(n), "steps of sequences"),
    "sequences": (lambda n: learned("ending").sample(None, n), "steps of sequences"),
    "paths": (lambda n: learned("chain").sample_states(ROWS, n), "paths of all steps"),
    "a forecast": (lambda n: learned("chain").forecast(ROWS, h=n), "steps after 1 sequences"),
    "starts of a mixture": (
        lambda n: jn.GaussianMixture(2, n_init=n).fit(ROWS),
        r"starts \(n_init\)",
    ),
    "starts of classes": (lambda n: jn.LatentClass(2, n_init=n).fit(STATES), r"starts \(n_init\)"),
    "starts of a chain": (
        lambda n: jn.HiddenMarkovModel(2, n_init=n).fit(ROWS),
        r"starts \(n_init\)",
    ),
    "starts of a network": (lambda n: hidden(n_init=n), r"starts \(n_init\)"),
    "chains": (
        lambda n: jn.GaussianMixture(2, method="gibbs", n_chains=n).fit(ROWS),
        r"chains \(n_chains\)",
    ),
    "samples of a network": (lambda n: hidden(method="gibbs", n_samples=n), r"samples \(n_samples"),
    "components": (
        lambda n: jn.GaussianMixture(n, prior={}).fit(ROWS),
        r"learning .* components \(.* parameters\) from 40 rows",
    ),
    "classes": (lambda n: jn.LatentClass(n, prior={}).fit(STATES), "learning .* classes"),
    "states": (lambda n: jn.HiddenMarkovModel(n, prior={}).fit(ROWS), "learning .* states"),
    "states of a node": (lambda n: hidden(hidden={"h": n}), r"states of 'h' \(hidden\)"),
    "numbers to compare": (lambda n: jn.choose_components(ROWS, n), "models to compare"),
    "a range of numbers": (lambda n: jn.choose_components(ROWS, range(1, n)), "models to compare"),
    "a long range": (lambda n: jn.choose_components(ROWS, range(1, n**3, 2)), "models to compare"),
    "one large number": (lambda n: jn.choose_components(ROWS, [1, n]), "components in one model"),
    "moves of tabu": (lambda n: jn.learn_structure(STATES, "tabu", tabu_length=n), "tabu_length"),
    "permutations": (lambda n: jn.independent(STATES, "a", "b", permutations=n), "permutations"),
    "permutations of pc": (
        lambda n: jn.learn_structure(STATES, "pc", permutations=n),
        "permutations",
    ),
    "replicates": (lambda n: jn.bootstrap_edges(STATES, n), r"replicates \(n\)"),
    "restarts": (lambda n: jn.learn_structure(STATES, restarts=n), "restarts"),
    "best graphs": (lambda n: jn.k_best(STATES, limit=n), "a list of .* graphs"),
    "graphs": (lambda n: learned("graphs").sample(n), r"graphs \(n\)"),
    "chains over graphs": (
        lambda n: jn.structure_posterior(STATES, n_chains=n),
        r"chains \(n_chains\)",
    ),
    "temperatures": (lambda n: jn.structure_posterior(STATES, temperatures=n), "temperatures"),
    "samples of graphs": (
        lambda n: jn.structure_posterior(STATES, n_samples=n),
        "4 chains of .* samples",
    ),
    "intervals": (lambda n: jn.discretize(NUMBERS, bins=n), r"intervals of 'a' \(bins\)"),
}


@pytest.mark.parametrize("name", DOORS)
@pytest.mark.parametrize("n", [BILLIONS, 10**17])
def test_counts_that_there_is_no_room_for(name, n):
    call, what = DOORS[name]
    with pytest.raises(jn.JensenError, match=f"{what}.* would take .* more than the limit of "):
        call(n)


@pytest.mark.usefixtures("little_memory")
def test_numbers_to_compare_that_have_no_end():
    with pytest.raises(jn.JensenError, match=r"^65,536 models to compare \(numbers\) would take"):
        jn.choose_components(ROWS, itertools.count(1))


def test_more_parents_than_there_are_variables():
    """Regression: beyond 64 bits a kernel had no such number."""
    assert jn.learn_structure(STATES, max_parents=10**30) == jn.learn_structure(STATES)


def test_numbers_that_no_machine_has():
    with pytest.raises(jn.JensenError, match=r"^more than 1e308 starts \(n_init\) would take inf"):
        jn.GaussianMixture(2, n_init=10**400).fit(ROWS)


@pytest.fixture
def little_memory():
    jn.set_memory_limit(1e8)
    yield
    jn.set_memory_limit(None)


@pytest.mark.usefixtures("little_memory")
def test_states_keep_to_the_limit():
    with pytest.raises(
        jn.JensenError,
        match=r"^learning 4,?000 states \(1.6e\+07 parameters\) from 40 rows would take 2.9 GiB, "
        r"more than the limit of 95.4 MiB: choose fewer states, or raise it",
    ):
        jn.HiddenMarkovModel(4000).fit(ROWS)
    with pytest.raises(jn.JensenError, match="more than the limit"):
        jn.GaussianMixture(20, prior={}).fit(np.random.default_rng(0).normal(size=(200, 300)))
    assert jn.HiddenMarkovModel(20, prior={}, random_state=0).fit(ROWS).n_states_ >= 1
    assert jn.GaussianMixture(20, prior={}, random_state=0).fit(ROWS).n_components_ >= 1


def test_answers_keep_to_the_limit(little_memory):
    chain, mixture = learned("chain"), learned("mixture")
    jn.set_memory_limit(1e3)
    with pytest.raises(jn.JensenError, match=r"40 steps of probabilities of states would tak"):
        chain.smooth(ROWS)
    with pytest.raises(jn.JensenError, match=r"40 rows of probabilities of states would tak"):
        mixture.predict_proba(ROWS)


def test_no_more_assignments_than_there_are_take_room():
    jn.set_memory_limit(1e5)
    try:
        net = jn.examples.load("sprinkler")
        with pytest.raises(jn.JensenError, match=r"^300 assignments \(k\) would take "):
            jn.examples.load("alarm").most_probable(k=300)
        assert len(net.most_probable(k=BILLIONS)) <= 16
    finally:
        jn.set_memory_limit(None)
