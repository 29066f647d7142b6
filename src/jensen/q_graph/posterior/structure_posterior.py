"""The posterior distribution over graphs: `structure_posterior`, by exact sums or by chains."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from tqdm import tqdm

from jensen.data import Table, as_table
from jensen.exceptions import GraphError, JensenError
from jensen.q_graph.chains.graph_chains import ChainChoices, GraphChainTask, sample_graphs
from jensen.q_graph.chains.kinds import KINDS
from jensen.q_graph.chains.raw_weights import raw_weights
from jensen.q_graph.chains.sampled import check_weighable, collect_samples
from jensen.q_graph.constraints import (
    Constraints,
    add_certain_edges,
    as_lists,
    follow_order,
    order_of_tiers,
    read_constraints,
    read_order,
    restrict,
)
from jensen.q_graph.learned_columns import learned_columns
from jensen.q_graph.posterior import ExactPosterior, SampledPosterior, StructurePosterior
from jensen.q_graph.posterior.exact import ExactSums
from jensen.q_graph.posterior.incomplete import read_holes, sample_holes
from jensen.q_graph.posterior.model_averages import ScoredTable
from jensen.q_graph.sums.exact_posterior import exact_posterior
from jensen.q_graph.sums.known_order import known_order_posterior
from jensen.scores.graph_priors import ReadPrior, read_prior
from jensen.scores.scorer import Scorer, name_of
from jensen.scores.table_checks import note_columns
from jensen.support.arguments import as_generator, generator_state
from jensen.support.atomic import check_writable
from jensen.support.fields import leaves
from jensen.support.fingerprint import fingerprint
from jensen.support.text import called_here, for_reader, keyword, option, some

Method = Literal["partition", "order", "structure", "exact"]
MissingRows = Literal["data-augmentation", "available-case", "refuse"]

BAR = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}"


def structure_posterior(
    table: Any,
    method: Method | None = None,
    score: str | None = None,
    *,
    prior: Any = None,
    equivalent_sample_size: float | None = None,
    max_parents: int | None = None,
    candidates: int | Mapping[str, Sequence[str]] | None = None,
    outside: int | None = None,
    required: Any = (),
    forbidden: Any = (),
    tiers: Iterable[Iterable[str]] = (),
    known_order: Sequence[str] | None = None,
    n_samples: int | None = None,
    n_chains: int | None = None,
    burn_in: int | None = None,
    thin: int | None = None,
    temperatures: int | None = None,
    interventions: Any = None,
    hidden: Mapping[str, Any] | None = None,
    missing: MissingRows = "data-augmentation",
    prior_network: Any = None,
    random_state: Any = None,
    progress: bool = False,
    checkpoint: str | Path | None = None,
    **gaussian: Any,
) -> StructurePosterior:
    """How probable every edge, path or other feature of the graph is, given the data.

    P(f | D) = Σ_G f(G) P(G | D): instead of one best graph, all graphs count, each by its
    posterior probability.

    Parameters
    ----------
    table
        Anything a `Table` can be built from; the order of the columns changes nothing. Values may
        be missing, see `missing`. In graphs of
        labels and numbers labels have no numbers among their parents: arrows from labels to numbers
        are a convention, so read `post.undirected_probability` there.
    method
        "partition": chains over the layers of graphs (Kuipers and Moffa), with the new edge
        reversal; the default, for any number of variables. "structure": chains over graphs, edge
        by edge and by the same reversal: the same posterior by an independent way. "order": chains
        over orders (Friedman and Koller); see `prior`. "exact": no sampling; up to about 16
        variables (20 with prior="order"), and the only one with `known_order`.
    score
        As in `jensen.score`; by default "bdeu" for categorical and "bge" for continuous columns,
        "bdeu-bge" for both together. The units of continuous columns change nothing. Edges at a
        constant column have probability 0, and a warning names the column: the data say nothing
        about these edges.
    prior
        "uniform", the default except for method="order": all graphs are equally probable. "fair":
        for each variable all numbers of parents are equally probable. {("A", "B"): p, ...}: the
        edge A -> B has the odds p / (1 - p), edges that are not listed have even odds; 0 forbids an
        edge, 1 requires it. "order", or ("order", one of these):
        each graph counts once for every order of the variables that it allows. That favours graphs
        with few and parallel edges; it is what chains over orders sample, and their default. With
        another prior method="order" corrects it: every sampled graph is weighted by 1 / the number
        of its orders, which is refused beyond 30 variables; `post.convergence` tells the effective
        sample size that is left.
    equivalent_sample_size, prior_network, **gaussian
        As in `jensen.score`.
    missing
        What to do where values are missing. "data-augmentation", the default: chains draw graphs,
        parameters and missing values together, and every answer is averaged over all three. It is
        for the methods "partition" and "structure", and scores with a prior ("bdeu", "k2", "bge",
        "bdeu-bge"). Missing is taken as ignorable (missing at random): that a value is
        missing tells nothing which the known values do not tell. "refuse", "available-case": as in
        `jensen.score`.
    hidden
        Variables of labels that have no column, as {"H": 2} or {"H": ["a", "b"]}: chains draw them
        as they do missing values, and may connect them with all others. The states are numbered by
        how many rows have them, most first. From many rows a chain takes long to find what a hidden
        variable is for, so every second one begins where it explains all others; if the chains
        disagree, which is told, use `learn_structure(hidden=...)`.
    max_parents
        The most parents that a variable may have.
    candidates
        The number of candidate parents of each variable, all of whose subsets are weighed; or the
        candidates themselves, as {"A": ["B", "C"], ...}. By default all other variables if there
        are at most 14 variables, else 12 that are chosen by score.
    outside
        Parent sets of up to this many members (0, 1 or 2) are possible even if they are not within
        the candidates; 2 by default, 1 beyond 150 variables. `post.outside_share` tells the share
        of each variable's posterior on such sets; with outside=0 it is unknown, that is, nan.
    required, forbidden, tiers, interventions
        As in `jensen.learn_structure`.
    known_order
        All variables from first to last, if it is known that no edge leads backward. The posterior
        is then a closed form for any number of variables, beyond some twenty with `max_parents`:
        `post.log_evidence` is log p(data | order), probabilities of edges and of sets of parents
        are exact, those of paths up to 20 variables; other features come from 10,000 graphs that
        are drawn independently. Tiers of one variable each are the same with method="exact".
    n_samples, n_chains
        The number of graphs from each chain (1000 by default), and the number of chains (4). Chains
        start from random orders and run on all threads; chain k is the same for any `n_chains`.
    burn_in, thin
        Proposals before the first sample (by default half as many as follow), and between two
        samples (400; 10,100 for "structure"). Both are rounded up to whole cycles of moves: 40
        proposals for "partition", 101 for "structure". While burning in, chains cool down.
    temperatures
        Parallel tempering: the number of copies of each chain, from cold to hot, that exchange
        their states; 1 by default, that is, no tempering.
    random_state
        An int, a `SeedSequence`, a `Generator` or None.
    progress
        Show a progress bar. Ctrl-C ends the run with the samples so far; `post.interrupted` is
        then True.
    checkpoint
        A file to resume from after a stop, to the identical samples, which stand in a second file
        beside it (.samples). It is written about every two seconds.

    Returns
    -------
    StructurePosterior
        Probabilities with their Monte-Carlo errors, model averages, and how well chains agree;
        `post.best` is the most probable graph that was met, of "exact" the most probable of all.

    References
    ----------
    Friedman and Koller (2003), Machine Learning 50. Koivisto and Sood (2004), JMLR 5. Grzegorczyk
    and Husmeier (2008), Machine Learning 71. Kuipers and Moffa (2017), JASA 112. Viinikka,
    Hyttinen, Pensar and Koivisto (2020), NeurIPS.

    Examples
    --------
    >>> import jensen as jn
    >>> table = jn.examples.load("cancer").sample(2000, random_state=0)
    >>> post = jn.structure_posterior(table, "exact")
    >>> round(post.edge_probability("Cancer", "Xray"), 3)
    0.644
    >>> post.best.info.proven
    True
    >>> sampled = jn.structure_posterior(table, n_samples=500, random_state=0)
    >>> abs(sampled.edge_probability("Cancer", "Xray") - 0.644) < 0.05
    True
    """
    rules = {"required": required, "forbidden": forbidden, "tiers": tiers}
    beside = {"interventions": interventions, "prior_network": prior_network, "prior": prior}
    order = {"known_order": known_order, "candidates": candidates}
    data, known = learned_columns(as_table(table), {**rules, **beside, **order})
    rules = {name: known[name] for name in rules}
    of_score = {
        "score": score,
        "equivalent_sample_size": equivalent_sample_size,
        "missing": "refuse" if missing == "data-augmentation" else missing,
        "prior_network": prior_network,
        "interventions": interventions,
        **gaussian,
    }
    way = _read_method(method, known_order)
    choices = ChainChoices(
        candidates, outside, n_samples, n_chains, burn_in, thin, temperatures, checkpoint
    )
    rows = None
    if hidden and missing != "data-augmentation":
        raise JensenError(
            f"{keyword('hidden')} are drawn: leave out {option('missing', missing)}, which has no "
            f"place for them"
        )
    if hidden or (
        missing == "data-augmentation" and data.n_missing(_variables(data, interventions))
    ):
        by = keyword("known_order") if known_order is not None else option("method", way)
        rows = read_holes(table, data, way, by, {**of_score, "hidden": hidden}, choices)
        scorer, kept = rows.rows.scorer(rows.rows.begin(np.random.default_rng(0))), None
    else:
        kept = ScoredTable(data, of_score)
        scorer = kept.scorer()
    given = _read_graphs(scorer, way, prior, max_parents, known_order, rules)
    settings = {"method": way, "prior": _plain_prior(given.chosen), "max_parents": max_parents}
    if given.order is not None:
        settings["known_order"] = [scorer.names[v] for v in given.order]
    settings |= {name: value for name, value in of_score.items() if _is_plain(value)}
    noted = [name for name in scorer.names if name in data]
    settings |= {"score": name_of(scorer), **_notes(data, noted)}
    if way == "exact":
        choices.refuse_all(known_order is not None)
        with _share_bar("sums", progress) as show:
            exact = given.sum(scorer, show)
        draws = as_generator(0 if random_state is None else random_state)
        return ExactPosterior(
            exact, scorer, settings, random_state=draws, source=data.source, data=kept
        )
    if rows is not None:
        _check_path(checkpoint)
        columns = [name for name in scorer.names if name in data]
        settings |= {"missing": missing, "rows": data.select(columns).digest()}
        settings |= {"hidden": dict(hidden)} if hidden else {}
        prior, allowed = given.read.prior, given.constraints
        return sample_holes(rows, prior, allowed, choices, settings, random_state, progress)
    assert kept is not None
    return _sample(kept, scorer, given, choices, settings, random_state, progress)


def _variables(data: Table, interventions: Any) -> list[str]:
    """The columns that are variables."""
    of = interventions if isinstance(interventions, str) else None
    return [name for name in data.names if name != of]


class _GraphChoices(NamedTuple):
    """Which graphs there are, and how probable each is before any data are seen."""

    chosen: Any  # the prior, as the caller wrote it
    read: ReadPrior
    constraints: Constraints
    order: tuple[int, ...] | None  # the known one

    def sum(self, scorer: Scorer, progress: Callable[[float], object]) -> ExactSums:
        """Sum over all of them."""
        prior, allowed = self.read.prior, self.constraints
        if self.order is None:
            return exact_posterior(scorer, prior, allowed, progress=progress)
        return known_order_posterior(scorer, prior, allowed, self.order, progress=progress)


def _read_graphs(
    scorer: Scorer,
    method: str,
    prior: Any,
    max_parents: int | None,
    known_order: Any,
    rules: Mapping[str, Any],
) -> _GraphChoices:
    """Read the prior, the constraints and the known order."""
    names = scorer.names
    if prior is None:
        prior = "order" if method == "order" else "uniform"
    read, rules = read_prior(prior, names), as_lists(rules)
    given = read_constraints(names, max_parents, **rules)
    if known_order is None and method == "exact" and not read.prior.counts_orders:
        known_order = order_of_tiers(names, rules["tiers"] or [])
    elif known_order is not None and rules["tiers"]:
        raise GraphError(
            f"{keyword('known_order')} is {keyword('tiers', 'tier')} of one variable each: give "
            f"one of the two"
        )
    constraints = restrict(add_certain_edges(names, given, read), scorer)
    if known_order is None:
        return _GraphChoices(prior, read, constraints, None)
    if read.prior.counts_orders:
        raise GraphError(
            f"{for_reader(f'prior={prior!r}', '--graph-prior order')} counts orders, and with "
            f"{keyword('known_order')} there is one: use another prior"
        )
    order = read_order(names, known_order)
    return _GraphChoices(prior, read, follow_order(constraints, names, order), order)


def _sample(
    kept: ScoredTable,
    scorer: Scorer,
    given: _GraphChoices,
    choices: ChainChoices,
    settings: dict[str, Any],
    random_state: Any,
    progress: bool,
) -> SampledPosterior:
    """Sample graphs by chains."""
    rng = as_generator(random_state)
    method, checkpoint = settings["method"], choices.checkpoint
    kind, read, constraints = KINDS[method], given.read, given.constraints
    plan = choices.plan(method, kind.cycle_length)
    _check_path(checkpoint)
    is_weighted = method == "order" and not read.prior.counts_orders
    if is_weighted:
        check_weighable(len(scorer.names))
    if read.prior.counts_orders and method != "order":
        raise GraphError(
            f"{for_reader(f'prior={given.chosen!r}', '--graph-prior order')} is for "
            f"{option('method', 'order')} and 'exact', not for {method!r}"
        )
    with _share_bar("scores", progress) as show:
        listed = choices.listed(scorer.names)
        raw = raw_weights(scorer, read.prior, constraints, listed, choices.outside, show)
    file = None
    if checkpoint is not None:
        seed = None if random_state is None else generator_state(rng)
        file = checkpoint, fingerprint(scorer.names, *leaves(tuple(raw)), method, plan, seed)
    task = GraphChainTask(kind, raw, plan, constraints.required)
    chains = sample_graphs(task, rng, progress=progress, checkpoint=file)
    found = collect_samples(task, chains, scorer, constraints, is_weighted)
    settings |= plan.settings(kind.cycle_length)
    post = SampledPosterior(found, scorer, settings, source=kept.table.source, data=kept)
    post.warn()
    return post


def _read_method(method: object, known_order: object) -> str:
    """The method, by default that for all orders or for the known one; unknown ones are refused."""
    known = (*KINDS, "exact")
    if method is None:
        return "partition" if known_order is None else "exact"
    if not isinstance(method, str) or method not in known:
        raise JensenError(
            f"there is no method {method!r}: choose {some(known)}{called_here(method, known)}"
        )
    if known_order is not None and method != "exact":
        raise JensenError(
            f"with {keyword('known_order')} the posterior is a closed form, so there is nothing to "
            f"sample: leave out {option('method', method)}"
        )
    return method


def _notes(table: Table, names: Sequence[str]) -> dict[str, list[str]]:
    """What the kinds of the columns mean for a graph, as a setting; {} if there is nothing."""
    notes = note_columns([table.variable(name) for name in names])
    return {"notes": list(notes)} if notes else {}


def _check_path(checkpoint: Any) -> None:
    """Refuse a checkpoint that could not be written, before any work begins."""
    if checkpoint is None:
        return
    if not isinstance(checkpoint, str | Path):
        raise JensenError(f"{keyword('checkpoint')} is the path of a file, not {checkpoint!r}")
    check_writable(checkpoint)


def _plain_prior(prior: Any) -> Any:
    """A prior as plain data: edges of a dictionary as a list [from, to, probability]."""
    if isinstance(prior, Mapping):
        return [[a, b, float(p)] for (a, b), p in prior.items()]
    return [_plain_prior(part) for part in prior] if isinstance(prior, (tuple, list)) else prior


def _is_plain(value: Any) -> bool:
    """Whether a file can hold a choice; choices that are data or models are not saved."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    return value is None or isinstance(value, (str, bool, int, float))


@contextmanager
def _share_bar(what: str, progress: bool) -> Iterator[Callable[[float], None]]:
    """Yield a function that shows, on a progress bar, the share of the work that is done."""
    with tqdm(total=1.0, desc=what, disable=not progress, delay=1.0, bar_format=BAR) as bar:

        def show(share: float) -> None:
            bar.update(share - bar.n)

        yield show
