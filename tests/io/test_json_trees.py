"""Mixtures of trees come back whole; a file that makes no sense is refused."""

import json

import numpy as np
import pytest
from naive.files import without_checksum

import jensen as jn
from jensen import io

FILE = "some/model.json"
RNG = np.random.default_rng(0)
COLUMNS = {name: RNG.choice(list("pqr")[: 2 + k], 40).tolist() for k, name in enumerate("ab")}
COLUMNS["c"] = [None if i % 9 == 0 else x for i, x in enumerate(COLUMNS["a"])]
FULL = {**COLUMNS, "c": [*COLUMNS["a"][1:], "p"]}
CASES = {
    "em": (COLUMNS, {}),
    "mode, shared, edges by name": (
        COLUMNS,
        {"method": "em", "prior": {"edges": {("a", "b"): 2.0}}, "shared_structure": True},
    ),
    "edges as a matrix": (
        FULL, {"prior": {"edges": np.ones((3, 3)), "concentration": 0.5}, "accelerate": True}
    ),
    "vbem, whole": (FULL, {"method": "vbem"}),
    "vbem, a point": (COLUMNS, {"prior": {"equivalent_sample_size": 3}}),
}  # fmt: skip


def fitted(name, **how):
    data, choices = CASES[name]
    return jn.MixtureOfTrees(2, random_state=0, n_init=2, **choices).fit(data, **how)


@pytest.mark.parametrize("name", CASES)
def test_a_mixture_comes_back_whole(name):
    first = fitted(name)
    text = io.to_bytes(first)
    again = io.from_bytes(text, FILE)
    assert io.to_bytes(again) == text
    wanted = first.log_likelihood(FULL)
    np.testing.assert_allclose(again.log_likelihood(FULL), wanted, rtol=1e-12)
    np.testing.assert_allclose(again.predict_proba(FULL), first.predict_proba(FULL))
    assert again.free_energy_ == first.free_energy_
    assert repr(again.summary()) == repr(first.summary())
    for k in range(2):
        assert again.graph(k) == first.graph(k)
        np.testing.assert_allclose(
            list(again.edge_probability(k).values()), list(first.edge_probability(k).values())
        )
    assert again.query("a", given={"b": "q"}).values == pytest.approx(
        first.query("a", given={"b": "q"}).values
    )


def test_a_mixture_ended_by_other_rows_comes_back():
    first = fitted("mode, shared, edges by name", validation=FULL)
    again = io.from_bytes(io.to_bytes(first), FILE)
    assert again.validation_score_ == first.validation_score_
    assert "ended by other rows" in repr(again.summary())


def changed(name, change):
    document = json.loads(without_checksum(io.to_bytes(fitted(name))))
    change(document)
    return json.dumps(document).encode()


def _set(*path, value):
    def change(document):
        for step in path[:-1]:
            document = document[step]
        document[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("name", "change", "text"),
    [
        ("em", _set("weights", value=[0.5, 0.6]), "weights must be probabilities that sum to 1"),
        ("em", _set("counts", value=[-1.0, 2.0]), "counts holds a negative number"),
        ("em", _set("trees", value=[]), "trees must hold 2 trees"),
        ("em", _set("trees", 0, value=[]), "must have 3 columns"),
        ("em", _set("trees", 0, 1, "parent", value="z"), "must be the name of a column, or null"),
        ("em", _set("trees", 0, 0, "parent", value="b"), "must be a tree"),
        ("em", _set("trees", 0, 0, "table", value=[[0.5, 0.6]]), "sum to 1 in every row"),
        ("em", _set("columns", value=[]), "must name each column once"),
        ("em", _set("choices", "method", value="vbem"), "must name a method that keeps"),
        ("em", _set("choices", "method", value="gibbs"), "the method 'gibbs' is not for this"),
        ("vbem, whole", _set("posterior", "weights", value=[-2.0, 1.0]), "counts above 0"),
        ("vbem, whole", _set("posterior", "singles", 0, 0, value=999.0), "does not have the trees"),
        ("mode, shared, edges by name",
         _set("choices", "prior", "edges", 0, value=["a", "b"]), "two names and a number"),
        ("mode, shared, edges by name",
         _set("choices", "prior", "edges", 0, 1, value="z"), "prior\\['edges'\\] names 'z'"),
    ],
)  # fmt: skip
def test_files_that_make_no_sense(name, change, text):
    with pytest.raises(jn.FileError, match=text):
        io.from_bytes(changed(name, change), FILE)


def test_one_structure_must_be_one():
    def change(document):
        tree = document["trees"][0]
        root = next(v for v, column in enumerate(tree) if column["parent"] is None)
        other = next(v for v in range(3) if v != root and tree[v]["parent"] == "abc"[root])
        third = 3 - root - other
        new = "abc"[other] if tree[third]["parent"] == "abc"[root] else "abc"[root]
        tree[third] = {**tree[third], "parent": new}

    with pytest.raises(jn.FileError, match="must have one structure in all trees"):
        io.from_bytes(changed("mode, shared, edges by name", change), FILE)


def test_choices_that_were_changed_since_are_not_saved():
    trees = fitted("em")
    trees.n_components = 5
    with pytest.raises(jn.JensenError, match="was fitted with other choices than it has now"):
        trees.to_dict()
