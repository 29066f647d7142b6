import doctest
from importlib import import_module
from pkgutil import iter_modules

import pytest

import jensen.graphs


@pytest.mark.parametrize(
    "name", sorted(module.name for module in iter_modules(jensen.graphs.__path__))
)
def test_the_examples_of_the_docstrings_run(name):
    assert doctest.testmod(import_module(f"jensen.graphs.{name}")).failed == 0
