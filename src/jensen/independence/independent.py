"""Tests of independence by name: `independent` for users, `make_tests` for learners."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NoReturn, get_args

import numpy as np
from numpy.typing import NDArray

from jensen.data import Block, RowSource, as_rows
from jensen.exceptions import DataError, JensenError
from jensen.independence.counted import state_tests
from jensen.independence.gaussian import TOO_FEW, GaussianTests
from jensen.independence.mixed import MixedTests
from jensen.independence.testing import Tests
from jensen.scores.table_checks import refuse_infinite
from jensen.support.arguments import as_generator, check_whole, is_real
from jensen.support.machine import check_many
from jensen.support.text import called_here, keyword, option, plural

TestName = Literal["g2", "x2", "mutual-information", "fisher-z", "conditional-gaussian"]

SYMBOLS = {
    "g2": "G²",
    "x2": "X²",
    "mutual-information": "mutual information",
    "fisher-z": "z",
    "conditional-gaussian": "likelihood ratio",
}
"""The symbol of the statistic of each test."""

FEWEST = 4
"""The fewest rows for Fisher's z."""

FOR_STATES = ("g2", "x2", "mutual-information")
"""Tests of categorical columns."""


@dataclass(frozen=True, repr=False)
class TestResult:
    """The result of a test of independence; it has no truth value, ask `independent`."""

    __test__: ClassVar[bool] = False  # its name is no sign to pytest

    a: str
    b: str
    given: tuple[str, ...]
    name: str
    """The name of the test."""
    statistic: float
    degrees_of_freedom: int
    """Degrees of freedom of the chi-squared distribution; for Fisher's z, rows - conditions - 3."""
    p_value: float
    n_rows: float
    """The total weight of the rows that are complete in the columns of the test."""
    alpha: float
    note: str = ""
    """A remark, for example that there are no degrees of freedom."""
    partial_correlation: float | None = None
    """The correlation of the two given the others; of Fisher's z, else None."""

    @property
    def independent(self) -> bool:
        """Whether independence is not rejected: p > alpha. It is no proof of independence."""
        return self.p_value > self.alpha

    @property
    def dependent(self) -> bool:
        """Whether independence is rejected: p ≤ alpha."""
        return not self.independent

    def __bool__(self) -> NoReturn:
        raise JensenError(
            "the result of a test is neither true nor false: ask .independent, .dependent or "
            ".p_value"
        )

    @property
    def _correlation(self) -> str:
        if self.partial_correlation is None:
            return ""
        word = "partial correlation" if self.given else "correlation"
        return f", {word} {self.partial_correlation:.4g}"

    def __repr__(self) -> str:
        given = f" given {', '.join(self.given)}" if self.given else ""
        word, sign = ("independent", ">") if self.independent else ("dependent", "≤")
        rows = plural(int(self.n_rows), "row") if self.n_rows % 1 == 0 else f"{self.n_rows:g} rows"
        freedom = f"{plural(self.degrees_of_freedom, 'degree')} of freedom"
        lines = [
            f"{self.a} and {self.b}{given}: {word}, p = {self.p_value:.4g} {sign} {self.alpha:g}",
            f"  {SYMBOLS[self.name]} = {self.statistic:.6g}, {freedom}, {rows}{self._correlation}",
        ]
        return "\n".join([*lines, *([f"  {self.note}"] if self.note else [])])


