"""Learning where values are missing, through the estimator."""

import math
import warnings

import numpy as np
import pytest
from models import cases
from naive import learning as naive

import jensen as jn
from jensen.q_hidden.trees import plans, problems

ASCENTS = [("em", None), ("em", 1.5), ("viterbi", 1.5), ("vbem", "bdeu"), ("me", 1.0)]
every_ascent = pytest.mark.parametrize(("method", "prior"), ASCENTS)


@pytest.fixture(autouse=True)
def _usual_threads():
    yield
    jn.set_threads(None)


def fit(case, *, table=None, **choices):
    choices = {"random_state": 0, "tol": 1e-7, "max_iter": 5000, **choices}
    net = jn.BayesianNetwork(case.graph, hidden=case.declared(), **choices)
    with warnings.catch_warnings():  # small tables leave configurations without counts
        warnings.filterwarnings("ignore", "[0-9]+ parent config", jn.EstimateWarning)
        return net.fit(case.table() if table is None else table)


def latent(n=60, seed=0, missing=0.2):
    """Rows of a mixture of two classes with three measurements, some missing."""
    rng = np.random.default_rng(seed)
    h = rng.random(n) < 0.35
    x = np.where(h[:, None], rng.random((n, 3)) < 0.85, rng.random((n, 3)) < 0.2).astype(int)
    rows = np.column_stack([np.full(n, -1), np.where(rng.random((n, 3)) < missing, -1, x)])
    return cases.Case(jn.DAG("h -> x; h -> y; h -> z"), [2, 2, 2, 2], rows, hidden=(0,))


# --- what was found, by enumeration ---


def test_em_gives_the_log_likelihood_of_its_tables():
    for seed in range(6):
        case = cases.random_case(seed, weights=[None, "parts"][seed % 2])
        net = fit(case)
        tables = [net.cpt(name).values for name in case.names]
        expected = naive.log_likelihood(*case.facts, tables, case.rows, case.row_weights)
        np.testing.assert_allclose(net.free_energy_, expected, rtol=1e-11, atol=1e-12)
        assert net.free_energy_ == net.trace_[-1]
        assert net.is_bound_ is False


def test_vbem_gives_the_bound_of_its_posterior():
    for seed in range(6):
        case = cases.random_case(seed, weights=[None, "parts"][seed % 2])
        net = fit(case, prior=0.8)
        q = [net.posterior(name).concentration for name in case.names]
        alphas = [np.full(part.shape, 0.8) for part in q]
        expected = naive.bound(
            *case.facts, q, alphas, case.rows, case.row_weights, naive.kept_exact
        )
        np.testing.assert_allclose(net.free_energy_, expected, rtol=1e-11, atol=1e-12)
        for name, part in zip(case.names, q, strict=True):
            mean = part / part.sum(-1, keepdims=True)
            np.testing.assert_allclose(net.cpt(name).values, mean, rtol=1e-14)
        assert net.is_bound_ is True


@every_ascent
def test_a_hidden_variable_without_a_column_or_with_an_empty_one(method, prior):
    for seed in range(5):
        case = cases.random_case(seed)
        one = fit(case, method=method, prior=prior)
        other = fit(case, method=method, prior=prior, table=case.table(empty_columns=True))
        assert one.variables == other.variables
        assert one.network_.tables.tobytes() == other.network_.tables.tobytes()
        assert one.trace_.tobytes() == other.trace_.tobytes()


def test_a_column_without_values_needs_no_declaration():
    case = latent()
    table = case.table(empty_columns=True)
    assert table.column("h").missing().all()
    undeclared = jn.BayesianNetwork(case.graph, random_state=0).fit(table)
    declared = jn.BayesianNetwork(case.graph, random_state=0, hidden={"h": 2}).fit(case.table())
    assert undeclared.equals(declared)
    assert undeclared.cpt("h").values[0] > undeclared.cpt("h").values[1]


