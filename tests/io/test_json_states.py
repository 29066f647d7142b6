"""Mixtures and hidden Markov models come back whole; a file that makes no sense is refused."""

import json
import random
import warnings
from copy import deepcopy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from naive.files import editable, without_checksum

import jensen as jn
from jensen import io
from jensen.inference.forecasts import Forecast

FILE = "some/model.json"
CHAIN = {"n_samples": 6, "burn_in": 3, "n_chains": 2}
METHODS = ["em", "vbem", "viterbi", "me", "gibbs", "stochastic-em"]
COVARIANCES = ["full", "diagonal", "spherical", "tied"]

RNG = np.random.default_rng(0)
ROWS = np.concatenate([RNG.normal(0.0, 1.0, (20, 2)), RNG.normal([6.0, 90.0], 2.0, (15, 2))])
ROWS[3, 0] = np.nan
FRAME = pd.DataFrame(ROWS, columns=["height", "wéight"])
TABLE = jn.Table(
    {
        "fur": ["yes", "no", None, "no"] * 6,
        "legs": [4.0, 2.5, 4.1, None, 3.0, 2.1, 4.9, 3.6] * 3,
        "visits": [0, 3, 5, 4] * 6,
    },
    counts=["visits"],
)
LABELS = [["a", "b", "a", "c"], ["b", "b", None]]


def choices_of(method, **others):
    chain = CHAIN if method in ("gibbs", "stochastic-em") else {}
    return {"method": method, "random_state": 1, **chain, **others}


def fitted(model, data, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.EstimateWarning)  # so few samples mix badly
        return model.fit(data, **how)


def mixture(method="vbem", covariance="full", data=ROWS, K=2, **others):
    return fitted(
        jn.GaussianMixture(K, covariance=covariance, **choices_of(method, **others)), data
    )


def classes(method="vbem"):
    return fitted(jn.LatentClass(2, **choices_of(method)), TABLE)


def chain(method="vbem", emission="categorical", data=LABELS, **others):
    model = jn.HiddenMarkovModel(2, emission=emission, **choices_of(method, **others))
    return fitted(model, data)


def reread(model):
    content = io.to_bytes(model, "m.json")
    again = io.from_bytes(content, FILE)
    assert type(again) is type(model)
    assert io.to_bytes(again, "m.json") == content
    return again


def same(one, two):
    """Equal, bit by bit, through lists and dictionaries."""
    if isinstance(one, dict):
        assert one.keys() == two.keys()
        for name in one:
            same(one[name], two[name])
    elif isinstance(one, list | tuple):
        for x, y in zip(one, two, strict=True):
            same(x, y)
    elif isinstance(one, Forecast):
        same(vars(one), vars(two))
    elif isinstance(one, pd.DataFrame):
        pd.testing.assert_frame_equal(one, two, check_exact=True)
    else:
        np.testing.assert_array_equal(one, two, strict=isinstance(one, np.ndarray))


def learned(model):
    """What `fit` leaves, but the model inside."""
    return {x: v for x, v in vars(model).items() if x.endswith("_") and x != "fitted_"}


def check_mixture(model, rows):
    again = reread(model)
    assert repr(again) == repr(model)
    same(learned(again), learned(model))
    for name in ("predict_proba", "log_likelihood", "predict"):
        same(getattr(again, name)(rows), getattr(model, name)(rows))
    same(again.sample(5, random_state=3), model.sample(5, random_state=3))
    assert again.bic(rows) == model.bic(rows)
    assert again.n_components_ == model.n_components_
    assert repr(again.summary()) == repr(model.summary())
    return again


def check_chain(model, data, lengths=None):
    again = reread(model)
    assert repr(again) == repr(model)
    same(learned(again), learned(model))
    for name in ("smooth", "log_likelihood", "predict"):
        same(getattr(again, name)(data, lengths), getattr(model, name)(data, lengths))
    if model.require_fitted().samples is None:
        same(again.decode_with_value(data, lengths), model.decode_with_value(data, lengths))
    same(again.forecast(data, 2, lengths=lengths), model.forecast(data, 2, lengths=lengths))
    same(again.sample(4, 2, random_state=1), model.sample(4, 2, random_state=1))
    assert repr(again.summary()) == repr(model.summary())
    return again


