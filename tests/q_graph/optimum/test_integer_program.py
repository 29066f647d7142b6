"""The proven optimum by integer programming: dynamic programming says the same."""

import builtins
import itertools
import math
import signal
import time

import numpy as np
import pytest
from naive.structures import all_networks
from sklearn import datasets

import jensen as jn
from jensen.q_graph import learning
from jensen.q_graph.constraints import read_constraints
from jensen.q_graph.optimum.cuts import cluster_cut
from jensen.q_graph.optimum.dynamic_programming import best_network
from jensen.q_graph.optimum.families import candidate_families
from jensen.q_graph.optimum.integer_program import prove_best
from jensen.scores.make_scorer import make_scorer


def make_table(seed, n, rows=200, states=3):
    """Every column depends on two before it."""
    rng = np.random.default_rng(seed)
    x = np.empty((n, rows), int)
    for k in range(n):
        above = x[rng.integers(0, k, 2)].sum(0) % states if k > 1 else 0
        x[k] = np.where(rng.random(rows) < 0.5, above, rng.integers(0, states, rows))
    return jn.Table({f"x{k:02d}": column.astype(str) for k, column in enumerate(x)})


def measured(name, columns, n_bins):
    """Columns of scikit-learn's data, the target among them, cut at their quantiles."""
    data = getattr(datasets, f"load_{name}")()
    x = np.column_stack([data.data, data.target])[:, columns]
    cuts = np.quantile(x, np.arange(1, n_bins) / n_bins, axis=0)
    codes = [np.searchsorted(at, some, side="right") for at, some in zip(cuts.T, x.T, strict=True)]
    return jn.Table({f"x{k:02d}": some.astype(str) for k, some in enumerate(codes)})


def drawn(name, n_rows, columns=slice(None)):
    net = jn.examples.load(name)
    return net.sample(n_rows, random_state=0).select(sorted(net.graph.nodes)[columns])


def both(table, score, **rules):
    """The optimum in both ways."""
    scorer = make_scorer(table, score)
    constraints = read_constraints(scorer.names, **rules)
    _, total = best_network(
        scorer, max_parents=constraints.most_parents, required=constraints.required,
        forbidden=constraints.forbidden,
    )  # fmt: skip
    found = prove_best(scorer, constraints)
    assert found.proven
    assert found.gap == 0.0
    assert found.score == pytest.approx(total, rel=1e-9)
    dag = jn.DAG.from_adjacency(found.joined, scorer.names)
    assert jn.score(dag, table, score) == pytest.approx(total, rel=1e-9)
    return dag


TWENTY = [
    (measured, ("iris", range(5), 3)),
    (measured, ("wine", range(14), 3)),
    (measured, ("diabetes", range(11), 3)),
    (measured, ("linnerud", range(6), 2)),
    (measured, ("breast_cancer", range(10), 2)),
    (measured, ("breast_cancer", range(10, 20), 3)),
    (measured, ("digits", range(2, 14), 2)),
    (drawn, ("asia", 1000)),
    (drawn, ("sachs", 500)),
    (drawn, ("alarm", 1000, slice(20))),
    (drawn, ("alarm", 300, slice(19, None))),
    *((make_table, (n, n, rows)) for n, rows in [(6, 50), (8, 200), (10, 500), (12, 100)]),
    *((make_table, (n, n, rows)) for n, rows in [(13, 400), (14, 500), (16, 200), (18, 200)]),
    (make_table, (20, 20, 300)),
]


def test_there_are_twenty_sets_of_up_to_twenty_variables():
    sizes = [len(make(*given).names) for make, given in TWENTY]
    assert len(sizes) == 20
    assert max(sizes) == 20


@pytest.mark.parametrize("k", range(20))
def test_dynamic_programming_finds_the_same_score(k):
    make, given = TWENTY[k]
    both(make(*given), ("bdeu", "bic", "k2")[k % 3], max_parents=3)


@pytest.mark.parametrize("score", ["bdeu", "bic", "k2"])
def test_any_number_of_parents(score):
    both(make_table(3, 9), score)


def test_continuous_columns():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 5)) @ np.triu(rng.normal(size=(5, 5)))
    table = jn.Table({f"x{k}": column for k, column in enumerate(x.T)})
    for score in ("bge", "bic"):
        both(table, score, max_parents=2)


