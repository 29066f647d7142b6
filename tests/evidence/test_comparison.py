"""Models side by side: tables, probabilities, refusals, pictures."""

import math

import pytest
from evidence.cases import LATENT, latent_class

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
