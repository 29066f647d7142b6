"""Every move by itself: one step from states drawn from the target, for all states there are.

If a move keeps detailed balance, states after it have the target's law again, and steps x -> y and
y -> x come equally often. All draws are independent, so both are tested by chi-squared.
"""

import numpy as np
import pytest
from numba import njit, typeof, types
from q_graph.chains import cases
from q_graph.chains.cases import CASES, P_VALUE

from jensen.kernels import KERNELS, bare_part
from jensen.kernels import moves as lists
from jensen.kernels.moves import draw_one_of, edges, orders, partitions
from jensen.kernels.order_chain import advance_orders, weigh_order
from jensen.kernels.partition_chain import advance_partitions, weigh_partition
from jensen.kernels.structure_chain import advance_graphs, read_graph, weigh_graph
from jensen.q_graph.chains.kinds import KINDS, make_samples
from jensen.q_graph.chains.weights import read_weights
from jensen.support.chain_records import MoveCounts, empty_graph, make_workspace

pytestmark = pytest.mark.compiled

N_STARTS = 50_000


def run_loop(loop, functions, *arguments):
    """Run a loop that calls kernels by pointers: else they would be compiled again in it."""
    if not loop.signatures:
        for item in KERNELS:
            if item.function in functions:
                item.function.compile(item.signature)
        pointers = [types.FunctionType(f.nopython_signatures[0]) for f in functions]
        loop.compile((*pointers, *map(typeof, arguments)))
        loop.disable_compile()
    return loop(*functions, *arguments)


@njit
def step_orders(weigh, advance, rng, t, orders, sums, room, moves, kept, kinds):
    """One step from every order; return how far sums are from sums made anew, at most."""
    worst, fresh, one = 0.0, np.zeros_like(sums), np.int64(1)
    for i in range(len(orders)):
        tried = moves.tried.copy()
        weigh(orders[i], t, room, sums)
        advance(rng, t, orders[i], sums, room, moves, one, one, kept)
        kinds[i] = np.argmax(moves.tried - tried)
        weigh(orders[i], t, room, fresh)
        worst = max(worst, np.abs(fresh - sums).max())
    return worst


@njit
def step_partitions(
    weigh, advance, rng, t, partitions, sums, room, moves, graph, cycle, kept, kinds
):
    """The same of partitions."""
    worst, fresh, one = 0.0, np.zeros_like(sums), np.int64(1)
    for i in range(len(partitions)):
        parts, tried = partitions[i], moves.tried.copy()
        weigh(parts, t, room, sums)
        advance(rng, t, parts, sums, room, moves, graph, cycle, one, one, kept)
        kinds[i] = np.argmax(moves.tried - tried)
        weigh(parts, t, room, fresh)
        worst = max(worst, np.abs(fresh - sums).max())
    return worst


@njit
def step_graphs(read, weigh, advance, rng, t, graphs, room, moves, graph, cycle, kept, kinds):
    """One step from every graph; return how often the books of edges differ."""
    n_wrong, one = 0, np.int64(1)
    for i in range(len(graphs)):
        tried = moves.tried.copy()
        read(graphs[i], t, room, graph)
        advance(rng, t, room, moves, graph, cycle, one, one, kept)
        kinds[i] = np.argmax(moves.tried - tried)
        n_wrong += np.isinf(weigh(graph, t))
        for v in range(len(graph.parents)):
            for u in range(len(graph.parents)):
                up = graph.parents[v, 0] >> np.uint64(u) & np.uint64(1)
                n_wrong += up != graph.children[u, 0] >> np.uint64(v) & np.uint64(1)
        graphs[i] = graph.parents
    return n_wrong


def draw_states(found, seed):
    """Numbers of states drawn from the target, and its probabilities."""
    logs = np.array(list(found.values()))
    p = np.exp(logs - logs.max())
    p /= p.sum()
    return np.random.default_rng(seed).choice(len(p), N_STARTS, p=p), p


def check_rows(found, before, rows, p, kinds, moves, moves_a_lot):
    """Of every kind of move: states after it have the target's law; back is as likely as forth."""
    base = 16 ** np.arange(rows.shape[1])
    known = np.array(list(found), int) @ base
    order = np.argsort(known)
    reached = rows.astype(int) @ base
    after = order[np.searchsorted(known[order], reached)]
    assert (known[after] == reached).all()
    for k in np.unique(kinds):
        a, b = before[kinds == k], after[kinds == k]
        assert moves.accepted[k] >= (a != b).sum()
        assert cases.fits(np.bincount(b, minlength=len(p)), p) > P_VALUE
        assert cases.is_symmetric(a, b, len(p)) > P_VALUE
        if moves_a_lot:
            assert (a != b).mean() > 0.02


