"""Questions to a Gaussian network, answered by conditioning its joint distribution exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import parse_number
from jensen.exceptions import JensenError
from jensen.inference.fitted import Given
from jensen.inference.gaussian_distribution import GaussianDistribution
from jensen.inference.gaussian_joint import Joint, joint, log_density, missing_cells
from jensen.inference.marginals import missing_marginal
from jensen.q_hidden.gaussian_cells import LOG_2PI
from jensen.support.checks import is_real
from jensen.support.memory import check_many

if TYPE_CHECKING:
    from jensen.inference.gaussian_network import GaussianNetwork

Array = NDArray[np.float64]


class Known(NamedTuple):
    """What is seen and what is set, by position."""

    given: dict[int, float]
    do: dict[int, float]

    def words(self, network: GaussianNetwork) -> str:
        """For headings: "y=1, do(x=2)"."""
        names = network.graph.nodes
        seen = [f"{names[v]}={x:.6g}" for v, x in self.given.items()]
        return ", ".join([*seen, *(f"do({names[v]}={x:.6g})" for v, x in self.do.items())])


def read_known(
    network: GaussianNetwork, given: Given, do: Given, targets: Sequence[int] = ()
) -> Known:
    """Numbers by position, refused where they contradict each other."""
    seen, done = _numbers(network, "given", given), _numbers(network, "do", do)
    for v in done:
        if v in seen:
            name = network.graph.nodes[v]
            raise JensenError(f"{name!r} stands in given and in do: it is either seen or set")
    for v in targets:
        if v in seen or v in done:
            name, where = network.graph.nodes[v], "given" if v in seen else "do"
            raise JensenError(f"{name!r} is asked for, but stands in {where}: leave it out there")
    return Known(seen, done)


def _numbers(network: GaussianNetwork, what: str, findings: Given) -> dict[int, float]:
    if findings is None:
        return {}
    if not isinstance(findings, Mapping):
        raise JensenError(
            f"{what} must be a dict from variable to number, not {type(findings).__name__}"
        )
    found = {}
    for name, value in findings.items():
        number: Any = parse_number(value) if isinstance(value, str) else value
        if not is_real(number) or not np.isfinite(float(number)):
            raise JensenError(f"{what}={{{name!r}: {value!r:.40}}}: {name!r} takes a finite number")
        found[network.index(name)] = float(number)
    return found


def read_targets(
    network: GaussianNetwork, targets: str | Sequence[str]
) -> tuple[tuple[str, ...], list[int]]:
    """The variables that are asked for, by name and by position."""
    names = (targets,) if isinstance(targets, str) else tuple(targets)
    at = [network.index(name) for name in names]
    if not at or len(set(at)) < len(at):
        raise JensenError("ask for one variable at least, and for each of them once")
    return names, at


def query(
    network: GaussianNetwork, targets: str | Sequence[str], given: Given = None, do: Given = None
) -> GaussianDistribution:
    """P(targets | do, given)."""
    names, at = read_targets(network, targets)
    known = read_known(network, given, do, at)
    rest, mean, covariance = _rest(network, known)
    own = [rest.index(v) for v in at]
    return GaussianDistribution(
        names, mean[own], covariance[np.ix_(own, own)], known.words(network)
    )


class _Marginals(dict[str, GaussianDistribution]):
    """By name; a name that is not there is refused in words."""

    def __missing__(self, name: str) -> GaussianDistribution:
        raise missing_marginal(name, self)


def marginals(
    network: GaussianNetwork, given: Given = None, do: Given = None
) -> dict[str, GaussianDistribution]:
    """P(x | do, given) of every variable that is not known."""
    known = read_known(network, given, do)
    rest, mean, covariance = _rest(network, known)
    words = known.words(network)
    return _Marginals(
        {
            network.graph.nodes[v]: GaussianDistribution(
                (network.graph.nodes[v],), mean[[k]], covariance[[k]][:, [k]], words
            )
            for k, v in enumerate(rest)
        }
    )


def log_probability(network: GaussianNetwork, given: Given, do: Given = None) -> float:
    """The log density of what is given."""
    known = read_known(network, given, do)
    model = joint(network, known.do)
    return float(log_density(model, _row(model, known))[0])


def sample(
    network: GaussianNetwork, n: int, given: Given, do: Given, rng: np.random.Generator
) -> Array:
    """(n, variables): draws, exactly given what is known."""
    known = read_known(network, given, do)
    check_many(n, 24.0 * len(network.regressions), "rows", "draw fewer at a time")
    found = np.empty((n, len(network.regressions)))
    for v, value in {**known.given, **known.do}.items():
        found[:, v] = value
    rest, mean, covariance = _rest(network, known)
    normal = rng.standard_normal((n, len(rest)))
    found[:, rest] = mean + np.einsum("ij,nj->ni", root_of(covariance), normal)
    return found


def root_of(covariance: Array) -> Array:
    """A matrix R with R Rᵀ = covariance, also where rounding leaves it barely not positive."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def entropy(
    network: GaussianNetwork, targets: str | Sequence[str] | None, given: Given = None
) -> float:
    """Entropy of p(targets | given) in nats; negative where they are nearly known."""
    if targets is None:
        known = read_known(network, given, None)
        targets = [x for v, x in enumerate(network.graph.nodes) if v not in known.given]
    if not targets:
        return 0.0
    found = query(network, targets, given)
    log_det = float(np.linalg.slogdet(found.covariance)[1])
    return 0.5 * (len(found.names) * (LOG_2PI + 1.0) + log_det)


def mutual_information(
    network: GaussianNetwork,
    a: str | Sequence[str],
    b: str | Sequence[str],
    given: Mapping[str, Any] | Sequence[str] | None = None,
) -> float:
    """I(a; b | given) in nats; it is the same whatever the values of what is given."""
    first, second = ([x] if isinstance(x, str) else list(x) for x in (a, b))
    both = set(first) & set(second)
    if both:
        raise JensenError(f"{sorted(both)[0]!r} stands on both sides: leave it out on one")
    evidence: Given = given if isinstance(given, Mapping) else dict.fromkeys(given or (), 0.0)
    parts = (entropy(network, x, evidence) for x in (first, second, [*first, *second]))
    one, other, together = parts
    return max(one + other - together, 0.0)


def _rest(network: GaussianNetwork, known: Known) -> tuple[list[int], Array, Array]:
    """The variables that are not known, their mean and their covariance."""
    model = joint(network, known.do)
    if not known.given:
        return model.places.tolist(), model.mean, model.covariance
    (found,) = missing_cells(model, _row(model, known))
    return model.places[found.places].tolist(), found.mean[0], found.covariance


def _row(model: Joint, known: Known) -> Array:
    """(1, k): what is seen, NaN elsewhere."""
    return np.array([[known.given.get(int(v), np.nan) for v in model.places]])
