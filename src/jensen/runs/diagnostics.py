"""How well chains have mixed: R-hat and the effective sample size, of many quantities at once."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from jensen.exceptions import JensenError

BLOCK = 1 << 21  # numbers at a time: the memory needed beyond that of the draws

Array = NDArray[np.float64]


def split_r_hat(draws: ArrayLike) -> Array:
    """Rank-normalised split R-hat: near 1 where the chains agree, above 1.01 where they do not.

    Chains are cut in half, so that one chain that drifts is seen too. R-hat compares the
    variance of all draws with the variance within the half chains,
    R-hat² = ((n - 1) W / n + B / n) / W, on the normal scores of the ranks; the larger of the
    values for the draws and for their distances from the median is returned: it sees chains
    that differ in place or in width.

    Parameters
    ----------
    draws : array (chains, samples, ...)
        Draws after burn-in; numbers or truth values. One chain will do.

    Returns
    -------
    array (...)
        One number for each quantity, a single one for draws (chains, samples). A quantity that
        never moved has 1: the chains agree, which is no proof that they explored. Chains that
        stand still at different values have inf. With fewer than 4 samples a chain, or draws
        that are not finite, nan.

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter, Bürkner (2021), "Rank-normalization, folding, and
    localization: an improved R-hat for assessing convergence of MCMC", *Bayesian Analysis*
    16(2), doi:10.1214/20-BA1221, sections 3.1 and 4.

    Examples
    --------
    >>> draws = np.random.default_rng(0).normal(size=(4, 500))
    >>> bool(split_r_hat(draws) < 1.01)
    True
    >>> bool(split_r_hat(draws + [[0], [0], [0], [2]]) > 1.1)
    True
    """
    return _by_quantity(draws, _larger_r_hat, n_least=4, if_constant=1.0)


def effective_sample_size(draws: ArrayLike) -> Array:
    """Bulk effective sample size: how many independent draws would tell the mean as well.

    S / τ with S draws in all and τ = -1 + 2 Σ (ρ_2k + ρ_2k+1), the autocorrelations ρ combined
    over half chains, on the normal scores of the ranks; the sum of pairs ends before the first
    that is not positive, and pairs never rise (Geyer's initial monotone sequence). Chains that
    disagree have few effective draws, however many there are. As in Stan and ArviZ, no more than
    S log10 S are reported.

    Parameters
    ----------
    draws : array (chains, samples, ...)
        Draws after burn-in; numbers or truth values. One chain will do.

    Returns
    -------
    array (...)
        One number for each quantity, a single one for draws (chains, samples). A quantity that
        never moved has nan: nothing is known about how fast it would. With fewer than 10 samples
        a chain, or draws that are not finite, nan.

    References
    ----------
    Vehtari et al. (2021), as for `split_r_hat`, section 3.2. Geyer (1992), "Practical Markov
    chain Monte Carlo", *Statistical Science* 7(4), doi:10.1214/ss/1177011137, section 3.3.

    Examples
    --------
    >>> draws = np.random.default_rng(0).normal(size=(4, 500))
    >>> round(float(effective_sample_size(draws)), -2)
    2000.0
    >>> round(float(effective_sample_size(np.repeat(draws, 10, axis=1))), -2)
    2000.0
    """
    return _by_quantity(draws, _bulk_size, n_least=10, if_constant=math.nan)


def correlation_time(draws: ArrayLike) -> Array:
    """How many draws tell the mean as well as one independent draw; for standard errors.

    The variance of the mean of S draws is about σ² τ / S, with τ = -1 + 2 Σ (ρ_2k + ρ_2k+1) as in
    `effective_sample_size`, but of the draws themselves rather than of their ranks, and of whole
    chains: half chains are short, and with few lags τ comes out too small. The sum ends before
    the first pair that is no larger than √(2 / S), its standard deviation if draws are independent:
    what is added beyond is noise, and always positive. An estimate from W lags has about
    ν = S / (2 W + 1) degrees of freedom, so that errors divided by their standard errors would have
    the variance 1 + 2 / ν, to first order; τ is larger by this factor.

    Parameters
    ----------
    draws : array (chains, samples, ...)
        Draws after burn-in; numbers or truth values. One chain is cut in half.

    Returns
    -------
    array (...)
        One number for each quantity, a single one for draws (chains, samples); nan for what never
        moved, with fewer than 10 samples a chain, or for draws that are not finite.

    References
    ----------
    Geyer (1992), as for `effective_sample_size`. Madras and Sokal (1988), "The pivot algorithm",
    *Journal of Statistical Physics* 50, doi:10.1007/BF01022990, appendix C, for the lags.

    Examples
    --------
    >>> draws = np.random.default_rng(0).normal(size=(4, 500))
    >>> round(float(correlation_time(draws)), 1)
    1.0
    >>> round(float(correlation_time(np.repeat(draws, 3, axis=1))), 1)
    3.0
    """
    return _by_quantity(draws, _mean_time, n_least=10, if_constant=math.nan, whole=True)


def _by_quantity(
    draws: ArrayLike,
    measure: Callable[[Array], Array],
    *,
    n_least: int,
    if_constant: float,
    whole: bool = False,
) -> Array:
    """Measure half chains (2 chains, samples / 2, quantities) of all that moves, in blocks.

    Whole chains, if there are several, where `whole` is true.
    """
    given = np.asarray(draws)
    if given.ndim < 2:
        raise JensenError(
            f"draws must have the shape (chains, samples, ...), not {given.shape}: "
            f"give one chain as draws[np.newaxis]"
        )
    n_chains, n_samples, *shape = given.shape
    result = np.full(math.prod(shape), np.nan)
    if n_chains > 0 and n_samples >= n_least:
        flat = given.reshape(n_chains, n_samples, len(result))
        step = max(1, BLOCK // (n_chains * n_samples))
        for start in range(0, len(result), step):
            block = flat[:, :, start : start + step].astype(np.float64)
            known = np.isfinite(block).all(axis=(0, 1))
            halves = block if whole and n_chains > 1 else _split(block)
            constant = (halves == halves[:1, :1]).all(axis=(0, 1))
            values = np.where(known & constant, if_constant, np.nan)
            moves = known & ~constant
            if moves.any():
                values[moves] = measure(halves[:, :, moves])
            result[start : start + step] = values
    return result.reshape(shape)[()]


def _split(draws: Array) -> Array:
    """Each chain as two of half the length; the middle draw of an odd number is left out."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def _normal_scores(draws: Array) -> Array:
    """Normal quantiles of the ranks among all draws of a quantity; ties share their mean rank."""
    from scipy.stats import rankdata  # takes long to import, and few learners run chains

    n_chains, n_samples, n_quantities = draws.shape
    ranks = rankdata(draws.reshape(n_chains * n_samples, n_quantities), axis=0)
    scores: Array = ndtri((ranks - 3 / 8) / (n_chains * n_samples + 1 / 4))
    return scores.reshape(draws.shape)


def _moments(z: Array) -> tuple[Array, Array, Array]:
    """Deviations from the chain's mean, W, and the variance of the chain means; 0 exactly if 0."""
    z = z - z[:1, :1]
    centred = z - z[:, :1]
    centred = centred - centred.mean(axis=1, keepdims=True)
    within = (centred**2).sum(axis=1).mean(axis=0) / (z.shape[1] - 1)
    return centred, within, z.mean(axis=1).var(axis=0, ddof=1)


def _larger_r_hat(halves: Array) -> Array:
    """R-hat of place and of width: the larger one."""
    distances = abs(halves - np.median(halves, axis=(0, 1)))
    # Distances may be constant where the draws are not (two values, each half of the time): nan.
    return np.fmax(_r_hat(_normal_scores(halves)), _r_hat(_normal_scores(distances)))


def _r_hat(z: Array) -> Array:
    """Root of the variance of all by that within chains."""
    n = z.shape[1]
    _, within, between = _moments(z)
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Array = np.sqrt((n - 1) / n + between / within)
    return result


def _bulk_size(halves: Array) -> Array:
    """Draws divided by τ, the sum of the autocorrelations of the normal scores."""
    n_chains, n, n_quantities = halves.shape
    rho = _autocorrelations(_normal_scores(halves))
    n_pairs = (n - 1) // 2
    pairs = rho[: 2 * n_pairs : 2] + rho[1 : 2 * n_pairs : 2]
    ends = pairs <= 0
    ends[-1] = True
    last = ends.argmax(axis=0)
    counted = np.arange(n_pairs)[:, np.newaxis] < last
    falling = np.minimum.accumulate(pairs, axis=0)
    # Of the pair after the last counted one, the first member still counts once if it is positive.
    column = np.arange(n_quantities)
    single = rho[2 * last, column]
    single = np.where(pairs[last, column] > 0, single, np.maximum(single, 0.0))
    tau = -1 + 2 * np.where(counted, falling, 0.0).sum(axis=0) + single
    n_draws = n_chains * n
    size: Array = n_draws / np.maximum(tau, 1 / math.log10(n_draws))
    return size


def _mean_time(chains: Array) -> Array:
    """τ of the mean of all draws, with what its own uncertainty adds."""
    n_chains, n, _ = chains.shape
    n_draws = n_chains * n
    rho = _autocorrelations(chains)
    n_pairs = (n - 1) // 2
    pairs = rho[: 2 * n_pairs : 2] + rho[1 : 2 * n_pairs : 2]
    ends = pairs <= math.sqrt(2 / n_draws)
    ends[0], ends[-1] = False, True
    last = ends.argmax(axis=0)
    counted = np.arange(n_pairs)[:, np.newaxis] < last
    tau = -1 + 2 * np.where(counted, np.minimum.accumulate(pairs, axis=0), 0.0).sum(axis=0)
    n_lags = 2 * last - 1
    time: Array = np.maximum(tau, 1 / math.log10(n_draws)) * (1 + 2 * (2 * n_lags + 1) / n_draws)
    return time


def _autocorrelations(z: Array) -> Array:
    """ρ_t (samples, quantities) of chains taken together."""
    from scipy.fft import irfft, next_fast_len, rfft  # takes long to import, as above

    n = z.shape[1]
    centred, within, between = _moments(z)
    size = next_fast_len(2 * n, real=True)
    power = abs(rfft(centred, size, axis=1)) ** 2
    covariance = irfft(power.mean(axis=0), size, axis=0)[:n] / n
    rho: Array = 1 - (within - covariance) / (within * (n - 1) / n + between)
    rho[0] = 1.0
    return rho
