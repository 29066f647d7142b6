from itertools import product

import numpy as np
import pytest
from naive import graphs as naive_graphs

from jensen.exceptions import GraphError
from jensen.graphs import DAG, wire
from jensen.graphs.indexed_graph import wire_families


def test_a_small_graph_written_out():
    wiring = wire(DAG("B -> A <- C; B -> C; D").parent_indices, [2, 3, 4, 5])
    assert wiring.cards.tolist() == [2, 3, 4, 5]
    assert wiring.fam_ptr.tolist() == [0, 3, 4, 6, 7]
    assert wiring.fam_vars.tolist() == [1, 2, 0, 1, 1, 2, 3]
    assert wiring.fam_stride.tolist() == [8, 2, 1, 1, 4, 1, 1]
    assert wiring.fam_at.tolist() == [0, 24, 27, 39, 44]
    assert wiring.touch_ptr.tolist() == [0, 1, 4, 6, 7]
    assert wiring.touch.tolist() == [0, 0, 1, 2, 0, 2, 3]
    assert wiring.n_families == 4
    assert wiring.scopes() == [(1, 2, 0), (1,), (1, 2), (3,)]
    assert wiring.members(2).tolist() == [1, 2]
    assert {array.dtype for array in wiring} == {np.dtype(np.int64)}


@pytest.mark.parametrize("seed", range(5))
def test_every_cell_has_the_place_of_a_table_in_row_major_order(seed):
    rng = np.random.default_rng(seed)
    dag = DAG(*naive_graphs.random_dag(rng, 6, 0.4))
    cards = rng.integers(1, 4, 6)
    wiring = wire(dag.parent_indices, cards)
    for f, parents in enumerate(dag.parent_indices):
        members = slice(wiring.fam_ptr[f], wiring.fam_ptr[f + 1])
        assert wiring.fam_vars[members].tolist() == [*parents, f]
        cells = list(product(*(range(cards[x]) for x in (*parents, f))))
        assert [int(np.dot(cell, wiring.fam_stride[members])) for cell in cells] == list(
            range(len(cells))
        )
        assert wiring.fam_at[f + 1] - wiring.fam_at[f] == len(cells)
    for v in range(6):
        touched = wiring.touch[wiring.touch_ptr[v] : wiring.touch_ptr[v + 1]].tolist()
        assert touched == [f for f, up in enumerate(dag.parent_indices) if v in (*up, f)]


def test_families_may_be_any():
    """Members in any order, the same family twice, one without members, a variable in none."""
    families, cards = [(2, 0), (1,), (), (2, 0)], [2, 3, 4, 5]
    wiring = wire_families(families, cards)
    assert wiring.scopes() == families
    assert wiring.fam_stride.tolist() == [2, 1, 1, 2, 1]
    assert wiring.fam_at.tolist() == [0, 8, 11, 12, 20]
    assert wiring.touch_ptr.tolist() == [0, 2, 3, 5, 5]
    assert wiring.touch.tolist() == [0, 3, 1, 0, 3]
    assert {array.dtype for array in wiring} == {np.dtype(np.int64)}


def test_parents_may_come_in_any_order():
    one, two = wire([[], [], [1, 0]], [2, 3, 4]), wire([(), (), (0, 1)], [2, 3, 4])
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))


def test_no_variables():
    wiring = wire((), ())
    assert [array.tolist() for array in wiring] == [[], [0], [], [], [0], [0], []]


def test_tables_may_have_two_to_the_62_entries_and_no_more():
    parents = [()] * 61 + [tuple(range(61))]
    cards = [2] * 62
    with pytest.raises(
        GraphError,
        match=r"have 4.61e\+18 entries together, more than 2\*\*62; the largest is that of "
        r"variable 61 with 4.61e\+18; give it fewer parents or states",
    ):
        wire(parents, cards)
    assert wire(parents, [1, *cards[1:]]).fam_at[-1] == 2**61 + 2 * 60 + 1


@pytest.mark.parametrize(
    ("parents", "cards", "text"),
    [
        ([(), (0,)], [2], "there are 2 variables, but 1 numbers of states"),
        ([(), (0,)], [2, 0], "variable 1 has 0 states; it needs one at least"),
        ([(1,), (0,)], [2, 2], "the graph has a directed cycle; tables need an acyclic graph"),
    ],
)
def test_what_does_not_fit_is_refused(parents, cards, text):
    with pytest.raises(GraphError, match=text):
        wire(parents, cards)
