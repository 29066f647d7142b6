"""What people use: scikit-learn's contract over model, algorithm and data."""

from jensen.estimators.bayesian_network import BayesianNetwork
from jensen.estimators.gaussian_mixture import GaussianMixture

__all__ = ["BayesianNetwork", "GaussianMixture"]
