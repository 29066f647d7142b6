"""A digit that was flipped in a saved file is noticed; older files have no checksum."""

import json
import re

import numpy as np
import pytest
from naive.files import editable, without_checksum

import jensen as jn
from jensen import io

ROWS = {"a": ["u", "v"] * 20, "b": ["x", "x", "y", "y"] * 10}
NUMBERS = np.random.default_rng(0).normal(size=(40, 2))
X, Y = NUMBERS.T
MODELS = {
    "network": lambda: jn.BayesianNetwork("a -> b", prior=1.0, method="vbem").fit(ROWS),
    "regressions": lambda: jn.BayesianNetwork("x -> y").fit(
        dict(zip("xy", NUMBERS.T, strict=True))
    ),
    "mixture": lambda: jn.GaussianMixture(2, prior={}, random_state=0).fit(NUMBERS),
    "classes": lambda: jn.LatentClass(2, random_state=0).fit(ROWS),
    "chain": lambda: jn.HiddenMarkovModel(2, tol=0.1, random_state=0).fit(list("aabb" * 9)),
    "posterior": lambda: jn.structure_posterior(ROWS, method="exact"),
}


@pytest.fixture(params=MODELS)
def content(request):
    return io.to_bytes(MODELS[request.param](), "m.json")


def test_every_flipped_digit_is_noticed(content):
    end = content.index(b'"checksum"')
    digits = [m.start() for m in re.finditer(rb"[0-9]", content[:end])]
    rng = np.random.default_rng(0)
    for at in rng.choice(digits, min(60, len(digits)), replace=False):
        flipped = bytearray(content)
        flipped[at] = ord("1") if flipped[at] != ord("1") else ord("2")
        if json.loads(bytes(flipped)) != json.loads(content):  # digits may be beyond the last bit
            with pytest.raises(jn.FileError):
                io.from_bytes(bytes(flipped), "m.json")


def test_what_is_said(content):
    document = json.loads(content)
    document["checksum"] = "0" * 64
    with pytest.raises(jn.FileError) as error:
        io.from_bytes(json.dumps(document).encode(), "m.json")
    assert str(error.value) == (
        "m.json: the document is not what was saved, by its checksum: it is damaged, or was "
        "changed by hand. If the change is meant, take out the member 'checksum', the last one"
    )


def test_files_without_it_and_in_another_layout_are_read(content):
    assert list(json.loads(content))[-1] == "checksum"
    expected = io.to_bytes(io.from_bytes(content, "m.json"), "m.json")
    assert expected == content
    indented = json.dumps(json.loads(content), indent=3, ensure_ascii=False).encode()
    for other in (without_checksum(content), indented, json.dumps(editable(content)).encode()):
        assert io.to_bytes(io.from_bytes(other, "m.json"), "m.json") == content


def test_plain_data_make_the_same_model(content):
    model = io.from_bytes(content, "m.json")
    kind, plain = type(model), json.loads(content)
    assert io.to_bytes(kind.from_dict(plain), "m.json") == content
    assert io.to_bytes(kind.from_dict(model.to_dict()), "m.json") == content
    for wrong in (None, 5, "x", [], {}, {"format": 3}, {1.5: object()}, {**plain, "more": 1}):
        with pytest.raises(jn.FileError, match=r"^these data: "):
            kind.from_dict(wrong)


def test_data_of_another_model_are_refused():
    plain = MODELS["mixture"]().to_dict()
    with pytest.raises(jn.FileError, match=r"hold a GaussianMixture, not a LatentClass: write jn"):
        jn.LatentClass.from_dict(plain)
