"""Many rows and a mixed network, beside enumeration: likelihoods, predictions, imputation."""

import numpy as np
import pytest
from naive import mixed_answers as naive
from scipy import stats

import jensen as jn
from jensen.data.encode import Column
from jensen.exceptions import DataWarning, ImpossibleError, JensenError

CLOSE = {"rtol": 1e-10, "atol": 1e-10}


def holed(rng, net, n, share=0.4):
    """Rows with holes: as a table, and for the twin a dict of what each row knows."""
    whole = net.sample(n, random_state=rng)
    holes = {v.name: rng.random(n) < share for v in net.variables}
    return holed_as(whole, [{x for x in holes if holes[x][i]} for i in range(n)])


def holed_as(whole, gaps):
    """A table whose rows lack these variables, and what each row knows."""
    columns, known = [], [{} for _ in gaps]
    for variable in whole.variables:
        data, is_label = whole.column(variable.name).data.copy(), variable.kind == "categorical"
        for i, missing in enumerate(gaps):
            if variable.name in missing:
                data[i] = variable.n_states if is_label else np.nan
            else:
                known[i][variable.name] = int(data[i]) if is_label else float(data[i])
        columns.append(Column(variable, data))
    return jn.Table.from_columns(columns), known


def without(row, name):
    return {x: value for x, value in row.items() if x != name}


def moments(network, found, name):
    """Mean (1,) and variance (1, 1) of a number, or of a count."""
    if name.startswith("c"):
        mean, variance = naive.count_moments(found, name)
        return np.array([mean]), np.array([[variance]])
    return naive.moments(network, found, [name])


@pytest.mark.parametrize("seed", range(30))
def test_rows_equal_enumeration(seed):
    rng = np.random.default_rng(seed)
    n_labels, n_numbers = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    net = naive.random_network(rng, n_labels, n_numbers, n_counts=seed % 3)
    network = net.network_
    table, known = holed(rng, net, 12)
    found = [naive.pieces(network, row) for row in known]
    wanted = [naive.log_evidence(one) for one in found]
    np.testing.assert_allclose(net.log_likelihood(table), wanted, **CLOSE)
    everything = net.predict_proba(table)
    for variable in net.variables:
        name = variable.name
        others = [naive.pieces(network, without(row, name)) for row in known]
        if variable.kind == "categorical":
            p = np.array([naive.joint_labels(network, one, [name]) for one in others])
            np.testing.assert_allclose(net.predict_proba(table, name), p, **CLOSE)
            np.testing.assert_allclose(net.query(name, given=table).values, p, **CLOSE)
            guess = net.predict(table, name)
            assert [variable.states.index(x) for x in guess] == p.argmax(1).tolist()
            p = np.array([naive.joint_labels(network, one, [name]) for one in found])
            np.testing.assert_allclose(everything[name], p, **CLOSE)
        else:
            pairs = [moments(network, one, name) for one in others]
            mean = [m[0] for m, _ in pairs]
            np.testing.assert_allclose(net.predict(table, name), mean, **CLOSE)
            answer = net.query(name, given=table)
            np.testing.assert_allclose(answer.mean, mean, **CLOSE)
            np.testing.assert_allclose(answer.variance, [c[0, 0] for _, c in pairs], **CLOSE)
            assert answer[3].mean == pytest.approx(mean[3], abs=1e-10)


