"""Lists of factors by enumeration of all joint states."""

from itertools import product

import numpy as np
from scipy.special import logsumexp


def all_states(cards):
    """Every joint state, one a row."""
    return np.array(list(product(*map(range, cards))), dtype=int).reshape(-1, len(cards))


def log_products(cards, scopes, tables):
    """Log Π of all tables at every joint state."""
    states = all_states(cards)
    total = np.zeros(len(states))
    for scope, table in zip(scopes, tables, strict=True):
        total += np.asarray(table)[tuple(states[:, list(scope)].T)]
    return total


def log_z(cards, scopes, tables):
    """Log of the sum over all joint states; -inf if none is possible."""
    logs = log_products(cards, scopes, tables)
    return -np.inf if logs.max() == -np.inf else float(logsumexp(logs))


def marginals(cards, scopes, tables):
    """p(state) of every variable."""
    states, logs = all_states(cards), log_products(cards, scopes, tables)
    share = np.exp(logs - logsumexp(logs))
    return [np.bincount(states[:, v], share, minlength=card) for v, card in enumerate(cards)]


def grid(side, coupling, field):
    """Spins on a square: J_k s s' along edges (right, then down, row by row), h_i s at each."""
    spins = np.array([-1.0, 1.0])
    scopes = [(i,) for i in range(side * side)]
    tables = [field(i) * spins for i in range(side * side)]
    for r, c in product(range(side), repeat=2):
        for down, right in ((0, 1), (1, 0)):
            if r + down < side and c + right < side:
                tables.append(coupling(len(tables) - side * side) * np.outer(spins, spins))
                scopes.append((r * side + c, (r + down) * side + c + right))
    return [2] * (side * side), scopes, tables


def random_model(seed):
    """3 to 8 variables; every other one frustrated with N(0, 4²) tables, every third with zeros."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    cards = rng.integers(2, 4, n).tolist()
    scopes = [(v,) for v in range(n)]
    for _ in range(int(rng.integers(n, 2 * n))):
        size = min(int(rng.choice([2, 2, 2, 3, 4])), n)
        scopes.append(tuple(rng.choice(n, size, replace=False).tolist()))
    tables = []
    for scope in scopes:
        spread = (4.0 if seed % 2 else 1.0) if len(scope) > 1 else 0.5
        table = rng.normal(0.0, spread, [cards[v] for v in scope])
        if seed % 3 == 0 and len(scope) > 1:
            table = np.where(rng.random(table.shape) < 0.25, -np.inf, table)
        tables.append(table)
    return cards, scopes, tables
