"""Posteriors of rows with holes as people ask for them: answers, files, checkpoints, refusals."""

import contextlib
import itertools
import os
import signal
import time
import warnings

import numpy as np
import pandas as pd
import pytest

import jensen as jn
from jensen.exceptions import (
    DataError,
    DataWarning,
    EstimateWarning,
    GraphError,
    JensenError,
    StoppedError,
)
from jensen.q_graph.chains import augmented_chains
from jensen.q_graph.chains.augmented_chains import AugmentedTask

SHORT = {"n_samples": 50, "n_chains": 2, "burn_in": 400, "random_state": 0}


def with_holes(frame, share=0.15, seed=0):
    rng = np.random.default_rng(seed)
    return frame.mask(rng.random(frame.shape) < share)


@pytest.fixture(scope="module")
def labels():
    return with_holes(jn.examples.load("cancer").sample(60, random_state=1).to_pandas())


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(40, 3)) * [1.0, 200.0, 0.01]
    x[:, 1] += 300.0 * x[:, 0]
    return with_holes(pd.DataFrame(x, columns=["a", "b", "c"]))


@pytest.fixture(scope="module")
def posts(labels, numbers):
    return {
        "labels": (labels, jn.structure_posterior(labels, **SHORT)),
        "numbers": (numbers, jn.structure_posterior(numbers, **SHORT)),
    }


@pytest.mark.parametrize("kind", ["labels", "numbers"])
def test_known_values_stay_and_missing_ones_are_filled(posts, kind):
    data, post = posts[kind]
    tables = post.impute(3, random_state=0)
    assert len(tables) == 3
    for table in tables:
        assert isinstance(table, pd.DataFrame)
        assert not table.isna().to_numpy().any()
        known = data.notna().to_numpy()
        assert (table.to_numpy()[known] == data.to_numpy()[known]).all()
    assert any((tables[0] != table).to_numpy().any() for table in tables[1:])


def test_answers_are_averaged_over_graphs_and_parameters(posts):
    data, post = posts["labels"]
    found = post.query("Cancer", given={"Xray": "positive"}, do={"Smoker": "True"})
    assert found.values.sum() == pytest.approx(1.0)
    one = post.query("Cancer", given={"Xray": "positive"}, do={"Smoker": "True"}, n_graphs=10)
    np.testing.assert_allclose(one.values, found.values, atol=0.1)
    logs = post.log_predictive(data.head(4))
    assert np.isfinite(logs).all()
    assert (logs < 0.0).all()
    _, of_numbers = posts["numbers"]
    slope = of_numbers.query("b", given={"a": 1.0}).mean - of_numbers.query("b").mean
    assert 150.0 < slope < 450.0
    with pytest.raises(JensenError, match="there is no variable 'Smoke'"):
        post.query("Smoke")


def test_what_is_not_known_is_refused(posts):
    _, post = posts["labels"]
    with pytest.raises(JensenError, match="the weight of a single graph is not known"):
        post.top(3)
    assert not post.best.info.proven
    assert np.isnan(post.best.info.score)
    with pytest.raises(JensenError, match="n must be a whole number"):
        post.impute(0)
    with pytest.raises(JensenError, match=r"tables \(n\)"):
        post.impute(10**12)
    with pytest.raises(JensenError, match="samples, each with what is missing"):
        jn.structure_posterior(posts["labels"][0], n_samples=10**12)


@pytest.mark.parametrize("kind", ["labels", "numbers"])
def test_files_hold_what_was_missing(posts, kind, tmp_path):
    data, post = posts[kind]
    post.save(tmp_path / "post.json")
    read = jn.load(tmp_path / "post.json")
    np.testing.assert_array_equal(read.missing, post.missing)
    np.testing.assert_array_equal(read.edge_matrix, post.edge_matrix)
    with pytest.raises(JensenError, match=r"give them, post.with_table\(table\)"):
        read.query(post.names[0])
    again = read.with_table(data).query(post.names[0])
    values = "values" if kind == "labels" else "mean"
    np.testing.assert_allclose(
        getattr(again, values), getattr(post.query(post.names[0]), values), rtol=1e-12
    )
    with pytest.raises(DataError, match="the rows are others"):
        read.with_table(data.head(20))


def test_complete_rows_have_the_posterior_that_they_always_had():
    table = jn.examples.load("cancer").sample(60, random_state=1)
    plain = jn.structure_posterior(table, missing="refuse", n_samples=50, random_state=0)
    found = jn.structure_posterior(table, n_samples=50, random_state=0)
    np.testing.assert_array_equal(found.samples.scores, plain.samples.scores)
    assert type(found) is type(plain)