def make_desk(kind, case):
    """What kernels work with: random numbers, weights, room, counts of moves, no samples."""
    n_moves = len(KINDS[kind].moves)
    moves = MoveCounts(np.zeros(n_moves, np.int64), np.zeros(n_moves, np.int64))
    words = np.random.default_rng(2).integers(0, 1 << 64, 4, np.uint64)
    kept = make_samples(0, case.n, keeps_orders=False)
    return words, read_weights(case.raw)[0], make_workspace(case.n), moves, kept


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_moves_of_orders(name):
    case = CASES[name]
    found = cases.known_states(name, "order")
    before, p = draw_states(found, seed=1)
    rows, kinds = np.array(list(found))[before], np.zeros(N_STARTS, np.int64)
    words, t, room, moves, kept = make_desk("order", case)
    desk = words, t, rows, np.zeros(case.n), room, moves, kept, kinds
    assert run_loop(step_orders, (weigh_order, advance_orders), *desk) < 1e-8
    check_rows(found, before, rows, p, kinds, moves, name == "all candidates")


@pytest.mark.parametrize("cycle", [(1, 0), (0, 1), (0, 5)])
@pytest.mark.parametrize("name", CASES)
def test_moves_of_partitions(name, cycle):
    """Splits, joins, shifts and swaps; reversals of edges in graphs drawn from a partition."""
    case = CASES[name]
    found = cases.known_states(name, "partition")
    before, p = draw_states(found, seed=3)
    rows, kinds = np.array(list(found))[before], np.zeros(N_STARTS, np.int64)
    words, t, room, moves, kept = make_desk("partition", case)
    graph, sums = empty_graph(case.n), np.zeros(case.n)
    desk = words, t, rows, sums, room, moves, graph, np.array(cycle), kept, kinds
    assert run_loop(step_partitions, (weigh_partition, advance_partitions), *desk) < 1e-8
    assert moves.tried.sum() == N_STARTS * sum(cycle)
    check_rows(found, before, rows, p, kinds, moves, name == "all candidates")


@pytest.mark.slow
@pytest.mark.parametrize("cycle", [(1, 0), (0, 1)])
@pytest.mark.parametrize("name", CASES)
def test_moves_of_graphs(name, cycle):
    """Edges added or dropped, edges turned; the new edge reversal."""
    case = CASES[name]
    found = cases.known_states(name, "structure")
    before, p = draw_states(found, seed=5)
    all_words = np.array([cases.to_bits(graph) for graph in found])
    rows, kinds = all_words[before], np.zeros(N_STARTS, np.int64)
    words, t, room, moves, kept = make_desk("structure", case)
    desk = words, t, rows, room, moves, empty_graph(case.n), np.array(cycle), kept, kinds
    assert run_loop(step_graphs, (read_graph, weigh_graph, advance_graphs), *desk) == 0
    named = {tuple(row): log for row, log in zip(all_words[:, :, 0], found.values(), strict=True)}
    check_rows(named, before, rows[:, :, 0], p, kinds, moves, name == "all candidates")


LISTS = {
    "order": lists.ORDER_MOVES,
    "partition": lists.PARTITION_MOVES,
    "structure": lists.STRUCTURE_MOVES,
}


def test_every_move_has_a_row():
    """A function without one would be dead, and a row is all that a chain knows of a move."""
    named = {move.function for listed in LISTS.values() for move in listed}
    found = [
        function
        for module in (edges, orders, partitions)
        for name, function in vars(module).items()
        if name.startswith(("propose_", "step_"))
    ]
    assert named == {*found}
    assert LISTS.keys() == KINDS.keys()


@pytest.mark.parametrize("kind", KINDS)
def test_moves_are_drawn_as_the_list_says(kind):
    """Of those that are drawn; a cycle has turns for the others. There is one count for each."""
    chain, listed = KINDS[kind], LISTS[kind]
    assert chain.moves == tuple(move.name for move in listed)
    case = CASES["all candidates"]
    words, t, _, _, kept = make_desk(kind, case)
    state = chain.begin(words, np.arange(case.n), t)
    assert len(state.moves.tried) == len(state.moves.accepted) == len(listed)
    chain.advance(state, t, 1, 20_000 // chain.cycle_length, kept)
    shares = np.array([move.share for move in listed])
    assert shares.sum() == pytest.approx(1.0, abs=1e-15)
    tried, is_drawn = state.moves.tried, shares > 0.0
    assert tried.sum() == 20_000 // chain.cycle_length * chain.cycle_length
    assert (tried > 0).all()
    n = tried[is_drawn].sum()
    spread = np.sqrt(n * shares * (1.0 - shares))
    assert (np.abs(tried - n * shares) <= 5.0 * spread)[is_drawn].all()  # five standard errors


def make_move(name, share, answer):
    @bare_part
    def step(rng):
        return rng[0] + answer

    return lists.Move(name, step, share)


def test_a_further_row_is_drawn_and_counted():
    """By its place in the list, whatever other rows are there."""
    moves = [make_move("a", 0.25, 10), lists.REVERSAL, make_move("b", 0.5, 20)]
    moves += [make_move("c", 0.125, 30), make_move("d", 0.125, 40)]
    call = draw_one_of(moves)

    @njit
    def ask(u, rng):
        return call(u, rng)

    rng = np.array([1])
    found = {u: ask(u, rng) for u in (0.0, 0.2499, 0.25, 0.7499, 0.75, 0.8749, 0.875, 1.0)}
    a, b, c, d = (0, 11), (2, 21), (3, 31), (4, 41)
    assert list(found.values()) == [a, a, b, b, c, c, d, d]
