"""Scores by name, and their sum over the families of a graph."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

from jensen.checks import check_sample_size
from jensen.data import Table, as_table
from jensen.data.counting import COMPLETE_ROWS, require_complete
from jensen.exceptions import JensenError
from jensen.graphs import DAG, as_dag
from jensen.scores import dirichlet, fnml, likelihood
from jensen.scores.counts import FamilyCounts, family_counts


class Score(Protocol):
    """A sum over families; each term sees only the counts of its family."""

    @property
    def is_set_function(self) -> bool:
        """Whether a term is L(parents + variable) - L(parents): search may use it."""

    @property
    def allows_missing(self) -> bool:
        """Whether missing="available-case" has a meaning."""

    def local(self, counts: FamilyCounts, n_total: float) -> float:
        """The term of one variable; `n_total` is the weight of all rows."""


SCORES: Mapping[str, Callable[[float], Score]] = {
    "loglik": lambda _: likelihood.loglik,
    "aic": lambda _: likelihood.aic,
    "bic": lambda _: likelihood.bic,
    "bdeu": dirichlet.bdeu,
    "bds": dirichlet.bds,
    "k2": lambda _: dirichlet.k2,
    "fnml": lambda _: fnml.FactorisedNML(),
}
WITH_SAMPLE_SIZE = {"bdeu", "bds"}


def make_score(name: str, equivalent_sample_size: float | None = None) -> Score:
    """A score by its name; `equivalent_sample_size` (1 by default) belongs to bdeu and bds."""
    if not isinstance(name, str) or name not in SCORES:
        raise JensenError(f"there is no score {name!r}: choose one of {', '.join(SCORES)}")
    if equivalent_sample_size is None:
        return SCORES[name](1.0)
    if name not in WITH_SAMPLE_SIZE:
        raise JensenError(f"{name} has no equivalent_sample_size: only bdeu and bds have one")
    check_sample_size(equivalent_sample_size)
    return SCORES[name](equivalent_sample_size)


def score(
    graph: Any,
    table: Any,
    name: str = "bdeu",
    *,
    equivalent_sample_size: float | None = None,
    missing: Literal["refuse", "available-case"] = "refuse",
) -> float:
    """How well a graph explains the data: a total over rows and variables, higher is better.

    Parameters
    ----------
    graph
        A `DAG`, a `CPDAG` (any member has the same score), or the text of one.
    table
        Anything a `Table` can be built from; columns that are no nodes are ignored.
    name
        "loglik", "aic", "bic"; the exact log evidences "bdeu", "bds", "k2"; "fnml".
    equivalent_sample_size
        Of bdeu and bds; 1 by default.
    missing
        "refuse", or for loglik, aic and bic "available-case": N times the average over the rows
        in which the variable and its parents are known.

    Examples
    --------
    >>> import jensen as jn
    >>> table = jn.Table({"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]})
    >>> round(jn.score("a -> b", table, "k2"), 6)
    -5.598422
    """
    terms = local_scores(
        graph, table, name, equivalent_sample_size=equivalent_sample_size, missing=missing
    )
    return float(sum(terms.values()))


def local_scores(
    graph: Any,
    table: Any,
    name: str = "bdeu",
    *,
    equivalent_sample_size: float | None = None,
    missing: Literal["refuse", "available-case"] = "refuse",
) -> dict[str, float]:
    """The terms of `score`, one per variable."""
    chosen = make_score(name, equivalent_sample_size)
    dag, data = as_dag(graph), as_table(table)
    _check_missing(dag, data, name, chosen, missing)
    families: Sequence[tuple[str, Sequence[str]]] = [(x, dag.parents(x)) for x in dag.nodes]
    counts, n_total = family_counts(data, families), data.total_weight
    return {x: chosen.local(c, n_total) for (x, _), c in zip(families, counts, strict=True)}


def _check_missing(dag: DAG, table: Table, name: str, score: Score, missing: str) -> None:
    if missing not in {"refuse", "available-case"}:
        raise JensenError(f"missing must be 'refuse' or 'available-case', not {missing!r}")
    if missing == "available-case":
        if not score.allows_missing:
            raise JensenError(
                f"missing='available-case' has a meaning for loglik, aic and bic only, not {name}"
            )
        return
    require_complete(
        table,
        dag.nodes,
        f"the score {name!r}",
        f"use jn.score(..., 'bic', missing='available-case'), or {COMPLETE_ROWS}",
    )