@pytest.mark.parametrize("most", [augmented_chains.ALL_UP_TO, 0])
def test_a_stopped_run_goes_on_to_the_same_samples(labels, most, tmp_path, monkeypatch):
    """With few variables, and by typical weights as with many."""
    monkeypatch.setattr(augmented_chains, "ALL_UP_TO", most)
    whole = jn.structure_posterior(labels, **SHORT)
    file, plain, rounds = tmp_path / "run.ckpt", AugmentedTask._round, iter(range(1000))

    def interrupted(*given):
        if next(rounds) == 20:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)  # until the main thread has heard it
        return plain(*given)

    with monkeypatch.context() as patch, contextlib.suppress(StoppedError):
        patch.setattr(AugmentedTask, "_round", interrupted)
        part = jn.structure_posterior(labels, **SHORT, checkpoint=file)
        assert part.interrupted
    assert file.exists()
    again = jn.structure_posterior(labels, **SHORT, checkpoint=file)
    np.testing.assert_array_equal(again.missing, whole.missing)
    np.testing.assert_array_equal(again.samples.scores, whole.samples.scores)
    other = labels.copy()
    other.iloc[0, 0] = "True" if other.iloc[0, 0] == "False" else "False"
    with pytest.raises(JensenError, match=r"other data|another run"):
        jn.structure_posterior(other, **SHORT, checkpoint=file)


def test_whole_weights_are_repeated_rows(numbers):
    table = jn.Table(numbers)
    twice = jn.structure_posterior(
        table.with_weights(np.full(len(numbers), 2.0)), **SHORT | {"n_chains": 1}
    )
    repeated = table.take(np.repeat(np.arange(len(numbers)), 2))
    plain = jn.structure_posterior(repeated, **SHORT | {"n_chains": 1})
    np.testing.assert_allclose(twice.edge_matrix, plain.edge_matrix)
    with pytest.raises(DataError, match="weights must be whole numbers"):
        jn.structure_posterior(table.with_weights(np.full(len(numbers), 0.5)))


REFUSED = [
    (
        {"method": "exact"},
        JensenError,
        "'exact' needs complete rows, and values are missing or hidden: use",
    ),
    ({"method": "order"}, JensenError, "'order' needs complete rows"),
    ({"score": "bic"}, JensenError, "parameters are drawn from their posterior, and only"),
    ({"score": "bdue"}, JensenError, "there is no score 'bdue'"),
    ({"temperatures": 2}, JensenError, "temperatures= needs complete rows"),
    ({"prior": "order"}, GraphError, "needs complete rows, and values are missing: use another"),
    ({"missing": "refuse"}, DataError, "missing"),
    ({"scale": "unit"}, DataError, "scale= has no meaning where labels are missing"),
]


@pytest.mark.parametrize(("choices", "error", "text"), REFUSED)
def test_what_needs_complete_rows_is_refused(labels, choices, error, text):
    with pytest.raises(error, match=text):
        jn.structure_posterior(labels, **choices)


def test_columns_that_cannot_be_learned_are_refused(labels, numbers):
    empty = labels.assign(Cancer=None)
    with pytest.raises(DataError, match="no value"):
        jn.structure_posterior(empty)
    counts = jn.Table({"n": [None, *range(30)], "m": [*range(31)]}, counts=["n", "m"])
    with pytest.raises(DataError, match="a count depends on labels only"):
        jn.structure_posterior(counts)
    both = labels.head(40).assign(x=numbers["a"].to_numpy())
    with pytest.raises(DataError, match="there is no score 'bge' of labels and numbers together"):
        jn.structure_posterior(both, score="bge")
    with pytest.raises(JensenError, match="parameters are drawn from their posterior, and only"):
        jn.structure_posterior(both, score="bic")
    with pytest.raises(JensenError, match="must be positive and finite"):
        jn.structure_posterior(both, equivalent_sample_size=-1)


