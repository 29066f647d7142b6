"""Drawing one of the moves of a chain, from the list in `jensen.kernels.moves.registry`."""

from itertools import accumulate

import numpy as np

from jensen.kernels import bare_part


def draw_one_of(moves):
    """Declare a part (u, ...) that calls one move with the arguments after u, uniform in 0 .. 1.

    It returns the number of the move in the list, and what the move returned.
    """
    drawn = [(k, move.function) for k, move in enumerate(moves) if move.share > 0.0]
    bounds = list(accumulate(move.share for move in moves if move.share > 0.0))
    found = _last(*drawn.pop())
    for (k, function), bound in zip(drawn[::-1], bounds[-2::-1], strict=True):
        found = _before(k, function, bound, found)
    return found


def _last(k, function):
    number = np.int64(k)

    @bare_part
    def call(u, *arguments):
        return number, function(*arguments)

    return call


def _before(k, function, bound, others):
    number = np.int64(k)

    @bare_part
    def call(u, *arguments):
        if u < bound:
            return number, function(*arguments)
        return others(u, *arguments)

    return call
