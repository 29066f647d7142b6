"""Pretended contenders, with which the harness itself is tested."""

import os
import time
from typing import Any

from benchmarks.workload import Setting, Task


def sleeper(setting: Setting, seconds: float, answer: Any = None) -> Task:
    """Takes this long and answers this."""
    return Task(lambda _: time.sleep(seconds) or answer, details=lambda result: [f"{result!r}"])


def counter(setting: Setting) -> Task:
    """Answers how often it has run, and is told by `prepare` beforehand."""
    runs: list[int] = []
    return Task(
        lambda n: n,
        prepare=lambda: runs.append(0) or len(runs),
        details=lambda n: [f"run {n}"],
    )


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
