"""One resumable runner for all long work: numbered tasks, each advanced step by step.

Starts of an ascent, chains over parameters or graphs, and bootstrap replicates are such tasks. A
`Task` says how one of them begins, how it advances and when it is done. `run` does the rest:
threads, a progress bar, Ctrl-C, and a checkpoint from which a killed run resumes to the identical
result.

What a task may rely on, and what it has to keep to:

- **Streams.** Task k draws all its random numbers from stream k. So it depends neither on how many
  tasks there are nor on threads. The checkpoint holds the seeds of all streams.
- **States.** A state is a value: `advance` returns a new one and leaves the old one unchanged, so
  that another thread may save the old one meanwhile. A state (or what `pack` makes of it) consists
  of arrays, numbers, texts, tuples, and records listed with `support.fields.record`.
- **Steps.** ``advance(k, state, streams, n)`` makes n steps, and n steps at once give the same bits
  as n times one step. The runner chooses n by the clock.
- **Rows.** What a step samples is a row of numbers. Rows only ever grow: they go to the file
  ``<checkpoint>.samples``, and are not written again at every save.
- **Ctrl-C.** The first one lets every task end after its present `advance`. What there is so far is
  returned, and a later run with the same checkpoint goes on from there.

A checkpoint is saved about every two seconds, beside the old one, and then renamed. A finished run
that is started again reads its result from the file and makes no step.
"""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Event, Lock
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from jensen.exceptions import FileError
from jensen.runs.checkpoint import WAY_OUT, Checkpoint
from jensen.runs.sample_file import LostSamplesError, SampleFile
from jensen.support.arguments import Streams
from jensen.support.fields import pack, unpack
from jensen.support.machine import interruptible, ordered_map, run_all

log = logging.getLogger("jensen")

BLOCK_SECONDS = 0.3
"""Tasks that may take many steps at once take about so long before Ctrl-C is looked for."""

State = TypeVar("State")
Rows = NDArray[np.float64]


class Task(ABC, Generic[State]):
    """What is done for every number 0, 1, ...; the module says what it has to keep to.

    Attributes
    ----------
    n_steps
        How many steps each task takes, if that is known beforehand; then the progress bar counts
        steps, else finished tasks.
    steps_at_once
        The most steps of one call of `advance`; None if the runner may choose. With 1, Ctrl-C is
        heard after every step.
    width
        How many numbers a row has; 0 if there are no rows.
    """

    n_steps: int | None = None
    steps_at_once: int | None = 1
    width: int = 0

    @abstractmethod
    def begin(self, number: int, streams: Streams) -> State:
        """The state before the first step."""

    @abstractmethod
    def advance(
        self, number: int, state: State, streams: Streams, n: int
    ) -> tuple[State, Rows | None]:
        """The state after n further steps, and the rows (m, width) that they gave, if any.

        If `n_steps` is known, n is never more than what is left of it.
        """

    @abstractmethod
    def is_done(self, state: State) -> bool:
        """Whether this is the last state of its task."""

    def pack(self, state: State) -> Any:
        """What a checkpoint holds of a state."""
        return state

    def unpack(self, packed: Any) -> State:
        """The state of which a checkpoint held this; a `ValueError` if it does not fit."""
        state: State = packed
        return state

    def describe(self, state: State) -> str:
        """What the progress bar shows beside its counts."""
        return ""


class Outcome(NamedTuple, Generic[State]):
    """Where the tasks ended."""

    states: list[State | None]  # None for a task that has not begun
    rows: list[Rows]  # (m, width) of every task
    was_stopped: bool  # before all tasks were done


def number_streams(rng: np.random.Generator, n: int) -> list[Streams]:
    """The streams of n tasks: stream k is what ``rng.spawn(n)[k]`` would be."""
    first = Streams.of(rng, n)
    return [first.start(k) for k in range(n)]


