"""Labels, and 0 and 1: what is to know of emissions that are `Discrete`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.models.emissions.columns import ColumnSummary
from jensen.models.emissions.discrete import Discrete
from jensen.models.emissions.kinds import (
    TOLERANCE,
    Chosen,
    EmissionKind,
    Fault,
    Line,
    Words,
    as_shares,
    refuse_values,
)
from jensen.models.emissions.priors import label_prior

Array = NDArray[np.float64]


class Labels(EmissionKind):
    """What both have in common."""

    is_binary: bool

    def owns(self, emission: Any) -> bool:
        """Whether this made it."""
        return isinstance(emission, Discrete) and emission.is_binary == self.is_binary

    def theta_fault(self, emission: Discrete, t: Array) -> Fault | None:
        """Logs of probabilities."""
        return shares_fault(t, emission.mask)

    def belief_fault(self, emission: Discrete, eta: Array) -> Fault | None:
        """Concentrations."""
        return concentration_fault(eta, emission.mask)


class Categorical(Labels):
    """One column of labels."""

    is_binary = False

    def make(self, n_states: int, columns: ColumnSummary, words: Words, chosen: Chosen) -> Discrete:
        """Whatever the rows look like."""
        shape = (n_states, 1, len(chosen.labels))
        return Discrete(*shape, prior=_prior(words, shape))

    def size(self, n_columns: int, chosen: Chosen) -> float:
        """A number for each label."""
        return float(len(chosen.labels))

    def lines(
        self, names: Sequence[str], shown: Mapping[str, Array], chosen: Chosen
    ) -> Iterator[Line]:
        """One for each label."""
        for label, column in zip(chosen.labels, shown["emission"].T, strict=True):
            yield f"{names[0]} = {label}", as_shares(column)


class Bernoulli(Labels):
    """Columns of 0 and 1."""

    is_binary = True

    def make(self, n_states: int, columns: ColumnSummary, words: Words, chosen: Chosen) -> Discrete:
        """Whatever the rows look like."""
        shape = (n_states, len(columns.mean), 2)
        return Discrete(*shape, prior=_prior(words, shape), is_binary=True)

    def check(self, values: Array, names: Sequence[str]) -> None:
        """Refuse other numbers."""
        refuse_values(values, (values != 0.0) & (values != 1.0), "Bernoulli values are 0 or 1")

    def lines(
        self, names: Sequence[str], shown: Mapping[str, Array], chosen: Chosen
    ) -> Iterator[Line]:
        """The probability of 1."""
        for name, column in zip(names, shown["emission"].T, strict=True):
            yield f"P({name} = 1)", as_shares(column)


def _prior(words: Words, shape: tuple[int, int, int]) -> Array | None:
    if words is None:
        return None
    given = words.get("emission")
    if given is not None and np.ndim(given) == 2 and shape[1] == 1:
        words = {"emission": np.asarray(given)[:, None, :]}  # (K, V): one column
    return label_prior(words, "emission", shape)


def shares_fault(t: Array, mask: NDArray[np.bool_] | None) -> Fault | None:
    """What is wrong with logs of probabilities along the last axis, if anything is."""
    total = np.exp(np.minimum(t, 1.0)).sum(-1)
    if not (np.abs(total - 1.0) <= TOLERANCE).all():
        worst = total.flat[np.argmax(np.abs(total - 1.0))]
        return "", f"holds logs of probabilities that sum to {worst:.6g}, not to 1"
    if mask is not None and (t[~mask] > -np.inf).any():
        return "", "has a probability where its mask says that there is none"
    return None


def concentration_fault(eta: Array, mask: NDArray[np.bool_] | None) -> Fault | None:
    """What is wrong with the η of Dirichlet distributions, if anything is."""
    inside = eta if mask is None else eta[mask]
    is_empty_outside = mask is None or not eta[~mask].any()
    if (inside > -1.0).all() and is_empty_outside:
        return None
    return "", "holds the η of a concentration (minus 1) that is not above 0"
