"""Posteriors over graphs as people use them: probabilities, averages, convergence."""

from jensen.q_graph.posterior.base import StructurePosterior
from jensen.q_graph.posterior.estimate import Estimate, Estimates
from jensen.q_graph.posterior.exact import ExactPosterior
from jensen.q_graph.posterior.sampled import ChainRun, SampledPosterior

__all__ = [
    "ChainRun",
    "Estimate",
    "Estimates",
    "ExactPosterior",
    "SampledPosterior",
    "StructurePosterior",
]
