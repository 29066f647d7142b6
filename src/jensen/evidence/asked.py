"""From a model of the user's and a table to what all methods work on: prior, encoded rows, starts.

Nothing here knows an estimator: whatever has choices (`get_params`) and a `problem` can be asked.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from jensen.data.blocks import Units
from jensen.exceptions import JensenError
from jensen.families.gamma import Gamma
from jensen.families.normal_gamma import NormalGamma
from jensen.families.normal_wishart import NormalWishart
from jensen.families.point_mass import PointMass
from jensen.families.tied import Tied
from jensen.free_energy import VBEM, Algorithm, AnyState, state_at
from jensen.models.emissions.product import parts_of, with_parts
from jensen.models.protocol import AnyModel
from jensen.models.state_model import StateModel
from jensen.runs.restarts import Ascents, Job, ascend
from jensen.support.arguments import Streams, as_generator
from jensen.support.text import USUAL_PRIOR, keyword, option

Array = NDArray[np.float64]


class Learner(Protocol):
    """What has an evidence: an estimator, fitted or not."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Its choices by name."""

    def problem(self, table: Any, **fit: Any) -> Any:
        """What its `fit` would learn: model, data, choices, start."""


SAME_PRIOR = {"gibbs": "vbem", "me": "vbem", "stochastic-em": "em", "viterbi": "em"}
"""Methods that choose the same default prior, and of which the second takes weights at once."""
RESET = ("n_samples", "burn_in", "thin", "n_chains", "mode")
"""Choices that say nothing of the model: of chains, and of the coordinates of a mode."""

OF_ASCENTS = ("n_init", "max_iter", "tol")

STARTS = 10
"""At least so many, unless their number is given: a poor local maximum has a poor number."""
SWEEPS = 20_000
"""At most so many to a mode, which has to be exact to all digits."""


@dataclass(frozen=True)
class EvidenceQuestion:
    """A model under its prior, and the rows of which the evidence is asked."""

    learner: Any
    table: Any
    fit: dict[str, Any]
    random_state: Any = None
    n_init: int | None = None
    progress: bool = False
    strength: float = 1.0  # of the prior, in units of what it is
    made: Any = None  # what is learned, if it is known already
    _known: dict[str, Any] = field(default_factory=dict, repr=False)

    def _twin(self, method: str, **changes: Any) -> Any:
        """An estimator with the same choices that learns by another method."""
        given = self.learner.get_params(deep=False)
        usual = type(self.learner)().get_params(deep=False)
        reset = RESET + (OF_ASCENTS if method == "gibbs" else ())
        given |= {name: usual[name] for name in reset if name in usual}
        return type(self.learner)(**{**given, "method": method, **changes})

    @cached_property
    def problem(self) -> Any:
        """What is learned, under the model's own prior; refused if that is flat."""
        if self.made is not None:
            return self.made
        given = self.learner.get_params(deep=False)
        method = given["method"] or ("em" if given["prior"] is None else "vbem")
        found = self._twin(SAME_PRIOR.get(method, method)).problem(self.table, **self.fit)
        model = found.model
        if getattr(getattr(model, "kind", None), "known", None) is not None:
            raise JensenError(
                "the evidence of a network of which some tables are held is not known here: leave "
                f"out {keyword('fixed')}"
            )
        for family, prior in zip(model.families, model.prior, strict=True):
            parts = (
                prior if isinstance(prior, tuple) and not hasattr(prior, "_fields") else (prior,)
            )
            if not isinstance(family, PointMass) and any(part is None for part in parts):
                raise JensenError(
                    "the evidence integrates the parameters over their prior, and the flat prior "
                    f"of this model is no distribution: give it a prior, {USUAL_PRIOR} (hidden "
                    f"states) or {option('prior', 'bdeu')} (tables of labels)"
                )
        if self.strength != 1.0:
            if not model.has_own_priors:
                raise JensenError(
                    "the strengths of hidden factors are learned: their prior has none to choose"
                )
            found = found._replace(model=with_strength(model, self.strength))
        return found._replace(choices=replace(found.choices, method="vbem"))

    @property
    def model(self) -> AnyModel:
        """p(x, h, θ)."""
        model: AnyModel = self.problem.model
        return model

    @property
    def units(self) -> Units:
        """The encoded rows."""
        units: Units = self.problem.data.units
        return units

    @cached_property
    def drawn_units(self) -> Units:
        """The same where each row counts once, which draws of h need; weights must be whole."""
        if self.made is not None:
            return self.units
        units: Units = self._twin("gibbs").problem(self.table, **self.fit).data.units
        return units

    @property
    def flat(self) -> Any:
        """The same model for the maximum of its likelihood."""
        changes: dict[str, Any] = {"prior": None}
        if "equivalent_sample_size" in self.learner.get_params(deep=False):
            changes["equivalent_sample_size"] = 1.0
        return self._twin("em", **changes).problem(self.table, **self.fit)

    @property
    def starts(self) -> int:
        """How many starts of an ascent."""
        own: int = self.problem.choices.n_init
        return max(own, STARTS) if self.n_init is None else self.n_init

    def streams(self, *numbers: int) -> Streams:
        """Random streams, each by its numbers."""
        if "streams" not in self._known:
            chosen = self.random_state
            if chosen is None:
                chosen = self.learner.get_params(deep=False).get("random_state")
            self._known["streams"] = Streams.of(as_generator(chosen))
        found: Streams = self._known["streams"].at(*numbers)
        return found

    def climb(
        self, algorithm: Algorithm = VBEM, problem: Any = None, tol: float | None = None
    ) -> Ascents:
        """The ascents of all starts."""
        problem = self.problem if problem is None else problem
        model, units = problem.model, problem.data.units
        own = problem.choices.algorithm

        def begin(k: int, streams: Streams) -> AnyState:
            state: AnyState = problem.begin(k, streams)
            if algorithm is own and self.strength == 1.0:
                return state
            return state_at(model, units, algorithm, state.eta)

        rng = self.streams(0)()
        n_init = 1 if units.is_complete else self.starts
        job = Job(model, units, algorithm, begin)
        choices = problem.choices
        return ascend(
            job,
            rng,
            n_init=n_init,
            max_iter=choices.max_iter if tol is None else max(choices.max_iter, SWEEPS),
            tol=choices.tol if tol is None else min(choices.tol, tol),
            progress=self.progress,
        )


