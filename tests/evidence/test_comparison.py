"""Models side by side: tables, probabilities, refusals, pictures."""

import math

import numpy as np
import pytest
from evidence.cases import LATENT, NORMAL_GAMMA, POINTS, SEQUENCES, chain, latent_class

import jensen as jn

MODELS = {"one": latent_class(1), "two": latent_class(2), "three": latent_class(3)}


def test_probabilities_are_by_bayes_rule():
    found = jn.compare(MODELS, LATENT, ["exact", "bic"])
    values = {name: own["exact"].value for name, own in found.evidences.items()}
    total = sum(map(math.exp, values.values()))
    expected = {name: math.exp(value) / total for name, value in values.items()}
    assert found.probabilities() == pytest.approx(expected)
    assert found.best() == "three"
    assert found.best("bic") == max(found.probabilities("bic"), key=found.probabilities("bic").get)
    shown = repr(found)
    assert "P by exact" in shown
    assert "bic: asymptotic" in shown
    frame = found.to_pandas()
    assert list(frame["method"]) == ["exact", "bic"] * 3


@pytest.mark.parametrize("times", [0.5, 2.0])
def test_a_stronger_prior_is_the_one_with_larger_words(times):
    own = jn.LatentClass(2, prior={"concentration": times, "emission": times})
    expected = jn.log_evidence(own, LATENT, "exact").value
    found = jn.log_evidence(latent_class(2), LATENT, "exact", strength=times).value
    assert found == pytest.approx(expected, abs=1e-10)
    for covariance in ("diagonal", "full", "tied", "spherical"):
        scale = [[0.5]] if covariance in ("full", "tied") else 0.5
        words = {**NORMAL_GAMMA, "scale": scale}
        larger = {
            "concentration": times, "mean": [0.0], "mean_strength": 0.1 * times,
            "degrees_of_freedom": 4.0 * times, "scale": np.asarray(scale) / times,
        }  # fmt: skip
        models = (jn.GaussianMixture(2, covariance=covariance, prior=p) for p in (words, larger))
        x = np.array(POINTS)[:8, None]
        found, expected = (
            jn.log_evidence(model, x, "exact", strength=own).value
            for model, own in zip(models, (times, 1.0), strict=True)
        )
        assert found == pytest.approx(expected, abs=1e-10)
    graph = jn.BayesianNetwork("a -> b", prior=times)
    usual = jn.log_evidence(jn.BayesianNetwork("a -> b", prior=1.0), LATENT, strength=times)
    assert usual.value == pytest.approx(jn.log_evidence(graph, LATENT).value, abs=1e-10)


def test_the_ranking_under_other_priors_is_told():
    found = jn.compare(MODELS, LATENT, "exact", held_out=0)
    for times in (0.5, 2.0):
        for name, model in MODELS.items():
            value = jn.log_evidence(model, LATENT, "exact", strength=times).value
            assert found.strengths[times][name] == value
        assert sum(found.probabilities(strength=times).values()) == pytest.approx(1.0)
    assert ("the prior's" in repr(found)) == any(
        max(own, key=own.get) != found.best() for own in found.strengths.values()
    )
    with pytest.raises(jn.JensenError, match="not compared by 'exact' under priors 3 times"):
        found.probabilities(strength=3.0)
    with pytest.raises(jn.JensenError, match="strength must be a finite number above 0"):
        jn.log_evidence(MODELS["one"], LATENT, strength=0.0)


def test_rows_that_are_left_out_are_predicted_by_the_others():
    """One class of binary columns predicts by Laplace's rule of succession."""
    found = jn.compare({"one": latent_class(1)}, LATENT, sensitivity=False).held_out["one"]
    rows = np.array([[int(x) for x in column] for column in LATENT.values()]).T
    total = 0.0
    for part in np.array_split(np.random.default_rng(0).permutation(12), 5):
        others = np.delete(rows, part, axis=0)
        share = (others.sum(0) + 1.0) / (len(others) + 2.0)
        total += np.where(rows[part] == 1, np.log(share), np.log1p(-share)).sum()
    assert found.log_predictive == pytest.approx(total / 12.0)
    assert found.bits == pytest.approx(-total / 12.0 / np.log(2.0))
    assert f"{found.bits:.4f}" in repr(jn.compare({"one": latent_class(1)}, LATENT))


def test_sequences_are_left_out_as_wholes():
    sequences = SEQUENCES * 3
    found = jn.compare({"two": chain(2)}, sequences, sensitivity=False, held_out=3)
    assert np.isfinite(found.held_out["two"].bits)
    flat = np.concatenate(sequences)[:, None]
    lengths = [len(one) for one in sequences]
    told = jn.compare({"two": chain(2)}, flat, sensitivity=False, lengths=lengths)
    assert "held out: rows are cut here without knowing what lengths says" in repr(told)
    few = jn.compare({"two": chain(2)}, SEQUENCES, sensitivity=False)
    assert "2 rows (or sequences) cannot be cut into 5 parts" in repr(few)


def test_pareto_k_stands_beside_bounds():
    found = jn.compare({"two": MODELS["two"]}, LATENT, "vb")
    assert "k of vb" in repr(found)
    assert f"{found.evidences['two']['vb']['Pareto k']:.2f}" in repr(found)


def test_what_is_refused_is_told_below():
    x = [[0.1], [0.9], [1.3], [2.2], [4.1], [5.0]] * 8
    models = {
        str(k): jn.GaussianMixture(k, covariance="diagonal", prior={}, random_state=0)
        for k in (1, 2)
    }
    found = jn.compare(models, x, ["exact", "cheeseman-stutz"])
    assert ("2", "exact") in found.refusals or "exact" in found.evidences["2"]
    refused = jn.compare({"1": models["1"], "flat": jn.GaussianMixture(2)}, x, ["exact"])
    assert "flat, exact: the evidence integrates" in repr(refused)
    with pytest.raises(jn.JensenError, match="gave no evidence of 'flat'"):
        refused.probabilities()


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(jn.JensenError, match="must be a dict"):
        jn.compare([latent_class(1)], LATENT)
    with pytest.raises(jn.JensenError, match="there is no method 'aic'"):
        jn.compare(MODELS, LATENT, ["aic"])
    with pytest.raises(jn.JensenError, match="no model has an evidence"):
        jn.compare({"flat": jn.LatentClass(2)}, LATENT)
    found = jn.compare({"one": MODELS["one"]}, LATENT, ["exact"])
    with pytest.raises(jn.JensenError, match="not compared by 'vb'"):
        found.best("vb")


def test_a_picture_has_a_line_for_every_method():
    pytest.importorskip("matplotlib")
    ax = jn.compare(MODELS, LATENT, ["exact", "bic"]).plot()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "exact (exact)",
        "bic (asymptotic)",
    ]
    found = jn.compare(MODELS, LATENT, ["exact", "bic"], held_out=0)
    bars = found.plot(of="probability")
    labels = ["exact", "bic", "exact, prior x 0.5", "exact, prior x 2"]
    assert [text.get_text() for text in bars.get_legend().get_texts()] == labels
    heights = [bar.get_height() for bar in bars.patches[:3]]
    assert heights == pytest.approx(list(found.probabilities().values()))
    with pytest.raises(jn.JensenError, match="of must be 'evidence' or 'probability'"):
        found.plot(of="rank")
