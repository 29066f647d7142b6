import numpy as np
import pytest

import jensen as jn
from jensen.support.arguments import as_generator


def test_a_generator_stays_itself():
    rng = np.random.default_rng(0)
    assert as_generator(rng) is rng


@pytest.mark.parametrize("seed", [0, 12345, np.int64(7), 2**100, [1, 2], np.random.SeedSequence(3)])
def test_equal_seeds_give_equal_streams(seed):
    expected = np.random.default_rng(seed).random(4)
    assert np.array_equal(as_generator(seed).random(4), expected)
    assert np.array_equal(as_generator(seed).random(4), expected)


def test_no_seed_is_a_fresh_one():
    assert as_generator(None).random() != as_generator(None).random()


def test_a_random_state_gives_a_seed_and_moves_on():
    one, two = np.random.RandomState(3), np.random.RandomState(3)
    first = as_generator(one).random(4)
    assert np.array_equal(as_generator(two).random(4), first)
    assert not np.array_equal(as_generator(two).random(4), first)
    assert len(as_generator(one).spawn(2)) == 2  # it has no streams, its seed has
    rows = [[0.0], [0.5], [4.0], [4.5]]
    fits = [
        jn.GaussianMixture(2, prior={}, random_state=np.random.RandomState(7)).fit(rows)
        for _ in range(2)
    ]
    assert np.array_equal(fits[0].trace_, fits[1].trace_)


@pytest.mark.parametrize("seed", [-1, 1.5, "seven", float("nan"), [-1], {}, object])
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(jn.JensenError) as error:
        as_generator(seed)
    assert str(error.value) == (
        f"random_state must be an int >= 0, a SeedSequence, a Generator, a RandomState or None, "
        f"not {seed!r}"
    )
