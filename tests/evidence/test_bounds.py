"""Bounds and asymptotic numbers beside the exact evidence."""

import numpy as np
import pytest
from evidence.cases import LATENT, NORMAL_GAMMA, POINTS, SEQUENCES, chain, latent_class
from evidence.test_matrix import HOLES, MIXED, NUMBERS
from evidence.test_matrix import MODELS as EVERY

import jensen as jn
from jensen.evidence.ascents import best_fit
from jensen.evidence.asked import EvidenceQuestion
from jensen.evidence.coordinates import coordinates
from jensen.evidence.laplace import information
from jensen.evidence.softmax import SOFTMAX_EM
from jensen.evidence.variational import pareto_k
from jensen.free_energy import VBEM, fit, state_at

MODELS = {
    "classes": (latent_class(2, n_init=10), LATENT),
    "three classes": (latent_class(3, n_init=10), LATENT),
    "mixture": (
        jn.GaussianMixture(2, covariance="diagonal", prior=NORMAL_GAMMA, random_state=0),
        np.array(POINTS)[:, None],
    ),
    "chain": (chain(2), SEQUENCES),
    "network": (
        jn.BayesianNetwork(
            "H -> a; H -> b; H -> c", hidden={"H": 2}, prior=1.0, random_state=0, n_init=5
        ),
        LATENT,
    ),
}


def value(model, table, method, **choices):
    return jn.log_evidence(model, table, method, **choices)


@pytest.mark.parametrize("name", MODELS)
def test_bounds_are_in_their_order(name):
    """Cheeseman-Stutz ≤ VB from its q(h) ≤ exact, and F ≤ F_sym ≤ exact within its error."""
    model, table = MODELS[name]
    exact = value(model, table, "exact").value
    stutz = value(model, table, "cheeseman-stutz")
    bound = value(model, table, "vb")
    assert stutz.kind == bound.kind == "lower bound"
    assert stutz.value <= exact
    asked = EvidenceQuestion(model, table, {}, 0)
    mode = best_fit(asked, SOFTMAX_EM)[0].state
    begun = state_at(asked.model, asked.units, VBEM, mode.eta)
    posterior = type(mode.eta)(
        *(asked.model.posterior(field, mode.stats, mode.t) for field in mode.eta._fields)
    )
    begun = state_at(asked.model, asked.units, VBEM, posterior)
    climbed = fit(asked.model, asked.units, VBEM, begun).state.free_energy
    assert stutz.value <= begun.free_energy + 1e-9
    assert begun.free_energy <= climbed + 1e-9 <= exact
    error = next(line.standard_error for line in bound.lines if line.name == "F_sym")
    assert bound.value <= bound["F_sym"] + 4.0 * error
    assert bound["F_sym"] <= exact + 4.0 * error
    assert bound["F_sym"] <= bound.value + np.log(6.0) + 1e-9
    assert bound.value <= bound["with 1,000 draws of θ"] <= exact + 0.5


def test_numbers_of_twelve_rows():
    model = latent_class(2, n_init=20)
    assert value(model, LATENT, "vb").value == pytest.approx(-27.76841, abs=1e-4)
    assert value(model, LATENT, "bic").value == pytest.approx(-27.82841, abs=1e-4)
    of_likelihood = value(model, LATENT, "cheeseman-stutz", mode="probabilities")
    assert of_likelihood.value == pytest.approx(-28.23616, abs=1e-4)
    assert "estimate, not a bound" in repr(value(model, LATENT, "vb"))


def test_the_information_is_the_curvature_of_the_log_posterior():
    """By differences of log p(x, θ) at the mode, in the same coordinates."""
    from jensen import q_hidden
    from jensen.evidence.coordinates import real
    from jensen.evidence.softmax import jacobian
    from jensen.families import neg_log_density
    from jensen.free_energy import expect

    for name in ("classes", "mixture", "chain"):
        model, table = MODELS[name]
        asked = EvidenceQuestion(model, table, {}, 0)
        state = best_fit(asked, SOFTMAX_EM)[0].state
        at = coordinates(asked.model.families, state.t)

        def log_posterior(z, asked=asked, at=at):
            t = real(at.stats(z))
            found = expect(asked.model, asked.units, q_hidden.exact, t)[0].value
            for family, prior, own in zip(asked.model.families, asked.model.prior, t, strict=True):
                found += jacobian(family, own) - neg_log_density(family, prior, own, own)
            return found

        d, h = len(at.at), 1e-3
        hessian, steps = np.empty((d, d)), h * np.eye(d)
        for i in range(d):
            for j in range(d):
                ends = [
                    a * b * log_posterior(at.at + a * steps[i] + b * steps[j])
                    for a in (1, -1)
                    for b in (1, -1)
                ]
                hessian[i, j] = sum(ends) / (4.0 * h * h)
        _, log_det = np.linalg.slogdet(-hessian)
        assert information(asked, state).log_det == pytest.approx(log_det, abs=2e-3)