@pytest.mark.parametrize("seeds", [range(k, k + 50) for k in range(0, 200, 50)], ids=str)
def test_two_hundred_random_networks_equal_enumeration(seeds):
    """Likelihood, label and number given the rest of a row, and imputation; two rows with holes.

    In the second row a label has one number below it that is seen, and one that is missing.
    """
    n_split = 0
    for seed in seeds:
        rng = np.random.default_rng(5000 + seed)
        size = [int(k) for k in rng.integers(1, 4, 2)]
        net = naive.random_network(rng, *size, n_counts=seed % 3 % 2)
        network, whole = net.network_, net.sample(2, random_state=rng)
        table, known = holed_as(whole, [gaps_of(rng, net, k) for k in range(2)])
        n_split += bool(split_labels(net, known[1]))
        found = [naive.pieces(network, row) for row in known]
        wanted = [naive.log_evidence(one) for one in found]
        np.testing.assert_allclose(net.log_likelihood(table), wanted, **CLOSE, err_msg=str(seed))
        filled = net.impute(table, "marginal")
        for variable in net.variables:
            name, is_label = variable.name, variable.kind == "categorical"
            others = [naive.pieces(network, without(row, name)) for row in known]
            answer = net.query(name, given=table)
            if is_label:
                p = [naive.joint_labels(network, one, [name]) for one in others]
                np.testing.assert_allclose(answer.values, p, **CLOSE, err_msg=str(seed))
            else:
                pairs = [moments(network, one, name) for one in others]
                theirs = [[m[0], c[0, 0]] for m, c in pairs]
                ours = np.column_stack([answer.mean, answer.variance])
                np.testing.assert_allclose(ours, theirs, **CLOSE, err_msg=str(seed))
            for i, row in enumerate(known):
                value = filled.column(name).data[i]
                if name in row:
                    assert value == row[name]
                elif is_label:
                    assert value == naive.joint_labels(network, found[i], [name]).argmax()
                else:
                    mean = moments(network, found[i], name)[0][0]
                    mean = np.round(mean) if variable.kind == "count" else mean
                    assert value == pytest.approx(mean, rel=1e-10, abs=1e-10)
    assert n_split > 10


def below(graph, name):
    """All descendants."""
    return set().union(*({x} | below(graph, x) for x in graph.children(name)))


def split_labels(net, row):
    """Missing labels with a number below them that is seen, and one that is missing."""
    labels = [v.name for v in net.variables if v.kind == "categorical" and v.name not in row]
    numbers = {v.name for v in net.variables if v.kind == "continuous"}
    under = [below(net.graph, x) & numbers for x in labels]
    return [x for x, own in zip(labels, under, strict=True) if own & set(row) and own - set(row)]


def gaps_of(rng, net, k):
    """The variables that are missing in a row; of k = 1 a label, and one number of two below it."""
    names = [v.name for v in net.variables]
    gaps = {x for x in names if rng.random() < 0.4}
    if k == 1:
        for label in [v.name for v in net.variables if v.kind == "categorical"]:
            under = sorted(x for x in below(net.graph, label) if x.startswith("x"))
            if len(under) > 1:
                seen, missing = rng.permutation(under)[:2]
                return (gaps | {label, missing}) - {seen}
    return gaps


@pytest.mark.parametrize("seed", range(10))
def test_joint_questions_of_rows_equal_enumeration(seed):
    rng = np.random.default_rng(100 + seed)
    net = naive.random_network(rng)
    network = net.network_
    table, known = holed(rng, net, 10)
    labels, numbers, done = ["l2", "l0"], ["x2", "x0"], {"l1": 1}
    rest = [without(without(row, labels[0]), labels[1]) for row in known]
    p = [naive.joint_labels(network, naive.pieces(network, row), labels) for row in rest]
    np.testing.assert_allclose(net.query(labels, given=table).values, p, **CLOSE)
    free = table.select([x for x in table.names if x != "l1"])
    rows = [without(without(without(row, "x0"), "x2"), "l1") for row in known]
    pairs = [naive.moments(network, naive.pieces(network, row, done), numbers) for row in rows]
    answer = net.query(numbers, given=free, do={"l1": "1"})
    np.testing.assert_allclose(answer.mean, [m for m, _ in pairs], **CLOSE)
    np.testing.assert_allclose(answer.covariances, [c for _, c in pairs], **CLOSE)
    np.testing.assert_allclose(answer[2].covariance, pairs[2][1], **CLOSE)


@pytest.mark.parametrize("seed", range(10))
def test_expected_counts_equal_enumeration(seed):
    rng = np.random.default_rng(300 + seed)
    net = naive.random_network(rng)
    table, known = holed(rng, net, 10)
    families = [["l0"], ["l2", "l0"], ["l1", "l2", "l0"]]
    for family, counts in zip(families, net.expected_counts(table, families), strict=True):
        wanted = sum(
            naive.joint_labels(net.network_, naive.pieces(net.network_, row), family)
            for row in known
        )
        np.testing.assert_allclose(counts, wanted, **CLOSE)
    with pytest.raises(JensenError, match="expected counts of numbers"):
        net.expected_counts(table, [["x0"]])


