"""Gibbs and stochastic EM: against the exact posterior, and by Geweke's joint test."""

from copy import copy

import numpy as np
import pytest
from models import cases
from naive import learning as naive
from scipy import stats

import jensen as jn
from jensen.data.blocks import TreeSum, Units
from jensen.free_energy import GIBBS, STOCHASTIC_EM, chain, step
from jensen.models.discrete_network import Complete, Tables
from jensen.q_hidden.trees import problems
from jensen.support.arguments import Streams


@pytest.fixture(autouse=True)
def _one_thread():
    jn.set_threads(1)
    yield
    jn.set_threads(None)


def standard_error(draws, n_batches=50):
    """Of the mean of a chain (samples, ...), by the means of batches."""
    batches = draws[: len(draws) // n_batches * n_batches].reshape(n_batches, -1, *draws.shape[1:])
    return batches.mean(1).std(0, ddof=1) / np.sqrt(n_batches)


def largest_z(draws, expected):
    """The largest deviation of a mean, in standard errors; what never moves must be right."""
    error, off = standard_error(draws), np.abs(draws.mean(0) - expected)
    still = error < 1e-12
    np.testing.assert_allclose(off[still], 0.0, atol=1e-9)
    return float(np.max(off[~still] / error[~still]))


def flat(parts):
    return np.concatenate([part.ravel() for part in parts])


def alphas(case, prior):
    return [np.full(t.shape, prior) for t in case.split(np.zeros(int(case.wiring.fam_at[-1])))]


# --- the exact posterior ---


_ = -1
TINY = {
    "a chain": cases.Case(
        jn.DAG("a -> b -> c"), [2, 2, 2],
        np.array([[0, _, 1], [_, 1, 1], [1, _, _], [1, 0, 0], [0, 1, _], [_, 0, 0]]),
    ),
    "a collider": cases.Case(
        jn.DAG("a -> c <- b"), [2, 2, 3],
        np.array([[0, _, 1], [_, 1, 2], [1, 0, _], [1, _, 0], [_, _, 1]]),
    ),
    "a hidden cause": cases.Case(
        jn.DAG("h -> a; h -> b"), [2, 2, 2],
        np.array([[0, 0, _], [1, 1, _], [1, _, _], [0, 0, _], [1, 0, _]]), hidden=(2,),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TINY)
@pytest.mark.parametrize("prior", [0.6, 1.5])
def test_gibbs_has_the_exact_posterior_of_completions_and_tables(name, prior):
    """2,500 sweeps; z < 5 for each of some fifty cells: p < 5e-5."""
    case = TINY[name]
    counts, theta = naive.posterior_means(*case.facts, alphas(case, prior), case.rows)
    model, units, rng = case.model(prior), case.encoded().units, Streams(0, ())
    states = chain(model, units, GIBBS, cases.start(case, model, units, GIBBS, rng=rng), rng)
    run = [next(states) for sweep in range(2550)][50:]
    assert largest_z(np.array([s.stats.tables for s in run]), flat(counts)) < 5.0
    assert largest_z(np.exp([s.t.tables for s in run]), flat(theta)) < 5.0


def test_weights_are_rows_that_are_drawn_one_by_one():
    case = cases.Case(jn.DAG("a -> b"), [2, 2], np.array([[-1, 1], [0, 0]]), np.array([4.0, 2.0]))
    rows = np.repeat(case.rows, [4, 2], axis=0)
    counts, _ = naive.posterior_means(*case.facts, alphas(case, 1.0), rows)
    model, units, rng = case.model(1.0), case.encoded().units, Streams(0, ())
    states = chain(model, units, GIBBS, cases.start(case, model, units, GIBBS, rng=rng), rng)
    run = np.array([next(states).stats.tables for _ in range(2500)])
    assert largest_z(run, flat(counts)) < 5.0
    assert set(run[:, 0]) == {2.0, 3.0, 4.0, 5.0, 6.0}  # rows do not move together


def test_the_estimator_averages_its_samples():
    case = TINY["a chain"]
    net = jn.BayesianNetwork(
        case.graph, method="gibbs", prior=1.0, random_state=0, n_samples=300, burn_in=50, thin=2
    ).fit(case.table())
    assert net.network_.samples.shape == (4 * 300, 2 + 4 + 4)
    assert net.trace_.shape == (4, 300)
    assert (net.n_sweeps_, net.converged_, net.is_bound_) == (50 + 2 * 300, False, False)
    assert np.isnan(net.free_energy_)
    assert net.starts_.shape == (0,)
    assert net.r_hat_ < 1.02
    assert 300 < net.effective_sample_size_ < 4_000
    np.testing.assert_allclose(net.network_.tables, net.network_.samples.mean(0), rtol=1e-12)
    _, theta = naive.posterior_means(*case.facts, alphas(case, 1.0), case.rows)
    assert largest_z(net.network_.samples, flat(theta)) < 5.0


# --- Geweke's joint test ---

CELLS = (  # what is seen of a row: a and b, or a alone
    [(0, 0), (0, 1), (1, 0), (1, 1)],
    [(0, -1), (1, -1)],
)


class Joint:
    """θ and rows of h -> a, h -> b: h is hidden, and b is missing in the last two of six rows."""

    alpha = (
        np.array([1.2, 0.8]),
        np.array([[1.5, 0.7], [0.9, 1.1]]),
        np.array([[0.8, 1.4], [1.0, 0.6]]),
    )
    n_rows, n_without_b = 6, 2

    def __init__(self):
        rows = np.array([(a, b, -1) for cells in CELLS for a, b in cells])
        self.case = cases.Case(jn.DAG("h -> a; h -> b"), [2, 2, 2], rows, hidden=(2,))
        assert self.case.names == ("a", "b", "h")
        a, b, h = self.alpha[1], self.alpha[2], self.alpha[0]
        self.model = self.case.model({"a": a, "b": b, "h": h})
        encoded = self.case.encoded()
        (self.nothing, self.unit), self.of_row = encoded.units.items, encoded.hidden[0].of_row

    def draw_theta(self, rng):
        h, *others = self.alpha
        return [rng.dirichlet(h), *(np.array([rng.dirichlet(row) for row in t]) for t in others)]

    def draw_rows(self, theta, rng):
        """(h, a, b) of every row."""
        h = (rng.random(self.n_rows) >= theta[0][0]).astype(int)
        a, b = ((rng.random(self.n_rows) >= theta[k][h, 0]).astype(int) for k in (1, 2))
        return h, a, b

    def units(self, a, b):
        """What is seen of rows: how often each kind of row occurs."""
        weight = np.zeros(len(self.of_row))
        for i in range(self.n_rows):
            seen = (a[i], b[i] if i < self.n_rows - self.n_without_b else -1)
            row = [cell for cells in CELLS for cell in cells].index(seen)
            weight[self.of_row[row]] += 1.0
        rows = copy(self.unit.rows)
        rows.weight = weight
        items = (Complete(self.nothing.counts), self.unit._replace(rows=rows))
        return Units(items, float(self.n_rows), is_complete=False)

    def counts(self, h, a, b):
        """Of the tables of a, b and h."""
        parts = [np.zeros((2, 2)), np.zeros((2, 2)), np.zeros(2)]
        np.add.at(parts[0], (h, a), 1.0)
        np.add.at(parts[1], (h, b), 1.0)
        np.add.at(parts[2], h, 1.0)
        return flat(parts)


def functions(theta, counts):
    """Functions of (θ, h, x) whose expectations are compared; flat tables of a, b, h."""
    a, b, h = theta[0], theta[4], theta[8]
    n_a, n_b, n_h = counts[0], counts[4], counts[8]
    return [
        h, h * h, a, b, a * b, n_h, n_h * n_h, n_a, n_a * n_b,
        n_h * h, n_a * a, n_b * h, np.log(theta[9]), counts[3] * theta[3],
    ]  # fmt: skip


def test_gewekes_joint_test():
    """Simulating forwards and by Gibbs sweeps, the joint of (θ, h, x) is the same.

    14 functions, |z| < 4.5 for each: p < 1e-4. Geweke (2004), "Getting it right: joint
    distribution tests of posterior simulators", JASA 99, section 3.
    """
    joint, rng, streams = Joint(), np.random.default_rng(1), Streams(2, ())

    def as_tables(theta):
        return flat([theta[1], theta[2], theta[0]])

    forwards = []
    for _ in range(3000):
        theta = joint.draw_theta(rng)
        forwards.append(functions(as_tables(theta), joint.counts(*joint.draw_rows(theta, rng))))
    theta, successive = joint.draw_theta(rng), []
    state = None
    for _ in range(3000):
        h, a, b = joint.draw_rows(theta, rng)
        units = joint.units(a, b)
        counts = Tables(joint.counts(h, a, b))
        if state is None:
            state = cases.start(joint.case, joint.model, units, GIBBS, rng=streams)
        state = step(joint.model, units, GIBBS, state._replace(stats=counts), streams)
        state = step(joint.model, units, GIBBS, state, streams)  # θ from what was drawn of h
        tables = np.exp(state.t.tables)
        theta = [tables[8:], tables[:4].reshape(2, 2), tables[4:8].reshape(2, 2)]
        successive.append(functions(tables, state.stats.tables))
    forwards, successive = np.array(forwards), np.array(successive)
    error = np.hypot(forwards.std(0) / np.sqrt(len(forwards)), standard_error(successive, 60))
    z = (forwards.mean(0) - successive.mean(0)) / error
    assert np.abs(z).max() < 4.5


# --- complete data ---


def test_gibbs_on_complete_data_draws_the_dirichlet_posterior():
    """4 × 300 independent draws; Kolmogorov-Smirnov for each of six cells, p > 1e-4."""
    table = {"a": [0, 0, 1, 1, 1], "b": ["n", "y", "n", "y", "y"]}
    net = jn.BayesianNetwork(
        "a -> b", method="gibbs", prior=0.5, n_samples=300, burn_in=0, random_state=0
    ).fit(table)
    posterior = [(2.5, 3.5), (3.5, 2.5), (1.5, 1.5), (1.5, 1.5), (1.5, 2.5), (2.5, 1.5)]
    for cell, (own, other) in zip(net.network_.samples.T, posterior, strict=True):
        assert stats.kstest(cell, stats.beta(own, other).cdf).pvalue > 1e-4
    log_like = np.log(net.network_.samples) @ [2.0, 3.0, 1.0, 1.0, 1.0, 2.0]
    rows = net.network_.samples.reshape(-1, 3, 2)
    log_prior = sum(
        stats.dirichlet([0.5, 0.5]).logpdf(rows[:, k].T / rows[:, k].sum(1)) for k in range(3)
    )
    np.testing.assert_allclose(net.trace_.ravel(), log_like + log_prior, rtol=1e-9)
    assert net.effective_sample_size_ > 700


@pytest.mark.filterwarnings("ignore:the chains disagree:jensen.exceptions.EstimateWarning")
def test_chains_have_streams_of_their_own():
    choices = {"method": "gibbs", "prior": 1.0, "n_samples": 20, "burn_in": 5, "random_state": 0}
    table = {"a": [0, 1, None, 1], "b": [1, None, 0, 1]}
    four = jn.BayesianNetwork("a -> b", **choices).fit(table)
    two = jn.BayesianNetwork("a -> b", n_chains=2, **choices).fit(table)
    assert four.trace_[:2].tobytes() == two.trace_.tobytes()
    assert len(set(four.trace_[:, 0])) == 4


@pytest.mark.filterwarnings("ignore:the chains disagree:jensen.exceptions.EstimateWarning")
@pytest.mark.parametrize("method", ["gibbs", "stochastic-em"])
def test_threads_change_no_sample(method):
    rng = np.random.default_rng(0)
    table = {
        x: [None if rng.random() < 0.3 else int(rng.integers(2)) for _ in range(30)] for x in "ab"
    }
    nets = []
    for threads in (1, 2):
        jn.set_threads(threads)
        net = jn.BayesianNetwork(
            "h -> a; h -> b", hidden={"h": 2}, method=method, prior=2.0, n_samples=30, burn_in=3,
            n_chains=3, random_state=5,
        )  # fmt: skip
        nets.append(net.fit(table))
    assert nets[0].trace_.tobytes() == nets[1].trace_.tobytes()
    assert nets[0].network_.tables.tobytes() == nets[1].network_.tables.tobytes()


@pytest.mark.parametrize("algorithm", [GIBBS, STOCHASTIC_EM], ids=["gibbs", "stochastic-em"])
def test_every_unit_has_a_stream_of_its_own(algorithm, monkeypatch):
    """The last unit is drawn first: nothing changes, whatever thread is the quicker one."""
    monkeypatch.setattr(problems, "UNIT_COST", 1)
    case = cases.random_case(2, n=4, n_rows=12)
    model, units = case.model(1.5), case.encoded().units
    assert len(units) > 4

    class Backwards(Units):
        def sum(self, f, kept=()):
            before = kept or [None] * len(self)
            tree, after = TreeSum(), {}
            for number in reversed(range(len(self))):
                term, after[number] = f(number, self.items[number], before[number])
                tree.put(number, term)
            return tree.total(), tuple(after[number] for number in range(len(self)))

    runs = []
    for data in (units, Backwards(*units)):
        rng = Streams(0, ())
        begun = cases.start(case, model, data, algorithm, rng=rng)
        states = chain(model, data, algorithm, begun, rng)
        runs.append([next(states).stats.tables.tobytes() for sweep in range(10)])
    assert runs[0] == runs[1]


@pytest.mark.filterwarnings("ignore:the chains disagree:jensen.exceptions.EstimateWarning")
def test_thinning_and_burn_in_choose_among_the_same_sweeps():
    table = {"a": [0, 1, None, 1, 0], "b": [1, None, 0, 1, 1]}

    def run(**choices):
        net = jn.BayesianNetwork("a -> b", method="gibbs", prior=1.0, random_state=2, **choices)
        return net.fit(table)

    every = run(n_samples=60, burn_in=0)
    some = run(n_samples=10, burn_in=20, thin=4)
    assert some.trace_.tobytes() == every.trace_[:, 23::4].tobytes()
    assert some.n_sweeps_ == 60


# --- stochastic EM ---


def test_stochastic_em_stays_around_the_estimate_of_em():
    rng = np.random.default_rng(0)
    a = rng.random(400) < 0.3
    b = np.where(a, rng.random(400) < 0.8, rng.random(400) < 0.25)
    table = {
        "a": [None if rng.random() < 0.25 else int(x) for x in a],
        "b": [None if rng.random() < 0.25 else int(x) for x in b],
    }
    em = jn.BayesianNetwork("a -> b", tol=1e-12, max_iter=10_000).fit(table)
    chains = jn.BayesianNetwork(
        "a -> b", method="stochastic-em", n_samples=300, burn_in=50, random_state=0
    ).fit(table)
    assert chains.network_.samples is None
    np.testing.assert_allclose(chains.network_.tables, em.network_.tables, atol=0.02)
    assert em.free_energy_ - 0.2 < chains.free_energy_ <= em.free_energy_ + 1e-9
    score = chains.log_likelihood(table).sum()
    np.testing.assert_allclose(chains.free_energy_, score, rtol=1e-10)
    assert chains.is_bound_ is False


def test_chains_that_disagree_are_told():
    """Stochastic EM can lose a state for ever, and every chain loses another."""
    table = {"a": [0] * 20 + [1] * 20, "b": [0] * 20 + [1] * 20}
    net = jn.BayesianNetwork(
        "h -> a; h -> b", hidden={"h": 2}, method="stochastic-em", n_samples=50, burn_in=0,
        n_chains=6, random_state=3,
    )  # fmt: skip
    with pytest.warns(
        jn.EstimateWarning,
        match=r"^the chains disagree \(R-hat of the log joint is [\d.inf]+, and should be below "
        r"1\.05\): raise burn_in and n_samples$",
    ) as caught:
        net.fit(table)
    assert caught[0].filename == __file__
    assert net.r_hat_ > 1.05
