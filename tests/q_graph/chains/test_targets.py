"""Chains as a whole against all graphs of up to five variables: each against its own target."""

import numpy as np
import pytest
from naive import graph_sums
from q_graph.chains import cases
from q_graph.chains.cases import CASES, P_VALUE, make_case

from jensen.q_graph.chains.graph_chains import ChainPlan, GraphChainTask, sample_graphs
from jensen.q_graph.chains.kinds import KINDS

THIN = {"order": 60, "partition": 2, "structure": 8}
"""Cycles between samples: enough that these are as good as independent."""

FIVE = {
    "five variables": make_case(5, spread=2.0),
    "five and two candidates": make_case(5, 2, 2, spread=2.0),
    "five and rules": make_case(5, 2, 1, spread=1.5, required=[(4, 0)], forbidden=[(1, 2)], most=3),
}


def run_chains(case, kind, plan, seed=0, required=()):
    flags = np.zeros((case.n, case.n), bool)
    for edge in required:
        flags[edge] = True
    task = GraphChainTask(KINDS[kind], case.raw, plan, flags)
    return task, sample_graphs(task, np.random.default_rng(seed))


def target(case, kind):
    """Probabilities of all graphs."""
    logs = cases.graph_logs(case)
    if kind == "order":
        logs = logs + np.log(cases.n_orders(case.n))
    return np.exp(logs - graph_sums.log_sum(logs.tolist()))


def check_samples(case, kind, task, chains):
    parents = np.concatenate([kept.parents for kept in chains.samples])
    scores = np.concatenate([kept.scores for kept in chains.samples]) + task.tops.sum()
    numbers = {cases.to_bits(g).tobytes(): k for k, g in enumerate(graph_sums.networks(case.n))}
    which = np.array([numbers[words.tobytes()] for words in parents])
    np.testing.assert_allclose(scores, cases.graph_logs(case)[which], rtol=1e-12, atol=1e-10)
    p = target(case, kind)
    assert cases.fits(np.bincount(which, minlength=len(p)), p) > P_VALUE


@pytest.mark.parametrize("name", [*CASES, *FIVE])
@pytest.mark.parametrize("kind", KINDS)
def test_graphs_are_drawn_from_the_target(kind, name):
    case = (CASES | FIVE)[name]
    required = {"required": [(0, 1), (3, 2)], "five and rules": [(4, 0)]}.get(name, [])
    n_samples = 3000 if name in FIVE else 1500
    plan = ChainPlan(2, n_samples, 100, THIN[kind])
    task, chains = run_chains(case, kind, plan, required=required)
    check_samples(case, kind, task, chains)


@pytest.mark.parametrize("name", ["pairs outside", "required"])
@pytest.mark.parametrize("kind", KINDS)
def test_tempering_leaves_the_target_alone(kind, name):
    case = CASES[name]
    required = [(0, 1), (3, 2)] if name == "required" else []
    plan = ChainPlan(2, 500, 100, THIN[kind], n_temperatures=3)
    task, chains = run_chains(case, kind, plan, required=required)
    check_samples(case, kind, task, chains)
    for ladder in chains.ends:
        assert (ladder.exchanged > 100).all()


@pytest.mark.parametrize("kind", KINDS)
def test_states_have_the_weight_of_all_their_graphs(kind):
    case = CASES["pairs outside"]
    found = cases.states(case, kind)
    task, chains = run_chains(case, kind, ChainPlan(1, 300, 0, 3))
    kept = chains.samples[0]
    graphs = cases.from_bits(kept.parents)
    own = {"structure": graphs, "partition": list(map(cases.layers, graphs))}
    states = own.get(kind) or [tuple(order) for order in kept.orders.tolist()]
    expected = [found[state] for state in states]
    np.testing.assert_allclose(kept.states + task.tops.sum(), expected, rtol=1e-12, atol=1e-9)
