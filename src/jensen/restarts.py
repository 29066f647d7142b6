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
from jensen.checkpoint import Checkpoint
from jensen.data.threads import ordered_map, run_all
from jensen.data.units import Units
from jensen.exceptions import CollapseError
from jensen.fields import leaves, rebuild
from jensen.free_energy import Algorithm, Fit, Model, State
from jensen.interrupts import interruptible
from jensen.randomness import generator_state, restore_generator
from jensen.sample_file import SampleFile

log = logging.getLogger("jensen")

Begin = Callable[[int, np.random.Generator], State]
"""The state from which the k-th start begins, from a random stream."""


class Job(NamedTuple):
    """What is learned, and from where."""

    model: Model
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

    def __init__(self, like: Any, checkpoint: Checkpoint | None) -> None:
        self.lock = Lock()
        self.like = like  # every η has its shape
        self.checkpoint = checkpoint
        self.seed: Any = None
        self.before_save: Callable[[], None] = lambda: None
        found = checkpoint.content if checkpoint is not None else None
        known = [] if found is None else [int(k) for k in found.notes["starts"]]
        self.last = {k: self._read(k) for k in known}  # also those that have nothing left to do

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
        """Notes and arrays of a checkpoint."""
        self.before_save()
        arrays, starts = {}, {}
        with self.lock:
            for k, (state, trace, facts) in self.last.items():
                starts[str(k)] = facts
                arrays[f"{k}.trace"] = np.array(trace)
                for name in ("eta", "stats"):
                    for i, leaf in enumerate(leaves(getattr(state, name))):
                        arrays[f"{k}.{name}.{i}"] = leaf
        return {"starts": starts, "seed": self.seed}, arrays

    def _read(self, k: int) -> tuple[State, list[float], dict[str, Any]]:
        """Where start k was when it was saved last."""
        assert self.checkpoint is not None
        assert self.checkpoint.content is not None
        found = self.checkpoint.content

        def read(name: str) -> Any:
            n = len(leaves(self.like))
            return rebuild(self.like, iter([found.arrays[f"{k}.{name}.{i}"] for i in range(n)]))

        trace = found.arrays[f"{k}.trace"].tolist()
        state = State(read("eta"), None, read("stats"), trace[-1])
        return state, trace, found.notes["starts"][str(k)]

    def streams(self, rng: np.random.Generator, n: int) -> list[np.random.Generator]:
        """One stream per start; those of the saved run, if there is one."""
        found = self.checkpoint.content if self.checkpoint is not None else None
        if found is not None:
            log.info("resuming from the checkpoint")
            rng = restore_generator(found.notes["seed"])
        if self.checkpoint is not None:
            self.seed = generator_state(rng)
        return rng.spawn(n)


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
    kept = _Progress(model.blank, checkpoint)
    streams = kept.streams(rng, n_init)
    with interruptible() as wish, _bar("learning", n_init, progress) as bar:

        def climb(k: int) -> Fit | None:
            if k and wish.is_set() and k not in kept.last:
                return None
            state, trace, facts = kept.last.get(k) or (begin(k, streams[k]), [], {})
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
    kept = _Progress(model.blank, checkpoint)
    streams = kept.streams(rng, n_chains)
    found = dict(kept.last)
    known = [found[k][2]["n"] if k in found else 0 for k in range(n_chains)]
    rows = _Rows(checkpoint, n_chains, width, known)
    kept.before_save = rows.flush
    total = n_chains * (burn_in + thin * n_samples)
    with interruptible() as wish, _bar("sampling", total, progress) as bar:

        def run(k: int) -> None:
            if wish.is_set():
                return
            if k in found:
                state, sweep = found[k][0], found[k][2]["sweep"]
                streams[k] = restore_generator(found[k][2]["stream"])
            else:
                state, sweep = begin(k, streams[k]), 0
            bar.update(sweep)
            states = free_energy.chain(model, data, algorithm, state, streams[k])
            while sweep < burn_in + thin * n_samples and not wish.is_set():
                state = next(states)
                sweep += 1
                bar.update()
                with rows.lock:
                    if sweep > burn_in and (sweep - burn_in) % thin == 0:
                        rows.append(k, state.free_energy, read(state))
                    facts: dict[str, Any] = {"sweep": sweep, "n": rows.n[k]}
                    if checkpoint is not None:
                        facts["stream"] = generator_state(streams[k])
                    kept.note(k, state, [state.free_energy], **facts)

        run_all(run, range(n_chains))
        kept.save()
        return rows.chains(wish.is_set())


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
