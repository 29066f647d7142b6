"""CONTRIBUTING is true: every path in it exists, and every name in it stands in the code."""

import re
from pathlib import Path

import pytest

import jensen

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", TEXT, re.DOTALL)
PROSE = re.sub(r"```.*?```", "", TEXT, flags=re.DOTALL)
QUOTED = sorted({word for text in re.findall(r"`([^`]+)`", PROSE) for word in text.split(", ")})
PATHS = [word for word in QUOTED if re.fullmatch(r"[\w./*-]+(/|\.py|\.md|\.json)", word)]
NAMES = [word for word in QUOTED if re.fullmatch(r"[A-Za-z_][\w.]*(\(.*\))?", word)]
HOMES = (ROOT, ROOT / "src", Path(jensen.__file__).parent, ROOT / "tests")


def is_there(path: str) -> bool:
    return any(any(home.glob(path.rstrip("/"))) for home in HOMES)


@pytest.mark.parametrize("path", PATHS)
def test_every_path_exists(path):
    assert is_there(path) or is_there(f"**/{path}")


def test_the_layout_lists_what_there_is():
    (layout,) = [text for language, text in BLOCKS if text.startswith("src/jensen/")]
    listed = re.findall(r"^  ([\w.]+)/? ", layout, re.MULTILINE)
    package = Path(jensen.__file__).parent
    found = {
        path.name
        for path in package.iterdir()
        if (path.is_dir() and (path / "__init__.py").exists()) or path.suffix == ".py"
    }
    assert {*listed} == found - {"__init__.py", "__main__.py"}


@pytest.fixture(scope="module")
def code():
    """Every word of the sources, tests and benchmarks."""
    folders = ("src", "tests", "benchmarks", ".ci")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    readable = [path for path in files if path.suffix in {".py", ".md", ""}]
    found = set(re.findall(r"\w+", "\n".join(path.read_text("utf-8") for path in readable)))
    return found | {path.stem for path in files}


@pytest.mark.parametrize("name", NAMES)
def test_every_name_stands_in_the_code(name, code):
    missing = set(re.findall(r"[A-Za-z_]\w+", name)) - code
    assert not missing


def test_there_is_something_to_check():
    assert len(PATHS) > 20
    assert len(NAMES) > 40
