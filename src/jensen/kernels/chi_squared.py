"""Upper tails of the chi-squared distribution as logarithms, which never underflow."""

import math

from jensen.kernels import helper, kernel

FAR = 300.0
"""Beyond this erfc is taken from its expansion, long before it underflows."""

TINY = 1e-17
"""Terms that change a sum by less than this share end it."""


@helper
def log_erfc_root(y):
    """Return log erfc(√y)."""
    if y < FAR:
        return math.log(math.erfc(math.sqrt(y)))
    z = 0.5 / y
    series = 1.0 - z * (1.0 - 3.0 * z * (1.0 - 5.0 * z * (1.0 - 7.0 * z)))
    return -y - 0.5 * math.log(math.pi * y) + math.log(series)


@helper
def log_tail(x, df):
    """Return log P(χ² > x) with df degrees of freedom; without any, nothing is ever surprising.

    With a = df / 2 and y = x / 2 it is log Q(a, y): beside the mode 1 - P by the series of P, which
    rises from a, else the finite sum that falls from a - 1 to 0, or to erfc for odd df.
    """
    if df <= 0 or not x > 0.0:
        return 0.0
    a, y = 0.5 * df, 0.5 * x
    if math.isinf(y):
        return -math.inf
    if y < a + 1.0:
        term, total, k = 1.0, 1.0, a + 1.0
        while term > TINY * total:
            term *= y / k
            total += term
            k += 1.0
        below = math.exp(a * math.log(y) - y - math.lgamma(a + 1.0)) * total
        return math.log1p(-below) if below < 1.0 else -math.inf
    if df == 1:
        return log_erfc_root(y)
    top = (a - 1.0) * math.log(y) - y - math.lgamma(a)
    term, total, k = 1.0, 1.0, a - 1.0
    while k >= 1.0 and term > TINY * total:
        term *= k / y
        total += term
        k -= 1.0
    if k == 0.5:
        total += math.exp(log_erfc_root(y) - top)
    return top + math.log(total)


@kernel("void(float64[::1], int64[::1], float64[::1])")
def log_tails(x, df, out):
    """Fill out with log P(χ² > x), one by one."""
    for i in range(out.shape[0]):
        out[i] = log_tail(x[i], df[i])
