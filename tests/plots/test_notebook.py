"""What notebooks ask of our objects."""

import pytest

import jensen as jn
from jensen.plots import cpt_html, graph_svg, network_html, posterior_html, table_html


def test_graphs_draw_themselves():
    for graph in (
        jn.DAG("A -> B"),
        jn.CPDAG("A -- B"),
        jn.PDAG("A <-> B"),
        jn.UndirectedGraph("A"),
    ):
        assert graph._repr_svg_() == graph_svg(graph)


def test_a_graph_too_large_to_read_stays_text():
    assert jn.DAG(nodes=[f"x{k}" for k in range(401)])._repr_svg_() is None


def test_tables_and_networks_have_html():
    table = jn.Table({"a": [0, 1, None], "b": [0.5, 1.5, 2.5]})
    net = jn.BayesianNetwork("a", prior=1.0).fit({"a": [0, 1, 1]})
    assert table._repr_html_() == table_html(table)
    assert net._repr_html_() == network_html(net)
    assert net.cpt("a")._repr_html_() == cpt_html(net.cpt("a"))
    assert net.posterior("a")._repr_html_() == posterior_html(net.posterior("a"))
    assert jn.BayesianNetwork("a -> b")._repr_html_() == jn.DAG("a -> b")._repr_svg_()


def test_a_network_shows_beliefs_and_marks_nodes():
    net = jn.examples.load("sprinkler")
    drawn = net.to_svg(beliefs={"rain": {"no": 0.25, "yes": 0.75}}, highlight=["rain"])
    assert "75%" in drawn
    assert drawn == graph_svg(
        net.graph, beliefs={"rain": {"no": 0.25, "yes": 0.75}}, highlight=["rain"]
    )
    with pytest.raises(jn.JensenError, match="the network has no variable 'hail'"):
        net.to_svg(beliefs={"hail": {"no": 1.0}})
    for belief in ({"maybe": 1.0}, {"yes": 0.5}, "yes", None):
        with pytest.raises(jn.JensenError, match=r"a belief about 'rain' gives each of its states"):
            net.to_svg(beliefs={"rain": belief})


def test_a_network_draws_its_own_beliefs():
    net = jn.examples.load("sprinkler")
    assert net.to_svg(beliefs=True) == graph_svg(net.graph, beliefs=net.marginals())
    given, do = {"wet_grass": "yes"}, {"sprinkler": "on"}
    known = {"wet_grass": {"no": 0.0, "yes": 1.0}, "sprinkler": {"off": 0.0, "on": 1.0}}
    drawn = net.to_svg(beliefs=True, given=given, do=do)
    told = {"wet_grass": "given", "sprinkler": "set"}
    assert drawn == graph_svg(net.graph, beliefs={**net.marginals(given, do), **known}, known=told)
    assert net.to_svg(beliefs=False) == net.to_svg() == graph_svg(net.graph)
    likely = {"rain": [1.0, 3.0]}
    drawn = net.to_svg(beliefs=True, given=likely)
    assert drawn == graph_svg(
        net.graph, beliefs=net.marginals(likely), known={"rain": "given, softly"}
    )


def test_beliefs_need_tables_and_evidence_needs_beliefs():
    net = jn.examples.load("sprinkler")
    for beliefs in (None, False, net.marginals()):
        with pytest.raises(jn.JensenError, match="add beliefs=True"):
            net.to_svg(beliefs=beliefs, given={"rain": "yes"})
    with pytest.raises(jn.NotFittedError, match=r"call fit\(table\) first"):
        jn.BayesianNetwork("a -> b").to_svg(beliefs=True)
    with pytest.raises(jn.JensenError, match="has no state 'maybe'"):
        net.to_svg(beliefs=True, given={"rain": "maybe"})


def test_answers_of_queries_are_beliefs():
    net = jn.examples.load("sprinkler")
    found = net.query("rain")
    for draw in (net.to_svg, lambda beliefs: graph_svg(net.graph, beliefs=beliefs)):
        assert draw(beliefs={"rain": found}) == draw(beliefs={"rain": dict(found)})
    with pytest.raises(jn.JensenError, match=r"ask for its marginal\('rain'\)"):
        graph_svg(net.graph, beliefs={"rain": net.query(["rain", "sprinkler"])})


def test_figures_are_at_hand_as_plot():
    net = jn.BayesianNetwork("a", prior=1.0).fit({"a": [0, 1, 1]})
    assert jn.plot.trace(net).get_ylabel()
    assert jn.plot.cpt(net, "a").get_xlabel()
