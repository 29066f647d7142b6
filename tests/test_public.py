"""The public names: they resolve, they are listed, and type checkers see the same ones."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import jensen as jn

HEAVY = ["numba", "pyarrow", "scipy", "pandas", "polars", "sklearn", "networkx", "matplotlib"]


@pytest.mark.parametrize("name", jn.__all__)
def test_every_public_name_resolves(name):
    value = getattr(jn, name)
    if name in jn._HOME:
        home = import_module(jn._HOME[name])
        assert value is (home if name in jn._MODULES else getattr(home, name))


FIRST = """
import os, sys
import numpy, scipy.stats, scipy.special, scipy.optimize, scipy.sparse, pyarrow, numba, narwhals
for home in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        try:
            __import__(home)
        except BaseException as error:
            print(home, type(error).__name__, error, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def test_every_home_can_be_imported_first():
    """Whatever a user asks of the package first, modules that need each other are no obstacle."""
    homes = sorted({*jn._HOME.values()})
    run = subprocess.run(
        [sys.executable, "-c", FIRST, *homes], capture_output=True, text=True, check=True
    )
    assert run.stdout == ""


def test_names_are_listed_once_and_sorted():
    assert dir(jn) == sorted(jn.__all__)
    assert len(set(jn.__all__)) == len(jn.__all__)
    assert list(jn._HOME) == sorted(jn._HOME)


def test_type_checkers_see_the_same_names():
    tree = ast.parse(Path(jn.__file__).read_text(encoding="utf-8"))
    (block,) = [
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    seen = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        for alias in node.names:
            assert alias.asname is not None, "only `import X as X` is a public name"
            is_module = node.module == "jensen"
            seen[alias.asname] = f"jensen.{alias.name}" if is_module else node.module
    assert seen == jn._HOME


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'jensen' has no attribute 'BayesNet'"):
        jn.BayesNet  # noqa: B018


def test_every_public_thing_is_documented():
    for name in jn._HOME:
        assert (getattr(jn, name).__doc__ or "").strip(), name


def test_the_errors_are_value_errors_and_jensens_own():
    for error in (jn.DataError, jn.FileError, jn.GraphError, jn.NotFittedError):
        assert issubclass(error, jn.JensenError)
    assert issubclass(jn.JensenError, ValueError)
    assert issubclass(jn.NotFittedError, AttributeError)


def imported(code):
    """Which heavy modules a fresh interpreter has after some code."""
    tail = f"import sys; print([m for m in {HEAVY} if m in sys.modules], file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{tail}"], capture_output=True, text=True, check=True
    )
    return done.stderr.strip()


@pytest.mark.parametrize(
    "code",
    [
        "import jensen",
        "import jensen as jn; dir(jn); jn.__version__; jn.JensenError",
        "from jensen.cli import main; main(['--help'])",
        "from jensen.cli import main; main(['learn', '--help'])",
        "from jensen.cli import main; main(['--version'])",
        "from jensen import DAG; DAG('A -> B').cpdag()",
    ],
)
def test_what_should_be_quick_imports_nothing_heavy(code):
    assert imported(code) == "[]"


def test_reading_a_table_needs_neither_numba_nor_scipy(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\nx,y\n")
    code = f"import jensen as jn; jn.read_table({str(tmp_path / 't.csv')!r})"
    assert "numba" not in imported(code)
    assert "scipy" not in imported(code)
