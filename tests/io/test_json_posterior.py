"""Posteriors over graphs in files: exact to the bit, and refused in words if damaged."""

import json

import numpy as np
import pytest
from naive.files import editable
from naive.posteriors import dags_of, parents_of, run_of

import jensen as jn
from jensen.exceptions import FileError, JensenError
from jensen.q_graph.constraints import read_constraints
from jensen.q_graph.posterior import ExactPosterior, SampledPosterior, StructurePosterior
from jensen.q_graph.posterior.graph_samples import GraphSamples
from jensen.q_graph.sums.exact_posterior import exact_posterior
from jensen.scores.graph_priors import read_prior
from jensen.scores.make_scorer import make_scorer

NAMES = ("A", "B", "C")
DAGS = dags_of(NAMES)
SETTINGS = {
    "method": "order",
    "score": "bdeu",
    "prior": {("A", "B"): 0.25},
    "tiers": (("A",), ("B", "C")),
    "seed": np.int64(3),
}
TABLE = jn.Table({"A": list("nynyyn"), "B": list("nyyyyn"), "C": list("nnyyyy")})


def sampled(weighted=False, batches=False, interrupted=False):
    rng = np.random.default_rng(0)
    which = rng.integers(0, 25, (2, 40))
    weights = rng.normal(size=(2, 40)) if weighted else None
    samples = GraphSamples(
        NAMES, parents_of(DAGS)[which], rng.normal(size=(2, 40)), rng.normal(size=(2, 40)), weights
    )
    moves = {"swap": (np.array([3, 4]), np.array([10, 11]))}
    edges = rng.random((2, 12, 3, 3)) if batches else None
    shares = np.array([0.25, np.nan, 0.0]) if interrupted else rng.random(3)
    run = run_of(samples, moves, edges, shares, interrupted)
    return SampledPosterior(run, make_scorer(TABLE), SETTINGS)


def exact():
    rules = read_prior("uniform", NAMES).prior, read_constraints(NAMES)
    return ExactPosterior(exact_posterior(make_scorer(TABLE), *rules), make_scorer(TABLE))