# --- what is saved comes back ---


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_every_mixture_comes_back(method, covariance):
    check_mixture(mixture(method, covariance), ROWS)


def test_names_of_columns_come_back():
    again = check_mixture(mixture(data=FRAME), FRAME)
    assert again.feature_names_in_.tolist() == ["height", "wéight"]
    with pytest.raises(ValueError, match="feature names"):
        again.predict(FRAME[["wéight", "height"]])


@pytest.mark.parametrize("method", METHODS)
def test_every_table_of_classes_comes_back(method):
    again = check_mixture(classes(method), TABLE)
    assert [v.name for v in again.variables_] == ["fur", "legs", "visits"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("emission", ["gaussian", "poisson", "bernoulli"])
def test_every_chain_of_numbers_comes_back(method, emission):
    counts = np.abs(ROWS).round()
    data = {"gaussian": ROWS, "poisson": counts, "bernoulli": np.minimum(counts % 3, 1.0)}[emission]
    model = chain(method, emission, data, prior={})
    check_chain(model, data, [20, 15])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("end", [False, True])
def test_every_chain_of_labels_comes_back(method, end):
    check_chain(chain(method, end=end, symbols=["a", "b", "c", 4]), LABELS)


def test_chains_of_several_columns_come_back():
    frame = pd.DataFrame({"u": list("abbaab"), "v": list("xyyxxy")})
    check_chain(chain(data=frame), frame, [2, 4])
    check_chain(chain(data=frame.to_numpy()), frame.to_numpy())


@pytest.mark.parametrize("method", ["em", "vbem", "gibbs"])
def test_masks_come_back(method):
    masks = {
        "transition": np.array([[True, True], [False, True]]),
        "initial": np.array([True, False]),
        "emission": np.array([[True, True, False], [True, True, True]]),
    }
    model = chain(method, masks=masks, end=True)
    again = check_chain(model, LABELS)
    for name, mask in model.fitted_.model.masks.items():
        same(again.fitted_.model.masks[name], mask)
    same(again.fitted_.model.emission.mask, model.fitted_.model.emission.mask)
    assert model.transition_[1, 0] == again.transition_[1, 0] == 0.0


@pytest.mark.parametrize("held", ["weights", "components", "means", "covariances"])
@pytest.mark.parametrize("method", ["em", "vbem", "gibbs"])
@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_what_was_held_comes_back(held, method, covariance):
    spread = {"full": [np.eye(2)] * 2, "diagonal": np.ones((2, 2))}[covariance]
    start = {"weights": [0.4, 0.6], "means": [[0, 0], [6, 90]], "covariances": spread}
    model = mixture(method, start=start, fixed=[held], covariance=covariance)
    again = reread(model)
    assert {*again.fitted_.model.held, *again.fitted_.model.emission.held} == {held}
    assert again.n_parameters == model.n_parameters
    assert again.fixed == [held]
    same(again.start, {name: np.asarray(value, float) for name, value in start.items()})
    same(again.predict_proba(ROWS), model.predict_proba(ROWS))
    same(again.log_likelihood(ROWS), model.log_likelihood(ROWS))


def test_pruned_mixtures_come_back_and_loaded_ones_can_be_pruned():
    model = mixture(K=5, prior={"concentration": 0.01})
    pruned = model.prune()
    assert pruned.n_components < 5
    check_mixture(pruned, ROWS)
    same(reread(model).prune().predict_proba(ROWS), pruned.predict_proba(ROWS))


def test_choices_come_back():
    prior = {"concentration": [0.5, 0.25], "mean": ROWS[0:1].round() * 0.0, "scale": 2.0}
    model = mixture(prior=prior, n_init=3, max_iter=50, tol=1e-6)
    again = reread(model)
    before, after = model.get_params(), again.get_params()
    same({k: before[k] for k in prior if k in before}, {k: after[k] for k in prior if k in after})
    same({n: np.asarray(x) for n, x in before.pop("prior").items()}, after.pop("prior"))
    assert before == after


def test_known_parameters_come_back():
    model = jn.HiddenMarkovModel.from_parameters(
        initial=[0.5, 0.5],
        transition=[[0.9, 0.1], [0.0, 1.0]],
        emission=[[0.9, 0.1], [0.2, 0.8]],
        symbols=["sun", "rain"],
    )
    again = reread(model)
    assert not hasattr(again, "free_energy_")
    same(again.decode(["sun", "rain"]), model.decode(["sun", "rain"]))
    assert "parameters given, not learned" in repr(again.summary())


def test_extreme_numbers_come_back():
    far = np.array([[1e9], [1e9 + 2.0], [1e9 + 900.0], [1e9 + 902.0]])
    check_mixture(mixture(data=far), far)
    tiny = (far - 1e9) * 1e-20
    check_mixture(mixture(data=tiny, covariance="diagonal"), tiny)
    skewed = np.array([[0.0, 0.0], [1.0, 1e-6], [2.0, -1e-6], [3.0, 3e-6], [4.0, 0.0]])
    check_mixture(mixture("em", data=skewed, K=1), skewed)


@pytest.mark.parametrize("name", ["m.json", "m.json.gz", "m.JSON"])
def test_save_and_load(tmp_path, name):
    model = mixture()
    model.save(tmp_path / name)
    same(jn.load(tmp_path / name).predict_proba(ROWS), model.predict_proba(ROWS))


@pytest.mark.parametrize("name", ["m.bif", "m.xml", "m.net", "m.uai.gz", "m.doc", "m"])
def test_other_formats_are_refused_in_words(tmp_path, name):
    with pytest.raises(jn.FileError, match="a GaussianMixture is kept in JSON"):
        mixture().save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_what_is_not_fitted_is_not_saved(tmp_path):
    for model in (jn.GaussianMixture(2), jn.LatentClass(2), jn.HiddenMarkovModel(2)):
        with pytest.raises(jn.NotFittedError):
            model.save(tmp_path / "m.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_components": 3}, "was fitted with other choices than it has now"),
        ({"covariance": "diagonal"}, "was fitted with other choices than it has now"),
        ({"covariance": "round"}, "covariance must be one of"),
        ({"prior": {"meen": 1.0}}, "no part 'meen'"),
        ({"n_init": 0}, "n_init must be a whole number"),
    ],
)
def test_choices_that_contradict_what_was_learned_are_not_saved(change, message):
    with pytest.raises(jn.JensenError, match=message):
        io.to_bytes(mixture().set_params(**change), "m.json")


