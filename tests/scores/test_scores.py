"""Every score against its definition."""

import tracemalloc

import numpy as np
import pytest
from naive import graphs as naive_graphs
from naive import scores as naive
from scipy.special import gammaln

import jensen as jn
from jensen.scores import SCORES, make_score, row_statistics
from jensen.scores.categorical import log_regret
from jensen.scores.registry import DEFAULTS, SPECS

NAMES = [name for name, twin in naive.SCORES.items() if twin.states is not None]
WITH_SAMPLE_SIZE = [name for name in NAMES if SPECS[name].has_sample_size]
PENALISED = [name for name in NAMES if naive.SCORES[name].penalty is not None]
BY_CELLS = {"bdeu": 5000, "bds": None, "k2": 0}  # configurations that a prior is spread over
GRAPHS = ["a; b; c; d", "a -> b -> c -> d", "a -> d; b -> d; c -> d", "d -> a; d -> b -> a; c"]
every_score = pytest.mark.parametrize("name", NAMES)


def test_these_are_all_scores():
    assert list(SCORES) == NAMES
    assert list(SPECS) == list(naive.SCORES)
    for name, twin in naive.SCORES.items():
        spec = SPECS[name]
        assert spec.name == name
        assert (spec.penalty is None) == (twin.penalty is None)
        assert spec.is_set_function == twin.is_set_function
        assert spec.needs_integer_weights == twin.needs_integers
        if not spec.needs_prior_network:
            assert spec.has("categorical") == (twin.states is not None)
            assert spec.has("continuous") == (twin.numbers is not None)


def test_the_records_say_what_the_scores_say():
    for name in NAMES:
        made = make_score(name)
        assert made.is_set_function == SPECS[name].is_set_function
        assert made.needs_integer_weights == SPECS[name].needs_integer_weights
    assert {name for name in SPECS if SPECS[name].allows_missing} == set(PENALISED)
    assert [name for name in SPECS if SPECS[name].prior] == ["bdeu", "bds", "k2"]
    assert DEFAULTS == {"categorical": "bdeu", "continuous": "bge", "mixed": "bdeu-bge"}
    assert [name for name in SPECS if SPECS[name].has("mixed")] == [*PENALISED, "bdeu-bge"]


def expected_terms(example, dag, name, **choices):
    definition = naive.SCORES[name].states
    return {
        x: definition(example.rows, example.states, x, dag.parents(x), **choices) for x in dag.nodes
    }


@every_score
@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize(
    ("n_rows", "cards"), [(40, (2, 3, 2, 3)), (9, (3, 1, 4, 2)), (1, (2,) * 4)]
)
def test_scores_are_their_definitions(make_example, name, graph, n_rows, cards):
    n_rows = min(n_rows, naive.SCORES[name].most_rows)
    example, dag = make_example(n_rows, cards), jn.DAG(graph)
    expected = expected_terms(example, dag, name)
    found = jn.local_scores(dag, example.table, name)
    assert list(found) == sorted(dag.nodes)
    for x, term in expected.items():
        assert found[x] == pytest.approx(term, rel=1e-11, abs=1e-12)
    total = jn.score(dag, example.table, name)
    assert total == pytest.approx(sum(expected.values()), rel=1e-11)
    assert total == sum(found.values())
    assert isinstance(total, float)


@pytest.mark.parametrize("name", WITH_SAMPLE_SIZE)
@pytest.mark.parametrize("size", [1e-300, 1e-20, 1e-10, 0.5, 10, 1e10, 1e15])
def test_equivalent_sample_sizes(make_example, name, size):
    example, dag = make_example(30, (2, 3, 4)), jn.DAG("a -> b; a -> c; b -> c")
    expected = expected_terms(example, dag, name, equivalent_sample_size=size)
    found = jn.local_scores(dag, example.table, name, equivalent_sample_size=size)
    for x, term in expected.items():
        assert found[x] == pytest.approx(term, rel=1e-11)


@pytest.mark.parametrize("name", WITH_SAMPLE_SIZE)
def test_the_equivalent_sample_size_is_one_by_default(make_example, name):
    table = make_example(20, (2, 3)).table
    expected = jn.score("a -> b", table, name, equivalent_sample_size=1)
    assert jn.score("a -> b", table, name) == expected
    assert jn.score("a -> b", table) == jn.score("a -> b", table, "bdeu")


def test_a_certain_prior_predicts_uniformly(make_example):
    table = make_example(30, (2, 3)).table
    found = jn.score("a -> b", table, equivalent_sample_size=1e300)
    assert found == pytest.approx(-30 * np.log(6), rel=1e-12)


@every_score
def test_without_rows_there_is_no_score(make_example, name):
    with pytest.raises(jn.DataError, match=r"^there is nothing to learn from: the table has"):
        jn.score("a -> b", make_example(0, (2, 3)).table, name)


@every_score
def test_constant_columns_are_worth_nothing(name):
    table = {"x": ["u"] * 5, "y": ["v"] * 5}
    assert jn.score("x -> y", table, name) == 0.0


