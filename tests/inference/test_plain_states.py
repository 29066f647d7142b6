"""What mixtures and chains learn is plain data by itself, and comes back without an estimator."""

import json

import numpy as np
import pytest
from models.emission_table import CASES, as_given, rows_of

import jensen as jn
from jensen.inference.chains import FittedChain, Steps
from jensen.inference.mixtures import FittedMixture
from jensen.models.emissions.registry import EMISSIONS


def by_way_of_json(fitted):
    return json.loads(json.dumps(fitted.to_dict()))


def chain_of(word, covariance="full", **choices):
    if EMISSIONS[word].has_spread:
        choices["covariance"] = covariance
    model = jn.HiddenMarkovModel(2, emission=word, tol=1e-5, random_state=0, **choices)
    return model.fit(as_given(word, rows_of(word)), lengths=[25, 15]).fitted_


def classes():
    table = jn.Table(
        {
            "fur": ["yes", "no", None, "no"] * 6,
            "legs": [4.0, 2.5, 4.1, None, 3.0, 2.1, 4.9, 3.6] * 3,
            "visits": [0, 3, 5, 4] * 6,
        },
        counts=["visits"],
    )
    return jn.LatentClass(2, prior={}, random_state=0).fit(table).fitted_


@pytest.mark.parametrize("prior", [None, {}])
@pytest.mark.parametrize(("word", "covariance"), CASES)
def test_chains_come_back_from_plain_data(word, covariance, prior):
    fitted = chain_of(word, covariance, prior=prior, end=prior is None)
    again = FittedChain.from_dict(by_way_of_json(fitted))
    assert again.to_dict() == fitted.to_dict()
    steps = Steps(rows_of(word, seed=1), np.array([30, 10]))
    np.testing.assert_array_equal(again.log_likelihood(steps), fitted.log_likelihood(steps))


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "spherical"])
def test_mixtures_come_back_from_plain_data(covariance):
    rows = rows_of("gaussian")
    model = jn.GaussianMixture(2, covariance=covariance, prior={}, random_state=0).fit(rows)
    again = FittedMixture.from_dict(by_way_of_json(model.fitted_))
    assert again.to_dict() == model.fitted_.to_dict()
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
    drawn = again.sample(50, np.random.default_rng(1)), model.sample(50, random_state=1)
    np.testing.assert_array_equal(drawn[0][0], drawn[1][0])


def test_columns_of_several_kinds_come_back_from_plain_data():
    fitted = classes()
    again = FittedMixture.from_dict(by_way_of_json(fitted))
    assert again.to_dict() == fitted.to_dict()
    assert [part["kind"] for part in fitted.to_dict()["emission"]] == [
        "categorical",
        "gaussian",
        "poisson",
    ]


def test_what_is_held_masked_and_sampled_comes_back():
    start = {
        "transition": [[0.5, 0.5], [0.0, 1.0]],
        "emission": [[0.6, 0.2, 0.2], [0.2, 0.2, 0.6]],
    }
    masks = {"transition": [[True, True], [False, True]]}
    fitted = chain_of("categorical", start=start, fixed=["transition"], masks=masks)
    plain = by_way_of_json(fitted)
    assert plain["held"] == {"transition": None}
    assert plain["masks"]["transition"] == [[1, 1], [0, 1]]
    assert FittedChain.from_dict(plain).to_dict() == fitted.to_dict()
    rows = rows_of("gaussian")
    chain = {"method": "gibbs", "n_samples": 3, "burn_in": 1, "n_chains": 2, "random_state": 0}
    sampled = jn.GaussianMixture(2, prior={}, **chain).fit(rows).fitted_
    again = FittedMixture.from_dict(by_way_of_json(sampled))
    assert again.to_dict() == sampled.to_dict()


def part(number, **members):
    def change(plain):
        plain["emission"][number].update(members)

    return change


def top(**members):
    return lambda plain: plain.update(members)


def without(name):
    return lambda plain: plain["emission"][1].pop(name)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (top(model="forest"), "model must be 'mixture' or 'chain', not 'forest'"),
        (top(model="chain"), "model must be 'chain' if there is an 'end', and only then"),
        (top(end=True), "model must be 'chain' if there is an 'end', and only then"),
        (top(n_states=0), "n_states must be 1 or more"),
        (top(emission=[]), "emission must have parts that hold every column once, by its number"),
        (top(more=1), "holds 'more', which this format does not know"),
        (part(0, columns=[1]), "emission must have parts that hold every column once"),
        (part(0, kind="zeta"), r"emission\[0\].kind must be one of categorical, .*, not 'zeta'"),
        (part(0, shift=[0.0]), r"emission\[0\].kind must be one that has 'shift'"),
        (part(0, labels=0), r"emission\[0\].labels must be 1 or more, of one column"),
        (part(0, name="legs"), "emission must have a name for each of its parts"),
        (part(1, covariance="round"), r"emission\[1\].covariance must be one of full, "),
        (without("shift"), r"emission\[1\].kind needs 'shift'"),
        (without("name"), "emission must have a name for each of its parts"),
    ],
)
def test_a_model_that_cannot_be_is_refused(change, text):
    plain = by_way_of_json(classes())
    change(plain)
    with pytest.raises(jn.FileError, match=f"^these data: (the document )?{text}"):
        FittedMixture.from_dict(plain)


def test_a_chain_is_no_mixture():
    with pytest.raises(jn.FileError, match="holds a FittedMixture, not a FittedChain"):
        FittedChain.from_dict(classes().to_dict())
