import warnings

import numpy as np
import pytest

import jensen as jn
from jensen.data.variable import Variable
from jensen.inference.network import assemble

CHOICES = {"height": 2.0, "sex": [1.5, 0.5], "shoe size": np.array([[1.0, 2.0]] * 3)}


def make_full_net():
    """A small network that uses every member of the format."""
    table = jn.Table(
        {
            "height": ["small", "tall", "tall", "very tall", "small"],
            "sex": ["ä", "b", "b", "b", "ä"],
            "shoe size": ["<= 40", "> 40", "> 40", "<= 40", "<= 40"],
        }
    )
    net = jn.BayesianNetwork("sex; height -> 'shoe size'".replace("'", '"'), prior=CHOICES)
    net.fit(table)
    variables = {v.name: v for v in net.variables}
    variables["height"] = Variable("height", "categorical", ("a", "b", "c"), (1.5, 1.75))
    net.network_ = assemble(
        net.graph,
        variables,
        {name: net.network_.part(name, net.network_.tables) for name in variables},
        {name: net.network_.part(name, net.network_.concentration) for name in variables},
        {"title": 'with "quotes"\nand lines', "source": "日本"},
        {"sex": {"position": "(1, 2)"}},
    )
    return net


def make_chain_net():
    """A network learned by a chain, with all choices that are stored."""
    table = {"b": ["x", "y", "y", None], "a": ["0", None, "1", "1"], "d": ["u", "v", "u", "u"]}
    net = jn.BayesianNetwork(
        "b -> c <- a; d",
        hidden={"c": ["lo", "hi"]},
        prior="bdeu",
        equivalent_sample_size=2.5,
        method="gibbs",
        n_samples=6,
        burn_in=3,
        thin=2,
        n_chains=2,
        random_state=7,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.EstimateWarning)  # so few samples mix badly
        return net.fit(table)


@pytest.fixture
def full_net():
    return make_full_net()


@pytest.fixture
def chain_net():
    return make_chain_net()
