"""Every kernel is compiled once, as declared: compile time is part of a kernel's cost."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from q_hidden.trees import cases

import jensen as jn
from jensen import kernels
from jensen.data import counting
from jensen.graphs.elimination import best_order
from jensen.independence.pc import pc
from jensen.q_hidden.trees import run
from jensen.q_hidden.trees.run import pick

pytestmark = pytest.mark.compiled


def read_only(values):
    array = np.array(values)
    array.setflags(write=False)
    return array


@pytest.mark.parametrize(
    "weights",
    [
        None,
        [1, 2, 3],
        read_only([1.0, 2.0, 3.0]),
        np.array([1, 2, 3], np.float32),
        np.arange(6.0)[::2],
        pd.Series([1, 2, 3]),
        np.array([1.0, 2.0, 3.0], ">f8"),
    ],
)
def test_kernels_see_one_type_whatever_comes_in(weights, check_signatures):
    frame = pd.DataFrame(
        {
            "a": pd.Categorical(["x", "y", "x"]),
            "b": read_only([1, 0, 1]),
            "c": [None, "u", "v"],
            "d": ["0", "1", "2"],
        }
    )
    table = jn.Table(frame, states={"d": range(300)}, weights=weights)
    counting.count_families(table, [("a", "b"), ("c",), ("d", "a")])
    counting.count_pairs(table, ["a", "b", "c"])
    net = jn.BayesianNetwork("a -> b <- c", prior="bdeu").fit(table.complete_rows())
    net.log_likelihood(net.sample(10, random_state=0))
    check_signatures()


@pytest.mark.parametrize("n_rows", [0, 1, 50])
@pytest.mark.parametrize("missing", [0.0, 0.5, 1.0])
def test_kernels_of_cluster_trees_see_one_type(n_rows, missing, check_signatures):
    """Whatever is missing, also where there is nothing to solve."""
    case, rng = cases.random_case(6, "normal"), np.random.default_rng(0)
    rows = rng.integers(0, case.cards, (n_rows, len(case.cards)))
    rows[rng.random(rows.shape) < missing] = -1
    plans = cases.make_plans(case)
    for weights in (None, rng.exponential(1.0, n_rows)):
        problems = cases.split(plans, rows, weights).problems
        for some in (problems, pick(problems, np.arange(len(problems.set_of))[::2])):
            run.expected_counts(case.flat, plans.now().program, some)
            run.marginals(case.flat, plans.now().program, some)
            run.best_counts(case.flat, plans.now().program, some)
            run.best_states(case.flat, plans.now().program, some)
            run.drawn_counts(case.flat, plans.now().program, some, rng)
    best_order(np.ones((3, 3), bool), np.array([2, 3, 4]))
    check_signatures()


@pytest.mark.parametrize("emission", ["categorical", "gaussian", "poisson", "bernoulli"])
@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "spherical"])
@pytest.mark.parametrize("n_states", [1, 2])
def test_kernels_of_hidden_states_see_one_type(emission, covariance, n_states, check_signatures):
    x = read_only((np.arange(24.0) % 5 % 2).reshape(-1, 1))
    for method in ("em", "vbem", "viterbi"):
        choices = {"method": method, "prior": {}, "random_state": 0}
        kind = {"covariance": covariance} if emission == "gaussian" else {}
        chain = jn.HiddenMarkovModel(n_states, emission=emission, **kind, **choices)
        chain.fit(x, lengths=read_only([10, 14]))
        chain.smooth(x)
        chain.decode(x)
        mixture = jn.GaussianMixture(n_states, covariance=covariance, **choices).fit(x)
        mixture.score(x)
    check_signatures()


@pytest.mark.parametrize("weights", [None, np.array([1, 2, 3], np.float32)])
def test_kernels_of_tests_of_independence_see_one_type(weights, check_signatures):
    columns = {"a": ["x", "y", "x"], "b": read_only([1, 0, 1]), "c": [None, "u", "v"]}
    table = jn.Table(columns, states={"b": range(300)}, weights=weights)
    for test in ("g2", "x2"):
        jn.independent(table, "a", "b", test=test)
        pc(table, test=test)
    check_signatures()


def test_compiling_beforehand_gives_the_same_signatures(check_signatures):
    names = list(kernels.compile_all())
    assert {"count_bits", "expect", "smooth_scaled"} <= set(names)
    assert len(names) == len(kernels.KERNELS) == len(set(names))
    check_signatures(compiled=True)


COUNT_TWICE = """
import logging
logging.basicConfig(level=logging.INFO)
import jensen as jn
from jensen.data.counting import count_families
for _ in range(2):
    count_families(jn.Table({"a": ["x", "y"]}, weights=[1, 2]), [("a",)])
"""


def count_in_a_new_process(cache):
    return subprocess.run(
        [sys.executable, "-c", COUNT_TWICE],
        env={**os.environ, "JENSEN_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    ).stderr


@pytest.mark.slow
def test_compiling_is_announced_once_and_loading_from_the_cache_is_silent(tmp_path):
    first = count_in_a_new_process(tmp_path)
    assert first.count("\n") == 1
    assert first.startswith("INFO:jensen:compiling (once; the result is cached")
    assert count_in_a_new_process(tmp_path) == ""


@pytest.mark.slow
def test_a_call_finds_what_was_compiled_beforehand(tmp_path, monkeypatch):
    monkeypatch.setenv("JENSEN_CACHE_DIR", str(tmp_path))
    wanted = {"count_weighted"}
    (seconds,) = [some for some in kernels.cache_all(2, wanted) if some]
    assert seconds.keys() == wanted
    assert count_in_a_new_process(tmp_path) == ""


@pytest.mark.slow
def test_what_was_never_compiled_is_known(tmp_path):
    script = "from jensen import kernels; print(set(kernels.never_cached()) >= {'count_weighted'})"
    for known in ("True", "False"):
        found = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "JENSEN_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert found.strip() == known
        count_in_a_new_process(tmp_path)


DEMO = """
from jensen import kernels
from jensen.cli import demo
demo.run(None)
called = {item.function.__name__ for item in kernels.KERNELS if item.function.signatures}
assert called == set(demo.KERNELS), called ^ set(demo.KERNELS)
"""


@pytest.mark.slow
def test_the_demo_names_the_kernels_it_calls(monkeypatch):
    monkeypatch.setenv("JENSEN_THREADS", "1")  # nothing is compiled beforehand
    subprocess.run([sys.executable, "-c", DEMO], capture_output=True, check=True)