@pytest.mark.parametrize("seed", range(15))
def test_imputation_equals_enumeration(seed):
    rng = np.random.default_rng(400 + seed)
    net = naive.random_network(rng, n_counts=seed % 3)
    network = net.network_
    table, known = holed(rng, net, 8, 0.5)
    names = ["x0", "x1", "x2"]
    mode, single = net.impute(table), net.impute(table, "marginal")
    for i, row in enumerate(known):
        found = naive.pieces(network, row)
        best = max(found, key=lambda piece: piece.log_weight)
        for variable in net.variables:
            x = variable.name
            is_label = variable.kind == "categorical"
            filled = [one.column(x).data[i] for one in (mode, single)]
            if x in row:
                assert filled[0] == filled[1] == row[x]
            elif is_label:
                assert filled[0] == best.states[x]
                assert filled[1] == naive.joint_labels(network, found, [x]).argmax()
            elif variable.kind == "count":
                assert filled[0] == np.floor(best.rates[x])
                assert filled[1] == np.round(naive.count_moments(found, x)[0])
            else:
                assert filled[0] == pytest.approx(best.mean[names.index(x)], abs=1e-10)
                mean = naive.moments(network, found, [x])[0][0]
                assert filled[1] == pytest.approx(mean, abs=1e-10)


def agree(values, means, variances):
    """P-value: the mean of draws (n, d) is that of a distribution with these moments."""
    z = (values.mean(0) - means) / np.sqrt(np.asarray(variances) / len(values))
    return float(stats.chi2.sf(float(np.square(z).max()), 1)) * len(np.atleast_1d(z))


@pytest.mark.parametrize("seed", range(4))
def test_drawn_completions_have_the_moments_of_the_posterior(seed):
    rng = np.random.default_rng(500 + seed)
    net = naive.random_network(rng, n_counts=1)
    table, known = holed(rng, net, 1, 0.6)
    many = table.take(np.zeros(20_000, np.int64))
    drawn = net.impute(many, "draw", random_state=seed)
    check_draws(net, drawn, naive.pieces(net.network_, known[0]), known[0])


@pytest.mark.parametrize("seed", range(6))
def test_samples_have_the_moments_of_the_distribution(seed):
    rng = np.random.default_rng(600 + seed)
    net = naive.random_network(rng, n_counts=1)
    _, (row,) = holed(rng, net, 1, 0.5)
    by_name = {v.name: v for v in net.variables}
    named = {
        x: by_name[x].states[k] if by_name[x].kind == "categorical" else k for x, k in row.items()
    }
    done = {x: row.pop(x) for x in list(row)[:1]}
    do = {x: named.pop(x) for x in done}
    drawn = net.sample(20_000, given=named, do=do, random_state=seed)
    check_draws(net, drawn, naive.pieces(net.network_, row, done), {**row, **done})
    plain = net.sample(20_000, random_state=seed)
    check_draws(net, plain, naive.pieces(net.network_, {}), {})


def check_draws(net, drawn, found, known):
    """Frequencies of joint labels and moments of numbers, by p-values above 1e-4."""
    network = net.network_
    labels = [v.name for v in net.variables if v.kind == "categorical"]
    numbers = [v.name for v in net.variables if v.kind == "continuous" and v.name not in known]
    wanted = naive.joint_labels(network, found, labels)
    counts = np.zeros_like(wanted)
    np.add.at(counts, tuple(drawn.column(x).data for x in labels), 1)
    inside = wanted > 0
    assert not counts[~inside].any()
    n, expected = counts.sum(), wanted[inside] * counts.sum()
    if inside.sum() > 1:
        statistic = float(np.square(counts[inside] - expected) @ (1 / expected))
        assert stats.chi2.sf(statistic, inside.sum() - 1) > 1e-4 or expected.min() < 1
    for x in known:
        assert np.all(drawn.column(x).data == known[x])
    for x in [v.name for v in net.variables if v.kind == "count" and v.name not in known]:
        values = drawn.column(x).data
        assert np.all(values == np.floor(values))
        each, first = np.array([piece.rates[x] for piece in found]), drawn.column(labels[0]).data
        p, is_first = (
            naive.posterior(found),
            np.array([piece.states[labels[0]] == 0 for piece in found]),
        )
        both = np.column_stack([values, values * (first == 0)])
        assert agree(both, p @ np.column_stack([each, each * is_first]), both.var(0)) > 1e-4
    if numbers:
        values = np.column_stack([drawn.column(x).data for x in numbers])
        mean, covariance = naive.moments(network, found, numbers)
        assert agree(values, mean, np.diag(covariance)) > 1e-4
        apart = values - mean
        squares = np.einsum("ni,nj->nij", apart, apart).reshape(int(n), -1)
        assert agree(squares, covariance.ravel(), squares.var(0)) > 1e-4


