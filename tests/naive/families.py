"""Families by their definitions, one distribution at a time.

Of a Dirichlet, α is a list of concentrations. Of a Gaussian family, `words` are m, β, ν and W.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.integrate import quad
from scipy.stats import gamma, multivariate_normal, multivariate_t, nbinom, wishart


def gradient(f, x, step=1e-5):
    """Central differences of a function of an array."""
    result = np.zeros_like(x)
    for k in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[k] += step
        down[k] -= step
        result[k] = (f(up) - f(down)) / (2.0 * step)
    return result


def log_density(pi, alpha):
    """Log of Γ(Σ α) / Π Γ(α_k) · Π π_k^(α_k - 1)."""
    constant = math.lgamma(sum(alpha)) - sum(map(math.lgamma, alpha))
    return constant + sum((a - 1.0) * math.log(p) for p, a in zip(pi, alpha, strict=True))


def kl_of_two_states(q, p):
    """∫ q(π) log(q(π) / p(π)) dπ for two states, by quadrature."""

    def integrand(x):
        pi = (x, 1.0 - x)
        return math.exp(log_density(pi, q)) * (log_density(pi, q) - log_density(pi, p))

    return quad(integrand, 0.0, 1.0, epsabs=1e-12, epsrel=1e-12, limit=200)[0]


def log_polya_urn(alpha, sequence):
    """Log-probability of a sequence of states, predicted one after the other."""
    weight, log_probability = list(alpha), 0.0
    for state in sequence:
        log_probability += math.log(weight[state] / math.fsum(weight))
        weight[state] += 1.0
    return log_probability


def log_rising(alpha, n):
    """Log of α (α + 1) ... (α + n - 1)."""
    return math.fsum(math.log(alpha + k) for k in range(n))


def record_gradient(f, record, step=1e-5):
    """Central differences of a function of a record, field by field."""

    def with_field(number, value):
        return type(record)(*(*record[:number], value, *record[number + 1 :]))

    def of_field(number, x):
        return gradient(lambda value: f(with_field(number, value)), np.array(x), step)

    return type(record)(*(of_field(number, x) for number, x in enumerate(record)))


class Block(NamedTuple):
    """Columns of one component that share a precision matrix; indices into the words' arrays."""

    component: int
    columns: list
    strength: tuple
    precision: tuple


def blocks(kind, K, D):
    """The Gaussian families differ in what shares a precision, and in nothing else."""
    every = list(range(D))
    if kind == "full":
        return [Block(k, every, (k,), (k,)) for k in range(K)]
    if kind == "tied":
        return [Block(k, every, (k,), ()) for k in range(K)]
    if kind == "diagonal":
        return [Block(k, [d], (k, d), (k, d)) for k in range(K) for d in every]
    return [Block(k, [d], (k,), (k,)) for k in range(K) for d in every]


def matrix(x):
    """A precision as a matrix, also where it is one number."""
    return np.atleast_2d(np.asarray(x))


def precisions(kind, K, D):
    """Where each precision is."""
    return sorted({block.precision for block in blocks(kind, K, D)})


def gaussian_log_density(kind, words, means, precision):
    """Log p(μ, Λ): every mean a Gaussian given its precision, every precision a Wishart."""
    m, beta, nu, W = words
    total = 0.0
    for k, columns, strength, place in blocks(kind, *m.shape):
        covariance = np.linalg.inv(beta[strength] * matrix(precision[place]))
        total += multivariate_normal.logpdf(means[k][columns], m[k][columns], covariance)
    for place in precisions(kind, *m.shape):
        total += wishart.logpdf(matrix(precision[place]), nu[place], matrix(W[place]))
    return total


def gaussian_stats(kind, rows, labels, like):
    """Count, second, first and strength, shaped as another record, row by row."""
    count, second, first, strength = (np.zeros(np.shape(x)) for x in like)
    for x, label in zip(rows, labels, strict=True):
        seen = set()
        for k, columns, place_of_strength, place in blocks(kind, *first.shape):
            if k == label:
                count[place] += 1.0
                square = np.outer(x[columns], x[columns])
                second[place] += square if second[place].ndim else square[0, 0]
                first[k, columns] += x[columns]
                strength[place_of_strength] += place_of_strength not in seen
                seen.add(place_of_strength)
    return type(like)(count, second, first, strength)


def gaussian_log_predictions(kind, words, rows, labels):
    """Σ log p(x | the rows before it), each a Student t (Bishop 2006, equations 10.81, 10.82)."""
    m, beta, nu, W = words
    parts = blocks(kind, *m.shape)
    mean = [m[block.component][block.columns] for block in parts]
    worth = [beta[block.strength] for block in parts]
    degrees = {place: float(nu[place]) for place in precisions(kind, *m.shape)}
    scatter = {place: np.linalg.inv(matrix(W[place])) for place in degrees}
    total = 0.0
    for x, label in zip(rows, labels, strict=True):
        for b, (k, columns, _, place) in enumerate(parts):
            if k == label:
                df, step = degrees[place] + 1 - len(columns), x[columns] - mean[b]
                spread = (worth[b] + 1) / (worth[b] * df) * scatter[place]
                total += multivariate_t.logpdf(x[columns], mean[b], spread, df)
                scatter[place] = scatter[place] + np.outer(step, step) * worth[b] / (worth[b] + 1)
                mean[b] = mean[b] + step / (worth[b] + 1)
                worth[b] += 1
                degrees[place] += 1
    return total


def gamma_log_density(rates, shape, rate):
    """Log p(λ), summed."""
    return float(gamma.logpdf(rates, shape, scale=1.0 / rate).sum())


def gamma_log_predictions(shape, rate, rows, labels):
    """Σ log p(x | the rows before it), each negative binomial."""
    shape, rate, total = shape.copy(), rate.copy(), 0.0
    for x, k in zip(rows, labels, strict=True):
        total += nbinom.logpmf(x, shape[k], rate[k] / (rate[k] + 1.0)).sum()
        shape[k] += x
        rate[k] += 1.0
    return float(total)


def regression_log_density(words, coefficients, precision):
    """Log p(β, λ): every β a Gaussian given its λ, every λ a Wishart in one dimension."""
    total = 0.0
    for beta, lam, m, strength, nu, W in zip(coefficients, precision, *words, strict=True):
        total += multivariate_normal.logpdf(beta, m, np.linalg.inv(lam * strength))
        total += wishart.logpdf(lam, nu, W)
    return total


def regression_log_predictions(words, x, y, labels):
    """Σ log p(y | x, the rows before), each a Student t about the regression so far."""
    m, strength, nu, W = (np.array(part) for part in words)
    total, scatter = 0.0, 1.0 / W
    for row, value, k in zip(x, y, labels, strict=True):
        spread = 1.0 + row @ np.linalg.solve(strength[k], row)
        step = value - row @ m[k]
        total += multivariate_t.logpdf([step], [0.0], [[spread * scatter[k] / nu[k]]], nu[k])
        scatter[k] += step**2 / spread
        updated = strength[k] + np.outer(row, row)
        m[k] = np.linalg.solve(updated, strength[k] @ m[k] + value * row)
        strength[k], nu[k] = updated, nu[k] + 1.0
    return total
