"""Latent classes: against networks with a hidden class, and over columns of every kind."""

import math
import warnings

import numpy as np
import pytest
from scipy.stats import nbinom, norm, poisson, t

import jensen as jn
from jensen.exceptions import CollapseError, DataError, EstimateWarning, JensenError

every_ascent = pytest.mark.parametrize("method", ["em", "vbem", "viterbi", "me"])


def limited(model, table):
    """A fit that is stopped by its limit of sweeps, on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimateWarning)
        return model.fit(table)


def labels_table(n=60, seed=0, missing=0.2):
    rng = np.random.default_rng(seed)
    high = rng.random(n) < 0.4
    columns = {}
    for name, n_labels in [("a", 2), ("b", 3), ("c", 4)]:
        codes = rng.binomial(n_labels - 1, np.where(high, 0.8, 0.2))
        columns[name] = [
            None if u < missing else f"s{c}" for c, u in zip(codes, rng.random(n), strict=True)
        ]
    states = {"a": ["s0", "s1"], "b": ["s0", "s1", "s2"], "c": ["s0", "s1", "s2", "s3"]}
    return columns, states


def mixed_table(n=80, seed=0, missing=0.15):
    rng = np.random.default_rng(seed)
    high = rng.random(n) < 0.4

    def gaps(values):
        return [None if u < missing else v for v, u in zip(values, rng.random(n), strict=True)]

    return {
        "colour": gaps(np.where(rng.random(n) < np.where(high, 0.8, 0.2), "red", "blue").tolist()),
        "eggs": gaps(rng.poisson(np.where(high, 30.0, 5.0)).tolist()),
        "size": gaps((rng.normal(size=n) + np.where(high, 5.0, 0.0)).tolist()),
    }


# A naive Bayes network with a hidden class.


@every_ascent
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_network_of_a_hidden_class_sweep_by_sweep(method, weighted):
    """Of complete rows: a network leaves missing cells out of h, which a mixture completes."""
    columns, states = labels_table(missing=0.0)
    rng = np.random.default_rng(1)
    weights = rng.uniform(0.5, 2.0, 60) if weighted else None
    table = jn.Table(columns, states=states, weights=weights)
    shares = rng.dirichlet([3.0, 3.0])
    tables = {name: rng.dirichlet(np.ones(len(s)) * 2.0, 2) for name, s in states.items()}
    sweeps = 12
    network = limited(
        jn.BayesianNetwork(
            "H -> a; H -> b; H -> c",
            method=method,
            prior=1.7,
            hidden={"H": 2},
            start={"H": shares, **tables},
            max_iter=sweeps,
            tol=0.0,
        ),
        table,
    )
    classes = limited(
        jn.LatentClass(
            2,
            method=method,
            prior={"concentration": 1.7, "emission": 1.7},
            start={"weights": shares, **tables},
            max_iter=sweeps,
            tol=0.0,
        ),
        table,
    )
    n = min(len(network.trace_), len(classes.trace_))
    assert n > 2
    np.testing.assert_allclose(classes.trace_[:n], network.trace_[:n], rtol=1e-10)
    if n == sweeps + 1:
        np.testing.assert_allclose(classes.parameters_["b"]["emission"], tables_of(network, "b"))


def tables_of(network, name):
    return np.array([probabilities for _, probabilities in network.cpt(name).rows()])


def test_maximum_likelihood_is_that_of_the_network():
    columns, states = labels_table()
    table = jn.Table(columns, states=states)
    rng = np.random.default_rng(4)
    start = {name: rng.dirichlet(np.ones(len(s)) * 2.0, 2) for name, s in states.items()}
    shares = np.array([0.4, 0.6])
    how = {"method": "em", "tol": 1e-11}
    network = jn.BayesianNetwork(
        "H -> a; H -> b; H -> c", hidden={"H": 2}, start={"H": shares, **start}, **how
    ).fit(table)
    classes = jn.LatentClass(2, start={"weights": shares, **start}, **how).fit(table)
    np.testing.assert_allclose(classes.trace_[-1], network.trace_[-1], rtol=1e-8)
    log_like = classes.log_likelihood(table)
    np.testing.assert_allclose(log_like, network.log_likelihood(table), rtol=1e-4)
    assert classes.score(table) == pytest.approx(log_like.mean(), rel=1e-12)


def test_zeros_of_a_start_do_not_make_rows_impossible():
    """A posterior is made of the start whatever density the prior gives its zeros."""
    table = jn.Table({"a": ["x", "x", "y", "y"], "b": ["x", "x", "y", "z"]})
    start = {
        "weights": [0.5, 0.5],
        "a": [[1.0, 0.0], [0.0, 1.0]],
        "b": [[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]],
    }
    found = jn.LatentClass(2, method="vbem", prior={"emission": 2.0}, start=start).fit(table)
    assert np.isfinite(found.free_energy_)
    impossible = {**start, "b": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]}
    with pytest.raises(JensenError, match="a row has probability 0 under the parameters of start="):
        jn.LatentClass(2, method="vbem", prior={"emission": 2.0}, start=impossible).fit(table)


# Columns of every kind.


@every_ascent
def test_columns_of_every_kind_with_values_missing(method):
    table = jn.Table(mixed_table())
    kinds = [table.variable(name).kind for name in ("colour", "eggs", "size")]
    assert kinds == ["categorical", "count", "continuous"]
    found = jn.LatentClass(2, method=method, prior={}, random_state=0).fit(table)
    assert np.all(np.diff(found.trace_) >= -1e-9 * np.abs(found.trace_[1:]))
    assert found.parameters_["colour"]["emission"].shape == (2, 2)
    assert found.parameters_["eggs"]["emission"].shape == (2, 1)
    assert found.parameters_["size"]["means"].shape == (2, 1)
    assert found.parameters_["size"]["covariances"].shape == (2, 1)
    rates = found.parameters_["eggs"]["emission"][:, 0]
    assert max(rates) > 3.0 * min(rates)
    np.testing.assert_allclose(found.predict_proba(table).sum(1), 1.0, rtol=1e-12)


def test_log_likelihood_at_a_point_is_a_product_over_columns():
    columns = mixed_table()
    table = jn.Table(columns)
    found = jn.LatentClass(2, random_state=0).fit(table)
    total = 0.0
    states = found.variables_[0].states
    for colour, eggs, size in zip(*(columns[k] for k in ("colour", "eggs", "size")), strict=True):
        p = found.weights_.copy()
        if colour is not None:
            p = p * found.parameters_["colour"]["emission"][:, states.index(colour)]
        if eggs is not None:
            p = p * poisson.pmf(eggs, found.parameters_["eggs"]["emission"][:, 0])
        if size is not None:
            m, v = (found.parameters_["size"][k][:, 0] for k in ("means", "covariances"))
            p = p * norm.pdf(size, m, np.sqrt(v))
        total += math.log(p.sum())
    assert found.free_energy_ == pytest.approx(total, rel=1e-9)
    assert found.score(table) * 80 == pytest.approx(total, rel=1e-9)
    assert found.n_parameters == 1 + 2 * (1 + 1 + 2)
    assert found.bic(table) == pytest.approx(-2.0 * total + 9 * math.log(80), rel=1e-9)
    assert found.aic(table) == pytest.approx(-2.0 * total + 18, rel=1e-9)


def test_answers_after_vb_are_predictive():
    table = jn.Table(mixed_table())
    found = jn.LatentClass(2, prior={}, random_state=0).fit(table)
    eta = found.fitted_.eta
    gamma_eta, normal_eta = eta.components[1], eta.components[2]
    words = found.fitted_.model.emission.parts[2].family.to_standard(normal_eta)
    shift = found.fitted_.model.emission.parts[2].shift
    row = {"colour": [None], "eggs": [7], "size": [1.5]}
    alpha = eta.weights + 1.0
    p = alpha / alpha.sum()
    b = gamma_eta.exposure[:, 0]
    p = p * nbinom.pmf(7, gamma_eta.total[:, 0] + 1.0, b / (b + 1.0))
    m, beta, nu, W = (x[:, 0] for x in words)
    p = p * t.pdf(1.5, nu, m + shift[0], np.sqrt((1.0 + beta) / (beta * nu * W)))
    like = jn.Table(row, states={"colour": ["blue", "red"]}, counts=["eggs"])
    np.testing.assert_allclose(found.log_likelihood(like), [np.log(p.sum())], rtol=1e-9)
    np.testing.assert_allclose(found.predict_proba(like), [p / p.sum()], rtol=1e-8)


def test_the_order_of_columns_changes_no_bit():
    columns = mixed_table()
    turned = {name: columns[name] for name in ("size", "colour", "eggs")}
    a = jn.LatentClass(3, prior={}, n_init=2, random_state=0).fit(jn.Table(columns))
    b = jn.LatentClass(3, prior={}, n_init=2, random_state=0).fit(jn.Table(turned))
    np.testing.assert_array_equal(a.trace_, b.trace_)
    np.testing.assert_array_equal(a.weights_, b.weights_)
    for name in columns:
        for part in a.parameters_[name]:
            np.testing.assert_array_equal(a.parameters_[name][part], b.parameters_[name][part])


@every_ascent
def test_weights_are_repeated_rows(method):
    columns = mixed_table(40)
    times = np.random.default_rng(0).integers(1, 4, 40)
    repeated = {
        k: [x for x, n in zip(v, times, strict=True) for _ in range(n)] for k, v in columns.items()
    }
    how = {"method": method, "prior": {}, "random_state": 0}
    counts = {"counts": ["eggs"]}
    a = jn.LatentClass(2, **how).fit(jn.Table(columns, weights=times, **counts))
    b = jn.LatentClass(2, **how).fit(jn.Table(repeated, **counts))
    np.testing.assert_allclose(a.trace_, b.trace_, rtol=1e-9)
    np.testing.assert_allclose(a.weights_, b.weights_, rtol=1e-7)


def test_threads_change_no_bit():
    rng = np.random.default_rng(0)
    n = 50_000
    columns = {
        "a": rng.integers(0, 3, n),
        "b": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
    }
    table = jn.Table(columns)
    found = []
    try:
        for threads in (1, 2):
            jn.set_threads(threads)
            model = jn.LatentClass(2, prior={}, max_iter=3, tol=0.0, random_state=0)
            found.append(limited(model, table))
    finally:
        jn.set_threads(None)
    np.testing.assert_array_equal(found[0].trace_, found[1].trace_)
    np.testing.assert_array_equal(found[0].weights_, found[1].weights_)


# Starts, what is held, surplus classes.


@every_ascent
def test_a_fit_can_start_where_another_ended(method):
    table = jn.Table(mixed_table())
    how = {"method": method, "prior": {}, "tol": 1e-12}
    first = jn.LatentClass(2, random_state=0, **how).fit(table)
    again = jn.LatentClass(2, start=first, **how).fit(table)
    assert again.free_energy_ == pytest.approx(first.free_energy_, rel=1e-6)
    if method in ("em", "viterbi"):
        assert again.trace_[0] == pytest.approx(first.free_energy_, rel=1e-10)


@pytest.mark.parametrize("method", ["em", "vbem"])
def test_what_is_fixed_stays(method):
    table = jn.Table(mixed_table())
    first = jn.LatentClass(2, random_state=0).fit(table)
    held = jn.LatentClass(2, method=method, prior=None, start=first, fixed=["components"]).fit(
        table
    )
    for name, parts in first.parameters_.items():
        for part, value in parts.items():
            np.testing.assert_allclose(held.parameters_[name][part], value, rtol=1e-9)


def test_surplus_classes_die_and_can_be_pruned():
    table = jn.Table(mixed_table(200, missing=0.05))
    found = jn.LatentClass(6, prior={"concentration": 1e-3}, n_init=3, random_state=0).fit(table)
    assert found.n_components_ < 6
    smaller = found.prune()
    assert smaller.n_classes == smaller.n_components_ == found.n_components_
    assert smaller.weights_.sum() == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_array_equal(smaller.predict(table), found.predict(table))
    expected = math.log(math.perm(6, found.n_components_))
    assert found.label_correction_ == pytest.approx(expected)


def test_samples_are_rows_of_a_table():
    table = jn.Table(mixed_table())
    found = jn.LatentClass(2, random_state=0).fit(table)
    rows, classes = found.sample(3000, random_state=1)
    assert set(rows["colour"]) == {"blue", "red"}
    share = np.bincount(classes) / 3000
    np.testing.assert_allclose(share, found.weights_, atol=0.05)
    rate = found.weights_ @ found.parameters_["eggs"]["emission"][:, 0]
    assert rows["eggs"].mean() == pytest.approx(rate, rel=0.1)


def test_gibbs_agrees_with_vb_where_classes_are_clear():
    table = jn.Table(mixed_table())
    vb = jn.LatentClass(2, prior={}, random_state=0).fit(table)
    model = jn.LatentClass(
        2, method="gibbs", prior={}, n_samples=100, burn_in=50, n_chains=2, random_state=0
    )
    found = limited(model, table)
    np.testing.assert_allclose(found.weights_, vb.weights_, atol=0.08)
    np.testing.assert_allclose(
        found.parameters_["eggs"]["emission"], vb.parameters_["eggs"]["emission"], rtol=0.15
    )
    assert (found.predict(table) == vb.predict(table)).mean() > 0.95


# Trouble.


def test_a_class_that_collapses_is_named():
    columns = {"x": [0.0, 0.1, -0.1, 0.2, 9.0, 9.0]}
    start = {"weights": [0.5, 0.5], "x": {"means": [[0.0], [9.0]], "covariances": [[1.0], [0.1]]}}
    with pytest.raises(CollapseError, match=r"class 1 has collapsed.*prior=\{\}"):
        jn.LatentClass(2, start=start).fit(jn.Table(columns, continuous=["x"]))
    found = jn.LatentClass(2, method="em", prior={}, start=start).fit(
        jn.Table(columns, continuous=["x"])
    )
    assert np.isfinite(found.free_energy_)


def test_several_that_collapse_are_counted_in_their_own_word():
    table = jn.Table({"x": [3.0] * 6}, continuous=["x"])
    advice = r"prior=\{\}\), fewer classes, or another start$"
    with pytest.raises(CollapseError, match=r"^classes 0, 1 have collapsed: .*" + advice):
        jn.LatentClass(2, random_state=0).fit(table)
    with pytest.raises(CollapseError, match=r"^states 0, 1 have collapsed: .* fewer states, or"):
        jn.HiddenMarkovModel(2, emission="gaussian", random_state=0).fit([3.0] * 6)


@every_ascent
def test_more_classes_than_rows_and_rows_without_values(method):
    columns = {k: v[:4] for k, v in mixed_table(missing=0.0).items()}
    for name in columns:
        columns[name][2] = None
    table = jn.Table(columns, counts=["eggs"], continuous=["size"])
    found = jn.LatentClass(6, method=method, prior={}, random_state=0).fit(table)
    assert np.isfinite(found.free_energy_)
    assert np.isfinite(found.score(table))


def test_data_that_do_not_suit_are_refused():
    with pytest.raises(DataError, match="nothing to learn from"):
        jn.LatentClass(2).fit(jn.Table({"a": [1, 2]}, weights=[0, 0]))
    for kind in ("continuous", "categorical", "counts"):
        empty = jn.Table({"a": ["x", "y"], "b": [np.nan, np.nan]}, **{kind: ["b"]})
        with pytest.raises(DataError, match=r"^the column 'b' has no values: leave it out$"):
            jn.LatentClass(2).fit(empty)
    with pytest.raises(DataError, match=r"^a column cannot be named 'weights'.*weights='weights'"):
        jn.LatentClass(2).fit({"a": ["x", "y"], "weights": [1.5, 2.5]})
    with pytest.raises(DataError, match=r"^row 2 of the column 'b' is 1e\+200, and numbers beyond"):
        jn.LatentClass(2).fit({"a": ["x", "y"], "b": [0.5, 1e200]})
    table = jn.Table({"a": ["x", "y", "x"], "b": ["u", "u", "v"]})
    found = jn.LatentClass(1).fit(table)
    with pytest.raises(DataError, match="the column 'b' is missing"):
        found.predict(jn.Table({"a": ["x"]}))
    with pytest.raises(JensenError, match="start must be a fitted LatentClass or a dict"):
        jn.LatentClass(1, start=3).fit(table)
    with pytest.raises(JensenError, match="start= lacks the parameters of 'b'"):
        jn.LatentClass(1, start={"a": [[0.5, 0.5]]}).fit(table)
    with pytest.raises(JensenError, match="has no part 'c'"):
        jn.LatentClass(1, start={"c": [[0.5, 0.5]]}).fit(table)
