"""State merging against its definition, and on languages that it should find."""

import re
from itertools import pairwise

import numpy as np
import pytest
from naive import merging as naive

import jensen as jn
from jensen.exceptions import DataError, JensenError
from jensen.state_merging import merged_counts, merging
from jensen.state_merging.merging import merge_states


def times(rng, at_least=1):
    return int(rng.geometric(0.5)) - 1 + at_least


LANGUAGES = {
    "(ab)+": (2, lambda rng: "ab" * times(rng)),
    "a+b+": (2, lambda rng: "a" * times(rng) + "b" * times(rng)),
    "a*b+": (2, lambda rng: "a" * times(rng, 0) + "b" * times(rng)),
    "a*b*a": (3, lambda rng: "a" * times(rng, 0) + "b" * times(rng, 0) + "a"),
    "a+b+a": (3, lambda rng: "a" * times(rng) + "b" * times(rng) + "a"),
    "a+b+a+": (3, lambda rng: "a" * times(rng) + "b" * times(rng) + "a" * times(rng)),
    "(a|b)c": (2, lambda rng: rng.choice(["a", "b"]) + "c"),
    "(a|b)c+": (2, lambda rng: rng.choice(["a", "b"]) + "c" * times(rng)),
    "(ab|cd)+": (4, lambda rng: "".join(rng.choice(["ab", "cd"], times(rng)))),
    "ac*a|bc*b": (6, lambda rng: ("c" * times(rng, 0)).join([rng.choice(["a", "b"])] * 2)),
}


def encode(strings):
    return [["abcd".index(x) for x in string] for string in strings]


def draw(language, n_strings, seed):
    rng = np.random.default_rng(seed)
    return encode(LANGUAGES[language][1](rng) for _ in range(n_strings))


def random_strings(seed, n_strings=6, n_symbols=3, longest=5):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, n_symbols, rng.integers(1, longest)).tolist() for _ in range(n_strings)]


