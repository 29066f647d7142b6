"""Hidden states as they were learned: one θ, its posterior, or samples of it.

Questions are answered by `jensen.inference.mixtures.FittedMixture` and
`jensen.inference.chains.FittedChain`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.support.fields import leaves, rebuild

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FittedStates:
    """A model and its parameters."""

    model: Any  # a Mixture or a HiddenMarkov
    t: Any  # the θ that is shown
    counts: Array  # (K,): expected counts of states
    eta: Any = None  # the posterior, if there is one
    samples: Array | None = None  # (S, width): draws of t, flat
    prior: Any = None  # η₀, to which a posterior and its bound belong
    is_symmetric: bool = False  # whether nothing tells the states apart but what they have made

    @property
    def n_parameters(self) -> int:
        """How many free parameters there are; what is held, or a mask leaves out, is none."""
        raise NotImplementedError

    @property
    def has_posterior(self) -> bool:
        """After VB."""
        return self.eta is not None

    @property
    def n_samples(self) -> int | None:
        """After Gibbs."""
        return None if self.samples is None else len(self.samples)

    def to_dict(self) -> dict[str, Any]:
        """All that is known as plain data, as it stands in a file."""
        from jensen.inference.states_file import plain_fitted

        return plain_fitted(self)

    def draws(self) -> Iterator[Any]:
        """Every sample of t as a record."""
        assert self.samples is not None
        for flat in self.samples:
            yield unflatten(self.model.blank, flat)


def flatten(t: Any) -> Array:
    """All numbers of a record, one after the other."""
    return np.concatenate([np.ravel(leaf) for leaf in leaves(t)])


def unflatten(like: Any, flat: Array) -> Any:
    """The record that `flatten` made flat."""
    parts = leaves(like)
    ends = np.cumsum([part.size for part in parts])
    pieces = np.split(flat, ends[:-1])
    return rebuild(like, (x.reshape(part.shape) for x, part in zip(pieces, parts, strict=True)))
