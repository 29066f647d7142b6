"""The evidence of mixtures of 82 galaxies beside published values; needs the file of velocities.

    python -m benchmarks.galaxies FILE

FILE has one velocity a line, in km/s, under a header. Roeder's entry 78 is taken as 26,960, as Chib
(1995) printed it. Published: -239.764 (two components of equal variance) and -226.803 (three), by
the tests of CNPBayes; -226.791 (three of unequal variances), Neal (1999).
"""

import sys
import time

import numpy as np

import jensen as jn

PRIOR = {
    "concentration": 1.0, "mean": 20.0, "mean_variance": 100.0, "degrees_of_freedom": 6.0,
    "scale": 1.0 / 40.0,
}  # fmt: skip
PUBLISHED = {(2, "tied"): -239.764, (3, "tied"): -226.803, (3, "diagonal"): -226.791}
CHAINS = {"smc": 200, "bridge": 20}


def main(path: str) -> None:
    """Print a line for every model and method."""
    y = np.loadtxt(path, skiprows=1) / 1000.0
    y[77] = 26.96
    print("K covariance method    evidence  error  standard error  processor seconds")
    for (n, covariance), published in PUBLISHED.items():
        for method, n_chains in CHAINS.items():
            model = jn.GaussianMixture(n, covariance=covariance, prior=PRIOR, random_state=0)
            began = time.process_time()
            found = jn.log_evidence(model, y[:, None], method, n_chains=n_chains)
            took = time.process_time() - began
            print(
                f"{n} {covariance:10} {method:6} {found.value:11.4f} {found.value - published:+.4f}"
                f"  {found.standard_error:.4f}  {took:.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1])
