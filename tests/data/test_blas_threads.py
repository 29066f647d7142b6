"""How many threads BLAS has changes no bit of what is learned."""

import os
import subprocess
import sys

import pytest
from threadpoolctl import threadpool_info

from jensen.support.machine import one_blas_thread

SCRIPT = """
import hashlib, warnings
import numpy as np
import jensen as jn

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
x = rng.normal(size=(4000, 60)).cumsum(1)  # by no BLAS, whose threads change the last bits
gaps = np.where(rng.random(x.shape) < 0.02, np.nan, x)
columns = {f"c{i}": x[:, i] for i in range(60)}

def show(*arrays):
    print(hashlib.sha256(b"".join(np.asarray(a).tobytes() for a in arrays)).hexdigest())

for kind in ("full", "tied"):
    for method in ("em", "vbem"):
        prior = {} if method == "vbem" else None
        net = jn.GaussianMixture(
            2, covariance=kind, method=method, prior=prior, random_state=0, max_iter=2
        )
        show(net.fit(x).trace_, net.means_)
show(jn.GaussianMixture(2, method="vbem", random_state=0, max_iter=1, prior={}).fit(gaps).trace_)
show(jn.HiddenMarkovModel(2, emission="gaussian", random_state=0, max_iter=2).fit(x).trace_)
graph = "; ".join(f"c{i} -> c{j}" for i in range(8) for j in range(i + 1, 8))
show(jn.BayesianNetwork(graph, prior="bge", method="vbem").fit(columns).free_energy_)
show(jn.mutual_information_matrix(columns).values)
show(jn.score(graph, columns, "bge"))
"""


def outcome(n):
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "OPENBLAS_NUM_THREADS": n,
        "MKL_NUM_THREADS": n,
    }
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.compiled
def test_threads_of_blas_change_no_bit():
    assert outcome("1") == outcome("2")


def blas_threads():
    return [found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"]


def test_the_last_who_leaves_restores_what_there_was():
    before = blas_threads()
    with one_blas_thread():
        with one_blas_thread():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    assert blas_threads() == before
