"""Fitted models and the questions that they answer."""

from jensen.inference.cpt import CPT, TablePosterior
from jensen.inference.distribution import Distribution, Distributions
from jensen.inference.network import Network

__all__ = ["CPT", "Distribution", "Distributions", "Network", "TablePosterior"]
