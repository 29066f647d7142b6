"""PC-stable: exact with an oracle, the same in any order, conflicts shown, constraints kept."""

import signal
from itertools import combinations

import numpy as np
import pytest
from naive import independence as naive

import jensen as jn
from jensen.independence.pc import pc, pc_by_tests
from jensen.independence.testing import Oracle
from jensen.q_graph.constraints import read_constraints

NAMES = tuple("abcdefghijkl")


def make_oracle(parents, wrong=frozenset()):
    """d-separation in a graph; for pairs in `wrong` the answer without anything given is turned."""
    known = {}

    def p_value(a, b, given):
        key = (a, b, frozenset(given))
        if key not in known:
            known[key] = naive.separated(parents, a, b, given) ^ ((a, b) in wrong and not given)
        return float(known[key])

    return Oracle(NAMES[: len(parents)], p_value)


def dag_of(parents):
    names = NAMES[: len(parents)]
    return jn.DAG.from_parents(
        {names[v]: [names[u] for u in some] for v, some in enumerate(parents)}
    )


def run(oracle, **choices):
    rules = {key: choices.pop(key) for key in ("required", "forbidden", "tiers") if key in choices}
    return pc_by_tests(oracle, read_constraints(oracle.names, **rules), **choices)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 1000, 250))
def test_an_oracle_leads_to_the_class_of_its_graph(first):
    for seed in range(first, first + 250):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 13))
        parents = naive.random_dag(rng, n, int(rng.integers(0, 1.6 * n)))
        graph = run(make_oracle(parents))
        assert graph == dag_of(parents).cpdag()
        assert isinstance(graph, jn.CPDAG)
        assert not graph.info.conflicts
        for (a, b), given in graph.info.separators.items():
            assert dag_of(parents).d_separated(a, b, given)


def test_dense_graphs():
    for seed in range(12):
        parents = naive.random_dag(np.random.default_rng(seed), 7, 15)
        assert run(make_oracle(parents)) == dag_of(parents).cpdag()


def test_fewer_given_variables_leave_more_edges():
    parents = [[], [0], [0], [1, 2]]  # a and d are separated by both b and c
    assert run(make_oracle(parents), max_given=1).info.n_tests_by_size == (6, 11)
    assert len(run(make_oracle(parents), max_given=1).skeleton().edges) == 5
    assert len(run(make_oracle(parents)).skeleton().edges) == 4


# --- what tests say that contradict each other ---


def test_an_edge_that_two_colliders_direct_both_ways_is_a_conflicting_one():
    """A path a - b - c - d of which both inner nodes seem to be colliders."""
    joined = {(0, 1), (1, 2), (2, 3)}

    def p_value(a, b, given):
        return 0.0 if (a, b) in joined else float(not given)

    graph = run(Oracle(NAMES[:4], p_value))
    assert graph == jn.PDAG("a -> b <-> c; d -> c")
    assert graph.info.conflicts == (("b", "c"),)
    assert not graph.info.consistent
    assert type(graph) is jn.PDAG


def test_a_triple_on_which_separating_sets_are_divided_is_left_undirected():
    """Half of the sets that separate a and c hold b."""
    joined = {(0, 1), (1, 2)}

    def p_value(a, b, given):
        return 0.0 if (a, b) in joined else 1.0

    graph = run(Oracle(NAMES[:3], p_value))
    assert graph == jn.CPDAG("a -- b; b -- c")
    assert graph.info.unknown == (("a", "b", "c"),)


# --- constraints ---


def test_constraints_hold():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 8))
        parents = naive.random_dag(rng, n, n)
        names = NAMES[:n]
        order = rng.permutation(n)
        later = [(names[order[j]], names[order[i]]) for i, j in combinations(range(n), 2)]
        required = [(b, a) for a, b in later if rng.random() < 0.15]
        forbidden = [e for e in later if rng.random() < 0.5]
        graph = run(make_oracle(parents), required=required, forbidden=forbidden)
        arrows = set(graph.directed)
        assert set(required) <= arrows
        assert not arrows & set(forbidden)
        for a, b in graph.undirected:
            assert (a, b) not in forbidden
            assert (b, a) not in forbidden
        banned = set(forbidden) & {(b, a) for a, b in forbidden}
        assert not banned & {*graph.skeleton().edges}


def test_what_is_known_directs_what_tests_cannot():
    chain = [[], [0], [1]]
    assert run(make_oracle(chain), required="a -> b") == jn.PDAG("a -> b -> c")
    assert run(make_oracle(chain), tiers=[["c"], ["a", "b"]]) == jn.PDAG("c -> b -> a")
    assert run(make_oracle(chain), forbidden="b -> a; a -> b") == jn.CPDAG("b -- c; a")
    assert run(make_oracle(chain)).info.overruled == ()


