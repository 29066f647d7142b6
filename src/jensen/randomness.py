"""Seeds: whatever the caller gives becomes one generator."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from jensen.exceptions import JensenError

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
    if isinstance(random_state, np.random.RandomState):  # it has no streams of its own to give
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


def generator_state(rng: np.random.Generator) -> dict[str, Any]:
    """All there is to know about a generator, as JSON: its next draws and its next children.

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
    """Arrays and NumPy's numbers as JSON knows them."""
    match value:
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case np.ndarray() | np.generic():
            return value.tolist()
        case _:
            return value