# --- what cannot be ---


def handmade():
    return jn.BayesianNetwork.from_parameters(
        "a -> b; b -> x",
        tables={"a": {"u": 0.5, "v": 0.5}, "b": {"u": {"p": 1.0, "q": 0.0}, "v": [0.5, 0.5]}},
        regressions={"x": {"p": {"intercept": 0.0}, "q": {"intercept": 5.0}}},
    )


def test_impossible_rows():
    net, rows = handmade(), {"a": ["u", "v"], "b": ["q", "q"], "x": [1.0, None]}
    assert net.log_likelihood(rows)[0] == -np.inf
    with pytest.raises(ImpossibleError, match=r"1 row cannot occur \(1\).*a=u, b=q"):
        net.predict(rows, "x")
    found = net.predict(rows, "x", impossible="nan")
    assert np.isnan(found[0])
    assert found[1] == pytest.approx(5.0)
    filled = net.impute(jn.Table(rows), impossible="nan")
    assert filled.column("x").data[1] == pytest.approx(5.0)
    for method in ("mode", "marginal", "draw"):
        with pytest.raises(ImpossibleError):
            net.impute(jn.Table(rows), method)


def test_unknown_labels():
    net, rows = handmade(), {"a": ["w", "v"], "b": ["q", "q"], "x": [1.0, None]}
    with pytest.warns(DataWarning, match="'w' in column 'a'"):
        assert net.log_likelihood(rows)[0] == -np.inf
    with pytest.raises(JensenError, match="does not know"):
        net.predict(rows, "x")
    assert net.predict(rows, "a", missing_columns="ignore").tolist() == ["v", "v"]
    assert np.isfinite(net.predict(rows, "x", unknown="missing")).all()


def test_numbers_have_no_states():
    with pytest.raises(JensenError, match="'x' is a number, so it has no states"):
        handmade().predict_proba({"a": ["u"], "b": ["p"]}, "x")


def test_no_rows_and_absent_columns():
    net = handmade()
    empty = jn.Table({"a": ["u"], "x": [1.0]}).take(np.zeros(0, np.int64))
    assert net.log_likelihood(empty, missing_columns="ignore").shape == (0,)
    only = net.log_likelihood({"x": [0.5]}, missing_columns="ignore")
    assert only[0] == pytest.approx(net.log_probability({"x": 0.5}))


def test_lists_of_findings():
    found = handmade().query("x", given=[{"a": "u"}, {"b": "q"}, {}])
    assert found.mean.tolist() == pytest.approx([0.0, 5.0, 1.25])
    assert len(found[2].weights) == 2
    assert "for 3 rows of evidence" in repr(found)
    assert handmade().query("a", given=[{"x": 5.0}, {}]).values.shape == (2, 2)
    with pytest.raises(JensenError, match="row 2: 'a' has no state"):
        handmade().query("x", given=[{}, {"a": "z"}])
    with pytest.raises(JensenError, match="a dict for every row"):
        handmade().query("x", given=[1])


def test_given_and_do_of_rows_are_apart():
    with pytest.raises(JensenError, match="row 1: 'a' stands in given and in do"):
        handmade().query("x", given=jn.Table({"a": ["u"]}), do={"a": "v"})