@pytest.fixture(scope="module")
def of_both():
    """Labels, numbers, a count and a constant column, with holes in all of them."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 50)
    x = rng.normal(size=50) + 3.0 * group
    data = pd.DataFrame(
        {
            "group": np.where(group, "u", "v"),
            "other": rng.choice(["p", "q", "r"], 50),
            "x": x,
            "y": 100.0 * x + rng.normal(size=50),
            "n": rng.poisson(2.0 + 4.0 * group).astype(float),
            "same": 1.5,
        }
    )
    table = jn.Table(with_holes(data, 0.1), counts=["n"])
    with pytest.warns(DataWarning, match="column 'same' is constant"):
        return table, jn.structure_posterior(table, **SHORT)


def test_labels_numbers_and_counts_together(of_both, tmp_path):
    table, post = of_both
    assert post.undirected_probability("x", "y") > 0.9
    assert post.undirected_probability("group", "n") > 0.9
    (full,) = post.impute(1, random_state=0)
    assert not full.n_missing()
    assert (full.column("same").data == 1.5).all()
    known = ~np.isnan(table.column("y").data)
    np.testing.assert_array_equal(full.column("y").data[known], table.column("y").data[known])
    assert (np.mod(full.column("n").data, 1.0) == 0.0).all()
    of_label = post.query("group", {"x": 4.0})
    assert of_label.values.sum() == pytest.approx(1.0)
    assert of_label["u"] > 0.6
    slope = post.query("y", {"x": 2.0}).mean - post.query("y", {"x": 1.0}).mean
    assert slope == pytest.approx(100.0, abs=5.0)
    low, high = post.query("x").interval(0.9)
    assert low < 0.0 < 3.0 < high
    with pytest.raises(JensenError, match="the distribution of a count is not averaged"):
        post.query("n")
    assert np.isfinite(post.log_predictive(table.take(np.arange(3)))).all()
    post.save(tmp_path / "post.json")
    again = jn.load(tmp_path / "post.json").with_table(table)
    assert again.query("x").mean == pytest.approx(float(post.query("x").mean), rel=1e-12)
    assert "typical weights" in repr(post.convergence)


def test_a_hidden_variable_is_summed_out_and_asked(tmp_path):
    """Six rows, two columns and a hidden one: all 25 graphs times 64 completions."""
    columns = {"a": list("001101"), "b": list("001110")}
    states = {name: ["0", "1"] for name in "abh"}
    logs, edges = [], []
    for h in itertools.product("01", repeat=6):
        full = jn.Table({**columns, "h": list(h)}, states=states)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # some completions have one state
            exact = jn.structure_posterior(full, "exact")
        logs.append(exact.log_evidence)
        edges.append(exact.edge_matrix)
    truth = np.average(edges, axis=0, weights=np.exp(np.array(logs) - max(logs)))
    table = jn.Table(columns)
    choices = {"n_samples": 400, "n_chains": 2, "thin": 40, "random_state": 0}
    post = jn.structure_posterior(table, hidden={"h": 2}, **choices)
    errors = np.maximum(post.edge_errors, 1e-3)
    assert (np.abs(post.edge_matrix - truth) <= 4.0 * errors).all()
    states_of_h = post.missing.reshape(-1, 6)
    assert (states_of_h.mean(1) <= 0.5).all()  # the state that most rows have is the first
    assert post.query("h")["0"] > 0.5
    assert post.query("a", {"h": "1"}, n_graphs=20).values.sum() == pytest.approx(1.0)
    assert np.isfinite(post.log_predictive(table, n_graphs=20)).all()
    assert post.impute(1)[0].names == table.names
    post.save(tmp_path / "post.json")
    again = jn.load(tmp_path / "post.json").with_table(table)
    assert again.query("h")["0"] == pytest.approx(post.query("h")["0"], rel=1e-12)


HIDDEN_REFUSED = [
    ({"hidden": {"Cancer": 2}}, "'Cancer' is declared hidden, but is a column"),
    ({"hidden": {"h": 1}}, "'h' needs two states at least"),
    ({"hidden": {"h": 2}, "method": "exact"}, "values are missing or hidden"),
    ({"hidden": {"h": 2}, "missing": "refuse"}, "hidden= are drawn: leave out missing='refuse'"),
    ({"hidden": {"h": 2}, "known_order": ["h"]}, "known_order= needs complete rows, and values"),
    ({"hidden": ["h"]}, "hidden must be a dict"),
]


@pytest.mark.parametrize(("choices", "text"), HIDDEN_REFUSED)
def test_hidden_variables_that_cannot_be_are_refused(labels, choices, text):
    with pytest.raises(JensenError, match=text):
        jn.structure_posterior(labels, **choices)


def test_hidden_variables_beside_numbers_are_refused(numbers):
    with pytest.raises(DataError, match="draws hidden variables beside labels only"):
        jn.structure_posterior(numbers, hidden={"h": 2})


def test_chains_that_find_a_hidden_cause_and_others_that_do_not_disagree():
    """Every second chain begins where the hidden variable explains all others."""
    rng = np.random.default_rng(0)
    cause = rng.integers(0, 2, 400)
    kids = {f"x{k}": np.where(rng.random(400) < 0.9, cause, 1 - cause) for k in range(4)}
    short = {"n_samples": 20, "n_chains": 2, "burn_in": 400, "random_state": 0}
    with pytest.warns(EstimateWarning, match="the chains disagree"):
        post = jn.structure_posterior(kids, hidden={"H": 2}, **short)
    h = post.names.index("H")
    by_chain = post.convergence.agreement.by_chain
    near = by_chain[:, h].sum(1) + by_chain[:, :, h].sum(1)
    assert near[0] > 3.9
    assert near[0] - near[1] > 1.0