def test_constraints_win_over_colliders():
    graph = run(make_oracle([[], [], [0, 1]]), required="c -> a")
    assert graph == jn.PDAG("c -> a; b -> c")
    assert graph.info.overruled == (("a", "c"),)


def test_true_knowledge_gives_the_graphs_that_agree_with_it():
    """What all DAGs of the class direct alike that hold the known edge, by Meek's rules."""
    for seed in range(40):
        parents = naive.random_dag(np.random.default_rng(seed), 6, 7)
        dag = dag_of(parents)
        free = dag.cpdag().undirected
        if not free:
            continue
        a, b = free[0]
        known = (a, b) if (a, b) in dag.edges else (b, a)
        graph = run(make_oracle(parents), required=[known])
        assert (
            graph == jn.PDAG([*dag.cpdag().directed, known], dag.nodes, undirected=free[1:]).meek()
        )
        assert graph.info.consistent


# --- data ---


def make_table(n_rows=3000, seed=0):
    return jn.examples.load("asia").sample(n_rows, random_state=seed)


def test_column_order_changes_nothing():
    table = jn.examples.load("sachs").sample(500, random_state=1)
    graph = pc(table)
    for seed in range(20):
        names = np.random.default_rng(seed).permutation(table.names).tolist()
        turned = pc(table.select(names))
        assert turned == graph
        assert turned.info.p_values == graph.info.p_values
        assert turned.info.separators == graph.info.separators


@pytest.mark.slow
def test_renaming_changes_nothing_but_names():
    """Other names are another order of tests: the stable way does not mind, nor does a majority."""
    table = jn.examples.load("sachs").sample(500, random_state=1)
    graph = pc(table)
    for seed in range(6):
        shuffled = np.random.default_rng(seed).permutation(table.names).tolist()
        new = {old: f"v{k}" for k, old in enumerate(shuffled)}
        columns = {new[name]: table.to_pandas()[name] for name in table.names}
        again = pc(columns)
        assert again == graph.rename(new)


@pytest.mark.parametrize(("n", "seed"), [*((7, seed) for seed in range(8)), (5, 40)])
def test_no_order_matters_even_to_tests_that_answer_at_random(n, seed):
    """The pair and the set alone decide about an answer: then names change nothing but names.

    In the last, a pair is parted by several sets, and by none of those that are left at the end.
    """
    names = NAMES[:n]
    base = np.random.default_rng(seed)
    p_joined = base.uniform(0.5, 0.9)

    def answer(a, b, given):
        key = [seed, 1 << a | 1 << b, sum(1 << v for v in given)]
        return float(np.random.default_rng(key).random() > p_joined)

    def learn(order):
        places = [int(v) for v in order]
        oracle = Oracle(
            names, lambda a, b, given: answer(places[a], places[b], [places[v] for v in given])
        )
        back = dict(zip(names, [f"v{place}" for place in places], strict=True))
        return run(oracle, alpha=0.5).rename(back)

    graph = learn(range(n))
    for _ in range(20):
        assert learn(base.permutation(n)) == graph


@pytest.mark.parametrize("kind", ["states", "numbers", "both"])
def test_the_true_class_is_found(kind):
    rng = np.random.default_rng(0)
    n = 4000
    a, b = rng.normal(size=n), rng.normal(size=n)
    c = a + b + rng.normal(size=n)
    d = c + rng.normal(size=n)
    columns = {"a": a, "b": b, "c": c, "d": d}
    if kind != "numbers":
        for name in "ab" if kind == "both" else "abcd":
            columns[name] = np.where(columns[name] > 0, "p", "q")
    if kind == "both":
        columns["c"] = (columns["a"] == "p") * 1.0 + (columns["b"] == "p") + rng.normal(size=n)
        columns["d"] = columns["c"] + rng.normal(size=n)
    graph = pc(columns, alpha=0.001)
    if kind == "states":  # what is cut into two tells less: d is no longer separated
        assert {("a", "c"), ("b", "c")} <= set(graph.directed)
    else:
        assert graph == jn.CPDAG("a -> c <- b; c -> d")


def test_missing_values_and_weights():
    table = make_table()
    frame = table.to_pandas().groupby(list(table.names), observed=True).size().reset_index(name="n")
    states = {variable.name: variable.states for variable in table.variables}
    assert pc(jn.Table(frame, weights="n", states=states)) == pc(table)
    holes = table.to_pandas()
    rng = np.random.default_rng(0)
    for name in holes.columns:
        holes.loc[rng.random(len(holes)) < 0.05, name] = None
    graph = pc(jn.Table(holes, states=states))
    known = holes[["smoke", "bronc"]].dropna()
    found = jn.independent(jn.Table(known), "smoke", "bronc")
    assert graph.info.p_values["bronc", "smoke"] >= found.p_value
    assert ("bronc", "smoke") in graph.skeleton().edges


