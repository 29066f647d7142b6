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


# --- hidden states ---

STEPS = np.array([0.1, 0.4, -0.3, 5.2, 4.8, 5.5, 0.2, -0.1, 5.1, 4.9])


def chain_of_numbers():
    return jn.HiddenMarkovModel.from_parameters(
        initial=[0.5, 0.5],
        transition=[[0.7, 0.3], [0.3, 0.7]],
        means=[[0.0], [5.0]],
        covariances=[[1.0], [1.0]],
        kind="gaussian",
        covariance="diagonal",
    )


def test_a_forecast_has_its_band_and_what_was_seen():
    model = chain_of_numbers()
    ahead = model.forecast(STEPS, 4, interval=0.9, draws=3, random_state=0)
    ax = jn.plot.forecast(ahead, STEPS[-3:])
    *draws, expected, seen = ax.lines
    assert len(draws) == 3
    np.testing.assert_array_equal(expected.get_xdata(), [1, 2, 3, 4])
    np.testing.assert_array_equal(expected.get_ydata(), ahead.expected[0, :, 0])
    np.testing.assert_array_equal(seen.get_xdata(), [-2, -1, 0])
    band = ax.collections[0].get_paths()[0].vertices
    assert band[:, 1].max() == ahead.high.max()
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["90%", "expected", "seen"]


def test_a_forecast_of_labels_is_of_bars_that_sum_to_one():
    model = jn.HiddenMarkovModel(2, random_state=0).fit([list("aabbacbca")])
    ax = jn.plot.forecast(model.forecast([list("aab")], 3))
    assert sum(bar.get_height() for bar in ax.patches) == pytest.approx(3.0)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["a", "b", "c"]


def test_a_path_of_states_is_behind_its_sequence():
    model = chain_of_numbers()
    ax = jn.plot.states(model, [STEPS[:4], STEPS[4:]], sequence=1)
    assert model.decode(STEPS[4:]).tolist() == [1, 1, 0, 0, 1, 1]
    spans = [(p.get_x(), p.get_x() + p.get_width()) for p in ax.patches]
    assert spans == [(0.5, 2.5), (2.5, 4.5), (4.5, 6.5)]
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), STEPS[4:])
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["state 0", "state 1"]


def test_what_was_seen_is_one_column_of_the_rows():
    rows = jn.examples.faithful()
    model = jn.HiddenMarkovModel(2, random_state=0).fit(rows)
    ahead, last = model.forecast(rows, 2, interval=0.5), rows.tail(5)
    for given in (last, last.to_pandas(), last.to_pandas().to_numpy(), last["waiting"]):
        ax = jn.plot.forecast(ahead, given, column="waiting")
        np.testing.assert_array_equal(ax.lines[-1].get_ydata(), last.to_pandas()["waiting"])


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "spherical"])
def test_clusters_are_ellipses_that_hold_their_share(covariance):
    """Their points have the squared distance of which a Gaussian has 90 % below it."""
    rows = jn.examples.faithful()
    model = jn.GaussianMixture(2, covariance=covariance, random_state=0).fit(rows)
    ax = jn.plot.clusters(model, rows, columns=("waiting", "eruptions"))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("waiting", "eruptions")
    assert len(ax.collections[0].get_offsets()) == 272
    for k, line in enumerate(ax.lines):
        found = model.covariances_ if covariance == "tied" else model.covariances_[k]
        spread = np.eye(2) * found if np.ndim(found) < 2 else found
        away = np.stack(line.get_data()[::-1], 1) - model.means_[k]
        distance = np.einsum("ni,ij,nj->n", away, np.linalg.inv(spread), away)
        np.testing.assert_allclose(distance, -2.0 * np.log(0.1))


def test_components_that_have_died_are_not_drawn():
    rows = jn.examples.faithful()
    prior = {"concentration": 0.001}
    model = jn.GaussianMixture(5, prior=prior, n_init=3, random_state=0).fit(rows)
    assert len(jn.plot.clusters(model).lines) == model.n_components_ == 2


@pytest.fixture(scope="module")
def analyzers():
    """A line and a plane of three columns, by three components of two factors; and the rows."""
    rng = np.random.default_rng(0)
    line = rng.normal(size=(40, 1)) * [1.0, 2.0, -1.0] + [9.0, 0.0, 0.0]
    plane = rng.normal(size=(40, 2)) @ [[1.0, 0.0, 1.0], [0.0, 1.5, 0.0]]
    rows = np.concatenate([line, plane]) + 0.1 * rng.normal(size=(80, 3))
    found = jn.MixtureOfFactorAnalyzers(3, 2, prior={}, tol=1e-5, random_state=0).fit(rows)
    return found, rows


def test_analyzers_are_ellipses_with_their_live_loadings(analyzers):
    model, rows = analyzers
    ax = jn.plot.clusters(model, rows, columns=(0, 2))
    assert model.n_components_ == 2
    assert len(ax.lines) == 2 + model.dimensions_.sum()
    lines = iter(ax.lines)
    for k in range(2):
        spread = model.get_covariance()[k][np.ix_([0, 2], [0, 2])]
        away = np.stack(next(lines).get_data(), 1) - model.means_[k, [0, 2]]
        distance = np.einsum("ni,ij,nj->n", away, np.linalg.inv(spread), away)
        np.testing.assert_allclose(distance, -2.0 * np.log(0.1))
        for way in model.loadings_[k][:, : model.dimensions_[k]].T:
            ends = np.stack(next(lines).get_data(), 1)
            np.testing.assert_allclose(ends[1] - ends[0], 2.0 * way[[0, 2]])


def test_loadings_are_colours_of_columns_and_live_factors(analyzers):
    model, rows = analyzers
    flat = next(s for s in range(2) if model.dimensions_[s] == 2)
    ax = jn.plot.loadings(model, component=flat)
    np.testing.assert_array_equal(ax.images[0].get_array(), model.loadings_[flat])
    assert [x.get_text() for x in ax.get_yticklabels()] == ["x0", "x1", "x2"]
    one = jn.FactorAnalysis(2, prior={}).fit(rows[:40])
    assert jn.plot.loadings(one).images[0].get_array().shape == (3, one.n_factors_) == (3, 1)
    bits = jn.BinaryFactors(2, random_state=0).fit(rows)
    assert jn.plot.loadings(bits).images[0].get_array().shape == (3, 2)
    for wrong in (None, 3, -1):
        with pytest.raises(JensenError, match="of which component the loadings are drawn: comp"):
            jn.plot.loadings(model, component=wrong)
    with pytest.raises(JensenError, match="component=0: only mixtures have components"):
        jn.plot.loadings(one, component=0)
    noise = np.random.default_rng(1).normal(size=(50, 3))
    with pytest.raises(JensenError, match="there is nothing to draw: no factor is left"):
        jn.plot.loadings(jn.FactorAnalysis(1, prior={}).fit(noise))


@pytest.mark.parametrize(
    ("draw", "text"),
    [
        (lambda m: jn.plot.clusters(m), r"over two columns of Gaussians, .* has one$"),
        (lambda m: jn.plot.states(m, STEPS, sequence=1), r"no sequence 1: there are 1, from 0$"),
        (lambda m: jn.plot.states(m, STEPS, column="y"), r"no column 'y'; the only column is x0$"),
        (lambda m: jn.plot.forecast(m.forecast(STEPS), column=2), r"^there is no column 2"),
        (lambda m: jn.plot.forecast(m.forecast(STEPS), sequence=2), r"^there is no sequence 2"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, text):
    with pytest.raises(JensenError, match=text):
        draw(chain_of_numbers())