@pytest.mark.parametrize(
    "rules",
    [
        {"max_parents": 1},
        {"required": "x05 -> x00; x04 -> x01"},
        {"forbidden": "x00 -> x01; x01 -> x00; x02 -> x03"},
        {"tiers": [["x06", "x05"], ["x00", "x01", "x02"]], "max_parents": 2},
    ],
)
def test_constraints_hold(rules):
    dag = both(make_table(1, 7), "bic", **rules)
    assert set(jn.DAG(rules.get("required", "")).edges) <= set(dag.edges)
    assert max(len(dag.parents(x)) for x in dag.nodes) <= rules.get("max_parents", 7)


def test_more_variables_than_subsets_allow():
    table = jn.examples.load("alarm").sample(300, random_state=0)
    dag = jn.learn_structure(table, "exact", "bic", max_parents=2)
    assert dag.info.proven
    assert dag.info.score >= jn.learn_structure(table, score="bic", max_parents=2).info.score - 1e-6
    assert dag.info.score == pytest.approx(jn.score(dag, table, "bic"), rel=1e-9)


@pytest.fixture
def limit():
    yield jn.set_memory_limit
    jn.set_memory_limit(None)


def few_rows(n):
    return jn.Table({f"x{k:02d}": ["a", "b", "ab"[k % 2]] for k in range(n)})


@pytest.mark.parametrize(
    ("n", "max_parents", "n_bytes", "expected"),
    [
        (22, None, 4e9, "by_subsets"),
        (23, None, 4e9, "by_subsets"),
        (24, None, 4e9, "by_subsets"),
        (24, 2, 4e9, "by_subsets"),
        (23, 3, 2e8, "by_cuts"),  # as the tables are not allowed
        (25, None, 1e12, "by_cuts"),
    ],
)
def test_dynamic_programming_where_its_tables_are_allowed(
    n, max_parents, n_bytes, expected, limit, monkeypatch
):
    limit(n_bytes)
    for name in ("by_subsets", "by_cuts"):

        def note(task, time_limit, name=name):
            raise jn.JensenError(f"this is {name}")

        monkeypatch.setattr(learning.methods, name, note)
    with pytest.raises(jn.JensenError, match=f"^this is {expected}$"):
        jn.learn_structure(few_rows(n), "exact", max_parents=max_parents)


def test_memory_is_refused_before_anything_is_scored(limit):
    limit(200 * 2**20)
    text = (
        r"^the exact optimum of 23 variables would take 992.0 MiB, more than the limit of 200.0 "
        r"MiB: leave out variables, or search with method='hill-climb', or raise it with jn.set_"
    )
    with pytest.raises(jn.JensenError, match=text):
        jn.learn_structure(few_rows(23), "exact")


def test_memory_of_families_is_refused_as_their_number_grows(limit):
    table = make_table(0, 12)
    text = (
        r"^the 55 possible sets of 2 parents of 'x00' would take 7.7 KiB, more than the limit of "
        r"5.9 KiB: choose a smaller max_parents, forbid edges, or raise it with jn.set_memory_limit"
    )
    rules = read_constraints(table.names)
    scorer = make_scorer(table, "loglik")
    limit(6000)
    with pytest.raises(jn.JensenError, match=text):
        candidate_families(scorer, rules)
    limit(2e5)
    text = (
        r"^integer programming with [\d,]+ families of \d+ of the 12 variables would take "
        r".* KiB, more than the limit of 195.3 KiB: choose a smaller max_parents, forbid edges, or"
    )
    with pytest.raises(jn.JensenError, match=text):
        candidate_families(scorer, read_constraints(table.names, 2))
    limit(None)
    assert len(candidate_families(scorer, read_constraints(table.names, 2)).child) > 195


def test_listed_scores(tmp_path, monkeypatch):
    table = make_table(0, 7)
    path = tmp_path / "scores.jkl"
    jn.write_local_scores(path, table, "bic", max_parents=3)
    monkeypatch.setattr(learning.methods, "MOST_SUBSETS", 6)
    found = jn.learn_structure(scores=path, method="exact")
    expected, _ = best_network(make_scorer(table, "bic"), max_parents=3)
    assert found.info.proven
    assert found.info.score == pytest.approx(
        sum(make_scorer(table, "bic").family(v, up) for v, up in enumerate(expected)), rel=1e-12
    )


