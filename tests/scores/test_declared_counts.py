"""Columns that are declared as counts, below labels: scores, searches, fits and their refusals."""

from itertools import combinations, product

import numpy as np
import pytest
from naive.graphs import all_dags
from scipy import stats
from scipy.integrate import quad
from scipy.special import gammaln, xlogy

import jensen as jn
from jensen.exceptions import DataError, GraphError, JensenError
from jensen.scores import SCORES as OF_LABELS
from jensen.scores.make_scorer import make_scorer

SCORES = ("bdeu-bge", *sorted({"bic", "aic", "loglik"} & set(OF_LABELS)))
CLOSE = {"rtol": 1e-10, "atol": 1e-10}


def columns(n=60, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2, n), rng.integers(0, 3, n)
    return {
        "a": np.array(["no", "yes"])[a],
        "b": np.array(["p", "q", "r"])[b],
        "n": rng.poisson(2.0 + 6.0 * a),
        "m": rng.poisson(np.array([1.0, 3.0, 9.0])[b]),
        "x": 3.0 * a + rng.normal(size=n),
    }


def table_of(data, **choices):
    return jn.Table(data, counts=[x for x in ("n", "m") if x in data], **choices)


def by_definition(data, score, child, parents, weights=None):
    """The score of a count, configuration by configuration."""
    x = np.asarray(data[child], float)
    weights = np.ones(len(x)) if weights is None else weights
    keys = list(zip(*(data[p] for p in parents), strict=True)) if parents else [()] * len(x)
    total, b = -weights @ gammaln(x + 1.0), weights.sum() / (weights @ x)
    for key in set(keys):
        own = np.array([k == key for k in keys])
        n, s = weights[own].sum(), weights[own] @ x[own]
        if score == "bdeu-bge":
            total += np.log(b) + gammaln(1.0 + s) - (1.0 + s) * np.log(b + n)
        else:
            total += xlogy(s, s / n) - s
    n_configs = np.prod([len(set(data[p])) for p in parents])
    price = {"bic": 0.5 * np.log(weights.sum()), "aic": 1.0}.get(score, 0.0)
    return total - price * n_configs


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("weighted", [False, True])
def test_families_are_their_definitions(score, weighted):
    data = columns()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 60) if weighted else None
    scorer = make_scorer(table_of(data, weights=weights), score)
    at = {name: v for v, name in enumerate(scorer.names)}
    for child, parents in product("nm", [(), ("a",), ("b",), ("a", "b")]):
        found = scorer.family(at[child], [at[p] for p in parents])
        np.testing.assert_allclose(found, by_definition(data, score, child, parents, weights))
    plain = make_scorer(jn.Table({x: data[x] for x in "abx"}, weights=weights), score)
    for child, parents in (("a", ()), ("b", ("a",)), ("x", ("a", "b"))):
        ours = scorer.family(at[child], [at[p] for p in parents])
        theirs = plain.family("abx".index(child), ["abx".index(p) for p in parents])
        np.testing.assert_allclose(ours, theirs, **CLOSE)


def test_the_evidence_of_a_rate_is_its_integral():
    data = {"a": ["u"] * 3 + ["v"], "n": [2, 0, 5, 1]}
    b = 1.0 / np.mean(data["n"])
    wanted = [
        quad(lambda r, x=x: b * np.exp(-b * r) * stats.poisson.pmf(x, r).prod(), 0, 60)[0]
        for x in ([2, 0, 5], [1])
    ]
    scorer = make_scorer(table_of(data), "bdeu-bge")
    np.testing.assert_allclose(scorer.family(1, [0]), np.log(wanted).sum(), rtol=1e-8)


@pytest.mark.parametrize("score", SCORES)
def test_equivalent_graphs_score_the_same(score):
    scorer = make_scorer(table_of({x: columns()[x] for x in "abnx"}), score)
    found = {}
    for edges in all_dags(list(scorer.names)):
        dag = jn.DAG(edges, scorer.names)
        total = sum(scorer.family(v, above) for v, above in enumerate(dag.parent_indices))
        found.setdefault(str(dag.cpdag()), []).append(total)
    assert max(map(len, found.values())) > 3
    for totals in found.values():
        np.testing.assert_allclose(totals, totals[0], rtol=1e-9)


