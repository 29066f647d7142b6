"""Jensen learns graphical models from data: parameters and structure, Bayesian or not.

Names are imported when they are first used, so that `import jensen` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {  # where each public name lives; a module is its own home
    "BayesianNetwork": "jensen.estimators.bayesian_network",
    "BayesianNetworkClassifier": "jensen.estimators.classifier",
    "BayesianRegression": "jensen.estimators.bayesian_regression",
    "BinaryFactors": "jensen.estimators.binary_factors",
    "BoltzmannMachine": "jensen.estimators.boltzmann_machine",
    "CPDAG": "jensen.graphs",
    "DAG": "jensen.graphs",
    "DataError": "jensen.exceptions",
    "DataWarning": "jensen.exceptions",
    "EstimateWarning": "jensen.exceptions",
    "FactorAnalysis": "jensen.estimators.factor_analysis",
    "FactorialHiddenMarkovModel": "jensen.estimators.factorial_hidden_markov",
    "FileError": "jensen.exceptions",
    "GaussianMarkovNetwork": "jensen.estimators.gaussian_markov",
    "GaussianMixture": "jensen.estimators.gaussian_mixture",
    "GraphError": "jensen.exceptions",
    "HiddenMarkovModel": "jensen.estimators.hidden_markov_model",
    "ImpossibleError": "jensen.exceptions",
    "JensenError": "jensen.exceptions",
    "LatentClass": "jensen.estimators.latent_class",
    "LinearDynamicalSystem": "jensen.estimators.linear_dynamics",
    "MarkovNetwork": "jensen.estimators.markov_network",
    "MixtureOfFactorAnalyzers": "jensen.estimators.factor_mixture",
    "MixtureOfTrees": "jensen.estimators.mixture_of_trees",
    "NotFittedError": "jensen.exceptions",
    "PDAG": "jensen.graphs",
    "RBM": "jensen.estimators.rbm",
    "StructurePosterior": "jensen.q_graph.posterior",
    "Table": "jensen.data",
    "UndirectedGraph": "jensen.graphs",
    "Variable": "jensen.data",
    "autoregression": "jensen.estimators.structural_series",
    "bootstrap_edges": "jensen.q_graph.bootstrap",
    "choose_components": "jensen.estimators.choosing",
    "choose_order": "jensen.estimators.autoregression_orders",
    "choose_structure": "jensen.estimators.choosing_structure",
    "chow_liu": "jensen.q_graph.trees.chow_liu",
    "compare": "jensen.evidence.comparison",
    "cross_validate": "jensen.estimators.cross_validation",
    "discretize": "jensen.data",
    "examples": "jensen.examples",
    "get_memory_limit": "jensen.support.machine",
    "get_threads": "jensen.data",
    "independent": "jensen.independence.independent",
    "k_best": "jensen.q_graph.optimum.k_best",
    "learn_structure": "jensen.q_graph.learning",
    "load": "jensen.io",
    "local_level": "jensen.estimators.structural_series",
    "local_scores": "jensen.scores",
    "local_trend": "jensen.estimators.structural_series",
    "log_evidence": "jensen.evidence.methods",
    "merge_states": "jensen.estimators.merging",
    "mutual_information_matrix": "jensen.scores.mutual_information",
    "naive_bayes": "jensen.q_graph.trees.chow_liu",
    "plot": "jensen.plots",
    "read_evidence": "jensen.io.uai",
    "read_local_scores": "jensen.io.jkl",
    "read_table": "jensen.data",
    "scan_table": "jensen.data",
    "score": "jensen.scores",
    "seasonal": "jensen.estimators.structural_series",
    "set_memory_limit": "jensen.support.machine",
    "set_threads": "jensen.data",
    "structure_posterior": "jensen.q_graph.posterior.structure_posterior",
    "tan": "jensen.q_graph.trees.chow_liu",
    "write_local_scores": "jensen.io.jkl",
}

_MODULES = {"examples", "plot"}

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'jensen' has no attribute {name!r}")
    home = import_module(_HOME[name])
    value = home if name in _MODULES else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from jensen import examples as examples
    from jensen import plots as plot  # noqa: F401
    from jensen.data import Table as Table
    from jensen.data import Variable as Variable
    from jensen.data import discretize as discretize
    from jensen.data import get_threads as get_threads
    from jensen.data import read_table as read_table
    from jensen.data import scan_table as scan_table
    from jensen.data import set_threads as set_threads
    from jensen.estimators.autoregression_orders import choose_order as choose_order
    from jensen.estimators.bayesian_network import BayesianNetwork as BayesianNetwork
    from jensen.estimators.bayesian_regression import BayesianRegression as BayesianRegression
    from jensen.estimators.binary_factors import BinaryFactors as BinaryFactors
    from jensen.estimators.boltzmann_machine import BoltzmannMachine as BoltzmannMachine
    from jensen.estimators.choosing import choose_components as choose_components
    from jensen.estimators.choosing_structure import choose_structure as choose_structure
    from jensen.estimators.classifier import (
        BayesianNetworkClassifier as BayesianNetworkClassifier,
    )
    from jensen.estimators.cross_validation import cross_validate as cross_validate
    from jensen.estimators.factor_analysis import FactorAnalysis as FactorAnalysis
    from jensen.estimators.factor_mixture import (
        MixtureOfFactorAnalyzers as MixtureOfFactorAnalyzers,
    )
    from jensen.estimators.factorial_hidden_markov import (
        FactorialHiddenMarkovModel as FactorialHiddenMarkovModel,
    )
    from jensen.estimators.gaussian_markov import (
        GaussianMarkovNetwork as GaussianMarkovNetwork,
    )
    from jensen.estimators.gaussian_mixture import GaussianMixture as GaussianMixture
    from jensen.estimators.hidden_markov_model import HiddenMarkovModel as HiddenMarkovModel
    from jensen.estimators.latent_class import LatentClass as LatentClass
    from jensen.estimators.linear_dynamics import (
        LinearDynamicalSystem as LinearDynamicalSystem,
    )
    from jensen.estimators.markov_network import MarkovNetwork as MarkovNetwork
    from jensen.estimators.merging import merge_states as merge_states
    from jensen.estimators.mixture_of_trees import MixtureOfTrees as MixtureOfTrees
    from jensen.estimators.rbm import RBM as RBM
    from jensen.estimators.structural_series import autoregression as autoregression
    from jensen.estimators.structural_series import local_level as local_level
    from jensen.estimators.structural_series import local_trend as local_trend
    from jensen.estimators.structural_series import seasonal as seasonal
    from jensen.evidence.comparison import compare as compare
    from jensen.evidence.methods import log_evidence as log_evidence
    from jensen.exceptions import DataError as DataError
    from jensen.exceptions import DataWarning as DataWarning
    from jensen.exceptions import EstimateWarning as EstimateWarning
    from jensen.exceptions import FileError as FileError
    from jensen.exceptions import GraphError as GraphError
    from jensen.exceptions import ImpossibleError as ImpossibleError
    from jensen.exceptions import JensenError as JensenError
    from jensen.exceptions import NotFittedError as NotFittedError
    from jensen.graphs import CPDAG as CPDAG
    from jensen.graphs import DAG as DAG
    from jensen.graphs import PDAG as PDAG
    from jensen.graphs import UndirectedGraph as UndirectedGraph
    from jensen.independence.independent import independent as independent
    from jensen.io import load as load
    from jensen.io.jkl import read_local_scores as read_local_scores
    from jensen.io.jkl import write_local_scores as write_local_scores
    from jensen.io.uai import read_evidence as read_evidence
    from jensen.q_graph.bootstrap import bootstrap_edges as bootstrap_edges
    from jensen.q_graph.learning import learn_structure as learn_structure
    from jensen.q_graph.optimum.k_best import k_best as k_best
    from jensen.q_graph.posterior import StructurePosterior as StructurePosterior
    from jensen.q_graph.posterior.structure_posterior import (
        structure_posterior as structure_posterior,
    )
    from jensen.q_graph.trees.chow_liu import chow_liu as chow_liu
    from jensen.q_graph.trees.chow_liu import naive_bayes as naive_bayes
    from jensen.q_graph.trees.chow_liu import tan as tan
    from jensen.scores import local_scores as local_scores
    from jensen.scores import score as score
    from jensen.scores.mutual_information import (
        mutual_information_matrix as mutual_information_matrix,
    )
    from jensen.support.machine import get_memory_limit as get_memory_limit
    from jensen.support.machine import set_memory_limit as set_memory_limit
