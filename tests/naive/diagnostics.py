"""R-hat and effective sample size by their definitions: one quantity, lists of lists of floats."""

import math
from statistics import NormalDist, fmean, median, variance


def split(chains):
    """First and last halves."""
    half = len(chains[0]) // 2
    return [chain[:half] for chain in chains] + [chain[-half:] for chain in chains]


def normal_scores(chains):
    """Φ⁻¹((r - 3/8) / (S + 1/4)) with r the mean rank among all draws."""
    draws = [x for chain in chains for x in chain]

    def score(x):
        rank = sum(y < x for y in draws) + (1 + sum(y == x for y in draws)) / 2
        return NormalDist().inv_cdf((rank - 3 / 8) / (len(draws) + 1 / 4))

    return [[score(x) for x in chain] for chain in chains]


def basic_r_hat(chains):
    """Section 3.1 of Vehtari et al. (2021)."""
    n = len(chains[0])
    between = n * variance([fmean(chain) for chain in chains])
    within = fmean([variance(chain) for chain in chains])
    return math.sqrt(((n - 1) / n * within + between / n) / within)


def split_r_hat(chains):
    """The larger of the values for the draws and the folded draws."""
    halves = split(chains)
    middle = median([x for chain in halves for x in chain])
    folded = [[abs(x - middle) for x in chain] for chain in halves]
    return max(basic_r_hat(normal_scores(halves)), basic_r_hat(normal_scores(folded)))


def autocovariance(chain, lag):
    """Of one chain, divided by its length whatever the lag."""
    m = fmean(chain)
    terms = [(chain[i] - m) * (chain[i + lag] - m) for i in range(len(chain) - lag)]
    return math.fsum(terms) / len(chain)


def autocorrelation(chains, lag):
    """Section 3.2: ρ of the chains together, 1 at lag 0."""
    if lag == 0:
        return 1.0
    n = len(chains[0])
    within = fmean([variance(chain) for chain in chains])
    together = within * (n - 1) / n + variance([fmean(chain) for chain in chains])
    return 1 - (within - fmean([autocovariance(chain, lag) for chain in chains])) / together


def effective_sample_size(chains):
    """Section 3.2: pairs of autocorrelations while they are positive, made to fall."""
    z = normal_scores(split(chains))
    n = len(z[0])
    tau = -1.0
    smallest = math.inf
    lag = 0
    while True:
        even, odd = autocorrelation(z, lag), autocorrelation(z, lag + 1)
        is_last = lag + 2 >= n - 2  # too few terms are left for another pair
        if even + odd <= 0:
            tau += max(even, 0.0)
            break
        if is_last:
            tau += even
            break
        smallest = min(smallest, even + odd)
        tau += 2 * smallest
        lag += 2
    n_draws = len(z) * n
    return n_draws / max(tau, 1 / math.log10(n_draws))


def correlation_time(chains):
    """Whole chains, or halves of one; pairs while they are above their noise, made to fall."""
    z = chains if len(chains) > 1 else split(chains)
    n, n_draws = len(z[0]), len(z) * len(z[0])
    tau, smallest, lag = -1.0, math.inf, 0
    while lag == 0 or lag + 2 <= 2 * ((n - 1) // 2 - 1):
        pair = autocorrelation(z, lag) + autocorrelation(z, lag + 1)
        if lag > 0 and pair <= math.sqrt(2 / n_draws):
            break
        smallest = min(smallest, pair)
        tau += 2 * smallest
        lag += 2
    n_lags = lag - 1
    return max(tau, 1 / math.log10(n_draws)) * (1 + 2 * (2 * n_lags + 1) / n_draws)