@pytest.mark.parametrize("score", SCORES)
def test_neighbours_and_all_sets_of_parents(score):
    scorer = make_scorer(table_of(columns()), score)
    n, kinds = len(scorer.names), scorer.kinds
    for child in range(n):
        others = [v for v in range(n) if v != child]
        table = scorer.subset_scores(child, others, 3)
        for size in range(4):
            for parents in combinations(others, size):
                at = sum(1 << others.index(p) for p in parents)
                above = {kinds[p] for p in parents}
                inside = {
                    "categorical": above <= {"categorical"},
                    "count": above <= {"categorical"},
                    "continuous": "count" not in above,
                }[kinds[child]]
                own = scorer.family(child, parents)
                np.testing.assert_allclose(table[at], own if inside else -np.inf, **CLOSE)
                further = scorer.with_each(child, parents)
                for v in set(others) - set(parents):
                    wanted = scorer.family(child, sorted((*parents, v)))
                    np.testing.assert_allclose(further[v], wanted, rtol=1e-9, atol=1e-9)
                fewer = [[p for p in parents if p != q] for q in parents]
                wanted = [scorer.family(child, few) for few in fewer]
                np.testing.assert_allclose(scorer.without_each(child, parents), wanted, **CLOSE)


@pytest.mark.parametrize("score", SCORES)
def test_rows_in_which_a_variable_was_set(score):
    data = columns()
    was_set = np.array(["n", "a", None, "x"], object)[np.arange(60) % 4]
    scorer = make_scorer(table_of(data), score, interventions=was_set)
    names, prior = scorer.names, 1.0 / np.mean(data["n"])
    own = {x: data[x][was_set != "n"] for x in data}
    found = scorer.family(names.index("n"), [names.index("a")])
    if score == "bdeu-bge":  # the prior is made of all rows
        wanted = -gammaln(own["n"] + 1.0).sum()
        for state in ("no", "yes"):
            rows = own["n"][own["a"] == state]
            wanted += np.log(prior) + gammaln(1.0 + rows.sum())
            wanted -= (1.0 + rows.sum()) * np.log(prior + len(rows))
    else:
        wanted = by_definition(own, score, "n", ["a"])
    np.testing.assert_allclose(found, wanted)
    not_set = scorer.family(names.index("m"), [names.index("b")])
    np.testing.assert_allclose(not_set, by_definition(data, score, "m", ["b"]))


@pytest.mark.parametrize("method", ["hill-climb", "tabu", "ges", "exact", "mmhc", "pc"])
def test_every_search_keeps_the_class(method):
    table = table_of(columns(400))
    choices = {} if method == "pc" else {"score": "bic"}
    found = jn.learn_structure(table, method, **choices)
    dag = found if isinstance(found, jn.DAG) else found.labels_first("ab")
    assert {("a", "n"), ("b", "m"), ("a", "x")} <= set(dag.edges)
    jn.BayesianNetwork(dag).fit(table)


def test_the_posterior_is_the_sum_over_all_graphs():
    data = {x: columns()[x] for x in "anx"} | {"m": columns()["m"]}
    table = table_of(data)
    post = jn.structure_posterior(table, method="exact")
    names, total, with_edge = sorted(data), [], []
    for edges in all_dags(names):
        dag = jn.DAG(edges, names)
        if all(a == "a" or (a, b) == ("x", "x") for a, b in dag.edges):
            total.append(jn.score(dag, table))
            with_edge.append(("a", "m") in dag.edges)
    p = np.exp(np.array(total) - max(total))
    wanted = p[with_edge].sum() / p.sum()
    assert post.edge_probability("a", "m") == pytest.approx(wanted, rel=1e-9)
    assert float(post.edge_probability("m", "a")) == 0.0


