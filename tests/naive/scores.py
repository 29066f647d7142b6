"""Scores by their definitions: row by row, one family at a time.

`rows` is a list of dictionaries name → label (None is missing), `states` maps names to labels.
"""

import math
from collections.abc import Callable
from itertools import product
from typing import NamedTuple

from naive import families, gaussian_networks


def config(row, parents):
    """The labels of the parents in a row."""
    return tuple(row[p] for p in parents)


def known(rows, x, parents):
    """The rows in which neither the variable nor a parent is missing."""
    return [row for row in rows if None not in (row[x], *config(row, parents))]


def n_parameters(states, x, parents):
    """Free parameters of the table of x."""
    return math.prod(len(states[p]) for p in parents) * (len(states[x]) - 1)


def log_frequency(rows, row, x, parents):
    """Log of the share of the rows with the parents of this one that also have its x."""
    same = [r for r in rows if config(r, parents) == config(row, parents)]
    return math.log(sum(r[x] == row[x] for r in same) / len(same))


def loglik(rows, states, x, parents):
    """N times the average log-frequency over the rows in which all is known."""
    complete = known(rows, x, parents)
    if not complete:
        return -math.inf if rows else 0.0
    terms = [log_frequency(complete, row, x, parents) for row in complete]
    return len(rows) * math.fsum(terms) / len(complete)


def log_predictions(rows, states, x, parents, alpha):
    """Σ log p(x of a row | its parents, the rows before it), every cell starting with α."""
    total = 0.0
    for c in {config(row, parents) for row in rows}:
        labels = [states[x].index(row[x]) for row in rows if config(row, parents) == c]
        total += families.log_polya_urn([alpha] * len(states[x]), labels)
    return total


def k2(rows, states, x, parents):
    return log_predictions(rows, states, x, parents, 1.0)


def bdeu(rows, states, x, parents, equivalent_sample_size=1.0):
    cells = math.prod(len(states[p]) for p in (*parents, x))
    return log_predictions(rows, states, x, parents, equivalent_sample_size / cells)


def bds(rows, states, x, parents, equivalent_sample_size=1.0):
    """The equivalent sample is spread over the parent configurations that occur."""
    occurring = len({config(row, parents) for row in rows})
    cells = max(occurring, 1) * len(states[x])
    return log_predictions(rows, states, x, parents, equivalent_sample_size / cells)


def regret(n, n_states):
    """Σ over all count vectors of n rows: how many samples have it, times their likelihood."""
    total = 0.0
    for counts in product(range(n + 1), repeat=n_states):
        if sum(counts) == n:
            samples = math.factorial(n) // math.prod(map(math.factorial, counts))
            total += samples * math.prod((k / n) ** k for k in counts if k)
    return total


def fnml(rows, states, x, parents):
    total = loglik(rows, states, x, parents)
    for c in {config(row, parents) for row in rows}:
        n = sum(config(row, parents) == c for row in rows)
        total -= math.log(regret(n, len(states[x])))
    return total


# --- all scores ---


class Twin(NamedTuple):
    """A score by its definition, and what must be true of it."""

    states: Callable[..., float] | None = None  # (rows, states, x, parents) -> its term
    numbers: Callable[..., float] | None = None  # (data, x, parents) -> its term
    penalty: Callable[[int], float] | None = None  # what a parameter costs, by the number of rows
    is_set_function: bool = True  # so that equivalent graphs score the same
    needs_integers: bool = False  # whether it is defined for whole numbers of rows only
    most_rows: int = 1 << 60  # for which the definition can be computed


def penalised(cost):
    """The likelihood less a cost of every free parameter."""

    def of_states(rows, states, x, parents):
        price = cost(len(rows)) if rows else 0.0
        return loglik(rows, states, x, parents) - price * n_parameters(states, x, parents)

    def of_numbers(data, x, parents):
        price = cost(len(data[x]))
        return gaussian_networks.loglik(data, x, parents) - price * (len(parents) + 2)

    return Twin(of_states, of_numbers, cost)


SCORES = {
    "loglik": penalised(lambda n: 0.0),
    "aic": penalised(lambda n: 1.0),
    "bic": penalised(lambda n: 0.5 * math.log(n)),
    "bdeu": Twin(bdeu),
    "bds": Twin(bds, is_set_function=False),
    "k2": Twin(k2, is_set_function=False),
    "fnml": Twin(fnml, is_set_function=False, needs_integers=True, most_rows=14),
    "bde": Twin(),  # its twin is in the tests of that score
    "bge": Twin(numbers=gaussian_networks.bge),
    "bdeu-bge": Twin(),  # of labels and numbers together: see `mixed_scores`
}
"""One row a score; the tests of all scores read it."""
