import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import jensen as jn
from jensen.exceptions import JensenError
from jensen.plots import cpt, trace

figure = pytest.importorskip("matplotlib.figure")


@pytest.mark.slow
def test_the_trace_is_drawn_as_it_is():
    ax = trace(SimpleNamespace(trace_=np.array([-9.0, -5.0, -4.5]), converged_=False))
    (line,) = ax.lines
    np.testing.assert_array_equal(line.get_xdata(), [0, 1, 2])
    np.testing.assert_array_equal(line.get_ydata(), [-9.0, -5.0, -4.5])
    assert ax.get_xlabel() == "sweep"
    assert ax.get_title() == "not converged"


def test_every_chain_is_a_line():
    values = np.array([[-9.0, -5.0, -4.5], [-8.0, -6.0, -4.0]])
    ax = trace(SimpleNamespace(trace_=values, converged_=False, r_hat_=1.25))
    for line, chain in zip(ax.lines, values, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), [0, 1, 2])
        np.testing.assert_array_equal(line.get_ydata(), chain)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("sample", "log joint")
    assert ax.get_title() == "R-hat 1.250"


def test_a_fitted_network_has_a_trace():
    net = jn.BayesianNetwork("x").fit({"x": ["no", "yes"]})
    assert trace(net).lines[0].get_ydata()[-1] == net.free_energy_


def test_no_trace_is_refused():
    with pytest.raises(JensenError, match=r"this BayesianNetwork has no trace_ to draw: call fit"):
        trace(jn.BayesianNetwork("x"))


def test_a_cpt_is_a_heat_map_with_labels_and_numbers():
    net = jn.examples.load("sprinkler")
    ax = cpt(net, "wet_grass")
    np.testing.assert_array_equal(
        ax.images[0].get_array(), net.cpt("wet_grass").values.reshape(4, 2)
    )
    assert [t.get_text() for t in ax.get_yticklabels()] == [
        "no, off",
        "no, on",
        "yes, off",
        "yes, on",
    ]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["no", "yes"]
    assert [t.get_text() for t in ax.texts][:4] == ["1.0", "0.0", "0.1", "0.9"]
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("rain, sprinkler", "wet_grass")


def test_a_large_cpt_has_a_scale_instead_of_numbers():
    names = [f"p{k}" for k in range(7)]
    tables = {name: [0.5, 0.5] for name in names} | {"y": np.full((2,) * 8, 0.5)}
    net = jn.BayesianNetwork.from_tables([(name, "y") for name in names], tables)
    ax = cpt(net.network_, "y")
    assert not ax.texts
    assert len(ax.figure.axes) == 2
    assert len(ax.get_yticks()) <= 60


def test_given_axes_are_used():
    ax = figure.Figure().subplots()
    assert trace(SimpleNamespace(trace_=[1.0]), ax=ax) is ax
    assert cpt(jn.examples.load("asia"), "dysp", ax) is ax


@pytest.mark.slow
def test_pyplot_is_not_touched(tmp_path):
    code = (
        "import sys, jensen as jn; from jensen import plots; "
        f"plots.cpt(jn.examples.load('asia'), 'dysp').figure.savefig({str(tmp_path / 'a.png')!r}); "
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("matplotlib")]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(JensenError, match=r"pip install 'jensen\[plot\]'"):
        trace(SimpleNamespace(trace_=[1.0]))
    with pytest.raises(JensenError, match=r"needs matplotlib, which is not installed"):
        cpt(jn.examples.load("asia"), "dysp")