def test_graphs_behind_holes():
    data, rng = columns(150), np.random.default_rng(3)
    holes = {}
    for name, values in data.items():
        column = values.astype(object)
        column[rng.random(150) < 0.1] = None
        holes[name] = column.tolist()
    for score in ("bdeu-bge", "bic"):
        dag = jn.learn_structure(table_of(holes), score=score, random_state=0, max_parents=1)
        assert {("a", "n"), ("b", "m"), ("a", "x")} <= set(dag.edges)
        assert dag.info.statistics == "exact"
    net = jn.BayesianNetwork(dag, random_state=0).fit(table_of(holes))
    likelihood = dag.info.score + 0.5 * np.log(150) * net.parameters_count
    assert likelihood == pytest.approx(net.free_energy_, rel=1e-6)
    assert set(jn.chow_liu(table_of(holes)).nodes) == set(data)  # counts are numbers in a tree
    with pytest.raises(DataError, match="missing='node-average' is not for declared counts"):
        jn.learn_structure(table_of(holes), missing="node-average")


def test_whole_numbers_that_are_not_declared_stay_numbers(caplog):
    caplog.set_level("INFO", logger="jensen")
    data = {"a": np.arange(60) % 2, "n": np.arange(60)}
    net = jn.BayesianNetwork("a -> n").fit(jn.Table(data))
    assert net.regression("n")["0"].variance > 0
    assert "counts=['n']" in caplog.text
    net = jn.BayesianNetwork("a -> n").fit(jn.Table(data, counts=["n"]))
    assert net.regression("n")["0"] == 29.0
    assert net.query("n", given={"a": 1}).mean == 30.0


REFUSED = [
    (lambda: jn.BayesianNetwork("n -> x; a").fit(table_of(columns())), "counts have no children"),
    (lambda: jn.BayesianNetwork("n -> a").fit(table_of(columns())), "leads from a number to a lab"),
    (lambda: jn.BayesianNetwork("a; x -> n").fit(table_of(columns())), "to a count, which depends"),
    (
        lambda: jn.BayesianNetwork("x; n").fit(table_of(columns())),
        "a count depends on labels only, and none of the columns holds labels: leave 'n' out of",
    ),
    (
        lambda: jn.learn_structure(table_of({x: columns()[x] for x in "nx"})),
        "a count depends on labels only",
    ),
    (lambda: jn.score("n -> m; a", table_of({x: columns()[x] for x in "anm"})), "no children"),
    (
        lambda: jn.learn_structure(table_of(columns()), required=[("x", "n")]),
        "the edge x -> n leads from a number to a count",
    ),
    (
        lambda: jn.learn_structure(table_of({"a": list("uv"), "n": [1, 2_000_000_000]})),
        "the counts 'n' go up to 2e\\+09",
    ),
    (
        lambda: jn.BayesianNetwork("a -> n").fit(table_of({"a": list("uv"), "n": [1, 2 * 10**9]})),
        "the counts 'n' go up to 2e\\+09",
    ),
    (
        lambda: jn.BayesianNetwork("a -> n", prior={"strength": 2.0}).fit(table_of(columns())),
        "strength belongs to numbers, and there are none here",
    ),
]


@pytest.mark.parametrize(("learn", "text"), REFUSED)
def test_refusals(learn, text):
    with pytest.raises((DataError, GraphError, JensenError), match=text):
        learn()


def test_questions_that_make_no_sense():
    net = jn.BayesianNetwork("a -> n; b -> m; a -> x").fit(table_of(columns()))
    for value in (2.5, -1):
        with pytest.raises(JensenError, match="'n' is a count, a whole number from 0"):
            net.query("a", given={"n": value})
    with pytest.raises(JensenError, match="the count 'm' is asked for by itself"):
        net.query(["m", "x"])
    with pytest.raises(JensenError, match="the count 'n' is asked for by itself"):
        net.query(["m", "n"][::-1], given=table_of(columns()).select(["a"]))
    with pytest.raises(DataError, match="cannot be counts"):
        net.log_likelihood({**{x: [y[0]] for x, y in columns().items()}, "n": [1.5]})
    with pytest.raises(JensenError, match="'n' is a number: see regression"):
        net.cpt("n")
    with pytest.raises(JensenError, match="standard errors are not known of rates, and 'm' is a"):
        net.standard_errors(table_of(columns()))


