"""The score of a graph: a sum over its families."""

from typing import Any

from jensen.data import Table, as_table
from jensen.exceptions import JensenError
from jensen.graphs import DAG, as_dag
from jensen.scores.categorical import read_states
from jensen.scores.gaussian import read_strength, refuse_prior
from jensen.scores.gaussian_scorer import GaussianScorer
from jensen.scores.graph_priors import read_family_prior
from jensen.scores.interventions import split_interventions
from jensen.scores.make_scorer import scorer_of
from jensen.scores.mixed_class import refuse_outside
from jensen.scores.registry import (
    DEFAULTS,
    IN_AVAILABLE_CASES,
    PARTS,
    SPECS,
    WITH_AVAILABLE_CASES,
    Kind,
    Missing,
    check_gaussian_choices,
    check_gaussian_score,
    check_integer_counts,
    kind_of_columns,
    make_score,
)
from jensen.scores.row_statistics import RowStatistics
from jensen.scores.scorer import Scorer, isolated, kinds_of
from jensen.scores.table_checks import (
    refuse_edges,
    refuse_stateless,
    require_rows,
    require_values,
    warn_of_constants,
)
from jensen.support.text import bare


def score(
    graph: Any,
    table: Any,
    name: str | None = None,
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
        Anything a `Table` can be built from; columns that are no nodes are ignored. In graphs of
        labels and numbers labels have labels for parents only. A table without rows is refused.
    name
        "loglik", "aic", "bic"; for states the exact log evidences "bdeu", "bds", "k2", "bde", and
        "fnml"; for continuous columns the exact log evidence "bge"; for both together "bdeu-bge"
        (see Notes). By default "bdeu", "bge" or "bdeu-bge", by the kinds of the columns.
    equivalent_sample_size
        Of bdeu, bds, bde and bdeu-bge; 1 by default.
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
        Of bge and bdeu-bge, the normal-Wishart prior of all n nodes that are numbers:
        `prior_mean` ν (a number, one per node in the order of their names, or a dict; default: the
        means of the columns), `mean_strength` α_μ = 1, `degrees_of_freedom` α_w = n + 2, and
        `scale`, the matrix T. By default T is t·diag(v), where v are the variances of the columns
        (divisor N) and t = α_μ (α_w - n - 1)/(α_μ + 1), so that the prior expects what the columns
        vary by. The units of the columns then change no graph: the score of a column times a
        changes by -N log |a|, whatever its parents.
        "unit": T = t·I, the published parametrisation, for
        columns that are standardised, or in comparable units. A number: so many times the identity.
        A matrix (rows and columns in the order of the names): T itself. `strength` s weakens both
        parts of the default prior, or strengthens them: α_μ = s and T = s/(s + 1)·diag(v), so that
        the prior still expects the variances v; it is `mean_strength` for a T that is made.

    Notes
    -----
    The default prior of bge is empirical: ν and T are made of the table, once, and then held for
    all graphs. So the score is log p(data | graph, ν, T), and the scores of two tables do not add
    up to that of both together; give `prior_mean` and `scale` where they should.

    Labels and numbers together make a conditional linear Gaussian network. A label is scored as
    among labels. A number x with label parents D and number parents C has, for every configuration
    d of D, a regression on C of its own: its score is the sum over d of L_d(C + x) - L_d(C), where
    L_d is the function of sets of bge, or of the maximised likelihood, on the rows in d. ν and T of
    the prior are made of all rows and are the same in all d, with a = l + 2 degrees of freedom for
    a set of l numbers, so a configuration without rows adds exactly 0 and a rare one shrinks to the
    mean and variance of the column; likelihoods pay for the parameters of all configurations.
    Equivalent graphs score the same. The prior is strong where relations are tight: half a row of
    the whole variance in every configuration. That moves the level of the score far more than its
    differences, so it is no evidence for comparison with other kinds of models; a small `strength`
    (0.01) weakens it. A configuration in which a number has no residual variance leaves a
    likelihood without a bound, and is refused; searches never take such a family.

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
    >>> mixed = {"sex": ["f", "f", "m", "m"], "size": [1.62, 1.7, 1.85, 1.79]}
    >>> jn.score("sex -> size", mixed) > jn.score("sex; size", mixed)
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
    name: str | None = None,
    *,
    equivalent_sample_size: float | None = None,
    missing: Missing = "refuse",
    prior_network: Any = None,
    interventions: Any = None,
    prior: Any = None,
    **gaussian: Any,
) -> dict[str, float]:
    """The terms of `score`, one per variable, with the same parameters."""
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
    kind = kind_of_columns([data.variable(x) for x in dag.nodes]) if dag.nodes else "categorical"
    name = DEFAULTS[kind] if name is None else name
    if interventions is not None or kind == "mixed":
        return _scores_of_rows(dag, data, name, discrete, interventions, gaussian)
    if _is_gaussian(name, kind):
        return _gaussian_scores(dag, data, name, discrete, gaussian)
    check_gaussian_choices(gaussian)
    refuse_prior(name, *(gaussian.get(part) for part in PARTS))
    chosen = make_score(name, *discrete)
    if prior_network is not None:
        data = read_states(prior_network, data, dag.nodes)
    if missing == "refuse":
        task = f"the score {name!r}"
        require_values(data, dag.nodes, task, lambda keep: f"{WITH_AVAILABLE_CASES}, or {keep}")
    statistics = RowStatistics(data)
    check_integer_counts(statistics, name)
    counts = statistics.counts([(x, dag.parents(x)) for x in dag.nodes])
    n_total = statistics.total_weight
    return {x: chosen.local(c, n_total) for x, c in zip(dag.nodes, counts, strict=True)}


