"""What holds no rows is refused in words, and nothing is learned from names of columns."""

import re

import numpy as np
import pandas as pd
import pytest

import jensen as jn

COLUMNS = {"alpha": ["u", "v", "u", "v"], "beta": ["u", "u", "v", "v"]}


@pytest.mark.parametrize("data", [COLUMNS, pd.DataFrame(COLUMNS), jn.Table(COLUMNS)], ids=type)
def test_states_are_not_merged_from_names_of_columns(data):
    expected = (
        f"give a list of sequences, not columns ({type(data).__name__}), whose names would be read "
        f"as sequences: for columns that hold one sequence each write"
    )
    with pytest.raises(jn.JensenError, match=re.escape(expected)):
        jn.merge_states(data)


@pytest.mark.parametrize("inside", [b"ab", {"a", "b"}, {"a": 1}, 5])
def test_what_has_no_order_is_no_sequence(inside):
    with pytest.raises(jn.JensenError, match=r"sequence 2 is .* give a list or text of labels"):
        jn.merge_states(["ab", inside])


def test_sequences_in_a_column_are_merged():
    frame = pd.DataFrame({"text": ["ab", "abab", "ababab", "abababab"]})
    assert jn.merge_states(frame["text"]).model.n_states == 2


NO_ROWS = {
    "None": None,
    "bytes": b"alpha",
    "a set": {1.0, 2.0},
}


@pytest.mark.parametrize("kind", [jn.GaussianMixture, jn.HiddenMarkovModel])
@pytest.mark.parametrize("what", NO_ROWS)
def test_arrays_of_nothing(kind, what):
    with pytest.raises(jn.JensenError, match=r"^X must hold rows, an array, a dataframe"):
        kind(2).fit(NO_ROWS[what])
    with pytest.raises(jn.JensenError, match=r"^X must hold rows, an array, a dataframe"):
        kind(2, random_state=0).fit(np.arange(20.0)[:, None] % 7).predict(NO_ROWS[what])


@pytest.mark.parametrize("kind", [jn.GaussianMixture, jn.HiddenMarkovModel])
def test_rows_as_dicts(kind):
    rows = [{"a": float(i % 3), "b": i * 1.0} for i in range(20)]
    with pytest.raises(jn.JensenError, match=r"^X is a list of dicts: give jn.Table\(X\)"):
        kind(2).fit(rows)


@pytest.mark.parametrize("kind", [jn.GaussianMixture, jn.HiddenMarkovModel])
def test_rows_that_can_be_read_once(kind):
    with pytest.raises(jn.JensenError, match=r"list\(X\)"):
        kind(2).fit(iter([[1.0], [2.0], [3.0]]))


@pytest.mark.parametrize("kind", [jn.GaussianMixture, jn.HiddenMarkovModel])
def test_a_dict_of_columns_is_a_table(kind):
    columns = dict(zip("ab", np.random.default_rng(0).normal(size=(2, 40)), strict=True))
    found = kind(2, prior={}, random_state=0).fit(columns)
    same = kind(2, prior={}, random_state=0).fit(jn.Table(columns))
    np.testing.assert_array_equal(found.means_, same.means_)
