"""What an evidence is told as: its value, what kind of number that is, how long it took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from jensen.support.text import grid

Kind = Literal["exact", "lower bound", "estimate", "estimate, not a bound", "asymptotic", "check"]
"""What a number is; an estimate has a standard error beside it where one is known."""


WORKS = 0.7
"""Above this k̂ importance sampling does not work, whatever its standard error says."""


class Line(NamedTuple):
    """A number that stands beside an evidence."""

    name: str
    value: float
    kind: str = ""
    standard_error: float | None = None


@dataclass(frozen=True)
class Evidence:
    """Log p(table | model), parameters and hidden values integrated out; prints as a table.

    Attributes
    ----------
    value : float
        The natural logarithm.
    method : str
        How it was found.
    kind : str
        "exact", "lower bound", "estimate" (with `standard_error`), or "asymptotic", which may be
        off by anything on few rows.
    standard_error : float or None
        Of an estimate.
    lines : tuple of Line
        Other numbers that tell of this one: name, value, kind, standard error.
    warnings : tuple of str
        What is to be kept in mind with this number.
    seconds : float
        How long it took.
    """

    value: float
    method: str
    kind: str
    standard_error: float | None = None
    lines: tuple[Line, ...] = ()
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0

    def __float__(self) -> float:
        return self.value

    def __getitem__(self, name: str) -> float:
        """The value of one of the lines."""
        for line in self.lines:
            if line.name == name:
                return line.value
        raise KeyError(name)

    @property
    def pareto_k(self) -> float | None:
        """That of the gap of a bound; None where it is not known, or where there is no gap."""
        if self.kind != "lower bound":
            return None
        return next((line.value for line in self.lines if line.name == "Pareto k"), None)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "log_evidence": self.value,
            "method": self.method,
            "kind": self.kind,
            "standard_error": self.standard_error,
            "lines": [line._asdict() for line in self.lines],
            "warnings": list(self.warnings),
            "seconds": self.seconds,
        }

    def __repr__(self) -> str:
        first = Line("log evidence", self.value, self.kind, self.standard_error)
        rows = [_cells(line) for line in (first, *self.lines)]
        took = f"by {self.method!r} in {self.seconds:.2g} s"
        return "\n".join([grid(rows, left=1), took, *self.warnings])


def _cells(line: Line) -> tuple[str, str, str]:
    error = line.standard_error
    if error is None:
        return line.name, shown(line.value), line.kind
    return line.name, f"{shown(line.value)} ± {error:.2g}", line.kind


def shown(value: float) -> str:
    """A number for people: four digits behind the point; whole numbers as they are."""
    if abs(value) >= 1.0 and value == round(value):
        return f"{value:,.0f}"
    return f"{value:.4f}" if abs(value) >= 1e-3 or value == 0.0 else f"{value:.2e}"
