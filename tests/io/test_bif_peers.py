"""BIF: pgmpy and pyAgrum read what is written here, and the other way round."""

import warnings

import numpy as np
import pytest
from naive.bif import network, read_both, shipped, table

from jensen.io import bif

PLAIN = network(
    [("A-1", "B.2"), ("B.2", "C_3"), ("A-1", "C_3"), ("d%", "C_3")],
    {
        "A-1": ["-1", "0", "01"],
        "B.2": ["x.y", "x-y", "x?", "x%"],
        "C_3": ["20_MG_L", "TRUE"],
        "d%": ["yes", "no"],
    },
    {"name": "careful-names", "author": "me"},
    {"C_3": {"position": "(1, 2)", "url": "http://a.b/c"}},
)
QUOTED = network(
    [("heavy smoker", "Lung/Cancer"), ("é", "Lung/Cancer"), ("é", "heavy smoker")],
    {
        "heavy smoker": ["not at all", "< 5 a day", ">= 5"],
        "Lung/Cancer": ["http://x.y", "table", "/* no */"],
        "é": ["ja", "日本"],
    },
)


def test_names_are_quoted_only_where_they_need_it():
    assert '"' not in bif.dumps(PLAIN)
    text = bif.dumps(QUOTED)
    assert 'probability ( "Lung/Cancer" | "heavy smoker", "é" ) {' in text
    assert '{ ja, "日本" };' in text


@pytest.fixture(scope="module")
def pgmpy():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy import readwrite
    return readwrite


@pytest.fixture(scope="module")
def pyagrum():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # else its import ends the process
        import pyagrum
    return pyagrum


@pytest.mark.slow
@pytest.mark.parametrize("name", ["asia", "insurance", "sachs", "child", "plain", "quoted"])
def test_pgmpy_reads_what_is_written(name, pgmpy):
    net = {"plain": PLAIN, "quoted": QUOTED}.get(name) or read_both(shipped()[name])
    model = pgmpy.BIFReader(string=bif.dumps(net)).get_model()
    assert sorted(model.nodes) == list(net.graph.nodes)
    for node in net.graph.nodes:
        cpd = model.get_cpds(node)
        assert tuple(cpd.variables[1:]) == net.graph.parents(node)
        assert tuple(cpd.state_names[node]) == net.states[node]
        np.testing.assert_array_equal(np.moveaxis(cpd.values, 0, -1), table(net, node))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["asia", "alarm", "hepar2", "water", "munin1", "plain"])
def test_pyagrum_reads_what_is_written_in_single_precision(name, pyagrum, tmp_path):
    net = PLAIN if name == "plain" else read_both(shipped()[name])
    (tmp_path / "net.bif").write_text(bif.dumps(net), "utf-8")
    model = pyagrum.loadBN(str(tmp_path / "net.bif"))
    assert sorted(model.names()) == list(net.graph.nodes)
    for node in net.graph.nodes:
        cpt = model.cpt(node)
        assert model.variable(node).labels() == net.states[node]
        order = [cpt.names[::-1].index(axis) for axis in (*net.graph.parents(node), node)]
        values = np.transpose(cpt.toarray(), order)
        np.testing.assert_allclose(values, table(net, node), rtol=0, atol=1e-6)


@pytest.mark.slow
def test_what_the_others_write_is_read(pgmpy, pyagrum, tmp_path):
    model = pgmpy.BIFReader(string=bif.dumps(PLAIN)).get_model()
    assert read_both(str(pgmpy.BIFWriter(model))).equals(PLAIN)
    (tmp_path / "net.bif").write_text(shipped()["alarm"], "utf-8")
    pyagrum.saveBN(pyagrum.loadBN(str(tmp_path / "net.bif")), str(tmp_path / "again.bif"))
    again = read_both((tmp_path / "again.bif").read_text("utf-8"))
    assert again.equals(read_both(shipped()["alarm"]), tolerance=1e-6)