@every_ascent
def test_complete_data_need_no_sweep_and_give_the_closed_form(method, prior):
    case = cases.random_case(5, n=3, n_rows=20)
    case = case._replace(rows=np.maximum(case.rows, 0), hidden=())
    start = {name: np.full(part.shape, 1 / part.shape[-1]) for name, part in parts(case)}
    nets = [fit(case, method=method, prior=prior)]
    nets += [fit(case, method=method, prior=prior, n_init=5)]
    nets += [fit(case, method=method, prior=prior, start=start)]
    for net in nets:
        assert (net.n_sweeps_, net.converged_, len(net.trace_)) == (0, True, 1)
        assert net.starts_.tolist() == net.trace_.tolist() == [net.free_energy_]
    counts = naive.exact(
        *case.facts, case.split(np.zeros(int(case.wiring.fam_at[-1]))), case.rows, case.row_weights
    )[1]
    for (name, part), n in zip(parts(case), counts, strict=True):
        alpha = {None: 1.0, "bdeu": 1.0 / part.size}.get(prior, prior)
        pseudo = alpha - 1.0 if method in ("em", "viterbi") else alpha
        total = (n + pseudo).sum(-1, keepdims=True)
        expected = np.where(
            total > 0, (n + pseudo) / np.where(total > 0, total, 1), 1 / n.shape[-1]
        )
        for net in nets:
            np.testing.assert_allclose(net.cpt(name).values, expected, rtol=1e-13)


def parts(case):
    return zip(case.names, case.split(np.zeros(int(case.wiring.fam_at[-1]))), strict=True)


