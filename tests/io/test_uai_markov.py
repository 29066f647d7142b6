"""Markov networks in UAI files, and evidence in files of its own."""

import gzip

import numpy as np
import pytest
from naive import markov

import jensen as jn
from jensen.io import uai

# The example of the format's own description: three variables, tables of the last two pairs.
PREAMBLE = "MARKOV\n3\n2 2 3\n2\n2 0 1\n2 1 2\n"
TABLES = "\n4\n 4.000 2.400\n 1.000 0.000\n\n6\n 2.2500 3.2500 3.7500\n 0.0000 0.0000 10.0000\n"


def test_the_last_variable_runs_fastest():
    net = uai.loads(PREAMBLE + TABLES, "x.uai")
    first, second = (np.array([[4.0, 2.4], [1.0, 0.0]]), np.array([[2.25, 3.25, 3.75], [0, 0, 10]]))
    joint = first[:, :, None] * second[None]
    assert net.log_z() == pytest.approx(np.log(joint.sum()))
    np.testing.assert_allclose(net.query(["0", "2"]).values, joint.sum(1) / joint.sum())
    assert net.graph_ == jn.UndirectedGraph("0 - 1 - 2")


def test_written_and_read_again(tmp_path):
    net = uai.loads(PREAMBLE + TABLES, "x.uai")
    net.save(tmp_path / "x.uai")
    again = jn.load(tmp_path / "x.uai")
    assert again.equals(net, tolerance=1e-15)
    net.save(tmp_path / "x.json.gz")
    assert jn.load(tmp_path / "x.json.gz").equals(net)


def test_names_are_told_as_lost(tmp_path):
    net = jn.MarkovNetwork.from_tables({("x10", "x2"): [[1, 2], [3, 4]]})
    with pytest.warns(jn.exceptions.FormatWarning, match="names of variables"):
        net.save(tmp_path / "x.uai")
    again = jn.load(tmp_path / "x.uai")
    np.testing.assert_allclose(again.query(["0", "1"]).values, net.query(["x2", "x10"]).values)
    with pytest.raises(jn.FileError, match="kept in JSON or UAI"):
        net.save(tmp_path / "x.bif")


def test_potentials_too_large_for_numbers_are_scaled(tmp_path):
    net = jn.MarkovNetwork.from_tables({("0", "1"): [[900.0, 0.0], [0.0, 899.0]]}, logs=True)
    net.save(tmp_path / "x.uai")
    again = jn.load(tmp_path / "x.uai")
    assert again.query("0")["0"] == pytest.approx(net.query("0")["0"])


def test_tables_of_the_same_variables_are_multiplied():
    text = "MARKOV 2 2 2  2  2 0 1  2 1 0   4 1 2 3 4   4 1 2 3 4"
    net = uai.loads(text, "x.uai")
    assert net.log_z() == pytest.approx(np.log(1 + 2 * 3 + 3 * 2 + 16))
    assert len(net.factors) == 1


def test_variables_without_a_table_are_uniform():
    net = uai.loads("MARKOV 2 2 3  1  1 0  2 1 3", "x.uai")
    assert net.query("1").values.tolist() == pytest.approx([1 / 3] * 3)
    assert np.exp(markov.log_joint(net.network_)).sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("2 0 1", "2 0 0", "a table names a variable twice"),
        ("4.000", "-4", "line 9, column 2: a potential must not be negative"),
        ("10.0000", "x", "expected a number, but found 'x'"),
        ("10.0000", "", "1 number more of the table"),
        ("10.0000", "10 1", "expected the end of the file"),
        ("\n4\n", "\n5\n", "needs 4 numbers, but is said to have 5"),
    ],
)
def test_faults_are_refused_with_their_place(old, new, message):
    with pytest.raises(jn.FileError, match=message):
        uai.loads((PREAMBLE + TABLES).replace(old, new, 1), "x.uai")


def test_evidence(tmp_path):
    assert uai.parse_evidence("0", "e") == [{}]
    assert uai.parse_evidence("2 0 1 2 0", "e") == [{"0": "1", "2": "0"}]
    assert uai.parse_evidence("2\n1 0 1\n2 0 0 2 1\n", "e") == [{"0": "1"}, {"0": "0", "2": "1"}]
    file = tmp_path / "x.uai.evid.gz"
    file.write_bytes(gzip.compress(b"1\n1 2 2\n"))
    net = uai.loads(PREAMBLE + TABLES, "x.uai")
    found = net.query("0", given=jn.read_evidence(file))
    assert found[0]["0"] == pytest.approx(net.query("0", given={"2": "2"})["0"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected how many variables are known"),
        ("x", "but found 'x'"),
        ("2 0 1 1", "expected the number of a state, but found the end"),
        ("2 0 1 0 0", "the variable 0 is known twice"),
        ("1 1 0 1 7", "expected the end of the file"),
    ],
)
def test_evidence_that_is_refused(text, message):
    with pytest.raises(jn.FileError, match=message):
        uai.parse_evidence(text, "x.evid")
