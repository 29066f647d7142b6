import numpy as np
import pytest

import jensen as jn
from jensen.randomness import as_generator


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


# A RandomState cannot give every unit of work its own stream.
@pytest.mark.parametrize(
    "seed",
    [-1, 1.5, "seven", float("nan"), [-1], {}, object, np.random.RandomState(0)],
)
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(jn.JensenError) as error:
        as_generator(seed)
    assert str(error.value) == (
        f"random_state must be an int >= 0, a SeedSequence, a Generator or None, not {seed!r}"
    )
