"""The answers of a query: reading, showing, converting."""

import pickle

import numpy as np
import pytest
from scipy import stats

import jensen as jn
from jensen.inference.distribution import Distribution, Distributions, Interval

CANCER = jn.Variable("Cancer", "categorical", ("no", "yes"))
STAGE = jn.Variable("Stage", "categorical", ("low", "mid", "high"))
CODE = jn.Variable("Code", "categorical", ("0", "1", "1.5", "x"))
CONDITION = "XRay=abnormal, do(Smoker=yes)"
JOINT = np.array([[0.5, 0.125, 0.0625], [0.0625, 0.125, 0.125]])


@pytest.fixture
def one():
    return Distribution((CANCER,), np.array([0.75, 0.25]), CONDITION)


@pytest.fixture
def joint():
    return Distribution((CANCER, STAGE), JOINT)


@pytest.fixture
def bounded():
    interval = Interval(0.9, np.array([0.5, 0.125]), np.array([0.875, 0.5]))
    return Distribution((CANCER,), np.array([0.75, 0.25]), "XRay=abnormal", interval)


@pytest.fixture
def rows():
    return Distributions((CANCER,), np.array([[0.75, 0.25], [0.5, 0.5], [1.0, 0.0]]))


def test_one_variable_reads_like_a_mapping_of_states(one):
    assert one["yes"] == one["yes",] == 0.25
    assert dict(one) == {"no": 0.75, "yes": 0.25}
    assert list(one) == one.keys() == ["no", "yes"]
    assert one.items() == [("no", 0.75), ("yes", 0.25)]
    assert len(one) == 2


def test_several_variables_read_like_a_mapping_of_tuples(joint):
    assert joint["yes", "low"] == 0.0625
    assert dict(joint) == {
        (a, b): JOINT[i, j] for i, a in enumerate(CANCER.states) for j, b in enumerate(STAGE.states)
    }
    assert list(joint) == joint.keys()
    assert joint.keys()[:4] == [("no", "low"), ("no", "mid"), ("no", "high"), ("yes", "low")]
    assert joint.items()[-1] == (("yes", "high"), 0.125)
    assert len(joint) == 6


def test_probabilities_come_out_as_python_floats(one, joint):
    for d in (one, joint):
        numbers = [*dict(d).values(), *(p for _, p in d.items()), d.get(d.keys()[0]), d.entropy()]
        assert {type(p) for p in numbers} == {float}


@pytest.mark.parametrize("label", ["1", 1, 1.0, "1.0", np.int64(1), np.float32(1)])
def test_labels_match_by_text(label):
    d = Distribution((CODE,), np.array([0.125, 0.5, 0.25, 0.125]))
    assert d[label] == d.get(label) == 0.5
    assert label in d
    assert Distribution((CODE, CANCER), np.eye(4, 2))[label, "yes"] == 1.0


def test_a_label_as_written_comes_before_its_number():
    v = jn.Variable("v", "categorical", ("1.0", "1"))
    d = Distribution((v,), np.array([0.25, 0.75]))
    assert (d["1"], d["1.0"], d[1]) == (0.75, 0.25, 0.75)


def test_what_is_and_is_not_in_it(one, joint):
    assert "yes" in one
    assert ("yes",) in one
    assert ("yes", "high") in joint
    for key in ("maybe", 0, None, (), ("yes", "low"), ["yes"], np.array(["yes", "no"])):
        assert key not in one
    for key in ("yes", ("low", "yes"), ("yes",), ("yes", "low", "low")):
        assert key not in joint


def test_get_falls_back(one, joint):
    assert one.get("yes") == 0.25
    assert one.get("maybe") is None
    assert one.get("maybe", 0.0) == 0.0
    assert one.get(("yes", "low"), -1) == -1
    assert joint.get(("yes", "low")) == 0.0625
    assert joint.get("yes", "nothing") == "nothing"


