"""What must not change a score: how the table is written down, and how many threads read it."""

import numpy as np
import pytest
from naive import scores as naive

import jensen as jn
from jensen.data import blocks
from jensen.scores import SCORES, row_statistics
from jensen.scores.registry import PENALISED, PRIORS, SPECS

GRAPH = "a -> b -> d; a -> d; c -> d"
every_score = pytest.mark.parametrize("name", SCORES)


@pytest.fixture(params=[1 << 16, 0], ids=["dense", "sparse"])
def table(make_example, monkeypatch, request):
    monkeypatch.setattr(row_statistics, "MAX_DENSE_CELLS", request.param)
    return make_example(90, (3, 4, 2, 5), seed=2).table


@every_score
def test_the_order_of_columns_changes_nothing(table, name):
    turned = table.select(table.names[::-1])
    assert jn.local_scores(GRAPH, turned, name) == jn.local_scores(GRAPH, table, name)


@every_score
def test_the_order_of_rows_changes_nothing(table, name):
    shuffled = table.take(np.random.default_rng(0).permutation(table.n_rows))
    assert jn.local_scores(GRAPH, shuffled, name) == jn.local_scores(GRAPH, table, name)


@pytest.mark.parametrize("name", [name for name in SCORES if not SPECS[name].needs_integer_weights])
def test_the_order_of_rows_with_fractional_weights_changes_rounding_only(table, name):
    weighted = table.with_weights(np.random.default_rng(3).exponential(1.0, table.n_rows))
    shuffled = weighted.take(np.random.default_rng(0).permutation(table.n_rows))
    expected = jn.score(GRAPH, weighted, name)
    assert jn.score(GRAPH, shuffled, name) == pytest.approx(expected, rel=1e-12)


@every_score
def test_the_order_of_states_changes_rounding_only(table, name):
    states = {v.name: v.states[::-1] for v in table.variables}
    relabelled = jn.Table(table.to_pandas().astype(str), states=states)
    assert relabelled.variable("d").states == table.variable("d").states[::-1]
    expected = jn.score(GRAPH, table, name)
    assert jn.score(GRAPH, relabelled, name) == pytest.approx(expected, rel=1e-13)


@every_score
def test_the_names_of_states_change_nothing(table, name):
    frame = table.to_pandas().astype(str).map(lambda label: f"z{label}")
    states = {v.name: [f"z{s}" for s in v.states] for v in table.variables}
    renamed = jn.Table(frame, states=states)
    assert jn.score(GRAPH, renamed, name) == jn.score(GRAPH, table, name)


@every_score
def test_integer_weights_are_rows_written_out(table, name):
    weights = np.random.default_rng(1).integers(0, 4, table.n_rows)
    written_out = table.take(np.repeat(np.arange(table.n_rows), weights))
    weighted = jn.local_scores(GRAPH, table.with_weights(weights), name)
    assert weighted == jn.local_scores(GRAPH, written_out, name)


@every_score
def test_rows_without_weight_are_not_there(table, name):
    kept = np.arange(table.n_rows) % 2 == 0
    weighted = jn.score(GRAPH, table.with_weights(kept.astype(float)), name)
    assert weighted == jn.score(GRAPH, table.take(kept), name)


@every_score
@pytest.mark.parametrize("weighted", [False, True])
def test_threads_change_nothing(make_example, monkeypatch, name, weighted):
    monkeypatch.setattr(blocks, "UNIT_ROWS", 64)
    table = make_example(1000, (3, 4, 2, 5)).table
    if weighted:
        random = np.random.default_rng(0)
        whole = SPECS[name].needs_integer_weights
        table = table.with_weights(random.integers(0, 3, 1000) if whole else random.random(1000))
    results = []
    for threads in [1, 2, 7]:
        jn.set_threads(threads)
        try:
            results.append(jn.local_scores(GRAPH, table, name))
        finally:
            jn.set_threads(None)
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("name", PENALISED)
@pytest.mark.parametrize("size", [1e-300, 1e-3, 1e300])
def test_likelihoods_scale_with_the_weights(make_example, name, size):
    table = make_example(20, (2, 3)).table
    parameters = 1 + 2 * 2
    cost = naive.SCORES[name].penalty(20 * size)
    expected = size * jn.score("a -> b", table, "loglik") - cost * parameters
    found = jn.score("a -> b", table.with_weights(np.full(20, size)), name)
    assert found == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("name", PRIORS)
def test_weights_that_vanish_leave_no_evidence(make_example, name):
    table = make_example(20, (2, 3)).table.with_weights(np.full(20, 1e-300))
    assert jn.score("a -> b", table, name) == pytest.approx(0.0, abs=1e-290)


@pytest.mark.parametrize("name", PRIORS)
def test_evidence_of_huge_weights_is_the_likelihood(make_example, name):
    table = make_example(20, (2, 3)).table.with_weights(np.full(20, 1e300))
    expected = jn.score("a -> b", table, "loglik")
    assert jn.score("a -> b", table, name) == pytest.approx(expected, rel=1e-12)


def test_likelihood_of_weights_of_all_sizes():
    """1e-300 rows of one kind and 1e300 of another: nothing overflows, nothing becomes -inf."""
    table = jn.Table({"x": ["u", "v"]}, weights=[1e-300, 1e300])
    expected = -1e-300 * 600 * np.log(10)
    assert jn.score("x", table, "loglik") == pytest.approx(expected, rel=1e-12, abs=0.0)
