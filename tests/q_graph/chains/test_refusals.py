"""What chains over graphs cannot do is said before any work begins."""

import re

import numpy as np
import pytest

import jensen as jn
from jensen.exceptions import GraphError, JensenError
from jensen.support.machine import set_memory_limit


@pytest.fixture(scope="module")
def few():
    return jn.examples.load("cancer").sample(20, random_state=1)


def many(n):
    columns = np.random.default_rng(n).integers(0, 2, (n, 20))
    return jn.Table({f"v{k:02d}": column for k, column in enumerate(columns)})


REFUSALS = [
    ({"method": "gibbs"}, "there is no method 'gibbs': choose"),
    ({"method": ["order"]}, "there is no method"),
    ({"n_samples": 0}, "n_samples must be a whole number, 1 or more, not 0"),
    ({"n_chains": 1.5}, "n_chains must be a whole number, 1 or more, not 1.5"),
    ({"burn_in": -1}, "burn_in must be a whole number, 0 or more, not -1"),
    ({"thin": 0}, "thin must be a whole number, 1 or more, not 0"),
    ({"temperatures": True}, "temperatures must be a whole number, 1 or more, not True"),
    ({"outside": 3}, "outside= is at most 2, not 3"),
    ({"outside": -1}, "outside must be a whole number, 0 or more, not -1"),
    ({"candidates": -1}, "candidates must be a whole number, 0 or more, not -1"),
    ({"candidates": "all"}, "candidates must be a whole number, 0 or more, not 'all'"),
    ({"candidates": {"Cancer": "Xray"}}, r"candidates= lists parents of 'Cancer': write \['Xray'"),
    ({"candidates": {"Cancer": 3}}, r"candidates= lists parents of 'Cancer': write \[3\]"),
    ({"candidates": {"Cancer": ["Rain"]}}, "candidates= names 'Rain', which is no column"),
    ({"candidates": {"Rain": ["Cancer"]}}, "candidates= names 'Rain', which is no column"),
    ({"candidates": {"Cancer": ["Cancer"]}}, "has 'Cancer' among its own parents"),
    ({"prior": "order"}, "prior='order' is for method='order' and 'exact', not for 'partition'"),
    ({"prior": ("order", "fair"), "method": "structure"}, "is for method='order' and 'exact'"),
    ({"prior": "flat"}, "prior= is 'uniform', 'fair'"),
    ({"prior": {("Cancer", "Xray"): 1, ("Xray", "Cancer"): 1}}, "required edges make a cycle"),
    ({"prior": {("Cancer", "Xray"): 1}, "forbidden": "Cancer -> Xray"}, "required and forbidden"),
    ({"prior": {("Cancer", "Xray"): 1}, "max_parents": 0}, "max_parents=0, but 1 edges to 'Xray'"),
    ({"random_state": "dice"}, "random_state must be an int"),
    ({"score": "elo"}, "elo"),
]  # fmt: skip


@pytest.mark.parametrize(("choices", "words"), REFUSALS, ids=lambda x: str(x)[:40])
def test_refusals(choices, words, few):
    with pytest.raises(JensenError, match=words):
        jn.structure_posterior(few, **choices)


@pytest.mark.parametrize(
    "choice",
    [{"candidates": 2}, {"outside": 1}, {"n_samples": 10}, {"n_chains": 1}, {"burn_in": 0},
     {"thin": 1}, {"temperatures": 1}, {"checkpoint": "run"}],
)  # fmt: skip
def test_sums_have_no_chains(choice, few):
    name = next(iter(choice))
    words = re.escape(f"{name}= belongs to chains, and method='exact' has none")
    with pytest.raises(JensenError, match=words):
        jn.structure_posterior(few, "exact", **choice)


def test_orders_of_many_variables_are_not_counted():
    with pytest.raises(GraphError, match="not done for 31 variables, only up to 30: use method="):
        jn.structure_posterior(many(31), "order", prior="uniform")


def test_memory_is_known_before():
    set_memory_limit(1e6)
    try:
        with pytest.raises(
            JensenError, match=r"the subsets of 16 candidate parents of 20 variables"
        ):
            jn.structure_posterior(many(20), candidates=16)
    finally:
        set_memory_limit(None)
