"""Networks at draws of their parameters, or at samples that a chain kept."""

from __future__ import annotations

from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.families.dirichlet import SegmentedDirichlet
from jensen.inference.fitted import FittedNetwork
from jensen.inference.gaussian_network import GaussianNetwork
from jensen.inference.mixed_network import MixedNetwork, NumberParameters
from jensen.inference.mixed_parameters import drawn
from jensen.inference.network import Network
from jensen.inference.regression import LinearRegression
from jensen.support.text import one_of

Array = NDArray[np.float64]


def draw_networks(network: FittedNetwork, n: int, rng: np.random.Generator) -> list[FittedNetwork]:
    """As many networks, each at one draw of the parameters; of samples some that lie far apart."""
    samples = getattr(network, "samples", None)
    if samples is not None:
        if n > len(samples):
            raise JensenError(
                f"this network has {len(samples):,} samples of its parameters, and n={n:,} are "
                f"asked for: ask for fewer, or keep more (n_samples)"
            )
        at = np.linspace(0, len(samples) - 1, n).round().astype(int)
        return [_at_sample(network, samples[s]) for s in at]
    if not network.has_posterior:
        raise JensenError(
            "this network has point estimates only, and imputations that differ by these alone "
            "would look surer than they are: learn it with "
            f"{one_of('method', ['vbem', 'gibbs'])}, or leave out n for one draw"
        )
    return [_draw(network, rng) for _ in range(n)]


def _tables(network: Network, concentration: Array, rng: np.random.Generator) -> Array:
    family = SegmentedDirichlet(network.wiring.row_lengths())
    return np.exp(family.sample_stats(concentration - 1.0, rng))


@singledispatch
def _draw(network: FittedNetwork, rng: np.random.Generator) -> FittedNetwork:
    """The network at a draw of its parameters."""
    raise JensenError(network.lacks)


@_draw.register
def _(network: Network, rng: np.random.Generator) -> FittedNetwork:
    assert network.concentration is not None, "there is a posterior"
    tables = _tables(network, network.concentration, rng)
    return Network(network.graph, network.variables, tables)


@_draw.register
def _(network: GaussianNetwork, rng: np.random.Generator) -> FittedNetwork:
    assert network.regression_posteriors is not None, "there is a posterior"
    centre, parts = network.regression_posteriors
    found = []
    for v, (name, part) in enumerate(zip(network.graph.nodes, parts, strict=True)):
        above = network.graph.parent_indices[v]
        one = drawn(part, centre, v, above, rng)
        assert isinstance(one, NumberParameters), "there are no counts"
        slopes = zip(network.graph.parents(name), one.slopes[0].tolist(), strict=True)
        found.append(
            LinearRegression(name, float(one.intercepts[0]), dict(slopes), float(one.variances[0]))
        )
    return GaussianNetwork(network.graph, tuple(found), constants=network.constants)


@_draw.register
def _(network: MixedNetwork, rng: np.random.Generator) -> FittedNetwork:
    assert network.posteriors is not None, "there is a posterior"
    concentration, shift, parts = network.posteriors
    tables = _tables(network.label_network, concentration, rng)
    above = network.layout.number_parents
    numbers = tuple(
        drawn(part, shift, v, own, rng)
        for v, (part, own) in enumerate(zip(parts, above, strict=True))
    )
    return MixedNetwork(
        network.graph, network.variables, tables, numbers, constants=network.constants
    )


@singledispatch
def _at_sample(network: FittedNetwork, sample: Array) -> FittedNetwork:
    """The network at one sample of its parameters."""
    raise JensenError(network.lacks)


@_at_sample.register
def _(network: Network, sample: Array) -> FittedNetwork:
    return Network(network.graph, network.variables, sample)


@_at_sample.register
def _(network: MixedNetwork, sample: Array) -> FittedNetwork:
    from jensen.models.mixed_network import unpack

    family = SegmentedDirichlet(network.layout.wiring.row_lengths())
    tables, numbers = unpack(network.layout, sample, family)
    return MixedNetwork(
        network.graph, network.variables, tables, numbers, constants=network.constants
    )
