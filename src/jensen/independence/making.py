"""The tests of a table: which ones, by the kinds of its columns and the name of the test."""

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from jensen.data import Block, RowSource, as_table
from jensen.data.counting import refuse_counts
from jensen.exceptions import DataError, JensenError
from jensen.independence.categorical import CategoricalTests
from jensen.independence.gaussian import GaussianTests
from jensen.independence.mixed import MixedTests
from jensen.independence.testing import Tests
from jensen.scores.table_checks import refuse_infinite
from jensen.support.checks import check_whole, is_real
from jensen.support.memory import check_many
from jensen.support.randomness import as_generator

TestName = Literal["g2", "x2", "mutual-information", "fisher-z", "conditional-gaussian"]

FEWEST = 4
"""Rows that Fisher's z needs at least."""

FOR_STATES = ("g2", "x2", "mutual-information")
"""Tests of categorical columns."""


def check_alpha(alpha: Any) -> None:
    """Refuse what is no level of a test."""
    if not (is_real(alpha) and 0.0 < alpha < 1.0):
        raise JensenError(
            f"alpha is the share of independent pairs that a test may call dependent: a number "
            f"between 0 and 1, not {alpha!r}"
        )


def check_table(table: RowSource) -> None:
    """Refuse a table in which some pairs of columns cannot be tested."""
    if not table.names:
        raise DataError("the table has no columns to learn a graph of")
    if table.total_weight == 0.0:
        raise DataError("the table has no rows that count: there is nothing to test")
    numbers = [v.name for v in table.variables if v.kind == "continuous"]
    if len(numbers) > 1 and table.total_weight < FEWEST:
        raise DataError(
            f"{table.total_weight:g} rows are too few to test numbers: {FEWEST} are needed, and "
            f"many more are wanted"
        )
    counted = table.counted()
    incomplete = sorted(counted.n_missing())
    if not incomplete:
        return
    together = counted.sum(lambda block: _known_together(block, incomplete))
    for i, j in np.argwhere(np.triu(together == 0.0)).tolist():
        a, b = incomplete[i], incomplete[j]
        if i == j:
            raise DataError(f"column {a!r} has no value in any row: leave it out")
        raise DataError(
            f"no row has values of both {a!r} and {b!r}, so nothing can be said about the two: "
            f"leave one of them out"
        )


def _known_together(block: Block, names: Sequence[str]) -> NDArray[np.float64]:
    """(n, n): in how many rows of a block two columns both have values."""
    known = ~np.stack([block.missing(name) for name in names])
    return np.asarray(known.astype(np.float32) @ known.T.astype(np.float32), np.float64)


def default_test(table: RowSource) -> TestName:
    """Which test goes with the kinds of the columns."""
    kinds = {variable.kind for variable in table.variables}
    if kinds == {"categorical"}:
        return "g2"
    return "fisher-z" if kinds == {"continuous"} else "conditional-gaussian"


def make_tests(
    table: RowSource, test: str | None = None, permutations: int = 0, random_state: Any = None
) -> tuple[Tests, TestName]:
    """Tests of all columns of a table, and what they are called."""
    if test is not None and test not in get_args(TestName):
        raise JensenError(
            f"there is no test {test!r}: choose one of {', '.join(get_args(TestName))}, or None"
        )
    check_whole("permutations", permutations, at_least=0)
    check_many(permutations, 24.0, "permutations", "choose fewer")
    refuse_counts(table, table.names, mixes=test in (None, "conditional-gaussian"))
    name: Any = test or default_test(table)
    wanted = {"categorical"} if name in FOR_STATES else {"continuous"}
    for variable in table.variables if name != "conditional-gaussian" else ():
        if variable.kind not in wanted:
            raise DataError(
                f"the test {name!r} is for {wanted.pop()} columns, and {variable.name!r} is "
                f"{variable.kind}: use test='conditional-gaussian', or leave test= out"
            )
    refuse_infinite(table, [v.name for v in table.variables if v.kind == "continuous"])
    if permutations and name not in FOR_STATES:
        raise DataError(
            f"permutations= belongs to tests of categorical columns ({', '.join(FOR_STATES)}), "
            f"not to {name!r}"
        )
    if name in FOR_STATES:
        seed = (
            int(as_generator(random_state).integers(np.iinfo(np.int64).max)) if permutations else 0
        )
        return CategoricalTests(as_table(table), name, permutations, seed), name
    return (GaussianTests(table) if name == "fisher-z" else MixedTests(as_table(table))), name