def test_no_graph_violates_a_cluster_cut():
    """Every cluster of 4 variables, every DAG whose families are listed."""
    scorer = make_scorer(make_table(0, 4), "loglik")
    families = candidate_families(scorer, read_constraints(scorer.names))
    at = {(int(families.child[j]), families.parents(j)): j for j in range(len(families.child))}
    for size in (2, 3, 4):
        for members in itertools.combinations(range(4), size):
            cluster = np.isin(np.arange(4), members)
            cut = cluster_cut(families, families.holds, cluster)
            for parents in all_networks(4):
                chosen = [at.get((v, tuple(sorted(above)))) for v, above in enumerate(parents)]
                if None not in chosen:
                    x = np.zeros(len(families.child))
                    x[chosen] = 1.0
                    assert cut.violation(x) <= 1e-9


def test_pruned_families_are_worse_than_one_of_their_subsets():
    scorer = make_scorer(make_table(2, 6), "bdeu")
    families = candidate_families(scorer, read_constraints(scorer.names))
    for v in range(6):
        listed = {
            families.parents(j): families.score[j] for j in np.flatnonzero(families.child == v)
        }
        others = [u for u in range(6) if u != v]
        for size in range(6):
            for above in itertools.combinations(others, size):
                value = scorer.family(v, above)
                if above in listed:
                    assert listed[above] == pytest.approx(value, rel=1e-9)
                else:
                    best = max(s for parents, s in listed.items() if set(parents) <= set(above))
                    assert best >= value - 1e-7


def test_a_time_limit_returns_what_was_reached_and_its_gap(monkeypatch):
    """The clock jumps when all families are scored: then there is a bound."""
    table = jn.examples.load("alarm").sample(1000, random_state=0)
    scorer, best = make_scorer(table, "bic"), 0.0
    rules = read_constraints(scorer.names, 2)
    best = prove_best(scorer, rules).score
    clock = time.perf_counter
    found = prove_best(
        scorer, rules, time_limit=1e4,
        progress=lambda share: share == 1.0
        and monkeypatch.setattr(time, "perf_counter", lambda: clock() + 2e4),
    )  # fmt: skip
    assert not found.proven
    assert found.interrupted
    assert 0.0 < found.gap < math.inf
    assert found.score <= best + 1e-6
    assert found.score + found.gap >= best - 1e-6


@pytest.mark.parametrize("n", [7, 25])
def test_time_that_is_over_before_there_is_a_bound_leaves_a_climbed_graph(n):
    table = drawn("alarm", 300, slice(n))
    dag = jn.learn_structure(table, "exact", "bdeu", max_parents=2, time_limit=1e-9)
    assert not dag.info.proven
    assert dag.info.interrupted
    assert dag.info.gap == math.inf
    climb_instead = jn.learn_structure(table, "hill-climb", "bdeu", max_parents=2)
    assert dag == climb_instead
    assert dag.info.score == pytest.approx(climb_instead.info.score, rel=1e-12)


@pytest.mark.parametrize("n", [7, 25])
def test_enough_time_changes_nothing(n):
    table = drawn("alarm", 300, slice(n))
    dag = jn.learn_structure(table, "exact", "bic", max_parents=2, time_limit=1e5)
    assert dag == jn.learn_structure(table, "exact", "bic", max_parents=2)
    assert dag.info.proven


def test_a_list_without_empty_families_has_nothing_to_fall_back_on():
    from jensen.q_graph.optimum.integer_program import climb_instead
    from jensen.scores.listed_scores import LocalScores

    listed = LocalScores.of({"a": {(): -1.0}, "b": {("a",): -1.0}})
    with pytest.raises(jn.JensenError, match="before any network was found: give it more time"):
        climb_instead(listed, read_constraints(listed.names))


@pytest.mark.parametrize("limit", [0, -1.0, "x", float("nan")])
def test_a_time_limit_is_a_number(limit):
    with pytest.raises(jn.JensenError, match="time_limit must be a number of seconds above 0"):
        jn.learn_structure(make_table(0, 3), "exact", time_limit=limit)


