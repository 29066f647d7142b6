"""What a test of independence tells."""

from dataclasses import dataclass
from typing import ClassVar, NoReturn

from jensen.exceptions import JensenError
from jensen.support.text import plural

SYMBOLS = {
    "g2": "G²",
    "x2": "X²",
    "mutual-information": "mutual information",
    "fisher-z": "z",
    "conditional-gaussian": "likelihood ratio",
}
"""What the statistic of each test is called."""


@dataclass(frozen=True, repr=False)
class TestResult:
    """The outcome of a test of independence; it is neither true nor false, see `independent`."""

    __test__: ClassVar[bool] = False  # its name is no sign to pytest

    a: str
    b: str
    given: tuple[str, ...]
    name: str
    """Of the test."""
    statistic: float
    degrees_of_freedom: int
    """Of the chi-squared distribution; for Fisher's z, rows - columns given - 3."""
    p_value: float
    n_rows: float
    """How many rows were looked at, each as often as its weight says: those that are complete in
    the columns of the test."""
    alpha: float
    note: str = ""
    """What else there is to know of this test."""

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

    def __repr__(self) -> str:
        given = f" given {', '.join(self.given)}" if self.given else ""
        word, sign = ("independent", ">") if self.independent else ("dependent", "≤")
        rows = plural(int(self.n_rows), "row") if self.n_rows % 1 == 0 else f"{self.n_rows:g} rows"
        freedom = f"{plural(self.degrees_of_freedom, 'degree')} of freedom"
        lines = [
            f"{self.a} and {self.b}{given}: {word}, p = {self.p_value:.4g} {sign} {self.alpha:g}",
            f"  {SYMBOLS[self.name]} = {self.statistic:.6g}, {freedom}, {rows}",
        ]
        return "\n".join([*lines, *([f"  {self.note}"] if self.note else [])])