def holes(times):
    """Two labels, of which one is missing now and then; every row so many times."""
    rows = [
        ("0", "0"),
        ("0", "1"),
        ("1", "1"),
        ("1", "1"),
        ("1", "0"),
        ("1", None),
        (None, "1"),
        ("0", "0"),
    ]
    columns = {"a": [a for a, _ in rows], "b": [b for _, b in rows]}
    return jn.Table(columns, weights=[float(times)] * len(rows))


def test_laplace_comes_near_like_one_over_n_and_bic_stays():
    net = jn.BayesianNetwork("a -> b", prior=1.0, random_state=0)
    away, of_bic = [], []
    for times in (2, 8, 32):
        exact = value(net, holes(times), "exact").value
        laplace = value(net, holes(times), "laplace")
        assert laplace.kind == "asymptotic"
        away.append(abs(laplace.value - exact))
        of_bic.append(value(net, holes(times), "bic").value - exact)
    assert away[0] < 0.3
    assert away[1] == pytest.approx(away[0] / 4.0, rel=0.3)
    assert away[2] == pytest.approx(away[1] / 4.0, rel=0.3)
    assert np.ptp(of_bic) < 0.5
    assert max(map(abs, of_bic)) < 3.0


def test_surplus_classes_are_told_by_laplace_and_bic():
    model = latent_class(3, n_init=5)
    assert "not identified" in repr(value(model, LATENT, "bic"))
    rng = np.random.default_rng(0)
    coins = {x: rng.integers(0, 2, 60).astype(str).tolist() for x in "abc"}
    model = latent_class(2, n_init=5)
    laplace = value(model, coins, "laplace")
    assert abs(laplace.value - value(model, coins, "exact").value) > 0.5
    assert "far from normal" in repr(laplace)


def test_a_mode_that_is_not_inside_is_refused():
    with pytest.raises(jn.JensenError, match="no mode inside"):
        jn.log_evidence(
            jn.GaussianMixture(
                3,
                covariance="diagonal",
                prior={**NORMAL_GAMMA, "degrees_of_freedom": 0.5},
                random_state=0,
            ),
            np.array(POINTS[:2])[:, None],
            "laplace",
        )


def with_empty_rows(rows):
    """The same, and thirty rows that show nothing; of chains a sequence, and steps at an end."""
    if isinstance(rows, jn.Table):
        columns = rows.to_arrow().to_pydict()
        return jn.Table({x: [*column, *[None] * 30] for x, column in columns.items()}, counts=["n"])
    if isinstance(rows, dict):
        return {name: [*column, *[None] * 30] for name, column in rows.items()}
    if isinstance(rows, list):
        return [*rows[:-1], [*rows[-1], np.nan, np.nan], [np.nan] * 30]
    return np.concatenate([rows, np.full((30, rows.shape[1]), np.nan)])


@pytest.mark.filterwarnings("ignore::jensen.exceptions.JensenWarning")
@pytest.mark.parametrize("name", EVERY)
def test_rows_that_show_nothing_change_no_bound(name):
    net, some = EVERY[name]
    starts = 30 if name == "labels and numbers, hidden label" else 3  # of which some end lower
    for method in ("vb", "cheeseman-stutz"):
        found = []
        for rows in (some, with_empty_rows(some)):
            try:
                found.append(value(net, rows, method, n_init=starts).value)
            except jn.JensenError as error:
                assert method != "vb"
                found.append(str(error))
        assert found[0] == (
            found[1] if isinstance(found[1], str) else pytest.approx(found[1], abs=2e-6)
        )


@pytest.mark.parametrize("method", ["vb", "cheeseman-stutz", "bic", "laplace", "exact"])
@pytest.mark.parametrize(
    ("graph", "prior"),
    [("a -> b; b -> c", 1.0), ("k -> x; x -> y", "bdeu-bge"), ("x -> y", "bge")],
)
def test_variables_below_which_nothing_is_seen_change_no_number(graph, prior, method):
    """Several of them, alone or in a row; of numbers an empty column has no prior to ask."""
    rows = {"a": HOLES, "k": MIXED, "x": NUMBERS}[graph[0]]
    more = {"H": 2, "J": 3, "L": 2}
    alone = jn.BayesianNetwork(graph, prior=prior, random_state=0)
    expected = value(alone, rows, method).value
    for further in ("; H; J; L", "; H -> J; J -> L") if prior != "bge" else ():
        net = jn.BayesianNetwork(graph + further, prior=prior, hidden=more, random_state=0)
        assert value(net, rows, method).value == pytest.approx(expected, abs=1e-7)
    wide = {**rows, "empty": [None] * len(next(iter(rows.values())))}
    assert value(alone, wide, method).value == pytest.approx(expected, abs=1e-7)


