"""Packed columns: the codes as bytes and bitsets, filled once and only where asked for."""

import numpy as np
import pytest

import jensen as jn
from jensen.data import packed
from jensen.data.encode import Column

N_ROWS = 200
SIZES = {"two": 2, "missing": 3, "wide": 64, "wider": 65, "many": 300, "most": 70_000}


def codes_of(name):
    rng = np.random.default_rng(len(name))
    codes = rng.integers(0, SIZES[name], N_ROWS)
    return np.where(codes == 0, None, codes) if name == "missing" else codes


@pytest.fixture(scope="module", params=["together", "one by one"])
def table(request):
    """The widest codes come first, and columns go together or not."""
    columns = {name: codes_of(name) for name in reversed(SIZES)}
    states = {name: range(size) for name, size in SIZES.items()}
    table = jn.Table({**columns, "number": np.linspace(0, 1, N_ROWS)}, states=states)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed, "SMALL", packed.SMALL if request.param == "together" else 0)
        assert table.packed.n_rows == N_ROWS
    return table


@pytest.mark.parametrize("name", SIZES)
def test_bytes_spell_the_codes(table, name):
    planes, level = table.packed.planes([name]), table.packed.levels[name]
    spelled = sum(planes[row].astype(np.int64) << 8 * k for k, row in enumerate(level.planes))
    np.testing.assert_array_equal(spelled, table.column(name).data)


@pytest.mark.parametrize("name", ["two", "missing", "wide"])
def test_bits_mark_the_rows_of_each_code(table, name):
    bits, level = table.packed.bits([name]), table.packed.levels[name]
    for code, row in enumerate(level.bits):
        marked = np.unpackbits(bits[row].view(np.uint8), bitorder="little")
        expected = table.column(name).data == code
        np.testing.assert_array_equal(marked[:N_ROWS], expected)
        assert not marked[N_ROWS:].any()


def test_missing_is_one_more_code_where_something_is_missing(table):
    assert {name: level.size for name, level in table.packed.levels.items()} == {
        **SIZES,
        "missing": 4,
    }


def test_variables_of_many_states_have_no_bits(table):
    n_bits = {name: len(level.bits) for name, level in table.packed.levels.items()}
    assert n_bits == {"two": 2, "missing": 4, "wide": 64, "wider": 0, "many": 0, "most": 0}


def test_numbers_are_not_packed(table):
    assert "number" not in table.packed.levels


def test_a_table_is_packed_once(table):
    assert table.packed is table.packed
    first = table.packed.planes(["two"])
    assert table.packed.planes(["two", "many"]) is first


def test_matrices_have_a_place_for_every_byte_and_bitset_once(table):
    levels = table.packed.levels.values()
    planes, bits = (sorted(k for x in levels for k in x[at]) for at in (1, 2))
    assert planes == list(range(len(table.packed.planes([]))))
    assert bits == list(range(len(table.packed.bits([]))))


@pytest.mark.parametrize("names", [[], ["missing"], ["many", "two", "wide"]])
def test_places_are_those_of_the_levels(table, names):
    levels = [table.packed.levels[name] for name in names]
    expected = [(x.planes.start, x.bits.start, x.size) for x in levels]
    np.testing.assert_array_equal(table.packed.places(names).T, np.reshape(expected, (-1, 3)))


def test_a_table_is_complete_if_all_is_categorical_and_there():
    columns = {"a": list("xyx"), "b": list("xxy")}
    assert jn.Table(columns).packed.is_complete
    for further in (["x", None, "x"], [0.5, 1.5, 2.5], [None, None, None]):
        assert not jn.Table({**columns, "c": further}).packed.is_complete


def test_columns_that_are_no_arrays_of_their_own_are_packed():
    """Every other code, and codes that must not be written, as a caller may hold them."""
    variable = jn.Table({"x": list("ab")}).variable("x")
    codes = np.tile(np.array([0, 1, 1, 0], np.uint8), 50)[::2]
    frozen = codes.copy()
    frozen.flags.writeable = False
    for data in (codes, frozen):
        table = jn.Table.from_columns([Column(variable, data)])
        marked = np.unpackbits(table.packed.bits(["x"]).view(np.uint8), axis=1, bitorder="little")
        np.testing.assert_array_equal(marked[:, :100], [codes == 0, codes == 1])


@pytest.mark.parametrize("values", [[], [None], ["a"]])
def test_tiny_columns_are_packed(values):
    packed = jn.Table({"x": values}).packed
    assert packed.planes(["x"]).tolist() == [[0] * len(values)]
    assert packed.bits(["x"]).tolist() == [[1] * len(values)]
