"""Drawing rows and their log-probabilities against one row at a time."""

import numpy as np
import pytest
from naive import networks as naive
from naive.networks import by_name

import jensen as jn
from jensen.data.encode import Column, smallest_code_type
from jensen.graphs import wire
from jensen.graphs.indexed_graph import topological_order
from jensen.inference import network_rows
from jensen.kernels.forward import draw_rows

GRAPHS = {
    "a single node": ([()], [3]),
    "no edges": ([(), ()], [2, 1]),
    "a chain against the order of names": ([(1,), (2,), ()], [2, 3, 4]),
    "three parents": ([(), (0,), (0, 1), (0, 1, 2)], [2, 3, 2, 5]),
    "many states": ([(), (0,)], [2, 300]),
}
every_graph = pytest.mark.parametrize(("parents", "cards"), GRAPHS.values(), ids=GRAPHS)


def make_tables(parents, cards, seed=0, zeros=0.3):
    """Random rows of probabilities, some exactly 0."""
    rng = np.random.default_rng(seed)
    flat = []
    for x, up in enumerate(parents):
        for _ in range(int(np.prod([cards[p] for p in up]))):
            weights = rng.exponential(1.0, cards[x]) * (rng.random(cards[x]) > zeros)
            weights[rng.integers(cards[x])] += 0.1
            flat.append(weights / weights.sum())
    return np.concatenate(flat)


def make_network(parents, cards, **choices):
    names = [f"x{k}" for k in range(len(cards))]
    dag = jn.DAG.from_parents({names[x]: [names[p] for p in up] for x, up in enumerate(parents)})
    flat, at = make_tables(parents, cards, **choices), wire(parents, cards).fam_at
    shapes = [[cards[p] for p in (*up, x)] for x, up in enumerate(parents)]
    tables = {name: flat[at[x] : at[x + 1]].reshape(shapes[x]) for x, name in enumerate(names)}
    return jn.BayesianNetwork.from_tables(dag, tables, parents=by_name(dag))


@every_graph
def test_draws_are_ancestral_draws_with_the_same_uniforms(parents, cards):
    w, flat = wire(parents, cards), make_tables(parents, cards)
    uniforms = np.random.default_rng(1).random((len(cards), 200))
    cumulative = np.concatenate(
        [
            np.cumsum(flat[a:b].reshape(-1, card), axis=1).ravel()
            for card, a, b in zip(cards, w.fam_at[:-1], w.fam_at[1:], strict=True)
        ]
    )
    codes = np.full(uniforms.shape, -1, np.int32)
    order = np.array(topological_order(parents), np.int64)
    draw_rows(order, w.fam_ptr, w.fam_vars, w.fam_stride, w.fam_at, cumulative, uniforms, codes)
    tables = naive.as_dictionaries(flat, parents, cards)
    expected = [naive.draw(tables, parents, cards, u) for u in uniforms.T]
    assert codes.T.tolist() == expected


class Constant:
    """A generator that always draws the same number."""

    def __init__(self, value):
        self.value = value

    def spawn(self, n):
        return [self] * n

    def random(self, shape):
        return np.full(shape, self.value)


@pytest.mark.parametrize("uniform", [0.0, 1.0 - 2.0**-53])
def test_what_has_probability_zero_is_never_drawn(uniform):
    """Ten times 0.1 is less than the largest number below 1."""
    tables = {"x": [0.0, *[0.1] * 10, 0.0], "y": [0.0, 1.0]}
    assert sum(tables["x"]) < 1.0
    net = jn.BayesianNetwork.from_tables("x; y", tables)
    drawn = network_rows.sample(net.network_, 5, Constant(uniform))
    assert drawn.column("y").data.tolist() == [1] * 5
    assert drawn.column("x").data.tolist() == [1 if uniform == 0.0 else 10] * 5


@every_graph
def test_samples_are_possible_and_do_not_depend_on_threads(parents, cards):
    net = make_network(parents, cards)
    drawn = []
    for threads in [1, 2]:
        jn.set_threads(threads)
        try:
            drawn.append(net.sample(20_000, random_state=5))
        finally:
            jn.set_threads(None)
    for name in drawn[0].names:
        assert np.array_equal(drawn[0].column(name).data, drawn[1].column(name).data)
    assert np.all(np.isfinite(net.log_likelihood(drawn[0])))


def test_no_rows_and_no_variables_can_be_drawn():
    assert make_network([(), (0,)], [2, 3]).sample(0, random_state=0).n_rows == 0
    assert jn.BayesianNetwork(jn.DAG("")).fit({"x": [1]}).sample(3, random_state=0).names == ()


def random_rows(net, n, seed):
    """Rows that have nothing to do with the network, so that some are impossible."""
    rng = np.random.default_rng(seed)
    return jn.Table.from_columns(
        Column(v, rng.integers(0, v.n_states, n).astype(smallest_code_type(v.n_states)))
        for v in net.variables
    )


@every_graph
@pytest.mark.parametrize("n", [0, 1, 64, 300])
def test_log_likelihoods_are_sums_of_logarithms(parents, cards, n):
    net = make_network(parents, cards)
    table = random_rows(net, n, seed=n)
    tables = naive.as_dictionaries(net.network_.probabilities, parents, cards)
    rows = zip(*(table.column(name).data.tolist() for name in table.names), strict=True)
    expected = [naive.log_probability(tables, parents, row) for row in rows]
    np.testing.assert_allclose(net.log_likelihood(table), expected, rtol=1e-14)


def test_log_likelihoods_over_several_units_and_threads():
    net = make_network(*GRAPHS["three parents"], zeros=0.0)
    table = random_rows(net, 300_000, seed=0)
    results = []
    for threads in [1, 3]:
        jn.set_threads(threads)
        try:
            results.append(net.log_likelihood(table))
        finally:
            jn.set_threads(None)
    assert np.array_equal(*results)
    pieces = [table.take(np.arange(k, k + 50_000)) for k in range(0, 300_000, 50_000)]
    assert np.array_equal(results[0], np.concatenate([net.log_likelihood(p) for p in pieces]))
