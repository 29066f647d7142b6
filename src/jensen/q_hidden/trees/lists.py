"""Numbers for lists of small integers: equal lists, equal numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Words = NDArray[np.int32]


class Lists:
    """Lists that were seen, in the order in which they came first."""

    def __init__(self) -> None:
        self._pool = np.empty(1 << 10, np.int32)
        self._end = np.empty(1 << 8, np.int64)
        self._places = np.full(1 << 9, -1, np.int64)
        self._n = 0

    def __len__(self) -> int:
        return self._n

    @property
    def end(self) -> Ints:
        """Where each list ends in `words`."""
        return self._end[: self._n]

    @property
    def begin(self) -> Ints:
        """Where each list begins in `words`."""
        return np.concatenate([[0], self._end[: max(self._n - 1, 0)]])[: self._n]

    @property
    def words(self) -> Words:
        """All lists end to end."""
        return self._pool[: self._end[self._n - 1] if self._n else 0]

    def number(self, words: Words, begin: Ints, end: Ints) -> Ints:
        """The number of every list ``words[begin:end]``; new lists get the next numbers."""
        from jensen.kernels.interning import intern

        self._make_room(len(begin), int((end - begin).sum()))
        numbers = np.empty(len(begin), np.int64)
        self._n = intern(words, begin, end, self._pool, self._end, self._places, self._n, numbers)
        return numbers

    def keep(self, n: int) -> None:
        """Forget all lists but the first n."""
        self._n = n
        self._place_again(len(self._places))

    def _make_room(self, n_lists: int, n_words: int) -> None:
        self._pool = grown(self._pool, len(self.words) + n_words)
        self._end = grown(self._end, self._n + n_lists)
        if 2 * (self._n + n_lists) > len(self._places):
            self._place_again(1 << (2 * (self._n + n_lists)).bit_length())

    def _place_again(self, size: int) -> None:
        """Number all lists anew, which gives them the numbers they have, in another table."""
        words, begin, end = self.words.copy(), self.begin, self.end.copy()
        self._n, self._places = 0, np.full(size, -1, np.int64)
        self.number(words, begin, end)


def grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    """The array, or a copy of at least this length, doubled so that copies stay rare."""
    if size <= len(array):
        return array
    bigger = np.empty((max(size, 2 * len(array)), *array.shape[1:]), array.dtype)
    bigger[: len(array)] = array
    return bigger
