"""Scores by name, and their sum over the families of a graph."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, Literal, Protocol, get_args, runtime_checkable

from jensen.data import Table, as_table
from jensen.data.counting import refuse_counts
from jensen.data.statistics import CountStatistics, FamilyCounts
from jensen.exceptions import DataError, JensenError
from jensen.graphs import DAG, as_dag
from jensen.scores.bde import read_states
from jensen.scores.constant_columns import refuse_edges, warn_of_constants
from jensen.scores.counted import Counted
from jensen.scores.gaussian_checks import check_gaussian_score
from jensen.scores.gaussian_prior import PARTS, refuse_prior
from jensen.scores.graph_priors import read_family_prior
from jensen.scores.interventions import split_interventions
from jensen.scores.known_values import refuse_stateless, require_rows, require_values
from jensen.scores.registry import (
    DEFAULTS,
    SAMPLE_SIZED,
    SPECS,
    WITH_NETWORK,
    ScoreSpec,
    names_where,
)
from jensen.scores.scorer import Scorer
from jensen.support.checks import check_sample_size
from jensen.support.text import either


class Score(Protocol):
    """A sum over families; each term sees only the counts of its family."""

    @property
    def is_set_function(self) -> bool:
        """Whether a term is L(parents + variable) - L(parents): search may use it."""

    @property
    def needs_integer_weights(self) -> bool:
        """Whether rows must count a whole number of times."""

    def local(self, counts: FamilyCounts, n_total: float) -> float:
        """The term of one variable; `n_total` is the weight of all rows."""


@runtime_checkable
class HasPrior(Protocol):
    """A score with a Dirichlet prior."""

    @property
    def concentration(self) -> Callable[[FamilyCounts], Any]:
        """What the prior adds to the counts of a family: a number for every cell, or for each."""


def _makers() -> dict[str, Callable[[float], Score]]:
    """Of every score of states that needs no more than a sample size."""
    names = names_where(lambda spec: spec.has("categorical") and not spec.needs_prior_network)
    return {name: _maker(SPECS[name]) for name in names}


def _maker(spec: ScoreSpec) -> Callable[[float], Score]:
    """By the equivalent sample size, which most scores do not have."""
    found = spec.load("categorical")
    make: Callable[[float], Score] = found if spec.has_sample_size else lambda size: found
    return make


SCORES: Mapping[str, Callable[[float], Score]] = _makers()
AVAILABLE_CASE: Mapping[str, Score] = {
    # Every family has its own rows then, so a term is no difference of one set function.
    name: replace(SPECS[name].load("categorical"), is_set_function=False)
    for name in names_where(lambda spec: spec.allows_missing)
}

Missing = Literal["refuse", "available-case"]


def make_score(
    name: str,
    equivalent_sample_size: float | None = None,
    missing: Missing = "refuse",
    prior_network: Any = None,
) -> Score:
    """A score of states by its name; an equivalent sample has the size 1 by default."""
    spec = SPECS.get(name) if isinstance(name, str) else None
    if spec is None:
        raise JensenError(f"there is no score {name!r}: choose one of {', '.join(SPECS)}")
    if not spec.has("categorical"):
        raise JensenError(
            f"{name!r} is a score of continuous columns: use {DEFAULTS['categorical']!r} for states"
        )
    if spec.needs_prior_network != (prior_network is not None):
        raise JensenError(
            f"the score {either(map(repr, WITH_NETWORK))} and prior_network= go together: it "
            f"spreads the equivalent sample as that network says"
        )
    if missing not in get_args(Missing):
        raise JensenError(f"missing must be 'refuse' or 'available-case', not {missing!r}")
    if missing == "available-case":
        if name not in AVAILABLE_CASE:
            raise JensenError(
                f"missing='available-case' has a meaning for {either(AVAILABLE_CASE, 'and')} only, "
                f"not {name}"
            )
        return AVAILABLE_CASE[name]
    size = 1.0 if equivalent_sample_size is None else equivalent_sample_size
    if equivalent_sample_size is not None and not spec.has_sample_size:
        raise JensenError(
            f"{name} has no equivalent_sample_size: only {either(SAMPLE_SIZED, 'and')} have one"
        )
    check_sample_size(size)
    if spec.needs_prior_network:
        with_network: Score = spec.load("categorical")(prior_network, size)
        return with_network
    return SCORES[name](size)


def score(
    graph: Any,
    table: Any,
    name: str = DEFAULTS["categorical"],
    *,
    equivalent_sample_size: float | None = None,
    missing: Missing = "refuse",
    prior_network: Any = None,
    interventions: Any = None,
    prior: Any = None,
    **gaussian: Any,
) -> float:
    """How well a graph explains the data: a total over rows and variables, higher is better.

    Parameters
    ----------
    graph
        A `DAG`, its text, or a `CPDAG`: one member of its class is scored (which one matters to
        bds, k2 and fnml only).
    table
        Anything a `Table` can be built from; columns that are no nodes are ignored. The columns
        must be all categorical, or all continuous. A table without rows is refused.
    name
        "loglik", "aic", "bic"; for states the exact log evidences "bdeu", "bds", "k2", "bde", and
        "fnml"; for continuous columns the exact log evidence "bge".
    equivalent_sample_size
        Of bdeu, bds and bde; 1 by default.
    missing
        "refuse", or for loglik, aic and bic of states "available-case": N times the average over
        the rows in which the variable and its parents are known (Balov 2013; Bodewes and Scutari
        2021). Do not choose between graphs by it unless hardly anything is missing: two families
        are then averaged over different rows, which moves their difference by the order of √N
        against a penalty of the order of log N. Of 8 independent coins, heads one time in five,
        with 2,000 rows and 5 % missing, bic so joins 7 pairs of 28; by the complete rows alone
        (`Table.complete_rows`) next to none.
    prior_network
        Of bde (Heckerman, Geiger and Chickering 1995): the equivalent sample is spread over the
        cells of a family as this network says, so equivalent graphs score the same.
    interventions
        A column, or one entry per row: the name of the column that was set from outside in that
        row, or nothing. Such rows are left out of that node's family; those in which a column was
        set that is no node count in every family.
    prior
        Of graphs, as in `jensen.structure_posterior`: "uniform", "fair", or {("A", "B"): p, ...}.
        The score is then log p(data | graph) + log p(graph), but for a constant that is the same
        for all graphs of these nodes: log p(graph) is a sum over families, not normalised. It is
        -inf for a graph that the prior rules out. "order" is no sum over families and is refused.
    **gaussian
        Of bge, the normal-Wishart prior of all n nodes: `prior_mean` ν (a number, one per node in
        the order of their names, or a dict; default: the means of the columns), `mean_strength`
        α_μ = 1, `degrees_of_freedom` α_w = n + 2, and `scale`, the matrix T. By default T is
        t·diag(v), where v are the variances of the columns (divisor N) and
        t = α_μ (α_w - n - 1)/(α_μ + 1), so that the prior expects what the columns vary by. The
        units of the columns then change no graph: the score of a column times a changes by
        -N log |a|, whatever its parents. "unit": T = t·I, the published parametrisation, for
        columns that are standardised, or in comparable units. A number: so many times the identity.
        A matrix (rows and columns in the order of the names): T itself.

    Notes
    -----
    The default prior of bge is empirical: ν and T are made of the table, once, and then held for
    all graphs. So the score is log p(data | graph, ν, T), and the scores of two tables do not add
    up to that of both together; give `prior_mean` and `scale` where they should.

    A constant column of numbers has no spread by which an edge could be judged. It is left out
    (its term is 0), with a `DataWarning`; a graph with an edge there is refused.

    Examples
    --------
    >>> import jensen as jn
    >>> table = jn.Table({"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]})
    >>> round(jn.score("a -> b", table, "k2"), 6)
    -5.598422
    >>> table = jn.Table({"a": [0.5, 1.5, 2.5, 4.0], "b": [1.25, 1.0, 3.5, 4.5]})
    >>> jn.score("a -> b", table, "bge") > jn.score("a; b", table, "bge")
    True
    """
    terms = local_scores(
        graph,
        table,
        name,
        equivalent_sample_size=equivalent_sample_size,
        missing=missing,
        prior_network=prior_network,
        interventions=interventions,
        prior=prior,
        **gaussian,
    )
    return float(sum(terms.values()))


def local_scores(
    graph: Any,
    table: Any,
    name: str = DEFAULTS["categorical"],
    *,
    equivalent_sample_size: float | None = None,
    missing: Missing = "refuse",
    prior_network: Any = None,
    interventions: Any = None,
    prior: Any = None,
    **gaussian: Any,
) -> dict[str, float]:
    """The terms of `score`, one per variable."""
    dag, data = as_dag(graph), as_table(table)
    discrete = (equivalent_sample_size, missing, prior_network)
    for node in dag.nodes:
        data.variable(node)  # refused if there is no such column
    require_rows(data)
    if prior is not None:
        read = read_family_prior(prior, dag.nodes)
        terms = local_scores(
            dag, data, name, equivalent_sample_size=equivalent_sample_size, missing=missing,
            prior_network=prior_network, interventions=interventions, **gaussian,
        )  # fmt: skip
        above = dag.parent_indices
        return {x: terms[x] + read.of_family(v, above[v]) for v, x in enumerate(dag.nodes)}
    if prior_network is None:  # which would know the states
        refuse_stateless(data, dag.nodes)
        refuse_counts(data, dag.nodes)
    if interventions is not None:
        return _interventional_scores(dag, data, name, discrete, interventions, gaussian)
    if _is_gaussian(name, data, dag.nodes):
        return _gaussian_scores(dag, data, name, discrete, gaussian)
    check_gaussian_choices(gaussian)
    refuse_prior(name, *(gaussian.get(part) for part in PARTS))
    chosen = make_score(name, *discrete)
    if prior_network is not None:
        data = read_states(prior_network, data, dag.nodes)
    if missing == "refuse":
        task = f"the score {name!r}"
        require_values(data, dag.nodes, task, lambda keep: f"{AVAILABLE}, or {keep}")
    statistics = Counted(data)
    check_integer_counts(statistics, name)
    counts = statistics.counts([(x, dag.parents(x)) for x in dag.nodes])
    n_total = statistics.total_weight
    return {x: chosen.local(c, n_total) for x, c in zip(dag.nodes, counts, strict=True)}


def _interventional_scores(
    dag: DAG,
    table: Table,
    name: str,
    discrete: tuple[float | None, Missing, Any],
    interventions: Any,
    choices: dict[str, Any],
) -> dict[str, float]:
    from jensen.scores.make_scorer import scorer_of  # it makes scores of this file

    check_gaussian_choices(choices)
    data, was_set = split_interventions(table, interventions, dag.nodes)
    size, missing, prior_network = discrete
    scorer = scorer_of(
        data, was_set, name, equivalent_sample_size=size, missing=missing,
        prior_network=prior_network, **choices,
    )  # fmt: skip
    return _terms(scorer, dag)


def _terms(scorer: Scorer, dag: DAG) -> dict[str, float]:
    """The scores of all nodes; edges at constant columns of numbers are refused."""
    from jensen.scores.units import isolated

    refuse_edges(dag.nodes, dag.parent_indices, isolated(scorer))
    warn_of_constants([dag.nodes[v] for v in sorted(isolated(scorer))])
    found = enumerate(zip(dag.nodes, dag.parent_indices, strict=True))
    return {x: scorer.family(v, above) for v, (x, above) in found}


def _is_gaussian(name: object, table: Table, nodes: Sequence[str]) -> bool:
    """Whether the columns, or the name of the score, are those of Gaussian networks."""
    kinds = {table.variable(x).kind for x in nodes}
    numbers = "continuous" in kinds and "categorical" not in kinds
    spec = SPECS.get(name) if isinstance(name, str) else None
    return spec is not None and (numbers or not spec.has("categorical"))


def _gaussian_scores(
    dag: DAG,
    table: Table,
    name: str,
    discrete: tuple[float | None, Missing, Any],
    choices: dict[str, Any],
) -> dict[str, float]:
    from jensen.scores.gaussian_scorer import GaussianScorer

    check_gaussian_choices(choices)
    check_gaussian_score(name)
    if discrete != (None, "refuse", None):
        raise JensenError(
            "equivalent_sample_size, missing='available-case' and prior_network belong to scores "
            "of categorical columns, and these are continuous"
        )
    return _terms(GaussianScorer.of(table.select(dag.nodes), name, **choices), dag)


def check_gaussian_choices(choices: Mapping[str, Any]) -> None:
    """Refuse what is no part of bge's prior."""
    for name in choices:
        if name in PARTS:
            continue
        near = get_close_matches(name, [*CHOICES, *PARTS], 1)
        if near and near[0] != name:
            raise JensenError(f"there is no choice {name!r}: did you mean {near[0]!r}?")
        raise JensenError(
            f"there is no choice {name!r} here: scores have {', '.join(OF_SCORES)}, and those of "
            f"continuous columns {', '.join(PARTS)}"
        )


OF_SCORES = ("prior", "equivalent_sample_size", "missing", "prior_network", "interventions")
CHOICES = (
    *OF_SCORES, "method", "score",
    "max_parents", "required", "forbidden", "tiers", "start", "restarts", "tabu_length",
    "random_state", "scores", "test", "alpha", "max_given", "permutations", "correction",
    "time_limit", "progress",
)  # fmt: skip
"""What may have been meant where a choice is mistyped: those of scores and of learning a graph."""


AVAILABLE = "use 'bic' with missing='available-case' (--score bic --available-case)"


def check_integer_counts(statistics: CountStatistics, name: str) -> None:
    """Refuse counts that are no frequencies, for a score that needs them to be."""
    why = SPECS[name].why_integers
    if why and not statistics.is_whole:
        raise DataError(f"{name} {why}, so row weights must be integers")
