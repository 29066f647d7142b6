"""Climbing, against moves made one by one and graphs that are all looked at."""

from itertools import pairwise

import numpy as np
import pytest
from naive import search as naive
from naive import structures

import jensen as jn
from jensen.kernels import graph_moves
from jensen.q_graph.constraints import Constraints, read_constraints
from jensen.q_graph.search import climbing
from jensen.q_graph.search.family_scores import pack_sets
from jensen.scores import SCORES
from jensen.scores.make_scorer import make_scorer
from jensen.scores.registry import names_of

STATES, NUMBERS = list(SCORES), names_of("continuous")
FOUR = structures.all_networks(4)


def make_table(seed=0, n_rows=100, cards=(2, 3, 2, 2)):
    columns = naive.random_columns(seed, n_rows, cards)
    states = {f"x{k}": range(card) for k, card in enumerate(cards)}
    return jn.Table(columns, states=states)


def make_numbers(seed=0, n_rows=60, n=4):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, n))
    for k in range(1, n):
        x[:, k] += x[:, :k] @ (rng.normal(size=k) * (rng.random(k) < 0.6))
    return jn.Table(x, continuous=[f"x{k}" for k in range(n)])


def total(scorer, graph):
    return sum(scorer.family(v, parents) for v, parents in enumerate(graph))


def flags(edges, n):
    found = np.zeros((n, n), bool)
    for u, v in edges:
        found[u, v] = True
    return found


def patient(score, n_moves):
    return False


# --- kernels ---


