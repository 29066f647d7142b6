"""Expected statistics of rows with holes against every completion, and scores on them."""

from itertools import chain, combinations, permutations, product

import numpy as np
import pytest
from inference import cases
from naive import expected as naive
from naive import gaussian_networks as naive_gaussian
from naive import hidden as naive_hidden
from naive import joint, scores

import jensen as jn
from jensen.data.statistics import CountStatistics, MomentStatistics, moments_of
from jensen.exceptions import DataError, ImpossibleError, JensenError
from jensen.inference import expected as expected_module
from jensen.inference.expected import ExpectedCounts, expected
from jensen.q_graph.constraints import read_constraints
from jensen.q_graph.optimum.dynamic_programming import best_network
from jensen.q_graph.search.climbing import Climber, hill_climb
from jensen.scores.make_scorer import make_scorer, scorer_on
from jensen.scores.parent_sets import candidate_scores, fill_family_scores, superset_bound
from jensen.scores.registry import SPECS, names_of

TOL = {"rtol": 1e-11, "atol": 1e-13}
SCORES = [name for name, twin in scores.SCORES.items() if twin.penalty or hasattr(naive, name)]


def own_table(net, columns, weights=None):
    """A table with the states of a network."""
    states = {x: net.states[x] for x in columns}
    return jn.Table(columns, states=states, weights=weights)


def every_pattern(net, hidden=()):
    """A row for everything that can be known of the variables, as columns."""
    shown = [x for x in net.states if x not in hidden]
    rows = list(product(*([None, *net.states[x]] for x in shown)))
    return {x: [row[k] for row in rows] for k, x in enumerate(shown)}


def all_families(net, most=3):
    """Every variable with every set of up to so many others, in the graph or not."""
    names = list(net.states)
    for x in names:
        others = [y for y in names if y != x]
        for parents in chain.from_iterable(combinations(others, k) for k in range(most)):
            yield x, list(parents)


def dense(found):
    """All configurations of a family, also those that do not occur."""
    table = np.zeros((int(found.n_configs), found.n_states))
    table[found.configs] = found.table
    return table


def check(statistics, net, columns, weights=None):
    twin = joint.of(net)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    weights = [1.0] * len(rows) if weights is None else weights
    families = list(all_families(net))
    for (x, parents), found in zip(families, statistics.counts(families), strict=True):
        np.testing.assert_allclose(
            dense(found), naive.counts(twin, rows, weights, x, parents), **TOL
        )
        assert found.family == (*parents, x)
        assert found.total == pytest.approx(sum(weights), rel=1e-11)
        assert found.table.any(axis=1).all()


@pytest.mark.parametrize("seed", range(3))
def test_counts_of_all_patterns_are_those_of_all_completions(seed):
    net = cases.random_net(seed, "positive", n=4, configurations=90)
    columns = every_pattern(net)
    check(expected(net.network_, own_table(net, columns)), net, columns)


@pytest.mark.parametrize("n_hidden", [1, 2])
def test_hidden_variables_and_weights(n_hidden):
    net = cases.random_net(7, "positive", n=4, density=0.8, configurations=90)
    columns = every_pattern(net, hidden=list(net.states)[:n_hidden])
    n = len(next(iter(columns.values())))
    weights = np.random.default_rng(0).random(n) * 3.0
    weights[::3] = 0.0
    check(expected(net.network_, own_table(net, columns, weights)), net, columns, weights)


def test_tables_with_zeros():
    net = cases.random_net(1, "with zeros", n=4, configurations=90)
    twin, columns = joint.of(net), every_pattern(net)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    kept = [joint.evidence(twin, joint.known(twin, row)) > 0 for row in rows]
    columns = {x: [y for y, k in zip(c, kept, strict=True) if k] for x, c in columns.items()}
    check(expected(net.network_, own_table(net, columns)), net, columns)