# --- what makes no sense is refused ---


def document_of(model):
    return editable(io.to_bytes(model, "m.json"))


def refusal(document):
    with pytest.raises(jn.FileError) as error:
        io.from_bytes(json.dumps(document).encode(), FILE)
    assert str(error.value).startswith(FILE)
    assert error.value.__cause__ is None
    return str(error.value).removeprefix(FILE).lstrip(": ,")


def changed(document, path, value):
    copy = deepcopy(document)
    place = copy
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return copy


P = "parameters"
C = (P, "components")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("format",), "jensen-stats", "the document is no Jensen network"),
        (("version",), 2, "version is 2, but this Jensen reads version 1"),
        (("version",), ..., "the document lacks 'version'"),
        (("model",), "factor", "model must be one of gaussian-mixture, latent-class, hidden-"),
        (("model",), "latent-class", "choices lacks 'n_classes'"),
        (("extra",), 1, "the document holds 'extra', which this format does not know"),
        (("counts",), ..., "the document lacks 'counts'"),
        (("counts",), [1.0], "counts has 1 parts, but must have 2"),
        (("counts", 0), -1.0, "counts holds a negative number"),
        (("counts", 0), None, "counts[0] must be a number, not null"),
        (("counts", 0), "-inf", "counts[0] must be a number, not text"),
        (("choices", "n_components"), 3, "counts has 2 parts, but must have 3"),
        (("choices", "n_components"), 0, "choices: n_components must be a whole number, 1 or"),
        (("choices", "n_components"), 2.0, "choices.n_components must be a whole number"),
        (("choices", "covariance"), "tied", "parameters.components.count must be a number"),
        (("choices", "covariance"), "round", "choices: covariance must be one of full"),
        (("choices", "covariance"), 1, "choices.covariance must be text, not a number"),
        (("choices", "method"), "magic", "choices: there is no method 'magic'"),
        (("choices", "prior"), {"meen": 1}, "choices: prior= has no part 'meen'"),
        (("choices", "prior"), 1.0, "choices.prior must be an object, not a number"),
        (("choices", "fixed"), ["mean"], "choices: fixed has no part 'mean'"),
        (("choices", "n_samples"), 7, "choices: n_samples belongs to methods such as 'gibbs'"),
        (("choices", "begin"), None, "choices holds 'begin', which this format does not know"),
        (("columns",), [], "columns must name one column at least"),
        (("columns", 0, "kind"), "count", "columns[0].kind must be 'continuous' in this model"),
        (("columns", 0, "shift"), ..., "columns[0].kind must be 'continuous' if there is a shift"),
        (("columns", 0, "states"), ["a"], "columns[0].states belongs to columns with labels"),
        (("columns", 0, "name"), "height", "columns must have a name each, or none"),
        (("held",), {"mean": []}, "held names 'mean', but only weights, components, means, cov"),
        (("held",), {"weights": [0.5]}, "held.weights must be null: the parameters say at what"),
        (("held",), {"means": [[0.0, 0.0]]}, "held.means has 1 parts, but must have 2"),
        (("held",), {"means": [[0.0, 0.0]] * 2}, "held.means is not what the parameters say"),
        (("masks",), {}, "masks belongs to hidden Markov models"),
        ((P, "weights"), [-0.5, -0.5], "parameters.weights holds logs of probabilities that sum"),
        ((P, "weights"), [0.1, "-inf"], "parameters.weights holds logs of probabilities that"),
        ((P, "weights"), ["-inf", "-inf"], "parameters.weights holds logs of probabilities that"),
        ((P, "weights", 0), "inf", "parameters.weights[0] must be a number, not text"),
        ((P, "weights"), [[0.0], [0.0]], "parameters.weights[0] must be a number, not a list"),
        ((P, "mean"), 1, "parameters holds 'mean', which this format does not know"),
        (C, [], "parameters.components must be an object, not a list"),
        ((*C, "second"), [], "parameters.components.second has 0 parts, but must have 2"),
        ((*C, "second", 1, 0), [0.0], "parameters.components.second[1][0] has 1 parts, but"),
        ((*C, "second", 1, 0, 0), 1.0, "parameters.components.second is not minus half a prec"),
        ((*C, "second", 1, 0, 1), 0.5, "parameters.components.second is not symmetric"),
        ((*C, "second", 1, 0, 0), "-inf", "parameters.components.second must hold finite numbers"),
        ((*C, "count", 0), 5.0, "parameters.components.count is not half the log determinant"),
        ((*C, "strength", 0), 5.0, "parameters.components.strength does not fit first and sec"),
        ((*C, "first", 0, 0), 50.0, "parameters.components.strength does not fit first and sec"),
        (("posterior", "weights"), [-1.0, 3.0], "posterior.weights holds the η of a concentr"),
        (("posterior", "weights"), [90.0, 3.0], "posterior.weights does not have the parameters"),
        (("posterior", "weights"), ["-inf", 3.0], "posterior.weights[0] must be a number, not"),
        (("posterior", "components"), ..., "posterior lacks 'components'"),
        (("posterior", "components", "strength", 0), -1.0, "posterior.components is no distrib"),
        (("posterior", "components", "count", 0), -9.0, "posterior.components is no distribution"),
        (("posterior", "components", "count", 0), 900.0, "posterior.components does not have the"),
        (("posterior",), ..., "prior needs a posterior beside it"),
        (("learned", "is_bound"), False, "learned.is_bound must be true if there is a posterior"),
        (("samples",), [[0.0]], "samples cannot stand beside a posterior"),
        (("learned", "trace"), [1.0], "learned.trace must end in free_energy"),
        (("learned", "n_sweeps"), -1, "learned.n_sweeps must not be negative"),
    ],
)
def test_a_mixture_that_makes_no_sense_is_refused(path, value, message):
    document = VB_MIXTURE
    assert refusal(changed(document, path, value)).startswith(message)


