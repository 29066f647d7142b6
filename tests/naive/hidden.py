"""Incomplete rows by their definition: every configuration of what is hidden, one product each.

`families` are tuples of variables; `tables` the arrays of their logarithms, an axis per member; a
row has a state per variable, -1 where it is missing.
"""

import math
from itertools import product

import numpy as np


def hidden_sets(families, row):
    """The missing variables as connected sets: two in one family belong together."""
    sets = [{v} for v in range(len(row)) if row[v] < 0]
    for family in families:
        joined = [s for s in sets if s & set(family)]
        if joined:
            sets = [s for s in sets if s not in joined] + [set().union(*joined)]
    return sorted(map(sorted, sets))


def left_out(families, row, target=-1):
    """The missing variables below which nothing was seen; nobody is a parent of the target.

    `families` hold one family per variable, the variable itself last.
    """
    found = set()
    while True:
        children = {u: [f[-1] for f in families if u in f[:-1]] for u in range(len(row))}
        more = {
            v
            for v in range(len(row))
            if row[v] < 0 and all(c in found or c == target for c in children[v])
        }
        if more == found:
            return found
        found = more


def touched(families, members):
    """The families that hold a member."""
    return [f for f, family in enumerate(families) if set(family) & set(members)]


def evidence_around(families, row, members):
    """What is observed in the families that hold a member: variable → state."""
    around = {v for f in touched(families, members) for v in families[f]} - set(members)
    return {v: int(row[v]) for v in sorted(around)}


def sub_problems(families, row):
    """The sets of a row, each with the evidence around it, as something that can be compared."""
    return {
        (tuple(members), tuple(evidence_around(families, row, members).items()))
        for members in hidden_sets(families, row)
    }


def configurations(cards, members):
    """All states of the members, a row each."""
    found = list(product(*(range(cards[v]) for v in members)))
    return np.array(found, int).reshape(len(found), len(members))


def cells(family, row, members, configs):
    """The cell of a family in every configuration, as an index of its table."""
    return tuple(
        configs[:, members.index(v)] if v in members else np.full(len(configs), row[v])
        for v in family
    )


def log_values(families, tables, row, members, configs):
    """The log of the product of all tables that hold a member, for every configuration."""
    total = np.zeros(len(configs))
    for f in touched(families, members):
        total = total + tables[f][cells(families[f], row, members, configs)]
    return total


def log_sum(values):
    """The log of the sum of exponentials."""
    best = float(np.max(values))
    if best == -math.inf:
        return best
    return best + math.log(math.fsum(np.exp(values - best)))


def probabilities(values):
    """Exponentials of the values, as shares of their sum; nothing if all are impossible."""
    total = log_sum(values)
    return np.exp(values - total) if total > -math.inf else np.zeros(len(values))


def counts(families, tables, row, members, configs, shares):
    """Counts of every table: a configuration counts its share where a family holds a member."""
    found = [np.zeros(table.shape) for table in tables]
    for f in touched(families, members):
        np.add.at(found[f], cells(families[f], row, members, configs), shares)
    return found


def marginal(configs, shares, column, card):
    """The share of every state of one member."""
    return np.bincount(configs[:, column], shares, minlength=card)