def same_samples(a, b):
    for name in ("sets", "graphs", "which", "scores", "states"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert a.kind == b.kind
    assert (a.log_weights is None) == (b.log_weights is None)
    if a.log_weights is not None:
        np.testing.assert_array_equal(a.log_weights, b.log_weights)


@pytest.mark.parametrize("suffix", ["json", "json.gz"])
@pytest.mark.parametrize(("weighted", "batches"), [(False, False), (True, False), (False, True)])
def test_samples_come_back_to_the_bit(tmp_path, weighted, batches, suffix):
    post, file = sampled(weighted, batches), tmp_path / f"post.{suffix}"
    post.save(file)
    again = jn.load(file)
    assert isinstance(again, SampledPosterior)
    same_samples(post.samples, again.samples)
    np.testing.assert_array_equal(post.edge_matrix, again.edge_matrix)
    np.testing.assert_array_equal(post.edge_errors, again.edge_errors)
    np.testing.assert_array_equal(post.outside_share, again.outside_share)
    assert repr(post) == repr(again)
    assert repr(post.convergence) == repr(again.convergence)
    assert again.settings["prior"] == {"A -> B": 0.25}
    assert again.settings["seed"] == 3
    again.save(tmp_path / "again.json")
    post.save(tmp_path / "first.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "first.json").read_text()
    assert isinstance(StructurePosterior.load(file), SampledPosterior)


def test_what_is_not_known_and_what_was_interrupted_comes_back(tmp_path):
    post, file = sampled(interrupted=True), tmp_path / "post.json"
    assert "2 chains of 40 samples (interrupted), " in repr(post)
    post.save(file)
    again = jn.load(file)
    assert again.interrupted is again.convergence.interrupted is True
    np.testing.assert_array_equal(again.outside_share, [0.25, np.nan, 0.0])
    assert repr(post) == repr(again)
    document = editable(file.read_text())
    assert document["chains"]["interrupted"] is True
    assert document["chains"]["outside_share"] == [0.25, None, 0.0]
    del document["chains"]["interrupted"]  # it may be absent
    file.write_text(json.dumps(document))
    assert jn.load(file).interrupted is False


def test_data_are_given_again(tmp_path):
    post, file = sampled(), tmp_path / "post.json"
    post.save(file)
    again = jn.load(file)
    with pytest.raises(JensenError, match=r"post.with_table\(table\)"):
        again.query("A")
    whole = again.with_table(TABLE)
    np.testing.assert_array_equal(whole.query("A").values, post.query("A").values)
    with pytest.raises(jn.DataError, match="these are not the data of this posterior"):
        again.with_table(TABLE.take(np.arange(5)))


def test_exact_posteriors_come_back(tmp_path):
    post, file = exact(), tmp_path / "post.json"
    paths = post.path_matrix
    post.save(file)
    again = StructurePosterior.load(file)
    assert isinstance(again, ExactPosterior)
    same_samples(post.samples, again.samples)
    np.testing.assert_array_equal(again.edge_matrix, post.edge_matrix)
    np.testing.assert_array_equal(again.path_matrix, paths)
    assert again.log_evidence == post.log_evidence
    assert again.exact.log_total == post.exact.log_total
    assert dict(again.parent_sets("A")) == dict(post.parent_sets("A"))
    assert again.sample(5, random_state=0) == post.sample(5, random_state=0)
    with pytest.raises(JensenError, match="a file, which holds the graphs drawn before"):
        again.exact.draw(3, np.random.default_rng(0))


def test_the_most_probable_graph_comes_back(tmp_path):
    names = [f"v{k}" for k in range(6)]
    rng = np.random.default_rng(1)
    table = {name: rng.integers(0, 2, 30).astype(str) for name in names}
    post, file = jn.structure_posterior(table, "exact"), tmp_path / "post.json"
    post.save(file)
    again = jn.load(file)
    assert again.best == post.best
    assert again.best.info.proven
    assert again.best.info.probability == post.best.info.probability
    assert again.best.info.log_weight == post.best.info.log_weight
    assert again.with_table(table).best.info == post.best.info
    document = editable(file.read_text())
    document["exact"].pop("best")  # it may be absent: the best of the draws then
    file.write_text(json.dumps(document))
    assert not jn.load(file).best.info.proven
    orders = jn.structure_posterior(table, "exact", prior="order")
    orders.save(file)
    assert editable(file.read_text())["exact"]["best"] is None
    assert jn.load(file).best == orders.best


BEST_DAMAGES = [
    (lambda best: best["parents"].pop(), "exact.best.parents must hold the parents of 3 variables"),
    (lambda best: best.update(parents=[[1], [0], []]), "exact.best.parents holds a cycle"),
    (lambda best: best.update(parents=[[3], [], []]), "must be the position of one of 3 names"),
    (lambda best: best.pop("log_weight"), "exact.best lacks 'log_weight'"),
]


@pytest.mark.parametrize(("damage", "words"), BEST_DAMAGES)
def test_a_damaged_best_graph_is_refused(tmp_path, damage, words):
    file = tmp_path / "post.json"
    exact().save(file)
    document = editable(file.read_text())
    damage(document["exact"]["best"])
    file.write_text(json.dumps(document))
    with pytest.raises(FileError, match=words):
        jn.load(file)


def test_what_is_too_long_for_a_file_is_left_out(tmp_path, monkeypatch):
    from jensen.q_graph.posterior import file as posterior_file

    monkeypatch.setattr(posterior_file, "MOST_SETS", 3)
    post, file = exact(), tmp_path / "post.json"
    post.save(file)
    again = jn.load(file)
    with pytest.raises(JensenError, match="the parent sets of 3 variables are too many for a file"):
        again.parent_sets("A")
    assert again.path_probability("A", "B") == pytest.approx(post.path_probability("A", "B"))


def test_other_files_are_told_apart(tmp_path):
    jn.examples.load("cancer").save(tmp_path / "net.json")
    with pytest.raises(FileError, match="holds a BayesianNetwork, not a StructurePosterior"):
        StructurePosterior.load(tmp_path / "net.json")
    with pytest.raises(FileError, match=r"a SampledPosterior is kept in JSON, so name a file that"):
        sampled().save(tmp_path / "post.bif")


DAMAGES = [
    (lambda d: d.update(names=["B", "A", "C"]), "names must be different names, sorted"),
    (lambda d: d.update(version=9), "version is 9, but this Jensen reads version 1"),
    (lambda d: d.pop("chains"), "the document lacks 'chains', 'exact' or 'listed'"),
    (lambda d: d["samples"].update(kind="none"), "samples.kind must be one of chains, draws, all"),
    (lambda d: d["samples"]["sets"].append([3]), "must be the position of one of 3 names"),
    (lambda d: d["samples"]["graphs"].append([0, 0, 99]), "must hold whole numbers below"),
    (lambda d: d["samples"]["graphs"].append([0, 0]), "must hold lists of the same length"),
    (
        lambda d: d["samples"].update(graphs=[[0, 0]] * len(d["samples"]["graphs"])),
        "must hold 3 numbers for each graph",
    ),
    (
        lambda d: d["samples"].update(
            sets=[[0], [1], [2], *d["samples"]["sets"]], graphs=[[1, 2, 0]] * 25
        ),
        "samples.graphs holds a cycle: graph 0",
    ),
    (lambda d: d["samples"]["which"][0].__setitem__(0, 1.5), "each that of a graph"),
    (lambda d: d["samples"]["scores"].pop(), "samples.scores has 1 parts, but must have 2"),
    (lambda d: d["samples"].pop("states"), "samples lacks 'states'"),
    (lambda d: d["chains"]["moves"]["swap"].pop(), "must tell how often it was accepted"),
    (lambda d: d["chains"].update(interrupted=1), "chains.interrupted must be true or false"),
    (lambda d: d["chains"]["outside_share"].pop(), "outside_share has 2 parts, but must have 3"),
]


@pytest.mark.parametrize(("damage", "words"), DAMAGES)
def test_damaged_files_are_refused_in_words(tmp_path, damage, words):
    file = tmp_path / "post.json"
    sampled().save(file)
    document = editable(file.read_text())
    damage(document)
    file.write_text(json.dumps(document))
    with pytest.raises(FileError, match=words):
        jn.load(file)


def numbers():
    rng = np.random.default_rng(0)
    a = 0.01 * rng.normal(size=40)
    return {"a": a, "b": a + 0.01 * rng.normal(size=40), "c": 300.0 * rng.normal(size=40)}


@pytest.mark.parametrize("scale", [None, "unit", np.diag([1.0, 2.0, 3.0]) + 0.5])
def test_the_prior_of_numbers_is_held(tmp_path, scale):
    post = jn.structure_posterior(numbers(), "exact", scale=scale)
    post.save(tmp_path / "post.json")
    again = jn.load(tmp_path / "post.json")
    for found, kept in zip(again.gaussian_prior, post.gaussian_prior, strict=True):
        np.testing.assert_array_equal(found, kept)
    if scale is None:
        variances = [np.var(x) for x in numbers().values()]
        np.testing.assert_allclose(again.gaussian_prior.scale, 0.5 * np.diag(variances), rtol=1e-12)
    with_data = again.with_table(numbers())
    new = {x: column[:5] for x, column in numbers().items()}
    np.testing.assert_allclose(with_data.log_predictive(new), post.log_predictive(new), rtol=1e-10)
    assert with_data.best.info.score == pytest.approx(post.best.info.score, rel=1e-12)


def test_older_files_have_the_published_prior(tmp_path):
    post = jn.structure_posterior(numbers(), "exact", scale="unit")
    post.save(tmp_path / "post.json")
    document = editable((tmp_path / "post.json").read_text())
    del document["gaussian_prior"], document["settings"]["scale"]
    (tmp_path / "old.json").write_text(json.dumps(document))
    old = jn.load(tmp_path / "old.json")
    assert old.settings["scale"] == "unit"
    assert old.with_table(numbers()).best.info.score == pytest.approx(post.best.info.score)