def _scores_of_rows(
    dag: DAG,
    table: Table,
    name: str,
    discrete: tuple[float | None, Missing, Any],
    interventions: Any,
    choices: dict[str, Any],
) -> dict[str, float]:
    check_gaussian_choices(choices)
    data, was_set = split_interventions(table, interventions, dag.nodes)
    size, missing, prior_network = discrete
    scorer = scorer_of(
        data, was_set, name, equivalent_sample_size=size, missing=missing,
        prior_network=prior_network, **choices,
    )  # fmt: skip
    return _terms(scorer, dag)


def _terms(scorer: Scorer, dag: DAG) -> dict[str, float]:
    """The scores of all nodes; edges at constant columns, and outside the class, are refused."""
    refuse_edges(dag.nodes, dag.parent_indices, isolated(scorer))
    refuse_outside(dag.nodes, dag.parent_indices, kinds_of(scorer))
    warn_of_constants([dag.nodes[v] for v in sorted(isolated(scorer))])
    found = enumerate(zip(dag.nodes, dag.parent_indices, strict=True))
    return {x: scorer.family(v, above) for v, (x, above) in found}


def _is_gaussian(name: object, kind: Kind) -> bool:
    """Whether the columns or the name of the score ask for a Gaussian score."""
    spec = SPECS.get(name) if isinstance(name, str) else None
    is_of_numbers = spec is not None and spec.has("continuous") and not spec.has("categorical")
    return spec is not None and (kind == "continuous" or is_of_numbers)


def _gaussian_scores(
    dag: DAG,
    table: Table,
    name: str,
    discrete: tuple[float | None, Missing, Any],
    choices: dict[str, Any],
) -> dict[str, float]:
    check_gaussian_choices(choices)
    check_gaussian_score(name)
    if discrete != (None, "refuse", None):
        raise JensenError(
            f"{bare('equivalent_sample_size')}, {IN_AVAILABLE_CASES} and {bare('prior_network')} "
            "belong to scores of categorical columns, and these are continuous"
        )
    chosen = read_strength(choices)
    return _terms(GaussianScorer.of(table.select(dag.nodes), name, **chosen), dag)
