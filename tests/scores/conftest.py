from typing import NamedTuple

import numpy as np
import pytest

import jensen as jn


class Example(NamedTuple):
    """Rows as dictionaries, the states of every variable, and the same as a table."""

    rows: list
    states: dict
    table: jn.Table


@pytest.fixture
def make_example():
    return _make_example


def _make_example(n_rows, cards, seed=0, missing=0.0):
    """Variables "a", "b", ... that depend on the one before, with states that may not occur."""
    rng = np.random.default_rng(seed)
    names = [chr(ord("a") + k) for k in range(len(cards))]
    states = {x: [f"s{k}" for k in range(card)] for x, card in zip(names, cards, strict=True)}
    codes, before = {}, np.zeros(n_rows, int)
    for x, card in zip(names, cards, strict=True):
        noise = rng.integers(0, card, n_rows)
        before = np.where(rng.random(n_rows) < 0.6, before % card, noise)
        codes[x] = before
    gone = {x: rng.random(n_rows) < missing for x in names}
    rows = [
        {x: None if gone[x][i] else states[x][codes[x][i]] for x in names} for i in range(n_rows)
    ]
    columns = {x: [row[x] for row in rows] for x in names}
    return Example(rows, states, jn.Table(columns, states=states))
