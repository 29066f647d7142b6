"""What the loop and the learner ask of a model, and what conjugate models answer alike."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from jensen.data.blocks import Units
from jensen.families import log_partition
from jensen.q_hidden.structures import Hidden
from jensen.support.fields import add, zip_fields

Array = NDArray[np.float64]


class Data(NamedTuple):
    """Rows as a model learns from them."""

    units: Units
    rows: Any  # what the model begins from, and names an impossible row by
    content: tuple[Any, ...]  # plain data and settings: a checkpoint of others is refused


class Model(Protocol):
    """p(x, h, θ): what the algorithms need to know of it.

    A record has one field for each independent factor of q(θ), in the order in which they are
    updated. The type of the potentials is the shape of the hidden graph.
    """

    @property
    def families(self) -> Any:
        """A record: the family of each field."""

    def potentials(self, t: Any) -> Callable[[Any], Any]:
        """θ's part, made once a sweep; then unit → log potentials of what the unit hides."""

    def expected_stats(self, unit: Any, hidden: Hidden) -> Any:
        """Statistics under q(h); additive over units."""

    def posterior(self, name: str, stats: Any, t: Any) -> Any:
        """The η of one field, given the statistics and the newest t of the others."""

    def prior_given(self, t: Any) -> tuple[Any, Any]:
        """Expected natural parameters of the prior, and its expected log partition, by field."""

    def moves(self, state: Any) -> Iterable[Any]:
        """Other η that may be better, such as rotations; each is taken if F rises."""


class Learnable(Model, Protocol):
    """A model that `learn` takes from rows to a fitted thing."""

    @property
    def prior(self) -> Any:
        """Natural parameters before any row was seen; None is flat."""

    def start(self, data: Data, k: int, rng: np.random.Generator) -> Any:
        """The η of the k-th start, which breaks the symmetry of hidden states."""

    def trials(self, state: Any) -> Iterable[Any]:
        """Other η to climb from after an ascent; what comes of one is taken if F is higher."""

    def refuse_start(self, start: Any, stats: Any, method: str) -> None:
        """Refuse an η of the caller's from which an ascent would be led astray."""

    def explain(self, data: Data, t: Any) -> Exception:
        """Which row is impossible at this θ, and what to do."""

    def simulate(self, t: Any, n: int, rng: np.random.Generator) -> Any:
        """Draw n rows at this θ: what a source would hold; of a chain the steps of a sequence.

        Models with hidden states give the states that made them besides.
        """

    def finish(self, state: Any, *, is_posterior: bool) -> Any:
        """The fitted thing at the end of an ascent."""


@runtime_checkable
class Sampled(Learnable, Protocol):
    """A model that chains can run on, too."""

    def keep(self, state: Any, *, is_mode: bool) -> Array:
        """The numbers that a chain keeps of a state, flat."""

    def settle(self, draws: Array, best: int) -> Array:
        """What was kept (S, width), with hidden states labelled alike; `best` is the likeliest."""

    @property
    def kept_width(self) -> int:
        """How many numbers these are."""

    @property
    def watches(self) -> str:
        """What `watched` holds, in words."""

    def watched(self, draws: Array) -> Array:
        """(S, m): numbers that tell, besides the log joint, how well chains have mixed."""

    def average(self, draws: Array) -> Any:
        """The η whose mode is the average of what was kept at modes."""

    def finish_draws(self, draws: Array, best: int) -> Any:
        """The fitted thing of draws of θ."""


class Conjugate:
    """η = prior + statistics, field by field, under a prior that no other parameter changes.

    A field None of the prior is the flat one.
    """

    prior: Any
    families: Any

    def posterior(self, name: str, stats: Any, t: Any) -> Any:
        """Prior plus statistics."""
        return add(getattr(self.prior, name), getattr(stats, name))

    def prior_given(self, t: Any) -> tuple[Any, Any]:
        """The prior, and A(prior)."""
        return self.prior, zip_fields(log_partition, self.families, self.prior)

    def moves(self, state: Any) -> Iterable[Any]:
        """None."""
        return ()

    def trials(self, state: Any) -> Iterable[Any]:
        """None."""
        return ()

    def refuse_start(self, start: Any, stats: Any, method: str) -> None:
        """Any start will do."""

    def settle(self, draws: Array, best: int) -> Array:
        """Labels have a meaning, or were given one when they were kept."""
        return draws

    @property
    def watches(self) -> str:
        """Nothing but the log joint."""
        return "log joint"

    def watched(self, draws: Array) -> Array:
        """Nothing else."""
        return np.empty((len(draws), 0))
