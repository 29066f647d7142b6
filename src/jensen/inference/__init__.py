"""Discrete networks with known tables, and the questions that can be put to them."""

from jensen.inference.cpt import CPT
from jensen.inference.distribution import Distribution, Distributions
from jensen.inference.network import Network
from jensen.inference.posterior import TablePosterior

__all__ = ["CPT", "Distribution", "Distributions", "Network", "TablePosterior"]
