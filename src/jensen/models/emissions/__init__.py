"""p(row | state): what each of K hidden states makes of a row. Mixtures and chains share them.

An emission knows its family and prior, encodes rows once, and looks at them at one θ (`Observed`).
A missing cell belongs to h: it is summed or integrated out with the potentials that the algorithm
sees, so that under VB a missing cell costs what sub-normalised tables lack.

`registry` has a row for each of them, by the word that people choose it with. The command line
reads it for its help, so nothing heavy is imported here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from jensen.families import Family
    from jensen.q_hidden.structures import Observed, RowLikelihood

Array = NDArray[np.float64]


class Survey(NamedTuple):
    """What a sample of rows looks like, to start from."""

    points: Array  # (n, F): rows as points, whose distances say how much rows differ
    has_distances: bool  # whether rows can be more or less alike, as those with one label cannot
    wide: Any  # η of states that all look like these rows as a whole


class Emission(Protocol):
    """What mixtures and chains need to know of p(row | state): a frozen dataclass with `n_states`.

    η, t and statistics are arrays or records whose first axis is the state; `state_parameters` does
    what only needs to know that.
    """

    @property
    def prior(self) -> Any:
        """η₀; None is the flat prior."""

    @property
    def family(self) -> Family[Any]:
        """Of the parameters of all states."""

    @property
    def blank(self) -> Any:
        """An η of zeros: its shape."""

    @property
    def n_columns(self) -> int:
        """D."""

    @property
    def n_parameters(self) -> int:
        """How many free parameters all states have."""

    def encode(self, values: Array) -> Any:
        """Rows (n, D), missing NaN (codes: as numbers), as the other functions want them."""

    def observe(self, t: Any, rows: Any) -> Observed:
        """Encoded rows at this θ."""

    def predict(self, eta: Any, rows: Any) -> RowLikelihood:
        """Encoded rows under the posterior predictive distribution of each state."""

    def simulate(self, t: Any, states: NDArray[np.intp], rng: np.random.Generator) -> Array:
        """A row (D,) for each of the states."""

    def survey(self, values: Array) -> Survey:
        """A sample of rows, to start from."""

    def point(self, eta: Any) -> Any:
        """The one θ that is shown for a posterior: means (of precisions, not of covariances)."""

    def read(self, named: Mapping[str, Any]) -> Any:
        """η whose mode has these parameters; refuses what cannot be."""

    def show(self, *draws: Any) -> dict[str, Any]:
        """The parameters by the names that people know, the expected row of each state first.

        Of several draws of t the means of probabilities, rates and precisions; of Gaussians the
        inverse of the mean precision, and E[Λ]⁻¹ E[Λ μ]. The means of μ and Λ⁻¹ themselves need not
        exist: those of a state without rows are prior draws, which may have the tails of a Cauchy
        distribution.
        """
