"""The scripts that `docs/coming-from.md` moves over, executed as they stand there.

`python -m benchmarks.coming_from` runs all that are installed, before and after.
"""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

PAGE = Path(__file__).parents[1] / "docs" / "coming-from.md"


class Script(NamedTuple):
    """What a section of the page holds."""

    data: str  # that both halves read, without prompts
    before: str
    after: str


def scripts() -> dict[str, Script]:
    """By library."""
    found = {}
    for section in re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        name = section.splitlines()[0]
        data, before, after = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
        found[name] = Script(_source(data), before, _source(after))
    return found


def _source(text: str) -> str:
    """The code of an example with prompts; what it is to raise is left out."""
    examples = doctest.DocTestParser().get_examples(text)
    return "".join(one.source for one in examples if one.exc_msg is None)


def run(script: Script, *, before: bool) -> dict[str, Any]:
    """Execute one half after its data; the names that it leaves."""
    names: dict[str, Any] = {}
    exec("import jensen as jn\n" + script.data, names)
    exec(script.before if before else script.after, names)
    return names


def main() -> None:
    """Run all halves and tell their lines and seconds."""
    for name, script in scripts().items():
        for half, before in (("before", True), ("after", False)):
            code = script.before if before else script.after
            n_lines = sum(bool(line.strip()) for line in code.splitlines())
            start = perf_counter()
            try:
                run(script, before=before)
            except ImportError as error:
                print(f"{name}, {half}: not installed ({error.name})")
                continue
            print(f"{name}, {half}: {n_lines} lines, {perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