VB_MIXTURE = document_of(mixture())


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("samples",), [], "samples must hold one sample at least"),
        (("samples", 1), [0.5], "samples[1] has 1 parts, but must have"),
        (("samples", 1, 0), 0.5, "samples makes no sense: of sample 1, weights holds logs of"),
        (("samples", 1, 4), 5.0, "samples makes no sense: of sample 1, components.second is not"),
        (("samples", 1, 4), None, "samples[1][4] must be a number, not null"),
        (("learned", "trace"), [[1.0, 2.0]], "learned.trace has 2 values, but there are 12"),
    ],
)
def test_samples_that_make_no_sense_are_refused(path, value, message):
    assert refusal(changed(GIBBS_MIXTURE, path, value)).startswith(message)


GIBBS_MIXTURE = document_of(mixture("gibbs"))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("columns", 0, "name"), "z", "columns must stand in the order of their names"),
        (("columns", 0, "name"), "legs", "columns repeats a name"),
        (("columns", 0, "name"), ..., "columns must have a name each"),
        (("columns", 0, "states"), ["a"], "parameters.components[0][0][0] has 2 parts, but must"),
        (("columns", 0, "states"), [], "columns[0].states must name one state at least"),
        (("columns", 0, "states"), ["a", "a"], "the states of 'fur' repeat 'a'"),
        (("columns", 0, "kind"), "real", "columns[0].kind must be 'categorical' if there are"),
        (("columns", 1, "kind"), "real", "'legs' cannot be of kind 'real'"),
        ((*C, 0, 0, 0), [-0.1, -0.1], "parameters.components[0] holds logs of probabilities"),
        ((*C, 1, "second", 0, 0), 0.5, "parameters.components[1].second is not minus half a"),
        ((*C, 1, "count", 0, 0), 9.5, "parameters.components[1].count is not half the log"),
        ((*C, 1, "first", 0, 0), 99.5, "parameters.components[1].strength does not fit first"),
        ((*C, 2, "exposure", 0, 0), 2.0, "parameters.components[2].exposure holds minus a rate"),
        ((*C, 2, "exposure", 0, 0), -99.0, "parameters.components[2].total is not the log of"),
        ((*C, 2, "exposure", 0, 0), "-inf", "parameters.components[2].exposure must hold finite"),
        (C, [], "parameters.components has 0 parts, but must have 3"),
        (("posterior", "components", 0, 0, 0, 0), -2.0, "posterior.components[0] holds the η"),
        (("posterior", "components", 2, "exposure", 0, 0), 0.0, "posterior.components[2] is no g"),
        (("posterior", "components", 2, "total", 0, 0), 900.0, "posterior.components does not"),
    ],
)
def test_classes_that_make_no_sense_are_refused(path, value, message):
    assert refusal(changed(VB_CLASSES, path, value)).startswith(message)


