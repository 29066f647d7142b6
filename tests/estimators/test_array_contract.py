"""scikit-learn's contract for the estimators of arrays: its own checks, and its tools.

A check that does not apply is listed in NOT_OF_CHAINS and its neighbours, with the reason; what
holds in its stead has a test below.
"""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator
from sklearn.utils.validation import check_is_fitted

import jensen as jn
from jensen.estimators.sequences import read_lengths, read_numbers
from jensen.exceptions import CollapseError
from jensen.inference.chains import Steps

COVARIANCES = ("full", "diagonal", "spherical", "tied")
SHORT = {"n_samples": 3, "burn_in": 1, "n_chains": 1}
NOT_OF_FEW_ROWS = {
    "check_sample_weight_equivalence_on_dense_data": (
        "11 rows with a weight in 30 columns: a full covariance without a prior is singular"
    )
}
NOT_OF_DRAWS = {
    "check_sample_weight_equivalence_on_dense_data": (
        "a row of weight 2 is drawn as two rows, in another order than repeated rows: the "
        "posterior is the same, its draws are not"
    )
}
NOT_OF_CHAINS = {
    "check_methods_sample_order_invariance": "rows are the steps of a sequence: their order counts",
    "check_methods_subset_invariance": "what follows a step says something of its state",
}
NOT_OF_LABELS = {
    **NOT_OF_CHAINS,
    "check_fit1d": "a vector of labels is one sequence of one column",
    "check_fit2d_predict1d": "the same; it is refused by its number of columns",
}
NOT_OF_ONE_ROW = {
    **NOT_OF_CHAINS,
    "check_fit2d_1sample": "of one row one state has nothing; the error names the state",
}


class Capped(jn.HiddenMarkovModel):
    """Counts to 0 and 1 first: scikit-learn's checks have no data of this kind."""

    def _read_steps(self, X, lengths, *, reset=False):
        counts = read_numbers(self, X, reset=reset, emission="poisson")
        self.variables_ = None
        return Steps(np.minimum(counts, 1.0), read_lengths(lengths, len(counts)))


def mixture(n_components, **choices):
    return jn.GaussianMixture(n_components, random_state=0, tol=1e-5, **choices)


def chain(n_states, kind=jn.HiddenMarkovModel, **choices):
    return kind(n_states, random_state=0, tol=1e-5, **choices)


MIXTURES = [
    (jn.GaussianMixture(), NOT_OF_FEW_ROWS),
    *((mixture(1, covariance=kind, method="viterbi"), {}) for kind in ("diagonal", "spherical")),
    (mixture(1, covariance="tied"), NOT_OF_FEW_ROWS),
    *(
        (mixture(2, covariance=kind, method=method, prior={}), {})
        for kind in COVARIANCES
        for method in ("em", "vbem", "viterbi")
    ),
    (mixture(2, covariance="diagonal", method="me"), {}),
    (mixture(2, method="gibbs", **SHORT), NOT_OF_DRAWS),
]
CHAINS = [
    (chain(2, emission="gaussian", method="em"), NOT_OF_CHAINS),
    (chain(2, emission="gaussian", covariance="diagonal", prior={}), NOT_OF_CHAINS),
    (chain(2, emission="gaussian", method="viterbi", prior={}), NOT_OF_ONE_ROW),
    (chain(2, emission="poisson", method="em"), NOT_OF_CHAINS),
    (chain(2, emission="poisson", method="gibbs", **SHORT), NOT_OF_CHAINS),
    (chain(2, emission="categorical", method="em"), NOT_OF_LABELS),
    (chain(2, emission="categorical", prior={}), NOT_OF_LABELS),
    (chain(2, Capped, emission="bernoulli", prior={}), NOT_OF_CHAINS),
]


def shown(value):
    """The name of a test: what was chosen, but not the reasons."""
    return "" if isinstance(value, dict) else " ".join(str(value).split())


@pytest.mark.filterwarnings("ignore::jensen.exceptions.EstimateWarning")
@pytest.mark.parametrize(("estimator", "does_not_apply"), MIXTURES + CHAINS, ids=shown)
def test_scikit_learn_s_own_checks_pass(estimator, does_not_apply):
    check_estimator(estimator, expected_failed_checks=does_not_apply, on_skip=None)


@pytest.mark.filterwarnings("ignore::jensen.exceptions.EstimateWarning")
@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_without_a_prior_a_check_passes_or_names_the_component_that_collapsed(covariance):
    """Two components on a handful of rows: the likelihood has no bound, which is an error here."""
    estimator = mixture(2, covariance=covariance, method="em")
    for found in check_estimator(estimator, on_skip=None, on_fail=None):
        error = found["exception"]
        while error is not None and not isinstance(error, CollapseError):
            error = error.__context__
        assert found["status"] in ("passed", "skipped") or error is not None, found


def test_what_is_said_not_to_apply_is_a_check():
    for estimator, does_not_apply in MIXTURES[:1] + CHAINS:
        names = {check.func.__name__ for _, check in estimator_checks_generator(estimator)}
        assert set(does_not_apply) <= names


def test_not_fitted_is_jensen_s_error_and_scikit_learn_s():
    for estimator in (jn.GaussianMixture(), jn.HiddenMarkovModel(), jn.LatentClass()):
        for error in (jn.NotFittedError, NotFittedError):
            with pytest.raises(error, match=f"this {type(estimator).__name__} is not fitted yet"):
                estimator.predict([[0.0]])
            with pytest.raises(NotFittedError):
                check_is_fitted(estimator)


def test_scikit_learn_is_imported_when_an_array_estimator_is_touched():
    code = """if True:
        import sys, jensen
        assert not any(name.startswith("sklearn") for name in sys.modules)
        jensen.BayesianNetwork("a -> b")
        assert not any(name.startswith("sklearn") for name in sys.modules)
        jensen.GaussianMixture
        assert "sklearn" in sys.modules
    """
    subprocess.run([sys.executable, "-c", code], check=True)
