from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from jensen.exceptions import JensenError
from jensen.support.arguments import check_sample_size, is_real


@pytest.mark.parametrize("x", [0, 1.5, np.float32(2), np.int8(3), Fraction(1, 3), float("nan")])
def test_numbers(x):
    assert is_real(x)


@pytest.mark.parametrize("x", [True, np.True_, "1", None, 1j, [1], np.ones(1), Decimal(1)])
def test_no_numbers(x):
    assert not is_real(x)


def test_sample_sizes():
    check_sample_size(1e-300)
    check_sample_size(np.int64(5))
    with pytest.raises(
        JensenError, match=r"^equivalent_sample_size must be positive and finite, not 'ten'$"
    ):
        check_sample_size("ten")