def run(
    task: Task[State],
    streams: Sequence[Streams],
    *,
    name: str = "",
    progress: bool = False,
    checkpoint: Checkpoint | None = None,
    in_step: bool = False,
) -> Outcome[State]:
    """Run one task for every stream, on threads, to the end or until Ctrl-C.

    Parameters
    ----------
    task
        What is done.
    streams
        The random numbers of every task; there are as many tasks as streams. A run that resumes
        takes those of its checkpoint instead.
    name
        What the progress bar is called.
    progress
        Whether there is a progress bar.
    checkpoint
        The file from which a run with the same fingerprint resumes.
    in_step
        Whether all tasks advance side by side, so that they have made equally many steps whenever
        the run is stopped. Else each thread takes a task to its end before it begins another; the
        first task is begun even after Ctrl-C.
    """
    ledger = _Ledger(task, streams, checkpoint)
    total = len(streams) * (task.n_steps or 1)
    with interruptible() as stop, _bar(name, total, progress) as bar:
        ledger.bar = bar
        bar.update(ledger.n_counted)
        if in_step:
            _advance_together(ledger, stop)
        else:
            run_all(partial(_finish_one, ledger, stop), range(len(streams)))
    ledger.save()
    return ledger.outcome()


def _finish_one(ledger: _Ledger[State], stop: Event, k: int) -> None:
    """Take one task to its end, or until Ctrl-C."""
    task, streams, pace = ledger.task, ledger.streams[k], _Pace(ledger.task)
    if k not in ledger.states:
        if k and stop.is_set():
            return
        ledger.note(k, task.begin(k, streams))
    state = ledger.states[k]
    while not task.is_done(state) and not stop.is_set():
        with pace.steps(ledger.n_left(k)) as n:
            state, rows = task.advance(k, state, streams, n)
        ledger.note(k, state, n, rows)
        ledger.save_sometimes()


def _advance_together(ledger: _Ledger[State], stop: Event) -> None:
    """Let all tasks make the same number of steps, again and again."""
    task, pace = ledger.task, _Pace(ledger.task)
    new = [k for k in range(len(ledger.streams)) if k not in ledger.states]
    begun = ordered_map(lambda k: task.begin(k, ledger.streams[k]), new)
    for k, state in zip(new, begun, strict=True):
        ledger.note(k, state)
    while not stop.is_set():
        active = [k for k, state in sorted(ledger.states.items()) if not task.is_done(state)]
        if not active:
            return
        with pace.steps(min(map(ledger.n_left, active))) as n:
            found = list(
                ordered_map(
                    lambda k: task.advance(k, ledger.states[k], ledger.streams[k], n),
                    active,
                )
            )
        for k, (state, rows) in zip(active, found, strict=True):
            ledger.note(k, state, n, rows)
        ledger.save_sometimes()


class _Pace:
    """How many steps are made at once: twice as many as before, until they take long enough."""

    def __init__(self, task: Task[Any]) -> None:
        self._size, self._most = 1, task.steps_at_once

    @contextmanager
    def steps(self, n_left: float) -> Iterator[int]:
        """How many steps to make now; the time that they take decides about the next ones."""
        began = time.monotonic()
        yield int(min(self._size, n_left))
        if time.monotonic() - began < BLOCK_SECONDS:
            self._size = 2 * self._size
        if self._most is not None:
            self._size = min(self._size, self._most)


