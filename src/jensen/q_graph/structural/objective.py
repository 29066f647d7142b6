"""What structural EM climbs, and what it asks of incomplete rows of any kind."""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from jensen import free_energy, q_hidden
from jensen.data.blocks import Units
from jensen.families import inner, log_evidence
from jensen.free_energy import EM, VBEM, Algorithm, AnyFit, AnyState, Fit, State, Theta, Watch
from jensen.q_graph.method_choices import Completion
from jensen.scores.graph_priors import GraphPrior
from jensen.scores.registry import SPECS
from jensen.scores.scorer import Scorer
from jensen.support.fields import add, zip_fields

Flags = NDArray[np.bool_]


class Objective(NamedTuple):
    """J = F - penalty · parameters + log p(G).

    With a penalised likelihood F is the log-likelihood at a point θ. With a prior of θ it is the
    bound of VB, and there is no penalty: J bounds log p(x, G) from below. So does it with `at_map`,
    but sweeps and steps need not raise it then.
    """

    score: str
    amount: float  # the penalty of one parameter, or the equivalent sample size
    prior: GraphPrior | None = None
    at_map: bool = False  # whether q(h) is that of one network, not of all θ by their weight

    @property
    def is_likelihood(self) -> bool:
        """Whether θ is a point, and parameters cost a penalty."""
        return SPECS[self.score].penalty is not None

    @property
    def algorithm(self) -> Algorithm:
        """The loop that fits the parameters of a graph."""
        return EM if self.is_likelihood else VBEM

    def fit(
        self,
        model: Any,
        units: Units,
        eta: Any,
        *,
        max_iter: int,
        tol: float,
        watch: Watch = lambda state, trace: False,
    ) -> AnyFit:
        """Fit the parameters of a graph, without what the graph itself adds to J."""
        if self.at_map:
            return _fit_at_point(model, units, eta, max_iter, tol)
        state = free_energy.state_at(model, units, self.algorithm, eta)
        return free_energy.fit(
            model, units, self.algorithm, state, max_iter=max_iter, tol=tol, watch=watch
        )

    def for_weight(self, weight: float) -> "Objective":
        """The same for rows of another weight, on which a penalty depends."""
        penalty = SPECS[self.score].penalty
        return self if penalty is None else self._replace(amount=penalty(weight))

    def of_graph(self, joined: Flags, n_parameters: float) -> float:
        """What a graph adds to F: its penalty and its log prior."""
        total = -self.amount * n_parameters if self.is_likelihood else 0.0
        if self.prior is not None:
            families = enumerate(np.flatnonzero(column).tolist() for column in joined.T)
            total += sum(self.prior.of_family(v, parents) for v, parents in families)
        return total


def _fit_at_point(model: Any, units: Units, eta: Any, max_iter: int, tol: float) -> AnyFit:
    """Sweeps with q(h) = p(h | x, θ) at the mean of θ, which is a mode in other coordinates.

    These are log π of tables, and √λ β and log λ of regressions. The value is log p(expected
    statistics) + H[q(h)], as Friedman's Bayesian structural EM scores a graph: that of Cheeseman
    and Stutz. It bounds the log evidence, but need not rise.
    """
    trace = [-np.inf]
    while True:
        t = model.point(eta)
        sums, memory = free_energy.expect(model, units, q_hidden.exact, t)
        parts = zip(model.families, model.prior, sums.stats, strict=True)
        value = sum(log_evidence(*part) for part in parts) + sums.value - inner(sums.stats, t)
        trace.append(value)
        n_sweeps = len(trace) - 2
        is_still = abs(trace[-1] - trace[-2]) < tol * (abs(value) + units.total_weight)
        if is_still or n_sweeps == max_iter:
            theta = Theta(eta, t, zip_fields(lambda _: None, model.families))
            state = State(theta, sums.stats, memory, value, True, n_sweeps)
            return Fit(state, np.array(trace[1:]), converged=is_still)
        eta = type(eta)(*add(model.prior, sums.stats))


class FittedGraph(NamedTuple):
    """A graph, q(θ) and q(h) at it, and J."""

    joined: Flags
    model: Any
    data: Any  # the rows as `complete` reads them
    state: AnyState
    trace: list[float]  # J at the start of the fit, and after each sweep

    @property
    def value(self) -> float:
        """J at the end of the fit."""
        return self.trace[-1]


class ClimbResult(NamedTuple):
    """Where a climb ended."""

    best: FittedGraph
    trace: list[float]  # J at every sweep of the objective
    n_steps: int  # changes of the graph
    n_refused: int  # graphs that were proposed and not taken
    n_scored: int  # families that the searches scored
    is_exact: bool  # whether no search saw draws


class Completed(Protocol):
    """q(h) of all rows, from which any family can be scored."""

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""

    @property
    def is_exact(self) -> bool:
        """Whether nothing was drawn."""

    @property
    def lost(self) -> float:
        """The largest probability of completions that are left out; 0 if none are."""


class StructuralRows(Protocol):
    """Incomplete rows of one kind, and how networks are fitted to them."""

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, sorted; hidden ones have no column."""

    @property
    def hidden(self) -> tuple[int, ...]:
        """The variables without a column."""

    @property
    def n_rows(self) -> int:
        """How many rows there are."""

    @property
    def total_weight(self) -> float:
        """Their weight."""

    def sample(self, n: int, rng: np.random.Generator) -> "StructuralRows":
        """Some of the rows."""

    @property
    def isolated(self) -> frozenset[int]:
        """Constant columns of numbers, which have no edges."""

    @property
    def log_jacobian(self) -> float:
        """What the units of the columns add to J, which is left out of it everywhere here."""

    @property
    def may_draw(self) -> bool:
        """Whether one of the starts is a graph that draws lead to."""

    @property
    def first(self) -> Objective:
        """What is climbed before a penalised likelihood, without a prior of graphs."""

    def fit(
        self, objective: Objective, joined: Flags, start: Any, *, max_iter: int, tol: float
    ) -> FittedGraph:
        """Fit the parameters of a graph, from statistics, or from random ones by a generator."""

    def restore(
        self, objective: Objective, joined: Flags, state: AnyState, trace: list[float]
    ) -> FittedGraph:
        """A fit of which a file held the state and J by sweep."""

    def smoothed(self, fitted: FittedGraph) -> Any:
        """The statistics of a graph, without zeros, at which EM would stay."""

    def complete(
        self, fitted: FittedGraph, completion: Completion, rng: np.random.Generator
    ) -> Completed:
        """q(h) at the parameters of a graph."""

    def statistics(self, completed: Any, joined: Flags) -> Any:
        """The expected statistics of another graph, for `fit`."""

    def scorer(self, objective: Objective, completed: Any) -> Scorer:
        """Scores of families by expected statistics, with the prior of graphs."""

    def average_scorer(self, penalty: float) -> Scorer:
        """Node-average scores: a family reads the rows in which it is known."""
