"""Linear dynamical systems (Kalman filters), learned with values missing anywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table, TableScan
from jensen.data.number_rows import NumberRows, summarise
from jensen.estimators.arrays import (
    check_columns,
    check_sizes,
    names_of,
    read_matrix,
)
from jensen.estimators.dynamics_choices import (
    PARTS,
    check_initial,
    read_dynamics_prior,
    read_fixed,
    read_part,
    shapes_of,
)
from jensen.estimators.dynamics_questions import DynamicsQuestions, refuse_input
from jensen.estimators.factor_analysis import read_factor_scale
from jensen.estimators.learning import LoopChoices, Problem, Start
from jensen.estimators.sequences import (
    read_lengths,
    read_sequence_weights,
    refuse_lengths_as_y,
)
from jensen.exceptions import DataError, EstimateWarning, JensenError, warn
from jensen.models.dynamics_posterior import PriorDynamics
from jensen.models.dynamics_starts import MOST_STEPS, held
from jensen.models.emissions.priors import check_names
from jensen.models.linear_dynamics import PointDynamics, SeriesShape
from jensen.models.protocol import Data
from jensen.q_hidden.known_chain import StateSpace
from jensen.support.arguments import answers_to, check_whole
from jensen.support.machine import check_memory
from jensen.support.text import USUAL_PRIOR, plural, some

Array = NDArray[np.float64]

LEAST_NOISE = 1e-8
"""Of the variance of an output: variances that are learned are held there, and do not vanish."""


class DynamicsChoices(LoopChoices):
    """What is hidden is Gaussian: its posterior is exact, and drawn for chains."""

    methods = ("em", "vbem", "gibbs")


class LinearDynamicalSystem(DynamicsQuestions):
    """Hidden numbers that move linearly, and outputs that depend on them; any value may be missing.

    With states x, outputs y and inputs u::

        x_t = transition x_{t-1} + input_transition u_t + N(0, process_covariance)
        y_t = loadings x_t + input_loadings u_t + offset + N(0, noise_covariance)

    Parameters
    ----------
    n_states
        How many hidden states K. Under "vbem" surplus ones die: see `n_states_`, the order of the
        system.
    inputs
        Columns of X that are given, not explained: names, or positions. They may not be missing.
    noise
        Of outputs: "diagonal" (a variance for each), "isotropic" (one for all) or "full".
    process
        Of states: "full", "diagonal" or "identity". None: "full"; under a prior "identity", which
        any system can be brought to, or "diagonal" where `fixed` gives states a meaning.
    initial
        First states. "known": N(0, I). "spread": N(0, v I), v the mean variance of the outputs.
        "diffuse": nothing is known of them (exact, not by a large variance), for systems whose
        transition and loadings are held, or have a prior. "learn": mean and covariance are learned,
        from more sequences than states. Or a dict of "mean" (K,), "covariance" (K, K), NaN where
        they are learned, and "diffuse" (K,), 1 for states of which nothing is known.
    fixed
        Parameters that are held: a dict from the names in the formula to arrays, NaN where they are
        learned. A variance that is held at 0 stays there: outputs without noise are exact, states
        without noise follow exactly. Variances that are learned only come near 0.
    method
        "em" (maximum likelihood, or the mode under a prior), "vbem" (a posterior of the parameters,
        and a bound of the log evidence) or "gibbs". None: "em" without a prior, else "vbem".
    prior
        None: flat; the default of all parts for "vbem" and "gibbs", which need one. Else a dict of
        "mean_strength", "noise_shape", "noise_rate", "strength_shape", "strength_rate" and "scale",
        as in `FactorAnalysis`: columns of `loadings` and of `transition` have strengths of their
        own, so that states that explain nothing die.
    start
        A fitted system, or a dict of parameters; without it the first start is made from the axes
        of windows of the outputs, and later ones are random.
    rotate
        Whether sweeps of "vbem" also try other coordinates of the states, which are taken if F
        rises.
    n_init, max_iter, tol, n_samples, burn_in, thin, n_chains, random_state, progress
        As in `HiddenMarkovModel`.

    Attributes
    ----------
    transition_, input_transition_, process_covariance_ : arrays
        (K, K), (K, U), (K, K). After "vbem" posterior means; of precisions one over the mean. After
        "gibbs" those of the likeliest sample: samples differ in the coordinates of the states.
    loadings_, input_loadings_, offset_, noise_covariance_ : arrays
        (D, K), (D, U), (D,), (D, D).
    initial_mean_, initial_covariance_ : arrays
        (K,), (K, K).
    n_states_ : int
        How many states there are: after "vbem" those without which the bound is lower.
    free_energy_, is_bound_, trace_, n_sweeps_, converged_, starts_, r_hat_, effective_sample_size_
        As in `HiddenMarkovModel`.

    Notes
    -----
    Steps are equally far apart. A time at which nothing was observed is a step whose values are all
    NaN; intervals that are no whole number of steps are not modelled.

    Of a diffuse start the likelihood is that of Durbin and Koopman: the limit of log p(y) + ½ log κ
    for each state of variance κ.

    What outputs miss is left out of the regressions of "diagonal" and "isotropic" noise, and
    completed in expectation under "full" noise.

    References
    ----------
    Shumway and Stoffer (1982), doi:10.1111/j.1467-9892.1982.tb00349.x; Ghahramani and Hinton
    (1996), *Parameter estimation for linear dynamical systems*; Durbin and Koopman (2012), *Time
    Series Analysis by State Space Methods*; Beal (2003), chapter 5.

    Examples
    --------
    >>> import numpy as np, jensen as jn
    >>> rng = np.random.default_rng(0)
    >>> x = np.cumsum(0.3 * rng.normal(size=100))
    >>> y = np.column_stack([x, -x]) + 0.1 * rng.normal(size=(100, 2))
    >>> y[40:50] = np.nan
    >>> model = jn.LinearDynamicalSystem(1, tol=1e-4).fit(y)
    >>> model.smooth(y).mean.shape
    (100, 1)
    >>> model.forecast(y, h=3, interval=0.9).expected.shape
    (1, 3, 2)
    """

    transition_: Array
    loadings_: Array
    noise_covariance_: Array
    choices_kind = DynamicsChoices

    _peer_words: ClassVar[Mapping[str, str]] = {
        "transition_matrices": "transition_",
        "observation_matrices": "loadings_",
        "transition_covariance": "process_covariance_",
        "observation_covariance": "noise_covariance_",
        "observation_offsets": "offset_",
    }

    @answers_to(
        n_dim_state="n_states",
        k_states="n_states",
        n_components="n_states",
        transition_matrices="fixed={'transition': ...}",
        observation_matrices="fixed={'loadings': ...}",
        transition_covariance="fixed={'process_covariance': ...}",
        observation_covariance="fixed={'noise_covariance': ...}",
        n_iter="max_iter",
        em_vars="fixed, which says what is held",
    )
    def __init__(
        self,
        n_states: int = 1,
        *,
        inputs: Sequence[Any] = (),
        noise: str = "diagonal",
        process: str | None = None,
        initial: Any = "known",
        fixed: Mapping[str, Any] | None = None,
        method: str | None = None,
        prior: Mapping[str, Any] | None = None,
        start: Any = None,
        rotate: bool = True,
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
        self.inputs = inputs
        self.noise = noise
        self.process = process
        self.initial = initial
        self.fixed = fixed
        self.method = method
        self.prior = prior
        self.start = start
        self.rotate = rotate
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
            The steps of all sequences, one sequence after the other: an array, a dataframe, a path;
            or a list of sequences. NaN is missing: single values, or whole steps.
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
        problem = self.problem(X, lengths=lengths, sequence_weight=sequence_weight)
        self._learn(problem, checkpoint)
        _warn_of_boundary(self, problem)
        return self

    def problem(self, X: Any, *, lengths: Any = None, sequence_weight: Any = None) -> Problem:
        """What `fit` learns: the model with its prior, the encoded steps, the choices."""
        choices = self._choices_of_loop()
        choices.check()
        check_whole("n_states", self.n_states, at_least=1)
        if isinstance(X, Table | TableScan) and X.is_weighted:
            raise DataError("the table has weights of rows: give sequence_weight= instead")
        rows, lengths = self._read_rows(X, lengths)
        weight = read_sequence_weights(sequence_weight, lengths)
        if not 0.0 < weight.sum() < np.inf:
            raise DataError(
                "there is nothing to learn from: the weights sum to zero or to infinity"
            )
        D, U, K = len(self.output_columns_), len(self.input_columns_), int(self.n_states)
        fixed = read_fixed(self, (D, U, K), choices.algorithm)
        check_initial(fixed, int((weight > 0.0).sum()))
        words, more = read_dynamics_prior(self, choices.algorithm)
        _check_steps(self, rows, lengths, fixed, is_flat=words is None)
        check_memory(
            8.0 * rows.n_rows * (8.0 * K**2 + (1.0 + U + K) ** 2 + 4.0 * (D + U)),
            f"{plural(K, 'state')} of {plural(rows.n_rows, 'step')}",
            "choose fewer states",
        )
        found = summarise(rows.columns(range(D)))
        if isinstance(self.initial, str) and self.initial == "spread":
            fixed = fixed._replace(initial_covariance=found.variance.mean() * np.eye(K))
        shape = SeriesShape(fixed, self.noise == "isotropic")
        model: PointDynamics | PriorDynamics
        if words is None:
            model = PointDynamics(shape, LEAST_NOISE * found.variance)
        else:
            scale = read_factor_scale(more.get("scale"), found.variance, shape.is_isotropic)
            shape = SeriesShape(fixed, shape.is_isotropic, found.mean, scale)
            model = PriorDynamics(shape, words, bool(self.rotate))
        head = rows.take(np.arange(min(rows.n_rows, MOST_STEPS)))[0]
        content = (self.noise, K, bool(self.rotate), *fixed, shape.scale, lengths, weight, rows)
        units = model.shape.encode(rows, lengths, weight)
        data = Data(units, (head, lengths), content)
        start = None if self.start is None else Start(self._read_start(model, units.total_weight))
        return Problem(model, data, choices, start)

    def _read_rows(self, X: Any, lengths: Any) -> tuple[NumberRows, NDArray[np.int64]]:
        """The rows to learn from; of a scan the first block tells the columns."""
        if not isinstance(X, TableScan):
            series = self._read_series(X, lengths, reset=True)
            return NumberRows.of(series.values), series.lengths
        read_matrix(self, X.sight(), reset=True)
        names = names_of(self, len(X.names))
        self._find_columns(names)
        order = [*self.output_columns_, *self.input_columns_]
        rows = NumberRows.scanned(X, [X.names[i] for i in order])
        check_sizes(rows, [names[i] for i in order])
        missing = rows.sketch.n_seen < rows.n_rows
        for i in range(len(self.output_columns_), len(order)):
            if missing[i]:
                refuse_input(0, names[order[i]])
        return rows, read_lengths(lengths, rows.n_rows)

    def _named_start(self) -> Mapping[str, Any]:
        """The parameters of `start`, by name."""
        start = self.start
        if isinstance(start, DynamicsQuestions):
            point = start.require_fitted().point
            return {name: getattr(point, name) for name in PARTS}
        if not isinstance(start, Mapping):
            raise JensenError(
                f"start must be a fitted LinearDynamicalSystem or a dict of parameters, not "
                f"{start!r:.80}"
            )
        return start

    def _read_start(self, model: Any, weight: float) -> Any:
        """η whose mode has the parameters of `start`."""
        start, shape = self._named_start(), model.shape
        check_names(start, PARTS, "start")
        shapes = shapes_of(shape.n_outputs, shape.n_inputs, shape.n_states)
        usual = _plain_start(shapes)
        given = {name: read_part(x, name, shapes[name], "start") for name, x in start.items()}
        for name, value in given.items():
            if np.isnan(value).any():
                raise JensenError(f"{name} of start= must be numbers of the shape {shapes[name]}")
        point = StateSpace(**{**usual, **given}, diffuse=shape.fixed.diffuse)
        return model.around(held(shape.fixed, point), weight)

    def _show(self) -> None:
        point = self.fitted_.point
        for name in PARTS:
            setattr(self, f"{name}_", getattr(point, name))


def _plain_start(shapes: dict[str, tuple[int, ...]]) -> dict[str, Array]:
    """What a start that does not say more begins with."""
    found = {name: np.zeros(shape) for name, shape in shapes.items()}
    for name in ("process_covariance", "noise_covariance", "initial_covariance"):
        found[name] = np.eye(shapes[name][0])
    found["transition"] = 0.5 * np.eye(shapes["transition"][0])
    D, K = shapes["loadings"]
    found["loadings"] = np.eye(D, K)
    return found


def _check_steps(
    estimator: Any, rows: NumberRows, lengths: Any, fixed: StateSpace, *, is_flat: bool
) -> None:
    """Refuse sequences that say nothing of how states move, and columns without variance."""
    names = names_of(estimator, estimator.n_features_in_)
    order = [*estimator.output_columns_, *estimator.input_columns_]
    constant = check_columns(rows, [names[i] for i in order])
    outputs = {names[i] for i in estimator.output_columns_}
    learned = np.isnan(np.diagonal(fixed.noise_covariance)).any()
    if is_flat and learned and (found := [name for name in constant if name in outputs]):
        verb, them = ("is", "it") if len(found) == 1 else ("are", "them")
        raise DataError(
            f"{some(found)} {verb} constant, so the likelihood has no bound: leave {them} out, or "
            f"give a prior ({USUAL_PRIOR})"
        )
    moves = np.isnan(fixed.moves).any() or np.isnan(fixed.process_covariance).any()
    if moves and not (np.asarray(lengths) > 1).any():
        raise DataError(
            f"no sequence has two steps (n_samples={rows.n_rows}), so nothing says how states "
            f"move: give longer sequences, or hold transition and process_covariance in fixed="
        )


def _warn_of_boundary(estimator: LinearDynamicalSystem, problem: Problem) -> None:
    """Tell of outputs that the states explain to the last digit."""
    if not isinstance(problem.model, PointDynamics):
        return
    free = np.isnan(np.diagonal(problem.model.shape.fixed.noise_covariance))
    low = free & (np.diagonal(estimator.noise_covariance_) <= 100.0 * problem.model.least)
    if low.any():
        bare = [name for name, here in zip(estimator.outputs_, low, strict=True) if here]
        warn(
            f"no noise is left of {some(bare)}: the likelihood is highest at a variance of 0, and "
            f"none goes below {LEAST_NOISE:g} of that of its column; take fewer states, or give a "
            f"prior ({USUAL_PRIOR})",
            EstimateWarning,
        )