def test_threads_change_nothing():
    table = make_table()
    graphs = []
    for n in (1, 2, 5):
        jn.set_threads(n)
        graphs.append(pc(table))
    jn.set_threads(None)
    assert graphs[0] == graphs[1] == graphs[2]
    assert graphs[0].info.p_values == graphs[2].info.p_values


# --- corrections ---


def noise(seed, n=10):
    rng = np.random.default_rng(seed)
    return jn.Table(
        {f"x{k}": rng.integers(0, 2, 300) for k in range(n)},
        states={f"x{k}": [0, 1] for k in range(n)},
    )


def test_bonferroni_is_a_smaller_alpha():
    table = make_table()
    n_pairs = 28
    one, other = pc(table, correction="bonferroni"), pc(table, alpha=0.05 / n_pairs)
    assert one == other
    assert one.info.p_values == other.info.p_values


def test_corrections_rarely_join_what_is_independent():
    """Of 40 tables of noise 2 are expected to have a wrong edge; more than 7: p < 0.001."""
    wrong = {None: 0, "bonferroni": 0, "fdr": 0}
    for seed in range(40):
        for correction in wrong:
            graph = pc(noise(seed), correction=correction, max_given=0)
            wrong[correction] += bool(graph.skeleton().edges)
    assert wrong["bonferroni"] <= 7
    assert wrong["fdr"] <= 7
    assert wrong[None] > 20


def test_false_discoveries_are_parted_as_benjamini_and_hochberg_say():
    table = jn.examples.load("sachs").sample(300, random_state=3)
    plain, found = pc(table, alpha=0.2), pc(table, alpha=0.2, correction="fdr")
    p = np.sort(list(plain.info.p_values.values()))
    n_found = max((k for k in range(len(p)) if p[k] <= 0.2 * (k + 1) / len(p)), default=-1) + 1
    kept = sorted(found.info.p_values[e] for e in found.skeleton().edges)
    assert 0 < n_found < len(plain.skeleton().edges)
    assert kept == p[:n_found].tolist()
    assert found.info.p_values == plain.info.p_values


def test_colliders_are_sought_at_the_level_of_the_correction():
    """A smaller set that did not separate at alpha may do so at the level that is left of it."""
    joined, p = {(0, 2), (1, 2)}, {(): 0.1, (2,): 0.9}

    def p_value(a, b, given):
        return 1e-9 if (a, b) in joined else p[given]

    oracle = Oracle(NAMES[:3], p_value)
    assert run(oracle, alpha=0.3) == jn.CPDAG("a -- c; b -- c")
    graph = run(oracle, alpha=0.3, correction="fdr")
    assert graph.info.separators == {("a", "b"): ("c",)}
    assert graph.info.unknown == (("a", "c", "b"),)  # one set holds c, the empty one does not


# --- the record, and refusals ---


def test_info_tells_what_was_done():
    table = make_table()
    graph = pc(table, test="x2", alpha=0.01)
    info = graph.info
    assert (info.method, info.test, info.alpha, info.correction) == ("pc", "x2", 0.01, None)
    assert info.n_tests >= sum(info.n_tests_by_size) >= 28
    assert len(info.p_values) == 28
    edges = set(graph.skeleton().edges)
    for pair, p in info.p_values.items():
        assert (p <= 0.01) == (pair in edges) == (pair not in info.separators)
    for (a, b), given in info.separators.items():
        found = jn.independent(table, a, b, given, test="x2")
        np.testing.assert_allclose(found.p_value, info.p_values[a, b], rtol=1e-9)
    assert not info.interrupted
    assert "separators" not in repr(info)


def test_permutation_tests_and_their_seed():
    table = make_table(300)
    choices = {"permutations": 99, "max_given": 1}
    graph = pc(table, random_state=1, **choices)
    again = pc(table, random_state=1, **choices)
    assert graph == again
    assert min(graph.info.p_values.values()) >= 0.01 - 1e-12


def test_it_can_be_stopped(monkeypatch):
    """What was not tested yet stays joined."""
    from jensen.independence import pc as module
    from jensen.independence.skeleton import find_skeleton

    def stopped(tests, constraints, level, most, watch):
        return find_skeleton(tests, constraints, level, most, lambda size, done, total: size == 1)

    monkeypatch.setattr(module, "find_skeleton", stopped)
    graph = pc(make_table())
    assert graph.info.interrupted
    assert not graph.directed
    assert len(graph.info.n_tests_by_size) == 2
    assert graph.info.n_tests_by_size[1] == 0


