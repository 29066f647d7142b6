"""Drawing rows and their log-probabilities, against enumeration of the joint."""

import itertools
import math

import numpy as np
import pytest
from naive import joint
from naive.networks import by_name
from scipy import stats

import jensen as jn


@pytest.fixture(autouse=True)
def _usual_threads():
    yield
    jn.set_threads(None)


def random_net(seed=0):
    rng = np.random.default_rng(seed)
    graph = jn.DAG("a -> b; a -> c; b -> d <- c; e")
    cards = {"a": 2, "b": 3, "c": 2, "d": 4, "e": 1}
    tables = {
        x: rng.dirichlet(np.full(k, 5.0), [cards[p] for p in graph.parents(x)])
        for x, k in cards.items()
    }  # fmt: skip
    return jn.BayesianNetwork.from_tables(graph, tables, parents=by_name(graph))


def same(one, other):
    return one.names == other.names and all(
        np.array_equal(one.column(x).data, other.column(x).data) for x in one.names
    )


# --- log-probabilities ---


@pytest.mark.parametrize("name", ["asia", "sprinkler", "cancer"])
def test_log_likelihood_is_that_of_the_joint(name):
    net = jn.examples.load(name)
    naive = joint.of(net)
    rows = list(joint.assignments(naive))
    table = {x: [row[x] for row in rows] for x in naive}
    expected = [joint.probability(naive, row) for row in rows]
    found = net.log_likelihood(table)
    assert found.shape == (len(rows),)
    np.testing.assert_allclose(np.exp(found), expected, rtol=1e-12)
    np.testing.assert_allclose(np.exp(found).sum(), 1.0, rtol=1e-12)
    assert np.array_equal(found == -np.inf, np.array(expected) == 0.0)


def test_score_is_the_mean_by_weight():
    net = random_net()
    table = net.sample(50, random_state=1)
    each = net.log_likelihood(table)
    np.testing.assert_allclose(net.score(table), each.mean(), rtol=1e-14)
    weights = np.arange(50.0)
    found = net.score(table.with_weights(weights))
    np.testing.assert_allclose(found, np.average(each, weights=weights), rtol=1e-14)


def test_many_rows_are_scored_the_same_on_any_number_of_threads():
    net = random_net()
    table = net.sample(140_000, random_state=2)
    found = []
    for threads in (1, 2):
        jn.set_threads(threads)
        found.append(net.log_likelihood(table))
    np.testing.assert_array_equal(*found)
    few = table.take(np.array([0, 131_071, 131_072, 139_999]))
    np.testing.assert_array_equal(net.log_likelihood(few), found[0][[0, 131_071, 131_072, -1]])


@pytest.mark.filterwarnings("ignore:labels that this model does not know")
def test_impossible_and_unknown_states_have_log_probability_minus_infinity():
    net = jn.examples.load("sprinkler")
    table = {
        "cloudy": ["no", "no", "no", "foggy", "no"],
        "rain": ["no", "no", "no", "no", None],
        "sprinkler": ["off", "off", "half", "off", "broken"],
        "wet_grass": ["no", "yes", "no", "no", "no"],
    }
    found = net.log_likelihood(table)
    np.testing.assert_allclose(found[0], math.log(0.5 * 0.8 * 0.5), rtol=1e-14)
    assert found[1:].tolist() == [-math.inf] * 4
    assert net.score(table) == -math.inf
    weights = [2.0, 0.0, 0.0, 0.0, 0.0]
    assert net.score(jn.Table(table, weights=weights)) == pytest.approx(found[0], rel=1e-14)


def test_the_mean_over_nothing_is_refused():
    net = random_net()
    for table in (net.sample(0), net.sample(3).with_weights([0.0, 0.0, 0.0])):
        with pytest.raises(jn.DataError, match="the mean over no rows is undefined"):
            net.score(table)
    assert net.log_likelihood(net.sample(0)).shape == (0,)


@pytest.mark.filterwarnings("ignore:the table has no column")
def test_extra_columns_are_ignored_and_absent_ones_summed_out():
    net = jn.BayesianNetwork.from_tables("a -> b", {"a": [0.25, 0.75], "b": [[0.5, 0.5]] * 2})
    found = net.log_likelihood({"c": [None, 0.5], "a": [1, 0]})
    np.testing.assert_allclose(found, np.log([0.75, 0.25]), rtol=1e-15)


