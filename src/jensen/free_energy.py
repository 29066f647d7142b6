"""F[q(h), q(θ)] = E_q[log p(x, h, θ)] + H[q(h)] + H[q(θ)], and the algorithms that climb it.

Complete data have no h: F has its maximum where η = prior + stats, so the start is the answer.
"""

from typing import Any, NamedTuple, Protocol

from jensen import q_theta
from jensen.exceptions import JensenError
from jensen.families import inner
from jensen.fields import add, zip_fields


class Algorithm(NamedTuple):
    """A choice of q(θ) (and, once something is hidden, of q(h))."""

    name: str
    q_theta: q_theta.ThetaRule


EM = Algorithm("em", q_theta.mode)
VBEM = Algorithm("vbem", q_theta.posterior)
ALGORITHMS = {algorithm.name: algorithm for algorithm in (EM, VBEM)}


class Model(Protocol):
    """What the algorithms need to know of p(x, h, θ): one field per family."""

    @property
    def prior(self) -> Any:
        """η₀; a field None is the flat prior."""

    @property
    def families(self) -> Any:
        """The family of each field."""


class State(NamedTuple):
    """What is known of θ after a sweep."""

    eta: Any  # prior + statistics, one field per family
    free_energy: float


def fit_complete(model: Model, stats: Any, algorithm: Algorithm) -> State:
    """The maximum of F when nothing is hidden.

    Under `EM` F is log p(x, θ) at the mode (the log-likelihood under a flat prior); under `VBEM`
    it is the log evidence itself.
    """
    check_usable(model, algorithm)
    rule = algorithm.q_theta
    eta = add(model.prior, stats)
    t = zip_fields(lambda family, e: rule.read(family, e, None, None)[0], model.families, eta)
    cost = sum(zip_fields(rule.cost, model.families, model.prior, eta, t))
    return State(eta, inner(stats, t) - cost)


def check_usable(model: Model, algorithm: Algorithm) -> None:
    """Refuse a prior that the algorithm cannot use, naming the way out."""
    for name, family, prior in zip(model.prior._fields, model.families, model.prior, strict=True):
        if algorithm.q_theta.is_distribution and prior is None:
            raise JensenError(
                f"{algorithm.name} keeps a posterior, so it needs a prior of its {name}: give "
                f"prior='bdeu' (--prior bdeu) or a concentration, or use method='em' for the "
                f"frequencies"
            )
        if not algorithm.q_theta.is_distribution and prior is not None:
            _check_mode(name, family, prior, algorithm)


def _check_mode(name: str, family: Any, prior: Any, algorithm: Algorithm) -> None:
    if not family.has_mode(prior):
        raise JensenError(
            f"{algorithm.name} needs a prior with a mode, but the prior of the {name} has none: "
            f"its concentrations begin at {float(prior.min()) + 1.0:.3g}, and must be at least 1. "
            f"Raise the prior, or use method='vbem', which needs no mode"
        )
    if not prior.any():
        raise JensenError(
            f"{algorithm.name} would not feel a prior of the {name} with all concentrations 1: it "
            f"is flat. Use prior=None for the frequencies, or method='vbem', which does feel it"
        )
