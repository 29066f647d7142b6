"""Where learners of hidden states begin: different, reproducible, never collapsed."""

import numpy as np
import pytest
from models.mixture_cases import KINDS, make_case

from jensen.data.number_rows import NumberRows
from jensen.families.tied import by_state
from jensen.free_energy import EM, state_at
from jensen.models import state_model
from jensen.models.hidden_markov import HiddenMarkov
from jensen.models.mixture import Mixed
from jensen.models.protocol import Data
from jensen.models.state_model import StateRows, start_stats
from jensen.support.fields import leaves

every_kind = pytest.mark.parametrize("kind", KINDS)


def begin(case, k, seed=0, K=None, values=None, weight=None):
    values = case.values + case.shift if values is None else values
    weight = case.weight if weight is None else weight
    rng = np.random.default_rng(seed)
    rows = NumberRows.of(values, weight)
    return start_stats(case.model.emission, K or case.K, rows, k % 2 == 0, rng)


@every_kind
@pytest.mark.parametrize("k", range(4))
def test_states_differ_and_all_rows_are_shared_out(kind, k):
    case = make_case(kind, 3, n=40)
    counts, stats = begin(case, k)
    assert counts.sum() == pytest.approx(case.weight.sum(), rel=1e-12)
    assert np.all(counts > 0.0)
    state = state_at(case.model, case.units, EM, Mixed(counts, stats))
    assert np.isfinite(state.free_energy)
    rows = by_state(state.t.components)
    for a in range(3):
        for b in range(a):
            assert np.abs(rows[a] - rows[b]).max() > 1e-6


@every_kind
def test_the_same_stream_gives_the_same_start(kind):
    case = make_case(kind, 2, n=30)
    for a, b in zip(leaves(begin(case, 0, 5)), leaves(begin(case, 0, 5)), strict=True):
        np.testing.assert_array_equal(a, b)
    first, other = begin(case, 1, 5)[0], begin(case, 1, 6)[0]
    assert not np.array_equal(first, other)


@every_kind
@pytest.mark.parametrize("k", [0, 1])
def test_a_start_depends_neither_on_the_order_of_rows_nor_on_how_they_are_repeated(kind, k):
    case = make_case(kind, 2, n=30)
    values = case.values + case.shift
    times = np.random.default_rng(0).integers(1, 4, len(values))
    weighted = begin(case, k, weight=times.astype(float))
    repeated = np.repeat(values, times, axis=0)
    repeated = repeated[np.random.default_rng(1).permutation(len(repeated))]
    found = begin(case, k, values=repeated, weight=np.ones(len(repeated)))
    for a, b in zip(leaves(weighted), leaves(found), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_the_first_start_finds_clusters_that_are_apart():
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0, 0.0], [20.0, 0.0, 0.0], [0.0, 20.0, 5.0]])
    values = centres[np.arange(60) % 3] + rng.normal(size=(60, 3))
    values[rng.random(values.shape) < 0.05] = np.nan
    case = make_case("full", 3, values=values, flat=True)
    counts, _ = begin(case, 0, 1)
    np.testing.assert_allclose(counts, 20.0, atol=1.0)


@every_kind
def test_equal_rows_and_more_states_than_rows_still_have_a_start(kind):
    case = make_case(kind, 3, n=2, missing=False)
    values = np.tile((case.values + case.shift)[:1], (2, 1))
    for k in (0, 1):
        counts, stats = begin(case, k, values=values, weight=np.ones(2))
        assert counts.sum() == pytest.approx(2.0)
        assert all(np.isfinite(leaf).all() for leaf in leaves(stats))


def test_of_many_rows_some_are_looked_at_and_count_for_all(monkeypatch):
    monkeypatch.setattr(state_model, "LOOKED_AT", 50)
    values = np.random.default_rng(0).normal(size=(400, 2))
    case = make_case("diagonal", 2, values=values, flat=True)
    counts, stats = begin(case, 0)
    assert counts.sum() == pytest.approx(400.0, rel=1e-12)
    np.testing.assert_allclose(stats.count.sum(0), 400.0, rtol=1e-12)


def test_a_chain_starts_with_as_many_sequences_as_their_weights_say():
    case = make_case("labels", 2, n=30)
    lengths, weight = np.array([12, 1, 17]), np.array([1.0, 2.5, 0.7])
    rows = NumberRows.of(case.values + case.shift).by_sequence(lengths, weight)
    model = HiddenMarkov(case.model.emission, np.full(2, 0.5), np.full((2, 2), 0.25), 2)
    data = Data(model.encode(rows, lengths, weight), StateRows(rows, lengths, weight), ())
    for k in range(2):
        eta = model.start(data, k, np.random.default_rng(k))
        assert (eta.initial - 0.5).sum() == pytest.approx(weight.sum(), rel=1e-12)
        assert (eta.transition - 0.25).sum() == pytest.approx(lengths @ weight, rel=1e-12)
