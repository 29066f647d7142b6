"""The tests of a table: which ones, by the kinds of its columns and the name of the test."""

from typing import Any, Literal, get_args

import numpy as np

from jensen.checks import check_whole, is_real
from jensen.data import Table
from jensen.exceptions import DataError, JensenError
from jensen.independence.categorical import CategoricalTests
from jensen.independence.gaussian import GaussianTests
from jensen.independence.mixed import MixedTests
from jensen.independence.testing import Tests
from jensen.randomness import as_generator

TestName = Literal["g2", "x2", "mutual-information", "fisher-z", "conditional-gaussian"]

FOR_STATES = ("g2", "x2", "mutual-information")
"""Tests of categorical columns."""


def check_alpha(alpha: Any) -> None:
    """Refuse what is no level of a test."""
    if not (is_real(alpha) and 0.0 < alpha < 1.0):
        raise JensenError(
            f"alpha is the share of independent pairs that a test may call dependent: a number "
            f"between 0 and 1, not {alpha!r}"
        )


def default_test(table: Table) -> TestName:
    """Which test goes with the kinds of the columns."""
    kinds = {variable.kind for variable in table.variables}
    if kinds == {"categorical"}:
        return "g2"
    return "fisher-z" if kinds == {"continuous"} else "conditional-gaussian"


def make_tests(
    table: Table, test: str | None = None, permutations: int = 0, random_state: Any = None
) -> tuple[Tests, TestName]:
    """Tests of all columns of a table, and what they are called."""
    if test is not None and test not in get_args(TestName):
        raise JensenError(
            f"there is no test {test!r}: choose one of {', '.join(get_args(TestName))}, or None"
        )
    check_whole("permutations", permutations, at_least=0)
    for variable in table.variables:
        if variable.kind == "count":
            raise DataError(
                f"column {variable.name!r} holds counts: declare it categorical=[...] or "
                f"continuous=[...], or group its values with jn.discretize"
            )
    name: Any = test or default_test(table)
    wanted = {"categorical"} if name in FOR_STATES else {"continuous"}
    for variable in table.variables if name != "conditional-gaussian" else ():
        if variable.kind not in wanted:
            raise DataError(
                f"the test {name!r} is for {wanted.pop()} columns, and {variable.name!r} is "
                f"{variable.kind}: use test='conditional-gaussian', or leave test= out"
            )
    if permutations and name not in FOR_STATES:
        raise DataError(
            f"permutations= belongs to tests of categorical columns ({', '.join(FOR_STATES)}), "
            f"not to {name!r}"
        )
    if name in FOR_STATES:
        seed = (
            int(as_generator(random_state).integers(np.iinfo(np.int64).max)) if permutations else 0
        )
        return CategoricalTests(table, name, permutations, seed), name
    return (GaussianTests(table) if name == "fisher-z" else MixedTests(table)), name