def test_variables_that_are_never_missing_keep_their_frequencies():
    """The table of a variable whose family is complete is its closed form at once."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, 200), rng.integers(0, 2, 200)
    c = [None if rng.random() < 0.5 else int(x) for x in a > b]
    table = {"a": a, "b": b, "c": c, "d": rng.integers(0, 2, 200)}
    with pytest.warns(jn.EstimateWarning, match="F was still rising"):
        net = jn.BayesianNetwork("a -> b; b -> c -> d; a -> c", max_iter=0).fit(table)
    np.testing.assert_allclose(net.cpt("a").values, np.bincount(a) / 200, rtol=1e-14)
    expected = [np.mean(b[a == k] == 1) for k in range(3)]
    np.testing.assert_allclose(net.cpt("b").values[:, 1], expected, rtol=1e-14)


def test_values_missing_at_the_end_of_a_chain_say_nothing():
    """A leaf that is missing is summed out: EM counts the rows that have it."""
    a = ["x", "x", "x", "y", "y", "y", "y"]
    b = ["n", "n", "y", None, "y", "n", None]
    net = jn.BayesianNetwork("a -> b", tol=1e-15).fit({"a": a, "b": b})
    np.testing.assert_allclose(net.cpt("a").values, [3 / 7, 4 / 7], rtol=1e-15)
    np.testing.assert_allclose(net.cpt("b").values, [[2 / 3, 1 / 3], [0.5, 0.5]], rtol=1e-6)


# --- published numbers ---

HEADS = (5, 9, 8, 4, 7)
TOSSES = [f"toss{j}" for j in range(10)]


def coin_table():
    """Five experiments of ten tosses, in all rotations, so that every toss is like any other."""
    rows = [np.roll([1] * k + [0] * (10 - k), shift) for k in HEADS for shift in range(10)]
    columns = {t: ["heads" if row[j] else "tails" for row in rows] for j, t in enumerate(TOSSES)}
    return jn.Table(columns, weights=np.full(50, 0.1))


def coin_network(max_iter, pin=1e10, tol=0.0):
    """Which coin was thrown is hidden; the prior pins its probability to 1/2."""
    return jn.BayesianNetwork(
        [("coin", t) for t in TOSSES],
        hidden={"coin": ["A", "B"]},
        method="em",
        prior={"coin": pin, **dict.fromkeys(TOSSES, 1.0)},
        start={"coin": [0.5, 0.5], **{t: [[0.6, 0.4], [0.5, 0.5]] for t in TOSSES}},
        max_iter=max_iter,
        tol=tol,
    )


@pytest.mark.parametrize(
    ("n_iterations", "published"),
    [(0, (0.6, 0.5)), (1, (0.7130122354, 0.5813393083)), (10, (0.7967441495, 0.5196586622))],
)
def test_the_coins_of_do_and_batzoglou(n_iterations, published):
    """Do & Batzoglou (2008), Nature Biotechnology 26, figure 1b: 0.71, 0.58; then 0.80, 0.52."""
    with pytest.warns(jn.EstimateWarning) as caught:
        net = coin_network(n_iterations).fit(coin_table())
    (warning,) = caught
    sweeps = f"{n_iterations} sweep{'' if n_iterations == 1 else 's'}"
    assert str(warning.message) == (
        f"F was still rising after {sweeps}, so converged_ is False: raise max_iter, or tol if "
        f"this is close enough"
    )
    assert warning.filename == __file__
    assert (net.n_sweeps_, len(net.trace_), net.converged_) == (
        n_iterations,
        n_iterations + 1,
        False,
    )
    history = naive.coin_tosses(HEADS, 10, (0.6, 0.5), n_iterations)
    for toss in TOSSES:
        np.testing.assert_allclose(net.cpt(toss).values[:, 0], history[-1][0], rtol=1e-8)
        np.testing.assert_allclose(net.cpt(toss).values[:, 0], published, rtol=1e-8)
    expected = np.array([value for _, value in history])
    np.testing.assert_allclose(net.trace_ - net.trace_[0], expected - expected[0], atol=1e-4)
    np.testing.assert_allclose(net.cpt("coin").values, 0.5, atol=1e-9)


def test_the_coins_end_at_the_published_fixed_point():
    net = coin_network(1000, pin=1e7, tol=1e-12).fit(coin_table())
    assert net.converged_
    assert net.states["coin"] == ("A", "B")
    found = net.cpt("toss0").values[:, 0]
    np.testing.assert_allclose(found, [0.7967890669, 0.5195831201], atol=1e-5)


LATENT_CLASS = ["000", "001", "000", "111", "110", "111", "010", "111", "000", "101", "111", "000"]


def latent_class_table():
    return {f"x{j}": [int(row[j]) for row in LATENT_CLASS] for j in range(3)}


def test_the_latent_class_with_a_known_evidence():
    """Twelve rows, two classes, all concentrations 1: 4,096 completions enumerated."""
    net = jn.BayesianNetwork(
        "class -> x0; class -> x1; class -> x2",
        hidden={"class": 2}, prior=1.0, n_init=20, random_state=0, tol=1e-12,
    ).fit(latent_class_table())  # fmt: skip
    families, cards = [(0,), (0, 1), (0, 2), (0, 3)], [2, 2, 2, 2]
    rows = [(-1, *map(int, row)) for row in LATENT_CLASS]
    alphas = [np.ones([cards[v] for v in family]) for family in families]
    exact = naive.log_evidence(families, cards, alphas, rows)
    assert exact == pytest.approx(-26.024101359772896, rel=1e-13)
    assert net.free_energy_ == pytest.approx(-27.76840585, abs=1e-8)
    assert net.free_energy_ == net.starts_.max() <= exact
    assert net.starts_.min() < -30.0  # local optima: what the many starts are for


# --- which rows, which weights, which threads ---


@every_ascent
def test_the_order_of_columns_changes_nothing(method, prior):
    case = latent()
    table = case.table()
    nets = [
        fit(case, method=method, prior=prior, n_init=2, table=table.select(names))
        for names in (["x", "y", "z"], ["z", "x", "y"])
    ]
    assert_same_bits(*nets)


@every_ascent
def test_the_order_of_rows_changes_nothing_that_matters(method, prior):
    case = latent()
    shuffled = case._replace(rows=np.random.default_rng(1).permutation(case.rows))
    one, other = (fit(c, method=method, prior=prior, n_init=2) for c in (case, shuffled))
    np.testing.assert_allclose(one.network_.tables, other.network_.tables, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(one.starts_, other.starts_, rtol=1e-12)


@every_ascent
def test_weights_instead_of_rows(method, prior):
    case = latent(40)
    kinds, counts = np.unique(case.rows, axis=0, return_counts=True)
    weighted = case._replace(rows=kinds, weights=counts.astype(float))
    assert len(kinds) < 30
    one, other = (fit(c, method=method, prior=prior, n_init=2) for c in (case, weighted))
    np.testing.assert_allclose(one.network_.tables, other.network_.tables, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(one.starts_, other.starts_, rtol=1e-12)


def test_rows_without_weight_count_nothing():
    case = latent(40)
    weights = np.ones(40)
    weights[::3] = 0.0
    some = case._replace(rows=case.rows[weights > 0])
    assert_same_bits(fit(case._replace(weights=weights)), fit(some))


@every_ascent
def test_threads_change_no_bit(method, prior, monkeypatch):
    monkeypatch.setattr(problems, "UNIT_COST", 64)
    case = latent()
    assert len(case.encoded().units) > 3
    for n_init in (1, 3):  # threads for units, then for starts
        nets = []
        for threads in (1, 2):
            jn.set_threads(threads)
            nets.append(fit(case, method=method, prior=prior, n_init=n_init))
        assert_same_bits(*nets)


@pytest.mark.parametrize("method", ["em", "vbem", "gibbs", "stochastic-em"])
def test_what_was_fitted_before_changes_no_bit(method):
    """Compiled sets are kept between fits; another table may have met them in another order."""
    case = cases.random_case(0, n=4, n_rows=40, states=(2, 2))._replace(hidden=())
    few = {"n_samples": 20, "burn_in": 2} if method in ("gibbs", "stochastic-em") else {}

    def learn(rows):
        net = jn.BayesianNetwork(
            case.graph, method=method, prior=None if method == "em" else 1.5, random_state=0, **few
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", jn.EstimateWarning)
            return net.fit(case._replace(rows=rows).table())

    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (40, 4))
    rows[rng.random(rows.shape) < 0.3] = -1
    plans._kept.cache_clear()
    cold = learn(rows)
    plans._kept.cache_clear()
    learn(rows[::-1])
    assert_same_bits(cold, learn(rows))


def test_random_states_of_every_kind():
    case = latent(30)
    kinds = [7, np.int64(7), np.random.SeedSequence(7), np.random.default_rng(7)]
    nets = [fit(case, random_state=kind) for kind in kinds]
    for net in nets[1:]:
        assert_same_bits(nets[0], net)
    assert fit(case, random_state=8).trace_[0] != nets[0].trace_[0]
    fresh = [fit(case, random_state=None).trace_[0] for _ in range(2)]
    assert fresh[0] != fresh[1]
    with pytest.raises(jn.JensenError, match="random_state must be an int"):
        fit(case, random_state="seven")


def assert_same_bits(one, other):
    assert one.variables == other.variables
    assert one.network_.tables.tobytes() == other.network_.tables.tobytes()
    assert one.trace_.tobytes() == other.trace_.tobytes()
    assert one.starts_.tobytes() == other.starts_.tobytes()


# --- labels of hidden states ---


@pytest.mark.parametrize(
    ("method", "prior"), [("em", None), ("vbem", 1.0), ("viterbi", 1.5), ("me", 1.0)]
)
def test_hidden_states_come_in_the_order_of_falling_probability(method, prior):
    case = latent(80, missing=0.1)
    for seed in range(4):
        net = fit(case, method=method, prior=prior, random_state=seed)
        assert net.states["h"] == ("0", "1")
        p = net.cpt("h").values
        assert p[0] >= p[1]
        assert net.free_energy_ == net.trace_[-1]
    found = [
        fit(case, method="em", random_state=seed, n_init=4, tol=1e-13).cpt("x").values
        for seed in range(3)
    ]
    for other in found[1:]:  # the same states have the same names, whatever the seed
        np.testing.assert_allclose(other, found[0], atol=1e-3)


@pytest.mark.parametrize("method", ["gibbs", "stochastic-em"])
def test_hidden_states_of_chains_too(method):
    case = latent(80, missing=0.1)
    net = jn.BayesianNetwork(
        case.graph, hidden={"h": ["big", "small"]}, method=method, random_state=0, n_samples=500,
        burn_in=100, n_chains=2, prior=1.5,
    ).fit(case.table())  # fmt: skip
    assert net.cpt("h")[()]["big"] > 0.5
    assert net.cpt("x")["small"]["1"] > net.cpt("x")["big"]["1"] + 0.2


def test_the_labels_of_a_start_or_a_prior_keep_their_meaning():
    case = latent(80, missing=0.1)
    rare_first = {"h": [0.3, 0.7], **{x: [[0.2, 0.8], [0.8, 0.2]] for x in "xyz"}}
    for choices in (
        {"start": rare_first},
        {"start": jn.BayesianNetwork.from_tables(case.graph, rare_first)},
        {"start": jn.BayesianNetwork.from_tables(case.graph, rare_first).network_},
        {"start": rare_first, "prior": 1.0},
        {"prior": {"h": [3.0, 7.0], **{x: [[1.0, 9.0], [9.0, 1.0]] for x in "xyz"}}},
    ):
        net = fit(case, **choices)
        assert net.cpt("h").values[0] < 0.45
        assert net.cpt("x").values[0, 1] > 0.6 > 0.4 > net.cpt("x").values[1, 1]


def test_relabelling_keeps_the_distribution_of_what_was_seen():
    """The same start with its states exchanged: the same F, the same relabelled tables."""
    case = latent(50)
    one = fit(case, random_state=3)
    score = one.log_likelihood(case.table()).sum()
    np.testing.assert_allclose(score, one.free_energy_, rtol=1e-12)
    two = jn.BayesianNetwork(
        "h -> x; h -> y; h -> z; g -> y", hidden={"h": 3, "g": 2}, random_state=1
    )
    two.set_params(tol=1e-6).fit(case.table())
    score = two.log_likelihood(case.table()).sum()
    np.testing.assert_allclose(score, two.free_energy_, rtol=1e-12)
    for name in ("h", "g"):
        assert (np.diff(two.cpt(name).values) <= 1e-12).all()


# --- starts ---


def test_a_start_is_theta_zero():
    case = latent(30)
    tables = {"h": [0.3, 0.7], **{x: [[0.2, 0.8], [0.9, 0.1]] for x in "xyz"}}
    with pytest.warns(jn.EstimateWarning, match="after 0 sweeps"):
        net = fit(case, start=tables, max_iter=0)
    for name, table in tables.items():
        np.testing.assert_allclose(net.cpt(name).values, table, rtol=1e-15)
    arrays = [np.array(tables[name]) for name in case.names]
    expected = naive.log_likelihood(*case.facts, arrays, case.rows, case.row_weights)
    assert net.trace_.tolist() == [pytest.approx(expected, rel=1e-12)]


def test_a_fitted_network_is_where_it_ends():
    case = latent(30)
    for choices in ({}, {"prior": 1.0}, {"method": "me", "prior": 1.0}):
        net = fit(case, **choices, tol=1e-13)
        again = fit(case, **choices, start=net)
        assert again.n_sweeps_ <= 2
        np.testing.assert_allclose(again.free_energy_, net.free_energy_, rtol=1e-10)
        np.testing.assert_allclose(again.network_.tables, net.network_.tables, atol=1e-4)


def test_a_posterior_from_plain_tables_is_one_sweep_of_em():
    case = latent(30)
    tables = {"h": [0.3, 0.7], **{x: [[0.2, 0.8], [0.9, 0.1]] for x in "xyz"}}
    with pytest.warns(jn.EstimateWarning, match="after 0 sweeps"):
        net = fit(case, start=tables, max_iter=0, prior=0.5)
    logs = [np.log(tables[name]) for name in case.names]
    counts = naive.kept_exact(*case.facts, logs, case.rows, case.row_weights)[1]
    for name, n in zip(case.names, counts, strict=True):
        np.testing.assert_allclose(net.posterior(name).concentration, n + 0.5, rtol=1e-12)


def test_the_best_of_many_starts_is_kept():
    case = latent(30, seed=2)
    many = fit(case, n_init=6, prior=0.3)
    assert many.starts_.shape == (6,)
    assert many.free_energy_ == many.starts_.max() == many.trace_[-1]
    few = fit(case, n_init=2, prior=0.3)
    assert few.starts_.tobytes() == many.starts_[:2].tobytes()
    assert fit(case, n_init=1, prior=0.3).starts_.tolist() == few.starts_[:1].tolist()


def test_one_state_is_certain():
    """A column of one label with gaps: nothing is uncertain about it."""
    net = jn.BayesianNetwork("a -> b").fit({"a": ["x", None, "x"], "b": [0, 1, None]})
    assert net.cpt("a")[()] == {"x": 1.0}
    np.testing.assert_allclose(net.free_energy_, 2 * math.log(0.5), rtol=1e-7)


def test_rows_without_any_value_say_nothing():
    table = {"a": ["x", "y", "y", None], "b": [0, 1, 1, None]}
    net = jn.BayesianNetwork("a -> b", tol=1e-14).fit(table)
    np.testing.assert_allclose(net.cpt("a").values, [1 / 3, 2 / 3], rtol=1e-5)
    np.testing.assert_allclose(net.free_energy_, math.log(1 / 3) + 2 * math.log(2 / 3), rtol=1e-9)