@every_score
def test_a_state_that_never_occurs_is_a_state(make_example, name):
    example = make_example(12, (2, 2))
    states = {**example.states, "b": [*example.states["b"], "never"]}
    example = example._replace(states=states, table=jn.Table(example.table, states=states))
    found = jn.local_scores("a -> b", example.table, name)["b"]
    expected = naive.SCORES[name].states(example.rows, states, "b", ["a"])
    assert found == pytest.approx(expected, rel=1e-11)


# --- counting ---


@every_score
@pytest.mark.parametrize("weighted", [False, True])
def test_dense_and_sparse_counting_agree(make_example, monkeypatch, name, weighted):
    table = make_example(60, (3, 4, 5, 4)).table
    if weighted:
        table = table.with_weights(np.arange(60) % 3)
    dag = jn.DAG("a -> d; b -> d; c -> d; a -> c")
    dense = jn.local_scores(dag, table, name)
    monkeypatch.setattr(row_statistics, "MAX_DENSE_CELLS", 0)
    assert jn.local_scores(dag, table, name) == pytest.approx(dense, rel=1e-14)


def test_dense_and_sparse_counting_agree_where_values_are_missing(make_example, monkeypatch):
    table = make_example(60, (3, 4, 5, 4), missing=0.1).table
    dag = jn.DAG("a -> d; b -> d; c -> d; a -> c")
    dense = jn.local_scores(dag, table, "bic", missing="available-case")
    monkeypatch.setattr(row_statistics, "MAX_DENSE_CELLS", 0)
    assert jn.local_scores(dag, table, "bic", missing="available-case") == dense


@every_score
@pytest.mark.parametrize("n_parents", [5, 12])
def test_families_of_up_to_ten_thousand_billion_cells(make_example, name, n_parents):
    example = make_example(25, (10,) * (n_parents + 1))
    is_slow = naive.SCORES[name].most_rows < 50
    twice = example.rows * (1 if is_slow else 2)  # so that configurations repeat
    example = example._replace(rows=twice, table=example.table.take(np.arange(len(twice)) % 25))
    *parents, x = example.states
    dag = jn.DAG.from_parents({x: parents})
    tracemalloc.start()
    found = jn.local_scores(dag, example.table, name)[x]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e6
    expected = naive.SCORES[name].states(example.rows, example.states, x, parents)
    assert found == pytest.approx(expected, rel=1e-11)


def test_a_wide_family_of_many_rows_stays_small(make_example):
    """A hundred thousand rows cost megabytes, not the 8e13 bytes of the table."""
    rng = np.random.default_rng(0)
    columns = {f"x{k:02}": rng.integers(0, 10, 100_000) for k in range(13)}
    table = jn.Table(columns, categorical=columns)
    dag = jn.DAG.from_parents({"x12": [f"x{k:02}" for k in range(12)]})
    tracemalloc.start()
    found = jn.local_scores(dag, table, "bdeu")["x12"]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e8
    assert found == pytest.approx(-100_000 * np.log(10), rel=1e-12)  # no two rows are alike


def test_more_configurations_than_a_float_can_hold_are_refused():
    names = [f"x{k}" for k in range(105)]
    table = jn.Table({x: [0, 1] for x in names}, states={x: range(1000) for x in names})
    with pytest.raises(
        jn.DataError, match="the parents of 'x0' have more than 1e308 configurations"
    ):
        jn.score(jn.DAG.from_parents({"x0": names[1:]}), table, "bic")
    small = jn.DAG.from_parents({"x0": names[1:11]})
    with pytest.raises(jn.JensenError, match=r"too small to be spread over 1e\+30 parent conf"):
        jn.score(small, table, "bdeu", equivalent_sample_size=1e-300)


# --- properties ---


def set_function_gap(table, name, names="abcd"):
    """The largest |s(v | P, u) - s(v | P) - s(u | P, v) + s(u | P)| over all u, v and P."""

    def local(x, parents):
        return jn.local_scores(jn.DAG.from_parents({x: parents}), table, name)[x]

    gap = 0.0
    for u in names:
        for v in names.replace(u, ""):
            rest = names.replace(u, "").replace(v, "")
            for given in ["", rest[0], rest]:
                left = local(v, [*given, u]) - local(v, [*given])
                right = local(u, [*given, v]) - local(u, [*given])
                gap = max(gap, abs(left - right))
    return gap


@every_score
def test_set_functions_are_declared_as_such(make_example, name):
    """Adding u to the parents of v gains as much as adding v to those of u, or it does not."""
    table = make_example(12, (2, 3, 4, 2)).table
    if make_score(name).is_set_function:
        assert set_function_gap(table, name) < 1e-11
    else:
        assert set_function_gap(table, name) > 0.1


def test_which_scores_are_set_functions():
    declared = {name for name in NAMES if make_score(name).is_set_function}
    assert declared == {name for name in NAMES if naive.SCORES[name].is_set_function}
    assert {"loglik", "aic", "bic", "bdeu"} <= declared
    whole = {name for name in NAMES if make_score(name).needs_integer_weights}
    assert whole == {name for name in NAMES if naive.SCORES[name].needs_integers}
    assert "fnml" in whole


