"""A workload run by all its contenders in turn, round after round: noise falls on all alike."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from benchmarks.worker import ProblemError, Run, Worker
from benchmarks.workload import Check, Contender, Setting, Workload

MOST_RUNS = 20
"""In one round."""


class Rules(NamedTuple):
    """How often, and how long at most; seconds."""

    repeats: int = 3
    limit: float = 180.0  # one run
    patience: float = 300.0  # setting up, and showing an answer: neither is timed
    slow: float = 15.0  # who needs longer to warm up runs no more: that was the run
    round: float = 0.5  # who needs less runs again within a round, so that short runs are many


@dataclass
class Outcome:
    """What became of one contender."""

    name: str
    version: str | None = None
    threads: int = 1
    runs: list[Run] = field(default_factory=list)
    problem: str | None = None
    is_peer: bool = True
    answer: Any = None
    difference: float | None = None  # from Jensen's answer
    agrees: bool | None = None  # None: nothing to compare
    because: str = ""  # the reason of a tolerance of its own
    ratio: float | None = None  # its time / Jensen's, where the answers agree
    processor_ratio: float | None = None  # the same of processor seconds: other work disturbs less

    @property
    def best(self) -> Run | None:
        """The fastest run."""
        return min(self.runs, key=lambda run: run.seconds, default=None)

    @property
    def processor(self) -> float:
        """The fewest processor seconds of a run; 0 without a run."""
        return min((run.processor for run in self.runs), default=0.0)


class Result(NamedTuple):
    """A workload and what became of its contenders, Jensen first."""

    workload: Workload
    setting: Setting
    outcomes: Sequence[Outcome]


def race(workload: Workload, setting: Setting, rules: Rules) -> Result:
    """Let all contenders warm up, then run in rounds; compare answers; only then form ratios."""
    contenders = [workload.jensen, *workload.peers]
    outcomes = [
        Outcome(c.name, threads=c.threads or setting.threads, because=c.because, is_peer=c.is_peer)
        for c in contenders
    ]
    workers: list[Worker | None] = []
    try:
        for contender, outcome in zip(contenders, outcomes, strict=True):
            workers.append(_warm_up(contender, outcome, workload.check, setting, rules))
        for _ in range(rules.repeats):
            for k, outcome in enumerate(outcomes):
                workers[k] = _run(workers[k], outcome, rules)
    finally:
        for worker in workers:
            if worker is not None:
                worker.stop()
    for contender, outcome in zip(workload.peers, outcomes[1:], strict=True):
        compare(outcomes[0], outcome, workload.check, contender.tolerance)
    return Result(workload, setting, outcomes)


def _warm_up(
    contender: Contender, outcome: Outcome, check: Check | None, setting: Setting, rules: Rules
) -> Worker | None:
    """Set up, run once, keep the answer; the worker, if it shall run again."""
    try:
        outcome.version = version(contender.package) if contender.package else None
    except PackageNotFoundError:
        outcome.problem = "not installed"
        return None
    try:
        worker = Worker(contender, setting._replace(threads=outcome.threads), rules.patience)
        first = worker.run(rules.limit)
        outcome.answer = None if check is None else worker.answer(rules.patience)
    except ProblemError as problem:
        outcome.problem = str(problem)
        return None
    if first.seconds < rules.slow:
        return worker
    outcome.runs.append(first)
    worker.stop()
    return None


def _run(worker: Worker | None, outcome: Outcome, rules: Rules) -> Worker | None:
    if worker is None:
        return None
    used = 0.0
    try:
        for _ in range(MOST_RUNS):
            outcome.runs.append(worker.run(rules.limit))
            used += outcome.runs[-1].seconds
            if used >= rules.round:
                break
    except ProblemError as problem:
        outcome.problem, outcome.runs = str(problem), []
        return None
    return worker


def compare(
    ours: Outcome, theirs: Outcome, check: Check | None, tolerance: float | None = None
) -> None:
    """Note whether a peer's answer is Jensen's, and only if it is (or there is none) the ratio."""
    if ours.best is None or theirs.best is None:
        return
    if check is not None:
        theirs.difference = check.difference(ours.answer, theirs.answer)
        theirs.agrees = theirs.difference <= (check.tolerance if tolerance is None else tolerance)
    if theirs.agrees is not False:
        theirs.ratio = theirs.best.seconds / ours.best.seconds
        if ours.processor:
            theirs.processor_ratio = theirs.processor / ours.processor