def with_strength(model: Any, times: float) -> Any:
    """A model whose prior counts so many times the rows that it counts for, of the same kind."""
    known: Any = model
    if not isinstance(model, StateModel):
        return replace(known, prior=_stronger(known.prior, times))
    parts = [_stronger_part(part.emission, times) for part in parts_of(model.emission)]
    names = [one.name for one in fields(known) if one.name.endswith("_prior")]
    shares = {name: _stronger(getattr(known, name), times) for name in names}
    return replace(known, emission=with_parts(known.emission, parts), **shares)


def _stronger_part(emission: Any, times: float) -> Any:
    """An emission; means that are independent of precisions have a precision of their own."""
    changes = {"prior": _stronger(emission.prior, times)}
    semi = getattr(emission, "semi", None)
    if semi is not None:
        changes["semi"] = replace(semi, precision=times * semi.precision)
    return replace(emission, **changes)


def _stronger(prior: Any, times: float) -> Any:
    """Η of a prior: concentrations, strengths of means, and degrees of freedom above the fewest.

    Expected probabilities, means and (but for full covariances) precisions stay as they were.
    """
    if prior is None:
        return None
    if isinstance(prior, np.ndarray):
        return times * (prior + 1.0) - 1.0
    if isinstance(prior, Gamma):
        return Gamma(times * (prior.total + 1.0) - 1.0, times * prior.exposure)
    if not hasattr(prior, "count") or callable(prior.count):
        found = (_stronger(part, times) for part in prior)
        return type(prior)(*found) if hasattr(prior, "_fields") else tuple(found)
    size = prior.first.shape[-1]
    fewest = 1.0 if isinstance(prior, NormalGamma | NormalWishart) else 2.0 - size
    if isinstance(prior, Tied):
        fewest = 2.0 - len(prior.strength)
    others = {name: times * x for name, x in prior._asdict().items()}
    count = times * (prior.count + fewest) - fewest
    return prior._replace(**{**others, "count": np.asarray(count)})