@pytest.mark.parametrize("name", PENALISED)
def test_no_score_of_available_cases_is_a_set_function(name):
    """Every family has its own rows: a -> b and b -> a differ."""
    assert not make_score(name, missing="available-case").is_set_function
    table = {"a": ["u", "u", "v", None, "v", "u", None], "b": ["x", "y", "y", "x", "y", None, "x"]}
    one, other = (
        jn.score(graph, table, name, missing="available-case") for graph in ("a -> b", "b -> a")
    )
    assert abs(one - other) > 0.1


@every_score
def test_equivalent_graphs_have_equal_scores_where_they_should(make_example, name):
    """All 25 graphs on three nodes, in their 11 classes; K2, BDs and fNML tell some apart."""
    table = make_example(15, (2, 3, 4), seed=1).table
    classes = naive_graphs.equivalence_classes(["a", "b", "c"])
    assert (len(classes), sum(map(len, classes))) == (11, 25)
    spread = [
        np.ptp([jn.score(jn.DAG(list(edges), ["a", "b", "c"]), table, name) for edges in members])
        for members in classes
    ]
    if naive.SCORES[name].is_set_function:
        assert max(spread) < 1e-11
    else:
        assert max(spread) > 0.1


def test_a_cpdag_has_the_score_of_its_members(make_example):
    table = make_example(20, (2, 3, 4)).table
    expected = jn.score("c -> b -> a", table, "bdeu")
    cpdag = jn.DAG("a -> b -> c").cpdag()
    assert jn.score(cpdag, table, "bdeu") == pytest.approx(expected, rel=1e-13)


# Cooper and Herskovits (1992), A Bayesian method for the induction of probabilistic networks from
# data, Machine Learning 9, table 1 and section 2.
TEN_CASES = [(1, 0, 0), (1, 1, 1), (0, 0, 1), (1, 1, 1), (0, 0, 0)]
TEN_CASES += [(0, 1, 1), (1, 1, 1), (0, 0, 0), (1, 1, 1), (0, 0, 0)]


def test_the_ten_cases_of_cooper_and_herskovits():
    table = jn.Table(np.array(TEN_CASES), names=["x1", "x2", "x3"])
    chain = np.exp(jn.score("x1 -> x2 -> x3", table, "k2"))
    fork = np.exp(jn.score("x2 <- x1 -> x3", table, "k2"))
    assert chain == pytest.approx(2.226854e-09, rel=2e-7)
    assert fork == pytest.approx(2.226854e-10, rel=2e-7)
    assert chain == pytest.approx(10 * fork, rel=1e-12)
    nodes = ("x1", "x2", "x3")
    every = [
        np.exp(jn.score(jn.DAG(list(edges), nodes), table, "k2"))
        for edges in naive_graphs.all_dags(nodes)
    ]
    assert len(every) == 25
    assert chain / sum(every) == pytest.approx(0.108531, abs=5e-7)


@pytest.mark.parametrize("name", [*PENALISED, *BY_CELLS, "fnml"])
def test_columns_of_very_many_states(name):
    """5,000 states each, and few rows: memory goes with the rows, and nothing else changes.

    Of the same rows with 64 states declared the likelihood is the same, to 1e-12; the others are
    those of the definition, cell by cell.
    """
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 60, (2, 300))
    wide = jn.Table({"x": x, "y": y}, states={"x": range(5000), "y": range(5000)})
    found = jn.local_scores("x -> y", wide, name)["y"]
    pairs, above = np.zeros((60, 60)), np.bincount(x, minlength=60)
    np.add.at(pairs, (x, y), 1.0)
    if name in PENALISED:
        log_like = sum(n * np.log(n / above[i]) for (i, _), n in np.ndenumerate(pairs) if n)
        cost = naive.SCORES[name].penalty(300)
        expected = log_like - cost * 5000 * 4999
    elif name == "fnml":
        log_like = sum(n * np.log(n / above[i]) for (i, _), n in np.ndenumerate(pairs) if n)
        expected = log_like - sum(log_regret(float(n), 5000) for n in above if n)
    else:
        n_configs = int((above > 0).sum()) if name == "bds" else BY_CELLS[name]
        a = 1.0 if name == "k2" else 1.0 / (n_configs * 5000)
        expected = (gammaln(a + pairs) - gammaln(a)).sum()
        expected -= (gammaln(5000 * a + above) - gammaln(5000 * a))[above > 0].sum()
    assert found == pytest.approx(expected, rel=1e-11)


def test_memory_of_columns_of_very_many_states():
    """A dense table of 20,000 x 20,000 counts would take 3 GiB; the peak here is below 100 MiB."""
    codes = np.random.default_rng(1).integers(0, 20_000, (3, 5000))
    states = {name: range(20_000) for name in "abc"}
    table = jn.Table(dict(zip("abc", codes, strict=True)), states=states)
    tracemalloc.start()
    graph = jn.learn_structure(table, score="bic", max_parents=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert graph.edges == ()
    assert peak < 100 * 2**20