def test_ctrl_c_is_heeded_while_colliders_are_sought(monkeypatch):
    """The edges are known by then; none is directed, and none of the tests after it is made."""
    from jensen.independence import pc as module
    from jensen.independence.pc import find_colliders

    asked = []

    def stopped(tests, skeleton, constraints, level, most, watch):
        def press(size, done, total):
            asked.append((done, total))
            if len(asked) == 2:
                signal.raise_signal(signal.SIGINT)
            return watch(size, done, total)

        return find_colliders(tests, skeleton, constraints, level, most, press)

    monkeypatch.setattr(module, "find_colliders", stopped)
    table = jn.examples.load("sachs").sample(500, random_state=1)
    graph, whole = pc(table), None
    assert graph.info.interrupted
    assert not graph.directed
    assert len(asked) == 2
    assert asked[0] == (0, asked[1][1])
    monkeypatch.undo()
    whole = pc(table)
    assert graph.skeleton() == whole.skeleton()
    assert graph.info.n_tests < whole.info.n_tests


def test_slow_tests_are_asked_for_in_small_portions(monkeypatch):
    from jensen.independence import testing

    clock = iter(np.arange(0.0, 1e4, 0.01))
    monkeypatch.setattr(testing.time, "perf_counter", lambda: next(clock))
    sizes = [len(some) for some in testing.portions(iter(range(1000)))]
    assert sizes == [8, 16, 32, 64, 128, 256, 496]
    clock = iter(np.arange(0.0, 1e4, 0.5))
    sizes = [len(some) for some in testing.portions(iter(range(20)))]
    assert sizes == [8, 8, 4]
    clock = iter(np.arange(0.0, 1e4, 2.0))
    sizes = [len(some) for some in testing.portions(iter(range(17)))]
    assert sizes == [8, 4, 2, 1, 1, 1]


def test_progress_is_shown(capsys):
    assert pc(make_table(), progress=True) == pc(make_table())


def test_one_column_and_two():
    assert pc({"a": list("nyn")}) == jn.CPDAG(nodes=["a"])
    assert pc({"a": list("nnyy") * 9, "b": list("nnyy") * 9}) == jn.CPDAG("a -- b")
    assert pc({"a": list("nnnn"), "b": list("nnyy")}).info.p_values == {("a", "b"): 1.0}


@pytest.mark.parametrize(
    ("table", "choices", "message"),
    [
        ({}, {}, "the table has no columns to learn a graph of"),
        ({"a": ["n", "y"], "b": [None, None]}, {}, "column 'b' has no value in any row: leave it"),
        (
            {"a": ["n", "y", None, None], "b": [None, None, "n", "y"]},
            {},
            "no row has values of both 'a' and 'b', so nothing can be said about the two",
        ),
        (
            {"x": [0.5, 1.5, np.inf, 2.5], "y": [1.5, 0.25, 3.5, 4.5]},
            {},
            "column 'x' holds an infinite value in row 3, which no Gaussian has: correct it, or",
        ),
        ({"x": [0.5, 1.5, 2.5], "y": [1.5, 0.25, 3.5]}, {}, "3 rows are too few to test numbers"),
        ({"a": ["n", "y"]}, {"alpha": 2.0}, "a number between 0 and 1, not 2.0"),
        ({"a": ["n", "y"]}, {"correction": "holm"}, "correction must be None, 'bonferroni' or"),
        ({"a": ["n", "y"]}, {"max_given": -1}, "max_given must be a whole number, 0 or more"),
        ({"a": ["n", "y"]}, {"test": "t"}, "there is no test 't'"),
        ({"a": ["n", "y"]}, {"required": "a -> q"}, "required= names 'q', which is no column"),
    ],
)
def test_refusals(table, choices, message):
    with pytest.raises(jn.JensenError, match=message):
        pc(table, **choices)


def test_a_table_without_rows_is_refused():
    table = jn.Table({"a": ["n", "y"], "b": ["n", "y"]}, weights=[0, 0])
    with pytest.raises(jn.DataError, match="no rows that count: there is nothing to test"):
        pc(table)


def test_numbers_that_never_vary_are_told():
    x = np.random.default_rng(0).normal(size=50)
    with pytest.warns(jn.DataWarning, match="1 column of numbers without variation, 'c': the data"):
        found = jn.learn_structure({"a": x, "b": x**3, "c": np.full(50, 2.5)}, method="pc")
    assert found == jn.CPDAG("a -- b; c")
