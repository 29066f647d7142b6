"""Mixtures of Gaussians: sweeps from the same start, reading and checking the array included."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.agree import relative_difference
from benchmarks.workload import Check, Contender, Goal, Setting, Task, Workload

ROWS, COLUMNS, COMPONENTS, SWEEPS = 200_000, 10, 10, 20
SWEEPS_OF_VB = 10
"""From the centres F rises by rounding alone after 12 sweeps, and chance says when it stops."""

Array = NDArray[np.float64]


class Start(NamedTuple):
    """Parameters that all begin with."""

    weights: Array
    means: Array
    covariances: Array


def centres() -> Array:
    """Centres of clusters that overlap a little."""
    return 3.0 * np.random.default_rng(0).normal(size=(COMPONENTS, COLUMNS))


def rows(n: int = ROWS) -> Array:
    """Rows around the centres."""
    rng = np.random.default_rng(1)
    return centres()[rng.integers(COMPONENTS, size=n)] + rng.normal(size=(n, COLUMNS))


def start(x: Array) -> Start:
    """Rows as means, the covariance of all rows."""
    covariance = np.cov(x, rowvar=False)
    covariances = np.repeat(covariance[None], COMPONENTS, axis=0)
    return Start(np.full(COMPONENTS, 1.0 / COMPONENTS), x[:COMPONENTS], covariances)


def jensen(setting: Setting, method: str) -> Task:
    import warnings

    import jensen as jn

    warnings.simplefilter("ignore", jn.EstimateWarning)  # it is stopped on purpose
    x = rows()
    prior = _prior(x) if method == "vbem" else None
    first = start(x)._replace(means=centres()) if method == "vbem" else start(x)

    def run(_: Any) -> Any:
        model = jn.GaussianMixture(
            COMPONENTS,
            method=method,
            prior=prior,
            start=first._asdict(),
            max_iter=SWEEPS_OF_VB if method == "vbem" else SWEEPS,
            tol=0.0,
        )
        return model.fit(x)

    return Task(run, answer=lambda model: _mean_log_like(x, model))


def sklearn_em(setting: Setting) -> Task:
    import warnings

    from sklearn.mixture import GaussianMixture

    warnings.simplefilter("ignore")  # it is stopped on purpose
    x = rows()
    first = start(x)

    def run(_: Any) -> Any:
        model = GaussianMixture(
            COMPONENTS,
            max_iter=SWEEPS,
            tol=0.0,
            reg_covar=0.0,
            init_params="random",  # replaced by the start, and quicker than k-means
            weights_init=first.weights,
            means_init=first.means,
            precisions_init=np.linalg.inv(first.covariances),
        )
        return model.fit(x)

    return Task(run, answer=lambda model: _mean_log_like(x, model))


def sklearn_vb(setting: Setting) -> Task:
    """It takes no start, so it goes on from one that is set before the clock runs.

    Both begin at the centres, so that they end at the same optimum, whatever their first shares.
    """
    import warnings

    from sklearn.mixture import BayesianGaussianMixture

    warnings.simplefilter("ignore")  # it is stopped on purpose
    x = rows()
    words = _prior(x)
    distance = [((x - mean) ** 2).sum(1) for mean in centres()]
    shares = np.eye(COMPONENTS)[np.argmin(distance, axis=0)]

    def prepare() -> Any:
        model = BayesianGaussianMixture(
            n_components=COMPONENTS,
            max_iter=1,
            tol=0.0,
            reg_covar=0.0,
            init_params="random",
            weight_concentration_prior_type="dirichlet_distribution",
            weight_concentration_prior=words["concentration"],
            mean_prior=words["mean"],
            mean_precision_prior=words["mean_strength"],
            degrees_of_freedom_prior=words["degrees_of_freedom"],
            covariance_prior=np.linalg.inv(words["scale"]),
            warm_start=True,
        )
        model.fit(x[:1000])
        model._initialize(x, shares)
        return model.set_params(max_iter=SWEEPS_OF_VB)

    return Task(lambda model: model.fit(x), prepare, answer=lambda model: _sorted_means(model))


def _prior(x: Array) -> dict[str, Any]:
    return {
        "concentration": 1.0,
        "mean": x.mean(0),
        "mean_strength": 1.0,
        "degrees_of_freedom": float(COLUMNS),
        "scale": np.diag(1.0 / x.var(0)) / COLUMNS,
    }


def _mean_log_like(x: Array, model: Any) -> float:
    return float(model.score(x[:20_000]))


def _sorted_means(model: Any) -> Array:
    means = np.asarray(model.means_)
    return means[np.argsort(means[:, 0])]


def jensen_vb(setting: Setting) -> Task:
    task = jensen(setting, "vbem")
    return Task(task.run, answer=_sorted_means)


WORKLOADS = [
    Workload(
        "mixture-em",
        "20 sweeps of EM: 200,000 rows of 10 columns, 10 components with full covariances",
        Contender("jensen", partial(jensen, method="em"), "jensen"),
        [Contender("scikit-learn", sklearn_em, "scikit-learn")],
        Check(relative_difference, 1e-7, "relative, of the mean log-likelihood"),
        goal=Goal(ratio=8),
    ),
    Workload(
        "mixture-vb",
        "10 sweeps of variational Bayes over the same rows; both end at the same means",
        Contender("jensen", jensen_vb, "jensen"),
        [Contender("scikit-learn", sklearn_vb, "scikit-learn")],
        Check(relative_difference, 1e-2, "relative, of the means"),
        goal=Goal(ratio=8),
    ),
    Workload(
        "mixture-threads",
        "20 sweeps of EM, two threads beside one",
        Contender("jensen", partial(jensen, method="em"), "jensen"),
        [Contender("jensen, one thread", partial(jensen, method="em"), "jensen", threads=1)],
        Check(relative_difference, 1e-12, "relative, of the mean log-likelihood"),
        threads=2,
        goal=Goal(speedup=1.7),
    ),
]