@pytest.mark.parametrize(
    ("variables", "key", "message"),
    [
        ((CANCER,), "maybe", "'Cancer' has no state 'maybe'; its states are no, yes"),
        ((CANCER,), 0, "'Cancer' has no state 0; its states are no, yes"),
        ((CANCER, STAGE), ("yes", "top"), "'Stage' has no state 'top'; its states are low, mid, h"),
        (
            (CANCER,),
            ("yes", "low"),
            "P(Cancer) is of 1 variable (Cancer: no, yes), but 2 labels came: "
            "give one label per variable",
        ),
        (
            (CANCER, STAGE),
            "yes",
            "P(Cancer, Stage) is of 2 variables (Cancer: no, yes; Stage: low, mid, high), "
            "but 1 label came: give one label per variable",
        ),
        ((CANCER,), (), "P(Cancer) is of 1 variable (Cancer: no, yes), but 0 labels came"),
    ],
)
def test_labels_that_fit_no_cell_are_refused(variables, key, message):
    shape = [v.n_states for v in variables]
    values = np.full(shape, 1 / np.prod(shape))
    d = Distribution(variables, values, "", Interval(0.9, values, values))
    for read in (d.__getitem__, d.interval_of):
        with pytest.raises(jn.JensenError) as error:
            read(key)
        assert str(error.value).startswith(message)


def test_names_and_states(one, joint):
    assert one.names == ("Cancer",)
    assert one.states == ("no", "yes")
    assert joint.names == ("Cancer", "Stage")
    assert joint.states == (("no", "yes"), ("low", "mid", "high"))


def test_the_most_probable_key(one, joint):
    assert one.most_probable() == "no"
    assert joint.most_probable() == ("no", "low")
    assert Distribution((STAGE,), np.array([0.25, 0.375, 0.375])).most_probable() == "mid"
    last = Distribution((STAGE, CANCER), np.array([[0, 0], [0, 0], [0.25, 0.75]]))
    assert last.most_probable() == ("high", "yes")


def test_nothing_is_most_probable_where_the_evidence_is_impossible():
    d = Distributions((CANCER,), np.array([[0.5, 0.5], [np.nan, np.nan]]))[1]
    with pytest.raises(jn.JensenError) as error:
        d.most_probable()
    assert str(error.value) == (
        "P(Cancer | row 1) is undefined (NaN), so no state is the most probable: "
        "the evidence is impossible"
    )
    assert np.isnan(d.entropy())


@pytest.mark.parametrize("names", [["a"], ["b"], ["c", "a"], ["b", "c", "a"]])
def test_marginals_sum_the_others_out_in_the_order_asked(names):
    states = {"a": "xy", "b": "xyz", "c": "xyzw"}
    variables = tuple(jn.Variable(x, "categorical", tuple(states[x])) for x in states)
    values = np.random.default_rng(0).dirichlet(np.ones(24)).reshape(2, 3, 4)
    d = Distribution(variables, values, "E=1", Interval(0.9, values, values))
    marginal = d.marginal(names)
    assert marginal.names == tuple(names)
    assert marginal.condition == "E=1"
    assert marginal.interval is None
    expected = np.einsum("abc->" + "".join(names), values)
    np.testing.assert_allclose(marginal.values, expected, rtol=1e-14)


def test_a_marginal_is_asked_for_by_one_name_or_any_iterable(joint):
    assert dict(joint.marginal("Cancer")) == {"no": 0.6875, "yes": 0.3125}
    assert joint.marginal(name for name in ("Stage", "Cancer")).names == ("Stage", "Cancer")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            "Age",
            "P(Cancer, Stage) has no variable 'Age'; did you mean 'Stage'? The variables are: "
            "Stage, Cancer",
        ),
        (["Stage", 3], "P(Cancer, Stage) has no variable 3; the variables are: Cancer, Stage"),
        (["Stage", "Stage"], "a marginal names every variable once, but 'Stage' stands twice"),
        ([], "a marginal is of one variable or more, but no name came"),
    ],
)
def test_marginals_that_are_none_are_refused(joint, names, message):
    with pytest.raises(jn.JensenError) as error:
        joint.marginal(names)
    assert str(error.value) == message


def test_entropy_is_in_nats_and_zero_where_all_is_certain(joint):
    np.testing.assert_allclose(joint.entropy(), stats.entropy(JOINT.ravel()), rtol=1e-14)
    uniform = Distribution((STAGE,), np.full(3, 1 / 3))
    np.testing.assert_allclose(uniform.entropy(), np.log(3), rtol=1e-14)
    assert str(Distribution((CANCER,), np.array([0.0, 1.0])).entropy()) == "0.0"
    certain = jn.Variable("v", "categorical", ("only",))
    assert str(Distribution((certain,), np.array([1.0])).entropy()) == "0.0"


