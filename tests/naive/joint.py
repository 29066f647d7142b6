"""A discrete network by its definition: the joint distribution, one product per assignment.

A network is a dict name → (parents, rows); rows maps the labels of the parents to a dict
state → probability.
"""

import math
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
