"""What people use: scikit-learn's contract over model, algorithm and data."""

from jensen.estimators.bayesian_network import BayesianNetwork

__all__ = ["BayesianNetwork"]
