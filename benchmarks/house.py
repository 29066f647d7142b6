"""Counts of the house: modules, imports, long functions, and how many files a task touches.

python -m benchmarks.house              # all counts
python -m benchmarks.house learn        # the files that one task touches, by name
"""

import ast
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent / "src" / "jensen"

LONG_MODULE, LONG_FUNCTION = 400, 60

PREPARE = """
import jensen as jn, numpy as np
table = jn.examples.load("asia").sample(500, random_state=0)
table.write("rows.csv")
numbers = np.random.default_rng(0).normal(size=(200, 2))
"""

TASKS = {
    "learn": """
from jensen.cli import main
assert main(["learn", "rows.csv", "-o", "net.json"]) == 0
""",
    "search": 'jn.learn_structure("rows.csv")',
    "vbem": """
seen = jn.read_table("rows.csv").select(["asia", "tub", "smoke", "lung", "xray"])
graph = "asia -> tub -> either; smoke -> lung -> either -> xray"
jn.BayesianNetwork(graph, method="vbem", hidden={"either": 2}, random_state=0).fit(seen)
""",
    "mixture": "jn.GaussianMixture(2, random_state=0).fit(numbers)",
    "hmm": 'jn.HiddenMarkovModel(2, emission="gaussian", random_state=0).fit(numbers)',
}
"""What is done in Python, and by the command line in the first one."""

WATCH = """
import inspect, sys, threading
files = set()
def watch(frame, event, argument):
    if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        files.add(frame.f_code.co_filename)
{prepare}
{task}
sys.setprofile(watch)
threading.setprofile(watch)
{task}
sys.setprofile(None)
import json
print("TOUCHED", json.dumps(sorted(files)))
"""


class Module(NamedTuple):
    """A module of the package, parsed."""

    name: str
    text: str
    tree: ast.Module

    @property
    def n_lines(self) -> int:
        return self.text.count("\n")

    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node

    def imports(self) -> Iterator[str]:
        """Modules of the package that are imported anywhere in this one."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("jensen"):
                for alias in node.names:
                    yield f"{node.module}.{alias.name}"
                yield str(node.module)
            elif isinstance(node, ast.Import):
                yield from (x.name for x in node.names if x.name.startswith("jensen"))


def read_modules() -> list[Module]:
    """All modules of the package."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        text = path.read_text(encoding="utf-8")
        found.append(Module(name, text, ast.parse(text)))
    return found


def importers(modules: list[Module]) -> dict[str, set[str]]:
    """By which other modules each one is imported."""
    names = {module.name for module in modules}
    found: dict[str, set[str]] = {name: set() for name in names}
    for module in modules:
        for name in set(module.imports()) & names - {module.name}:
            found[name].add(module.name)
    return found


def count_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The named parameters of a function, `self` and `cls` left out."""
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


def docstring_lines(module: Module) -> int:
    """The lines of all docstrings."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    total = 0
    for node in ast.walk(module.tree):
        if isinstance(node, kinds) and ast.get_docstring(node) is not None:
            first = node.body[0]
            total += (first.end_lineno or first.lineno) - first.lineno + 1
    return total


def is_long(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function is too long, its docstring not counted."""
    begin = function.body[1] if ast.get_docstring(function) and function.body[1:] else function
    return (function.end_lineno or 0) - begin.lineno + 1 > LONG_FUNCTION


def touched(task: str) -> list[str]:
    """The files of the package whose functions a task calls, in a fresh process.

    It is done twice, and the second time counts: functions that imports call are left out.
    """
    code = WATCH.format(prepare=PREPARE, task=TASKS[task])
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            cwd=folder,
            capture_output=True,
            check=True,
            text=True,
        )
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("TOUCHED ")]
    files = [Path(name) for name in json.loads(line.removeprefix("TOUCHED "))]
    return [str(file.relative_to(ROOT)) for file in files if file.is_relative_to(ROOT)]


def counts() -> Iterator[tuple[str, object]]:
    """What is counted, and the counts."""
    modules = read_modules()
    readers = importers(modules)
    own = [module for module in modules if "." in module.name]
    yield "modules", len(modules)
    yield "lines", sum(module.n_lines for module in modules)
    yield "modules with a single importer", sum(len(readers[x.name]) == 1 for x in own)
    classes = Counter(
        node.name
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
    )
    yield "class names used twice or more", sum(n > 1 for n in classes.values())
    kernels = [module for module in modules if module.name.startswith("jensen.kernels")]
    leaves = ("jensen.kernels", "jensen.support", "jensen.exceptions")
    above = {(x.name, y) for x in kernels for y in x.imports() if not y.startswith(leaves)}
    yield "upward imports of kernels", len(above)
    longest = max(
        (count_parameters(f), f"{x.name}.{f.name}") for x in modules for f in x.functions()
    )
    yield "longest parameter list", f"{longest[0]} ({longest[1]})"
    total = sum(module.n_lines for module in modules)
    yield "docstring share of lines", f"{sum(map(docstring_lines, modules)) / total:.1%}"
    yield f"modules above {LONG_MODULE} lines", sum(x.n_lines > LONG_MODULE for x in modules)
    yield (
        f"functions above {LONG_FUNCTION} lines",
        sum(is_long(function) for module in modules for function in module.functions()),
    )
    folders = Counter[str]()
    for module in own:
        folders[module.name.split(".")[1]] += module.n_lines
    for folder in sorted(path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()):
        n_modules = sum(module.name.split(".")[1:2] == [folder] for module in modules)
        yield f"lines in {folder}/", f"{folders[folder]} in {n_modules} modules"
    for task in TASKS:
        yield f"files touched by {task}", len(touched(task))


def main() -> None:
    """Print all counts, or the files that the tasks touch which are named."""
    if sys.argv[1:]:
        for task in sys.argv[1:]:
            print("\n".join(touched(task)))
        return
    for what, count in counts():
        print(f"{what:40}{count}")


if __name__ == "__main__":
    main()
