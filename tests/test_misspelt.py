"""A misspelt name is answered with the names that there are, the nearest first, at every door."""

import numpy as np
import pytest

import jensen as jn
from jensen.exceptions import JensenError
from jensen.support.text import offer

NET = jn.examples.load("asia")
TABLE = NET.sample(400, random_state=0)
NUMBERS = jn.BayesianNetwork.from_regressions(
    "smoke -> tar", {"smoke": {}, "tar": {"coefficients": {"smoke": 1.0}}}
)
POSTERIOR = jn.structure_posterior(TABLE.select(["smoke", "lung", "xray"]), "exact")
MEANT = r"did you mean 'smoke'\? The (variables|columns|nodes) are: smoke, "


@pytest.mark.parametrize(
    "ask",
    [
        lambda: NET.query("smok"),
        lambda: NET.query(["lung", "smok"]),
        lambda: NET.query("lung", given={"Smoke": "yes"}),
        lambda: NET.query("lung", given=[{"smoke": "yes"}, {"smok": "yes"}]),
        lambda: NET.query("lung", do={"SMOKE": "yes"}),
        lambda: NET.marginals({"smok": "yes"}),
        lambda: NET.marginals()["smok"],
        lambda: NET.probability({"smok": "yes"}),
        lambda: NET.most_probable({"smok": "yes"}),
        lambda: NET.most_probable()["smok"],
        lambda: NET.sample(3, given={"smok": "yes"}),
        lambda: NET.entropy("smok"),
        lambda: NET.mutual_information("smok", "lung"),
        lambda: NET.cpt("smok"),
        lambda: NET.with_cpt("smok", [0.5, 0.5]),
        lambda: NET.predict(TABLE, "smok"),
        lambda: NET.predict_proba(TABLE, "smok"),
        lambda: NET.graph.parents("smok"),
        lambda: NET.query(["smoke", "lung"]).marginal("smok"),
        lambda: NUMBERS.query("smok"),
        lambda: NUMBERS.query("tar", given={"smok": 1.0}),
        lambda: NUMBERS.marginals()["smok"],
        lambda: NUMBERS.regression("smok"),
        lambda: POSTERIOR.edge_probability("smok", "lung"),
        lambda: POSTERIOR.path_probability("lung", "smok"),
        lambda: POSTERIOR.markov_blanket("smok"),
        lambda: POSTERIOR.markov_blanket("lung")["smok"],
        lambda: POSTERIOR.query("smok"),
        lambda: POSTERIOR.query("lung", given={"smok": "yes"}),
        lambda: TABLE.column("smok"),
        lambda: jn.plot.graph_svg(NET.graph, known={"smok": "given"}),
        lambda: NET.to_svg(highlight=["smok"]),
        lambda: NET.to_svg(beliefs=True, given={"smok": "yes"}),
        lambda: jn.BayesianNetwork("smoke -> lung").fit(TABLE).standard_errors()["smok"],
        lambda: jn.BayesianNetworkClassifier(target="smok").fit(TABLE),
        lambda: jn.mutual_information_matrix(TABLE)["smok", "lung"],
        lambda: jn.learn_structure(TABLE, required=[("smok", "lung")]),
        lambda: jn.learn_structure(TABLE, tiers=[["smok"], ["lung"]]),
        lambda: jn.learn_structure(TABLE, start="smok -> lung"),
        lambda: jn.structure_posterior(TABLE, "exact", prior={("smok", "lung"): 0.9}),
        lambda: jn.structure_posterior(TABLE, candidates={"smok": ["lung"]}),
        lambda: jn.BayesianNetwork.from_tables("smoke -> x", {"smoke": 1, "x": 1, "smok": 1}),
    ],
)
def test_the_nearest_name_is_offered(ask):
    with pytest.raises(JensenError, match=MEANT):
        ask()


def test_a_mapping_of_marginals_stays_a_mapping():
    for found in (NET.marginals(), NUMBERS.marginals(), POSTERIOR.markov_blanket("lung")):
        assert "smok" not in found
        assert found.get("smok") is None
        with pytest.raises(KeyError) as error:
            found["smok"]
        assert not str(error.value).startswith('"')


def test_of_many_names_a_few_are_listed():
    names = [f"gene{k}" for k in range(2000)]
    text = offer("gen1234", names)
    assert text.startswith("did you mean 'gene1234'? The variables are: gene1234, ")
    assert text.endswith(", ... (2,000 in all)")
    assert len(text) < 200


def test_names_that_are_not_alike_and_none_at_all():
    assert offer("q", ["rain", "wet"]) == "the variables are: rain, wet"
    assert offer(3, ["rain"], "column") == "the only column is rain"
    assert offer("q", [], "node") == "there are no nodes"
    assert offer("xray", ["XRAY", "b"]).startswith("did you mean 'XRAY'?")


def test_states_are_still_listed():
    with pytest.raises(JensenError, match="'smoke' has no state 'perhaps'; its states are"):
        NET.query("lung", given={"smoke": "perhaps"})
    assert np.isfinite(NET.query("lung", given={"smoke": "yes"}).values).all()
