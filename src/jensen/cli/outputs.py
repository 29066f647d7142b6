"""Printing answers and writing files."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any, NoReturn

import typer

from jensen.cli import INTERRUPTED
from jensen.cli.command import Given
from jensen.exceptions import JensenError


def print_json(answer: Any) -> None:
    """Print an answer for programs; every number in full, and null for what is not finite."""
    import json

    print_bytes(f"{json.dumps(_finite(answer), ensure_ascii=False)}\n".encode())


def _finite(answer: Any) -> Any:
    if isinstance(answer, dict):
        return {name: _finite(value) for name, value in answer.items()}
    if isinstance(answer, list):
        return list(map(_finite, answer))
    return None if isinstance(answer, float) and not math.isfinite(answer) else answer


def print_bytes(content: bytes) -> None:
    """Print what is UTF-8 whatever the terminal speaks."""
    sys.stdout.flush()
    sys.stdout.buffer.write(content)


def write_text(text: str, path: str) -> None:
    """Write a text file, whole or not at all; - prints it."""
    from jensen.support.atomic import write_whole

    if path == "-":
        print_bytes(text.encode())
        return
    with write_whole(path) as file:
        file.write(text.encode())


def check_table_path(path: str, *inputs: str) -> None:
    """Refuse a table file that cannot be written, or that is read, before there are rows."""
    from jensen.data.files import table_suffix
    from jensen.support.atomic import check_target

    if path != "-":
        table_suffix(Path(path))
        check_target(path)
        for name in inputs:
            if os.path.exists(path) and os.path.exists(name) and os.path.samefile(path, name):
                raise JensenError(
                    f"-o {path} would overwrite {name}, which is read: name another file"
                )


def check_svg_path(path: str) -> None:
    """Refuse a picture that cannot be written, or whose name promises another format."""
    from jensen.support.atomic import check_target

    ending = Path(path).suffix
    if path != "-" and ending.lower() not in ("", ".svg"):
        raise JensenError(
            f"--svg {path}: a picture is written as SVG, not as {ending}: name it "
            f"{Path(path).with_suffix('.svg')}"
        )
    if path != "-":
        check_target(path)


def write_rows(columns: dict[str, Any], output: str) -> None:
    """Write the columns of a table, arrays of Arrow, to a file; - prints CSV."""
    import pyarrow as pa

    from jensen.data.convert import write_file
    from jensen.data.files import write_arrow

    if output == "-":
        sys.stdout.flush()
        write_arrow(pa.table(columns), sys.stdout.buffer, ".csv")
    else:
        write_file(pa.table(columns), output)


def write_answer(
    columns: dict[str, Any], given: Given, in_json: Any, notes: dict[str, Any], done: str
) -> None:
    """Write rows to -o, and print or report what --json and people want to know.

    With --json and without a file `in_json` is printed instead of the rows; with a file `notes`
    are. People read `done` on standard error.
    """
    output = given.output
    if output != "-" or not given.as_json:
        write_rows(columns, output)
    if given.as_json:
        print_json(in_json() if output == "-" else {**notes, "output": output})
    elif output != "-":
        report(f"{done} written to {output}")


def report(text: str) -> None:
    """Say on standard error what was done, beside the results."""
    print(text, file=sys.stderr)


def exit_interrupted() -> NoReturn:
    """End a command whose run was interrupted, after its result was written."""
    raise typer.Exit(INTERRUPTED)


def compile_kernels(wanted: Collection[str] | None = None) -> dict[str, float]:
    """Compile kernels on all cores, all or those that are named; return the seconds of each."""
    from tqdm import tqdm

    from jensen.data import get_threads
    from jensen.kernels import cache_all, load_all

    seconds: dict[str, float] = {}
    total = len(load_all()) if wanted is None else len(wanted)
    with tqdm(total=total, desc="compiling", disable=not sys.stderr.isatty()) as bar:
        for some in cache_all(get_threads(), wanted):
            seconds |= some
            bar.update(len(some))
    return dict(sorted(seconds.items()))