def test_a_count_that_never_occurs_where_a_label_is():
    """Its likeliest rate is 0, and a count above 0 there is as good as impossible."""
    data = {"a": list("uuvv"), "n": [0, 0, 1, 3]}
    net = jn.BayesianNetwork("a -> n").fit(table_of(data))
    assert net.regression("n")["u"] == pytest.approx(0.0, abs=1e-200)
    assert net.free_energy_ == pytest.approx(
        4 * np.log(0.5) + stats.poisson.logpmf([1, 3], 2.0).sum()
    )
    assert net.query("a", given={"n": 1})["v"] == 1.0
    assert net.log_likelihood({"a": ["u"], "n": [1]})[0] < -600.0
    assert net.query("n", given={"a": "u"}).interval() == (0, 0)


def test_hidden_labels_above_counts():
    """A mixture of Poisson distributions is the graph, too."""
    rng = np.random.default_rng(0)
    state = rng.integers(0, 2, 300)
    data = {"n": rng.poisson(np.array([2.0, 15.0])[state])}
    data["m"] = rng.poisson(np.array([8.0, 1.0])[state])
    table = table_of(data)
    net = jn.BayesianNetwork("H -> n; H -> m", hidden={"H": 2}, random_state=0, tol=1e-12).fit(
        table
    )
    found = sorted(net.regression("m").each)
    np.testing.assert_allclose(found, [1.0, 8.0], rtol=0.2)
    np.testing.assert_allclose(net.log_likelihood(table).sum(), net.free_energy_, rtol=1e-9)


def test_a_picture_and_words():
    net = jn.BayesianNetwork("a -> n; a -> x", prior="bdeu-bge").fit(table_of(columns()))
    assert "rate of n given a" in repr(net.regression("n"))
    assert "posterior of the rate of n" in repr(net.posterior("n"))
    assert "count" in str(net.summary())
    assert "<svg" in net.to_svg(beliefs=True, given={"a": "yes"})
    many = net.query("n", given=[{"a": "yes"}, {"x": 0.5}])
    assert [one.mean for one in many] == np.ravel(many.mean).tolist()
    low, high = net.posterior("n").interval()
    assert np.all((low < net.posterior("n").mean) & (net.posterior("n").mean < high))


def test_evidence_is_the_sum_over_what_is_hidden():
    data = {
        "a": ["u", None, "v", "v", None, "u"],
        "b": ["p", "q", "q", None, "p", "p"],
        "n": [1, 4, 0, 2, 7, None],
        "x": [0.5, 1.0, -2.0, 0.3, 2.0, 1.0],
    }
    graph, prior = "a -> b; a -> n; b -> n; a -> x", {"strength": 1.0}
    choices = {"counts": ["n"], "continuous": ["x"], "states": {"a": "uv", "b": "pq"}}
    choices["states"] = {x: list(labels) for x, labels in choices["states"].items()}
    each = []
    for first, second, b in product("uv", "uv", "pq"):
        full = {**data, "a": ["u", first, "v", "v", second, "u"]}
        full["b"] = ["p", "q", "q", b, "p", "p"]
        net = jn.BayesianNetwork(graph, prior=prior).fit(jn.Table(full, **choices))
        each.append(net.free_energy_)
    table = jn.Table(data, **choices)
    net = jn.BayesianNetwork(graph, prior=prior, random_state=0).fit(table)
    exact = float(jn.log_evidence(net, table, "exact").value)
    assert exact == pytest.approx(np.logaddexp.reduce(each), rel=1e-9)
    assert net.free_energy_ < exact
    with pytest.raises(JensenError, match="annealing is not known of networks with declared"):
        jn.log_evidence(net, table, "ais")
    with pytest.raises(JensenError, match="the mode lies at a boundary"):
        jn.log_evidence(net, table, "laplace")
