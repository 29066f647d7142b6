"""Printing answers and writing files."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from typing import Any

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


def check_text_path(path: str) -> None:
    """Refuse a file that cannot be written, before there is anything to write."""
    from jensen.support.atomic import check_target

    if path != "-":
        check_target(path)


def check_svg_path(path: str) -> None:
    """Refuse a picture that cannot be written, or whose name promises another format."""
    ending = Path(path).suffix
    if path != "-" and ending.lower() not in ("", ".svg"):
        raise JensenError(
            f"--svg {path}: a picture is written as SVG, not as {ending}: name it "
            f"{Path(path).with_suffix('.svg')}"
        )
    check_text_path(path)


def tell(text: str) -> None:
    """What was done, beside the results."""
    print(text, file=sys.stderr)


def show_number(value: float) -> str:
    """Whole numbers in full, others with six digits after the point."""
    return f"{value:.0f}" if math.isfinite(value) and value == int(value) else f"{value:.6f}"
