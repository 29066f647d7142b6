"""Hidden Markov models, learned with values missing anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table, Variable
from jensen.data.variable import label_text
from jensen.data.weights import check_weights
from jensen.estimators.arrays import check_columns
from jensen.estimators.chain_questions import ChainQuestions
from jensen.estimators.chain_settings import chain_masks, read_chain_start
from jensen.estimators.sequences import (
    join_sequences,
    read_labels,
    read_lengths,
    read_numbers,
)
from jensen.estimators.state_learning import StateProblem, repeat_by_weight
from jensen.estimators.states_estimator import (
    check_held,
    check_rows,
    check_states,
    concentration,
    with_freedom,
    with_labels,
    words_of_prior,
)
from jensen.exceptions import DataError, JensenError
from jensen.fields import zip_fields
from jensen.inference.chains import Steps
from jensen.models.chain_starts import chain_start
from jensen.models.emissions.held_parts import PARTS
from jensen.models.emissions.making import EMISSIONS, make_emission, words_of_emission
from jensen.models.emissions.priors import COVARIANCES, check_words
from jensen.models.fitted_states import FittedStates
from jensen.models.hidden_markov import HiddenMarkov

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


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
        - "shape" and "rate" of "poisson": by default 1 and 1 / mean of the column.
        - "mean", "mean_strength", "degrees_of_freedom", "scale" of "gaussian": as in
          `GaussianMixture`.
    start
        Parameters to start from: a dict of "initial", "transition" and the emission ("emission",
        or "means" and "covariances"; "end" with `end`), or a fitted model. Zeros in it stay zero.
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
        How many states live: those expected to have made more than half a step.
    free_energy_, is_bound_, trace_, n_sweeps_, converged_, starts_, r_hat_, effective_sample_size_
        As in `GaussianMixture`.

    Notes
    -----
    scikit-learn's `check_estimator` passes but for what takes rows for independent: the order of
    rows, and which of them are there, counts in a sequence. A vector of labels is one sequence.
    `lengths` travels as metadata (``set_fit_request(lengths=True)``); since rows cannot be split
    between folds, cross-validate over a list of sequences.

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
        """Learn from sequences: rows (T, D) and `lengths`, or a list of arrays.

        Parameters
        ----------
        X
            The rows of all sequences, one sequence after the other; or a list of sequences. NaN
            or None is missing: single values, or whole steps.
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
        self._check_kinds()
        if isinstance(X, Table) and X.weights is not None:
            raise DataError("the table has weights of rows: give sequence_weight= instead")
        steps = self._read_steps(X, lengths, reset=True)
        n = len(steps.lengths)
        weight = np.ones(n) if sequence_weight is None else check_weights(sequence_weight, n)
        if not 0.0 < weight.sum() < np.inf:
            raise DataError(
                "there is nothing to learn from: the weights sum to zero or to infinity"
            )
        self._learn(self._problem(steps, weight), checkpoint)
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
        model._check_kinds()
        model._take(start, np.ones(n_states) if counts is None else np.asarray(counts))
        return model

    def _take(self, start: Mapping[str, Array], counts: Array) -> None:
        """Set known parameters as what was learned."""
        shown = start.get("means", start.get("emission"))
        if shown is None or shown.ndim != 2:
            raise JensenError("give emission= (or means= and covariances=) with a row per state")
        width, self.variables_ = shown.shape[1], None
        if self.emission == "categorical":
            labels = tuple(map(label_text, self.symbols or range(width)))
            self.variables_ = (Variable("x0", "categorical", labels),)
            width = 1
        self.n_features_in_ = width
        masks = chain_masks(self, self.n_states)
        emission = make_emission(
            self.emission,
            self.n_states,
            np.zeros((1, width)),
            None,
            covariance=self.covariance,
            labels=[v.n_states for v in self.variables_ or ()],
            masks=masks.pop("emission", None),
        )
        model = HiddenMarkov(emission, None, None, self.n_states, self.end, masks=masks)
        eta = read_chain_start(start, model)
        t = zip_fields(lambda family, e: family.mode_stats(e), model.families, eta)
        self.fitted_ = FittedStates(model, type(eta)(*t), counts)
        self._show()

    def _check_kinds(self) -> None:
        for name, known in (("emission", EMISSIONS), ("covariance", COVARIANCES)):
            if getattr(self, name) not in known:
                raise JensenError(
                    f"{name} must be one of {', '.join(known)}, not {getattr(self, name)!r}"
                )
        if self.symbols is not None and self.emission != "categorical":
            raise JensenError("symbols are the labels of emission='categorical'")

    def _read_steps(self, X: Any, lengths: Any, *, reset: bool = False) -> Steps:
        labels = self.emission == "categorical"
        rows, lengths = join_sequences(X, lengths, labels=labels)
        if not labels:
            values = read_numbers(self, rows, reset=reset, emission=self.emission)
            self.variables_ = None
        else:
            known = None if reset else self.variables_
            values, self.variables_ = read_labels(self, rows, self.symbols, known)
        return Steps(values, read_lengths(lengths, len(values)))

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks: counts, 0 and 1, and labels are not any number."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self.emission in ("poisson", "bernoulli")
        tags.input_tags.categorical = self.emission != "gaussian"
        tags.input_tags.string = self.emission == "categorical"
        return tags

    def _problem(self, steps: Steps, weight: Array) -> StateProblem:
        choices = self._choices_of_loop()
        choices.check()
        K = check_states("n_states", self.n_states)
        algorithm = choices.algorithm
        check_columns(steps.values, [f"x{i}" for i in range(steps.values.shape[1])])
        repeated = repeat_by_weight(weight, algorithm)
        chosen = np.flatnonzero(weight > 0.0) if repeated is None else repeated
        steps = _chosen_steps(steps, chosen)
        weight = weight[chosen] if repeated is None else np.ones(len(chosen))
        words = words_of_prior(self.prior, algorithm)
        if words is not None:
            check_words(words, ("initial", "transition", *words_of_emission(self.emission)))
            words = with_labels(words, algorithm)
        is_gaussian = self.emission == "gaussian"
        if is_gaussian:
            words = with_freedom(words, algorithm, self.covariance, steps.values.shape[1])
        known = ("initial", "transition", "emission", *(PARTS if is_gaussian else ()))
        fixed = check_held(self.fixed, known, self.start)
        if words is None and is_gaussian and not {"emission", *PARTS} & {*fixed}:
            check_rows(len(steps.values), K, self.noun)
        masks = chain_masks(self, K)
        emission = make_emission(
            self.emission,
            K,
            steps.values,
            words,
            weight=None if np.all(weight == 1.0) else np.repeat(weight, steps.lengths),
            covariance=self.covariance,
            labels=None if self.variables_ is None else [v.n_states for v in self.variables_],
            masks=masks.pop("emission", None),
        )
        width = K + bool(self.end)
        model = HiddenMarkov(
            emission,
            _outside_zero(concentration(words, "initial", (K,), algorithm), masks.get("initial")),
            _outside_zero(
                concentration(words, "transition", (K, width), algorithm), masks.get("transition")
            ),
            K,
            bool(self.end),
            masks=masks,
        )
        start = None if self.start is None else read_chain_start(self.start, model)
        if fixed:
            assert start is not None
            model = model.holding(start, fixed)
        return StateProblem(
            model,
            model.encode(steps.values, steps.lengths, weight),
            choices,
            lambda k, rng: chain_start(model, steps.values, steps.lengths, weight, k, rng),
            start,
            may_relabel=start is None and not self.masks and not _gives_meaning(words),
            content=(repr(self._plain_settings()), steps.values, steps.lengths, weight),
            sequences=chosen,
        )

    def _plain_settings(self) -> dict[str, Any]:
        """What shapes the result besides the loop."""
        names = ("n_states", "emission", "covariance", "end", "symbols", "prior", "masks", "fixed")
        with np.printoptions(threshold=10**9, precision=17):
            return {name: repr(getattr(self, name)) for name in names}

    def _show(self) -> None:
        shown = self._shown()
        self.initial_, self.transition_ = shown["initial"], shown["transition"]
        if self.end:
            self.end_ = shown["end"]
        if self.emission == "gaussian":
            self.means_, self.covariances_ = shown["means"], shown["covariances"]
        self.emission_ = shown["means"] if self.emission == "gaussian" else shown["emission"]


def _chosen_steps(steps: Steps, chosen: NDArray[np.intp]) -> Steps:
    """These sequences, in this order."""
    if np.array_equal(chosen, np.arange(len(steps.lengths))):
        return steps
    begin = np.cumsum(steps.lengths) - steps.lengths
    rows = [np.arange(begin[s], begin[s] + steps.lengths[s]) for s in chosen]
    return Steps(steps.values[np.concatenate(rows)], steps.lengths[chosen])


def _outside_zero(prior: Array | None, mask: NDArray[np.bool_] | None) -> Array | None:
    """A prior says nothing of what is masked out."""
    return prior if prior is None or mask is None else np.where(mask, prior, 0.0)


def _gives_meaning(words: Mapping[str, Any] | None) -> bool:
    """Whether a prior may say different things of different states."""
    return words is not None and any(np.ndim(value) > 0 for value in words.values())