class _Ledger(Generic[State]):
    """State, steps and rows of every task, in memory and in the files of a checkpoint."""

    def __init__(
        self, task: Task[State], streams: Sequence[Streams], checkpoint: Checkpoint | None
    ) -> None:
        self.task, self.streams = task, list(streams)
        self.states: dict[int, State] = {}
        self.steps = [0] * len(streams)
        self.rows: list[list[Rows]] = [[] for _ in streams]
        self.bar: Any = None
        self._pending: list[Rows] = []  # rows that are in no file yet
        self._lock = Lock()
        self._checkpoint = checkpoint
        self._samples: SampleFile | None = None
        if checkpoint is not None:
            n_rows = self._read_states(checkpoint)
            if task.width:
                self._samples = self._open_samples(checkpoint, n_rows)
                self._read_rows(self._samples)

    @property
    def n_counted(self) -> int:
        """What the progress bar has counted so far: steps, or finished tasks."""
        if self.task.n_steps is not None:
            return sum(self.steps)
        return sum(map(self.task.is_done, self.states.values()))

    def n_left(self, k: int) -> float:
        """How many steps are left of a task; infinite if nobody knows."""
        n_steps = self.task.n_steps
        return np.inf if n_steps is None else n_steps - self.steps[k]

    def note(self, k: int, state: State, n: int = 0, rows: Rows | None = None) -> None:
        """Keep where task k is after n further steps, and the rows that these gave."""
        with self._lock:
            self.states[k] = state
            self.steps[k] += n
            if rows is not None and len(rows):
                self.rows[k].append(rows)
                if self._samples is not None:
                    self._pending.append(np.column_stack([np.full(len(rows), float(k)), rows]))
        if shown := self.task.describe(state):
            self.bar.set_postfix_str(shown, refresh=False)
        counts_steps = self.task.n_steps is not None
        self.bar.update(n if counts_steps else int(self.task.is_done(state)))

    def save_sometimes(self) -> None:
        """Save if the last time was long enough ago."""
        if self._checkpoint is not None:
            self._checkpoint.save_sometimes(self.content)

    def save(self) -> None:
        """Save now."""
        if self._checkpoint is not None:
            self._checkpoint.save(*self.content())

    def content(self) -> tuple[Any, dict[str, NDArray[Any]]]:
        """Notes and arrays of a checkpoint; the rows that it counts are written before."""
        with self._lock:
            states, steps = dict(self.states), list(self.steps)
            pending, self._pending = self._pending, []
        if self._samples is not None and pending:
            self._samples.append(np.vstack(pending))
        arrays: dict[str, NDArray[Any]] = {}
        tasks: dict[str, Any] = {}
        for k, state in sorted(states.items()):
            mine: list[NDArray[Any]] = []
            packed = pack(self.task.pack(state), mine)
            tasks[str(k)] = {"state": packed, "arrays": len(mine), "steps": steps[k]}
            arrays |= {f"{k}.{i}": array for i, array in enumerate(mine)}
        n_rows = 0 if self._samples is None else self._samples.n_rows
        return {"streams": self.streams, "tasks": tasks, "rows": n_rows}, arrays

    def outcome(self) -> Outcome[State]:
        """What `run` returns."""
        states = [self.states.get(k) for k in range(len(self.streams))]
        rows = [
            np.concatenate(mine) if mine else np.empty((0, self.task.width)) for mine in self.rows
        ]
        all_done = all(state is not None and self.task.is_done(state) for state in states)
        return Outcome(states, rows, was_stopped=not all_done)

    def _read_states(self, checkpoint: Checkpoint) -> int:
        """Go back to where the run was that left a checkpoint; return how many rows it had."""
        if checkpoint.content is None:
            return 0
        log.info("resuming from the checkpoint")
        notes, arrays = checkpoint.content
        self.streams = [Streams.from_saved(*saved) for saved in notes["streams"]]
        try:
            for key, saved in notes["tasks"].items():
                mine = [arrays[f"{key}.{i}"] for i in range(saved["arrays"])]
                self.states[int(key)] = self.task.unpack(unpack(saved["state"], mine))
                self.steps[int(key)] = saved["steps"]
        except (KeyError, TypeError, ValueError):
            raise FileError(
                f"cannot resume from {checkpoint.path}: another version of Jensen wrote it, whose "
                f"states have other fields or other sizes; {WAY_OUT}"
            ) from None
        return int(notes["rows"])

    def _open_samples(self, checkpoint: Checkpoint, n_rows: int) -> SampleFile:
        """The file of rows; if its last ones are lost, all tasks begin anew from their streams."""
        path, run, width = checkpoint.path, checkpoint.fingerprint, self.task.width + 1
        try:
            return SampleFile(path, width, n_rows, run)
        except LostSamplesError as lost:
            self.states.clear()
            self.steps = [0] * len(self.streams)
            self.save()  # else the old states might be taken for those of the new rows
            lost.warn()
            return SampleFile(path, width, 0, run)

    def _read_rows(self, samples: SampleFile) -> None:
        found = samples.read()
        numbers = found[:, 0].astype(np.int64)
        for k in np.unique(numbers).tolist():
            self.rows[k].append(found[numbers == k, 1:])


@contextmanager
def _bar(name: str, total: int, progress: bool) -> Iterator[Any]:
    with tqdm(total=total, desc=name, disable=not progress, delay=1.0) as bar:
        yield bar
