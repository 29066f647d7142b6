"""Labelled tables: reading, showing, converting."""

import numpy as np
import pytest

import jensen as jn


@pytest.fixture
def cpt():
    return jn.examples.load("sprinkler").cpt("wet_grass")


def test_a_row_is_read_by_the_labels_of_the_parents(cpt):
    assert cpt["no", "on"] == {"no": 0.1, "yes": 0.9}
    assert jn.examples.load("asia").cpt("tub")["yes"] == {"no": 0.95, "yes": 0.05}
    assert jn.examples.load("asia").cpt("tub")["yes",] == {"no": 0.95, "yes": 0.05}
    assert jn.examples.load("asia").cpt("asia")[()] == {"no": 0.99, "yes": 0.01}
    assert type(cpt["no", "on"]["no"]) is float


def test_labels_match_by_text():
    net = jn.BayesianNetwork.from_tables("a -> b", {"a": [0.5, 0.5], "b": [[1, 0], [0, 1]]})
    for label in ("1", 1, 1.0, "1.0", np.int64(1), np.float32(1)):
        assert net.cpt("b")[label] == {"0": 0.0, "1": 1.0}


@pytest.mark.parametrize(
    ("name", "labels", "message"),
    [
        ("wet_grass", "no", "'wet_grass' has 2 parents (rain, sprinkler), but 1 label came"),
        ("wet_grass", (), "'wet_grass' has 2 parents (rain, sprinkler), but 0 labels came"),
        ("wet_grass", ("no", "on", "x"), "'wet_grass' has 2 parents (rain, sprinkler), but 3 lab"),
        ("wet_grass", ("no", "open"), "'sprinkler' has no state 'open'; its states are off, on"),
        ("wet_grass", (0, "on"), "'rain' has no state 0; its states are no, yes"),
        ("cloudy", "yes", "'cloudy' has no parents: cpt[()] is its one row of probabilities"),
    ],
)
def test_labels_that_fit_no_row_are_refused(name, labels, message):
    with pytest.raises(jn.JensenError) as error:
        jn.examples.load("sprinkler").cpt(name)[labels]
    assert str(error.value).startswith(message)


def test_rows_come_with_their_labels(cpt):
    rows = list(cpt.rows())
    assert [labels for labels, _ in rows] == [
        ("no", "off"), ("no", "on"), ("yes", "off"), ("yes", "on"),
    ]  # fmt: skip
    np.testing.assert_array_equal([row for _, row in rows], cpt.values.reshape(4, 2))


def test_pandas_gets_labels_on_both_axes(cpt):
    frame = cpt.to_pandas()
    assert frame.index.names == ["rain", "sprinkler"]
    assert frame.columns.name == "wet_grass"
    assert frame.loc[("yes", "off"), "yes"] == 0.9
    assert jn.examples.load("asia").cpt("asia").to_pandas().loc[0, "yes"] == 0.01


def test_a_table_shows_itself(cpt):
    assert repr(cpt) == (
        "P(wet_grass | rain, sprinkler)\n"
        "rain  sprinkler    no   yes\n"
        "---------------------------\n"
        "no    off         1.0   0.0\n"
        "no    on          0.1   0.9\n"
        "yes   off         0.1   0.9\n"
        "yes   on         0.01  0.99"
    )
    assert repr(jn.examples.load("asia").cpt("smoke")) == "P(smoke)\n no  yes\n--------\n0.5  0.5"


def test_a_long_table_shows_its_beginning():
    tables = {"a": np.full(50, 0.02), "b": np.full((50, 3), 1 / 3)}
    net = jn.BayesianNetwork.from_tables("a -> b", tables)
    lines = repr(net.cpt("b")).splitlines()
    assert len(lines) == 3 + 40 + 1
    assert lines[3] == "0   0.3333  0.3333  0.3333"
    assert lines[-1] == "... and 10 rows more"


@pytest.mark.parametrize(
    ("p", "shown"),
    [(0.0, "0.0"), (1.0, "1.0"), (1 / 3, "0.3333"), (1e-7, "1e-07"), (5e-324, "4.941e-324")],
)
def test_probabilities_are_shown_without_noise(p, shown):
    net = jn.BayesianNetwork.from_tables("a", {"a": [p, 1 - p]})
    assert repr(net.cpt("a")).split()[4] == shown


@pytest.mark.parametrize("name", ["smok", "", 3, None, ("smoke",)])
def test_a_variable_that_is_not_there_is_refused(name):
    with pytest.raises(jn.JensenError, match="the network has no variable"):
        jn.examples.load("asia").cpt(name)
