"""Every emission of the table through the estimators, files and the command line."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from models.emission_table import CASES, EXAMPLES, LABELS, as_given, rows_of
from naive.files import editable

import jensen as jn
from jensen.cli import main
from jensen.models.emissions.registry import EMISSIONS, USUAL

METHODS = ["em", "vbem", "viterbi", "me", "gibbs", "stochastic-em"]
CHAIN = {"n_samples": 6, "burn_in": 3, "n_chains": 2}
every_case = pytest.mark.parametrize(("word", "covariance"), CASES)
every_word = pytest.mark.parametrize("word", EXAMPLES)
every_method = pytest.mark.parametrize("method", METHODS)


def how(method):
    """Ascents with a prior, so that no state collapses on the few rows."""
    chain = CHAIN if method in ("gibbs", "stochastic-em") else {"max_iter": 30}
    return {"method": method, "prior": {}, "random_state": 0, **chain}


def fitted(model, data, **choices):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.EstimateWarning)  # so few samples mix badly
        return model.fit(data, **choices)


def learn(word, covariance="full", method="vbem", **others):
    choices = {"emission": word, **how(method), **others}
    if "covariance" in EMISSIONS[word].options:
        choices["covariance"] = covariance
    rows = as_given(word, rows_of(word))
    return fitted(jn.HiddenMarkovModel(2, **choices), rows, lengths=[25, 15]), rows


def assert_same_after_saving(model, data, folder):
    """A file brings back every number, and says the same when it is written again."""
    model.save(folder / "a.json")
    again = jn.load(folder / "a.json")
    again.save(folder / "b.json")
    assert (folder / "a.json").read_text() == (folder / "b.json").read_text()
    np.testing.assert_array_equal(again.log_likelihood(data), model.log_likelihood(data))
    np.testing.assert_array_equal(again.predict_proba(data), model.predict_proba(data))
    drawn, other = model.sample(5, random_state=1), again.sample(5, random_state=1)
    np.testing.assert_array_equal(np.asarray(drawn[0]), np.asarray(other[0]))
    assert str(again.summary()) == str(model.summary())
    return again


# --- hidden Markov models ---


@every_case
@every_method
def test_sequences_are_learned_saved_and_loaded(word, covariance, method, tmp_path):
    model, rows = learn(word, covariance, method)
    assert model.kind_ == word
    again = assert_same_after_saving(model, rows, tmp_path)
    for name in EMISSIONS[word].parameters:
        found = getattr(model, f"{name}_")
        assert np.isfinite(found).all()
        np.testing.assert_array_equal(getattr(again, f"{name}_"), found)
    np.testing.assert_array_equal(
        model.emission_, getattr(model, f"{EMISSIONS[word].parameters[0]}_")
    )


@every_word
def test_em_without_a_prior_climbs(word):
    model, rows = learn(word, method="em", prior=None, max_iter=20)
    assert (np.diff(model.trace_) >= -1e-9 * np.abs(model.trace_[1:])).all()
    assert model.fitted_.counts.sum() == pytest.approx(len(rows))


@every_word
def test_parameters_are_a_start_and_can_be_held(word):
    model, rows = learn(word)
    by_name = {name: getattr(model, f"{name}_") for name in EMISSIONS[word].parameters}
    for start in (model, {**by_name, "initial": model.initial_}):
        held = fitted(
            jn.HiddenMarkovModel(2, emission=word, start=start, fixed=["emission"], prior={}), rows
        )
        for name, value in by_name.items():
            np.testing.assert_allclose(getattr(held, f"{name}_"), value, rtol=1e-6)
    for part in EMISSIONS[word].held:
        held = fitted(
            jn.HiddenMarkovModel(2, emission=word, start=model, fixed=[part], prior={}), rows
        )
        np.testing.assert_allclose(getattr(held, f"{part}_"), by_name[part], rtol=1e-6)


@every_word
def test_parts_of_the_prior_are_taken_and_others_refused(word):
    record = EMISSIONS[word]
    for name in record.prior:
        model, _ = learn(word, prior={name: 3.0}, max_iter=2)
        assert f"{name}=3" in str(model.summary())
    with pytest.raises(jn.JensenError, match="prior= has no part 'nothing'"):
        learn(word, prior={"nothing": 1.0})
    other = next(x for x in EMISSIONS.values() if set(x.prior) != set(record.prior)).prior[0]
    with pytest.raises(jn.JensenError, match=f"prior= has no part '{other}'"):
        learn(word, prior={other: 1.0})


BAD = [(word, *pair) for word, example in EXAMPLES.items() for pair in example.refused]


@pytest.mark.parametrize(("word", "value", "match"), BAD)
def test_values_that_no_state_makes_are_refused(word, value, match):
    rows = as_given(word, rows_of(word)).astype(object)
    symbols = {"symbols": LABELS} if "symbols" in EMISSIONS[word].options else {}
    model = fitted(
        jn.HiddenMarkovModel(2, emission=word, prior={}, random_state=0, **symbols), rows
    )
    rows[3, 0] = value
    with pytest.raises(jn.DataError, match=match):
        jn.HiddenMarkovModel(2, emission=word, **symbols).fit(rows)
    if not symbols:
        with pytest.raises(jn.DataError, match=match):
            model.log_likelihood(rows)


@every_word
def test_options_of_others_are_refused(word):
    rows = as_given(word, rows_of(word))
    choices = {
        "covariance": "tied",
        "symbols": LABELS,
        "masks": {"emission": [[True, False], [True, True]]},
    }
    for option, value in choices.items():
        if option not in EMISSIONS[word].options:
            with pytest.raises(jn.JensenError, match=option[:5]):
                jn.HiddenMarkovModel(2, emission=word, **{option: value}).fit(rows)


@every_word
@pytest.mark.parametrize("field", ["parameters", "posterior"])
def test_files_with_other_numbers_are_refused(word, field, tmp_path):
    model, _ = learn(word)
    model.save(tmp_path / "m.json")
    document = editable((tmp_path / "m.json").read_text())
    document[field]["emission"] = _scaled(document[field]["emission"])
    (tmp_path / "m.json").write_text(json.dumps(document))
    with pytest.raises(jn.FileError, match=rf"{field}\.emission"):
        jn.load(tmp_path / "m.json")


def _scaled(x):
    if isinstance(x, dict):
        return {name: _scaled(part) for name, part in x.items()}
    return [_scaled(part) for part in x] if isinstance(x, list) else -1.5 * x


# --- mixtures and latent classes ---


@every_method
@pytest.mark.parametrize(("word", "covariance"), [x for x in CASES if x[0] == "gaussian"])
def test_mixtures_are_learned_saved_and_loaded(word, covariance, method, tmp_path):
    rows = rows_of(word)
    model = jn.GaussianMixture(2, covariance=covariance, **how(method))
    assert_same_after_saving(fitted(model, rows), rows, tmp_path)


def table_of(kind):
    """Columns of one kind."""
    word = USUAL[kind].word
    rows = as_given(word, rows_of(word))
    columns = {f"x{i}": list(column) for i, column in enumerate(rows.T)}
    choice = {"continuous": "continuous", "count": "counts", "categorical": "categorical"}[kind]
    return jn.Table(columns, **{choice: list(columns)})


@every_method
@pytest.mark.parametrize("kind", [kind for kind in USUAL if kind != "binary"])
def test_classes_are_learned_saved_and_loaded(kind, method, tmp_path):
    table = table_of(kind)
    model = fitted(jn.LatentClass(2, **how(method)), table)
    again = assert_same_after_saving(model, table, tmp_path)
    for name, own in model.parameters_.items():
        assert tuple(own) == USUAL[kind].parameters
        for part, value in own.items():
            np.testing.assert_array_equal(again.parameters_[name][part], value)


# --- words for people ---


def test_the_help_names_every_emission(capsys):
    assert main(["learn", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    about = shown[shown.index("--emission KIND") : shown.index("--end")]
    for word in EMISSIONS:
        assert word in about
    for kind in USUAL:
        assert kind == "binary" or USUAL[kind].makes in about


@every_word
def test_the_command_line_learns_every_emission(word, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(as_given(word, rows_of(word, gaps=0.0))).to_csv("rows.csv", index=False)
    words = ["--model", "hmm", "--states", "2", "--emission", word, "--prior", "default"]
    assert main(["learn", "rows.csv", *words, "--seed", "0", "-o", "hmm.json"]) == 0
    assert f", {word}, " in capsys.readouterr().out
    assert jn.load("hmm.json").kind_ == word
    assert main(["show", "hmm.json", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert set(EMISSIONS[word].parameters) <= set(shown["parameters"])
    assert main(["sample", "hmm.json", "-n", "5", "--seed", "0"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 6


@every_word
def test_the_page_of_hidden_markov_models_names_every_emission(word):
    assert f'"{word}"' in jn.HiddenMarkovModel.__doc__
    assert f'"{word}"' in jn.HiddenMarkovModel.from_parameters.__doc__


def test_a_word_that_is_none_is_refused_with_those_that_are():
    with pytest.raises(
        jn.JensenError, match=f"emission must be one of {', '.join(EMISSIONS)}, not"
    ):
        jn.HiddenMarkovModel(2, emission="normal").fit([[1.0], [2.0]])