def test_an_interval_is_read_by_key(bounded):
    assert bounded.interval_of("yes") == (0.125, 0.5)
    assert {type(bound) for bound in bounded.interval_of("no")} == {float}


def test_an_interval_of_several_variables(joint):
    d = Distribution((CANCER, STAGE), JOINT, "", Interval(0.5, JOINT / 2, JOINT * 1.5))
    assert d.interval_of(("yes", "high")) == (0.0625, 0.1875)


def test_an_interval_that_was_not_asked_for_is_refused(one):
    with pytest.raises(jn.JensenError) as error:
        one.interval_of("yes")
    assert str(error.value) == f"P(Cancer | {CONDITION}) has no interval: ask for one in the query"


def test_arrays_are_copies(one, rows):
    for d in (one, rows):
        array = np.asarray(d)
        np.testing.assert_array_equal(array, d.values)
        array[:] = -1
        assert (d.values >= 0).all()
        assert np.asarray(d, dtype=np.float32).dtype == np.float32


def test_nothing_is_copied_or_compared_at_construction(one, joint):
    values = np.array([0.75, 0.25])
    assert Distribution((CANCER,), values).values is values
    assert values.flags.writeable
    assert one == one
    assert one != Distribution((CANCER,), one.values, CONDITION)
    assert len({one, joint, one}) == 2


def test_all_keys_of_many_states_are_read_fast_and_rightly():
    v = jn.Variable("v", "categorical", tuple(map(str, range(2000))))
    values = np.random.default_rng(0).dirichlet(np.ones(2000))
    assert list(dict(Distribution((v,), values)).values()) == values.tolist()


def test_a_distribution_can_be_pickled(bounded):
    again = pickle.loads(pickle.dumps(bounded))
    assert dict(again) == dict(bounded)
    assert repr(again) == repr(bounded)


def test_pandas_gets_a_series_of_states(one, joint):
    series = one.to_pandas()
    assert series.to_dict() == dict(one)
    assert (series.index.name, series.name) == ("Cancer", "probability")
    series["yes"] = 2.0
    assert one["yes"] == 0.25
    several = joint.to_pandas()
    assert several.to_dict() == dict(joint)
    assert several.index.names == ["Cancer", "Stage"]


def test_pandas_gets_bounds_beside_the_probabilities(bounded):
    frame = bounded.to_pandas()
    assert frame.index.name == "Cancer"
    assert frame.loc["yes"].to_dict() == {"probability": 0.25, "lower": 0.125, "upper": 0.5}
    d = Distribution((CANCER, STAGE), JOINT, "", Interval(0.5, JOINT / 2, JOINT * 1.5))
    assert d.to_pandas().loc[("yes", "high"), "upper"] == 0.1875


def test_a_distribution_shows_itself(one, joint):
    assert repr(one) == (
        "P(Cancer | XRay=abnormal, do(Smoker=yes))\n"
        "Cancer  probability\n"
        "-------------------\n"
        "no             0.75\n"
        "yes            0.25"
    )
    assert repr(joint) == (
        "P(Cancer, Stage)\n"
        "Cancer  Stage  probability\n"
        "--------------------------\n"
        "no      low            0.5\n"
        "no      mid          0.125\n"
        "no      high        0.0625\n"
        "yes     low         0.0625\n"
        "yes     mid          0.125\n"
        "yes     high         0.125"
    )


def test_a_distribution_with_an_interval_shows_its_bounds(bounded):
    assert repr(bounded) == (
        "P(Cancer | XRay=abnormal)\n"
        "Cancer  probability  90% from     to\n"
        "------------------------------------\n"
        "no             0.75       0.5  0.875\n"
        "yes            0.25     0.125    0.5"
    )


@pytest.mark.parametrize(("level", "shown"), [(0.95, "95%"), (0.999, "99.9%"), (0.5, "50%")])
def test_levels_are_shown_in_percent(level, shown):
    bounds = Interval(level, np.zeros(2), np.ones(2))
    assert f"  {shown} from  " in repr(Distribution((CANCER,), np.full(2, 0.5), "", bounds))


