"""What is made of θ, once for all units of a sweep."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Made = TypeVar("Made")


class Latest(Generic[Made]):
    """A function that remembers its last answer, for as long as it is asked about one record."""

    def __init__(self, make: Callable[[Any], Made]) -> None:
        self.make = make
        self.known: tuple[Any, Made] | None = None

    def __call__(self, t: Any) -> Made:
        """The answer for this record; threads that ask at once may each make it."""
        known = self.known
        if known is None or known[0] is not t:
            self.known = known = t, self.make(t)
        return known[1]
