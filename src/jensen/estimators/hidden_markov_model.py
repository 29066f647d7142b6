"""Hidden Markov models, learned with values missing anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table, TableScan
from jensen.data.model_columns import UnknownLabels
from jensen.data.number_rows import NumberRows
from jensen.estimators.arrays import check_sizes, names_of
from jensen.estimators.chain_choices import (
    chain_masks,
    check_chosen_kind,
    check_kinds,
    find_emission,
    named_start,
    read_chain_start,
)
from jensen.estimators.chain_problem import chain_problem, known_chain, read_known_parameters
from jensen.estimators.chain_questions import ChainQuestions
from jensen.estimators.learning import Problem
from jensen.estimators.sequences import (
    join_sequences,
    learn_labels,
    read_labels,
    read_lengths,
    read_numbers,
    read_sequence_weights,
    refuse_lengths_as_y,
    refuse_texts,
)
from jensen.estimators.state_estimator import check_states
from jensen.exceptions import DataError
from jensen.inference.chains import Steps
from jensen.models.emissions.registry import EMISSIONS
from jensen.models.hidden_markov import Chained, HiddenMarkov
from jensen.support.arguments import answers_to

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
        None: "categorical" with `symbols`, as `start` says if it tells, else by the columns as a
        `Table` reads them, so that it is the same for an array and for a file: numbers that are
        not whole are "gaussian"; texts, and whole numbers of at most 20 different values (also
        1.0, 2.0, ...), "categorical"; other whole numbers that are not negative "poisson". Labels
        beside numbers are refused. `kind_` tells what was taken.
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

        - "initial" (K,) and "transition" (K, K): Dirichlet concentrations, a number or an array;
          by default 1 / K, which lets surplus states die; 1 (flat) for methods that look for a
          mode. With `end` stopping is one more way to go on: "transition" is (K, K + 1), its last
          column that of stopping, and by default 1 / (K + 1).
        - "emission": the concentration of labels ("categorical", "bernoulli"); by default 1,
          or 2 for methods that look for a mode, which adds one count.
        - "shape" and "rate" of "poisson": by default 1 and 1 / mean of the column, or 1 for a
          column of zeros.
        - "mean", "mean_strength", "degrees_of_freedom", "scale" of "gaussian": as in
          `GaussianMixture`.
    start
        Parameters to start from: a dict of the emission ("emission", or "means" and
        "covariances"), "initial" and "transition" ("end" with `end`), or a fitted model, which
        `clone` leaves fitted, and a file keeps as a dict. Zeros in it stay zero. Probabilities
        that it lacks are even, covariances those of the columns. "emission" of several columns of
        labels is a dict, column → (K, V), as `emission_` is. Two states with the same emission,
        the same ways out and ways in of one proportion would never part, and are refused by
        methods that climb.
    masks
        What may be: a dict of arrays of bools for "initial" (K,), "transition" (K, K), "end" (K,),
        "emission" (K, V) of one column. A cell that is masked out has probability 0, and is outside
        its Dirichlet; a start must have 0 there.
    fixed
        What is held at `start`: any of "initial", "transition" (with `end` also the
        probabilities of stopping), "emission"; of "gaussian" also "means" or "covariances" alone,
        as in `GaussianMixture`.
    n_init, max_iter, tol, accelerate, n_samples, burn_in, thin, n_chains, random_state, progress
        As in `GaussianMixture`.

    Attributes
    ----------
    initial_, transition_ : arrays
        (K,) and (K, K). After "vbem" posterior means, after "gibbs" means over samples in which
        states are matched by their steps.
    end_ : array
        (K,): the probability of stopping after each state, if `end`.
    emission_ : array
        Probabilities of labels (K, V), rates (K, D) or probabilities of 1 (K, D); for Gaussians
        the means. `means_` and `covariances_` besides for Gaussians, after "gibbs" averaged as in
        `GaussianMixture`. Of several columns of labels a dict, column → (K, V); columns without
        names are "x0", "x1", ...
    kind_ : str
        The emission that was chosen, or that the columns have where `emission` is None.
    whole_labels_ : tuple of bool
        Whether the labels of each column were whole numbers, not texts; so does `sample` give them.
    n_states_ : int
        How many states live: those with more than half a step, and always the largest.
    label_correction_ : float
        Log K! / (K - L)! of L live states, if nothing (masks, a start, a prior) tells states
        apart; else 0. With it the bound becomes an estimate, not a bound, as in `GaussianMixture`.
    free_energy_, is_bound_, trace_, n_sweeps_, converged_, starts_, r_hat_, effective_sample_size_
        As in `GaussianMixture`.

    Notes
    -----
    scikit-learn's `check_estimator` passes but for what takes rows for independent: the order of
    rows, and which of them are there, counts in a sequence. A flat list or vector is one sequence
    of one column. A text is one label: of strings give ``[list(text) for text in texts]``.
    `lengths` travels as metadata (``set_fit_request(lengths=True)``); since rows cannot be split
    between folds, cross-validate over a list of sequences.

    What is missing is summed out; under "vbem" it costs what it costs in `GaussianMixture` and
    `LatentClass`, and a step that misses everything only what E[log transition] lacks: it is time
    that passes, and no values are completed there.

    `sample` draws the parameters of every sequence first, after "vbem" from the posterior, after
    "gibbs" from the samples. After "gibbs" `smooth` and its like weigh each sample of the
    parameters by how probable it makes the sequence. That is right for new sequences; those that
    were learned from are so counted twice, once by the samples and once by this weight.

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

    n_features_in_: int

    _peer_words: ClassVar[Mapping[str, str]] = {
        "transmat_": "transition_",
        "startprob_": "initial_",
        "emissionprob_": "emission_",
        "lambdas_": "emission_",
        "covars_": "covariances_",
        "monitor_": "trace_, n_sweeps_ and converged_",
        "n_components": "n_states",
        "score_samples": "predict_proba, or log_likelihood",
    }

    @answers_to(
        n_components="n_states",
        n_iter="max_iter",
        covariance_type="covariance",
        verbose="progress",
        n_symbols="symbols",
        startprob_prior="prior={'initial': ...}",
        transmat_prior="prior={'transition': ...}",
    )
    def __init__(
        self,
        n_states: int = 2,
        *,
        emission: str | None = None,
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
        accelerate: bool = False,
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
        self.accelerate = accelerate
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
            rows; those of one column may be flat. A flat list of values is one sequence. NaN or
            None is missing: single values, or whole steps.
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
        refuse_lengths_as_y(X, y)
        self._learn(self.problem(X, lengths=lengths, sequence_weight=sequence_weight), checkpoint)
        return self

    def problem(self, X: Any, *, lengths: Any = None, sequence_weight: Any = None) -> Problem:
        """What `fit` learns: the model with its prior, the encoded steps, the choices."""
        choices = self._choices_of_loop()
        choices.check()
        check_kinds(self)
        check_states("n_states", self.n_states)
        if isinstance(X, Table | TableScan) and X.is_weighted:
            raise DataError("the table has weights of rows: give sequence_weight= instead")
        rows, lengths = self._read_rows(X, lengths)
        weight = read_sequence_weights(sequence_weight, lengths)
        if not 0.0 < weight.sum() < np.inf:
            raise DataError(
                "there is nothing to learn from: the weights sum to zero or to infinity"
            )
        return chain_problem(self, choices, rows, lengths, weight)

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
            The labels of "categorical"; 0, 1, ... unless given.
        counts
            How often each state was visited (K,), if that is known.

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
        start = read_known_parameters(given)
        model = cls(
            len(np.atleast_1d(start["initial"])),
            emission=kind,
            covariance=covariance,
            end=end is not None,
            symbols=symbols,
            start=start,
        )
        check_kinds(model)
        model.kind_ = kind
        check_chosen_kind(model)
        model.fitted_ = known_chain(model, counts)
        model._show()
        return model

    def _read_rows(self, X: Any, lengths: Any) -> tuple[NumberRows, NDArray[np.int64]]:
        """The rows to learn from; of a scan the first block tells the columns."""
        if not isinstance(X, TableScan):
            steps, _ = self._read_known(X, lengths, reset=True)
            return NumberRows.of(steps.values), steps.lengths
        self._read_known(X.sight(), None, reset=True)
        if self.variables_ is not None and self.variables_ != X.variables:
            raise DataError("the labels of a scan are its own states: leave out symbols=")
        rows, names = NumberRows.scanned(X, X.names), names_of(self, len(X.names))
        if self.variables_ is None:
            check = EMISSIONS[self.kind_].kind.check
            check_sizes(rows, names)
            rows.sum(lambda block: check(block.values, names))
        return rows, read_lengths(lengths, rows.n_rows)

    def _read_known(
        self, X: Any, lengths: Any, *, reset: bool = False
    ) -> tuple[Steps, UnknownLabels | None]:
        rows, lengths = join_sequences(X, lengths)
        unknown = None
        if reset:
            self.kind_ = find_emission(self, rows)
            check_chosen_kind(self)
        if not EMISSIONS[self.kind_].has_labels:
            values = read_numbers(self, rows, reset=reset, emission=self.kind_)
            self.variables_, self.whole_labels_ = None, ()
        elif reset:
            values, self.variables_, self.whole_labels_ = learn_labels(self, rows, self.symbols)
        else:
            assert self.variables_ is not None
            values, unknown = read_labels(self, rows, self.variables_)
            if unknown is not None:
                refuse_texts(X, self.variables_)
        return Steps(values, read_lengths(lengths, len(values))), unknown

    def _named_start(self) -> Mapping[str, Any]:
        """The parameters of `start`, by name."""
        return named_start(self.start)

    def _read_start(self, model: HiddenMarkov, rows: NumberRows) -> Chained:
        """η whose mode has the parameters of `start`."""
        chain_masks(self, model.n_states, model.emission)  # refuses what masks leave out
        return read_chain_start(self.start, model, rows)

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks: counts, 0 and 1, and labels are not any number."""
        tags = super().__sklearn_tags__()
        record = EMISSIONS.get(self.emission or "")
        tags.input_tags.positive_only = record is not None and record.is_positive
        tags.input_tags.categorical = record is None or record.column != "continuous"
        tags.input_tags.string = self.emission is None or (record is not None and record.has_labels)
        return tags
