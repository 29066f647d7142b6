"""Learning with missing values by its definition: every completion of every row, one at a time.

`families` are tuples of variables, parents first; a row has a state per variable, -1 where it is
missing. Tables, counts and concentrations are lists of arrays, one per family, an axis per member.
"""

import math
from itertools import product

import numpy as np
from naive.hidden import left_out
from scipy.special import digamma
from scipy.stats import dirichlet


def completions(row, cards):
    """Every complete row that agrees with what is known."""
    return list(
        product(*(range(n) if s < 0 else [int(s)] for s, n in zip(row, cards, strict=True)))
    )


def log_product(families, log_tables, full):
    """The log of the product of one table entry per family."""
    entries = [
        float(table[tuple(full[v] for v in family)])
        for family, table in zip(families, log_tables, strict=True)
    ]
    return -math.inf if -math.inf in entries else math.fsum(entries)


def log_sum(values):
    """Log Σ exp."""
    best = max(values)
    if best == -math.inf:
        return best
    return best + math.log(math.fsum(math.exp(v - best) for v in values))


def add_count(counts, families, full, weight):
    """Count one complete row."""
    for family, table in zip(families, counts, strict=True):
        table[tuple(full[v] for v in family)] += weight


def no_counts(families, cards):
    """A table of zeros per family."""
    return [np.zeros([cards[v] for v in family]) for family in families]


def exact(families, cards, log_tables, rows, weights):
    """Σ weight · (E_q[log tables] + H[q]) and expected counts for q(h) = p(h | x)."""
    value, counts = 0.0, no_counts(families, cards)
    for row, weight in zip(rows, weights, strict=True):
        fulls = completions(row, cards)
        logs = [log_product(families, log_tables, full) for full in fulls]
        q = [math.exp(log - log_sum(logs)) for log in logs]
        value += weight * sum(p * (log - math.log(p)) for p, log in zip(q, logs, strict=True) if p)
        for full, p in zip(fulls, q, strict=True):
            add_count(counts, families, full, weight * p)
    return value, counts


def kept(rule, families, cards, log_tables, rows, weights, target=-1):
    """Value and counts by a rule, each row without the families of what is left out of h.

    These are missing cells below which nothing was seen; the variable that was set is nobody's
    child, and its table has no say.
    """
    value, counts = 0.0, no_counts(families, cards)
    for row, weight in zip(rows, weights, strict=True):
        gone = left_out(families, row, target)
        own = [f for f in range(len(families)) if f not in gone and f != target]
        filled = [0 if v in gone else s for v, s in enumerate(row)]
        here = [families[f] for f in own], cards, [log_tables[f] for f in own]
        more, found = rule(*here, [filled], [weight])
        value += more
        for f, n in zip(own, found, strict=True):
            counts[f] += n
    return value, counts


def kept_exact(*what):
    """`exact` without what is left out of h."""
    return kept(exact, *what)


def mode(families, cards, log_tables, rows, weights):
    """The same for q(h) = the most probable completion; it has no entropy."""
    value, counts = 0.0, no_counts(families, cards)
    for row, weight in zip(rows, weights, strict=True):
        fulls = completions(row, cards)
        logs = [log_product(families, log_tables, full) for full in fulls]
        best = int(np.argmax(logs))
        value += weight * logs[best]
        add_count(counts, families, fulls[best], weight)
    return value, counts


def log_likelihood(families, cards, tables, rows, weights):
    """Σ weight · log p(row), every completion of a row summed."""
    total = 0.0
    for row, weight in zip(rows, weights, strict=True):
        joint = [
            math.prod(
                float(t[tuple(full[v] for v in f)]) for f, t in zip(families, tables, strict=True)
            )
            for full in completions(row, cards)
        ]
        total += weight * math.log(math.fsum(joint))
    return total


def rows_of(tables):
    """Every distribution of every table."""
    return [row for table in tables for row in table.reshape(-1, table.shape[-1])]


