"""Many starts or chains, each with a random stream of its own; watched, stopped and resumed.

Start k never depends on how many starts there are, nor on threads. A checkpoint holds the last
state of each, so that a run that was killed goes on to the identical result.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from jensen import free_energy
from jensen.data.threads import ordered_map, run_all
from jensen.data.units import Units
from jensen.exceptions import CollapseError
from jensen.free_energy import Algorithm, Fit, State
from jensen.models.protocol import Learnable
from jensen.runs.checkpoint import Checkpoint
from jensen.runs.interrupts import interruptible
from jensen.runs.sample_file import LostSamplesError, SampleFile
from jensen.support.fields import pack, unpack
from jensen.support.randomness import Streams

log = logging.getLogger("jensen")

Begin = Callable[[int, Streams], State]
"""The state from which the k-th start begins, from its random streams."""


class Job(NamedTuple):
    """What is learned, and from where."""

    model: Learnable
    data: Units
    algorithm: Algorithm
    begin: Begin


class Ascents(NamedTuple):
    """Where every start ended; a run that was stopped may not have begun them all."""

    ends: list[Fit | CollapseError]  # an error of a start that lost a component
    was_stopped: bool

    @property
    def fits(self) -> list[Fit]:
        """Of the starts that came to something."""
        return [end for end in self.ends if isinstance(end, Fit)]

    @property
    def collapsed(self) -> list[CollapseError]:
        """Of the starts that came to nothing."""
        return [end for end in self.ends if isinstance(end, CollapseError)]

    @property
    def free_energies(self) -> NDArray[np.float64]:
        """F at the end of every start; NaN where it came to nothing."""
        return np.array([e.trace[-1] if isinstance(e, Fit) else np.nan for e in self.ends])

    @property
    def best(self) -> Fit:
        """The one with the highest F; the first of equals."""
        return max(self.fits, key=lambda fit: fit.trace[-1])


class Chains(NamedTuple):
    """What chains saw after burn-in."""

    samples: NDArray[np.float64]  # (chains, samples, width)
    trace: NDArray[np.float64]  # (chains, samples): log p(x, h, θ)
    was_stopped: bool


class _Progress:
    """The last state of every start; one writer at a time."""

    def __init__(self, checkpoint: Checkpoint | None) -> None:
        self.lock = Lock()
        self.checkpoint = checkpoint
        self.seed: Streams | None = None
        self.before_save: Callable[[], None] = lambda: None
        self.last: dict[int, tuple[State, list[float], dict[str, Any]]] = {}
        if checkpoint is not None and checkpoint.content is not None:
            notes, arrays = checkpoint.content
            for k, (packed, facts) in notes["starts"].items():  # also of starts that are done
                mine = [arrays[f"{k}.{i}"] for i in range(facts.pop("arrays"))]
                self.last[int(k)] = unpack(packed, mine), arrays[f"{k}.trace"].tolist(), facts

    def note(self, k: int, state: State, trace: list[float], **facts: Any) -> None:
        """Remember where start k is, and save it now and then."""
        with self.lock:
            self.last[k] = (state, list(trace), facts)  # the run goes on while this is saved
        if self.checkpoint is not None:
            self.checkpoint.save_sometimes(self.content)

    def save(self) -> None:
        """Save now."""
        if self.checkpoint is not None:
            self.checkpoint.save(*self.content())

    def content(self) -> tuple[Any, dict[str, NDArray[Any]]]:
        """Notes and arrays of a checkpoint: the states, whole."""
        self.before_save()
        arrays: dict[str, NDArray[Any]] = {}
        starts: dict[str, Any] = {}
        with self.lock:
            for k, (state, trace, facts) in self.last.items():
                mine: list[NDArray[Any]] = []
                packed = pack(state, mine)
                starts[str(k)] = packed, {**facts, "arrays": len(mine)}
                arrays[f"{k}.trace"] = np.array(trace)
                arrays |= {f"{k}.{i}": array for i, array in enumerate(mine)}
        return {"starts": starts, "seed": self.seed}, arrays

    def streams(self, rng: np.random.Generator, n: int) -> Streams:
        """Those of n starts; of the saved run, if there is one."""
        found = self.checkpoint.content if self.checkpoint is not None else None
        if found is None:
            self.seed = Streams.of(rng, n)
        else:
            log.info("resuming from the checkpoint")
            entropy, path = found.notes["seed"]
            known = entropy if isinstance(entropy, int) else tuple(entropy)
            self.seed = Streams(known, tuple(path))
        return self.seed


def ascend(
    job: Job,
    rng: np.random.Generator,
    *,
    n_init: int = 1,
    max_iter: int = 1000,
    tol: float = 1e-8,
    progress: bool = False,
    checkpoint: Checkpoint | None = None,
) -> Ascents:
    """Climb F from `n_init` random starts."""
    model, data, algorithm, begin = job
    kept = _Progress(checkpoint)
    streams = kept.streams(rng, n_init)
    with interruptible() as wish, _bar("learning", n_init, progress) as bar:

        def climb(k: int) -> Fit | None:
            if k and wish.is_set() and k not in kept.last:
                return None
            state, trace, facts = kept.last.get(k) or (begin(k, streams.start(k)), [], {})
            if facts.get("done"):
                bar.update()
                return Fit(state, np.array(trace), facts["converged"])

            def watch(state: State, trace: list[float]) -> bool:
                kept.note(k, state, trace)
                bar.set_postfix_str(f"F={trace[-1]:.4f}, sweep {len(trace) - 1}", refresh=False)
                bar.update(0)
                return wish.is_set()

            fit = free_energy.fit(
                model, data, algorithm, state, trace=trace, max_iter=max_iter, tol=tol, watch=watch
            )
            done = fit.converged or len(fit.trace) > max_iter
            kept.note(k, fit.state, fit.trace.tolist(), done=done, converged=fit.converged)
            bar.update()
            return fit

        def survive(k: int) -> Fit | CollapseError | None:
            try:
                return climb(k)
            except CollapseError as error:
                bar.update()
                return error

        ends = [end for end in ordered_map(survive, range(n_init)) if end is not None]
        kept.save()
        found = Ascents(ends, was_stopped=False)
        if not found.fits:
            raise found.collapsed[0]
        done = [fit for fit in found.fits if fit.converged or len(fit.trace) > max_iter]
        return found._replace(was_stopped=len(done) + len(found.collapsed) < n_init)


AHEAD = 50
"""Sweeps at the present pace, after which a trial must be above what there is to go on."""


def improve(job: Job, best: Fit, *, max_iter: int, tol: float) -> Fit:
    """Climb from the other η that the model offers, for as long as F ends higher.

    F at the sweeps that rose above the best so far is added to its trace.
    """
    while True:
        found = _better(job, best, max_iter, tol)
        if found is None:
            return best
        above = found.trace[found.trace > best.trace[-1]]
        best = Fit(found.state, np.concatenate([best.trace, above]), found.converged)


def _better(job: Job, best: Fit, max_iter: int, tol: float) -> Fit | None:
    """The first trial that ends higher."""
    model, data, algorithm, _ = job
    bound = float(best.trace[-1])
    least = bound + max(tol * (abs(bound) + data.total_weight), 1e-9 * abs(bound))
    with interruptible() as wish:

        def is_hopeless(state: State, trace: list[float]) -> bool:
            too_slow = len(trace) > 2 and trace[-1] + AHEAD * (trace[-1] - trace[-2]) < least
            return too_slow or wish.is_set()

        for eta in model.trials(best.state):
            try:
                begun = free_energy.state_at(model, data, algorithm, eta)
                found = free_energy.fit(
                    model, data, algorithm, begun, max_iter=max_iter, tol=tol, watch=is_hopeless
                )
            except CollapseError:
                continue
            if wish.is_set():
                return None
            if found.trace[-1] > least:
                return found
    return None


def sample(
    job: Job,
    rng: np.random.Generator,
    read: Callable[[State], NDArray[np.float64]],
    width: int,
    *,
    n_chains: int = 4,
    n_samples: int = 1000,
    burn_in: int = 1000,
    thin: int = 1,
    progress: bool = False,
    checkpoint: Checkpoint | None = None,
) -> Chains:
    """Run chains; `read(state)` is what is kept of a state, `width` numbers."""
    model, data, algorithm, begin = job
    kept = _Progress(checkpoint)
    streams = kept.streams(rng, n_chains)
    rows = _open_rows(kept, n_chains, width)
    found = dict(kept.last)
    kept.before_save = rows.flush
    total = n_chains * (burn_in + thin * n_samples)
    with interruptible() as wish, _bar("sampling", total, progress) as bar:

        def run(k: int) -> None:
            if wish.is_set():
                return
            mine = streams.start(k)
            state = found[k][0] if k in found else begin(k, mine)
            bar.update(state.sweep)
            states = free_energy.chain(model, data, algorithm, state, mine)
            while state.sweep < burn_in + thin * n_samples and not wish.is_set():
                state = next(states)
                bar.update()
                with rows.lock:
                    if state.sweep > burn_in and (state.sweep - burn_in) % thin == 0:
                        rows.append(k, state.free_energy, read(state))
                    kept.note(k, state, [state.free_energy], n=rows.n[k])

        run_all(run, range(n_chains))
        kept.save()
        return rows.chains(wish.is_set())


def _open_rows(kept: _Progress, n_chains: int, width: int) -> _Rows:
    """The samples so far; if the last of them are lost, all chains begin anew from their seed."""
    known = [kept.last[k][2]["n"] if k in kept.last else 0 for k in range(n_chains)]
    try:
        return _Rows(kept.checkpoint, n_chains, width, known)
    except LostSamplesError as lost:
        kept.last.clear()
        kept.save()  # else the old states might be taken for those of the new samples
        lost.tell()
        return _Rows(kept.checkpoint, n_chains, width, [0] * n_chains)


class _Rows:
    """Samples of all chains, in memory or in the second file of a checkpoint."""

    def __init__(
        self, checkpoint: Checkpoint | None, n_chains: int, width: int, known: list[int]
    ) -> None:
        self.lock = Lock()
        self.n = list(known)
        self._parts: list[list[NDArray[np.float64]]] = [[] for _ in range(n_chains)]
        self._pending: list[NDArray[np.float64]] = []
        self._file: SampleFile | None = None
        if checkpoint is not None:
            self._file = SampleFile(
                checkpoint.path, width + 2, sum(known), fingerprint=checkpoint.fingerprint
            )
            for row in self._file.read():
                self._parts[int(row[0])].append(row[1:])

    def append(self, k: int, log_joint: float, values: NDArray[np.float64]) -> None:
        """Keep what chain k saw."""
        row = np.concatenate([[log_joint], values])
        self._parts[k].append(row)
        self.n[k] += 1
        if self._file is not None:
            self._pending.append(np.concatenate([[float(k)], row]))

    def flush(self) -> None:
        """Write what is not in the file yet; a checkpoint that counts on it follows."""
        if self._file is not None and self._pending:
            self._file.append(np.array(self._pending))
            self._pending = []

    def chains(self, was_stopped: bool) -> Chains:
        """All chains, as long as the shortest.

        Of a run that was stopped only the chains that were half as far as the first: others may
        not have begun.
        """
        longest = max(map(len, self._parts))
        far = [part for part in self._parts if 2 * len(part) >= longest]
        n = min(map(len, far))
        both = np.array([part[:n] for part in far]) if n else np.empty((len(far), 0, 1))
        return Chains(both[:, :, 1:], both[:, :, 0], was_stopped)


@contextmanager
def _bar(text: str, total: int, progress: bool) -> Iterator[Any]:
    with tqdm(total=total, desc=text, disable=not progress, delay=1.0) as bar:
        yield bar