def independent(
    table: Any,
    a: str,
    b: str,
    given: str | Iterable[str] = (),
    *,
    test: str | None = None,
    alpha: float = 0.05,
    permutations: int = 0,
    random_state: Any = None,
) -> TestResult:
    """Test whether two columns are independent, perhaps given others.

    Parameters
    ----------
    table
        Anything a `Table` can be built from. Rows that miss a value in one of the columns of the
        test are left out; `n_rows` of the result says how many are in. Row weights are frequencies.
    a, b, given
        Columns: the two, and none, one or several others.
    test
        "g2" (likelihood ratio), "x2" (Pearson) and "mutual-information" (G² / 2N, in nats) for
        categorical columns; "fisher-z" for continuous ones; "conditional-gaussian" for both kinds.
        None: the first of these that suits the columns.
    alpha
        The significance level: how often independent columns may be called dependent.
    permutations
        For categorical columns: 0, or how often `a` is shuffled among the rows that agree in the
        conditions. The p-value is then the share of these tables, and of the observed one, that are
        as far from independence; it needs no approximation, and suits few rows.
    random_state
        The random numbers of the permutations.

    Returns
    -------
    TestResult
        `independent`, `p_value`, `statistic`, `degrees_of_freedom`, `n_rows`, `note`; of Fisher's z
        also `partial_correlation`.

    Notes
    -----
    Degrees of freedom of G² and X²: each configuration of the columns given has (states of `a` that
    occur in it - 1) · (states of `b` that occur in it - 1), and these are added up. Where all r and
    c states occur in all q configurations that is (r - 1)(c - 1)q. Where none are left, because one
    of the two is constant wherever they are compared, p = 1. bnlearn's "mi-adf" and "x2-adf" count
    the same degrees of freedom, and besides call columns independent that have fewer than five rows
    per parameter, which is not done here. Its "mi" and "x2" always take (r - 1)(c - 1)q, which
    counts cells that cannot hold anything, and so find fewer dependences. With few rows per cell
    the chi-squared distribution is a poor guide in either case: use `permutations`.

    "conditional-gaussian": a continuous one of the two (else that with fewer states) is regressed
    on the columns given, with and without the other; every configuration of the categorical ones
    has its own regression, linear with its own variance or multinomial logistic. Twice the gain of
    log-likelihood is compared with the chi-squared distribution. Configurations with fewer rows
    than the regression has coefficients and two more are left out.

    References
    ----------
    Edwards (2000), *Introduction to Graphical Modelling*. Fisher (1924), *The distribution of
    the partial correlation coefficient*. Andrews, Ramsey and Cooper (2018), *Scoring Bayesian
    networks of mixed variables*.

    Examples
    --------
    >>> import jensen as jn
    >>> lizards = jn.Table(
    ...     {"Species": ["S"] * 4 + ["D"] * 4, "Diameter": ["n", "n", "w", "w"] * 2,
    ...      "Height": ["h", "l"] * 4, "n": [86, 32, 35, 11, 73, 61, 70, 41]},
    ...     weights="n",
    ... )
    >>> jn.independent(lizards, "Height", "Diameter", given="Species")
    Height and Diameter given Species: independent, p = 0.3632 > 0.05
      G² = 2.02565, 2 degrees of freedom, 409 rows
    >>> jn.independent(lizards, "Height", "Species").dependent
    True
    """
    check_alpha(alpha)
    names = [given] if isinstance(given, str) else list(given)
    data = _columns(as_rows(table), a, b, names)
    tests, name = make_tests(data, test, permutations, random_state)
    places = [tests.names.index(column) for column in (a, b, *names)]
    found = tests.measure(places[0], places[1], tuple(sorted(places[2:])))
    if found.note == TOO_FEW:
        raise DataError(f"{found.n_rows:g} complete rows, given {len(names)} columns: {TOO_FEW}")
    return TestResult(
        a, b, tuple(names), name, found.statistic, found.degrees_of_freedom,
        math.exp(found.log_p), found.n_rows, float(alpha), found.note, found.correlation,
    )  # fmt: skip


def _columns(table: RowSource, a: str, b: str, given: list[str]) -> RowSource:
    """The columns of a test; an error if they cannot be tested."""
    for name in (a, b, *given):
        table.variable(name)
    if a == b:
        raise DataError(f"{a!r} is to be independent of itself: name two columns")
    for name in given:
        if name in (a, b):
            raise DataError(f"{name!r} is tested and given at once: take it out of given=")
        if given.count(name) > 1:
            raise DataError(f"{name!r} stands twice in given=")
    chosen = table.select([a, b, *given])
    if not chosen.counted().complete_rows().n_rows:
        shown = ", ".join((a, b, *given))
        raise DataError(f"no row has values in all of {shown}: there is nothing to test")
    return chosen


def check_alpha(alpha: Any) -> None:
    """Refuse a significance level that is no number between 0 and 1."""
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
    numbers = [v.name for v in table.variables if v.kind != "categorical"]
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
    """(n, n): the number of rows of a block in which both columns have values."""
    known = ~np.stack([block.missing(name) for name in names])
    return np.asarray(known.astype(np.float32) @ known.T.astype(np.float32), np.float64)


def default_test(table: RowSource) -> TestName:
    """The default test for the kinds of the columns."""
    are_labels = {variable.kind == "categorical" for variable in table.variables}
    if len(are_labels) > 1:
        return "conditional-gaussian"
    return "g2" if True in are_labels else "fisher-z"


def make_tests(
    table: RowSource, test: str | None = None, permutations: int = 0, random_state: Any = None
) -> tuple[Tests, TestName]:
    """The tests of all columns of a table, and the name of the test."""
    if test is not None and test not in get_args(TestName):
        raise JensenError(
            f"there is no test {test!r}: choose one of {', '.join(get_args(TestName))}, or None"
            f"{called_here(test, get_args(TestName))}"
        )
    check_whole("permutations", permutations, at_least=0)
    check_many(permutations, 24.0, "permutations", "choose fewer")
    name: Any = test or default_test(table)
    wanted = "categorical" if name in FOR_STATES else "continuous"
    for variable in table.variables if name != "conditional-gaussian" else ():
        if (variable.kind == "categorical") != (wanted == "categorical"):
            raise DataError(
                f"the test {name!r} is for {wanted} columns, and {variable.name!r} is "
                f"{variable.kind}: use {option('test', 'conditional-gaussian')}, or "
                f"leave {keyword('test')} out"
            )
    refuse_infinite(table, [v.name for v in table.variables if v.kind != "categorical"])
    if permutations and name not in FOR_STATES:
        raise DataError(
            f"{keyword('permutations')} belongs to tests of categorical columns "
            f"({', '.join(FOR_STATES)}), not to {name!r}"
        )
    if name in FOR_STATES:
        seed = (
            int(as_generator(random_state).integers(np.iinfo(np.int64).max)) if permutations else 0
        )
        return state_tests(table, name, permutations, seed), name
    return (GaussianTests(table) if name == "fisher-z" else MixedTests(table)), name
