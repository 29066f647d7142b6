"""Every example in a docstring, in the README and in the documentation runs as it is printed."""

import doctest
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import jensen

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    module.name
    for module in walk_packages(jensen.__path__, "jensen.")
    if not module.name.endswith("__main__")  # importing it runs the command line
)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("name", ["jensen", *MODULES])
def test_docstrings(name):
    assert doctest.testmod(import_module(name)).failed == 0


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages(page):
    assert doctest.testfile(str(page), module_relative=False, encoding="utf-8").failed == 0


def test_the_examples_were_found():
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = sum(bool(t.examples) for name in MODULES for t in finder.find(import_module(name)))
    assert found > 40
    assert {"jensen.kernels.counting", "jensen.estimators.bayesian_network"} <= set(MODULES)
