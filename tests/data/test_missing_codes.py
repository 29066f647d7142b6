"""Numbers that stand for missing, such as -999, are told once, with the line that mends them."""

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets

import jensen as jn
from jensen.data.encode import NINES, Code, find_codes

RNG = np.random.default_rng(0)
N = 60
AGES = RNG.integers(18, 90, N).astype(float)
PARTS = RNG.normal(size=N).round(3)


def with_code(values, code, times=4):
    return np.concatenate([np.full(times, code), np.asarray(values, float)[times:]])


def told(make):
    with pytest.warns(jn.DataWarning) as met:
        made = make()
    return made, [str(w.message) for w in met if issubclass(w.category, jn.DataWarning)]


@pytest.mark.parametrize("code", [-9.0, -99.0, -999.0, -9999.0, 9999.0, 99999.0, 999.9, -99.99])
def test_codes_are_found(code):
    (found,) = find_codes(with_code(PARTS, code))
    assert found == Code(code, 4, PARTS[4:].min(), PARTS[4:].max())
    assert code in NINES


def test_the_only_numbers_below_0_are_found_however_wide_the_others_are():
    (found,) = find_codes(with_code(1000.0 * AGES, -999.0))
    assert found.value == -999.0
    assert find_codes(with_code(with_code(1000.0 * AGES, -50.0, 8), -999.0, 4)) == []


@pytest.mark.parametrize(
    "values",
    [
        with_code(AGES, -999.0, 2),  # too few
        with_code(AGES, 99.0),  # an age
        with_code(AGES, -998.0),
        with_code(AGES, 9.0),
        with_code(RNG.normal(0, 2000, N), -9999.0),  # not far from the rest
        with_code(np.ones(N), 99.0),  # the rest does not vary
        np.full(N, -999.0),
        np.full(N, np.nan),
        np.empty(0),
        np.arange(2000.0),
    ],
)
def test_other_numbers_are_left_alone(values):
    assert find_codes(values) == []


def test_several_codes_are_found():
    values = with_code(with_code(AGES, 99999.0, 8), -999.0, 4)
    assert [(x.value, x.times) for x in find_codes(values)] == [(-999.0, 4), (99999.0, 4)]


def rows():
    """A column of each kind with a code, and one without."""
    return {
        "age": with_code(AGES, -999.0).astype(int),
        "part": with_code(PARTS, -999.0),
        "grade": with_code(RNG.integers(1, 5, N), -99.0).astype(int),
        "plain": PARTS,
    }


SHOWN = (
    f"numbers that may mean missing are read as they stand, in 'age' (-999, 4 times, beside "
    f"{rows()['age'][4:].min()} to {rows()['age'].max()}), 'part' (-999, 4 times, beside "
    f"{PARTS[4:].min():g} to {PARTS[4:].max():g}), 'grade' (-99, 4 times, beside 1 to 4): if they "
    f"mean missing, say "
)


@pytest.mark.parametrize("given", ["file", "frame", "dict"])
def test_a_table_tells_of_them_in_one_line_that_mends_them(tmp_path, given):
    path = tmp_path / "t.csv"
    pd.DataFrame(rows()).to_csv(path, index=False)
    data = {"file": path, "frame": pd.DataFrame(rows()), "dict": rows()}[given]
    way = "{}" if given == "file" else "jn.Table(..., {})"
    where = {"file": str(path), "frame": "this DataFrame", "dict": "this dict"}[given]
    _, (text,) = told(lambda: jn.Table(data))
    mend, keep = (way.format(f"missing={labels}") for labels in (["-999", "-99"], []))
    assert text == f"{where}: {SHOWN}{mend}; if they are numbers, say {keep}"
    mended = jn.Table(data, missing=["-999", "-99"])
    assert mended.n_missing() == {"age": 4, "part": 4, "grade": 4}
    assert not jn.Table(data, missing=[]).n_missing()


def test_a_kind_that_is_declared_is_looked_at_and_states_are_not():
    _, (text,) = told(lambda: jn.Table({"age": rows()["age"]}, continuous=["age"]))
    assert "'age' (-999, 4 times" in text
    grades = {"grade": rows()["grade"]}
    jn.Table(grades, states={"grade": [1, 2, 3, 4, -99]})
    table, _ = told(lambda: jn.Table(grades))
    jn.Table(table)  # told already


@pytest.mark.parametrize("learn", [jn.GaussianMixture(1), jn.HiddenMarkovModel(1)])
def test_arrays_of_learners_are_looked_at(learn):
    x = np.column_stack([with_code(PARTS, -999.0), AGES + 0.5])
    _, (text,) = told(lambda: learn.fit(x))
    assert text.startswith("X: numbers that may mean missing are read as they stand, in 'x0' (-999")
    assert text.endswith("if they mean missing, put NaN in their place")
    learn.fit(np.where(x == -999.0, np.nan, x))
    learn.score(x)


def test_no_alarm_on_real_tables():
    for name in ("iris", "wine", "breast_cancer", "diabetes", "linnerud", "digits"):
        jn.Table(getattr(datasets, f"load_{name}")(as_frame=True).frame)
    jn.Table(jn.examples.faithful())