def test_a_missing_number_below_which_nothing_is_seen_is_in_no_bound():
    """Rows of x alone say of x what they say without y, and nothing of y given x."""
    x, y = NUMBERS["x"], NUMBERS["y"]
    prior = {
        "prior_mean": [1.0, 1.0],
        "mean_strength": 1.0,
        "degrees_of_freedom": 4.0,
        "scale": 1.0,
    }
    joined = jn.BayesianNetwork("x -> y", prior=prior)
    wide = {"x": [*x, 0.5, 4.0], "y": [*y, None, None]}
    found = value(joined, wide, "vb")
    assert found.kind == "exact"
    alone = jn.BayesianNetwork("x", prior={**prior, "prior_mean": [1.0], "degrees_of_freedom": 3.0})
    more = value(alone, {"x": wide["x"]}, "exact").value - value(alone, {"x": x}, "exact").value
    assert found.value == pytest.approx(value(joined, NUMBERS, "exact").value + more, abs=1e-9)


def test_a_bound_may_rank_a_short_chain_wrongly_and_k_says_so():
    """Fourteen steps speak for two states, and the bound for one: its gap is not known."""
    steps = [[0] * 7 + [1] * 7]
    prior = {"initial": 1.0, "transition": 1.0, "emission": 1.0}
    one, two = (
        jn.HiddenMarkovModel(
            n, emission="categorical", symbols=[0, 1, 2], prior=prior, random_state=0
        )
        for n in (1, 2)
    )
    exact = [value(model, steps, "exact").value for model in (one, two)]
    bound = value(two, steps, "vb", n_init=20)
    assert exact == pytest.approx([-12.9283902034, -12.3108567343], abs=1e-9)
    assert bound.value < exact[0] < exact[1]
    assert bound.pareto_k > 0.7
    found = jn.compare({"one": one, "two": two}, steps, ["vb", "exact"], held_out=0)
    assert (found.best("vb"), found.best("exact")) == ("one", "two")
    assert "how far the bound is below the evidence is not known" in repr(found)


def test_pareto_k_is_the_shape_of_a_tail():
    rng = np.random.default_rng(0)
    for k in (0.2, 0.5, 1.0):
        weights = ((1.0 - rng.random(50_000)) ** -k - 1.0) / k
        assert pareto_k(np.log(weights)) == pytest.approx(k, abs=0.15)
    assert pareto_k(np.zeros(1000)) == 0.0


def test_weights_that_are_even_have_no_tail():
    """Regression: the tail of what rounding leaves of equal weights was fitted, k = 1.4."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 1, (60, 1)), rng.normal(30, 1, (50, 1))])
    apart = jn.GaussianMixture(2, prior={}, random_state=0).fit(x)
    gap = apart.bound_gap(x, 200)
    assert gap.pareto_k == 0.0
    assert gap.is_stable
    assert gap.multi_sample == pytest.approx(gap.bound, abs=1e-6)


def test_the_gap_of_a_fitted_network_begins_at_its_posterior():
    model = jn.LatentClass(2, prior={"concentration": 1.0}, n_init=5, random_state=3).fit(LATENT)
    gap = model.bound_gap(LATENT, random_state=0)
    assert gap.bound == pytest.approx(model.free_energy_, abs=1e-5)
    assert gap.bound < gap.multi_sample < -26.0
    assert "Pareto k" in repr(gap)
    net = jn.BayesianNetwork("a -> b", prior="bdeu").fit({"a": ["0", "1"], "b": ["0", "1"]})
    gap = net.bound_gap({"a": ["0", "1"], "b": ["0", "1"]}, 100)
    assert gap.multi_sample == pytest.approx(gap.bound)  # the bound is exact
    with pytest.raises(jn.JensenError, match="the gap is that of a bound"):
        jn.LatentClass(2).bound_gap(LATENT)


def test_a_correction_makes_a_bound_asymptotic():
    found = value(latent_class(2), LATENT, "cheeseman-stutz", correction="dimension")
    assert found.kind == "asymptotic"
    assert found["lower bound"] <= found.value
    with pytest.raises(jn.JensenError, match="correction must be None or 'dimension'"):
        value(latent_class(2), LATENT, "cheeseman-stutz", correction="bic")
    with pytest.raises(jn.JensenError, match="mode must be 'softmax' or 'probabilities'"):
        value(latent_class(2), LATENT, "cheeseman-stutz", mode="logit")
    with pytest.raises(jn.JensenError, match="has no mode in the probabilities"):
        value(
            jn.LatentClass(2, prior={"concentration": 0.5}, random_state=0),
            LATENT,
            "cheeseman-stutz",
            mode="probabilities",
        )
