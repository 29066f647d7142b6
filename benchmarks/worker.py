"""One contender in its own process: started fresh, run on demand, killed at the limit."""

import multiprocessing
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from benchmarks.machine import peak_gib
from benchmarks.workload import Contender, Setting

try:
    import resource
except ImportError:  # Windows
    resource = None

THREAD_VARIABLES = (
    "JENSEN_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "POLARS_MAX_THREADS",
)


class ProblemError(Exception):
    """Why a contender has no figure, in words for the report."""


class Run(NamedTuple):
    """One timed run."""

    seconds: float
    processor: float  # seconds, of all threads together
    details: tuple[str, ...]
    gib: float | None = None  # memory of the process at its peak, setting up included


class Worker:
    """A contender that has set itself up and waits; its process has nothing else in it."""

    def __init__(self, contender: Contender, setting: Setting, limit: float) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        arguments = (contender.setup, setting, theirs)
        self._process = context.Process(target=_serve, args=arguments, daemon=True)
        with _threads_said(setting.threads):
            self._process.start()
        theirs.close()
        self._receive(limit, "to set up")

    def run(self, limit: float) -> Run:
        """Run once and say how long it took."""
        self._connection.send("run")
        return Run(*self._receive(limit, "a run"))

    def answer(self, limit: float) -> Any:
        """The answer of the last run."""
        self._connection.send("answer")
        return self._receive(limit, "to show its answer")

    def stop(self, patience: float = 10.0) -> None:
        """End the process: let it tidy up, but not for long."""
        self._connection.close()
        self._process.join(patience)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()

    def _receive(self, limit: float, what: str) -> Any:
        try:
            if not self._connection.poll(limit):
                raise self._stopped(f"stopped: {what} took longer than {limit:g} s")
            failed, value = self._connection.recv()
        except EOFError:
            self._process.join()
            code = self._process.exitcode
            raise self._stopped(f"its process died (exit code {code})") from None
        if failed:
            raise self._stopped(f"failed: {value}")
        return value

    def _stopped(self, reason: str) -> ProblemError:
        self.stop(patience=0.0)
        return ProblemError(reason)


@contextmanager
def _threads_said(n: int) -> Iterator[None]:
    """Libraries read these when they are imported, which is before the child can set them."""
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(n)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _serve(setup: Any, setting: Setting, connection: Connection) -> None:
    """What the process does: set up, then run or answer whenever asked."""
    _silence()
    try:
        task = setup(setting)
        connection.send((False, None))
        result = None
        while True:
            if connection.recv() == "answer":
                connection.send((False, task.answer(result)))
                result = None  # some hold gigabytes
                continue
            result = None
            given = task.prepare()
            wall, processor = time.perf_counter(), _processor_seconds()
            result = task.run(given)
            seconds, used = time.perf_counter() - wall, _processor_seconds() - processor
            del given
            details = tuple(task.details(result))
            connection.send((False, (seconds, used, details, peak_gib())))
    except EOFError:  # nobody asks any more
        return
    except BaseException as error:
        connection.send((True, _in_a_line(error)))


def _processor_seconds() -> float:
    """Of all threads, and of processes that were started and have ended."""
    if resource is None:
        return time.process_time()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _silence() -> None:
    """Progress bars and log lines of the peers go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def _in_a_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
