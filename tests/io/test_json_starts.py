"""Where a model of hidden states started comes back with it, so that it can be fitted again."""

import json

import numpy as np
import pandas as pd
import pytest
from naive.files import editable
from sklearn.base import clone

import jensen as jn
from jensen import io

RNG = np.random.default_rng(0)
ROWS = np.concatenate([RNG.normal(0.0, 1.0, (20, 2)), RNG.normal(5.0, 1.0, (20, 2))])
TABLE = pd.DataFrame(
    {
        "fur": ["yes", "no", None, "no"] * 6,
        "legs": [4.0, 2.5, 4.1, None, 3.0, 2.1, 4.9, 3.6] * 3,
    }
)
LABELS = RNG.integers(0, 3, 60).tolist()
PAIRS = pd.DataFrame({"note": list("abba" * 6), "beat": list("xxy" * 8)})
MEANS = [[0.1, 1 / 3], [5.0, 4.7]]
LEFT_TO_RIGHT = {
    "initial": [1, 0],
    "transition": [[0.9, 0.1], [0, 1]],
    "emission": [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]],
}
BY_COLUMN = {
    "note": [[0.5, 0.5], [0.1, 0.9]],
    "beat": [[1 / 3, 2 / 3], [0.0, 1.0]],
}
CLASSES = {
    "weights": [0.3, 0.7],
    "fur": [[0.2, 0.8], [0.6, 0.4]],
    "legs": {"means": [[2.0], [4.0]]},
}
GAUSSIAN = {"emission": "gaussian"}


def chain(**choices):
    return jn.HiddenMarkovModel(2, random_state=0, **choices)


CASES = {
    "mixture": (jn.GaussianMixture(2, start={"means": MEANS}), ROWS),
    "held means": (jn.GaussianMixture(2, start={"means": MEANS}, fixed=["means"], prior={}), ROWS),
    "held all": (
        jn.GaussianMixture(2, start={"means": MEANS}, fixed=["weights", "components"]),
        ROWS,
    ),
    "from a mixture": (
        jn.GaussianMixture(2, start=jn.GaussianMixture(2, prior={}, random_state=0).fit(ROWS)),
        ROWS,
    ),
    "classes": (jn.LatentClass(2, start=CLASSES, prior={}), TABLE),
    "from classes": (
        jn.LatentClass(2, start=jn.LatentClass(2, prior={}, random_state=0).fit(TABLE), prior={}),
        TABLE,
    ),
    "left to right": (chain(start=LEFT_TO_RIGHT), LABELS),
    "held moves": (chain(start=LEFT_TO_RIGHT, fixed=["transition"], prior={}), LABELS),
    "ends": (
        chain(
            start={**LEFT_TO_RIGHT, "transition": [[0.8, 0.1], [0, 0.7]], "end": [0.1, 0.3]},
            end=True,
        ),
        [LABELS[:30], LABELS[30:]],
    ),
    "by column": (chain(start={"emission": BY_COLUMN}, method="vbem"), PAIRS),
    "from a chain": (chain(start=chain(prior={}).fit(PAIRS)), PAIRS),
    "gaussian": (chain(start={"means": MEANS}, fixed=["means"], **GAUSSIAN), ROWS),
    "from gaussians": (chain(start=chain(prior={}, **GAUSSIAN).fit(ROWS), **GAUSSIAN), ROWS),
}


def reread(model):
    content = io.to_bytes(model, "m.json")
    again = io.from_bytes(content, "m.json")
    assert io.to_bytes(again, "m.json") == content
    return again


def shown(model):
    """All that a fit ends with, as numbers."""
    fitted = model.fitted_
    return editable(io.to_bytes(model, "m.json")), fitted.counts.tolist()


@pytest.mark.parametrize("case", CASES)
def test_a_loaded_model_fits_as_the_original_does(case):
    model, data = CASES[case]
    original = clone(model).fit(data)
    again = reread(original)
    assert again.start is not None
    assert shown(clone(again).fit(data)) == shown(original)
    assert shown(again.fit(data)) == shown(original)


def test_zeros_of_a_start_stay_zero_after_loading():
    again = reread(chain(start=LEFT_TO_RIGHT).fit(LABELS))
    assert clone(again).fit(LABELS).transition_[1, 0] == 0.0
    np.testing.assert_array_equal(again.start["transition"], LEFT_TO_RIGHT["transition"])


def test_a_model_to_start_from_comes_back_as_its_parameters():
    first = jn.GaussianMixture(2, method="em", random_state=0).fit(ROWS)
    again = reread(jn.GaussianMixture(2, start=first).fit(ROWS))
    assert set(again.start) == {"weights", "means", "covariances"}
    for name, value in again.start.items():
        np.testing.assert_array_equal(value, getattr(first, f"{name}_"), strict=True)


def test_files_without_a_start_still_load():
    model = jn.GaussianMixture(2, start={"means": MEANS}, fixed=["means"], prior={}).fit(ROWS)
    document = editable(io.to_bytes(model, "m.json"))
    del document["choices"]["start"]
    old = io.from_bytes(json.dumps(document).encode(), "m.json")
    assert old.start is None
    np.testing.assert_array_equal(old.predict_proba(ROWS), model.predict_proba(ROWS))


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (None, "choices.start must be an object, not null"),
        ({"means": "far"}, "choices.start.means must be a number, not text"),
        ({"means": [[1.0], [2.0, 3.0]]}, "choices.start.means must be a number, or nested lists"),
        ({"means": [[1.0, 2.0]]}, "choices: start['means'] must have the shape (2, 2), not (1, 2)"),
        ({"centres": 1.0}, "choices: start= has no part 'centres'"),
        ({"weights": [0.5, 0.5]}, "choices: start= lacks 'means'"),
        ({"means": MEANS, "weights": [0.5, 0.6]}, "choices: start['weights'] must be probabil"),
    ],
)
def test_a_start_that_makes_no_sense_is_refused(start, message):
    model = jn.GaussianMixture(2, start={"means": MEANS}).fit(ROWS)
    document = editable(io.to_bytes(model, "m.json"))
    document["choices"]["start"] = start
    with pytest.raises(jn.FileError) as error:
        io.from_bytes(json.dumps(document).encode(), "m.json")
    assert str(error.value).startswith(f"m.json: {message}")


def test_a_start_that_fit_would_refuse_is_not_saved():
    model = chain(start=LEFT_TO_RIGHT).fit(LABELS)
    model.set_params(masks={"transition": [[True, False], [True, True]]})
    with pytest.raises(jn.JensenError, match=r"start\['transition'\] gives 0\.1 to the cell"):
        io.to_bytes(model, "m.json")
    model.set_params(masks=None, start={"emission": [[np.nan] * 3] * 2})
    with pytest.raises(jn.JensenError, match=r"start\['emission'\] must hold finite numbers"):
        io.to_bytes(model, "m.json")


def test_labels_that_are_whole_numbers_come_back_as_such():
    for data, kind in ((LABELS, np.int64), ([str(x) for x in LABELS], object)):
        again = reread(chain(prior={}).fit(data))
        assert again.sample(4, random_state=0)[0].dtype == kind
    document = editable(io.to_bytes(chain(prior={}).fit(PAIRS), "m.json"))
    document["columns"][0]["whole"] = True
    with pytest.raises(
        jn.FileError, match=r"columns\[0\].whole must be false: a state is no whole"
    ):
        io.from_bytes(json.dumps(document).encode(), "m.json")