VB_CLASSES = document_of(classes())


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("choices", "end"), False, "masks.transition[0] has 3 parts, but must have 2"),
        (("choices", "end"), 1, "choices.end must be true or false, not a number"),
        (("choices", "emission"), "normal", "choices: emission must be one of categorical"),
        (("choices", "emission"), "poisson", "columns[0].kind must be 'count' in this model"),
        (("choices", "symbols"), [None], "choices.symbols[0] must be text, not null"),
        (("choices", "masks"), {"transition": [[1, 0]]}, "choices.masks.transition must be nested"),
        (("choices", "masks"), {"transition": [[True], []]}, "choices.masks.transition must be"),
        (("columns", 0, "kind"), "count", "columns[0].kind must be 'categorical' in this model"),
        (("masks", "emission"), [], "masks.emission must have a mask or null for every part"),
        (("masks", "transition", 0), [1, 1], "masks.transition[0] has 2 parts, but must have 3"),
        (("masks", "transition", 0), [2, 1, 1], "masks.transition must hold 1 (may be) and 0"),
        (("masks", "transition", 0), [0, 0, 0], "masks.transition leaves a state without any"),
        (("masks", "transition", 0), [0, 1, 1], "parameters.transition has a probability where"),
        (
            (P, "initial"),
            [0.0, 0.0],
            "parameters.initial holds logs of probabilities that sum",
        ),
        ((P, "transition", 0), [0.0, 0.0, 0.0], "parameters.transition holds logs of probabil"),
        (("posterior", "transition", 1, 0), 1.0, "posterior.transition holds the η of a conc"),
    ],
)
def test_chains_that_make_no_sense_are_refused(path, value, message):
    assert refusal(changed(VB_CHAIN, path, value)).startswith(message)


