"""Arguments of public functions: numbers are checked, and seeds become random streams.

Keywords and attributes of other libraries are answered with what they are called here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np

from jensen.exceptions import JensenError
from jensen.support.text import bare

LARGEST = 1e140
"""Of the numbers in rows: sums of their squares overflow not far beyond."""


def is_real(x: Any) -> bool:
    """Whether x is a real number; True and False are none."""
    return isinstance(x, Real) and not isinstance(x, bool)


def check_sample_size(equivalent_sample_size: Any) -> None:
    """Refuse an equivalent sample size that is not positive and finite."""
    if not (is_real(equivalent_sample_size) and 0 < equivalent_sample_size < math.inf):
        raise JensenError(
            f"{bare('equivalent_sample_size')} must be positive and finite, "
            f"not {equivalent_sample_size!r}"
        )


def check_whole(name: str, value: object, *, at_least: int) -> None:
    """Refuse a value that is no whole number, or is below `at_least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < at_least:
        shown = bare(name) if name.isidentifier() else name
        raise JensenError(f"{shown} must be a whole number, {at_least} or more, not {value!r}")


# --- seeds and random streams ---

BIT_GENERATORS = {
    kind.__name__: kind
    for kind in (
        np.random.PCG64,
        np.random.PCG64DXSM,
        np.random.MT19937,
        np.random.Philox,
        np.random.SFC64,
    )
}


def as_generator(random_state: Any) -> np.random.Generator:
    """A generator from an int, a `SeedSequence`, a `Generator` (as it is) or None (fresh).

    NumPy's older `RandomState`, which scikit-learn's tools pass on, gives a seed: it moves on.
    """
    if isinstance(random_state, np.random.RandomState):  # it cannot spawn streams
        random_state = random_state.randint(2**32, size=4, dtype=np.uint32)
    try:
        rng = np.random.default_rng(random_state)
        rng.spawn(0)  # every unit of work has its own stream
        return rng
    except (TypeError, ValueError):
        raise JensenError(
            f"random_state must be an int >= 0, a SeedSequence, a Generator, a RandomState "
            f"or None, not {random_state!r}"
        ) from None


class Streams(NamedTuple):
    """Random streams that are found by their numbers, so that none of them has to be stored.

    Examples
    --------
    >>> streams = Streams.of(np.random.default_rng(0))
    >>> bool(streams(3, 1).random() == streams.at(3)(1).random())
    True
    """

    entropy: int | tuple[int, ...]
    path: tuple[int, ...]

    @classmethod
    def of(cls, rng: np.random.Generator, n: int = 1) -> Streams:
        """The streams of a generator, which moves on: it will not give these n starts again.

        Stream k is what ``rng.spawn(n)[k]`` would have been.
        """
        seed = rng.bit_generator.seed_seq
        if not isinstance(
            seed, np.random.SeedSequence
        ):  # another kind of seed, without a spawn key
            return cls(int.from_bytes(rng.bytes(16), "little"), (0,))
        entropy, first = seed.entropy, seed.n_children_spawned
        rng.spawn(n)
        known = (
            entropy if isinstance(entropy, int) else tuple(map(int, np.ravel(np.asarray(entropy))))
        )
        return cls(known, (*map(int, seed.spawn_key), first))

    @classmethod
    def from_saved(cls, entropy: int | list[int], path: list[int]) -> Streams:
        """The streams of which a JSON file holds these two fields."""
        return cls(entropy if isinstance(entropy, int) else tuple(entropy), tuple(path))

    def start(self, k: int) -> Streams:
        """The streams of the k-th start or chain."""
        return self._replace(path=(*self.path[:-1], self.path[-1] + k))

    def at(self, *numbers: int) -> Streams:
        """The streams whose numbers begin with these."""
        return self._replace(path=(*self.path, *numbers))

    def __call__(self, *numbers: int) -> np.random.Generator:
        """The stream with these numbers."""
        key = (*self.path, *numbers)
        return np.random.default_rng(np.random.SeedSequence(self.entropy, spawn_key=key))


def generator_state(rng: np.random.Generator) -> dict[str, Any]:
    """The whole state of a generator as JSON, so that its draws and children can be repeated.

    Examples
    --------
    >>> import json
    >>> rng = np.random.default_rng(0)
    >>> state = json.loads(json.dumps(generator_state(rng)))
    >>> bool(rng.random() == restore_generator(state).random())
    True
    """
    seed = rng.bit_generator.seed_seq
    state = rng.bit_generator.state
    if state["bit_generator"] not in BIT_GENERATORS or type(seed) is not np.random.SeedSequence:
        raise JensenError(
            f"a checkpoint cannot hold {rng!r} with the seed {seed!r}: "
            f"make the generator with np.random.default_rng(seed)"
        )
    return {"state": _plain(state), "seed": _plain(seed.state)}


def restore_generator(state: Mapping[str, Any]) -> np.random.Generator:
    """The generator that `generator_state` described; it draws and spawns as that one would."""
    name = state["state"]["bit_generator"]
    if name not in BIT_GENERATORS:
        raise JensenError(f"there is no generator {name!r}: {', '.join(BIT_GENERATORS)} are known")
    bits = BIT_GENERATORS[name](np.random.SeedSequence(**state["seed"]))
    bits.state = state["state"]
    return np.random.Generator(bits)


def _plain(value: Any) -> Any:
    """NumPy arrays and numbers as plain lists and numbers."""
    match value:
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case np.ndarray() | np.generic():
            return value.tolist()
        case _:
            return value


# --- words of other libraries ---


def answers_to(**words: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A constructor that answers keywords of other libraries with what they are called here."""

    def decorate(init: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(init)
        def wrapped(self: Any, *args: Any, **choices: Any) -> None:
            for name in choices:
                if name in words:
                    raise TypeError(f"{type(self).__name__} has no {name}=: it is {words[name]}")
            init(self, *args, **choices)

        return wrapped

    return decorate


class AnswersToPeers:
    """Attributes of other libraries are answered with what they are called here."""

    _peer_words: ClassVar[Mapping[str, str]] = {}

    def __getattr__(self, name: str) -> Any:
        if name in self._peer_words:
            words = self._peer_words[name]
            raise AttributeError(f"{type(self).__name__} has no {name!r}: it is {words}")
        return object.__getattribute__(self, name)  # raises what it raised before
