"""One test of independence, for people."""

import math
from collections.abc import Iterable
from typing import Any

from jensen.data import RowSource, as_rows
from jensen.exceptions import DataError
from jensen.independence.gaussian import TOO_FEW
from jensen.independence.making import check_alpha, make_tests
from jensen.independence.result import TestResult


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
        None: the first that goes with the columns.
    alpha
        How often independent columns may be called dependent.
    permutations
        For categorical columns: 0, or how often `a` is shuffled among the rows that agree in the
        columns given. The p-value is then the share of these tables, and the one seen, that are as
        far from independence; it rests on no approximation, and suits few rows.
    random_state
        Of the permutations.

    Returns
    -------
    TestResult
        `independent`, `p_value`, `statistic`, `degrees_of_freedom`, `n_rows`, `note`.

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
        math.exp(found.log_p), found.n_rows, float(alpha), found.note,
    )  # fmt: skip


def _columns(table: RowSource, a: str, b: str, given: list[str]) -> RowSource:
    """The columns of a test, refused if they make none."""
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