VB_CHAIN = document_of(chain(end=True, masks={"transition": [[1, 1], [0, 1]]}))


def paths(value, path=()):
    yield path
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths(part, (*path, key))


@pytest.mark.slow
@pytest.mark.parametrize("document", [VB_MIXTURE, VB_CLASSES, VB_CHAIN], ids=["m", "c", "h"])
def test_a_wrong_value_at_any_place_is_read_or_refused_in_words(document):
    rng = random.Random(0)
    for path in paths(document):
        if not path:
            continue
        for value in rng.sample([None, True, -3, 0.5, 1e300, "x", "-inf", [], {}, [[0.5]], ...], 3):
            if value is ... and isinstance(path[-1], int):
                continue
            broken = json.dumps(changed(document, path, value)).encode()
            try:
                io.from_bytes(broken, FILE)
            except jn.FileError as error:
                assert str(error).startswith(FILE)  # noqa: PT017


def test_a_file_cut_anywhere_is_refused():
    content = io.to_bytes(classes(), "m.json").rstrip()
    for stop in range(0, len(content), 7):
        with pytest.raises(jn.FileError, match="line"):
            io.from_bytes(content[:stop], FILE)


@pytest.mark.parametrize("word", [b"NaN", b"Infinity", b"-Infinity", b"1e999"])
def test_what_is_not_finite_is_refused(word):
    number = str(VB_MIXTURE["counts"][0]).encode()
    content = io.to_bytes(mixture(), "m.json").replace(
        b'"counts": [' + number, b'"counts": [' + word
    )
    with pytest.raises(jn.FileError, match=r"counts\[0\] must be a finite number"):
        io.from_bytes(content, FILE)


def test_the_documented_example_is_read():
    root = Path(__file__).parents[2]
    text = (root / "docs" / "json-format.md").read_text(encoding="utf-8")
    examples = [part.split("```")[0] for part in text.split("```json")[1:]]
    network, mixed, states, post = (io.from_bytes(part.encode(), FILE) for part in examples)
    assert network.graph == jn.DAG("rain -> wet")
    assert mixed.query("weight", given={"sex": "f"}).mean == pytest.approx(66.75)
    rain = pd.DataFrame({"rain": ["yes", "yes", "no"]})
    assert states.log_likelihood(rain, [2, 1]).tolist() == [0.0, -np.inf]
    assert without_checksum(io.to_bytes(states, "m.json")).decode().strip() == examples[2].strip()
    assert post.edge_probability("rain", "wet") == 0.5
    assert without_checksum(io.to_bytes(post, "m.json")).decode().strip() == examples[3].strip()


def test_starts_that_came_to_nothing_are_kept():
    rows = np.random.default_rng(0).normal(size=(14, 2))
    model = fitted(jn.GaussianMixture(3, n_init=6, random_state=0), rows)
    assert np.isnan(model.starts_).any()
    document = editable(io.to_bytes(model))
    assert None in document["learned"]["starts"]
    again = io.from_bytes(io.to_bytes(model), FILE)
    np.testing.assert_array_equal(again.starts_, model.starts_)
    document["learned"]["starts"] = [None]
    with pytest.raises(jn.FileError, match=r"learned\.starts must have free_energy as its largest"):
        io.from_bytes(json.dumps(document).encode(), FILE)


def test_choices_that_would_be_ignored_are_refused():
    document = editable(io.to_bytes(chain()))
    document["choices"]["covariance"] = "tied"
    with pytest.raises(jn.FileError, match="covariance='tied' belongs to emission='gaussian'"):
        io.from_bytes(json.dumps(document).encode(), FILE)