def assert_same(one, other):
    assert one.steps == other.steps
    for name in ("first", "pairs", "last", "emitted", "numbers", "trace"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_language_is_found_from_forty_strings(language):
    n_symbols = 1 + max(map("abcd".find, language))
    for seed in range(5):
        assert is_model_of(language, merge_states(draw(language, 40, seed), n_symbols))


def is_model_of(language, model):
    """Whether it has as few states as can be, and gives the strings of the language alone."""
    n_states, n_symbols = model.emitted.shape
    return n_states == LANGUAGES[language][0] and all(
        naive.gives(model, codes) == bool(re.fullmatch(language, "".join("abcd"[x] for x in codes)))
        for codes in naive.all_strings(n_symbols, longest={2: 8, 3: 6, 4: 5}[n_symbols])
    )


@pytest.mark.parametrize("language", ["a+b+a+", "ac*a|bc*b", "(ab|cd)+"])
def test_the_language_is_found_from_two_thousand_strings(language):
    n_symbols = 1 + max(map("abcd".find, language))
    assert is_model_of(language, merge_states(draw(language, 2000, 0), n_symbols))


@pytest.mark.parametrize("seed", range(3))
def test_lighter_structure_keeps_more_states(seed):
    strings = draw("ac*a|bc*b", 20, seed)
    light, heavy = (len(merge_states(strings, 3, structure_weight=w).first) for w in (0.5, 3.0))
    assert light > heavy


@pytest.mark.parametrize(("alpha", "structure_weight"), [(1.0, 1.0), (0.3, 0.5), (2.5, 0.0)])
@pytest.mark.parametrize("batch", [100, 5])
@pytest.mark.parametrize("seed", range(4))
def test_every_step_and_score_equals_the_definition(
    seed, batch, alpha, structure_weight, monkeypatch
):
    monkeypatch.setattr(merging, "BATCH", batch)
    assert_steps(random_strings(seed), 4, alpha, structure_weight, lookahead=3, batch=batch)


@pytest.mark.parametrize(
    ("language", "seed", "batch", "kind"),
    [
        ("a*b*a", 1, 4, merging.StateSplit),
        ("a*b*a", 15, 8, merging.StateSplit),
        ("a*b*a", 22, 8, merging.Recompletion),
        ("a+b+a+", 19, 8, merging.Recompletion),
    ],
)
def test_steps_that_mend_equal_the_definition_and_rise(language, seed, batch, kind, monkeypatch):
    monkeypatch.setattr(merging, "BATCH", batch)
    strings = [string for string in draw(language, 40, seed) if len(string) < 6]
    model = assert_steps(strings, 2, 1.0, 1.0, lookahead=2, batch=batch)
    assert min(rises(model, kind)) > 0.0


def rises(model, kind):
    """Of the log posterior, by each step of a kind."""
    steps = pairwise(model.steps)
    return [b.log_posterior - a.log_posterior for a, b in steps if isinstance(b, kind)]


def assert_steps(strings, n_symbols, alpha, structure_weight, lookahead, batch):
    model = merge_states(
        strings,
        n_symbols,
        concentration=alpha,
        structure_weight=structure_weight,
        lookahead=lookahead,
    )
    steps, paths = naive.merge_states(strings, n_symbols, alpha, structure_weight, lookahead, batch)
    assert [(type(s).__name__, *s[:-1]) for s in model.steps] == [s[:-1] for s in steps]
    np.testing.assert_allclose(model.trace, [step[-1] for step in steps], rtol=1e-11)
    np.testing.assert_array_equal(model.trace, [step.log_posterior for step in model.steps])
    assert model.log_posterior == model.trace[-1]
    assert_counts(model, paths)
    return model


def assert_counts(model, paths):
    moves, emitted = naive.count(paths)
    states = model.numbers.tolist()
    assert sorted(states) == naive.states_of(paths)
    assert model.first.tolist() == [moves[naive.OUTSIDE, q] for q in states]
    assert model.last.tolist() == [moves[q, naive.OUTSIDE] for q in states]
    assert model.pairs.tolist() == [[moves[q, r] for r in states] for q in states]
    n_symbols = model.emitted.shape[1]
    assert model.emitted.tolist() == [[emitted[q, x] for x in range(n_symbols)] for q in states]


@pytest.mark.parametrize("seed", range(20))
def test_gains_of_all_pairs_equal_scores_computed_anew(seed):
    """Also where states follow themselves and each other."""
    rng, n_states = np.random.default_rng(seed), 4
    moves = rng.integers(1, 4, (n_states + 1, n_states + 1)) * (rng.random((5, 5)) < 0.5) * 1.0
    moves[:, 0] += 1.0
    moves[-1, -1] = 0.0
    emitted = np.array([rng.multinomial(int(n), [0.6, 0.4, 0.0]) for n in moves[:-1].sum(1)]) * 1.0
    prior, everyone = merged_counts.Prior(0.7, 0.9), np.arange(n_states)
    counts = merged_counts.summarise(moves, emitted)
    gains = merged_counts.pair_gains(counts, prior, everyone, everyone)
    before = merged_counts.log_posterior(counts, prior)
    n_moves = counts.used_moves.sum()
    for i, j in zip(*np.triu_indices(n_states, 1), strict=True):
        into = np.eye(n_states + 1)
        into[j, i], into[j, j] = 1.0, 0.0
        into = np.delete(into, j, axis=1)
        joint = merged_counts.summarise(into.T @ moves @ into, into[:-1, :-1].T @ emitted)
        assert joint.used_moves.sum() == n_moves - gains.saved[i, j]
        cost = n_moves * np.log(n_states + 1) - (n_moves - gains.saved[i, j]) * np.log(n_states)
        rise = merged_counts.log_posterior(joint, prior) - before
        np.testing.assert_allclose(gains.gain[i, j] + 0.9 * cost, rise, atol=1e-11)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_sequences_changes_nothing(seed):
    strings = draw("a+b+a", 30, seed)
    shuffled = [strings[k] for k in np.random.default_rng(seed).permutation(30)]
    assert_same(merge_states(strings, 2), merge_states(shuffled, 2))


def test_weights_are_repeats():
    strings, weights = random_strings(0, n_strings=8), [1, 3, 2, 0, 1, 5, 1, 2]
    repeated = [s for s, n in zip(strings, weights, strict=True) for _ in range(n)]
    assert_same(merge_states(strings, 3, weights=weights), merge_states(repeated, 3))


def test_states_are_ordered_by_visits_and_add_up():
    model = merge_states(draw("(ab|cd)+", 30, 0), 4)
    visits = model.emitted.sum(1)
    assert (np.diff(visits) <= 0).all()
    np.testing.assert_array_equal(model.pairs.sum(1) + model.last, visits)
    np.testing.assert_array_equal(model.pairs.sum(0) + model.first, visits)
    assert model.first.sum() == model.last.sum() == 30


def test_a_dip_on_the_way_is_passed_where_lookahead_allows():
    strings = draw("ac*a|bc*b", 20, 2)
    near, far = (merge_states(strings, 3, lookahead=n) for n in (0, 20))
    assert far.log_posterior > near.log_posterior
    assert min(rises(near, merging.Merge)) > 0.0
    assert min(rises(far, merging.Merge)) < 0.0


def test_one_string_of_one_symbol():
    model = merge_states([[0]], 1)
    assert model.merges == []
    assert model.pairs.tolist() == [[0.0]]
    assert model.first.tolist() == model.last.tolist() == [1.0]
    # a first state, an end and a symbol, each one choice of two
    assert model.log_posterior == pytest.approx(-3 * np.log(2), rel=1e-14)


def test_equal_strings_give_that_string():
    model = merge_states([[0, 1, 2]] * 30, 3)
    assert len(model.first) == 3
    assert [s for s in naive.all_strings(3, 4) if naive.gives(model, s)] == [(0, 1, 2)]


@pytest.mark.parametrize(
    ("sequences", "message"),
    [
        ([], "no sequences to learn from"),
        ([[0], []], r"sequence 2 has the shape \(0,\).*empty sequence visits no state"),
        ([[[0]]], r"sequence 1 has the shape \(1, 1\)"),
        ([[0, 2]], r"sequence 1 must have whole numbers from 0 to 1 \(n_symbols - 1\), not 0 to 2"),
        ([[-1]], "from 0 to 1"),
        ([[0.5]], "of type float64"),
    ],
)
def test_sequences_that_cannot_be_are_refused(sequences, message):
    with pytest.raises(DataError, match=message):
        merge_states(sequences, 2)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"weights": [1.0, 2.0]}, r"weights have the shape \(2,\): give one for each of 1"),
        ({"weights": [-1.0]}, "finite and not negative"),
        ({"weights": [0.0]}, "no sequences to learn from"),
        ({"concentration": 0.0}, "concentration must be positive and finite, not 0.0"),
        ({"structure_weight": -1}, "structure_weight must be finite and not negative, not -1"),
        ({"lookahead": -1}, "lookahead must be a whole number, 0 or more"),
        ({"n_symbols": 0}, "n_symbols must be a whole number, 1 or more"),
    ],
)
def test_choices_that_cannot_be_are_refused(choices, message):
    with pytest.raises(JensenError, match=message):
        merge_states([[0]], **{"n_symbols": 1, **choices})


def test_too_many_positions_for_the_memory_are_refused():
    jn.set_memory_limit(1000)
    try:
        with pytest.raises(JensenError, match="merging 20 states, at the beginning one for each"):
            merge_states([list(range(20))], 20)
    finally:
        jn.set_memory_limit(None)
