"""The posterior over graphs of rows with holes: q(G), q(θ) and q(h) all drawn."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from tqdm import tqdm

from jensen.data import Table, as_table
from jensen.data.fill_missing import Filled, put_back
from jensen.exceptions import DataError, GraphError, JensenError
from jensen.graphs import DAG
from jensen.inference.fitted import FittedNetwork, RowChoices
from jensen.inference.gaussian_network import GaussianNetwork
from jensen.inference.mixed_network import MixedNetwork
from jensen.inference.network import Network
from jensen.q_graph.chains.augmented_chains import AugmentedTask
from jensen.q_graph.chains.augmented_rows import AugmentedRows, read_rows
from jensen.q_graph.chains.graph_chains import ChainChoices, sample_graphs
from jensen.q_graph.chains.kinds import GRAPH_KINDS
from jensen.q_graph.chains.sampled import collect_samples
from jensen.q_graph.constraints import Constraints
from jensen.q_graph.posterior.answers import AveragedDistribution, AveragedGaussian
from jensen.q_graph.posterior.averages import mixed, read_positions
from jensen.q_graph.posterior.convergence import Moves
from jensen.q_graph.posterior.graph_samples import Array, GraphSamples
from jensen.q_graph.posterior.listed import ListedPosterior
from jensen.q_graph.posterior.predictions import (
    GraphAnswer,
    ask_mixed,
    ask_regressions,
    ask_tables,
)
from jensen.q_graph.posterior.sampled import FinishedChains, SampledPosterior
from jensen.scores.graph_priors import GraphPrior
from jensen.scores.registry import OF_NUMBERS
from jensen.support.arguments import as_generator, check_whole, generator_state
from jensen.support.fields import leaves
from jensen.support.fingerprint import fingerprint
from jensen.support.machine import check_many
from jensen.support.text import for_reader, keyword, option

ORDERS = "prior='order'"

SEED = 0x9057
"""Of the parameters of samples, which are drawn when they are asked for."""

OF_SCORE = ("score", "equivalent_sample_size", "interventions", "hidden", *OF_NUMBERS)
"""The settings by which rows are read."""


class GivenRows(NamedTuple):
    """The data of a posterior: as the caller gave them, as a table, and as chains read them."""

    given: Any
    table: Table
    rows: AugmentedRows


class IncompletePosterior(SampledPosterior):
    """A posterior known by samples of graphs and of what is missing, together.

    Missing is taken as ignorable: that a value is missing tells nothing which the known values do
    not tell. Each sample is a graph G and missing values h, drawn from p(G, h | what was observed).
    Questions are averaged over samples: parameters are drawn given G and h, and in every answer
    what is missing of a row is summed out.

    Parameters
    ----------
    run
        The results of the chains.
    missing : (chains, samples, M) array
        What is missing in each sample, as `AugmentedRows` tells it.
    settings
        The choices of the run, by name: plain data.
    rows
        The rows with holes; None if they are not at hand.
    """

    def __init__(
        self,
        run: FinishedChains,
        missing: Array,
        settings: Mapping[str, Any] | None = None,
        rows: GivenRows | None = None,
    ) -> None:
        source = "pandas" if rows is None else rows.table.source
        super().__init__(run, None, settings, source=source)
        self.missing, self._rows = missing, rows

    @cached_property
    def best(self) -> DAG:
        """The graph that was sampled most often; its score is not known, for values are missing."""
        most = int(np.argmax(self.samples.shares))
        probability = float(self.samples.shares[most])
        return self._judged(self.samples.dag(most), float("nan"), probability, proven=False)

    def top(self, n: int) -> ListedPosterior:
        """Refused: where values are missing no graph has a weight of its own that is known."""
        raise JensenError(
            "where values are missing the weight of a single graph is not known: post.graphs tells "
            "how often each was sampled, and jn.k_best lists graphs by bounds of their weights"
        )

    def query(
        self,
        targets: str | Sequence[str],
        given: Mapping[str, Any] | None = None,
        do: Mapping[str, Any] | None = None,
        *,
        n_graphs: int | None = None,
        progress: bool = False,
    ) -> AveragedDistribution | AveragedGaussian:
        """P(targets | do, given), averaged over graphs and their parameters.

        Parameters
        ----------
        targets, given, do
            As in `StructurePosterior.query`.
        n_graphs
            Use only this many samples, evenly spaced along the chains; by default all.
        progress
            Show how many graphs are done.
        """
        wanted, _, _ = read_positions(self.names, targets, given, do)
        samples, chosen = self._each(n_graphs)
        networks = self._networks(chosen, progress)
        answers = [_ask(network, targets, given, do) for network in networks]
        names = [self.names[v] for v in wanted]
        _, table, rows = self._require_rows()
        named = {variable.name: variable for variable in (*rows.variables, *table.variables)}
        variables = [named[name] for name in names]
        return mixed(samples, answers, np.arange(samples.n_distinct), variables)

    def log_predictive(
        self, table: Any, *, n_graphs: int | None = None, progress: bool = False
    ) -> Array:
        """Log of the mean of p(row | G, θ) over the samples, one number per row.

        Parameters
        ----------
        table
            Anything a `Table` can be built from; values may be missing, they are summed out.
        n_graphs, progress
            As in `query`.
        """
        rows, (_, chosen) = as_table(table), self._each(n_graphs)
        own = RowChoices(hidden=self._hidden)
        logs = [each.log_likelihood(rows, own) for each in self._networks(chosen, progress)]
        return np.asarray(logsumexp(logs, axis=0) - np.log(len(logs)))

    def impute(self, n: int = 10, random_state: Any = None) -> list[Any]:
        """Draw n completed tables from the whole posterior: graph, parameters and missing values.

        Parameters
        ----------
        n
            How many; they come from samples that are evenly spaced along the chains.
        random_state
            An int, a `SeedSequence`, a `Generator` or None.

        Returns
        -------
        Data of the same kind as those of the posterior; what was known stays as it was.
        """
        check_whole("n", n, at_least=1)
        rng, (given, table, _) = as_generator(random_state), self._require_rows()
        check_many(n, 8.0 * table.n_rows * len(self.names), "tables (n)", "draw fewer at a time")
        places = ((np.arange(n) + 0.5) * self.samples.n_samples / n).astype(np.intp)
        found = []
        for network in self._networks(places):
            known = table.select([x for x in network.graph.nodes if x not in self._hidden])
            cells = dict(network.fill(known, "draw", rng, RowChoices(hidden=self._hidden)))
            left = [x for x in self.names if x not in cells and x not in self._hidden]
            cells |= {name: _constant(table, name) for name in left}
            found.append(put_back(given, table, cells))
        return found

    def with_table(self, table: Any, **choices: Any) -> Self:
        """The same posterior with its data, which files do not contain; other data are refused.

        Parameters
        ----------
        table
            The data from which the posterior was computed.
        **choices
            Choices of the score that are no plain data: interventions.
        """
        data, settings = as_table(table), self.settings
        columns = [name for name in self.names if name not in self._hidden]
        absent = [name for name in columns if name not in data]
        if absent or settings.get("rows") != data.select(columns).digest():
            raise DataError("these are not the data of this posterior: the rows are others")
        named = {name: settings[name] for name in OF_SCORE if settings.get(name) is not None}
        named |= choices
        beside = named.get("interventions")
        columns = [*columns, *([beside] if isinstance(beside, str) else ())]
        other = copy.copy(self)
        other._rows = GivenRows(table, data, read_rows(data.select(columns), **named))
        other._source = data.source
        return other

    # --- inside ---

    @property
    def _hidden(self) -> tuple[str, ...]:
        """The variables without a column."""
        return tuple(self.settings.get("hidden") or ())

    def _require_rows(self) -> GivenRows:
        if self._rows is None:
            raise JensenError(
                "averages over graphs need the data, which this posterior does not hold: give "
                "them, post.with_table(table)"
            )
        return self._rows

    def _each(self, n_graphs: int | None) -> tuple[GraphSamples, NDArray[np.intp]]:
        """Some samples, each with a graph of its own, and their places among all."""
        all_samples, length = self.samples, self.samples.which.shape[1]
        places = np.arange(length)
        if n_graphs is not None:
            check_whole("n_graphs", n_graphs, at_least=1)
            each = min(max(1, n_graphs // all_samples.n_chains), length)
            places = ((np.arange(each) + 0.5) * length / each).astype(np.intp)
        which = all_samples.which[:, places]
        samples = GraphSamples.from_distinct(
            all_samples.names,
            all_samples.sets,
            all_samples.graphs[which.ravel()],
            np.arange(which.size, dtype=np.int32).reshape(which.shape),
            all_samples.scores[:, places],
            all_samples.states[:, places],
        )
        chains = np.arange(all_samples.n_chains)[:, None] * length
        return samples, (chains + places).ravel()

    def _networks(
        self, places: NDArray[np.intp], progress: bool = False
    ) -> Iterator[FittedNetwork]:
        """Networks of samples, parameters drawn; of one sample they are always the same."""
        rows, samples = self._require_rows().rows, self.samples
        missing = self.missing.reshape(samples.n_samples, -1)
        for at in tqdm(places.tolist(), desc="graphs", disable=not progress, delay=1.0):
            graph = samples.members[samples.graphs[samples.which.ravel()[at]]]
            yield rows.network(graph.T, missing[at], np.random.default_rng([SEED, at]))


def _constant(table: Table, name: str) -> Filled:
    """A column of one number, which is no part of networks: its gaps hold the number too."""
    column = table.column(name)
    value = column.data[~column.missing()][0]
    return Filled(column, column._replace(data=np.where(column.missing(), value, column.data)))


def _ask(network: FittedNetwork, targets: Any, given: Any, do: Any) -> GraphAnswer:
    """The answer of one network, whatever its columns hold."""
    if isinstance(network, Network):
        return ask_tables(network, targets, given, do)
    if isinstance(network, MixedNetwork):
        return ask_mixed(network, targets, given, do)
    assert isinstance(network, GaussianNetwork)
    return ask_regressions(network, targets, given, do)


def read_holes(
    table: Any,
    data: Table,
    method: str,
    chosen_by: str,
    of_score: Mapping[str, Any],
    choices: ChainChoices,
) -> GivenRows:
    """Rows with holes; refused with methods and choices that need complete ones."""
    if method not in ("partition", "structure"):
        raise JensenError(
            f"{chosen_by} needs complete rows, and values are missing or hidden: "
            f"use {option('method', 'partition')}, whose chains draw what is missing too"
        )
    if of_score["prior_network"] is not None:
        raise JensenError(f"{keyword('prior_network')} needs complete rows, and values are missing")
    if choices.temperatures not in (None, 1):
        raise JensenError(
            f"{keyword('temperatures')} needs complete rows, for copies of a chain would have "
            f"missing values of their own: leave it out"
        )
    left_out = ("missing", "prior_network")
    chosen = {name: value for name, value in of_score.items() if name not in left_out}
    return GivenRows(table, data, read_rows(data, **chosen))


def _tried(moves: Moves) -> dict[str, Any]:
    """The moves that were made at all."""
    return {name: pair for name, pair in moves.items() if np.any(pair[1])}


def sample_holes(
    rows: GivenRows,
    prior: GraphPrior,
    constraints: Constraints,
    choices: ChainChoices,
    settings: dict[str, Any],
    random_state: Any,
    progress: bool,
) -> IncompletePosterior:
    """Sample graphs and missing values by chains."""
    rng = as_generator(random_state)
    method, checkpoint = settings["method"], choices.checkpoint
    if prior.counts_orders:
        raise GraphError(
            f"{for_reader(ORDERS, '--graph-prior order')} needs complete rows, and values "
            f"are missing: use another prior"
        )
    kind = GRAPH_KINDS[method]
    plan = choices.plan(method, kind.cycle_length)
    listed = choices.listed(rows.rows.names)
    seed = np.random.default_rng(0)  # candidates are the same for all seeds
    task = AugmentedTask(kind, rows.rows, prior, constraints, plan, listed, choices.outside, seed)
    file = None
    if checkpoint is not None:
        state = None if random_state is None else generator_state(rng)
        known = rows.table.digest(), sorted(settings.items(), key=str), tuple(task.raw.candidates)
        file = (
            checkpoint,
            fingerprint(rows.rows.names, *leaves(tuple(task.raw)), known, plan, state),
        )
    chains = sample_graphs(task, rng, progress=progress, checkpoint=file)
    found = collect_samples(
        task, chains, rows.rows.scorer(chains.rest[0][0]), constraints, is_weighted=False
    )
    found = found._replace(moves=_tried(found.moves) | task.moves(chains.ends))
    settings |= plan.settings(kind.cycle_length)
    post = IncompletePosterior(found, np.array(chains.rest), settings, rows)
    post.warn()
    return post
