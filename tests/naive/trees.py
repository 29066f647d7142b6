"""Mutual informations and best trees by their definitions: sums over rows, all forests tried.

A table is a dictionary name → list of values; a label is text, a number is continuous.
"""

import math
from itertools import product


def is_categorical(values):
    """Whether a column holds labels."""
    return isinstance(values[0], str)


def shares(columns, names, weights, pseudo=0.0, states=None):
    """The probability of every configuration of some columns, pseudo rows added to each cell."""
    cells = dict.fromkeys(product(*(states[x] for x in names)), pseudo) if states else {}
    for i, weight in enumerate(weights):
        cell = tuple(columns[x][i] for x in names)
        cells[cell] = cells.get(cell, 0.0) + weight
    total = math.fsum(cells.values())
    return {cell: x / total for cell, x in cells.items()}


def mutual_information(columns, a, b, weights, states, sample_size=0.0, given=None):
    """Σ p(a, b, g) log(p(a, b, g) p(g) / p(a, g) p(b, g)), imagined rows spread evenly."""
    names = (a, b) if given is None else (a, b, given)
    cells = math.prod(len(states[x]) for x in names)
    joint = shares(columns, names, weights, sample_size / cells, states)
    terms = []
    for cell, p in joint.items():
        if p > 0.0:
            rest = cell[2:]
            one = math.fsum(q for c, q in joint.items() if c[0] == cell[0] and c[2:] == rest)
            other = math.fsum(q for c, q in joint.items() if c[1:] == cell[1:])
            both = math.fsum(q for c, q in joint.items() if c[2:] == rest)
            terms.append(p * math.log(p * both / (one * other)))
    return math.fsum(terms)


def log_normal(residuals, weights):
    """The log-likelihood of residuals under a Gaussian of mean 0 with their own variance."""
    total = math.fsum(weights)
    variance = math.fsum(w * r * r for w, r in zip(weights, residuals, strict=True)) / total
    return -0.5 * total * (math.log(2 * math.pi * variance) + 1)


def mean(values, weights):
    """The weighted mean."""
    return math.fsum(w * x for w, x in zip(weights, values, strict=True)) / math.fsum(weights)


def log_likelihood(columns, child, parent, weights):
    """The largest log-likelihood of a column given one other, or none.

    Labels given labels: frequencies. Numbers: Gaussian with one variance, and as mean a constant, a
    constant for each label, or a linear function.
    """
    y = columns[child]
    if is_categorical(y):
        joint = [(y[i], columns[parent][i] if parent else None) for i in range(len(y))]
        total = 0.0
        for i, w in enumerate(weights):
            same = math.fsum(v for v, c in zip(weights, joint, strict=True) if c == joint[i])
            above = math.fsum(v for v, c in zip(weights, joint, strict=True) if c[1] == joint[i][1])
            total += w * math.log(same / above)
        return total
    if parent is None:
        fitted = [mean(y, weights)] * len(y)
    elif is_categorical(columns[parent]):
        x, fitted = columns[parent], []
        for label in x:
            rows = [i for i in range(len(y)) if x[i] == label]
            fitted.append(mean([y[i] for i in rows], [weights[i] for i in rows]))
    else:
        x = columns[parent]
        centre, level = mean(x, weights), mean(y, weights)
        over = mean([(a - centre) * (b - level) for a, b in zip(x, y, strict=True)], weights)
        slope = over / mean([(a - centre) ** 2 for a in x], weights)
        fitted = [level + slope * (a - centre) for a in x]
    return log_normal([a - b for a, b in zip(y, fitted, strict=True)], weights)


def n_parameters(columns, child, parent):
    """Free parameters of a column given one other, or none."""
    n_states = len(set(columns[child]))
    above = columns[parent] if parent else []
    if is_categorical(columns[child]):
        return (n_states - 1) * (len(set(above)) if parent else 1)
    if parent is None:
        return 2
    return len(set(above)) + 1 if is_categorical(above) else 3


def all_forests(columns):
    """Every directed forest, child → parent or None; labels have no numeric parent."""
    names = sorted(columns)
    for choice in product([None, *names], repeat=len(names)):
        parents = dict(zip(names, choice, strict=True))
        if all(allowed(columns, x, p) for x, p in parents.items()) and not has_cycle(parents):
            yield parents


def allowed(columns, child, parent):
    """Whether the arrow may be there."""
    if parent is None:
        return True
    return child != parent and not (
        is_categorical(columns[child]) and not is_categorical(columns[parent])
    )


def has_cycle(parents):
    """Whether the way up from somewhere is longer than there are nodes."""
    for x in parents:
        above, steps = x, 0
        while above is not None and steps <= len(parents):
            above, steps = parents[above], steps + 1
        if above is not None:
            return True
    return False


def best_score(columns, weights, cost):
    """The largest log-likelihood minus `cost` for each parameter, over all forests."""
    names = sorted(columns)
    local = {
        (x, p): log_likelihood(columns, x, p, weights) - cost * n_parameters(columns, x, p)
        for x in names
        for p in (None, *names)
        if allowed(columns, x, p)
    }
    return max(math.fsum(local[pair] for pair in f.items()) for f in all_forests(columns))


def forest_score(columns, parents, weights, cost):
    """The same of one forest."""
    return math.fsum(
        log_likelihood(columns, x, p, weights) - cost * n_parameters(columns, x, p)
        for x, p in parents.items()
    )


def has_forbidden_path(columns, edges):
    """Whether a path joins two label columns through numeric ones only."""
    near = {x: {b if a == x else a for a, b in edges if x in (a, b)} for x in columns}
    for x in columns:
        if is_categorical(columns[x]):
            continue
        seen, front = {x}, [x]
        while front:
            fresh = {y for y in near[front.pop()] if not is_categorical(columns[y])} - seen
            seen |= fresh
            front += fresh
        doors = [y for z in seen for y in near[z] if is_categorical(columns[y])]
        if len(doors) > 1:
            return True
    return False
