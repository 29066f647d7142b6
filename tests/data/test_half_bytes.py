"""Half bytes give back every code that was put in."""

import numpy as np
import pytest

from jensen.data.packed import HALF, WHOLE, WIDE, pack_half_bytes

SIZES = {
    "mixed": [*range(1, 301, 7), 2, 2, 2, 3, 5, 16, 17, 256, 257, 1, 1],
    "binary": [2] * 9,
    "constant": [1] * 40,
    "full halves": [16, 16, 4, 4, 1, 1, 2, 8],
    "every size": list(range(1, 301)),
    "large": [257, 300],
    "nothing": [],
}


def make_columns(sizes, n_rows):
    """Codes of every size, the largest code among them."""
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, size, n_rows) for size in sizes]
    for column, size in zip(columns, sizes, strict=True):
        column[:1] = size - 1
    return [c.astype(np.min_scalar_type(s)) for c, s in zip(columns, sizes, strict=True)]


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("n_rows", [0, 1, 700])
def test_every_code_is_recovered(sizes, n_rows):
    columns = make_columns(sizes, n_rows)
    packed = pack_half_bytes(columns, sizes)
    members = packed.member.tolist()
    assert sorted(members) == [v for v, size in enumerate(sizes) if size <= WHOLE]
    assert packed.ptr[0] == 0
    assert packed.ptr[-1] == len(members)
    assert len(packed.ptr) == len(packed.bytes) + 1
    for g, codes in enumerate(packed.bytes):
        for j in range(packed.ptr[g], packed.ptr[g + 1]):
            v, half = members[j], packed.half[j]
            part = codes if half == WIDE else codes >> 4 * half & 15
            np.testing.assert_array_equal(part // packed.divide[j] % sizes[v], columns[v])


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_a_half_holds_no_more_than_fits(sizes):
    packed = pack_half_bytes(make_columns(sizes, 3), sizes)
    for g in range(len(packed.bytes)):
        inside = slice(packed.ptr[g], packed.ptr[g + 1])
        for half in (0, 1):
            held = [sizes[v] for v in packed.member[inside][packed.half[inside] == half]]
            assert np.prod(held) <= HALF


def test_eight_binary_columns_take_one_byte():
    assert pack_half_bytes(make_columns([2] * 8, 5), [2] * 8).bytes.shape == (1, 5)
    assert pack_half_bytes(make_columns([2] * 9, 5), [2] * 9).bytes.shape == (2, 5)
