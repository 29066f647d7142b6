"""The protocols of fitted models; estimators, files and the command line use nothing else.

A new kind of network is a class with these members and a line in `jensen.estimators.network_kinds`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    NoReturn,
    Protocol,
    Self,
    TypeAlias,
    TypeVar,
    cast,
)

import numpy as np
from numpy.typing import NDArray

from jensen.data.model_columns import MissingColumns
from jensen.exceptions import JensenError
from jensen.support.json_values import as_checked
from jensen.support.text import offer, some

if TYPE_CHECKING:
    from jensen.data import Table, Variable
    from jensen.data.fill_missing import Filled
    from jensen.graphs import DAG
    from jensen.inference.cpt import CPT, TablePosterior
    from jensen.inference.distribution import Distribution, Distributions
    from jensen.inference.gaussian_distribution import GaussianDistribution, GaussianDistributions
    from jensen.inference.most_probable import Assignment
    from jensen.inference.network import Network
    from jensen.inference.number_mixture import MixtureDistributions, NumberAnswer
    from jensen.inference.regression import AnyPosterior, AnyRegression

    Answer: TypeAlias = (
        Distribution
        | Distributions
        | GaussianDistribution
        | GaussianDistributions
        | MixtureDistributions
        | NumberAnswer
    )

Array = NDArray[np.float64]
Given = Mapping[str, Any] | None
Names = str | Sequence[str]
Method = Literal["mode", "marginal", "draw"]
Rows = TypeVar("Rows", contravariant=True)


class RowChoices(NamedTuple):
    """What to do with rows that a model finds impossible, unknown or incomplete."""

    impossible: Literal["raise", "nan"] = "raise"
    unknown: Literal["raise", "missing"] = "raise"
    missing_columns: MissingColumns = "warn"
    hidden: Collection[str] = ()  # variables that never have a column


DEFAULTS = RowChoices()


class Fitted(Protocol):
    """Any fitted model."""

    @property
    def n_parameters(self) -> int:
        """How many free parameters it has."""

    @property
    def has_posterior(self) -> bool:
        """Whether the posterior distribution of its parameters is known."""

    @property
    def n_samples(self) -> int | None:
        """How many samples of its parameters there are; None if it has no samples."""

    def to_dict(self) -> dict[str, Any]:
        """All that was learned as plain data."""

    @classmethod
    def from_dict(cls, value: Any) -> Self:
        """The inverse of `to_dict`, also by way of JSON."""


class FittedRows(Fitted, Protocol[Rows]):
    """A model with hidden states that generate rows (n, D): independent ones, or sequences."""

    def log_likelihood(self, rows: Rows) -> Array:
        """Log p of every row, or of every sequence; -inf if it is impossible."""

    def predict_proba(self, rows: Rows) -> Array:
        """p(state | row), or | the sequence of the row; (n, K)."""

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, NDArray[np.intp]]:
        """Rows, or the steps of a sequence, and the states that made them."""


class FittedNetwork(Fitted, Protocol):
    """A fitted network: graph, variables, and the distribution of each given its parents.

    Questions that not every kind of network can answer are refused here by default, with the text
    of `lacks`. `entry`, `to_dict` and `from_dict` serve the kinds in `network_formats.FILES`; other
    kinds define their own.
    """

    format: ClassVar[str]  # at the top of its file
    holds: ClassVar[str]  # what such a file holds, in words
    lacks: ClassVar[str]  # why it has no tables, or no regressions, and what to ask instead

    if TYPE_CHECKING:  # at run time properties would hide the fields of dataclasses

        @property
        def graph(self) -> DAG:
            """The graph of the variables."""

        @property
        def variables(self) -> tuple[Variable, ...]:
            """The variables, in the order of the nodes."""

        @property
        def constants(self) -> Mapping[str, float]:
            """Columns that did not vary in the data, with their values; they are not variables."""

    def entry(self, name: str) -> dict[str, Any]:
        """One variable as a file holds it."""
        from jensen.inference.network_formats import FILES

        return FILES[self.format].entry(self, name)

    def to_dict(self) -> dict[str, Any]:
        """All that is known as plain data, as a file holds it."""
        from jensen.inference.network_formats import FILES

        return FILES[self.format].plain(self)

    @classmethod
    def from_dict(cls, value: Any) -> Self:
        """The inverse of `to_dict`: a network from plain data, also by way of JSON."""
        from jensen.inference.network_formats import FILES

        return cast("Self", FILES[cls.format].read(as_checked(value)))

    def index(self, name: str) -> int:
        """Position of a variable among the nodes."""
        if name in self.constants:
            raise JensenError(
                f"column {name!r} was constant, {self.constants[name]:.6g}, in the data, so "
                f"nothing is known of how it varies, and the network was learned without it: "
                f"ask for another variable"
            )
        if name not in self.graph.index:
            raise JensenError(
                f"the network has no variable {name!r}; {offer(name, self.graph.nodes)}"
            )
        return self.graph.index[name]

    def equals(self, other: object, tolerance: float = 0.0) -> bool:
        """Same kind, same graph, same variables, and numbers equal within `tolerance`."""

    # --- one question ---

    def query(
        self,
        targets: Names,
        given: Any,
        do: Given,
        *,
        interval: float | None = None,
        rng: np.random.Generator | None = None,
        hidden: Collection[str] = (),
    ) -> Answer:
        """P(targets | do, given); `given` may be many rows, then there are as many answers."""

    def marginals(self, given: Given, do: Given) -> Mapping[str, Any]:
        """P(X | do, given) of every variable that is not known."""

    def log_probability(self, given: Given, do: Given) -> float:
        """Log P(given | do), or the log density; -inf if it is impossible."""

    def probability(self, given: Given, do: Given) -> float:
        """P(given | do)."""
        return float(np.exp(self.log_probability(given, do)))

    def most_probable(self, given: Given, do: Given, k: int) -> list[Assignment]:
        """The k most probable states of everything that is not known."""
        self._refuse()

    def entropy(self, targets: Names | None, given: Given) -> float:
        """Entropy of P(targets | given) in nats."""

    def mutual_information(self, a: Names, b: Names, given: Given | Sequence[str]) -> float:
        """I(a; b | given) in nats."""

    def sample(
        self, n: int, given: Given, do: Given, rng: np.random.Generator, *, progress: bool = False
    ) -> Table:
        """Draw n rows, exactly given what is known."""

    # --- many rows ---

    def log_likelihood(self, table: Table, rows: RowChoices = DEFAULTS) -> Array:
        """Log p(row), what is missing summed out."""

    def predict(
        self, table: Table, target: str, *, hidden: Collection[str] = (), **choices: Any
    ) -> NDArray[Any]:
        """The best guess of a variable in every row; choices are those of `RowChoices`."""

    def predict_proba(self, table: Table, target: str | None, rows: RowChoices = DEFAULTS) -> Any:
        """P(target | the rest of the row), (N, K); without a target of every variable, by name."""
        self._refuse()

    def fill(
        self, data: Table, method: Method, rng: np.random.Generator, rows: RowChoices = DEFAULTS
    ) -> dict[str, Filled]:
        """Columns as the network's own variables, before and after gaps were filled."""

    def expected_counts(
        self, table: Table, families: Sequence[Sequence[str]], rows: RowChoices = DEFAULTS
    ) -> list[Array]:
        """Σ over rows of p(family | what the row knows), an axis per member."""
        self._refuse()

    # --- what is known, and how it is shown ---

    def conditional(self, name: str) -> CPT | AnyRegression:
        """The distribution of a variable given its parents: a table or a regression."""

    def posterior(self, name: str) -> TablePosterior | AnyPosterior:
        """The posterior of the parameters of that distribution."""

    def cpt(self, name: str) -> CPT:
        """P(name | parents) as a table."""
        self._refuse()

    def regression(self, name: str) -> AnyRegression:
        """The regression of a variable on its parents."""
        self._refuse()

    def table_samples(self, name: str) -> Array:
        """Samples of a table."""
        self._refuse()

    def require_tables(self) -> Network:
        """The network itself, if it has tables; other kinds of network are refused."""
        self._refuse()

    def listing(self) -> str:
        """All variables with their parents, a line each, for a summary."""

    def outline(self) -> str | None:
        """The text that a page shows above the parameters; None: the summary."""
        return None

    def facts(self) -> dict[str, Any]:
        """Further results for programs, as plain data."""
        return {}

    def html(self) -> str | None:
        """A page for notebooks; None: a picture of the graph."""
        return None

    def beliefs(self, given: Given, do: Given) -> dict[str, Mapping[str, float]]:
        """The distribution of every variable, for drawings; known variables are certain."""
        self._refuse()

    def check_belief(self, name: str, belief: object) -> None:
        """Refuse a belief that is not a distribution of this variable."""
        return

    def constants_note(self) -> list[str]:
        """A line about the columns that did not vary and were left out; empty if there are none."""
        if not self.constants:
            return []
        values = some(f"{name} = {value:.6g}" for name, value in self.constants.items())
        return [f"constant in the data, so not in the network: {values}"]

    def _refuse(self) -> NoReturn:
        """Refuse a question that this kind of network cannot answer."""
        raise JensenError(self.lacks)
