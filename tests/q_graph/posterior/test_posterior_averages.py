"""Predictions and queries averaged over graphs, against sums over all graphs."""

import numpy as np
import pytest
from naive.posteriors import dags_of, parents_of, probabilities, run_of
from scipy.stats import norm

import jensen as jn
from jensen.exceptions import DataError, ImpossibleError, JensenError
from jensen.inference import gaussian_queries
from jensen.q_graph.posterior import SampledPosterior, averages
from jensen.q_graph.posterior.graph_samples import GraphSamples
from jensen.scores import SCORES, make_score
from jensen.scores.make_scorer import make_scorer
from jensen.scores.registry import HasPrior

NAMES = ("A", "B", "C")
DAGS = dags_of(NAMES)
WITHOUT = [name for name in SCORES if not isinstance(make_score(name), HasPrior)]


def states(n, seed):
    """Three dependent columns with two and three states."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n)
    b = (a + (rng.random(n) < 0.2)) % 2
    c = (a + b + (rng.random(n) < 0.3)) % 3
    labels = {"A": "ny", "B": "ny", "C": "lmh"}
    columns = {k: [labels[k][x] for x in v] for k, v in zip("ABC", (a, b, c), strict=True)}
    return jn.Table(columns, states={"A": ["n", "y"], "B": ["n", "y"], "C": ["l", "m", "h"]})


def numbers(n, seed):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    b = 0.8 * a + rng.normal(size=n)
    return jn.Table({"A": a, "B": b, "C": a - 0.5 * b + rng.normal(size=n)})


def everything(p, scorer, settings=None):
    """The posterior as all graphs with their weights: no sampling error."""
    logs = np.log(p)[None]
    samples = GraphSamples(NAMES, parents_of(DAGS)[None], logs, None, logs, "all")
    return SampledPosterior(run_of(samples), scorer, settings)


def joined(table, row):
    """The table with one more row."""
    kinds = {v.name: v.states for v in table.variables if v.states}
    data = {x: [*table.to_pandas()[x], row[x]] for x in table.names}
    return jn.Table(data, states=kinds) if kinds else jn.Table(data)


CASES = [
    (states, "bdeu", {"equivalent_sample_size": 3.0}),
    (states, "k2", {}),
    (numbers, "bge", {"prior_mean": 0.3, "scale": 2.0}),
]


@pytest.mark.parametrize(("make", "score", "choices"), CASES)
def test_predictions_are_ratios_of_evidences(make, score, choices):
    # p(row | data, G) = p(data, row | G) / p(data | G), whatever the prior
    table, further = make(40, 0), make(3, 1)
    p = probabilities(DAGS, table, score, **choices)
    post = everything(p, make_scorer(table, score, **choices))
    found = post.log_predictive(further)
    for k, row in enumerate(further.to_pandas().to_dict("records")):
        more = joined(table, row)
        ratios = [jn.score(g, more, score, **choices) - jn.score(g, table, score, **choices)
                  for g in DAGS]  # fmt: skip
        assert found[k] == pytest.approx(np.log(p @ np.exp(ratios)), rel=1e-9)


def test_predictions_of_a_prior_network():
    table, further = states(30, 0), states(2, 1)
    prior = jn.BayesianNetwork("A -> B; C", prior=1.0).fit(states(10, 5))
    choices = {"prior_network": prior, "equivalent_sample_size": 4.0}
    p = probabilities(DAGS, table, "bde", **choices)
    found = everything(p, make_scorer(table, "bde", **choices)).log_predictive(further)
    for k, row in enumerate(further.to_pandas().to_dict("records")):
        ratios = [jn.score(g, joined(table, row), "bde", **choices)
                  - jn.score(g, table, "bde", **choices) for g in DAGS]  # fmt: skip
        assert found[k] == pytest.approx(np.log(p @ np.exp(ratios)), rel=1e-9)


@pytest.mark.filterwarnings("ignore:1 parent configuration never occurred")  # of bds
@pytest.mark.parametrize("score", ["bds", *WITHOUT])
def test_scores_without_a_prior_predict_as_bdeu_does(score):
    table, further = states(40, 0), states(6, 1)
    p = np.full(25, 1 / 25)
    found = everything(p, make_scorer(table, score)).log_predictive(further)
    prior = "bds" if score == "bds" else "bdeu"
    each = [jn.BayesianNetwork(g, prior=prior).fit(table).log_likelihood(further) for g in DAGS]
    np.testing.assert_allclose(found, np.log(np.exp(each).mean(0)), rtol=1e-9)


def test_gaussian_likelihoods_predict_as_bge_does():
    table, further = numbers(40, 0), numbers(6, 1)
    p = np.full(25, 1 / 25)
    by_bic = everything(p, make_scorer(table, "bic")).log_predictive(further)
    by_bge = everything(p, make_scorer(table, "bge")).log_predictive(further)
    np.testing.assert_allclose(by_bic, by_bge, rtol=1e-12)


def test_rows_in_which_a_variable_was_set_do_not_count_for_it():
    table = states(60, 0)
    was_set = ["A"] * 20 + ["C"] * 15 + [None] * 25
    scorer = make_scorer(table, "bdeu", interventions=was_set)
    post = everything(np.full(25, 1 / 25), scorer)
    means = [post._predictions.table(v, ()) for v in range(3)]
    for v, rows in enumerate([table.take(np.arange(20, 60)), table,
                              table.take(np.r_[0:20, 35:60])]):  # fmt: skip
        net = jn.BayesianNetwork("A; B; C", prior="bdeu").fit(rows)
        np.testing.assert_allclose(means[v], net.cpt(NAMES[v]).values, rtol=1e-12)
    set_b = make_scorer(numbers(30, 0), interventions=["B"] * 10 + [None] * 20)
    prior = set_b.joint_prior
    own = make_scorer(numbers(30, 0).take(np.arange(10, 30)), prior_mean=dict(
        zip(NAMES, prior.mean, strict=True)), scale=prior.scale)  # fmt: skip
    one = everything(np.full(25, 1 / 25), set_b)._predictions.regression(1, (0, 2))
    two = everything(np.full(25, 1 / 25), own)._predictions.regression(1, (0, 2))
    assert one.coefficients == pytest.approx(two.coefficients, rel=1e-12)
    assert one.variance == pytest.approx(two.variance, rel=1e-12)


def test_gaps_in_rows_are_summed_out():
    table = states(40, 0)
    p = probabilities(DAGS, table)
    post = everything(p, make_scorer(table))
    holes = jn.Table({"A": ["n", None, "y", None, "y"], "B": ["y", "y", None, None, "n"],
                      "C": ["l", "m", "h", None, "unknown"]})  # fmt: skip
    known = holes.take(np.arange(4))
    each = [jn.BayesianNetwork(g, prior="bdeu").fit(table).log_likelihood(known) for g in DAGS]
    with pytest.warns(jn.DataWarning, match="the first one is 'unknown' in column 'C'"):
        found = post.log_predictive(holes)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(found[:4], np.log(p @ np.exp(each)), rtol=1e-9, atol=1e-12)
    assert found[4] == -np.inf
    known = {"A": ["n", "y"], "C": ["l", "m", "h"]}
    unseen = jn.Table({"A": [None] * 2, "B": ["n", "y"], "C": [None] * 2}, states=known)
    only = post.log_predictive(unseen)
    assert np.exp(only).sum() == pytest.approx(1.0)


QUESTIONS = [
    ("C", None, None),
    ("A", {"C": "h"}, None),
    ("B", None, {"A": "y"}),
    ("B", {"C": "l"}, {"A": "y"}),
    (["C", "A"], {"B": "n"}, None),
    ("C", {"B": [0.2, 0.8]}, None),
]


@pytest.mark.parametrize(("targets", "given", "do"), QUESTIONS)
def test_answers_are_sums_over_all_graphs(targets, given, do):
    table = states(40, 0)
    p = probabilities(DAGS, table)
    post = everything(p, make_scorer(table))
    nets = [jn.BayesianNetwork(g, prior="bdeu").fit(table) for g in DAGS]
    each = np.array([net.query(targets, given, do).values for net in nets])
    evidence = np.array([np.exp(net.log_probability(given or {}, do)) for net in nets])
    truth = np.tensordot(p * evidence, each, 1) / (p @ evidence)
    found = post.query(targets, given, do)
    np.testing.assert_allclose(found.values, truth, rtol=1e-10)
    np.testing.assert_array_equal(found.standard_error, 0.0)
    assert found.n_graphs == 25


@pytest.mark.parametrize(("given", "do"), [(None, None), ({"C": 1.0}, None), (None, {"A": 2.0}),
                                           ({"C": -1.0}, {"B": 0.5})])  # fmt: skip
def test_gaussian_answers_are_moments_of_the_mixture(given, do):
    table = numbers(40, 0)
    p = probabilities(DAGS, table, "bge")
    post = everything(p, make_scorer(table))
    targets = [x for x in NAMES if x not in {**(given or {}), **(do or {})}]
    nets = [jn.BayesianNetwork(g, prior="bge").fit(table).gaussian for g in DAGS]
    found = [gaussian_queries.query(net, targets, given, do) for net in nets]
    evidence = np.exp([gaussian_queries.log_probability(net, given or {}, do) for net in nets])
    w = p * evidence / (p @ evidence)
    mean = sum(wi * d.means for wi, d in zip(w, found, strict=True))
    second = sum(wi * (d.covariance + np.outer(d.means, d.means))
                 for wi, d in zip(w, found, strict=True))  # fmt: skip
    answer = post.query(targets, given, do)
    np.testing.assert_allclose(answer.means, mean, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(answer.covariance, second - np.outer(mean, mean), rtol=1e-8)
    assert np.all(np.diagonal(answer.between) >= 0)
    assert "standard deviation" in repr(answer)


def test_sampled_answers_come_with_their_error():
    table = states(40, 0)
    p = probabilities(DAGS, table)
    exact = everything(p, make_scorer(table)).query("B", {"C": "h"}, {"A": "y"})
    z = []
    for seed in range(40):
        which = np.random.default_rng(seed).choice(25, (2, 100), p=p)
        samples = GraphSamples(NAMES, parents_of(DAGS)[which], np.log(p)[which])
        post = SampledPosterior(run_of(samples), make_scorer(table))
        found = post.query("B", {"C": "h"}, {"A": "y"})["y"]
        z.append((found - exact["y"]) / found.standard_error)
    # 40 squared z-scores: their mean has a standard deviation of 0.22 about 1
    assert 0.4 < np.mean(np.square(z)) < 1.9
    text = repr(post.query("B", do={"A": "y"}))
    assert text.startswith("P(B | do(A=y))\nB  probability  standard error\n")


def test_fewer_graphs_only_if_asked_for():
    table = states(40, 0)
    p = probabilities(DAGS, table)
    which = np.random.default_rng(0).choice(25, (2, 400), p=p)
    samples = GraphSamples(NAMES, parents_of(DAGS)[which], np.log(p)[which])
    post = SampledPosterior(run_of(samples), make_scorer(table))
    all_of_them, some = post.query("C"), post.query("C", n_graphs=20)
    assert all_of_them.n_graphs == samples.n_distinct
    assert some.n_graphs <= 20
    assert some["h"].standard_error > all_of_them["h"].standard_error
    thin = SampledPosterior(run_of(samples.thinned(20)), make_scorer(table))
    np.testing.assert_array_equal(some.values, thin.query("C").values)
    few = post.log_predictive(table, n_graphs=20, progress=True)
    np.testing.assert_allclose(few, thin.log_predictive(table), rtol=1e-12)
    with pytest.raises(JensenError, match="n_graphs must be a whole number, 1 or more"):
        post.query("C", n_graphs=0)


def test_graphs_alike_above_a_question_are_asked_once(monkeypatch):
    table = states(40, 0)
    post = everything(probabilities(DAGS, table), make_scorer(table))
    asked = []
    ask = post._predictions.ask
    monkeypatch.setattr(
        post._predictions, "ask", lambda *args: asked.append(args[0].graph) or ask(*args)
    )
    post.query("B", do={"A": "y"})
    # do cuts what leads to A: B alone, A -> B, or C above B, with or without A above each
    assert len(asked) == 1 + 1 + 3 * 1 + 1
    assert len(set(asked)) == len(asked)


def test_many_rows_are_cut_into_parts(monkeypatch):
    from jensen.q_graph.posterior import averages

    table = states(40, 0)
    post = everything(probabilities(DAGS, table), make_scorer(table))
    whole = post.log_predictive(table)
    monkeypatch.setattr(averages, "CELLS", 30)
    np.testing.assert_allclose(post.log_predictive(table), whole, rtol=1e-13)


def test_tables_are_counted_again_when_too_many_were_kept(monkeypatch):
    from jensen.q_graph.posterior import predictions

    table = states(40, 0)
    p = probabilities(DAGS, table)
    found = everything(p, make_scorer(table)).query("C", {"A": "y"}).values
    monkeypatch.setattr(predictions, "KEPT_BYTES", 64)
    again = everything(p, make_scorer(table)).query("C", {"A": "y"}).values
    np.testing.assert_allclose(again, found, rtol=1e-13)


def test_what_cannot_be_asked_is_refused():
    table = states(40, 0)
    p = probabilities(DAGS, table)
    post = everything(p, make_scorer(table))
    with pytest.raises(
        JensenError, match="given: there is no variable 'Z'; the variables are: A, B, C"
    ):
        post.query("A", {"Z": 1})
    with pytest.raises(JensenError, match="ask for one variable or several different ones"):
        post.query(["A", "A"])
    with pytest.raises(JensenError, match="'B' stands in given and in do"):
        post.query("A", {"B": "y"}, {"B": "n"})
    with pytest.raises(JensenError, match="'A' is asked for, but stands in given"):
        post.query("A", {"A": "y"})
    with pytest.raises(jn.DataError, match="the table has no column 'A': a variable that was"):
        post.log_predictive({"Z": ["a"]})
    prior = jn.BayesianNetwork.from_tables(
        "A; B; C", {"A": [1.0, 0.0], "B": [0.5, 0.5], "C": [0.3, 0.3, 0.4]},
        states={"A": ["n", "y"], "B": ["n", "y"], "C": ["l", "m", "h"]},
    )  # fmt: skip
    never = table.take(np.array([x == "n" for x in table.to_pandas()["A"]]))
    scorer = make_scorer(never, "bde", prior_network=prior)
    with pytest.raises(ImpossibleError, match=r"what is given \(A=y\) is impossible in every"):
        everything(p, scorer).query("B", {"A": "y"})
    with pytest.raises(JensenError, match=r"need the data.*post.with_table\(table\)"):
        everything(p, None).query("A")
    listed = jn.k_best  # any object that is no scorer of rows
    with pytest.raises(JensenError, match="and this posterior knows local scores only"):
        everything(p, listed).query("A")
    gaussian = everything(p, make_scorer(numbers(30, 0)))
    with pytest.raises(DataError, match=r"1 row \(2\) lack a finite number: rows must be complete"):
        gaussian.log_predictive({"A": [0.5, 1.5], "B": [0.5, np.nan], "C": [0.5, 2.5]})
    with pytest.raises(DataError, match="the table has no column 'C': rows must be complete"):
        gaussian.log_predictive({"A": [0.5], "B": [0.5]})


def test_the_data_can_be_given_again():
    table = states(40, 0)
    p = probabilities(DAGS, table)
    settings = {"score": "bdeu", "equivalent_sample_size": 2.0}
    whole = everything(p, make_scorer(table, **settings), settings)
    bare = everything(p, None, settings)
    bare._best_score = whole.best.info.score
    assert bare.best.info.score != bare.best.info.score
    again = bare.with_table(table)
    assert again.best.info.score == whole.best.info.score
    np.testing.assert_array_equal(again.query("A").values, whole.query("A").values)
    with pytest.raises(DataError, match="these are not the data of this posterior: its best graph"):
        bare.with_table(states(40, 1))
    with pytest.raises(DataError, match="this posterior is of A, B, C, and the table has A, B"):
        bare.with_table(table.select(["A", "B"]))


@pytest.mark.parametrize("most_cells", [0, 1 << 16])
def test_gaps_are_summed_out_of_graphs_or_of_their_mixture(most_cells, monkeypatch):
    monkeypatch.setattr(averages, "MOST_CELLS", most_cells)
    table = states(40, 1)
    p = probabilities(DAGS, table)
    holes = jn.Table({"A": ["n", None, None], "B": [None, "y", None], "C": ["l", None, None]})
    each = [jn.BayesianNetwork(g, prior="bdeu").fit(table).log_likelihood(holes) for g in DAGS]
    found = everything(p, make_scorer(table)).log_predictive(holes)
    np.testing.assert_allclose(found, np.log(p @ np.exp(each)), rtol=1e-9, atol=1e-12)


def test_the_interval_of_a_mixture_is_its_own():
    """X and Y tell no direction: set, X moves Y in half of the posterior only."""
    rng = np.random.default_rng(0)
    x = rng.normal(5.0, 1.0, 300)
    post = jn.structure_posterior({"X": x, "Y": 1.0 + x + rng.normal(size=300)}, "exact")
    answer = post.query("Y", do={"X": 7.0})
    shares, means, variances = answer.parts
    for edge, below in zip(answer.interval(0.8), (0.1, 0.9), strict=True):
        cumulative = norm.cdf(edge, means[:, 0], np.sqrt(variances[:, 0]))
        assert shares @ cumulative == pytest.approx(below, abs=1e-12)
    assert "standard error" in repr(answer)
