"""Random starts: they keep what is known, and break the symmetry of what is not."""

import numpy as np
import pytest
from models import cases

import jensen as jn
from jensen.models.discrete_network import random_counts

every_seed = pytest.mark.parametrize("seed", range(12))


def begin(case, seed=0, **how):
    data = case.encoded(**how)
    return data, random_counts(case.wiring, data, case.hidden, np.random.default_rng(seed))


@every_seed
def test_tables_in_which_nothing_is_missing_stay_as_counted(seed):
    case = cases.random_case(seed)
    data, counts = begin(case)
    for f, (part, known) in enumerate(
        zip(case.split(counts), case.split(data.counts), strict=True)
    ):
        if f in data.touched:
            assert (part > known).all()  # every cell is possible
        else:
            assert part.tolist() == known.tolist()


@every_seed
def test_a_start_depends_on_its_stream_alone(seed):
    case = cases.random_case(seed)
    one, again, other = (begin(case, k)[1] for k in (1, 1, 2))
    assert one.tobytes() == again.tobytes()
    assert one.tobytes() == begin(case, 1, empty_columns=True)[1].tobytes()
    assert len(begin(case)[0].touched) == 0 or one.tobytes() != other.tobytes()


def test_hidden_rows_are_as_heavy_as_the_data_and_all_different():
    rows = np.random.default_rng(0).integers(0, 2, (90, 3))
    rows[:, 2] = -1
    case = cases.Case(jn.DAG("h -> a; h -> b"), [2, 2, 3], rows, hidden=(2,))
    _, counts = begin(case)
    a, b, h = case.split(counts)
    np.testing.assert_allclose(h.sum(), 90.0, rtol=1e-12)
    for table in (a, b):
        np.testing.assert_allclose(table.sum(-1), 30.0, rtol=1e-12)
        shares = table / table.sum(-1, keepdims=True)
        assert min(abs(shares[i, 0] - shares[j, 0]) for i in range(3) for j in range(i)) > 1e-3


def test_few_rows_are_as_heavy_as_one_at_least():
    case = cases.Case(jn.DAG("h -> a"), [2, 5], np.array([[0, -1], [1, -1]]), hidden=(1,))
    _, counts = begin(case)
    np.testing.assert_allclose(case.split(counts)[0].sum(-1), 1.0, rtol=1e-12)


def test_a_gap_adds_one_row_and_favours_what_was_seen():
    rows = np.array([[0, 0]] * 50 + [[0, 1]] * 2 + [[1, -1]])
    case = cases.Case(jn.DAG("a -> b"), [2, 2], rows)
    total = np.zeros((2, 2))
    for seed in range(50):
        data, counts = begin(case, seed)
        noise = case.split(counts - data.counts)[1]
        np.testing.assert_allclose(noise.sum(-1), 1.0, rtol=1e-12)
        total += noise
    assert data.touched.tolist() == [1]
    assert (total[:, 0] > 0.8 * 50).all()
