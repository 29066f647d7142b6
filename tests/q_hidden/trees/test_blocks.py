"""Mean field over blocks of missing labels: bounds by enumeration, zeros, memory, one block."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from models import cases
from scipy.special import entr, logsumexp

import jensen as jn
from jensen import free_energy, q_hidden
from jensen.exceptions import JensenError, TooLargeError
from jensen.free_energy import EM, MEAN_FIELD, VARIATIONAL_EM, expect, fit, state_at, step
from jensen.models.discrete_network import Tables
from jensen.q_hidden.trees import blocks
from jensen.runs.checkpoint import Checkpoint
from jensen.support.fields import leaves


def log_joint(case, log_tables, row):
    """Log p(row, h) over all states of what the row misses, an axis for each cell."""
    missing = [v for v, x in enumerate(row) if x < 0]
    found = np.empty([case.cards[v] for v in missing])
    tables = case.split(log_tables)
    for states in product(*(range(case.cards[v]) for v in missing)):
        whole = np.array(row)
        whole[missing] = states
        found[states] = sum(
            tables[v][(*whole[case.wiring.members(v)],)] for v in range(len(case.cards))
        )
    return found


def naive_mean_field(joint, rng, starts=30):
    """The best bound of coordinate ascent over independent cells, from the definition."""
    n, best = joint.ndim, -np.inf
    finite = np.where(joint == -np.inf, -1e4, joint)
    for _ in range(starts):
        q = [rng.dirichlet(np.ones(k)) for k in joint.shape]
        for _ in range(200):
            for i in range(n):
                others = finite
                for j in reversed(range(n)):
                    if j != i:
                        others = np.tensordot(others, q[j], (j, 0))
                q[i] = np.exp(others - others.max())
                q[i] /= q[i].sum()
        whole = np.ones(())
        for one in q:
            whole = np.multiply.outer(whole, one)
        inside = whole > 1e-12
        value = (whole[inside] * joint[inside]).sum() + sum(entr(one).sum() for one in q)
        best = max(best, value)
    return best


def problem(seed, *, zeros=False, n=4):
    """Rows of a random network, and log tables."""
    case = cases.random_case(seed, n=n, n_rows=6, states=(2, 3))
    rng = np.random.default_rng(seed)
    with np.errstate(divide="ignore"):
        log_tables = np.log(cases.random_probabilities(rng, case, zeros=zeros))
    return case, case.model(1.0), case.encoded().units, log_tables


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_is_that_of_enumeration_and_its_slope_the_counts(seed):
    case, model, units, log_tables = problem(seed)
    sums, memory = expect(model, units, q_hidden.meanfield, Tables(log_tables))
    way, h = np.random.default_rng(1).normal(size=len(log_tables)), 1e-4
    up, down = (
        expect(model, units, q_hidden.meanfield, Tables(log_tables + x * way), memory=memory)[0]
        for x in (h, -h)
    )  # at a fixed point the slope is that of the counts alone
    slope = (up.value - down.value) / (2.0 * h)
    assert slope == pytest.approx(sums.stats.tables @ way, abs=1e-4)
    joints = [log_joint(case, log_tables, row) for row in case.rows]
    exact = sum(logsumexp(joint) for joint in joints)
    rng = np.random.default_rng(0)
    best = sum(naive_mean_field(joint, rng) if joint.ndim else joint for joint in joints)
    assert sums.value <= exact + 1e-9
    assert best - 0.2 <= sums.value <= best + 1e-5
    assert expect(model, units, q_hidden.exact, Tables(log_tables))[0].value == pytest.approx(exact)


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_one_block_of_all_is_exact_and_others_lie_below(seed, zeros):
    case, model, units, log_tables = problem(seed, zeros=zeros, n=5)
    t = Tables(log_tables)
    exact, _ = expect(model, units, q_hidden.exact, t)
    if exact.value == -np.inf:  # zeros that no state of some row gets around
        assert expect(model, units, q_hidden.meanfield, t)[0].value == -np.inf
        return
    alone, _ = expect(model, units, q_hidden.meanfield, t)
    pairs = replace(model, blocks=((0, 1), (2, 3)))
    joined, _ = expect(pairs, units, q_hidden.meanfield, t)
    whole = replace(model, blocks=(tuple(range(len(case.cards))),))
    same, _ = expect(whole, units, q_hidden.meanfield, t)
    assert np.isfinite(alone.value)
    assert alone.value <= exact.value + 1e-9
    assert joined.value <= exact.value + 1e-9
    assert zeros or joined.value > alone.value - 1e-6  # from starts with zeros q stays elsewhere
    assert same.value == pytest.approx(exact.value, rel=1e-12)
    np.testing.assert_allclose(same.stats.tables, exact.stats.tables, atol=1e-12)


def parity():
    """Two hidden coins and two seen ones, each the sum of both: most states cannot be."""
    return jn.BayesianNetwork.from_tables(
        "a -> x; b -> x; a -> y; b -> y",
        {
            "a": [0.4, 0.6],
            "b": [0.7, 0.3],
            "x": [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]],
            "y": [[[0.9, 0.1], [0.0, 1.0]], [[0.0, 1.0], [0.8, 0.2]]],
        },
    )


@pytest.mark.filterwarnings("ignore::jensen.exceptions.EstimateWarning")
def test_zeros_are_respected_from_the_first_sweep():
    net = parity()
    rows = {"x": [0, 1, 1, 0], "y": [0, 1, 1, 1]}
    rows = {name: np.array(x).astype(str) for name, x in rows.items()}
    table = jn.Table(rows)
    learned = jn.BayesianNetwork(
        net.graph, hidden={"a": 2, "b": 2}, method="variational-em", start=net, max_iter=3
    )
    learned.fit(table)
    assert np.isfinite(learned.trace_).all()
    assert (np.diff(learned.trace_) > -1e-9).all()
    exact = net.log_likelihood(table, missing_columns="ignore").sum()
    assert learned.trace_[0] <= exact + 1e-9


def test_a_row_that_cannot_be_is_told():
    net = parity()
    table = jn.Table({"x": ["1", "0"], "y": ["0", "1"]})
    learned = jn.BayesianNetwork(
        net.graph, hidden={"a": 2, "b": 2}, method="variational-em", start=net
    )
    with pytest.raises(jn.ImpossibleError):
        learned.fit(table)


@pytest.mark.parametrize("algorithm", [VARIATIONAL_EM, MEAN_FIELD], ids=lambda a: a.name)
@pytest.mark.parametrize("seed", range(3))
def test_f_never_falls_and_lies_below_the_exact_one(seed, algorithm):
    case = cases.random_case(seed, n=4, weights="parts", states=(2, 3))
    model, units = case.model(1.5), case.encoded().units
    model = replace(model, blocks=((1, 2),) if seed == 1 else ())
    first = state_at(model, units, algorithm, cases.start(case, model, units, EM, seed).eta)
    found = fit(model, units, algorithm, first, max_iter=60, tol=1e-9)
    assert (np.diff(found.trace) > -1e-9).all()
    other = EM if algorithm is VARIATIONAL_EM else free_energy.VBEM
    exact = state_at(model, units, other, found.state.eta)
    assert found.state.free_energy <= exact.free_energy + 1e-9


def test_the_kept_q_is_where_the_next_sweep_begins():
    _, model, units, log_tables = problem(2)
    t = Tables(log_tables)
    _, memory = expect(model, units, q_hidden.meanfield, t)
    again, after = expect(model, units, q_hidden.meanfield, t, memory=memory)
    first, _ = expect(model, units, q_hidden.meanfield, t)
    assert again.value >= first.value - 1e-9
    ages = [one.age for one in after if one is not None]
    assert set(ages) == {1}
    assert all(isinstance(one, blocks.BlockMemory) for one in after if one is not None)


class Killed(Exception):
    """In the place of a kill."""


def test_a_killed_run_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    table = jn.examples.load("cancer").sample(60, random_state=0)
    table = table.select(["Xray", "Dyspnoea", "Smoker"])
    graph = "Cancer -> Xray; Cancer -> Dyspnoea; Smoker -> Cancer; Pollution -> Cancer"
    monkeypatch.setattr(Checkpoint, "save_sometimes", lambda self, make: self.save(*make()))

    def learn(checkpoint=None):
        net = jn.BayesianNetwork(
            graph, hidden={"Cancer": 2, "Pollution": 2}, method="mean-field", prior=1.0,
            blocks=[["Cancer", "Pollution"]], n_init=2, random_state=3, tol=1e-5,
        )  # fmt: skip
        return net.fit(table, checkpoint=checkpoint)

    straight, path, sweeps = learn(), tmp_path / "run", iter(range(4))

    def dying(*args):
        if next(sweeps, None) is None:
            raise Killed
        return step(*args)

    with monkeypatch.context() as patch:
        patch.setattr(free_energy, "step", dying)
        with pytest.raises(Killed):
            learn(path)
    resumed = learn(path)
    assert resumed.trace_.tobytes() == straight.trace_.tobytes()
    for one, two in zip(
        leaves(resumed.network_.tables), leaves(straight.network_.tables), strict=True
    ):
        np.testing.assert_array_equal(one, two)


def test_networks_too_large_for_a_tree():
    """As many hidden causes as findings, each of four: the tree of a row is too large."""
    n = 48
    table = {f"x{v}": np.array([0, 1, 1]).astype(str) for v in range(n)}
    arrows = [
        f"h{p} -> x{v}" for v in range(n) for p in ((v, (v + 7) % n, (v + 19) % n, (v + 30) % n))
    ]
    hidden = {f"h{p}": 2 for p in range(n)}
    choices = {"hidden": hidden, "prior": 1.0, "random_state": 0, "max_iter": 2}
    graph = "; ".join(arrows)
    before = jn.get_memory_limit()
    jn.set_memory_limit(20_000_000)
    try:
        with pytest.raises(TooLargeError):
            jn.BayesianNetwork(graph, method="vbem", **choices).fit(table)
        with pytest.warns(jn.EstimateWarning, match="still rising"):
            net = jn.BayesianNetwork(graph, method="mean-field", **choices).fit(table)
    finally:
        jn.set_memory_limit(before)
    assert net.is_bound_
    assert (np.diff(net.trace_) > 0.0).all()


# --- what is chosen, and what is refused ---

TABLE = jn.examples.load("cancer").sample(40, random_state=0)
HIDDEN = {"hidden": {"h": 2}, "prior": 1.0, "random_state": 0, "max_iter": 4}
GRAPH = "h -> Smoker; h -> Cancer; Smoker -> Cancer"


@pytest.mark.filterwarnings("ignore::jensen.exceptions.EstimateWarning")
def test_files_keep_the_blocks(tmp_path):
    net = jn.BayesianNetwork(GRAPH, method="mean-field", blocks=[["h", "Smoker"]], **HIDDEN)
    net.fit(TABLE)
    net.save(tmp_path / "net.json")
    again = jn.load(tmp_path / "net.json")
    assert again.blocks == [["h", "Smoker"]]
    assert again.method == "mean-field"
    assert again.free_energy_ == net.free_energy_
    assert "lower bound" in str(net.summary())


@pytest.mark.filterwarnings("ignore::jensen.exceptions.EstimateWarning")
@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ({"method": "vbem", "blocks": [["h", "Smoker"]]}, "would be ignored by 'vbem'"),
        ({"method": "mean-field", "blocks": ["h"]}, "blocks must be lists of variables"),
        ({"method": "mean-field", "blocks": "h"}, "blocks must be lists of variables"),
        ({"method": "mean-field", "blocks": [["h"], ["h"]]}, "blocks name 'h' twice"),
        ({"method": "mean-field", "blocks": [["h", "Smok"]]}, "there is no such variable.*Smoker"),
    ],
)
def test_blocks_that_cannot_be_are_refused(choices, text):
    with pytest.raises(JensenError, match=text):
        jn.BayesianNetwork(GRAPH, **{**HIDDEN, **choices}).fit(TABLE)


@pytest.mark.parametrize("prior", ["bge", "bdeu-bge"])
def test_numbers_refuse_approximate_in_words(prior):
    rows = {"x": [0.1, 0.2, 0.5, 0.9], "y": [1.1, 0.3, 2.5, 0.7]}
    if prior == "bdeu-bge":
        rows["x"] = ["a", "b", "a", "b"]
    with pytest.raises(JensenError, match="'mean-field' is not for this model"):
        jn.BayesianNetwork("x -> y", method="mean-field", prior=prior).fit(rows)
