"""No package imports one above it: the layers of CONTRIBUTING, drawn from the imports."""

import ast
from collections.abc import Iterator
from pathlib import Path

import jensen
from benchmarks import house

PACKAGE = Path(jensen.__file__).parent

LAYERS = (
    ("exceptions", "support"),
    ("kernels",),
    ("families", "graphs"),
    ("data",),
    ("q_theta", "q_hidden"),
    ("scores",),
    (
        "models",
        "free_energy",
        "acceleration",
        "inference",
    ),  # a model makes what answers, which asks its model
    ("runs",),
    ("evidence", "independence", "q_graph", "state_merging"),
    ("estimators",),
    ("io", "plots", "examples"),
    ("cli",),
)
"""From the bottom up; packages of one layer may import each other."""

HEIGHT = {package: height for height, layer in enumerate(LAYERS) for package in layer}

CALLED_FROM_BELOW = {"io", "plots"}
"""A thing that draws itself, or is read from a file or saved, calls these inside a function."""


def imports(tree: ast.AST, inside: bool = False) -> Iterator[tuple[str, bool]]:
    """Modules of Jensen that code imports, and whether a function does; not those of types."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and node.module == "jensen":
            yield from ((alias.name, inside) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("jensen."):
            yield node.module.split(".")[1], inside
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        yield from imports(node, inside or is_function)


def test_every_package_has_its_layer():
    found = {
        path.stem
        for path in PACKAGE.iterdir()
        if (path / "__init__.py").exists() or path.suffix == ".py"
    }
    assert found - {"__init__", "__main__"} == set(HEIGHT)


def test_no_package_imports_one_above_it():
    upward = []
    for path in sorted(PACKAGE.rglob("*.py")):
        here = path.relative_to(PACKAGE).with_suffix("").parts[0]
        if here not in HEIGHT:
            continue
        for there, inside in imports(ast.parse(path.read_text(encoding="utf-8"))):
            is_door = inside and there in CALLED_FROM_BELOW
            if HEIGHT.get(there, -1) > HEIGHT[here] and not is_door:
                upward.append(f"{path.relative_to(PACKAGE)} imports {there}")
    assert upward == []


def test_numpy_s_add_at_is_called_in_one_place():
    """It reads beyond values of fewer axes than the index; `fields.add_at` spreads them first."""
    calls = [
        str(path.relative_to(PACKAGE))
        for path in sorted(PACKAGE.rglob("*.py"))
        if "add.at(" in path.read_text(encoding="utf-8")
    ]
    assert calls == ["support/fields.py"]


def test_modules_and_functions_are_short():
    """A module has at most 400 lines, and a function 60 beside its docstring."""
    modules = house.read_modules()
    long = [f"{x.name}: {x.n_lines} lines" for x in modules if x.n_lines > house.LONG_MODULE]
    long += [f"{x.name}.{f.name}" for x in modules for f in x.functions() if house.is_long(f)]
    assert long == []


def test_class_names_say_which_class_is_meant():
    names = [
        node.name
        for module in house.read_modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
    ]
    twice = sorted({name for name in names if names.count(name) > 1})
    assert len(twice) <= 10, twice
