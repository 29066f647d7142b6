"""Streams without an end: rows come in tables, one after the other, and none is seen again.

What is kept of earlier rows is q(θ), the Dirichlet concentrations of all tables, so that the
posterior of one table is the prior of the next. Of complete rows this is exact, however they are
cut into tables. What rows miss was filled in by the parameters of their time, and is not filled in
again: streaming variational Bayes (Broderick et al. 2013). Where it is known how many rows there
are, each table may stand for all of them, and q(θ) moves a step towards what they would give:
stochastic variational Bayes (Hoffman et al. 2013), which forgets where it began.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table, TableScan
from jensen.data.model_columns import read_known, refuse_unknown
from jensen.data.table import as_rows
from jensen.estimators.learning import FitReport, Problem, Start, learn
from jensen.estimators.network_kinds import fit_network, network_problem
from jensen.exceptions import JensenError
from jensen.families import inner, log_partition
from jensen.free_energy import expect, state_at
from jensen.inference import Network
from jensen.models.discrete_network import DiscreteNetwork, Tables
from jensen.q_hidden import exact
from jensen.support.arguments import as_generator, is_real
from jensen.support.fields import add
from jensen.support.machine import one_blas_thread
from jensen.support.text import one_of, option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jensen.data import Variable
    from jensen.data.blocks import RowSource, Units
    from jensen.estimators.bayesian_network import BayesianNetwork

Array = NDArray[np.float64]

EXACT = "exact: the parameters are those of all rows together, however they were cut"
STREAMING_VB = (
    "streaming variational Bayes: what earlier rows miss is not filled in again, so no bound is "
    "known of all rows"
)
STREAMING_EM = (
    "streaming EM: expected counts of earlier rows are not computed again, so the likelihood of "
    "all rows is not known"
)
STOCHASTIC_VB = (
    "stochastic variational Bayes: a step of {step:.3g} towards what {n_total:,.0f} rows like "
    "these would give"
)

FORGETTING = 0.7
"""Steps fall as (1 + updates)^-0.7, which is slow enough to forget the start, and converges."""


EXACT_TO = float(1 << 53)
"""More rows than can be counted."""


class Seen(NamedTuple):
    """What is known of the rows so far."""

    eta: Array  # (P,): natural parameters of q(θ); of EM the prior's, plus counts
    is_complete: bool  # whether no value was ever missing


class Updating:
    """A network that learns from more rows."""

    def update(
        self, table: Any, *, n_total: float | None = None, step: float | None = None
    ) -> Self:
        """Learn from more rows: what is known of all rows so far is the prior of these.

        For networks of labels. Nothing is kept of the rows themselves, so they may go on for ever.
        `update_` says in words which of these it was:

        - Where no row misses anything it is exact: parameters and `free_energy_` are those of all
          rows together, however they were cut into tables (without a prior counts are added).
        - Else streaming variational Bayes (without a prior streaming EM): what a row misses is
          filled in when it comes, and not again. `free_energy_` is NaN, for no bound of all rows
          is known.
        - With `n_total` stochastic variational Bayes: each table stands for all rows, and q(θ)
          moves a step towards what they would give. Parameters of the start are forgotten.

        Parameters
        ----------
        table
            As in `fit`, with states that the network knows: a scan of more rows than memory, too.
            Of a network that was never fitted the first table is fitted.
        n_total
            How many rows there are in all, of which each table is a sample.
        step
            Between 0 and 1; None: (1 + updates before)^-0.7.

        References
        ----------
        Broderick, Boyd, Wibisono, Wilson and Jordan (2013), *Streaming variational Bayes*.
        Hoffman, Blei, Wang and Paisley (2013), *Stochastic variational inference*, figure 4.

        Examples
        --------
        >>> import jensen as jn
        >>> rows = jn.examples.load("sprinkler").sample(300, random_state=0)
        >>> net = jn.BayesianNetwork("cloudy -> rain -> wet_grass", prior="bdeu")
        >>> for start in range(0, 300, 100):
        ...     net = net.update(rows.rows(start, start + 100))
        >>> at_once = jn.BayesianNetwork(net.graph, prior="bdeu").fit(rows)
        >>> net.equals(at_once, 1e-12), round(net.free_energy_ - at_once.free_energy_, 9)
        (True, 0.0)
        >>> net.update_
        'exact: the parameters are those of all rows together, however they were cut'
        """
        _update(self, table, n_total, step)  # type: ignore[arg-type]
        return self


def _update(net: BayesianNetwork, table: Any, n_total: float | None, step: float | None) -> None:
    """Set on a network what it knows after more rows."""
    _check(net, n_total, step)
    is_begun = hasattr(net, "network_")
    if not is_begun and n_total is None:
        fit_network(net, table)
        seen = _seen_in_fit(net)
        net.update_ = _name(net, is_complete=seen is not None and seen.is_complete)
        return
    rows: RowSource = as_rows(table)
    if is_begun:
        rows = _as_known(rows, net)
    problem = network_problem(net, rows)
    model = problem.model
    assert isinstance(model, DiscreteNetwork)
    if n_total is None:
        seen = _seen(net, model)
        model = replace(model, prior=Tables(seen.eta), may_relabel=False)
        start = Start(Tables(seen.eta), is_ready=True)
        network, report = learn(problem._replace(model=model, start=start))
        _set(net, problem, network, report, seen)
        return
    _step(net, problem, n_total, step)


def _check(net: BayesianNetwork, n_total: Any, step: Any) -> None:
    algorithm = net.method or ("em" if net.prior is None else "vbem")
    if algorithm not in ("em", "vbem", "variational-em", "mean-field"):
        raise JensenError(
            f"{option('method', algorithm)} keeps no sums to which more rows could be added: "
            f"update needs {one_of('method', ['em', 'vbem'])}"
        )
    if list(net.fixed):
        raise JensenError(
            "update does not know tables that are held (fixed=): fit all rows at once"
        )
    known = getattr(net, "network_", None)
    if known is not None and not isinstance(known, Network):
        raise JensenError(
            "update knows networks of labels, and this one has numbers: fit all rows at once (a "
            "scan of them may be larger than memory: jn.scan_table)"
        )
    if n_total is None:
        if step is not None:
            raise JensenError("step belongs to stochastic updates: say n_total, too")
        return
    if algorithm not in ("vbem", "mean-field"):
        raise JensenError(
            f"stochastic updates (n_total) move a posterior, and {option('method', algorithm)} has "
            f"none: use {option('method', 'vbem')} with a prior"
        )
    for name, value, most in (("n_total", n_total, EXACT_TO), ("step", step, 1.0)):
        if value is not None and not (is_real(value) and 0.0 < value <= most):
            raise JensenError(
                f"{name} must be a number above 0 and at most {most:g}, not {value!r:.40}"
            )


def _as_known(rows: RowSource, net: BayesianNetwork) -> RowSource:
    """The columns of the network, with the states that it has."""
    wanted: Sequence[Variable] = [v for v in net.variables if v.name in rows]
    known = partial(_read, wanted)
    if isinstance(rows, TableScan):
        if all(rows.variable(v.name) == v for v in wanted):
            return rows
        scan = rows
        return TableScan(
            tuple(wanted), lambda: map(known, scan.read()), rows.is_weighted, rows.source
        )
    assert isinstance(rows, Table)
    return known(rows)


def _read(wanted: Sequence[Variable], rows: Table) -> Table:
    found, strange = read_known(rows.select([v.name for v in wanted]), wanted)
    refuse_unknown(strange, "raise")
    return found


def _seen(net: BayesianNetwork, model: DiscreteNetwork) -> Seen:
    """What the network knows of the rows so far."""
    found: Seen | None = net._seen or _seen_in_fit(net)
    if found is not None:
        return found
    network = net.require_network()
    if network.concentration is None:
        raise JensenError(
            "this network knows its tables, but not of how many rows they are: files hold counts "
            "only as a posterior, so learn it with a prior (method='vbem') to go on after jn.load"
        )
    return Seen(network.concentration - 1.0, is_complete=False)


def _seen_in_fit(net: BayesianNetwork) -> Seen | None:
    """What `fit` saw, where it is known."""
    network, held = net.require_any(), net._rows_of_fit
    if not isinstance(network, Network):
        return None
    if held is not None:  # after EM
        model, units = held
        return Seen(_with_counts(model, units, network), units.is_complete)
    if network.concentration is None:
        return None
    return Seen(network.concentration - 1.0, net._saw_all)


def _with_counts(model: Any, units: Units, network: Network) -> Array:
    """The prior, and what is expected of the rows by these tables."""
    with one_blas_thread(), np.errstate(divide="ignore"):
        sums, _ = expect(model, units, exact, Tables(np.log(network.probabilities)))
    found: Array = add(model.prior, sums.stats)[0]
    return found


def _set(
    net: BayesianNetwork, problem: Problem, network: Network, report: FitReport, before: Seen
) -> None:
    """What is known after rows that were learned with the posterior of the others as prior."""
    model, units = problem.model, problem.data.units
    is_complete = before.is_complete and units.is_complete
    assert isinstance(model, DiscreteNetwork)
    eta = _with_counts(replace(model, prior=Tables(before.eta)), units, network)
    if network.concentration is not None:
        eta = network.concentration - 1.0
    net.network_ = network
    report.set_on(net, problem.choices)
    _count(net, Seen(eta, is_complete), net.n_updates_ + 1)
    net.update_ = _name(net, is_complete=is_complete)
    net.free_energy_, net.is_bound_ = np.nan, False
    if is_complete:
        family, own = model.families.tables, model.prior.tables
        net.is_bound_ = network.concentration is not None
        with np.errstate(divide="ignore"):
            at = inner(eta, np.log(network.probabilities))
        reached = log_partition(family, eta) if net.is_bound_ else at
        net.free_energy_ = reached - log_partition(family, own)
    net.trace_ = net.starts_ = np.array([net.free_energy_])


def _count(net: BayesianNetwork, seen: Seen, n_updates: int) -> None:
    """Keep what was seen, and none of the rows."""
    net.hold_rows(None)
    net._seen, net.n_updates_ = seen, n_updates


def _name(net: BayesianNetwork, *, is_complete: bool) -> str:
    """What an update was, in words."""
    if is_complete:
        return EXACT
    has_posterior = net.require_network().concentration is not None
    return STREAMING_VB if has_posterior else STREAMING_EM


def _step(net: BayesianNetwork, problem: Problem, n_total: float, step: float | None) -> None:
    """Stochastic VB: from q(θ) a step towards that of n_total rows like these."""
    model, choices = problem.model, problem.choices
    assert isinstance(model, DiscreteNetwork)
    assert model.prior.tables is not None
    if hasattr(net, "network_"):
        n_before, eta = net.n_updates_, _seen(net, model).eta
    else:
        n_before = 0
        eta = model.start(problem.data, 0, as_generator(choices.random_state)).tables
    weight = problem.data.units.total_weight
    if n_total < weight:
        raise JensenError(
            f"{option('n_total', n_total)} is less than the rows of this table, {weight:g}: it "
            f"says how many rows there are in all"
        )
    rho = (1.0 + n_before) ** -FORGETTING if step is None else float(step)
    with one_blas_thread():
        state = state_at(model, problem.data.units, choices.algorithm, Tables(eta))
        share = n_total / weight
        target = model.prior.tables + share * state.stats.tables
        eta = (1.0 - rho) * eta + rho * target
        after = state._replace(theta=state.theta._replace(eta=Tables(eta)))
        network = replace(model, may_relabel=False).finish(after, is_posterior=True)
    net.graph_, net.network_ = model.graph, network
    trace = np.array([state.free_energy])
    report = FitReport(np.nan, trace, converged=False, starts=trace, n_sweeps=1)
    report.set_on(net, choices)
    net.is_bound_ = False
    _count(net, Seen(eta, is_complete=False), n_before + 1)
    net.update_ = STOCHASTIC_VB.format(step=rho, n_total=n_total)
