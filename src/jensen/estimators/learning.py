"""From rows, complete or not, to the tables of a network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen import q_hidden
from jensen.checkpoint import Checkpoint
from jensen.data import Table, Variable
from jensen.estimators.choices import Choices, learned_variables
from jensen.estimators.course import Course, climb, run_chains
from jensen.estimators.estimate_warnings import warn_of_empty_rows
from jensen.estimators.set_rows import WasSet
from jensen.exceptions import DataError, ImpossibleError, JensenError
from jensen.fields import add
from jensen.fingerprint import fingerprint
from jensen.free_energy import EM, Algorithm, State, check_usable, see
from jensen.graphs import DAG
from jensen.graphs.wiring import wire
from jensen.inference import Network
from jensen.inference.handmade import network_from_tables
from jensen.inference.impossible import explain_row
from jensen.memory import check_memory
from jensen.models.discrete_network import DiscreteNetwork, Tables
from jensen.models.encoding import Encoded, encode
from jensen.models.priors import make_prior
from jensen.models.relabelling import by_falling_count, permute
from jensen.models.starts import random_counts
from jensen.randomness import as_generator, generator_state
from jensen.restarts import Job

ARRAYS = 8
"""How many arrays as long as all tables together are alive at once while learning."""


class Learned(NamedTuple):
    """A network, and how it was found."""

    network: Network
    course: Course


class Problem(NamedTuple):
    """What is learned, ready for the loop."""

    graph: DAG
    variables: tuple[Variable, ...]
    hidden: tuple[int, ...]  # nodes without values
    table: Table
    data: Encoded
    model: DiscreteNetwork
    choices: Choices
    was_set: WasSet

    @property
    def algorithm(self) -> Algorithm:
        """The one chosen."""
        return self.choices.algorithm


def learn(
    graph: DAG,
    table: Table,
    choices: Choices,
    checkpoint: str | Path | None,
    was_set: WasSet = None,
) -> Learned:
    """Learn the tables of a graph from rows with values missing anywhere."""
    choices.check()
    problem = _prepare(graph, table, choices, was_set)
    rng = as_generator(choices.random_state)
    file = None if checkpoint is None else Checkpoint(checkpoint, _fingerprint(problem, rng))
    job = Job(problem.model, problem.data.units, problem.algorithm, lambda k, r: _begin(problem, r))
    try:
        learner = _ascend if problem.algorithm.ascends else _sample
        return learner(problem, job, rng, file)
    except ImpossibleError:
        raise explain_row(_start_network(problem), table, "under the tables of start=") from None


def _prepare(graph: DAG, table: Table, choices: Choices, was_set: WasSet) -> Problem:
    variables = learned_variables(graph, table, choices.hidden)
    if table.total_weight == 0:
        raise DataError("there is nothing to learn from: the table has no rows, or no weight")
    if table.total_weight == np.inf:
        raise DataError("the weights are too large: their sum is infinite")
    rows = table.select([v.name for v in variables if v.name in table and _has_values(table, v)])
    if graph.nodes and not rows.names:
        raise DataError("there is nothing to learn from: no node of the graph has values")
    if rows.weights is not None:
        if choices.algorithm.q_hidden is q_hidden.draw and np.any(rows.weights % 1.0):
            raise DataError(
                f"{choices.algorithm.name!r} draws what is missing row by row, so weights must be "
                f"whole numbers: use method='em' or 'vbem'"
            )
        was_set = None if was_set is None else was_set[rows.weights > 0]
        rows = rows.take(rows.weights > 0)
    if choices.algorithm.q_hidden is q_hidden.draw:
        check_memory(
            32.0 * rows.total_weight,
            f"drawing what is missing row by row for rows of weight {rows.total_weight:.3g}",
            "use method='em' or 'vbem', which take a weight at once",
        )
    wiring = wire(graph.parent_indices, [v.n_states for v in variables])
    n_entries = int(wiring.fam_at[-1])
    check_memory(
        8.0 * ARRAYS * n_entries,
        f"the tables of this graph ({n_entries:,} entries)",
        "leave out parents, or merge states",
    )
    data = encode(rows, graph.nodes, wiring, was_set)
    if choices.used_prior == "bds" and not data.units.is_complete:
        raise JensenError(
            "prior='bds' depends on which parent configurations occur, and with missing values "
            "nobody knows: use prior='bdeu'"
        )
    prior = make_prior(
        choices.used_prior, choices.equivalent_sample_size, graph.nodes, wiring, data.counts
    )
    model = DiscreteNetwork(wiring, prior)
    check_usable(model, choices.algorithm)
    hidden = tuple(v for v, name in enumerate(graph.nodes) if name not in rows)
    problem = Problem(graph, variables, hidden, rows, data, model, choices, was_set)
    if choices.start is not None:
        _start_network(problem)  # refused now, also where complete data leave nothing to start
    return problem


def _has_values(table: Table, variable: Variable) -> bool:
    """A column without any value is a hidden variable."""
    return not table.column(variable.name).missing().all()


def _begin(problem: Problem, rng: np.random.Generator) -> State:
    """A random start, or the one that the caller gave; complete data are their own answer."""
    model, units, algorithm = problem.model, problem.data.units, problem.algorithm
    if problem.choices.start is None or units.is_complete:
        counts = random_counts(model.wiring, problem.data, problem.hidden, rng)
        eta = add(model.prior, Tables(counts))
    else:
        eta = _start_eta(problem)
    return see(model, units, algorithm, eta, rng=None if algorithm.ascends else rng)


def _start_eta(problem: Problem) -> Tables:
    """η₀ of known tables; a posterior is made of plain tables by one sweep of EM."""
    start = _start_network(problem)
    if problem.algorithm.keeps_posterior and start.concentration is not None:
        return Tables(start.concentration - 1.0)
    tables = Tables(np.array(start.probabilities))
    if problem.algorithm.q_theta is EM.q_theta:
        return tables
    flat = DiscreteNetwork(problem.model.wiring, Tables(None))
    state = see(flat, problem.data.units, EM, tables)
    if state.free_energy == -np.inf:
        raise ImpossibleError("a row has probability 0 under the tables at the start")
    return Tables(*add(problem.model.prior, state.stats))


def _start_network(problem: Problem) -> Network:
    start = problem.choices.start
    if hasattr(start, "require_network"):
        start = start.require_network()
    if not isinstance(start, Network | Mapping):
        raise JensenError(
            f"start must be a network, a fitted estimator or a dict of tables, not {start!r:.80}"
        )
    if not isinstance(start, Network):
        states = {v.name: v.states for v in problem.variables}
        start = network_from_tables(problem.graph, start, states)
    if start.graph != problem.graph or [v.states for v in start.variables] != [
        v.states for v in problem.variables
    ]:
        raise JensenError("start= must have the graph and the states of the network to learn")
    return start


def _ascend(
    problem: Problem, job: Job, rng: np.random.Generator, file: Checkpoint | None
) -> Learned:
    best, course = climb(job, problem.choices, rng, file)
    return Learned(_network(problem, best.state), course)


def _network(problem: Problem, state: State) -> Network:
    """The network at the end of an ascent, hidden states in a stable order."""
    family = problem.model.families.tables
    eta = state.eta.tables
    if _may_relabel(problem):
        orders = by_falling_count(problem.model.wiring, problem.hidden, state.stats.tables)
        eta = permute(problem.model.wiring, orders, eta)
    if problem.algorithm.keeps_posterior:
        tables, concentration = family.mean(eta), eta + 1.0
    else:
        tables, concentration = family.mode(eta), None
    network = Network(problem.graph, problem.variables, tables, concentration)
    weight = eta if concentration is None else concentration
    warn_of_empty_rows(network, family.totals(weight) <= 0.0)
    return network


def _may_relabel(problem: Problem) -> bool:
    """Labels mean nothing unless the caller gave them a meaning: by a prior, or by a start."""
    choices = problem.choices
    has_meaning = choices.start is not None or isinstance(choices.prior, Mapping)
    return bool(problem.hidden) and not has_meaning


def _sample(
    problem: Problem, job: Job, rng: np.random.Generator, file: Checkpoint | None
) -> Learned:
    wiring = problem.model.wiring

    def read(state: State) -> NDArray[np.float64]:
        tables: NDArray[np.float64] = np.exp(state.t.tables)
        if not _may_relabel(problem):
            return tables
        return permute(wiring, by_falling_count(wiring, problem.hidden, state.stats.tables), tables)

    flat, course = run_chains(job, problem.choices, rng, file, read, int(wiring.fam_at[-1]))
    return _summarise(problem, flat, course)


def _summarise(problem: Problem, flat: NDArray[np.float64], course: Course) -> Learned:
    """The network of a chain: averages for stochastic EM, all samples for Gibbs."""
    mean = problem.model.families.tables.share(flat.mean(0))
    if problem.algorithm.q_theta is EM.q_theta:
        free_energy = see(problem.model, problem.data.units, EM, Tables(mean)).free_energy
        network = Network(problem.graph, problem.variables, mean)
        return Learned(network, course._replace(free_energy=free_energy))
    return Learned(Network(problem.graph, problem.variables, mean, samples=flat), course)


def _fingerprint(problem: Problem, rng: np.random.Generator) -> str:
    """Data and settings of a run: a checkpoint of any other is refused."""
    settings = dict(vars(problem.choices))
    for unneeded in ("progress", "random_state", "start", "hidden"):
        settings.pop(unneeded)
    seed = None if problem.choices.random_state is None else generator_state(rng)
    start = None
    if problem.choices.start is not None:
        network = _start_network(problem)
        start = [network.tables, network.concentration]
    columns = {name: problem.table.column(name).data for name in problem.table.names}
    return fingerprint(
        "tables of a discrete network, 1",
        problem.graph.nodes,
        problem.graph.edges,
        [v.states for v in problem.variables],
        {name: _plain(value) for name, value in settings.items()},
        seed,
        start,
        columns,
        problem.table.weights,
        *([] if problem.was_set is None else [problem.was_set]),
    )


def _plain(value: Any) -> Any:
    """A setting as plain data."""
    if isinstance(value, Mapping):
        return {name: np.asarray(part, np.float64) for name, part in value.items()}
    return float(value) if isinstance(value, int | np.number) else value
