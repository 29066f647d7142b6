"""What the loop and the learner ask of a model, and what conjugate models answer alike.

A model is a frozen object that knows its prior and its shift when it is made. What comes before it,
and what is made of the rows, are functions of a model's module and of the rows themselves, because
each needs other things and the loop needs none of them:

- *Given a sketch.* Rows are looked at once (`RowSource` and `NumberRows` have a `sketch`: weight,
  gaps, ranges, sums), and the estimator that makes the model reads shift, default prior and checks
  from it. A model is never half made.
- *Cut anew.* `RowSource.blocks(size)` and `NumberRows.read(size)` give blocks of one fixed size,
  whatever files hold; sequences are cut by `hidden_markov.groups`, after the first end of a
  sequence beyond so many rows. A question has one block.
- *Encoded.* The `encode` of each model makes `Units` of blocks: all that does not depend on θ.
- *Condensed.* Models whose rows repeat merge them across all blocks while they encode: counts of
  complete families, equal sub-problems of labels (`q_hidden.trees.problems.HiddenRows`), rows with
  the same gaps as one scatter (`gaussian_network.encode`). Mixtures and chains of numbers have
  nothing to merge. The choice is the model's, never the source's, so that the bits are the same
  wherever rows come from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypeVar,
    runtime_checkable,
)

import numpy as np
from numpy.typing import NDArray

from jensen.data.blocks import Units
from jensen.families import log_partition
from jensen.q_hidden.structures import Hidden
from jensen.support.fields import add, zip_fields

if TYPE_CHECKING:
    from jensen.free_energy import State
    from jensen.inference.fitted import Fitted

Array = NDArray[np.float64]
Record = TypeVar("Record", bound=NamedTuple)  # a field for each factor of q(θ): families, η, t
Stats = TypeVar("Stats")  # additive over units; of conjugate models a record like η
Unit = TypeVar("Unit", contravariant=True)  # encoded rows
Rows = TypeVar("Rows")  # what a start looks at


class Data(NamedTuple, Generic[Rows]):
    """Rows as a model learns from them."""

    units: Units
    rows: Rows  # what starts look at, and errors name rows of
    content: tuple[object, ...]  # plain data and settings: a checkpoint of others is refused


class Model(Protocol[Record, Unit, Stats]):
    """p(x, h, θ): what the algorithms need to know of it.

    A record has one field for each independent factor of q(θ), in the order in which they are
    updated. The type of the potentials is the shape of the hidden graph.
    """

    @property
    def families(self) -> Record:
        """The family of each field."""

    def potentials(self, t: Record) -> Callable[[Unit], object]:
        """θ's part, made once a sweep; then unit → log potentials of what the unit hides."""

    def expected_stats(self, unit: Unit, hidden: Hidden) -> Stats:
        """Statistics under q(h); additive over units."""

    def posterior(self, name: str, stats: Stats, t: Record) -> Any:
        """The η of one field, given the statistics and the newest t of the others."""

    def prior_given(self, t: Record) -> tuple[Record, Record]:
        """Expected natural parameters of the prior, and its expected log partition, by field."""

    def turned(
        self, eta: Record, t: Record, stats: Stats, *, is_distribution: bool
    ) -> Record | None:
        """The η of other coordinates of h, in which F is higher for the q(h) of these statistics.

        q(h) moves with them, so that F rises by what a formula says; None leaves η as it is.
        `is_distribution` says whether θ is more than a point.
        """

    def moves(self, state: State[Record, Stats]) -> Iterable[Record]:
        """Other η that may be better; each is taken if F rises."""


class Learnable(Model[Record, Unit, Stats], Protocol[Record, Unit, Stats, Rows]):
    """A model that `learn` takes from rows to a fitted thing."""

    @property
    def prior(self) -> Record:
        """Natural parameters before any row was seen; None is flat."""

    def start(self, data: Data[Rows], k: int, rng: np.random.Generator) -> Record:
        """The η of the k-th start, which breaks the symmetry of hidden states."""

    @property
    def has_own_priors(self) -> bool:
        """Whether no field's prior depends on another field."""

    def trials(self, state: State[Record, Stats]) -> Iterable[Record]:
        """Other η to climb from after an ascent; what comes of one is taken if F is higher."""

    def refuse_start(self, start: Record, stats: Stats, method: str) -> None:
        """Refuse an η of the caller's from which an ascent would be led astray."""

    def explain(self, data: Data[Rows], t: Record) -> Exception:
        """Which row is impossible at this θ, and what to do."""

    def simulate(self, t: Record, n: int, rng: np.random.Generator) -> object:
        """Draw n rows at this θ: what a source would hold; of a chain the steps of a sequence.

        Models with hidden states give the states that made them besides.
        """

    def finish(self, state: State[Record, Stats], *, is_posterior: bool) -> Fitted:
        """The fitted thing at the end of an ascent."""


@runtime_checkable
class Sampled(Learnable[Record, Unit, Stats, Rows], Protocol[Record, Unit, Stats, Rows]):
    """A model that chains can run on, too."""

    def keep(self, state: State[Record, Stats], *, is_mode: bool) -> Array:
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

    def average(self, draws: Array) -> Record:
        """The η whose mode is the average of what was kept at modes."""

    def finish_draws(self, draws: Array, best: int) -> Fitted:
        """The fitted thing of draws of θ."""


AnyModel: TypeAlias = Learnable[Any, Any, Any, Any]
AnyData: TypeAlias = Data[Any]


class Conjugate(Generic[Record]):
    """η = prior + statistics, field by field, under a prior that no other parameter changes.

    A field None of the prior is the flat one.
    """

    has_own_priors: ClassVar[bool] = True  # whether no field's prior depends on another field

    if TYPE_CHECKING:  # at run time properties would hide the fields of dataclasses

        @property
        def prior(self) -> Record:
            """η before any row was seen."""

        @property
        def families(self) -> Record:
            """The family of each field."""

    def posterior(self, name: str, stats: Record, t: Record) -> Any:
        """Prior plus statistics."""
        return add(getattr(self.prior, name), getattr(stats, name))

    def prior_given(self, t: Record) -> tuple[Record, Record]:
        """The prior, and A(prior)."""
        return self.prior, self._normalizers

    @cached_property
    def _normalizers(self) -> Record:
        """A(prior), field by field."""
        found: Record = zip_fields(log_partition, self.families, self.prior)
        return found

    def turned(
        self, eta: Record, t: Record, stats: Record, *, is_distribution: bool
    ) -> Record | None:
        """Coordinates of h are those that the parameters name."""
        return None

    def moves(self, state: State[Record, Record]) -> Iterable[Record]:
        """None."""
        return ()

    def trials(self, state: State[Record, Record]) -> Iterable[Record]:
        """None."""
        return ()

    def refuse_start(self, start: Record, stats: Record, method: str) -> None:
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
