"""What people use: scikit-learn's contract over model, algorithm and data."""

from importlib import import_module
from typing import Any

_HOME = {
    "BayesianNetwork": "bayesian_network",
    "BayesianNetworkClassifier": "classifier",
    "BayesianRegression": "bayesian_regression",
    "BinaryFactors": "binary_factors",
    "BoltzmannMachine": "boltzmann_machine",
    "FactorAnalysis": "factor_analysis",
    "FactorialHiddenMarkovModel": "factorial_hidden_markov",
    "GaussianMarkovNetwork": "gaussian_markov",
    "GaussianMixture": "gaussian_mixture",
    "HiddenMarkovModel": "hidden_markov_model",
    "LatentClass": "latent_class",
    "LinearDynamicalSystem": "linear_dynamics",
    "MarkovNetwork": "markov_network",
    "MixtureOfFactorAnalyzers": "factor_mixture",
    "MixtureOfTrees": "mixture_of_trees",
    "RBM": "rbm",
}

__all__ = [*_HOME]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    """Each when it is first used: the array estimators import scikit-learn."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"jensen.estimators.{_HOME[name]}"), name)
