"""Numbers of 106 bits: the unevaluated sum of two doubles, high + low.

A sum or product is wrong by at most 2^-103 of its size, or of the size of the larger term where two
terms cancel. Dekker's splitting stands in for a fused product, which not every machine has.

References
----------
Dekker (1971), *A floating-point technique for extending the available precision*.
"""

from jensen.kernels import helper

SPLIT = 134217729.0
"""2^27 + 1: cuts a double into two halves of 26 bits."""


@helper
def add_long(a_high, a_low, b_high, b_low):
    """Return a + b."""
    s = a_high + b_high
    back = s - a_high
    rest = (a_high - (s - back)) + (b_high - back) + (a_low + b_low)
    high = s + rest
    return high, rest - (high - s)


@helper
def multiply_long(a_high, a_low, b_high, b_low):
    """Return a b."""
    p = a_high * b_high
    x = SPLIT * a_high
    a1 = x - (x - a_high)
    a2 = a_high - a1
    y = SPLIT * b_high
    b1 = y - (y - b_high)
    b2 = b_high - b1
    rest = ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2 + (a_high * b_low + a_low * b_high)
    high = p + rest
    return high, rest - (high - p)
