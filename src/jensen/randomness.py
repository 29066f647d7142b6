"""Seeds: whatever the caller gives becomes one generator."""

from typing import Any

import numpy as np

from jensen.exceptions import JensenError


def as_generator(random_state: Any) -> np.random.Generator:
    """A generator from an int, a `SeedSequence`, a `Generator` (as it is) or None (fresh)."""
    try:
        rng = np.random.default_rng(random_state)
        rng.spawn(0)  # every unit of work has its own stream; a RandomState has none to give
        return rng
    except (TypeError, ValueError):
        raise JensenError(
            f"random_state must be an int >= 0, a SeedSequence, a Generator or None, "
            f"not {random_state!r}"
        ) from None
