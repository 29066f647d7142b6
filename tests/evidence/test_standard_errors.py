"""Standard errors: closed forms of complete rows, numerical Hessians of rows with holes."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import jensen as jn

LABELS = jn.DAG("a -> b; a -> c; b -> c")
NUMBERS = jn.DAG("x -> y; x -> z; y -> z")
MIXED = jn.DAG("g -> x; g -> y; x -> y")
STEP = 1e-4


def labels(n, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, n)
    b = (rng.random(n) < np.array([0.2, 0.5, 0.8])[a]).astype(int)
    c = (rng.random(n) < 0.2 + 0.25 * b + 0.15 * a).astype(int)
    table = pd.DataFrame({"a": a, "b": b, "c": c}).map(lambda x: f"s{x}").astype(object)
    return table.mask(rng.random(table.shape) < missing, None)


def numbers(n, missing=0.0, seed=0, centre=0.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(centre, 2.0, n)
    y = 3.0 * x + rng.normal(0.0, 1.5, n)
    z = 0.2 * y - x + rng.normal(0.0, 0.5, n)
    table = pd.DataFrame({"x": x, "y": y, "z": z})
    return table.mask(rng.random(table.shape) < missing)


def mixed(n, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    g = rng.integers(0, 2, n)
    x = rng.normal(4.0 * g, 1.0 + g)
    y = np.where(g, 1.0 - x, 2.0 + 0.5 * x) + rng.normal(0.0, 0.8, n)
    table = pd.DataFrame({"g": np.array(["f", "m"], object)[g], "x": x, "y": y})
    return table.mask(rng.random(table.shape) < missing)


# --- the definition: the inverse of a numerical Hessian, in the parameters themselves ---


def free_parameters(net):
    """All parameters but the last of each row of a table, and what makes a network of them."""
    network = net.require_any()
    shapes, start = {}, []
    for v in network.variables:
        if v.kind == "categorical":
            shapes[v.name] = net.cpt(v.name).values[..., :-1].shape
            start += net.cpt(v.name).values[..., :-1].ravel().tolist()
            continue
        known = net.regression(v.name)
        each = [known] if hasattr(known, "variance") else [one for _, one in known.items()]
        shapes[v.name] = (len(each), len(each[0].coefficients) + 2)
        for one in each:
            start += [one.intercept, *one.coefficients.values(), one.standard_deviation]

    def make(flat):
        tables, regressions, at = {}, {}, 0
        for name, shape in shapes.items():
            part = flat[at : at + int(np.prod(shape))].reshape(shape)
            at += part.size
            if network.variables[network.index(name)].kind == "categorical":
                tables[name] = np.concatenate([part, 1.0 - part.sum(-1, keepdims=True)], -1)
                continue
            known = net.regression(name)
            is_one = hasattr(known, "variance")
            terms = list((known if is_one else known.each[0]).coefficients)
            each = [
                {"intercept": row[0], "coefficients": dict(zip(terms, row[1:-1], strict=True)),
                 "variance": row[-1] ** 2}
                for row in part
            ]  # fmt: skip
            regressions[name] = each[0] if is_one else dict(
                zip([tuple(labels.values()) for labels, _ in known.items()], each, strict=True)
            )  # fmt: skip
        states = {x: s for x, s in net.states.items() if s}
        if not regressions:
            return jn.BayesianNetwork.from_tables(net.graph, tables, states)
        if not tables:
            return jn.BayesianNetwork.from_regressions(net.graph, regressions)
        return jn.BayesianNetwork.from_parameters(net.graph, tables, regressions, states)

    return np.array(start), shapes, make


def errors_by_differences(net, objective, steps):
    """Square roots of the diagonal of the inverse of -∂² objective, by variable."""
    start, shapes, make = free_parameters(net)
    d = len(start)
    hessian = np.empty((d, d))
    moves = np.diag(steps)
    for i in range(d):
        for j in range(i, d):
            value = sum(
                p * q * objective(make(start + p * moves[i] + q * moves[j]))
                for p in (1, -1)
                for q in (1, -1)
            )
            hessian[i, j] = hessian[j, i] = value / (4.0 * steps[i] * steps[j])
    errors, found, at = np.sqrt(np.diagonal(np.linalg.inv(-hessian))), {}, 0
    for name, shape in shapes.items():
        size = int(np.prod(shape))
        found[name] = errors[at : at + size].reshape(-1, shape[-1])
        at += size
    return found


def log_likelihood(table):
    return lambda net: net.log_likelihood(table, missing_columns="ignore").sum()


CASES = {
    "labels": (LABELS, labels(300, 0.25)),
    "numbers": (NUMBERS, numbers(120, 0.3)),
    "labels and numbers": (MIXED, mixed(150, 0.2)),
}


@pytest.mark.parametrize("case", ["labels", "numbers", "labels and numbers"])
def test_they_are_those_of_a_numerical_hessian(case):
    graph, table = CASES[case]
    net = jn.BayesianNetwork(graph, tol=1e-14, max_iter=10_000).fit(table)
    found = net.standard_errors()
    assert list(found) == list(net.graph.nodes)
    assert 0.0 < found.least_information < 1.0
    ours = np.concatenate([own.errors[:, : _width(own)].ravel() for own in found.values()])
    assert np.isfinite(ours).all()
    twin = errors_by_differences(net, log_likelihood(table), 0.05 * ours)
    for name, errors in twin.items():
        own = found[name]
        np.testing.assert_allclose(own.errors[:, : _width(own)], errors, rtol=4e-3)


def _width(own):
    return own.errors.shape[1] - own.is_table


def test_under_a_prior_they_are_of_the_mode():
    """F = log p(x | θ) + Σ (α - 1) log θ; in softmax coordinates the exponent is α."""
    table = labels(60, 0.2)
    for mode, exponent in [("probabilities", 1.5), ("softmax", 2.5)]:
        net = jn.BayesianNetwork(
            LABELS, prior=2.5, method="em", mode=mode, tol=1e-14, max_iter=10_000
        ).fit(table)

        def objective(other, exponent=exponent):
            prior = sum(np.log(other.cpt(x).values).sum() for x in LABELS.nodes)
            return other.log_likelihood(table).sum() + exponent * prior

        found = net.standard_errors()
        ours = np.concatenate([own.errors[:, :-1].ravel() for own in found.values()])
        for name, errors in errors_by_differences(net, objective, 0.05 * ours).items():
            np.testing.assert_allclose(found[name].errors[:, :-1], errors, rtol=4e-3)


# --- closed forms ---


def test_complete_labels_have_the_errors_of_shares():
    rng = np.random.default_rng(1)
    table = jn.Table(labels(200), weights=rng.integers(1, 4, 200).astype(float))
    net = jn.BayesianNetwork(LABELS).fit(table)
    found = net.standard_errors()
    assert found.least_information == pytest.approx(1.0, abs=1e-12)
    for name in LABELS.nodes:
        (counts,) = net.expected_counts(table, [[*LABELS.parents(name), name]])
        n, p = counts.sum(-1, keepdims=True), net.cpt(name).values
        twin = np.sqrt(p * (1.0 - p) / n).reshape(found[name].errors.shape)
        np.testing.assert_allclose(found[name].errors, twin, rtol=1e-10)


def test_complete_numbers_have_those_of_least_squares():
    """Far from 0, where the intercept is hardly known."""
    table = numbers(80, centre=1e4)
    found = jn.BayesianNetwork(NUMBERS).fit(table).standard_errors()
    for name in NUMBERS.nodes:
        parents = list(NUMBERS.parents(name))
        X = np.column_stack([np.ones(80), table[parents]])
        beta = np.linalg.lstsq(X, table[name], rcond=None)[0]
        s = np.sqrt(np.square(table[name] - X @ beta).mean())
        twin = [*s * np.sqrt(np.diagonal(np.linalg.inv(X.T @ X))), s / np.sqrt(160.0)]
        np.testing.assert_allclose(found[name].errors[0], twin, rtol=1e-6)
        assert found[name].terms == ("intercept", *parents, "standard deviation")


def test_complete_labels_and_numbers_have_both():
    table = mixed(90)
    found = jn.BayesianNetwork(MIXED).fit(table).standard_errors()
    for k, state in enumerate(["f", "m"]):
        own = table[table["g"] == state]
        p = len(own) / 90
        assert found["g"][()][state] == pytest.approx(np.sqrt(p * (1 - p) / 90), rel=1e-10)
        X = np.column_stack([np.ones(len(own)), own["x"]])
        beta = np.linalg.lstsq(X, own["y"], rcond=None)[0]
        s = np.sqrt(np.square(own["y"] - X @ beta).mean())
        twin = [*s * np.sqrt(np.diagonal(np.linalg.inv(X.T @ X))), s / np.sqrt(2.0 * len(own))]
        np.testing.assert_allclose(found["y"].errors[k], twin, rtol=1e-7)
        assert found["y"][state]["x"] == found["y"].errors[k, 1]


def test_they_are_about_the_spread_of_estimates():
    """Of 100 tables with holes: within 20 % of the standard deviation, which is known to 7 %."""
    estimates, told = [], []
    for seed in range(100):
        net = jn.BayesianNetwork("a -> b").fit(labels(250, 0.3, seed)[["a", "b"]])
        estimates.append(net.cpt("b").values[:, 0])
        told.append(net.standard_errors()["b"].errors[:, 0])
    np.testing.assert_allclose(np.mean(told, axis=0), np.std(estimates, axis=0), rtol=0.2)


def test_a_row_that_was_set_tells_nothing_of_its_table():
    table = labels(200, 0.2)[["a", "b"]]
    table.loc[:79, "b"] = "s1"
    net = jn.BayesianNetwork("a -> b", tol=1e-13)
    net.fit(table.assign(set=[*["b"] * 80, *[None] * 120]), interventions="set")

    def objective(other):
        return (
            other.log_likelihood(table[80:]).sum()
            + other.log_likelihood(table[["a"]][:80], missing_columns="ignore").sum()
        )

    found = net.standard_errors()
    ours = np.concatenate([own.errors[:, :-1].ravel() for own in found.values()])
    for name, errors in errors_by_differences(net, objective, 0.05 * ours).items():
        np.testing.assert_allclose(found[name].errors[:, :-1], errors, rtol=4e-3)


# --- what has none ---


def reasons(own):
    return pd.DataFrame(own.to_pandas())["no error"].tolist()


def test_zeros_and_configurations_that_no_row_shows_are_told():
    table = {"a": ["u", "u", "u", "v", "v", None], "b": ["x", "y", "y", "x", "x", "x"]}
    table = jn.Table(table, states={"a": ["u", "v", "w"]})
    net = jn.BayesianNetwork("a -> b", tol=1e-12).fit(table)
    found = net.standard_errors()["b"]
    assert reasons(found) == ["", "", "boundary", "boundary", "not seen", "not seen"]
    assert np.isnan(found.errors[1:]).all()
    assert np.isfinite(found.errors[0]).all()
    text = repr(found)
    assert "boundary: a probability of 0 or 1, where standard errors do not apply" in text
    assert "not seen: no row shows these values of the parents" in text
    low, high = found.interval(0.9)
    assert (low[0] > 0.0).all()
    assert (high[0] < 1.0).all()


def test_what_the_rows_do_not_determine_is_told():
    """A hidden cause of one sign: its table is flat, the marginal of the sign is not."""
    table = {"s": ["x"] * 12 + ["y"] * 8, "other": ["p", "q"] * 10}
    net = jn.BayesianNetwork("H -> s; other", hidden={"H": 2}, random_state=0).fit(table)
    found = net.standard_errors()
    assert set(reasons(found["H"])) == set(reasons(found["s"])) == {"flat"}
    np.testing.assert_allclose(found["other"].errors, np.sqrt(0.25 / 20), rtol=1e-9)
    assert "the likelihood is flat in some direction" in repr(found)


def test_a_hidden_cause_of_four_signs_is_determined():
    rng = np.random.default_rng(0)
    h = rng.random(600) < 0.4
    signs = {x: np.where(rng.random(600) < np.where(h, 0.85, 0.2), "yes", "no") for x in "pqrs"}
    graph = jn.DAG("H -> p; H -> q; H -> r; H -> s")
    net = jn.BayesianNetwork(graph, hidden={"H": 2}, tol=1e-13, n_init=2, random_state=0)
    found = net.fit(signs).standard_errors()
    ours = np.concatenate([own.errors[:, :-1].ravel() for own in found.values()])
    twin = errors_by_differences(net, log_likelihood(jn.Table(signs)), 0.05 * ours)
    for name, errors in twin.items():
        np.testing.assert_allclose(found[name].errors[:, :-1], errors, rtol=4e-3)


def test_a_held_table_has_none():
    table = labels(200, 0.1)
    start = {"a": [0.3, 0.3, 0.4]}
    net = jn.BayesianNetwork(LABELS, start=start, fixed=["a"], tol=1e-12).fit(table)
    found = net.standard_errors()
    assert set(reasons(found["a"])) == {"held"}
    assert np.isfinite(found["b"].errors).all()


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ({"method": "vbem"}, r"^standard errors are .* by 'vbem': posterior\(name\) has intervals"),
        ({"prior": 1.0}, r"learned by 'vbem': posterior\(name\) has intervals$"),
        (
            {"method": "gibbs", "n_samples": 5, "burn_in": 5},
            r"by 'gibbs': its samples tell how sure",
        ),
        ({"method": "viterbi"}, r"learned by 'viterbi': use method='em'$"),
    ],
)
@pytest.mark.filterwarnings("ignore:the chains disagree", "ignore:.* never occurred")
def test_other_methods_are_refused(choices, text):
    table = labels(50, 0.1)
    net = jn.BayesianNetwork(LABELS, random_state=0, **choices).fit(table)
    for rows in (None, table):
        with pytest.raises(jn.JensenError, match=text):
            net.standard_errors(rows)


def test_copies_and_files_are_given_the_rows(tmp_path):
    table = labels(100, 0.1)
    net = jn.BayesianNetwork(LABELS, tol=1e-10).fit(table)
    net.save(tmp_path / "net.json")
    known = net.standard_errors()
    for other in (
        pickle.loads(pickle.dumps(net)),
        copy.deepcopy(net),
        jn.load(tmp_path / "net.json"),
    ):
        with pytest.raises(jn.JensenError, match=r"not hold the rows of its fit, .* give them"):
            other.standard_errors()
        np.testing.assert_array_equal(other.standard_errors(table)["c"].errors, known["c"].errors)
    learned = jn.BayesianNetwork(random_state=0).fit(table)
    for name, own in learned.standard_errors(table).items():
        np.testing.assert_array_equal(own.errors, learned.standard_errors()[name].errors)


def test_other_rows_are_refused():
    net = jn.BayesianNetwork(LABELS).fit(labels(300, 0.1))
    with pytest.raises(jn.JensenError, match=r"could rise by about .* give the rows of its fit"):
        net.standard_errors(labels(300, seed=7).assign(a=labels(300, seed=9)["a"]))
    with pytest.raises(jn.JensenError, match=r"^these rows have not the columns, or not"):
        net.standard_errors(labels(300).assign(b="s1"))
    zero = net.with_cpt("a", [0.5, 0.5, 0.0])
    with pytest.raises(jn.JensenError, match=r"^a row is impossible under this network"):
        zero.standard_errors(labels(300, 0.1))


def test_an_ascent_that_ended_early_is_told():
    net = jn.BayesianNetwork(LABELS, tol=3e-4, random_state=0).fit(labels(5000, 0.4))
    with pytest.warns(jn.EstimateWarning, match=r"would still rise by about .* smaller tol"):
        net.standard_errors()


# --- how they are shown ---


def test_they_print_and_are_dataframes():
    found = jn.BayesianNetwork(MIXED).fit(mixed(60, 0.1)).standard_errors()
    assert repr(found["g"]).splitlines()[0] == "P(g) ± standard error"
    assert repr(found["x"]).splitlines()[0] == "regression of x given g ± standard error"
    assert repr(found).count("± standard error") == 3
    frame = found.to_pandas()
    assert list(frame.columns) == [
        "variable", "given", "term", "estimate", "standard error", "2.5%", "97.5%", "no error",
    ]  # fmt: skip
    assert len(frame) == 2 + 4 + 6
    assert ((frame["2.5%"] < frame["estimate"]) & (frame["estimate"] < frame["97.5%"])).all()
    spread = frame[frame["term"] == "standard deviation"]
    assert (spread["2.5%"] > 0.0).all()


def test_wrong_names_and_labels_are_answered():
    found = jn.BayesianNetwork(MIXED).fit(mixed(60)).standard_errors()
    with pytest.raises(jn.JensenError, match="no variable 'yy'; did you mean 'y'"):
        found["yy"]
    with pytest.raises(jn.JensenError, match=r"give one label for each parent of 'x' .* \(g\)"):
        found["x"][()]
    with pytest.raises(jn.JensenError, match="'mm'"):
        found["x"]["mm"]


def test_very_many_parameters_are_refused(monkeypatch):
    monkeypatch.setattr("jensen.evidence.standard_errors.MOST", 10)
    with pytest.raises(jn.JensenError, match=r"of rows with holes need a matrix of 11 by 11 numb"):
        jn.BayesianNetwork(LABELS).fit(labels(300, 0.1)).standard_errors()
    assert jn.BayesianNetwork(LABELS).fit(labels(300)).standard_errors()
