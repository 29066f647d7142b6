import re
from xml.etree import ElementTree

import numpy as np
import pytest

import jensen as jn
from jensen.exceptions import NotFittedError
from jensen.inference.distribution import Distribution, Distributions, Interval
from jensen.plots import cpt_html, network_html, posterior_html, table_html
from jensen.plots.html import distribution_html, distributions_html

RAIN = jn.Variable("rain", "categorical", ("no", "yes"))
WET = jn.Variable("wet", "categorical", ("dry", "wet"))
BAD = "<b>&\"'"
SAFE = "&lt;b&gt;&amp;&quot;&#39;"


def cells(html):
    """The cells of the table, row by row; refuses what is not well formed."""
    root = ElementTree.fromstring(html.replace("<details open>", "<details>"))
    return [["".join(c.itertext()) for c in row] for row in root.iter("tr")]


def strange_network():
    return jn.BayesianNetwork.from_tables(
        jn.DAG([(BAD, "y")]),
        {BAD: [0.25, 0.75], "y": [[0.5, 0.5], [0.125, 0.875]]},
        states={BAD: [BAD, "ok"], "y": ["no", BAD]},
    )


def test_a_table_is_described_column_by_column():
    table = jn.Table(
        {"rain": ["no", "yes", None, "no"], "mm": [0.5, 2.0, 1.5, None], "n": [1, 30, 5, 6]},
        counts=["n"],
    )
    html = table_html(table)
    assert cells(html) == [
        ["column", "kind", "values", "missing", ""],
        ["rain", "categorical", "no, yes", "1 (25%)", "no: 2yes: 1"],
        ["mm", "continuous", "0.5 to 2", "1 (25%)", cells(html)[2][4]],
        ["n", "count", "1 to 30", "", cells(html)[3][4]],
    ]
    assert "4 rows, 3 columns" in html


def test_bars_of_counts_hold_equally_many_whole_numbers_and_sum_to_the_rows():
    html = table_html(jn.Table({"n": np.arange(100)}, counts=["n"]))
    bars = re.findall(r"<title>(.*?) to (.*?): (\d+)</title>", html)
    assert bars[0] == ("-0.5", "4.5", "5")
    assert [int(n) for _, _, n in bars] == [5] * 20


def test_weights_count_in_the_bars():
    table = jn.Table({"x": ["a", "b"], "y": [1.5, 2.5]}, weights=[3.0, 0.5])
    html = table_html(table)
    assert "a: 3b: 0.5" in cells(html)[1][4]
    assert "total weight 3.5" in html


@pytest.mark.parametrize(
    "data",
    [{"x": []}, {"x": [None, None], "y": [float("nan")] * 2}, {"x": [float("inf"), 1.5]}, {}],
)
def test_columns_with_nothing_to_draw(data):
    assert table_html(jn.Table(data))


def test_many_columns_and_many_states_are_shortened_and_say_so():
    wide = jn.Table({f"c{k:03d}": ["a", "b"] for k in range(120)})
    assert "… and 20 columns more" in table_html(wide)
    long = jn.Table({"x": [f"s{k:02d}" for k in range(40)]})
    assert "s05, … (40)" in table_html(long)


def test_a_cpt_has_a_row_per_configuration_and_shaded_cells():
    html = cpt_html(jn.examples.load("sprinkler").cpt("wet_grass"))
    assert cells(html) == [
        ["rain", "sprinkler", "no", "yes"],
        ["no", "off", "1.0", "0.0"],
        ["on", "0.1", "0.9"],
        ["yes", "off", "0.1", "0.9"],
        ["on", "0.01", "0.99"],
    ]
    assert html.count('rowspan="2"') == 2
    shades = [float(a) for a in re.findall(r"background:rgba\(76,127,208,([\d.]+)\)", html)]
    assert shades == pytest.approx([0.6, 0.0, 0.06, 0.54, 0.06, 0.54, 0.01, 0.59], abs=0.01)


def test_a_cpt_without_parents_and_a_long_one():
    assert cells(cpt_html(jn.examples.load("asia").cpt("asia"))) == [
        ["no", "yes"],
        ["0.99", "0.01"],
    ]
    names = [f"p{k}" for k in range(7)]
    tables = {name: [0.5, 0.5] for name in names} | {"y": np.full((2,) * 8, 0.5)}
    net = jn.BayesianNetwork.from_tables([(name, "y") for name in names], tables)
    html = cpt_html(net.cpt("y"))
    assert "… and 68 rows more" in html
    assert len(cells(html)) == 61
    spans = [int(n) for n in re.findall(r'rowspan="(\d+)"', html)]
    assert sum(n for n in spans if n == 60) == 60  # p0 = 0 covers all that is shown


def test_a_posterior_shows_means_and_intervals():
    net = jn.BayesianNetwork("x -> y", prior=1.0).fit({"x": [0, 1, 1], "y": [0, 1, 0]})
    posterior = net.posterior("y")
    rows = cells(posterior_html(posterior))
    assert rows[0] == ["x", "state", "mean", "90 % interval", "", "concentration"]
    assert [row[-4] for row in rows[1:]] == ["0.667", "0.333", "0.5", "0.5"]
    low, high = posterior.interval(0.9)
    assert rows[1][3] == f"{low[0, 0]:.3g} to {high[0, 0]:.3g}"
    assert len(rows) == 5


