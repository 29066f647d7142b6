"""Induction by merging as people call it; the search itself has tests of its own."""

import numpy as np
import pandas as pd
import pytest

import jensen as jn


def test_any_kind_of_sequence_and_label():
    expected = jn.merge_states(["ab", "abab", "ababab"])
    for sequences in (
        [list("ab"), tuple("abab"), np.array(list("ababab"))],
        [pd.Series(list("ab")), pd.Series(list("abab")), "ababab"],
        (word for word in ("ab", "abab", "ababab")),
    ):
        found = jn.merge_states(sequences)
        assert found.log_posterior == expected.log_posterior
        np.testing.assert_array_equal(found.model.transition_, expected.model.transition_)
    numbers = jn.merge_states([[1, 2], [1, 2, 1, 2], np.array([1, 2, 1, 2, 1, 2])])
    assert numbers.model.variables_[0].states == ("1", "2")
    assert numbers.log_posterior == expected.log_posterior


def test_one_sequence_and_one_label():
    assert jn.merge_states(["ab"]).model.n_states == 2
    found = jn.merge_states(["aaaa"]).model
    assert found.n_states == 1
    np.testing.assert_allclose(found.end_, [0.25], rtol=1e-12)


def test_weights_are_repeated_sequences():
    found = jn.merge_states(["ab", "abab", "b"], weights=[2, 1, 0])
    assert (
        found.log_posterior
        == jn.merge_states(["ab", "ab", "abab"], symbols=["a", "b"]).log_posterior
    )
    assert found.model.variables_[0].states == ("a", "b")


@pytest.mark.parametrize(
    ("sequences", "choices", "words"),
    [
        ([], {}, "^there is nothing to learn from: no sequences$"),
        (["ab", ""], {}, "^sequence 2 has no steps: leave it out$"),
        ([""], {}, "^sequence 1 has no steps"),
        ("abab", {}, r"^give a list of sequences, not 'abab': \[sequence\] for one$"),
        (5, {}, "^give a list of sequences, not 5"),
        ([[1, 2], 3], {}, "^sequence 2 is 3: give a list or text of labels$"),
        ([["a", None]], {}, "^a label is missing: merging needs complete sequences$"),
        ([["a", np.nan]], {}, "^a label is missing"),
        (["ab"], {"weights": [1, 2]}, "^1 sequences need 1 weights, but their shape"),
        (["ab"], {"weights": ["x"]}, "^weights must be numbers, one per sequence$"),
        (["ab"], {"weights": [-1]}, "^the weight of sequence 1 is -1.0"),
        (["ab"], {"weights": [0]}, "^there is nothing to learn from: the weights sum to zero$"),
        (["ab"], {"symbols": ["a"]}, r"^row 2 has the label 'b', which is not among symbols=\['a"),
        (["ab"], {"symbols": []}, r"^row 1 has the label 'a', which is not among symbols=\[\]"),
    ],
)
def test_what_cannot_be_merged(sequences, choices, words):
    with pytest.raises(jn.DataError, match=words):
        jn.merge_states(sequences, **choices)