@pytest.mark.parametrize("n", [1, 2, 6, 70])
def test_ancestors_are_those_that_paths_reach(n):
    for seed in range(5):
        joined = naive.random_graph(np.random.default_rng(seed), n, min(1.0, 3.0 / n))
        found = np.full((n, (n + 63) // 64), 2**64 - 1, np.uint64)
        graph_moves.find_ancestors(pack_sets(joined), found)
        graph = naive.parents_of(joined)
        for v in range(n):
            bits = {u for u in range(n) if int(found[v, u >> 6]) >> (u & 63) & 1}
            assert bits == naive.ancestors(graph, v)


class Case:
    """A random graph, random scores around it, and random rules."""

    def __init__(self, seed, n, round_to=15):
        rng = np.random.default_rng(seed)
        self.joined = naive.random_graph(rng, n)
        self.more, self.less = rng.normal(size=(2, n, n)).round(round_to)
        self.score = rng.normal(size=n).round(round_to)
        edges = naive.edges_of(naive.parents_of(self.joined))
        required = {e for e in sorted(edges) if rng.random() < 0.2}
        forbidden = {tuple(e) for e in np.argwhere(rng.random((n, n)) < 0.2).tolist()} - edges
        most = int(self.joined.sum(0).max()) + int(rng.integers(0, 2))
        self.rules = naive.Rules(frozenset(required), frozenset(forbidden), most)
        self.keys = rng.integers(1, 1 << 62, (n, n)).astype(np.uint64)

    def key(self, graph):
        chosen = [self.keys[u, v] for u, v in naive.edges_of(graph)]
        return np.bitwise_xor.reduce(np.array(chosen, np.uint64), initial=0)

    def gain(self, move):
        what, u, v = move
        if what == naive.ADD:
            return self.more[v, u] - self.score[v]
        drop = self.less[v, u] - self.score[v]
        return drop if what == naive.DROP else drop + self.more[u, v] - self.score[u]

    def found(self, floor=-np.inf, tabu=(), tie=1e-9):
        n, rules = len(self.joined), self.rules
        allowed = Constraints(flags(rules.required, n), flags(rules.forbidden, n), 0).allowed
        links = np.array([pack_sets(self.joined), np.full((n, 1), 2**64 - 1, np.uint64)])
        n_allowed, order = (allowed & 1).sum(0, dtype=np.int64), np.arange(len(allowed))
        move, variables = np.empty(4, np.int64), np.stack([n_allowed, order, order])
        tabu = np.array([*tabu, self.key(naive.parents_of(self.joined))], np.uint64)
        gain = graph_moves.best_move(
            self.joined, links, np.array([self.score, self.top(allowed)]),
            np.array([self.more, self.less]), allowed, variables, rules.max_parents, self.keys,
            tabu, floor, tie, False, move,
        )  # fmt: skip
        assert move[3] == self.n_tried()
        return None if move[0] < 0 else (tuple(move[:3].tolist()), gain)

    def top(self, allowed):
        """What a further parent gains at most, whether or not it closes a cycle."""
        is_open = (allowed & 1 > 0).T & ~self.joined.T
        gains = np.where(is_open, self.more - self.score[:, None], -np.inf)
        return gains.max(1)

    def n_tried(self):
        """Moves that the rules allow, with those that close a cycle."""
        n, rules = len(self.joined), self.rules
        pairs = [(u, v) for u in range(n) for v in range(n) if u != v]
        few = self.joined.sum(0) < rules.max_parents
        may_add = [few[v] and (u, v) not in rules.forbidden for u, v in pairs]
        added = sum(
            ok and not (self.joined[u, v] or self.joined[v, u])
            for ok, (u, v) in zip(may_add, pairs, strict=True)
        )
        droppable = [e for e in pairs if self.joined[e] and e not in rules.required]
        turned = sum(few[u] and (v, u) not in rules.forbidden for u, v in droppable)
        return added + len(droppable) + turned

    def legal(self):
        return naive.legal_moves(naive.parents_of(self.joined), self.rules)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_the_best_move_of_all(n):
    """Also where the graphs that the best moves lead to are not to be visited."""
    for seed in range(60):
        case = Case(seed, n)
        ranked = sorted(case.legal().items(), key=lambda item: -case.gain(item[0]))
        for skipped in range(min(3, len(ranked)) + 1):
            tabu = [case.key(graph) for _, graph in ranked[:skipped]]
            found = case.found(tabu=tabu)
            if skipped == len(ranked):
                assert found is None
            else:
                move = ranked[skipped][0]
                assert found == (move, pytest.approx(case.gain(move), abs=1e-12))


@pytest.mark.parametrize("floor", [-0.5, 0.0, 1.0, 50.0])
def test_no_move_gains_less_than_the_floor(floor):
    for seed in range(40):
        case = Case(seed, 5)
        best = max(map(case.gain, case.legal()))
        found = case.found(floor)
        assert (found is None) == (best <= floor + 1e-9)
        assert found is None or found[1] == pytest.approx(best, abs=1e-12)


def test_of_equal_moves_the_first_by_name():
    """Gains are whole numbers and noise; edges are added, dropped or turned in this order."""
    for seed in range(60):
        case, rng = Case(seed, 5, round_to=0), np.random.default_rng(seed)
        moves = sorted(case.legal())
        best = max(map(case.gain, moves))
        expected = next(m for m in moves if case.gain(m) == best)
        for x in (case.more, case.less, case.score):
            x += rng.uniform(-1e-12, 1e-12, x.shape)
        assert case.found(tie=1e-9)[0] == expected


# --- deltas ---


def check_climb(table, score):
    """Along a climb, what every legal move would gain is the difference of two full scores."""
    scorer = make_scorer(table, score)
    climber = climbing.Climber(scorer, read_constraints(scorer.names))
    climber.begin(np.zeros((4, 4), bool))
    for _ in range(12):
        graph = naive.parents_of(climber.joined)
        full = jn.score(named(graph, scorer.names), table, score)
        assert climber.total == pytest.approx(full, rel=1e-11)
        for (what, u, v), after in naive.legal_moves(graph).items():
            gain = climber.more[v, u] if what == naive.ADD else climber.less[v, u]
            gain -= climber.score[v]
            if what == naive.TURN:
                gain += climber.more[u, v] - climber.score[u]
            expected = jn.score(named(after, scorer.names), table, score) - full
            assert gain == pytest.approx(expected, rel=1e-8, abs=1e-9 * (1.0 + abs(full)))
        move = climber.best_move((), 0.0)
        if move is None:
            break
        climber.make(move)
    return climber


def named(graph, names):
    return jn.DAG.from_parents({names[v]: [names[u] for u in up] for v, up in enumerate(graph)})


@pytest.mark.parametrize("score", STATES)
def test_every_delta_is_a_difference_of_full_scores(score):
    assert check_climb(make_table(3), score).joined.any()


@pytest.mark.parametrize("score", NUMBERS)
def test_every_delta_of_numbers(score):
    assert check_climb(make_numbers(3), score).joined.any()


class WholeNumbers:
    """Edges are worth as much either way, and pairs of parents something more: many ties."""

    is_set_function = False
    total_weight = 0.0

    def __init__(self, seed, n):
        rng = np.random.default_rng(seed)
        self.names = tuple("abcdefgh"[:n])
        one_way = rng.integers(-1, 4, (n, n))
        self.edge = np.triu(one_way, 1) + np.triu(one_way, 1).T
        self.pair = rng.integers(-1, 2, (n, n, n))

    def family(self, child, parents):
        pairs = sum(self.pair[child, u, v] for u in parents for v in parents if u < v)
        return float(sum(self.edge[child, u] for u in parents) + pairs)

    def without_each(self, child, parents):
        return np.array([self.family(child, [u for u in parents if u != x]) for x in parents])

    def with_each(self, child, parents):
        return np.array([self.family(child, [*parents, u]) for u in range(len(self.names))])


@pytest.mark.parametrize("climb", [climbing.hill_climb, climbing.tabu_search])
@pytest.mark.parametrize("max_parents", [1, 2, None])
def test_every_move_is_legal(climb, max_parents):
    """Also of an edge that is turned because that leaves more to be gained."""
    for seed in range(15):
        scorer = WholeNumbers(seed, 6)
        choices = {"max_parents": max_parents, "forbidden": "a -> b; c -> d", "required": "e -> f"}
        rules = naive_rules(scorer, choices)
        climber = climbing.Climber(scorer, read_constraints(scorer.names, **choices))
        climber.begin(climber.constraints.required)
        visited = []

        def note(score, n_moves, climber=climber, visited=visited):
            visited.append(naive.parents_of(climber.joined))
            return False

        found = climb(climber, note)
        for before, after in pairwise(visited):
            assert after == before or after in naive.legal_moves(before, rules).values()
        assert found.trace == [total(scorer, graph) for graph in visited]
        assert found.score == max(found.trace) == total(scorer, naive.parents_of(found.joined))


# --- what is found ---

RULES = [
    {},
    {"max_parents": 1},
    {"required": "x3 -> x0; x2 -> x1"},
    {"forbidden": "x0 -> x1; x1 -> x0; x2 -> x3", "max_parents": 2},
    {"tiers": [["x3"], ["x1", "x2"], ["x0"]]},
    {"required": "x3 -> x2", "forbidden": "x0 -> x1; x1 -> x2", "tiers": [["x1"], ["x0"]]},
]


def naive_rules(scorer, choices):
    found = read_constraints(scorer.names, **choices)
    pairs = (set(map(tuple, np.argwhere(x).tolist())) for x in (found.required, found.forbidden))
    return naive.Rules(*map(frozenset, pairs), found.most_parents)


@pytest.mark.parametrize("method", ["hill-climb", "tabu", "exact"])
@pytest.mark.parametrize("choices", RULES)
def test_no_single_move_is_better_and_no_graph_is_above_the_optimum(method, choices):
    for seed in range(4):
        table = make_table(seed) if seed % 2 else make_numbers(seed)
        scorer = make_scorer(table, "bic")
        rules = naive_rules(scorer, choices)
        dag = jn.learn_structure(table, method, "bic", **choices)
        graph = tuple(dag.parent_indices)
        assert structures.allowed(graph, rules.max_parents, rules.required, rules.forbidden)
        score = total(scorer, graph)
        assert dag.info.score == pytest.approx(score, rel=1e-12)
        gains = [total(scorer, g) - score for g in naive.legal_moves(graph, rules).values()]
        assert max(gains, default=0.0) < 1e-7
        possible = [
            g for g in FOUR
            if structures.allowed(g, rules.max_parents, rules.required, rules.forbidden)
        ]  # fmt: skip
        best = max(structures.scored(possible, scorer.family).values())
        assert score <= best + 1e-7
        assert method != "exact" or score == pytest.approx(best, rel=1e-11)


@pytest.mark.parametrize("score", ["bdeu", "bic", "k2"])
def test_tabu_with_restarts_finds_the_optimum(score):
    """Of 12 tables of 4 variables in all; plain climbing in most."""
    climbed = 0
    for seed in range(12):
        table = make_table(seed, 200)
        best = jn.learn_structure(table, "exact", score).info.score
        found = jn.learn_structure(table, "tabu", score, restarts=10, random_state=0).info.score
        assert found == pytest.approx(best, rel=1e-11)
        plain = jn.learn_structure(table, "hill-climb", score).info.score
        assert plain <= best + 1e-7
        climbed += plain > best - 1e-7
    assert climbed >= 9


@pytest.mark.parametrize("method", ["hill-climb", "tabu"])
def test_an_optimal_start_is_kept(method):
    for seed in range(6):
        table = make_table(seed)
        best = jn.learn_structure(table, "exact", "bdeu")
        assert jn.learn_structure(table, method, "bdeu", start=best) == best


@pytest.mark.parametrize("method", ["hill-climb", "tabu"])
def test_a_bad_start_is_left(method):
    table = make_table(2, 300)
    start = "x3 -> x2 -> x1 -> x0; x3 -> x0; x3 -> x1; x2 -> x0"
    dag = jn.learn_structure(table, method, "bic", start=start)
    assert dag.info.trace[0] == pytest.approx(jn.score(start, table, "bic"), rel=1e-12)
    assert dag.info.score > dag.info.trace[0]


# --- ties ---


def check_orders(table, rounds=30, **choices):
    """Columns and rows in any order give one graph."""
    expected = jn.learn_structure(table, **choices)
    rng = np.random.default_rng(0)
    for _ in range(rounds):
        other = table.select(rng.permutation(table.names)).take(rng.permutation(table.n_rows))
        assert jn.learn_structure(other, **choices) == expected
    return expected


@pytest.mark.parametrize("method", ["hill-climb", "tabu", "exact"])
@pytest.mark.parametrize("score", ["bdeu", "bic", "k2"])
def test_the_order_of_columns_and_rows_changes_nothing(method, score):
    table = make_table(5, 300, (2, 3, 2, 2, 3))
    assert check_orders(table, method=method, score=score).edges


@pytest.mark.parametrize("method", ["hill-climb", "tabu", "exact"])
@pytest.mark.parametrize("score", ["bge", "bic"])
def test_the_order_changes_nothing_for_numbers(method, score):
    assert check_orders(make_numbers(1, 300, 5), method=method, score=score).edges


@pytest.mark.parametrize("method", ["hill-climb", "tabu", "exact"])
def test_the_order_changes_nothing_among_equal_columns(method):
    """Three copies of a column, and one that depends on it: everything ties with something."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 100)
    d = a ^ (rng.random(100) < 0.1)
    table = jn.Table({x: v.astype(str) for x, v in zip("abcd", (a, a, a, d), strict=True)})
    check_orders(table, method=method, score="bic")


def test_restarts_do_not_depend_on_the_order():
    check_orders(make_table(7, 200, (2,) * 6), 10, score="bdeu", restarts=5, random_state=3)


def test_weights_and_repeated_rows_give_the_same_graph():
    table, weights = make_table(4, 150), np.random.default_rng(0).integers(0, 4, 150)
    repeated = table.take(np.repeat(np.arange(150), weights))
    for score in ("bdeu", "bic", "fnml"):
        weighted = jn.learn_structure(table.with_weights(weights), score=score)
        assert weighted == jn.learn_structure(repeated, score=score)


# --- restarts ---


@pytest.mark.parametrize("method", ["hill-climb", "tabu"])
def test_more_restarts_never_lose(method):
    """Start k is the same however many there are."""
    table = make_table(11, 150, (2, 3, 2, 2, 3, 2))
    scores = [
        jn.learn_structure(table, method, "k2", restarts=k, random_state=5).info.score
        for k in range(8)
    ]
    assert all(after >= before - 1e-7 for before, after in pairwise(scores))


def test_the_same_seed_gives_the_same_graph():
    table = make_table(12, 80, (2,) * 7)
    one, two = (jn.learn_structure(table, restarts=6, random_state=1) for _ in range(2))
    assert one == two
    np.testing.assert_array_equal(one.info.trace, two.info.trace)


def test_perturbed_graphs_keep_the_rules():
    rng = np.random.default_rng(0)
    rules = read_constraints("abcde", 2, "a -> b", "c -> d", [["a"], ["b", "e"]])
    joined, seen = rules.required.copy(), set()
    for _ in range(300):
        joined = climbing.perturbed(joined, rules, 3, rng)
        graph = naive.parents_of(joined)
        assert structures.is_acyclic(graph)
        assert not (rules.required & ~joined).any()
        assert not (joined & rules.forbidden).any()
        assert joined.sum(0).max() <= 2
        seen.add(graph)
    assert len(seen) > 100


class Rounding:
    """Scores that promise a gain of every move, and never keep it."""

    names = ("a", "b", "c", "d")
    is_set_function = False
    total_weight = 0.0

    def family(self, child, parents):
        return -1.0

    def without_each(self, child, parents):
        return np.full(len(parents), -1.0 + 1e-6)

    def with_each(self, child, parents):
        return np.full(4, -1.0 + 1e-6)


@pytest.mark.parametrize("climb", [climbing.hill_climb, climbing.tabu_search])
def test_promises_that_are_rounding_end_a_search(climb):
    climber = climbing.Climber(Rounding(), read_constraints(Rounding.names))
    found = climb(climber.begin(np.zeros((4, 4), bool)), patient)
    assert len(found.trace) < 200
    assert not found.joined.any()


# --- small and strange tables ---


@pytest.mark.parametrize("method", ["hill-climb", "tabu", "exact"])
def test_constant_columns_have_no_edges(method):
    for seed in range(5):
        columns = naive.random_columns(seed, 100, (2, 3, 2))
        table = jn.Table(columns | {"a": ["k"] * 100, "y": ["k"] * 100}, categorical=columns)
        dag = jn.learn_structure(table, method, "bic")
        assert not {"a", "y"} & {x for edge in dag.edges for x in edge}


@pytest.mark.parametrize("method", ["hill-climb", "tabu", "exact"])
@pytest.mark.parametrize("score", ["bdeu", "bic"])
def test_two_equal_columns_are_joined_by_name(method, score):
    rng = np.random.default_rng(0)
    a, c = rng.integers(0, 2, (2, 80)).astype(str)
    dag = jn.learn_structure({"b": a, "a": a, "c": c}, method, score)
    assert dag == jn.DAG("a -> b; c")


@pytest.mark.parametrize("method", ["hill-climb", "tabu", "exact"])
@pytest.mark.parametrize("table", [{"a": ["x", "y", "x"]}, {"a": [0.5, 1.5, 2.0]}])
def test_one_column(method, table):
    more = {} if method == "exact" else {"restarts": 3, "random_state": 0}
    dag = jn.learn_structure(table, method, **more)
    assert dag == jn.DAG("a")
    assert dag.info.score == pytest.approx(jn.score("a", table, dag.info.score_name))


NOTHING = "^there is nothing to learn from: the table has no rows, or no weight$"
EMPTY = {
    "states": jn.Table({"a": ["u", None], "b": [None, "v"]}).complete_rows(),
    "declared": jn.Table({"a": [], "b": []}, states={"a": ["x", "y"], "b": ["x", "y"]}),
    "numbers": jn.Table({"a": [0.5, None], "b": [None, 1.5]}).complete_rows(),
    "no weight": jn.Table({"a": ["u", "v"], "b": ["u", "v"]}, weights=[0.0, 0.0]),
    "undeclared": jn.Table({"a": [], "b": []}),
}
LEARNERS = {
    "hill-climb": jn.learn_structure,
    "exact": lambda table: jn.learn_structure(table, "exact"),
    "ges": lambda table: jn.learn_structure(table, "ges", "bic"),
    "posterior": lambda table: jn.structure_posterior(table, "exact"),
    "chains": lambda table: jn.structure_posterior(table, n_samples=5),
    "k_best": jn.k_best,
    "tree": jn.chow_liu,
    "informations": jn.mutual_information_matrix,
    "score": lambda table: jn.score("a -> b", table, "bic"),
    "fit": lambda table: jn.BayesianNetwork("a -> b").fit(table),
}


@pytest.mark.parametrize("rows", [name for name in EMPTY if name != "undeclared"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_no_rows(rows, learner):
    """By no rows all graphs are alike, which is no answer: every learner refuses as `fit` does."""
    with pytest.raises(jn.DataError, match=NOTHING):
        LEARNERS[learner](EMPTY[rows])


@pytest.mark.parametrize("rows", EMPTY)
def test_no_rows_to_draw_or_to_test(rows):
    with pytest.raises(
        jn.DataError, match=r"and (there are no rows|the rows weigh 0 in all): give"
    ):
        jn.bootstrap_edges(EMPTY[rows], 3)
    for method in ("pc", "mmhc"):
        with pytest.raises(jn.DataError, match="has no rows that count: there is nothing to test"):
            jn.learn_structure(EMPTY[rows], method)
    with pytest.raises(jn.DataError, match=NOTHING):
        jn.learn_structure(EMPTY["undeclared"])


def test_advice_tells_how_many_rows_are_complete():
    rng = np.random.default_rng(0)
    values = np.where(rng.random((400, 37)) < 0.3, None, rng.choice(["u", "v"], (400, 37)))
    holes = jn.Table({f"v{k:02}": column for k, column in enumerate(values.T)})
    none = r"leave out the columns with the most gaps \(none of the 400 rows is complete\)"
    with pytest.raises(jn.DataError, match=rf"more columns; {none}, or, if hardly any are missing"):
        jn.learn_structure(holes, missing="refuse")
    with pytest.raises(jn.DataError, match=rf"; use method='pc', whose tests do not, or {none}$"):
        jn.learn_structure(holes, "ges", missing="refuse")
    few = holes.select(["v00", "v01"])
    n = few.complete_rows().n_rows
    some = rf"keep only the {n} complete rows of 400 with table.complete_rows\(\)"
    with pytest.raises(jn.DataError, match=rf"; {some}, or, if hardly any"):
        jn.learn_structure(few, missing="refuse")
    with pytest.raises(jn.DataError, match=some):
        jn.score("v00 -> v01", few, "bdeu")


def test_more_variables_than_a_word_has_bits():
    """70 copies of one coin, each a little blurred: a tree, and no cycle."""
    rng = np.random.default_rng(0)
    coin = rng.integers(0, 2, 300)
    columns = {f"x{k:02}": coin ^ (rng.random(300) < 0.1) for k in range(70)}
    dag = jn.learn_structure({x: c.astype(str) for x, c in columns.items()}, max_parents=2)
    assert len(dag.edges) >= 69
    assert dag.info.score == pytest.approx(jn.score(dag, columns, "bdeu"), rel=1e-10)


def test_units_in_which_the_total_is_about_zero_change_nothing():
    """A log density may be 0; what rounding does to it still follows the number of rows."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20_000, 5)) @ rng.normal(size=(5, 5))
    per_row = jn.learn_structure(_continuous(x), score="bic").info.score / x.size
    table = _continuous(x * np.exp(per_row))
    assert abs(jn.learn_structure(table, score="bic").info.score) < 1e-3 * x.size
    graphs = {
        jn.learn_structure(table.take(rng.permutation(20_000)), score="bic") for _ in range(6)
    }
    assert len(graphs) == 1


def _continuous(x):
    return jn.Table({f"x{k}": column for k, column in enumerate(x.T)})


@pytest.mark.parametrize("method", ["hill-climb", "tabu"])
def test_a_constant_column_changes_nothing(method):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        columns = {f"x{k}": rng.integers(0, 2, 60).astype(str) for k in range(6)}
        columns["x5"] = np.where(rng.random(60) < 0.8, columns["x1"], columns["x2"])
        alone = jn.learn_structure(jn.Table(columns), method)
        both = jn.learn_structure(jn.Table({"aconst": ["c"] * 60, **columns}), method)
        assert both.subgraph(alone.nodes) == alone
        assert not both.parents("aconst")
        assert not both.children("aconst")


def test_a_start_that_is_impossible_is_refused():
    table = jn.Table(
        {"a": ["x", None, "y", None], "b": [None, "u", None, "v"], "c": ["p", "q", "q", "p"]}
    )
    choices = {"score": "bic", "missing": "available-case"}
    assert jn.learn_structure(table, **choices).info.score > -np.inf
    with pytest.raises(jn.DataError, match="'b' with its parents at the start has the score -inf"):
        jn.learn_structure(table, **choices, start="a -> b")


def test_info_tells_how_many_moves_were_looked_at():
    """Of two columns two edges may be added; then one may be dropped or turned, twice."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 200)
    found = jn.learn_structure({"a": a, "b": a ^ (rng.random(200) < 0.1)}, score="bic")
    assert len(found.edges) == 1
    assert found.info.n_tried >= 4
    assert found.info.n_tried % 2 == 0
    assert jn.learn_structure({"a": a, "b": a}, "exact").info.n_tried is None


def test_a_search_may_begin_with_a_class():
    rng = np.random.default_rng(1)
    table = {name: rng.integers(0, 3, 100) for name in "abc"}
    start = jn.DAG("a -> b; b -> c").cpdag()
    found = jn.learn_structure(table, start=start)
    assert found == jn.learn_structure(table, start=start.extension())
    with pytest.raises(jn.GraphError, match="of start= is forbidden"):
        jn.learn_structure(table, start=start, forbidden=[*start.extension().edges])