def test_a_distribution_has_a_bar_per_state():
    d = Distribution((RAIN,), np.array([0.75, 0.25]), "wet=yes")
    html = distribution_html(d)
    assert cells(html) == [["rain", "probability", ""], ["no", "0.75", ""], ["yes", "0.25", ""]]
    assert "P(rain | wet=yes)" in html
    bars = re.findall(r'<rect width="([\d.]+)" fill="rgb\(76,127,208\)"', html)
    assert [float(width) for width in bars] == [72, 24]  # of 96
    assert d._repr_html_() == html


def test_a_distribution_of_several_variables_merges_labels():
    html = distribution_html(Distribution((RAIN, WET), np.array([[0.5, 0.125], [0.125, 0.25]])))
    assert cells(html) == [
        ["rain", "wet", "probability", ""],
        ["no", "dry", "0.5", ""],
        ["wet", "0.125", ""],
        ["yes", "dry", "0.125", ""],
        ["wet", "0.25", ""],
    ]
    assert html.count('rowspan="2"') == 2


def test_a_distribution_with_an_interval_shows_it():
    interval = Interval(0.95, np.array([0.5, 0.125]), np.array([0.875, 0.5]))
    html = distribution_html(Distribution((RAIN,), np.array([0.75, 0.25]), "", interval))
    assert cells(html) == [
        ["rain", "probability", "95% interval", ""],
        ["no", "0.75", "0.5 to 0.875", ""],
        ["yes", "0.25", "0.125 to 0.5", ""],
    ]
    assert html.count('opacity="0.45"') == 2


def test_a_long_distribution_is_shortened_and_an_undefined_one_has_no_bars():
    v = jn.Variable("v", "categorical", tuple(map(str, range(70))))
    html = distribution_html(Distribution((v,), np.full(70, 1 / 70)))
    assert "… and 10 rows more" in html
    assert len(cells(html)) == 61
    undefined = distribution_html(Distribution((RAIN,), np.full(2, np.nan)))
    assert cells(undefined)[1] == ["no", "nan", ""]
    assert "<svg" not in undefined


def test_rows_of_evidence_are_shaded_cells():
    d = Distributions((RAIN,), np.array([[0.75, 0.25], [1.0, 0.0]]))
    html = distributions_html(d)
    assert cells(html) == [["row", "no", "yes"], ["0", "0.75", "0.25"], ["1", "1.0", "0.0"]]
    assert "P(rain) for 2 rows of evidence" in html
    shades = [float(a) for a in re.findall(r"background:rgba\(76,127,208,([\d.]+)\)", html)]
    assert shades == pytest.approx([0.45, 0.15, 0.6, 0.0])
    assert d._repr_html_() == html
    joint = distributions_html(Distributions((RAIN, WET), np.full((1, 2, 2), 0.25)))
    assert cells(joint)[0] == ["row", "no, dry", "no, wet", "yes, dry", "yes, wet"]


def test_many_rows_of_evidence_or_none():
    v = jn.Variable("v", "categorical", tuple(map(str, range(120))))
    html = distributions_html(Distributions((v,), np.full((5000, 120), 1 / 120)))
    assert "… and 4,940 rows more" in html
    assert "… and 110 columns more" in html
    assert [len(row) for row in cells(html)] == [11] * 61
    assert len(cells(distributions_html(Distributions((RAIN,), np.empty((0, 2)))))) == 1


def test_a_network_is_drawn_and_listed():
    html = network_html(jn.examples.load("asia"))
    assert html.count("<svg") == 1
    assert "<details open>" in html
    assert cells(html)[3] == ["dysp", "no, yes", "bronc, either", "4"]
    assert network_html(jn.examples.load("asia").network_) == html
    with pytest.raises(NotFittedError):
        network_html(jn.BayesianNetwork("A -> B"))


def test_everything_is_escaped():
    net = strange_network()
    fitted = jn.BayesianNetwork(net.graph, prior=1.0).fit(net.sample(20, random_state=0))
    table = jn.Table({BAD: [BAD, "x"], "n": [0.5, 1.5]})
    bad = jn.Variable(BAD, "categorical", (BAD, "x"))
    pages = [
        table_html(table),
        cpt_html(net.cpt("y")),
        cpt_html(net.cpt(BAD)),
        posterior_html(fitted.posterior("y")),
        network_html(net),
        distribution_html(Distribution((bad, bad), np.full((2, 2), 0.25), BAD)),
        distribution_html(Distribution((RAIN,), np.full(2, 0.5), BAD)),
        distributions_html(Distributions((bad,), np.full((1, 2), 0.5))),
    ]
    for html in pages:
        assert SAFE in html
        assert "<b>" not in html
        cells(html)


def test_a_table_wider_than_the_page_is_cut_with_a_note():
    """In notebooks and as text: a row fits on the page, and the note tells what is left out."""
    states = [f"state number {k}" for k in range(30)]
    net = jn.BayesianNetwork.from_tables(
        "p -> x",
        {"p": [0.5, 0.5], "x": np.full((2, 30), 1 / 30)},
        states={"p": ["a", "b"], "x": states},
    )
    html = cpt_html(net.cpt("x"))
    shown = len(cells(html)[0]) - 1
    assert cells(html)[0] == ["p", *states[:shown]]
    assert 3 < shown < 30
    assert f"… and {30 - shown} columns more" in html
    lines = repr(net.cpt("x")).splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[-1] == "... and 24 columns more"
    narrow = jn.examples.load("sprinkler").cpt("wet_grass")
    assert "more" not in cpt_html(narrow) + repr(narrow)
