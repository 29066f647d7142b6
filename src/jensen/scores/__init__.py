"""log p(x | G) and its relatives, family by family; higher is better, natural logarithms.

Names and formulas: `registry` (a record for every score; scores by name, choices checked),
`categorical` and `gaussian` (formulas), `graph_score` (the score of a whole graph).

Scores of families, as searches ask for them: `scorer` (the protocol, and what a scorer may offer
besides), `make_scorer` (the scorer of a table), `categorical_scorer` (from any counts),
`make_scorer` with `set_counter` and `set_counts` (the same from complete rows, compiled),
`gaussian_scorer`, `mixed_scorer` with `conditional_gaussian` (labels and numbers together),
`listed_scores` (read from a file), `interventions` (rows in which a variable was set),
`graph_priors` (log p(G), alone and added to scores).

All sets of parents: `set_functions` (sums over the cells of all sets), `parent_sets` (scores of all
sets, and bounds on those of supersets).

Data: `row_statistics` (counts and moments of rows), `table_checks` and `constant_columns` (what is
refused or left out). Pairs of columns: `mutual_information`, with `categorical_information`.

Names are imported when they are first used: the records of `registry` cost nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "SCORES": "registry",
    "local_scores": "graph_score",
    "make_score": "registry",
    "score": "graph_score",
}

__all__ = ["SCORES", "local_scores", "make_score", "score"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'jensen.scores' has no attribute {name!r}")
    return getattr(import_module(f"jensen.scores.{_HOMES[name]}"), name)


if TYPE_CHECKING:
    from jensen.scores.graph_score import local_scores as local_scores
    from jensen.scores.graph_score import score as score
    from jensen.scores.registry import SCORES as SCORES
    from jensen.scores.registry import make_score as make_score