@pytest.mark.parametrize(("most", "large"), [(1, 1 << 23), (3, 1 << 23), (64, 0), (64, 300)])
def test_batches_change_nothing(monkeypatch, most, large):
    net = cases.random_net(3, "positive", n=5, configurations=400)
    table = own_table(net, cases.holes(net, 30, 0))
    families = [list(scope) for k in (1, 2, 3) for scope in permutations(net.states, k)]
    together = expected(net.network_, table).tables(families)
    monkeypatch.setattr(expected_module, "MOST_FAMILIES", most)
    monkeypatch.setattr(expected_module, "LARGE_BATCH", large)
    for one, other in zip(together, expected(net.network_, table).tables(families), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


def test_many_families_take_few_e_steps(monkeypatch):
    """One split of the rows for all families of one child, not one for each of them."""
    net = jn.examples.load("asia")
    table = own_table(net, cases.holes(net, 40, 1))
    steps = []
    solve = expected_module._solve
    monkeypatch.setattr(expected_module, "_solve", lambda x: steps.append(x) or solve(x))
    others = [x for x in net.states if x != "dysp"]
    pairs = [("dysp", [a, b]) for a, b in combinations(others, 2)]
    expected(net.network_, table).counts([*pairs, ("dysp", []), ("dysp", ["asia"])])
    assert len(steps) == 1
    n_asked = steps[0].wiring.n_families - steps[0].n_own
    assert n_asked == len(pairs)  # the other two are read from these


def test_potentials_that_do_not_sum_to_one():
    """Of VB: exp E[log θ] in place of tables; nothing is irrelevant then."""
    net = cases.random_net(5, "positive", n=4, density=0.7, configurations=90)
    network = net.network_
    log_tables = np.log(network.probabilities) - np.random.default_rng(0).random(
        len(network.probabilities)
    )
    columns = every_pattern(net, hidden=[list(net.states)[-1]])
    table = own_table(net, columns)
    names, wiring = list(net.states), network.wiring
    scopes, cards = wiring.scopes(), wiring.cards.tolist()
    parts = [
        log_tables[wiring.fam_at[f] : wiring.fam_at[f + 1]].reshape([cards[v] for v in scope])
        for f, scope in enumerate(scopes)
    ]
    found = ExpectedCounts(network, table, log_tables).tables([[names[3], names[0]]])[0]
    total = np.zeros((cards[3], cards[0]))
    for i in range(table.n_rows):
        row = [
            -1 if x not in columns or columns[x][i] is None else net.states[x].index(columns[x][i])
            for x in names
        ]
        members = [v for v in range(4) if row[v] < 0]
        configs = naive_hidden.configurations(cards, members)
        values = np.zeros(len(configs))
        for scope, part in zip(scopes, parts, strict=True):
            values = values + part[naive_hidden.cells(scope, row, members, configs)]
        shares = naive_hidden.probabilities(values)
        for config, share in zip(configs, shares, strict=True):
            full = [config[members.index(v)] if v in members else row[v] for v in range(4)]
            total[full[3], full[0]] += share
    np.testing.assert_allclose(found, total, **TOL)


def test_impossible_potentials_are_refused():
    net = cases.random_net(5, "positive", n=3, configurations=60)
    log_tables = np.full(len(net.network_.probabilities), -np.inf)
    table = own_table(net, {x: [None] for x in net.states})
    with pytest.raises(ImpossibleError, match=r"^a row is impossible under these tables$"):
        ExpectedCounts(net.network_, table, log_tables).tables([[next(iter(net.states))]])


# --- scores ---


@pytest.mark.parametrize("name", SCORES)
def test_scores_are_their_definitions_on_enumerated_counts(name):
    net = cases.random_net(2, "positive", n=4, configurations=90)
    columns = every_pattern(net, hidden=[list(net.states)[1]])
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    scorer = scorer_on(expected(net.network_, own_table(net, columns)), name)
    assert scorer.is_set_function == SPECS[name].is_set_function
    twin, names = joint.of(net), list(net.states)
    for x, parents in all_families(net):
        table = naive.counts(twin, rows, [1.0] * len(rows), x, parents)
        found = scorer.family(names.index(x), [names.index(p) for p in parents])
        cost = scores.SCORES[name].penalty
        wanted = naive.penalised(table, cost) if cost else getattr(naive, name)(table)
        assert found == pytest.approx(wanted, rel=1e-10)


def test_an_equivalent_sample_size():
    net = cases.random_net(2, "positive", n=4, configurations=90)
    columns = every_pattern(net)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    scorer = scorer_on(
        expected(net.network_, own_table(net, columns)), "bdeu", equivalent_sample_size=7.0
    )
    x, *parents = net.states
    table = naive.counts(joint.of(net), rows, [1.0] * len(rows), x, parents)
    assert scorer.family(0, [1, 2, 3]) == pytest.approx(naive.bdeu(table, 7.0), rel=1e-10)


def test_a_prior_network():
    net = jn.examples.load("asia")
    table = own_table(net, cases.holes(net, 40, 2))
    scorer = scorer_on(expected(net.network_, table), "bde", prior_network=net)
    flat = jn.BayesianNetwork.from_tables(
        jn.DAG("", list(net.states)),
        {x: np.full(len(s), 1.0 / len(s)) for x, s in net.states.items()},
        net.states,
    )
    even = scorer_on(expected(net.network_, table), "bde", prior_network=flat)
    bdeu = scorer_on(expected(net.network_, table), "bdeu")
    assert even.family(0, [1, 2]) == pytest.approx(bdeu.family(0, [1, 2]), rel=1e-12)
    assert scorer.family(0, [1, 2]) != pytest.approx(bdeu.family(0, [1, 2]), rel=1e-3)


@pytest.mark.parametrize("name", ["bdeu", "bic", "k2", "bds"])
def test_complete_rows_score_as_they_are_counted(name):
    net = jn.examples.load("asia")
    table = net.sample(200, random_state=0)
    rows, _ = table.read_as(net.network_.variables)
    scorer, counted = scorer_on(expected(net.network_, rows), name), make_scorer(rows, name)
    for child, parents in ((0, []), (1, [0, 4]), (5, [2, 3, 7])):
        assert scorer.family(child, parents) == pytest.approx(
            counted.family(child, parents), rel=1e-12
        )
        others = [u for u in range(8) if u != child and u not in parents]
        np.testing.assert_allclose(
            scorer.with_each(child, parents)[others], counted.with_each(child, parents)[others]
        )
        np.testing.assert_allclose(
            scorer.without_each(child, parents), counted.without_each(child, parents)
        )
    found, wanted = np.empty((2, 8, 128))
    fill_family_scores(scorer, found, 2)
    fill_family_scores(counted, wanted, 2)
    few = [number for number in range(128) if number.bit_count() <= 2]
    np.testing.assert_allclose(found[:, few], wanted[:, few], rtol=1e-9)
    np.testing.assert_allclose(
        candidate_scores(scorer, 3, [0, 5, 6], 3), candidate_scores(counted, 3, [0, 5, 6], 3)
    )
    assert superset_bound(scorer, 0) is None


def test_searches_run_on_expected_statistics():
    """What structural EM does between two E-steps."""
    net = jn.examples.load("cancer")
    table = own_table(net, cases.holes(net, 3000, 3, share=0.1))
    scorer = scorer_on(expected(net.network_, table), "bic")
    best, total = best_network(scorer)
    climber = Climber(scorer, read_constraints(scorer.names)).begin(np.zeros((5, 5), bool))
    climbed = hill_climb(climber, lambda total, n_moves: False)
    assert climbed.joined.any()
    assert climbed.score <= total + 1e-9
    assert total == pytest.approx(
        sum(scorer.family(v, parents) for v, parents in enumerate(best)), rel=1e-12
    )


def test_what_expected_counts_cannot_do():
    net = jn.examples.load("asia")
    table = own_table(net, {"xray": ["yes", None]})
    statistics = expected(net.network_, table)
    with pytest.raises(
        DataError, match=r"^fnml sums over data sets of a size, so row weights must"
    ):
        scorer_on(statistics, "fnml")
    with pytest.raises(DataError, match=r"^scale: these belong to continuous variables$"):
        scorer_on(statistics, scale=1.0)
    with pytest.raises(JensenError, match=r"^these statistics are expected ones, and have no rows"):
        _ = scorer_on(statistics).table
    with pytest.raises(JensenError, match=r"^'bge' is a score of continuous columns: use 'bdeu'"):
        scorer_on(statistics, "bge")
    assert isinstance(statistics, CountStatistics)
    assert not isinstance(statistics, MomentStatistics)


# --- numbers ---


def gaussian_net():
    regressions = {
        "a": {"intercept": 0.5, "variance": 1.3},
        "b": {"intercept": -1.0, "coefficients": {"a": 0.8}, "variance": 0.6},
        "c": {"intercept": 2.0, "coefficients": {"a": -0.5, "b": 1.1}, "variance": 0.4},
        "d": {"intercept": 100.0, "coefficients": {"c": 20.0}, "variance": 50.0},
    }
    return jn.BayesianNetwork.from_regressions("a -> b -> c <- a; c -> d", regressions)


def gaussian_rows(hidden=False):
    """Every pattern of gaps twice, all missing included; weights, some of them 0."""
    net, rng = gaussian_net(), np.random.default_rng(4)
    values = np.array([net.sample(32, random_state=1).column(x).data for x in "abcd"]).T.copy()
    for k, gaps in enumerate(product([False, True], repeat=4)):
        values[2 * k : 2 * k + 2, list(gaps)] = np.nan
    weights = rng.random(32) * 2.0
    weights[5::9] = 0.0
    shown = "abc" if hidden else "abcd"
    if hidden:
        values[:, 3] = np.nan
    columns = {x: values[:, k] for k, x in enumerate("abcd") if x in shown}
    return net, jn.Table(columns, continuous=list(shown), weights=weights), values, weights


def as_moments(second):
    """Weight, mean and scatter from Σ E[z zᵀ]."""
    weight, mean = second[0, 0], second[0, 1:] / second[0, 0]
    return weight, mean, second[1:, 1:] - weight * np.outer(mean, mean)


@pytest.mark.parametrize("hidden", [False, True])
def test_moments_of_all_patterns(hidden):
    net, table, values, weights = gaussian_rows(hidden)
    known = {x: net.regression(x) for x in "abcd"}
    names, mean, covariance = naive_gaussian.joint(
        {x: (own.intercept, dict(own.coefficients), own.variance) for x, own in known.items()}
    )
    assert list(names) == list("abcd")
    weight, centre, scatter = as_moments(naive.moments(mean, covariance, values, weights))
    statistics = expected(net.gaussian, table)
    assert isinstance(statistics, MomentStatistics)
    assert not isinstance(statistics, CountStatistics)
    here, found = statistics.coordinates, statistics.moments()
    assert statistics.total_weight == pytest.approx(weight)
    assert found.weight == pytest.approx(weight, rel=1e-12)
    np.testing.assert_allclose(here.origin + here.unit * found.mean, centre, rtol=1e-10)
    np.testing.assert_allclose(
        found.scatter * here.unit * here.unit[:, None], scatter, rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("name", names_of("continuous"))
def test_scores_of_expected_moments_are_those_of_rows_with_these_moments(name):
    """Scores know rows by their moments alone: any complete rows with the same ones score alike."""
    net, table, _, _ = gaussian_rows()
    statistics = expected(net.gaussian, table)
    weight, mean, scatter = statistics.moments()
    here = statistics.coordinates
    root = np.linalg.cholesky(scatter / weight)
    corners = np.sqrt(4.0) * np.concatenate([np.eye(4), -np.eye(4)])  # mean 0, covariance I
    rows = here.origin + here.unit * (mean + corners @ root.T)
    made = jn.Table(
        dict(zip("abcd", rows.T, strict=True)),
        continuous=list("abcd"),
        weights=np.full(8, weight / 8.0),
    )
    np.testing.assert_allclose(
        moments_of(made, "abcd", here).scatter, scatter, rtol=1e-9, atol=1e-9
    )
    scorer, complete = scorer_on(statistics, name), make_scorer(made, name)
    for child, parents in ((0, []), (1, [0]), (3, [0, 1, 2]), (2, [3])):
        assert scorer.family(child, parents) == pytest.approx(
            complete.family(child, parents), rel=1e-9
        )


def test_the_prior_of_expected_moments_can_be_chosen():
    net, table, _, _ = gaussian_rows()
    statistics = expected(net.gaussian, table)
    one = scorer_on(statistics, "bge")
    other = scorer_on(statistics, "bge", scale="unit")
    assert one.family(1, [0]) != pytest.approx(other.family(1, [0]), rel=1e-6)
    with pytest.raises(JensenError, match=r"^bic has no scale: only bge and bdeu-bge have one$"):
        scorer_on(statistics, "bic", scale=1.0)
    with pytest.raises(JensenError, match=r"^the prior of columns of numbers has prior_mean"):
        scorer_on(statistics, "bge", strength=1.0)
    with pytest.raises(JensenError, match=r"^there is no score 'bdeu' of continuous columns"):
        scorer_on(statistics, "bdeu")
    with pytest.raises(DataError, match=r"^equivalent_sample_size and prior_network belong to"):
        scorer_on(statistics, equivalent_sample_size=2.0)
