"""How many components: what can be compared, and what is refused."""

import math
import signal

import numpy as np
import pytest
from evidence.cases import LATENT, latent_class

import jensen as jn

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(0, 1, (40, 1)), RNG.normal(9, 1, (30, 1))])
SEQUENCES = [list("aabb"), list("ab"), list("bbba")]


def values(choice):
    return [candidate.value for candidate in choice.candidates]


def test_one_number_is_all_up_to_it():
    expected = jn.choose_components(X, [1, 2, 3])
    assert expected.n == 2
    assert values(jn.choose_components(X, 3)) == values(expected)
    assert values(jn.choose_components(X, range(1, 4))) == values(expected)


def test_lists_of_rows_are_a_matrix():
    assert values(jn.choose_components(X.tolist(), [2])) == values(jn.choose_components(X, [2]))


def test_states_of_chains_with_and_without_the_correction():
    model = jn.HiddenMarkovModel(prior={}, random_state=0)
    plain = jn.choose_components(SEQUENCES, [1, 3], model=model)
    corrected = jn.choose_components(SEQUENCES, [1, 3], model=model, label_correction=True)
    n_live = plain.candidates[1].n_live
    expected = math.log(math.perm(3, n_live))
    np.testing.assert_allclose(np.subtract(values(corrected), values(plain)), [0.0, expected])
    assert plain.candidates[1].model.label_correction_ == pytest.approx(expected)
    assert (plain.kind, corrected.kind) == ("bound", "estimate")
    assert "estimate" in corrected.to_pandas().columns
    assert repr(corrected).endswith("an estimate, not a bound, of the log evidence")
    assert "estimate" not in repr(plain)


def test_any_way_to_the_evidence_ranks():
    """Twelve rows whose evidence is known: -28.18, -26.02 and -25.58 of one to three classes."""
    model = latent_class(1)
    by_sum = jn.choose_components(LATENT, [1, 2], model=model, by="exact")
    np.testing.assert_allclose(values(by_sum), [-28.1809842873, -26.0241013598], rtol=1e-9)
    assert (by_sum.kind, by_sum.n) == ("exact", 2)
    drawn = jn.choose_components(LATENT, [1, 2], model=model, by="bridge")
    assert drawn.candidates[1].standard_error < 0.1
    assert "±" in repr(drawn)
    best = jn.choose_components(LATENT, [1, 2], model=model, by="vb")
    assert values(best)[1] == pytest.approx(-27.76841, abs=1e-4)


def test_a_bound_has_the_k_of_its_gap_beside_it():
    found = jn.choose_components(LATENT, [1, 2], model=latent_class(1))
    one, two = found.candidates
    assert one.pareto_k == 0.0  # nothing is hidden: the bound is the evidence
    assert ("not known" in repr(found)) == (two.pareto_k > 0.7)
    assert f"{two.pareto_k:.2f}" in repr(found)


def test_weights_of_sequences_count_in_bic():
    model, weight = jn.HiddenMarkovModel(random_state=0), [2, 1, 3]
    many = [SEQUENCES[k] for k in np.repeat(np.arange(3), weight)]
    one = jn.choose_components(SEQUENCES, [1], model=model, by="bic", sequence_weight=weight)
    two = jn.choose_components(many, [1], model=model, by="bic")
    np.testing.assert_allclose(values(one), values(two), rtol=1e-12)


@pytest.mark.parametrize(
    ("numbers", "choices", "words"),
    [
        ([], {}, "^numbers is empty"),
        (0, {}, "^numbers must be a whole number, 1 or more, not 0$"),
        (2.5, {}, "^numbers must be a whole number, 1 or more, not 2.5$"),
        ([1, 0], {}, "^numbers must be a whole number, 1 or more, not 0$"),
        ("3", {}, "^numbers must be a whole number, 1 or more, not '3'$"),
        (
            [1],
            {"model": 3},
            "^model must be a GaussianMixture, LatentClass or Hidden",
        ),
        ([1], {"by": "aic"}, "^by must be 'bound', 'exact', .* or 'bridge', not 'aic'$"),
        ([1], {"by": "bic", "label_correction": True}, "^label_correction belongs to by='bound'$"),
        ([1], {"model": jn.GaussianMixture(method="em")}, "^by='bound' needs method='vbem'"),
    ],
)
def test_what_cannot_be_compared(numbers, choices, words):
    with pytest.raises(jn.JensenError, match=words):
        jn.choose_components(X, numbers, **choices)


@pytest.mark.filterwarnings("ignore:interrupted. this is the best so far")
@pytest.mark.parametrize("n_done", [0, 2])
def test_an_interrupt_ends_with_what_is_compared(monkeypatch, n_done):
    """Regression: it ended one model, and went on with the next."""
    fit, done = jn.GaussianMixture.fit, []

    def pressed(self, *args, **choices):
        if len(done) == n_done:
            signal.raise_signal(signal.SIGINT)
        done.append(self.n_components)
        return fit(self, *args, **choices)

    monkeypatch.setattr(jn.GaussianMixture, "fit", pressed)
    x, model = np.arange(20.0).reshape(-1, 1) ** 2, jn.GaussianMixture(prior={}, random_state=0)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if n_done == 0:
            with pytest.raises(KeyboardInterrupt):
                jn.choose_components(x, range(1, 9), model=model)
            return
        with pytest.warns(
            jn.EstimateWarning,
            match=r"^interrupted: 2 of 8 models are compared, and the best may be among the rest$",
        ):
            found = jn.choose_components(x, range(1, 9), model=model)
    finally:
        signal.signal(signal.SIGINT, before)
    assert [c.n for c in found.candidates] == [1, 2]
    assert len(done) == 3
