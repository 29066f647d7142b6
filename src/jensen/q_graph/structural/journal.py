"""The climbs of structural EM in the file of a checkpoint: none that is finished is made again."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import FileError
from jensen.free_energy import AnyState
from jensen.q_graph.structural.objective import ClimbResult, Objective, StructuralRows
from jensen.runs.checkpoint import WAY_OUT, Checkpoint
from jensen.support.arguments import generator_state, restore_generator
from jensen.support.fields import pack, record, unpack

log = logging.getLogger("jensen")


@record
class SavedClimb(NamedTuple):
    """Where a climb ended, as a file holds it."""

    joined: NDArray[np.uint8]
    state: AnyState
    fit_trace: NDArray[np.float64]  # J of the last fit
    trace: NDArray[np.float64]  # J of the whole climb
    numbers: tuple[int, int, int]  # steps, graphs refused, families scored
    is_exact: bool


class Journal:
    """Climbs by name; with a file they are kept there as soon as they are finished.

    Parameters
    ----------
    rng
        The random numbers of the run. One that resumes takes those of its file instead.
    path, identity
        The file, or None; and the fingerprint of data and settings.
    """

    def __init__(
        self, rng: np.random.Generator, path: str | Path | None = None, identity: str = ""
    ) -> None:
        self.rng = rng
        self._saved: dict[str, SavedClimb] = {}
        self._file = None if path is None else Checkpoint(path, identity)
        if self._file is None:
            return
        self._first = generator_state(rng)
        if self._file.content is not None:
            log.info("resuming from the checkpoint")
            self._read(path, *self._file.content)

    def find(self, name: str, rows: StructuralRows, objective: Objective) -> ClimbResult | None:
        """The finished climb of this name, if the file holds it."""
        if name not in self._saved:
            return None
        known = self._saved[name]
        joined, trace = known.joined.astype(bool), known.fit_trace.tolist()
        best = rows.restore(objective, joined, known.state, trace)
        return ClimbResult(best, known.trace.tolist(), *known.numbers, known.is_exact)

    def keep(self, name: str, found: ClimbResult) -> None:
        """Write a finished climb to the file, unless it stands there."""
        if self._file is None or name in self._saved:
            return
        self._saved[name] = SavedClimb(
            found.best.joined.astype(np.uint8), found.best.state, np.array(found.best.trace),
            np.array(found.trace), (found.n_steps, found.n_refused, found.n_scored),
            found.is_exact,
        )  # fmt: skip
        self._save(self._file)

    def _save(self, file: Checkpoint) -> None:
        arrays: list[NDArray[Any]] = []
        climbs = {name: pack(climb, arrays) for name, climb in self._saved.items()}
        named = {str(k): array for k, array in enumerate(arrays)}
        file.save({"rng": self._first, "climbs": climbs}, named)

    def _read(self, path: Any, notes: Any, arrays: dict[str, NDArray[Any]]) -> None:
        own = [arrays[str(k)] for k in range(len(arrays))]
        try:
            self._first = notes["rng"]
            self.rng = restore_generator(notes["rng"])
            self._saved = {name: unpack(climb, own) for name, climb in notes["climbs"].items()}
        except (KeyError, TypeError, ValueError, IndexError):
            raise FileError(
                f"cannot resume from {path}: another version of Jensen wrote it; {WAY_OUT}"
            ) from None
