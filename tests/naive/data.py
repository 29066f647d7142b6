"""Slow twins of the tables: rows as plain values, natural order and cut points by definition."""

import re
from collections import Counter
from fractions import Fraction
from math import log2


def plain(table):
    """Each variable with its rows as labels or numbers, None for missing: all that tables hold."""
    return {
        name: (table.variable(name), values_of(table.column(name).data.tolist(), variable))
        for name, variable in zip(table.names, table.variables, strict=True)
    }


def values_of(data, variable):
    if variable.kind == "categorical":
        return [None if k == len(variable.states) else variable.states[k] for k in data]
    return [None if x != x else x for x in data]


def sort_naturally(labels):
    """Numbers by value if all are numbers, else character by character, a run of digits as one."""
    number = re.compile(r"-?(0|[1-9]\d*)?(\.\d*)?([eE][+-]?\d+)?", re.ASCII)
    labels = set(labels)
    if all(number.fullmatch(text) and re.match(r"-?\.?\d", text) for text in labels):
        return tuple(sorted(labels, key=lambda text: (as_fraction(text), text)))
    return tuple(sorted(labels, key=lambda text: ([token(t) for t in tokens(text)], text)))


def as_fraction(text):
    return Fraction(text.removesuffix("."))


def tokens(text):
    return re.findall(r"[0-9]+|[^0-9]", text, re.DOTALL)


def token(text):
    return (0, int(text), "") if text[0] in "0123456789" else (1, 0, text)


def codes_between(x, borders):
    """Which interval each number falls in: how many of the borders lie below it."""
    return [sum(border < value for border in borders) for value in x]


def quantile_borders(x, bins):
    """For each share k / bins the border between distinct values that comes nearest to it."""
    values = sorted(set(x))
    below = {v: sum(y <= v for y in x) for v in values[:-1]}
    chosen = set()
    for k in range(1, bins):
        goal = Fraction(k * len(x), bins)
        if below:
            chosen.add(min(below, key=lambda v, goal=goal: (abs(below[v] - goal), v)))
    return sorted(chosen)


def interval_borders(x, bins):
    low, high = Fraction(min(x)), Fraction(max(x))
    return [low + (high - low) * k / bins for k in range(1, bins)] if high > low else []


def entropy(labels):
    n = len(labels)
    return -sum(c / n * log2(c / n) for c in Counter(labels).values())


def mdl_borders(x, y):
    """Fayyad and Irani (1993): try every border, keep it if it pays, go on in both halves."""
    n, rows = len(x), list(zip(x, y, strict=True))
    best = None
    for border in sorted(set(x))[:-1]:
        halves = [c for v, c in rows if v <= border], [c for v, c in rows if v > border]
        mean = sum(len(half) / n * entropy(half) for half in halves)
        if best is None or mean < best[0] - 1e-12:
            best = mean, border, halves
    if best is None:
        return []
    mean, border, halves = best
    k, (k1, k2) = len(set(y)), [len(set(half)) for half in halves]
    delta = log2(3**k - 2) - (k * entropy(y) - k1 * entropy(halves[0]) - k2 * entropy(halves[1]))
    if entropy(y) - mean <= (log2(n - 1) + delta) / n:
        return []
    left, right = [r for r in rows if r[0] <= border], [r for r in rows if r[0] > border]
    inner = [mdl_borders(*zip(*half, strict=True)) for half in (left, right)]
    return sorted([*inner[0], border, *inner[1]])
