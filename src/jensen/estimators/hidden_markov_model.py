"""Hidden Markov models, learned with values missing anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table, Variable
from jensen.estimators.chain_problem import chain_problem
from jensen.estimators.chain_questions import ChainQuestions
from jensen.estimators.chain_settings import check_kinds
from jensen.estimators.known_chain import known_chain
from jensen.estimators.refusals import UnknownLabels
from jensen.estimators.sequences import (
    join_sequences,
    read_labels,
    read_lengths,
    read_numbers,
    read_sequence_weights,
)
from jensen.estimators.states_estimator import check_states
from jensen.exceptions import DataError
from jensen.inference.chains import Steps

Array = NDArray[np.float64]


class HiddenMarkovModel(ChainQuestions):
    """A hidden Markov model; any value of any step may be missing.

    Parameters
    ----------
    n_states
        How many hidden states. Under "vbem" surplus ones empty: see `n_states_`.
    emission
        What a state makes of a step: "categorical" (labels), "gaussian", "poisson" (counts) or
        "bernoulli" (0 and 1). Columns are independent given the state, but for Gaussians.
    covariance
        Of "gaussian": "full", "diagonal", "spherical", or "tied".
    end
        Whether a sequence ends by itself, with a probability for each state; else it is cut.
    symbols
        Labels of "categorical", also those that do not occur; else the labels that occur.
    method
        "em" (Baum-Welch), "vbem", "viterbi" (Viterbi training), "me", "gibbs" (forward filtering,
        backward sampling), "stochastic-em". None: "em" without a prior, else "vbem".
    prior
        None: flat; the default of all parts for "vbem", "me" and "gibbs", which need one. Else a
        dict of parts; ``prior={}`` takes the default of each:

        - "initial" and "transition": Dirichlet concentrations, a number or an array; by default
          1 / K, which lets surplus states die; 1 (flat) for methods that look for a mode.
        - "emission": the concentration of labels ("categorical", "bernoulli"); by default 1,
          or 2 for methods that look for a mode, which adds one count.
        - "shape" and "rate" of "poisson": by default 1 and 1 / mean of the column, or 1 for a
          column of zeros.
        - "mean", "mean_strength", "degrees_of_freedom", "scale" of "gaussian": as in
          `GaussianMixture`.
    start
        Parameters to start from: a dict of the emission ("emission", or "means" and
        "covariances"), "initial" and "transition" ("end" with `end`), or a fitted model, which
        `clone` leaves fitted. Zeros in it stay zero. Probabilities that it lacks are even,
        covariances those of the columns.
    masks
        What may be: a dict of arrays of bools for "initial" (K,), "transition" (K, K), "end" (K,),
        "emission" (K, V) of one column. A cell that is masked out has probability 0, and is outside
        its Dirichlet.
    fixed
        What is held at `start`: any of "initial", "transition", "emission"; of "gaussian" also
        "means" or "covariances" alone, as in `GaussianMixture`.
    n_init, max_iter, tol, n_samples, burn_in, thin, n_chains, random_state, progress
        As in `GaussianMixture`.

    Attributes
    ----------
    initial_, transition_ : arrays
        (K,) and (K, K). After "vbem" posterior means, after "gibbs" means over samples.
    end_ : array
        (K,): the probability of stopping after each state, if `end`.
    emission_ : array
        Probabilities of labels (K, V), rates (K, D) or probabilities of 1 (K, D); for Gaussians
        the means. `means_` and `covariances_` besides for Gaussians.
    n_states_ : int
        How many states live: those with more than half a step, and always the largest.
    label_correction_ : float
        Log K!, if nothing (masks, a start, a prior) tells states apart.
    free_energy_, is_bound_, trace_, n_sweeps_, converged_, starts_, r_hat_, effective_sample_size_
        As in `GaussianMixture`.

    Notes
    -----
    scikit-learn's `check_estimator` passes but for what takes rows for independent: the order of
    rows, and which of them are there, counts in a sequence. A vector of labels is one sequence.
    `lengths` travels as metadata (``set_fit_request(lengths=True)``); since rows cannot be split
    between folds, cross-validate over a list of sequences.

    What is missing is summed out; under "vbem" it costs what it costs in `GaussianMixture` and
    `LatentClass`, and a step that misses everything also what E[log transition] lacks.

    References
    ----------
    Rabiner (1989), *A tutorial on hidden Markov models*, doi:10.1109/5.18626. MacKay (1997),
    *Ensemble learning for hidden Markov models*.

    Examples
    --------
    >>> import jensen as jn
    >>> rolls = [[1, 6, 6, 6, 2, 1, 3], [2, 6, 6, 5, 6, 6, None, 6]]
    >>> model = jn.HiddenMarkovModel(2, prior={}, random_state=0).fit(rolls)
    >>> model.decode(rolls).shape
    (15,)
    """

    initial_: Array
    transition_: Array
    emission_: Any
    variables_: tuple[Variable, ...] | None
    n_features_in_: int

    def __init__(
        self,
        n_states: int = 2,
        *,
        emission: str = "categorical",
        covariance: str = "full",
        end: bool = False,
        symbols: Sequence[object] | None = None,
        method: str | None = None,
        prior: Mapping[str, Any] | None = None,
        start: Any = None,
        masks: Mapping[str, Any] | None = None,
        fixed: Iterable[str] = (),
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-8,
        n_samples: int = 1000,
        burn_in: int = 1000,
        thin: int = 1,
        n_chains: int = 4,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.n_states = n_states
        self.emission = emission
        self.covariance = covariance
        self.end = end
        self.symbols = symbols
        self.method = method
        self.prior = prior
        self.start = start
        self.masks = masks
        self.fixed = fixed
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_samples = n_samples
        self.burn_in = burn_in
        self.thin = thin
        self.n_chains = n_chains
        self.random_state = random_state
        self.progress = progress

    def fit(
        self,
        X: Any,
        y: None = None,
        *,
        lengths: Any = None,
        sequence_weight: Any = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Learn from sequences: rows (T, D) and `lengths`, or a list of sequences.

        Parameters
        ----------
        X
            The rows of all sequences, one sequence after the other: an array or dataframe, or a
            list of rows with `lengths`. Or a list of sequences: arrays, dataframes, or lists of
            rows; those of one column may be flat. NaN or None is missing: single values, or whole
            steps.
        y
            Nothing: scikit-learn's pipelines pass it.
        lengths
            Steps of each sequence; None: all rows are one sequence.
        sequence_weight
            How often each sequence counts.
        checkpoint
            A file that holds the state of the run: if it is killed, the same call goes on from
            there to the identical result.
        """
        choices = self._choices_of_loop()
        choices.check()
        check_kinds(self)
        check_states("n_states", self.n_states)
        if isinstance(X, Table) and X.weights is not None:
            raise DataError("the table has weights of rows: give sequence_weight= instead")
        steps, _ = self._read_known(X, lengths, reset=True)
        weight = read_sequence_weights(sequence_weight, steps.lengths)
        if not 0.0 < weight.sum() < np.inf:
            raise DataError(
                "there is nothing to learn from: the weights sum to zero or to infinity"
            )
        self._learn(chain_problem(self, choices, steps, weight), checkpoint)
        return self

    @classmethod
    def from_parameters(
        cls,
        *,
        initial: Any,
        transition: Any,
        end: Any = None,
        emission: Any = None,
        means: Any = None,
        covariances: Any = None,
        kind: str = "categorical",
        covariance: str = "full",
        symbols: Sequence[object] | None = None,
        counts: Any = None,
    ) -> Self:
        """A model with known parameters, to ask questions of; its `start` are these parameters.

        Parameters
        ----------
        initial, transition, end
            Probabilities (K,), (K, K), and those of stopping (K,), if sequences end.
        emission
            Probabilities of labels (K, V), rates (K, D), or probabilities of 1 (K, D).
        means, covariances
            Of Gaussians, shaped by `covariance`.
        kind
            "categorical", "gaussian", "poisson" or "bernoulli".
        symbols
            The labels of "categorical"; "0", "1", ... unless given.
        counts
            How often each state was visited, if that is known.

        Examples
        --------
        >>> import jensen as jn
        >>> model = jn.HiddenMarkovModel.from_parameters(
        ...     initial=[0.5, 0.5],
        ...     transition=[[0.9, 0.1], [0.1, 0.9]],
        ...     emission=[[0.9, 0.1], [0.2, 0.8]],
        ...     symbols=["sun", "rain"],
        ... )
        >>> model.decode(["sun", "sun", "rain", "rain", "rain"]).tolist()
        [0, 0, 1, 1, 1]
        """
        given = {
            "initial": initial,
            "transition": transition,
            "end": end,
            "emission": emission,
            "means": means,
            "covariances": covariances,
        }
        start = {name: np.asarray(x, np.float64) for name, x in given.items() if x is not None}
        n_states = len(np.atleast_1d(start["initial"]))
        model = cls(
            n_states,
            emission=kind,
            covariance=covariance,
            end=end is not None,
            symbols=symbols,
            start=start,
        )
        check_kinds(model)
        visits = np.ones(n_states) if counts is None else np.asarray(counts)
        model.fitted_ = known_chain(model, start, visits)
        model._show()
        return model

    def _read_known(
        self, X: Any, lengths: Any, *, reset: bool = False
    ) -> tuple[Steps, UnknownLabels | None]:
        rows, lengths = join_sequences(X, lengths)
        unknown = None
        if self.emission == "categorical":
            known = None if reset else self.variables_
            values, self.variables_, unknown = read_labels(self, rows, self.symbols, known)
        else:
            values = read_numbers(self, rows, reset=reset, emission=self.emission)
            self.variables_ = None
        return Steps(values, read_lengths(lengths, len(values))), unknown

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks: counts, 0 and 1, and labels are not any number."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self.emission in ("poisson", "bernoulli")
        tags.input_tags.categorical = self.emission != "gaussian"
        tags.input_tags.string = self.emission == "categorical"
        return tags

    def _show(self) -> None:
        shown = self._shown()
        self.initial_, self.transition_ = shown["initial"], shown["transition"]
        if self.end:
            self.end_ = shown["end"]
        if self.emission == "gaussian":
            self.means_, self.covariances_ = shown["means"], shown["covariances"]
        self.emission_ = shown["means"] if self.emission == "gaussian" else shown["emission"]
