"""Chains side by side on threads: watched, stopped, and resumed to the identical samples."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from jensen.data.threads import ordered_map
from jensen.exceptions import FileError, StoppedError
from jensen.q_graph.chains.kinds import Kind, room_for_samples
from jensen.q_graph.chains.ladder import Climb, Ladder
from jensen.q_graph.chains.raw_weights import RawWeights
from jensen.q_graph.chains.records import Kept, ParentWeights, n_words
from jensen.q_graph.chains.sample_rows import from_rows, row_width, to_rows
from jensen.q_graph.chains.starts import random_order
from jensen.q_graph.chains.weights import read_weights
from jensen.runs.checkpoint import WAY_OUT, Checkpoint
from jensen.runs.interrupts import interruptible
from jensen.runs.sample_file import LostSamplesError, SampleFile
from jensen.support.fields import leaves, rebuild
from jensen.support.memory import check_memory

STAGES = 0.1, 0.2, 0.4, 0.7, 1.0
"""Inverse temperatures that burn-in goes through, if chains have no hot copies.

Chains that burn in cold may all end in the same trap, tens of nats below the rest, and agree there.
"""

BLOCK_SECONDS = 0.3
"""About how long chains run before Ctrl-C is heard and a checkpoint may be written."""


class Plan(NamedTuple):
    """How long chains run; a round is what lies between two samples."""

    n_chains: int
    n_samples: int
    burn_in: int  # rounds before the first sample
    thin: int  # cycles of a round
    n_temperatures: int = 1


class Chains(NamedTuple):
    """Where the chains are, and what they kept."""

    ladders: list[Ladder]
    kept: list[Kept]  # as many samples each as were taken
    was_stopped: bool


class Run:
    """Runs chains over graphs.

    Parameters
    ----------
    required : (n, n) array of bool
        Edges that every graph has: a chain begins with an order that allows them.
    streams
        The random numbers of each chain.
    checkpoint
        The file to resume from, and the fingerprint of data and settings.
    is_seeded
        Whether the streams are those of every run with this fingerprint.
    """

    def __init__(
        self,
        kind: Kind,
        raw: RawWeights,
        plan: Plan,
        required: np.ndarray[tuple[int, int], np.dtype[np.bool_]],
        streams: list[np.random.Generator],
        checkpoint: tuple[str | Path, str] | None = None,
        is_seeded: bool = False,
    ) -> None:
        self.kind, self.raw, self.plan, self.n = kind, raw, plan, len(raw.candidates)
        cold, self.tops = read_weights(raw)
        self.cold = cold
        _check_memory(plan, cold)
        self.climbs = [Climb(kind, raw, cold) for _ in range(plan.n_chains)]
        self.ladders = [
            climb.begin(random_order(required, stream), stream, plan.n_temperatures)
            for climb, stream in zip(self.climbs, streams, strict=True)
        ]
        self.done = 0  # rounds, of every chain
        self.stage = -1  # of burn-in, whose weights chains have
        self.blocks: list[list[Kept]] = []
        self._open(checkpoint, is_seeded)

    def _open(self, checkpoint: tuple[str | Path, str] | None, is_seeded: bool) -> None:
        """Go back to where a run was that left a checkpoint."""
        self.file: Checkpoint | None = None
        if checkpoint is None:
            return
        path, fingerprint = checkpoint
        self.file = Checkpoint(path, fingerprint)
        found, width = self.file.content, row_width(self.n, self.kind.keeps_orders)
        n_rows = 0 if found is None else int(found.notes["rows"])
        try:
            self.rows = SampleFile(path, width, n_rows, fingerprint)
        except LostSamplesError as lost:
            if not is_seeded:
                raise
            # Else the old state might be taken for that of the new samples.
            self.file.save({"done": 0, "rows": 0}, self._arrays())
            lost.tell()
            self.rows, found, n_rows = SampleFile(path, width, 0, fingerprint), None, 0
        if found is not None:
            self.done = int(found.notes["done"])
            values = [found.arrays[str(i)] for i in range(len(found.arrays))]
            _check_like(values, leaves(tuple(self.ladders)), path)
            rest = iter(values)
            self.ladders = [rebuild(ladder, rest) for ladder in self.ladders]
        if n_rows:
            n_kept = n_rows // self.plan.n_chains
            rows = self.rows.read()
            self.blocks = [
                from_rows(rows, self.plan.n_chains, n_kept, self.n, self.kind.keeps_orders)
            ]

    def go(self, progress: bool) -> Chains:
        """Run to the end, or until Ctrl-C."""
        total, size, was_stopped = self.plan.burn_in + self.plan.n_samples, 1, False
        bar = tqdm(total=total, initial=self.done, desc="samples", disable=not progress, delay=1.0)
        with bar, interruptible() as wish:
            while self.done < total and not was_stopped:
                began = time.monotonic()
                n_rounds = min(size, self._until_change())
                self._advance(n_rounds)
                bar.update(n_rounds)
                if self.file is not None:
                    self.file.save_sometimes(self._content)
                if time.monotonic() - began < BLOCK_SECONDS:
                    size *= 2
                was_stopped = wish.is_set()
        if self.file is not None:
            self.file.save(*self._content())
        return Chains(self.ladders, self._joined(), was_stopped and self.done < total)

    def _until_change(self) -> int:
        """Rounds until the temperature changes, or all is done."""
        burn_in = self.plan.burn_in
        if self.done >= burn_in:
            return burn_in + self.plan.n_samples - self.done
        return self._begins(self._stage + 1) - self.done

    @property
    def _stage(self) -> int:
        """Of burn-in, which lasts."""
        return self.done * len(STAGES) // self.plan.burn_in

    def _begins(self, stage: int) -> int:
        """The round with which a stage of burn-in begins."""
        return -(-stage * self.plan.burn_in // len(STAGES))

    def _warm(self) -> None:
        """Change the temperature where a stage of burn-in begins, or where a run resumes in one."""
        has_stages = self.plan.n_temperatures == 1 and self.plan.burn_in >= len(STAGES)
        if not has_stages or self.done >= self.plan.burn_in or self.stage == self._stage:
            return
        self.stage = self._stage
        beta = STAGES[self.stage]
        weights = self.cold if beta == 1.0 else read_weights(self.raw, beta)[0]
        for climb, ladder in zip(self.climbs, self.ladders, strict=True):
            climb.cold = weights
            if self.done == self._begins(self.stage):
                self.kind.weigh(ladder.states[0], weights)

    def _advance(self, n_rounds: int) -> None:
        """Let every chain go on by so many rounds."""
        self._warm()
        burns = self.done < self.plan.burn_in
        n_kept = 0 if burns else n_rounds

        def run(k: int) -> tuple[Ladder, Kept]:
            kept = room_for_samples(n_kept, self.n, keeps_orders=self.kind.keeps_orders)
            ladder = self.climbs[k].advance(self.ladders[k], n_rounds, self.plan.thin, kept, burns)
            return ladder, kept

        found = list(ordered_map(run, range(self.plan.n_chains)))
        self.ladders = [ladder for ladder, _ in found]
        self.done += n_rounds
        if burns and self.done == self.plan.burn_in:
            _forget_counts(self.ladders)
        if n_kept:
            self.blocks.append([kept for _, kept in found])
            if self.file is not None:
                self._append([kept for _, kept in found])

    def _append(self, block: list[Kept]) -> None:
        """Write samples down; the checkpoint will say how many there are."""
        first = self.done - self.plan.burn_in - len(block[0].scores)
        self.rows.append(np.vstack([to_rows(k, first, kept) for k, kept in enumerate(block)]))

    def _content(self) -> tuple[dict[str, int], dict[str, np.ndarray]]:
        """Notes and arrays of a checkpoint."""
        return {"done": self.done, "rows": self.rows.n_rows}, self._arrays()

    def _arrays(self) -> dict[str, np.ndarray]:
        """Where the chains are."""
        return {str(i): array for i, array in enumerate(leaves(tuple(self.ladders)))}

    def _joined(self) -> list[Kept]:
        """The samples of every chain."""
        if not self.blocks:
            raise StoppedError(
                "stopped before the first sample: burn-in was not over; with checkpoint= a run "
                "goes on from where it was stopped"
            )
        return [
            Kept(*(np.concatenate(fields) for fields in zip(*kept, strict=True)))
            for kept in zip(*self.blocks, strict=True)
        ]


def _check_like(values: list[np.ndarray], own: list[np.ndarray], path: str | Path) -> None:
    """Refuse arrays of another size: kernels would write beyond them."""
    kinds = [[(x.shape, x.dtype) for x in arrays] for arrays in (values, own)]
    if kinds[0] != kinds[1]:
        raise FileError(
            f"cannot resume from {path}: another version of Jensen wrote it, whose chains keep "
            f"other books; {WAY_OUT}"
        )


def _check_memory(plan: Plan, cold: ParentWeights) -> None:
    """Refuse more hot copies and samples than there is room for."""
    n_copies = plan.n_chains * (plan.n_temperatures - 1)
    n = len(cold.place)
    n_bytes = n_copies * sum(array.nbytes for array in cold)
    n_bytes += plan.n_chains * plan.n_samples * 8 * n * n_words(n)
    check_memory(
        n_bytes,
        f"{plan.n_chains} chains of {plan.n_samples:,} samples at {plan.n_temperatures} "
        f"temperatures",
        "choose fewer n_samples=, temperatures= or candidates=",
    )


def _forget_counts(ladders: list[Ladder]) -> None:
    """Counts of moves and exchanges begin when burn-in ends."""
    for ladder in ladders:
        ladder.exchanged[:], ladder.rounds[1] = 0, 0
        for state in ladder.states:
            state.moves.tried[:], state.moves.accepted[:] = 0, 0