# --- drawing ---


def test_the_same_seed_gives_the_same_rows_on_any_number_of_threads():
    net, drawn = jn.examples.load("asia"), []
    for threads in (1, 2):
        jn.set_threads(threads)
        drawn.append(net.sample(70_000, random_state=7))
    assert same(*drawn)
    assert drawn[0].n_rows == 70_000


@pytest.mark.parametrize("seed", [3, np.int64(3), np.random.SeedSequence(3)])
def test_a_seed_may_be_given_in_several_ways(seed):
    net = random_net()
    assert same(net.sample(20, random_state=seed), net.sample(20, random_state=3))


def test_a_generator_goes_on_and_no_seed_is_a_new_one():
    net, rng = random_net(), np.random.default_rng(3)
    first, second = net.sample(50, random_state=rng), net.sample(50, random_state=rng)
    assert same(first, net.sample(50, random_state=np.random.default_rng(3)))
    assert not same(first, second)
    assert not same(net.sample(50), net.sample(50))


def test_rows_have_the_joint_distribution():
    """Chi-square over all 48 cells of the joint; fails with probability 0.001 for a fair seed."""
    net = random_net()
    naive, table = joint.of(net), net.sample(70_000, random_state=5)
    shape = [v.n_states for v in net.variables]
    cells = np.ravel_multi_index([table.column(v.name).data for v in net.variables], shape)
    rows = itertools.product(*(v.states for v in net.variables))
    p = [joint.probability(naive, dict(zip(net.graph.nodes, row, strict=True))) for row in rows]
    counts = np.bincount(cells, minlength=len(p))
    assert min(p) * 70_000 > 5
    assert stats.chisquare(counts, np.array(p) * 70_000).pvalue > 0.001


def test_blocks_of_rows_are_independent():
    """Rows 0-8191 and 8192-16383 come from two streams: correlation within 4 standard errors."""
    net = jn.BayesianNetwork.from_tables("a", {"a": [0.5, 0.5]})
    codes = net.sample(2 * 8192, random_state=0).column("a").data.astype(float)
    first, second = codes.reshape(2, 8192)
    assert abs(np.corrcoef(first, second)[0, 1]) < 4 / math.sqrt(8192)


def test_what_is_impossible_is_never_drawn():
    table = jn.examples.load("asia").sample(20_000, random_state=0).to_pandas()
    assert ((table["tub"] == "yes") | (table["lung"] == "yes")).eq(table["either"] == "yes").all()
    net = jn.BayesianNetwork.from_tables("a", {"a": [0.0, 5e-324, 1.0, 0.0]})
    assert set(net.sample(10_000, random_state=0).to_pandas()["a"]) == {"2"}


def test_no_rows_and_one_row():
    net = random_net()
    assert net.sample(0).n_rows == 0
    assert net.sample(0).variables == net.variables
    assert net.sample(np.int64(1), random_state=0).n_rows == 1


@pytest.mark.parametrize("n", [-1, 2.0, "3", None, np.float64(2)])
def test_a_number_of_rows_that_is_none_is_refused(n):
    with pytest.raises(
        jn.JensenError, match=r"the number of rows to draw must be 0, 1, 2, \.\.\., not"
    ):
        random_net().sample(n)


def test_more_rows_than_memory_holds_are_refused_before_they_are_drawn():
    message = r"1,000,000,000,000,000 rows would take .* TiB, more than the limit of .*: draw"
    with pytest.raises(jn.JensenError, match=message):
        random_net().sample(10**15)


@pytest.mark.parametrize("seed", [-1, "x", 1.5])
def test_a_seed_that_is_none_is_refused(seed):
    with pytest.raises(jn.JensenError, match="random_state must be an int >= 0, a SeedSequence"):
        random_net().sample(3, random_state=seed)


def test_drawn_rows_teach_the_network_again():
    truth = jn.examples.load("cancer")
    net = jn.BayesianNetwork(truth.graph).fit(truth.sample(200_000, random_state=0))
    assert net.equals(truth, tolerance=0.02)