def log_density(tables, alphas):
    """Log p(θ) of all rows under Dirichlet distributions; 0 where there is no prior (None)."""
    if alphas is None:
        return 0.0
    total = 0.0
    for pi, alpha in zip(rows_of(tables), rows_of(alphas), strict=True):
        total += math.lgamma(sum(alpha)) - sum(map(math.lgamma, alpha))
        total += sum((a - 1.0) * math.log(p) for p, a in zip(pi, alpha, strict=True) if a != 1.0)
    return total


def mean_logs(q):
    """E[log θ] of every cell under Dirichlet distributions with these concentrations."""
    return [digamma(table) - digamma(table.sum(-1, keepdims=True)) for table in q]


def theta_terms(q, alphas):
    """E_q[log p(θ)] + H[q(θ)] of Dirichlet distributions."""
    total = 0.0
    for own, alpha, t in zip(rows_of(q), rows_of(alphas), rows_of(mean_logs(q)), strict=True):
        total += math.lgamma(sum(alpha)) - sum(map(math.lgamma, alpha))
        total += sum((a - 1.0) * x for a, x in zip(alpha, t, strict=True))
        total += float(dirichlet(own).entropy()) if len(own) > 1 else 0.0
    return total


def bound(families, cards, q, alphas, rows, weights, rule=exact):
    """F with q(θ) = Dirichlet(q) and the q(h) that the rule finds at it."""
    return rule(families, cards, mean_logs(q), rows, weights)[0] + theta_terms(q, alphas)


def log_evidence_of(counts, alphas):
    """Log ∫ p(complete rows | θ) p(θ) dθ: the Dirichlet evidence of every row of every table."""
    total = 0.0
    for n, alpha in zip(rows_of(counts), rows_of(alphas), strict=True):
        total += math.lgamma(sum(alpha)) - math.lgamma(sum(alpha) + sum(n))
        total += sum(math.lgamma(a + k) - math.lgamma(a) for a, k in zip(alpha, n, strict=True))
    return total


def completed_tables(families, cards, alphas, rows):
    """All completions of all rows together: (log p(x, h), counts)."""
    found = []
    for fulls in product(*(completions(row, cards) for row in rows)):
        counts = no_counts(families, cards)
        for full in fulls:
            add_count(counts, families, full, 1.0)
        found.append((log_evidence_of(counts, alphas), counts))
    return found


def log_evidence(families, cards, alphas, rows):
    """Log p(x), exactly."""
    return log_sum([log for log, _ in completed_tables(families, cards, alphas, rows)])


def posterior_means(families, cards, alphas, rows):
    """Expected counts under p(h | x) with θ integrated out, and E[θ | x]."""
    found = completed_tables(families, cards, alphas, rows)
    total = log_sum([log for log, _ in found])
    mean, theta = no_counts(families, cards), no_counts(families, cards)
    for log, counts in found:
        p = math.exp(log - total)
        for n, sums, means, alpha in zip(counts, mean, theta, alphas, strict=True):
            sums += p * n
            means += p * (n + alpha) / (n + alpha).sum(-1, keepdims=True)
    return mean, theta


def coin_tosses(heads, n_tosses, biases, n_iterations):
    """EM for two coins, each thrown n times per experiment and chosen with probability 1/2.

    The biases and log-likelihoods (without binomial coefficients) at the start and after every
    iteration. Do & Batzoglou (2008), "What is the expectation maximization algorithm?", Nature
    Biotechnology 26, figure 1b.
    """
    found = []
    for _ in range(n_iterations + 1):
        like = [[0.5 * b**k * (1 - b) ** (n_tosses - k) for b in biases] for k in heads]
        found.append((biases, sum(math.log(sum(row)) for row in like)))
        share = [[p / sum(row) for p in row] for row in like]
        biases = [
            sum(s[c] * k for s, k in zip(share, heads, strict=True))
            / sum(s[c] * n_tosses for s in share)
            for c in range(2)
        ]
    return found
