"""What a workload is: one thing to do, who does it, and when two answers are the same."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple


class Setting(NamedTuple):
    """What every contender of a workload is given: the same data and as many threads."""

    rows: int
    threads: int
    folder: Path
    missing: float = 0.0

    @property
    def csv(self) -> Path:
        """The rows of alarm; written before the race if there are any."""
        holes = f"-{self.missing:g}-missing" if self.missing else ""
        return self.folder / f"alarm-{self.rows}{holes}.csv"


def _nothing() -> None:
    return None


def _as_it_is(result: Any) -> Any:
    return result


def _no_details(result: Any) -> Sequence[str]:
    return ()


@dataclass(frozen=True)
class Task:
    """What a contender does, ready to go; only `run` is timed.

    Parameters
    ----------
    run
        Takes what `prepare` returned, and returns the result.
    prepare
        Called before each run, so that no run profits from what the one before it remembered.
    answer
        Makes of a result what is compared: numbers or arrays, small enough for a pipe.
    details
        Lines printed under the figures; those of the fastest run.
    """

    run: Callable[[Any], Any]
    prepare: Callable[[], Any] = _nothing
    answer: Callable[[Any], Any] = _as_it_is
    details: Callable[[Any], Sequence[str]] = _no_details


@dataclass(frozen=True)
class Contender:
    """Someone who does a workload.

    Parameters
    ----------
    name
        As printed: the package, and what of it is used.
    setup
        Makes the task; imports its package itself, so that nobody else has to have it.
    package
        What pip calls it; None needs nothing.
    threads
        How many it uses, if not those of the setting.
    tolerance, because
        Another tolerance than the check's, and the reason, which is printed.
    is_peer
        False: only there for comparison (Python alone), and no goal is judged by it.
    """

    name: str
    setup: Callable[[Setting], Task]
    package: str | None = None
    threads: int | None = None
    tolerance: float | None = None
    because: str = ""
    is_peer: bool = True


@dataclass(frozen=True)
class Check:
    """When two answers are the same: their difference is at most the tolerance."""

    difference: Callable[[Any, Any], float]
    tolerance: float
    unit: str


@dataclass(frozen=True)
class Goal:
    """What the project promises: at most so many seconds and GiB, so many times a peer's speed.

    A ratio counts by the clock and in processor time, beside the quickest setting of every peer
    that gives the same answer. A speedup is that of more threads, and counts by the clock.
    """

    seconds: float | None = None
    ratio: float | None = None
    speedup: float | None = None
    gib: float | None = None  # of the whole process at its peak, the data included


@dataclass(frozen=True)
class Workload:
    """One line-up: what is done, on how many rows, by whom.

    Parameters
    ----------
    rows
        Rows of alarm that lie ready in `Setting.csv`; 0: no data.
    missing
        The share of their cells that are missing, at random.
    threads
        None: all cores.
    check
        None: there is no answer to compare (an import, a compilation).
    """

    name: str
    title: str
    jensen: Contender
    peers: Sequence[Contender] = ()
    check: Check | None = None
    rows: int = 0
    missing: float = 0.0
    threads: int | None = None
    goal: Goal = Goal()
