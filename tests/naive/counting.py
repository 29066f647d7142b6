"""Contingency tables by their definition: a dictionary, and one row after the other."""


def count(columns, weights=None):
    """Weight of every combination of labels, over the rows in which none is missing (None)."""
    found = {}
    for i, row in enumerate(zip(*columns, strict=True)):
        if None not in row:
            found[row] = found.get(row, 0) + (1 if weights is None else weights[i])
    return found


def as_dictionary(table, states):
    """The cells of an array that are not zero, by the labels of their axes."""
    return {
        tuple(states[axis][k] for axis, k in enumerate(cell)): table[cell]
        for cell in map(tuple, zip(*table.nonzero(), strict=True))
    }
