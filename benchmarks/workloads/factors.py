"""Factor analysis of 178 wines: the most likely parameters, checking the array included."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.agree import relative_difference
from benchmarks.workload import Check, Contender, Goal, Setting, Task, Workload

FACTORS = 2

Array = NDArray[np.float64]


def wine() -> Array:
    """Thirteen columns in units of their standard deviations."""
    from sklearn.datasets import load_wine

    rows = load_wine().data
    return np.asarray((rows - rows.mean(0)) / rows.std(0))


def jensen(setting: Setting) -> Task:
    import jensen as jn

    x = wine()
    jn.FactorAnalysis(FACTORS).fit(x)  # imports what it needs
    return Task(lambda _: jn.FactorAnalysis(FACTORS).fit(x), answer=lambda m: float(m.score(x)))


def sklearn(setting: Setting) -> Task:
    from sklearn.decomposition import FactorAnalysis

    x = wine()

    def run(_: Any) -> Any:
        return FactorAnalysis(FACTORS, tol=1e-6, max_iter=20_000, svd_method="lapack").fit(x)

    return Task(run, answer=lambda model: float(model.score(x)))


WORKLOADS = [
    Workload(
        "factor-analysis",
        "the most likely factor analysis of 178 rows of 13 columns, 2 factors",
        Contender("jensen", jensen, "jensen"),
        [Contender("scikit-learn", sklearn, "scikit-learn")],
        Check(relative_difference, 1e-6, "relative, of the mean log-likelihood"),
        goal=Goal(seconds=0.005),
    ),
]