@pytest.mark.parametrize(
    ("n", "tail"), [(40, None), (41, "... and 1 row more"), (1240, "... and 1,200 rows more")]
)
def test_a_long_distribution_shows_its_beginning(n, tail):
    v = jn.Variable("v", "categorical", tuple(map(str, range(n))))
    lines = repr(Distribution((v,), np.full(n, 1 / n))).splitlines()
    assert [line.split() for line in lines[3:43]] == [[str(k), f"{1 / n:.4g}"] for k in range(40)]
    assert lines[43:] == ([tail] if tail else [])


def test_a_distribution_is_a_belief():
    net = jn.examples.load("sprinkler").network_
    rain, wet = (net.variables[net.index(name)] for name in ("rain", "wet_grass"))
    net.check_belief("rain", Distribution((rain,), np.array([0.25, 0.75])))
    net.check_belief("rain", {"no": 0.25, "yes": 0.75})
    pair = Distribution((rain, wet), np.full((2, 2), 0.25))
    for belief in (Distribution((STAGE,), np.full(3, 1 / 3)), pair, ["no", "yes"], None):
        with pytest.raises(jn.JensenError, match="a belief about 'rain' gives each of its states"):
            net.check_belief("rain", belief)


def test_rows_of_evidence_are_a_sequence(rows):
    assert len(rows) == 3
    assert dict(rows[1]) == {"no": 0.5, "yes": 0.5}
    assert [d.condition for d in rows] == ["row 0", "row 1", "row 2"]
    assert [d["yes"] for d in rows] == [0.25, 0.5, 0.0]
    assert rows[-1].condition == "row 2"
    assert dict(rows[-3]) == dict(rows[0])
    assert rows[np.int64(1)].condition == "row 1"
    assert np.shares_memory(rows[0].values, rows.values)


@pytest.mark.parametrize("i", [3, -4, 100])
def test_rows_that_are_not_there_are_refused(rows, i):
    with pytest.raises(IndexError) as error:
        rows[i]
    assert str(error.value) == f"there is no row {i}: there are 3 rows of evidence"


@pytest.mark.parametrize("i", ["0", 0.0, slice(2), None])
def test_rows_are_asked_for_by_whole_numbers(rows, i):
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        rows[i]


def test_no_rows_of_evidence():
    nothing = Distributions((CANCER, STAGE), np.empty((0, 2, 3)))
    assert len(nothing) == 0
    assert list(nothing) == []
    assert nothing.to_pandas().shape == (0, 6)
    assert repr(nothing).splitlines()[0] == "P(Cancer, Stage) for 0 rows of evidence"
    with pytest.raises(IndexError, match="there is no row 0: there are 0 rows of evidence"):
        nothing[0]


def test_pandas_gets_a_row_per_row_of_evidence(rows):
    frame = rows.to_pandas()
    assert frame.columns.name == "Cancer"
    assert frame.to_dict("list") == {"no": [0.75, 0.5, 1.0], "yes": [0.25, 0.5, 0.0]}
    frame.loc[0, "no"] = 2.0
    assert rows[0]["no"] == 0.75
    several = Distributions((CANCER, STAGE), np.stack([JOINT, JOINT[::-1]])).to_pandas()
    assert several.columns.names == ["Cancer", "Stage"]
    assert several["yes", "low"].tolist() == [0.0625, 0.5]


def test_rows_of_evidence_show_themselves(rows):
    assert repr(rows) == (
        "P(Cancer) for 3 rows of evidence\n"
        "row    no   yes\n"
        "---------------\n"
        "0    0.75  0.25\n"
        "1     0.5   0.5\n"
        "2     1.0   0.0"
    )
    assert repr(Distributions((CANCER, STAGE), JOINT[None])) == (
        "P(Cancer, Stage) for 1 row of evidence\n"
        "row  no, low  no, mid  no, high  yes, low  yes, mid  yes, high\n"
        "--------------------------------------------------------------\n"
        "0        0.5    0.125    0.0625    0.0625     0.125      0.125"
    )


def test_many_rows_and_columns_are_cut():
    v = jn.Variable("v", "categorical", tuple("abcdefghij"))
    lines = repr(Distributions((v,), np.full((5000, 10), 0.1))).splitlines()
    assert lines[0] == "P(v) for 5,000 rows of evidence"
    assert lines[1].split() == ["row", *"abcdefgh"]
    assert lines[3].split() == ["0", *["0.1"] * 8]
    assert lines[3 + 5 :] == ["... and 2 columns more", "... and 4,995 rows more"]
