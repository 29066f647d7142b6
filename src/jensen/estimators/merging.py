"""Hidden Markov models whose states are found by merging."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.estimators.hidden_markov_model import HiddenMarkovModel
from jensen.estimators.sequences import (
    are_whole,
    label_table,
    read_sequence_weights,
    refuse_empty,
)
from jensen.exceptions import DataError
from jensen.families.dirichlet import dirichlet
from jensen.state_merging.merging import Merge, Step
from jensen.state_merging.merging import merge_states as merge_codes


class MergedStates(NamedTuple):
    """A model, and how it came about."""

    model: HiddenMarkovModel
    merges: list[Merge]  # two states became one; a number is that of a state's first position
    steps: list[Step]  # all that happened: also sequences taken in, splits, paths completed anew
    trace: NDArray[np.float64]  # the log posterior after each step
    log_posterior: float


def merge_states(
    sequences: Iterable[Sequence[object]],
    *,
    weights: Any = None,
    symbols: Sequence[object] | None = None,
    concentration: float = 1.0,
    structure_weight: float = 1.0,
    lookahead: int = 20,
) -> MergedStates:
    """Learn a hidden Markov model, its states included, by Bayesian model merging.

    Each position of each distinct sequence begins as a state of its own. Then two states are
    merged, and again, while the posterior of the model rises: a Dirichlet prior of its
    probabilities, and a structure prior that pays for every move and symbol that a state uses.
    Sequences keep their paths through the model (Viterbi completion); when no merge gains, paths
    are completed anew and states are split, if that gains. Many sequences are taken in batches.

    Parameters
    ----------
    sequences
        Sequences of labels, none of them empty; the labels of a string are its characters. Their
        order is of no importance.
    weights
        How often each sequence was seen, which need not be whole; once, if None.
    symbols
        All labels, if some do not occur.
    concentration
        Dirichlet concentration of each move and symbol that a state uses.
    structure_weight
        Of the description length of the structure: less keeps more states, more merges more.
    lookahead
        How many merges that do not raise the posterior are tried in a row.

    Returns
    -------
    MergedStates
        `model` is an ordinary `HiddenMarkovModel` with ``end=True``, whose parameters are the
        frequencies along the paths; `merges`, `steps` and `trace` tell how it came about. To the
        model a text is one label: ask it about ``[list(text) for text in texts]``.

    References
    ----------
    Stolcke and Omohundro (1994), *Best-first Model Merging for Hidden Markov Model Induction*.

    Examples
    --------
    >>> import jensen as jn
    >>> found = jn.merge_states(["ab", "abab", "ababab", "abababab"])
    >>> found.model.n_states
    2
    >>> found.model.log_likelihood([list("abba")])
    array([-inf])
    """
    rows = _read(sequences)
    lengths = np.array([len(row) for row in rows])
    weight = read_sequence_weights(weights, lengths)
    if not weight.sum() > 0.0:
        raise DataError("there is nothing to learn from: the weights sum to zero")
    labels, codes = _code([label for row in rows for label in row], symbols)
    found = merge_codes(
        np.split(codes, np.cumsum(lengths)[:-1]),
        len(labels),
        weights=weight,
        concentration=concentration,
        structure_weight=structure_weight,
        lookahead=lookahead,
    )
    moves = dirichlet.share(np.concatenate([found.pairs, found.last[:, None]], axis=1))
    model = HiddenMarkovModel.from_parameters(
        initial=dirichlet.share(found.first),
        transition=moves[:, :-1],
        end=moves[:, -1],
        emission=dirichlet.share(found.emitted),
        symbols=labels,
        counts=found.emitted.sum(1),
    )
    return MergedStates(model, found.merges, found.steps, found.trace, found.log_posterior)


def _read(sequences: Any) -> list[list[object]]:
    """The labels of every sequence."""
    if _has_columns(sequences):
        raise DataError(
            f"give a list of sequences, not columns ({type(sequences).__name__}), whose names "
            f"would be read as sequences: for columns that hold one sequence each write "
            f"[list(data[name]) for name in names], for one text in every row list(data[name])"
        )
    if isinstance(sequences, str | bytes) or not isinstance(sequences, Iterable):
        raise DataError(f"give a list of sequences, not {sequences!r:.40}: [sequence] for one")
    rows = []
    for k, sequence in enumerate(sequences):
        if not isinstance(sequence, Iterable) or isinstance(sequence, bytes | Set | Mapping):
            raise DataError(f"sequence {k + 1} is {sequence!r:.40}: give a list or text of labels")
        rows.append(list(sequence))
    if not rows:
        raise DataError("there is nothing to learn from: no sequences")
    refuse_empty(np.array([len(row) for row in rows]))
    return rows


def _has_columns(sequences: Any) -> bool:
    """Whether a walk through it meets names of columns."""
    return isinstance(sequences, Mapping | Table) or hasattr(sequences, "columns")


def _code(
    labels: list[object], symbols: Sequence[object] | None
) -> tuple[list[object], NDArray[np.int64]]:
    """What codes mean, and labels as codes."""
    column = label_table({"x0": labels}, symbols).column("x0")
    if column.missing().any():
        raise DataError("a label is missing: merging needs complete sequences")
    is_whole = are_whole(column.variable, labels if symbols is None else list(symbols))
    known: list[object] = [int(text) if is_whole else text for text in column.variable.states]
    return known, column.data.astype(np.int64)
