"""p(row | state): what each of K hidden states makes of a row. Mixtures and chains share them.

An emission knows its family and prior, encodes rows once, and looks at them at one θ (`Observed`).
A missing cell belongs to h: it is summed or integrated out with the potentials that the algorithm
sees, so that under VB a missing cell costs what sub-normalised tables lack.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from jensen.families import Family
from jensen.hidden_states.records import Likely, Observed
from jensen.models.emissions.column_records import ColumnRows

Array = NDArray[np.float64]


class Emission(Protocol):
    """What mixtures and chains need to know of p(row | state)."""

    @property
    def prior(self) -> Any:
        """η₀; None is the flat prior."""

    @property
    def family(self) -> Family:
        """Of the parameters of all states."""

    @property
    def blank(self) -> Any:
        """An η of zeros: its shape."""

    @property
    def has_distances(self) -> bool:
        """Whether rows can be more or less alike, as those with one label cannot."""

    @property
    def n_parameters(self) -> int:
        """How many free parameters all states have."""

    def encode(self, values: Array) -> Any:
        """Rows (n, D), missing NaN (codes: as numbers), as the other functions want them."""

    def observe(self, t: Any, rows: Any) -> Observed:
        """Encoded rows at this θ."""

    def predict(self, eta: Any, rows: Any) -> Likely:
        """Encoded rows under the posterior predictive distribution of each state."""

    def simulate(self, t: Any, states: NDArray[np.intp], rng: np.random.Generator) -> Array:
        """A row (D,) for each of the states."""

    def wide(self, values: Array) -> Any:
        """η of states that all look like these rows as a whole; for starts."""

    def place(self, values: Array) -> Array:
        """Rows as points (n, F) whose distances say how much rows differ; for starts."""

    def point(self, eta: Any) -> Any:
        """The one θ that is shown for a posterior: means (of precisions, not of covariances)."""

    def by_state(self, record: Any) -> Array:
        """(K, F): what an η, t or statistics hold of each state alone.

        Statistics of one state times the t of another are the log-likelihood of the rows of the one
        under the other, but for what is the same for all states.
        """

    def select(self, record: Any, states: NDArray[np.intp]) -> Any:
        """An η or t of these states only, in this order."""

    def read(self, named: Mapping[str, Any]) -> Any:
        """η whose mode has these parameters; refuses what cannot be."""

    def expected(self, t: Any) -> Array:
        """(K, ...): the expected row of each state; the probabilities of labels."""

    def show(self, t: Any) -> dict[str, Array]:
        """The parameters by the names that people know."""

    def show_average(self, draws: Sequence[Any]) -> dict[str, Array]:
        """The same of draws of t: means of probabilities, rates and precisions.

        Of Gaussians the inverse of the mean precision, and E[Λ]⁻¹ E[Λ μ]. The means of μ and Λ⁻¹
        themselves need not exist: those of a state without rows are prior draws, which may have
        the tails of a Cauchy distribution.
        """


class ColumnEmission(Emission, Protocol):
    """An emission whose columns are independent given the state, so that it may be one of many."""

    def by_kind(self, rows: Any) -> ColumnRows:
        """Encoded rows as columns of their kind."""

    def of_kind(self, columns: ColumnRows) -> Any:
        """Encoded rows, from their columns."""
