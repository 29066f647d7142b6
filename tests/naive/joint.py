"""A discrete network by its definition: the joint distribution, one product per assignment.

A network is a dict name → (parents, rows); rows maps the labels of the parents to a dict
state → probability.
"""

import math
from fractions import Fraction
from itertools import product


def binary(parents, *true):
    """The rows of a variable with the states "no" and "yes", from its probabilities of "yes"."""
    configs = product(("no", "yes"), repeat=len(parents))
    rows = {c: {"no": 1 - p, "yes": p} for c, p in zip(configs, true, strict=True)}
    return tuple(parents), rows


def of(net):
    """The same network in this form, read from the rows of its labelled tables."""
    return {
        v.name: (
            net.graph.parents(v.name),
            {
                labels: dict(zip(v.states, map(float, row), strict=True))
                for labels, row in net.cpt(v.name).rows()
            },
        )
        for v in net.variables
    }


def probability(net, row):
    """The product of one table entry per variable."""
    return math.prod(
        rows[tuple(row[p] for p in parents)][row[x]] for x, (parents, rows) in net.items()
    )


def assignments(net):
    """Every assignment of a state to each variable."""
    states = [list(next(iter(rows.values()))) for _, rows in net.values()]
    for labels in product(*states):
        yield dict(zip(net, labels, strict=True))


def query(net, target, given=None):
    """P(target | given) as a dict state → probability, summed over everything else."""
    total = {}
    for row in assignments(net):
        if all(row[x] == label for x, label in (given or {}).items()):
            total[row[target]] = total.get(row[target], 0.0) + probability(net, row)
    return {state: p / sum(total.values()) for state, p in total.items()}


# --- evidence of every kind ---
#
# `given` maps a variable to its state, or to a dict state → likelihood; `do` maps it to a state.


def exact(net):
    """The same network in rational numbers, which neither round nor underflow."""
    return {
        x: (parents, {c: {s: Fraction(p) for s, p in row.items()} for c, row in rows.items()})
        for x, (parents, rows) in net.items()
    }


def log(p):
    """The logarithm of a number, however small; that of 0 is -inf."""
    if p == 0:
        return -math.inf
    if isinstance(p, Fraction):
        return math.log(p.numerator) - math.log(p.denominator)
    return math.log(p)


def mutilated(net, do):
    """The network in which every variable of `do` has no parents and one possible state."""
    cut = dict(net)
    for x, label in do.items():
        states = next(iter(net[x][1].values()))
        cut[x] = (), {(): {state: int(state == label) for state in states}}
    return cut


def likelihood(row, given):
    """What the evidence says of a row: 0 or 1 for a state, a product of likelihoods."""
    parts = [
        value[row[x]] if isinstance(value, dict) else int(row[x] == value)
        for x, value in given.items()
    ]
    return math.prod(parts)


def weights(net, given=None, do=None):
    """Every assignment, with P(assignment | do) times its likelihood."""
    cut = mutilated(net, do or {})
    return [(row, probability(cut, row) * likelihood(row, given or {})) for row in assignments(cut)]


def evidence(net, given, do=None):
    """P(given | do) = Σ P(assignment | do) · likelihood."""
    return sum(w for _, w in weights(net, given, do))


def posterior(net, targets, given=None, do=None):
    """P(targets | do, given) as a dict: tuple of their states → probability."""
    listed = weights(net, given, do)
    found = {}
    for row, w in listed:
        key = tuple(row[x] for x in targets)
        found[key] = found.get(key, 0) + w
    total = sum(w for _, w in listed)
    return {key: float(w / total) for key, w in found.items()}


def best(net, given=None, do=None):
    """The possible assignments and their weights, the most probable first."""
    possible = [(row, w) for row, w in weights(net, given, do) if w > 0]
    return sorted(possible, key=lambda pair: -pair[1])


def entropy(net, targets, given=None):
    """-Σ p log p over the states of the targets."""
    return -sum(p * math.log(p) for p in posterior(net, targets, given).values() if p > 0)


def mutual_information(net, a, b, over=(), given=None):
    """I(a; b | over) under P(· | given) = Σ p(a, b, c) log p(a, b, c) p(c) / p(a, c) p(b, c)."""
    scopes = [[*a, *b, *over], [*over], [*a, *over], [*b, *over]]
    joint, p_c, p_ac, p_bc = (posterior(net, scope, given) for scope in scopes)
    total = 0.0
    for key, p in joint.items():
        x, y, z = key[: len(a)], key[len(a) : len(a) + len(b)], key[len(a) + len(b) :]
        if p > 0:
            total += p * math.log(p * p_c[z] / (p_ac[x + z] * p_bc[y + z]))
    return total


# --- rows of tables, in which None is missing ---


def known(net, row):
    """What a row says of the variables of the network."""
    return {x: row[x] for x in net if row.get(x) is not None}


def expected_count(net, rows, family, row_weights=None):
    """Σ over rows of weight · P(family | what the row knows), as a dict of tuples of states."""
    total = {}
    for row, weight in zip(rows, row_weights or [1.0] * len(rows), strict=True):
        if weight > 0:
            for key, p in posterior(net, family, known(net, row)).items():
                total[key] = total.get(key, 0.0) + weight * p
    return total


# --- many networks, each as probable as the others before anything is seen ---


def mixed_posterior(nets, targets, given=None, do=None):
    """Σ_s p_s(targets, given) / Σ_s p_s(given)."""
    found = {}
    for net in nets:
        for row, w in weights(net, given, do):
            key = tuple(row[x] for x in targets)
            found[key] = found.get(key, 0.0) + w
    total = sum(found.values())
    return {key: w / total for key, w in found.items()}
