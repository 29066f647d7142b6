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


@pytest.fixture
def full_net():
    return make_full_net()
