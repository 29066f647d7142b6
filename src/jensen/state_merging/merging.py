"""Hidden Markov models by merging states: the states and transitions that the data ask for."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from jensen.exceptions import JensenError
from jensen.state_merging.climbing import Climber, Step
from jensen.state_merging.climbing import Merge as Merge
from jensen.state_merging.merged_counts import Array, Indices, Prior
from jensen.state_merging.paths import count, place, read_paths
from jensen.support.checks import check_whole, is_real


class Merging(NamedTuple):
    """A hidden Markov model as counts of completed paths, and how it came about.

    States are ordered by falling number of visits. A state's number, in `numbers` and `steps`, is
    that of the position that it was made for, where the positions of all distinct sequences are
    numbered from 0, the most frequent sequences first, of these the shortest, and these sorted.
    The states that splits make have the numbers after these.
    """

    first: Array  # (K,) sequences that begin in a state
    pairs: Array  # (K, K) transitions
    last: Array  # (K,) sequences that end in a state
    emitted: Array  # (K, V)
    numbers: Indices  # (K,)
    steps: list[Step]
    trace: Array  # log posterior after each step, of the sequences taken in so far
    log_posterior: float

    @property
    def merges(self) -> list[Merge]:
        """The steps that made one state of two."""
        return [step for step in self.steps if isinstance(step, Merge)]


def merge_states(
    sequences: Sequence[ArrayLike],
    n_symbols: int,
    *,
    weights: ArrayLike | None = None,
    concentration: float = 1.0,
    structure_weight: float = 1.0,
    lookahead: int = 20,
) -> Merging:
    """Learn the states of a hidden Markov model by Bayesian model merging.

    Distinct sequences are taken in by batches, the most frequent first. One that the model so far
    gives takes its most probable path there; any other gets a new state for each position. Then the
    two states are merged whose merging raises the log posterior most, and so on: first only states
    that share a symbol, then any two. A merge adds counts, and every sequence keeps its path.

    When no merge helps, every sequence takes its most probable path anew (Viterbi, by the posterior
    means of the moves and symbols in use), or else the best split is made: of a state, the visits
    before, or after, a visit to some state become a new one; or else two states merge, and every
    sequence takes its most probable path after that. Each is kept only if it raises the same log
    posterior. Then states merge again, until nothing helps.

    The log posterior is log p(structure) + log p(x, paths | structure). A state has a Dirichlet
    distribution over the moves that it uses (to a state, or to the end) and one over the symbols
    that it uses; so has the beginning over first states. With the counts n₁, ..., n_m of what is
    used, together n, each of these adds

        Σ log Γ(α + n_k) / Γ(α) - log Γ(m α + n) / Γ(m α) - m λ log(C + 1)

    where C is the number of states for moves, and of symbols for symbols.

    Parameters
    ----------
    sequences
        Arrays of codes 0, ..., n_symbols - 1; none may be empty. Their order is of no importance.
    n_symbols
        How many symbols there are, also if some do not occur.
    weights
        How often each sequence was seen, which need not be whole; once, if None.
    concentration
        α, of each move and symbol that a state uses. 1 is the uniform distribution.
    structure_weight
        λ, the weight of the description length of the structure. 1 is its full length; less keeps
        more states, more merges more.
    lookahead
        How many merges that do not raise the posterior are tried in a row. If the posterior is
        higher after them than ever before they are accepted, else undone.

    References
    ----------
    Stolcke and Omohundro (1994), *Best-first Model Merging for Hidden Markov Model Induction*.
    Splits are not theirs.

    Examples
    --------
    >>> model = merge_states([[0, 1], [0, 1, 0, 1], [0, 1, 0, 1, 0, 1]], n_symbols=2)
    >>> model.emitted
    array([[6., 0.],
           [0., 6.]])
    >>> model.pairs
    array([[0., 6.],
           [3., 0.]])
    """
    _check_choices(concentration, structure_weight, lookahead)
    prior = Prior(float(concentration), float(structure_weight))
    climber = Climber(read_paths(sequences, n_symbols, weights), n_symbols, prior, lookahead)
    climber.run()
    return _result(climber)


def _result(climber: Climber) -> Merging:
    """Counts of the last model, the states most visited first."""
    moves, emitted, visits, _, _ = count(climber.paths, climber.n_symbols)
    order = np.argsort(-visits[:-1], kind="stable")
    trace = np.array([step.log_posterior for step in climber.steps])
    return Merging(
        first=moves[-1, order],
        pairs=moves[np.ix_(order, order)],
        last=moves[order, -1],
        emitted=emitted[order],
        numbers=place(climber.paths).numbers[order],
        steps=climber.steps,
        trace=trace,
        log_posterior=float(trace[-1]),
    )


def _check_choices(concentration: Any, structure_weight: Any, lookahead: Any) -> None:
    if not (is_real(concentration) and 0 < concentration < math.inf):
        raise JensenError(f"concentration must be positive and finite, not {concentration!r}")
    if not (is_real(structure_weight) and 0 <= structure_weight < math.inf):
        raise JensenError(
            f"structure_weight must be finite and not negative, not {structure_weight!r}"
        )
    check_whole("lookahead", lookahead, at_least=0)
