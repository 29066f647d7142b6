"""What must not change a fit does not change a bit of it."""

import numpy as np
import pytest

import jensen as jn

GRAPH = jn.examples.load("asia").graph
TABLE = jn.examples.load("asia").sample(3000, random_state=0)
# Every configuration occurs, so that no fit has to warn; integers, so that counts are exact.
ROWS = jn.Table(
    {x: np.append(TABLE.column(x).data, np.arange(256) >> k & 1) for k, x in enumerate(TABLE.names)}
)
CHOICES = [{}, {"prior": "bdeu"}, {"prior": "bds"}, {"prior": 2.5, "method": "em"}]
every_choice = pytest.mark.parametrize("choices", CHOICES, ids=str)


@pytest.fixture(autouse=True)
def _usual_threads():
    yield
    jn.set_threads(None)


def fit(table, choices):
    return jn.BayesianNetwork(GRAPH, **choices).fit(table)


def assert_same_bits(one, other):
    assert one.variables == other.variables
    assert one.network_.tables.tobytes() == other.network_.tables.tobytes()
    assert one.free_energy_ == other.free_energy_
    if one.network_.concentration is not None:
        assert one.network_.concentration.tobytes() == other.network_.concentration.tobytes()


@every_choice
def test_the_order_of_columns(choices):
    shuffled = ROWS.select(np.random.default_rng(0).permutation(ROWS.names).tolist())
    assert_same_bits(fit(ROWS, choices), fit(shuffled, choices))


@every_choice
def test_the_order_of_rows(choices):
    shuffled = ROWS.take(np.random.default_rng(0).permutation(ROWS.n_rows))
    assert_same_bits(fit(ROWS, choices), fit(shuffled, choices))


@every_choice
def test_weights_instead_of_rows(choices):
    frame = ROWS.to_pandas()
    counted = frame.value_counts(sort=False).reset_index()
    counted = counted[counted["count"] > 0]
    assert len(counted) < 300
    assert_same_bits(fit(ROWS, choices), fit(jn.Table(counted, weights="count"), choices))
    twice = fit(jn.Table(frame, weights=np.full(len(frame), 2.0)), choices)
    assert_same_bits(fit(ROWS.take(np.arange(2 * ROWS.n_rows) // 2), choices), twice)


def test_rows_without_weight_count_nothing():
    weights = np.zeros(ROWS.n_rows)
    weights[-256:] = 1.0
    some = ROWS.take(np.arange(ROWS.n_rows - 256, ROWS.n_rows))
    assert_same_bits(fit(some, {}), fit(ROWS.with_weights(weights), {}))


def test_weights_that_are_no_integers():
    rng = np.random.default_rng(0)
    weights = rng.random(ROWS.n_rows) + 1e-3
    order = rng.permutation(ROWS.n_rows)
    one = fit(ROWS.with_weights(weights), {})
    other = fit(ROWS.take(order).with_weights(weights[order]), {})
    np.testing.assert_allclose(one.network_.tables, other.network_.tables, rtol=1e-12)
    half = weights[ROWS.column("smoke").data == 1].sum() / weights.sum()
    np.testing.assert_allclose(one.cpt("smoke")[()]["1"], half, rtol=1e-12)


@every_choice
def test_threads(choices):
    table = jn.examples.load("asia").sample(300_000, random_state=1)
    table = table.take(np.append(np.arange(300_000), np.arange(1000)))
    nets = []
    for threads in (1, 2):
        jn.set_threads(threads)
        nets.append(jn.BayesianNetwork("smoke -> bronc -> dysp", **choices).fit(table))
    assert_same_bits(*nets)


def test_the_kind_of_dataframe(tmp_path):
    expected = fit(ROWS, {"prior": "bdeu"})
    ROWS.write(tmp_path / "rows.csv")
    ROWS.write(tmp_path / "rows.parquet")
    codes = np.column_stack([ROWS.column(x).data for x in ROWS.names])
    for source in (
        ROWS.to_pandas(),
        ROWS.to_polars(),
        ROWS.to_arrow(),
        {x: ROWS.column(x).data for x in ROWS.names},
        jn.Table(codes, names=ROWS.names),
        str(tmp_path / "rows.csv"),
        tmp_path / "rows.parquet",
    ):
        assert_same_bits(expected, fit(source, {"prior": "bdeu"}))


def test_renaming_permutes_the_tables_and_keeps_the_free_energy():
    names = {x: f"{9 - k}{x}" for k, x in enumerate(GRAPH.nodes)}
    frame = ROWS.to_pandas().rename(columns=names)
    renamed = jn.BayesianNetwork(GRAPH.rename(names), prior="bdeu").fit(frame)
    net = fit(ROWS, {"prior": "bdeu"})
    np.testing.assert_allclose(renamed.free_energy_, net.free_energy_, rtol=1e-12)
    for labels in ((0, 0), (0, 1), (1, 0), (1, 1)):
        found = renamed.cpt(names["dysp"])[labels[::-1]]
        assert found == pytest.approx(net.cpt("dysp")[labels], rel=1e-15)
