"""Scores of labels and numbers together: definitions, equivalence, an integral that is one."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from naive import graphs
from naive import mixed_scores as naive

import jensen as jn
from jensen.families.joint_prior import NormalWishartPrior
from jensen.scores.conditional_gaussian import ConditionalGaussian
from jensen.scores.gaussian import BGe
from jensen.scores.make_scorer import make_scorer, scorer_on
from jensen.scores.registry import names_of
from jensen.scores.row_statistics import RowStatistics
from jensen.scores.scorer import total, unitless

KNOWN = json.loads((Path(__file__).parent / "mixed60.json").read_text())
NAMES, LABELS = ("l1", "l2", "x", "y"), ("l1", "l2")
SCORES = names_of("mixed")
every_score = pytest.mark.parametrize("name", SCORES)


def draw(n_rows, seed, n_labels=2, n_numbers=2):
    """Labels in a chain, and numbers that depend on one label and on the number before."""
    rng = np.random.default_rng(seed)
    data, states = {}, {}
    for k in range(n_labels):
        before = data.get(f"l{k}", ["a"] * n_rows)
        codes = (np.array([ord(x) - 97 for x in before]) + (rng.random(n_rows) < 0.4)) % (2 + k % 2)
        data[f"l{k + 1}"] = [chr(97 + c) for c in codes]
        states[f"l{k + 1}"] = tuple(chr(97 + c) for c in range(2 + k % 2))
    for k, x in enumerate("xyzuvw"[:n_numbers]):
        group = np.array([ord(c) - 97 for c in data[f"l{1 + k % n_labels}"]])
        before = data["xyzuvw"[k - 1]] if k else np.zeros(n_rows)
        data[x] = 3.0 + group + (1.0 - group) * before + (0.5 + group) * rng.normal(size=n_rows)
    return data, states


def table_of(data, states, **more):
    return jn.Table(data, states=states, **more)


def parents_of(edges, names=NAMES):
    return [[names.index(a) for a, b in edges if b == x] for x in names]


# --- definitions ---


@every_score
@pytest.mark.parametrize("seed", range(3))
def test_families_are_their_definitions(name, seed):
    data, states = draw(50, seed)
    scorer = make_scorer(table_of(data, states), name)
    for v, x in enumerate(NAMES):
        allowed = [p for p in (LABELS if x in LABELS else NAMES) if p != x]
        for size in range(len(allowed) + 1):
            for parents in combinations(allowed, size):
                expected = naive.local(data, states, x, parents, name)
                found = scorer.family(v, [NAMES.index(p) for p in parents])
                assert found == pytest.approx(expected, rel=1e-10)


def test_all_graphs_of_sixty_rows():
    table = jn.Table(KNOWN["columns"])
    assert len(KNOWN["graphs"]) == 144
    for graph, (bayes, bic) in KNOWN["graphs"].items():
        dag = jn.DAG(graph)
        assert jn.score(dag, table) == pytest.approx(bayes, abs=1e-9)
        assert jn.score(dag, table, "bic") == pytest.approx(bic, abs=1e-9)
    for graph, expected in KNOWN["loglik"].items():
        assert jn.score(jn.DAG(graph), table, "loglik") == pytest.approx(expected, abs=1e-9)
    for family, expected in KNOWN["families"].items():
        x, parents = family.split("|")
        dag = jn.DAG.from_parents({x: [p for p in parents.split(",") if p]})
        assert jn.scores.local_scores(dag, table)[x] == pytest.approx(expected, abs=1e-9)


def test_the_posterior_of_sixty_rows():
    post = jn.structure_posterior(jn.Table(KNOWN["columns"]), "exact")
    np.testing.assert_allclose(post.edge_matrix, KNOWN["edges"], rtol=1e-9, atol=1e-14)
    assert post.exact.log_total == pytest.approx(KNOWN["log_sum"], abs=1e-9)


def test_columns_of_one_kind_score_as_ever():
    data, states = draw(40, 1)
    table = table_of(data, states)
    terms = jn.scores.local_scores("l1 -> l2; x -> y", table)
    labels = jn.scores.local_scores("l1 -> l2", table, "bdeu")
    numbers = jn.scores.local_scores("x -> y", table, "bge")
    for x, expected in {**labels, **numbers}.items():
        assert terms[x] == pytest.approx(expected, rel=1e-13)


def test_weights_are_repeated_rows():
    data, states = draw(40, 2)
    weights = np.random.default_rng(0).integers(0, 4, 40)
    again = {x: [v for v, w in zip(column, weights, strict=True) for _ in range(w)]
             for x, column in data.items()}  # fmt: skip
    one, other = table_of(data, states, weights=weights), table_of(again, states)
    for name in SCORES:
        graph = "l1 -> x; x -> y; l1 -> l2"
        assert jn.score(graph, one, name) == pytest.approx(jn.score(graph, other, name), rel=1e-10)


@every_score
def test_rows_in_which_a_variable_was_set(name):
    data, states = draw(60, 3)
    was_set = np.random.default_rng(0).choice(["x", "l2", None], 60)
    graph = jn.DAG("l1 -> l2; l1 -> x; l2 -> y; x -> y")
    terms = jn.scores.local_scores(graph, table_of(data, states), name, interventions=was_set)
    rest = {x: jn.Table({**data}, states=states).take(was_set != x) for x in NAMES}
    if name != "bdeu-bge":  # whose ν and v are those of all rows
        for x in NAMES:
            only = jn.DAG.from_parents({x: graph.parents(x)})
            expected = jn.scores.local_scores(only, rest[x], name)[x]
            assert terms[x] == pytest.approx(expected, rel=1e-10)
    whole = jn.scores.local_scores(graph, table_of(data, states), name)
    assert terms["l1"] == whole["l1"]
    assert terms["y"] == pytest.approx(whole["y"], rel=1e-12)
    assert terms["x"] != pytest.approx(whole["x"], rel=1e-3)
    scorer = make_scorer(table_of(data, states), name, interventions=was_set)
    assert not scorer.is_set_function
    assert scorer.with_each(0, [])[2] == -np.inf  # there is no function of sets


def test_statistics_of_both_kinds_are_refused():
    data, states = draw(10, 0)
    with pytest.raises(jn.DataError, match=r"^statistics are scored of labels or of numbers, and"):
        scorer_on(RowStatistics(table_of(data, states)))


# --- equivalent graphs ---


@every_score
def test_equivalent_graphs_score_the_same(name):
    for seed in range(3):
        data, states = draw(300, seed)
        scorer = unitless(make_scorer(table_of(data, states), name))
        for members in naive.equivalence_classes(NAMES, LABELS):
            found = [total(scorer, parents_of(edges)) for edges in members]
            assert max(found) - min(found) < 1e-9


@every_score
def test_dags_outside_the_class_of_networks_score_as_their_equivalents(name):
    """So searches over classes can ask for any member of one."""
    data, states = draw(300, 4)
    scorer = unitless(make_scorer(table_of(data, states), name))
    assert scorer.is_set_function
    for members in graphs.equivalence_classes(NAMES):
        found = [total(scorer, parents_of(edges)) for edges in members]
        assert max(found) - min(found) < 1e-9


@every_score
def test_neighbours_of_families(name):
    data, states = draw(400, 5, 3, 3)
    names = tuple(sorted(data))
    scorer = make_scorer(table_of(data, states), name)
    for child in range(len(names)):
        others = [v for v in range(len(names)) if v != child]
        for size in range(4):
            for parents in combinations(others, size):
                more, less = scorer.with_each(child, parents), scorer.without_each(child, parents)
                for u in set(others) - set(parents):
                    expected = scorer.family(child, sorted((*parents, u)))
                    assert more[u] == pytest.approx(expected, rel=1e-9)
                for k, p in enumerate(parents):
                    rest = [u for u in parents if u != p]
                    assert less[k] == pytest.approx(scorer.family(child, rest), rel=1e-9)


@every_score
@pytest.mark.parametrize("most", [1, 2, 5])
def test_all_sets_of_parents(name, most):
    data, states = draw(400, 6, 3, 3)
    names = tuple(sorted(data))
    scorer = make_scorer(table_of(data, states), name)
    out = np.empty((6, 32))
    scorer.fill_family_scores(out, most, None)
    for child, x in enumerate(names):
        others = [v for v in range(6) if v != child]
        for k in range(32):
            parents = [v for j, v in enumerate(others) if k >> j & 1]
            if len(parents) > most:
                continue
            if x[0] == "l" and any(names[p][0] != "l" for p in parents):
                assert out[child, k] == -np.inf
            else:
                assert out[child, k] == pytest.approx(scorer.family(child, parents), rel=1e-9)


# --- the Bayesian score is a density ---


def density(rows, codes, degrees, parents=()):
    """p(last column | the others, labels) under a prior that is fixed beforehand."""
    n = rows.shape[1]
    prior = NormalWishartPrior(np.full(n, 0.3), 1.0, degrees, 0.5 * np.diag([1.0, 2.0][:n]))
    labels = [np.asarray(codes, np.int64)]
    numbers = ConditionalGaussian(rows, np.ones(len(rows)), labels, [2], BGe(prior), None)
    return np.exp(numbers.family(n - 1, (0,), parents))


@pytest.mark.parametrize("given", [False, True])
def test_the_evidence_of_a_column_integrates_to_one(given):
    """Three rows in two configurations; y = tan θ, by the midpoint rule."""
    codes, x = [0, 0, 1], np.array([0.4, -1.1, 2.0])
    n = 40
    angles = (np.arange(n) + 0.5) / n * np.pi - np.pi / 2
    points, step = np.tan(angles), np.pi / n / np.cos(angles) ** 2

    def of(y):
        columns = [x[: len(y)], y] if given else [y]
        rows = np.ascontiguousarray(np.array(columns, float).T)
        return density(rows, codes[: len(y)], rows.shape[1] + 2.0, (0,) if given else ())

    # rows of different configurations are independent: two rows together, the third by itself
    both = sum(step[i] * step[j] * of(np.array([points[i], points[j]]))
               for i in range(n) for j in range(n))  # fmt: skip
    assert both == pytest.approx(1.0, abs=2e-4)
    fixed = np.array([0.7, -0.2])
    third = sum(step[i] * of(np.array([*fixed, points[i]])) for i in range(n))
    assert third == pytest.approx(of(fixed), rel=2e-4)


def test_more_degrees_for_every_set_would_be_no_density():
    """With α_w = 4 for sets of one column and of two, the integral is not 1: the test sees it."""
    n = 400
    angles = (np.arange(n) + 0.5) / n * np.pi - np.pi / 2
    points, step = np.tan(angles), np.pi / n / np.cos(angles) ** 2
    x = np.array([[0.4], [-1.1]])
    prior = NormalWishartPrior(np.full(2, 0.3), 1.0, 4.0, 0.5 * np.diag([1.0, 2.0]))
    wrong = NormalWishartPrior(np.full(1, 0.3), 1.0, 4.0, np.array([[0.5]]))

    def of_set(rows, joint):
        numbers = ConditionalGaussian(
            np.ascontiguousarray(rows), np.ones(len(rows)), [], [], BGe(joint), None
        )
        return numbers.set_value((), range(rows.shape[1]))

    def integral(joint_of_x):
        below = of_set(x[:1], joint_of_x)
        return sum(
            step[i] * np.exp(of_set(np.array([[0.4, points[i]]]), prior) - below) for i in range(n)
        )

    assert integral(prior.of_columns([0])) == pytest.approx(1.0, abs=1e-4)
    assert abs(integral(wrong) - 1.0) > 0.1


def test_an_empty_configuration_adds_nothing():
    data, states = draw(50, 7)
    more = {**states, "l1": (*states["l1"], "never")}
    for graph in ("l1 -> x; l2; y", "l1 -> x; l2 -> x; y -> x"):
        found = [jn.scores.local_scores(graph, table_of(data, s))["x"] for s in (states, more)]
        assert found[0] == found[1]
    price = [
        jn.scores.local_scores("l1 -> x", table_of(data, s), "aic")["x"] for s in (states, more)
    ]
    assert price[0] - price[1] == pytest.approx(2.0)  # but its parameters are counted


def test_strength():
    data, states = draw(80, 8)
    table = table_of(data, states)
    found = jn.scores.local_scores("l1 -> x; x -> y; l2 -> y", table, strength=0.01)
    expected = naive.evidence(data, states, "y", ["x", "l2"], 0.01)
    assert found["y"] == pytest.approx(expected, rel=1e-10)
    assert found == jn.scores.local_scores("l1 -> x; x -> y; l2 -> y", table, mean_strength=0.01)
    of_numbers = jn.score("x -> y", table, "bge", strength=0.5)
    assert of_numbers == jn.score("x -> y", table, "bge", mean_strength=0.5)


def test_a_scale_of_its_own():
    data, states = draw(80, 9)
    table = table_of(data, states)
    given = {"scale": [[2.0, 0.5], [0.5, 1.0]], "prior_mean": {"x": 1.0, "y": 2.0}}
    terms = jn.scores.local_scores("l1; l2; x -> y", table, **given)
    alone = jn.scores.local_scores("x -> y", table, "bge", **given)
    assert terms["y"] == pytest.approx(alone["y"], rel=1e-12)


# --- units and rounding ---


@pytest.mark.parametrize("name", [None, "bic"])
def test_units_change_no_graph_and_no_posterior(name):
    data, states = draw(100, 10, 2, 3)
    factors, shifts = {"x": -1e7, "y": 3e-5, "z": 250.0}, {"x": 1e5, "y": -3e4, "z": 12.5}
    other = {
        x: factors[x] * (column + shifts[x]) if x in factors else column
        for x, column in data.items()
    }
    tables = [table_of(d, states) for d in (data, other)]
    matrices = [jn.structure_posterior(t, "exact", name).edge_matrix for t in tables]
    np.testing.assert_allclose(*matrices, atol=1e-6)
    for method in ("hill-climb", "exact", "ges"):
        assert len({str(jn.learn_structure(t, method, name)) for t in tables}) == 1
    graph = "l1 -> x; x -> y; y -> z; l2 -> z"
    moved = -100 * sum(np.log(abs(f)) for f in factors.values())
    one, two = (jn.score(graph, t, name) for t in tables)
    assert two - one == pytest.approx(moved, rel=1e-8)


def test_powers_of_two_change_no_bit():
    data, states = draw(100, 11)
    other = {**data, "x": 2.0**40 * data["x"], "y": -(2.0**-9) * data["y"]}
    one, two = (unitless(make_scorer(table_of(d, states))) for d in (data, other))
    for child, parents in ((2, [0]), (3, [0, 1, 2]), (0, [1])):
        assert one.family(child, parents) == two.family(child, parents)