def test_only_the_optimum_has_a_time_limit():
    with pytest.raises(jn.JensenError, match="time_limit= has no meaning for method='hill-climb'"):
        jn.learn_structure(make_table(0, 3), time_limit=1.0)


@pytest.mark.parametrize("by_watch", [True, False])
def test_ctrl_c_returns_what_was_reached(by_watch):
    table = jn.examples.load("alarm").sample(1000, random_state=0)
    scorer = make_scorer(table, "bdeu")
    rules = read_constraints(scorer.names, 2)
    seen = []

    def watch(score, bound):
        seen.append((score, bound))
        if len(seen) == 2 and not by_watch:
            signal.raise_signal(signal.SIGINT)
        return by_watch and len(seen) == 2

    found = prove_best(scorer, rules, watch=watch)
    assert found.interrupted
    assert not found.proven
    assert found.gap > 0.0
    assert len(seen) < 5
    dag = jn.DAG.from_adjacency(found.joined, scorer.names)
    assert found.score == pytest.approx(jn.score(dag, table, "bdeu"), rel=1e-9)
    assert all(bound >= score - 1e-6 for score, bound in seen)


def test_ctrl_c_while_families_are_scored():
    scorer = make_scorer(drawn("alarm", 300), "bdeu")

    def press(share):
        if share > 0.1:
            signal.raise_signal(signal.SIGINT)

    found = prove_best(scorer, read_constraints(scorer.names, 2), progress=press)
    assert found.interrupted
    assert found.gap == math.inf


def test_score_and_gap_are_shown_while_it_runs(monkeypatch):
    from jensen.q_graph import methods

    shown = []

    class Bar:
        def __init__(self, desc, **choices):
            self.desc, self.n, self.disable = desc, 0.0, False

        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        def update(self, n=1):
            self.n += n
            shown.append((self.desc, self.n))

        def set_postfix(self, score, gap, refresh):
            shown.append((float(score), float(gap)))

        def close(self):
            pass

    monkeypatch.setattr(methods, "tqdm", Bar)
    table = drawn("alarm", 300, slice(25))
    dag = jn.learn_structure(table, "exact", "bic", max_parents=2, progress=True)
    assert ("exact: families", 1.0) in [(desc, round(n, 9)) for desc, n in shown if desc]
    told = [pair for pair in shown if isinstance(pair[0], float)]
    assert told
    assert told[-1][0] <= dag.info.score + 0.01
    assert all(gap >= -1e-6 for _, gap in told)


def test_without_the_solver_it_says_what_to_install(monkeypatch):
    load = builtins.__import__

    def without(name, *rest, **more):
        if name == "highspy":
            raise ImportError(name)
        return load(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(jn.JensenError, match=r"needs HiGHS: pip install 'jensen\[exact\]'"):
        jn.learn_structure(make_table(0, 25), "exact", max_parents=1)
    assert jn.learn_structure(make_table(0, 4), "exact", time_limit=60.0).info.proven


def test_the_solver_has_no_callback_for_cuts_that_are_found_as_needed():
    """It takes one, and calls it never, while others are called: so cuts are added and re-solved.

    A solver with which this fails may find cuts while it branches.
    """
    import highspy

    kinds = highspy.cb.HighsCallbackType
    model, rng = highspy.Highs(), np.random.default_rng(0)
    model.setOptionValue("output_flag", False)
    for k in range(30):
        model.addVar(0.0, 1.0)
        model.changeColIntegrality(k, highspy.HighsVarType.kInteger)
        model.changeColCost(k, -float(rng.integers(5, 50)))
    for _ in range(8):
        amounts = rng.integers(5, 50, 30).astype(float)
        model.addRow(-highspy.kHighsInf, 200.0, 30, np.arange(30, dtype=np.int32), amounts)
    called = set()
    model.setCallback(lambda kind, *rest: called.add(int(kind)), None)
    for kind in (kinds.kCallbackMipDefineLazyConstraints, kinds.kCallbackMipSolution):
        assert model.startCallback(kind) == highspy.HighsStatus.kOk
    model.run()
    assert called == {int(kinds.kCallbackMipSolution)}
