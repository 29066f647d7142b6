"""Pretended contenders, with which the harness itself is tested."""

import os
import time
from itertools import count
from typing import Any

from benchmarks.workload import Setting, Task


def sleeper(setting: Setting, seconds: float, answer: Any = None) -> Task:
    """Takes this long and answers this."""

    def run(_: None) -> Any:
        time.sleep(seconds)
        return answer

    return Task(run, details=lambda result: [f"{result!r}"])


def counter(setting: Setting) -> Task:
    """Answers which run it is; `prepare` counts."""
    numbers = count(1)
    return Task(lambda n: n, prepare=lambda: next(numbers), details=lambda n: [f"run {n}"])


def failing(setting: Setting, message: str) -> Task:
    """Sets up, and fails when it runs."""

    def run(_: None) -> None:
        raise ArithmeticError(message)

    return Task(run)


def unready(setting: Setting) -> Task:
    """Fails before it can run."""
    raise KeyError("no such thing")


def dying(setting: Setting) -> Task:
    """Takes its process with it, as a fault in compiled code does."""
    return Task(lambda _: os._exit(3))
