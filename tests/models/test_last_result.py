"""What is made of θ is made once for each record."""

import numpy as np

from jensen.support.fields import LastResult


def test_one_record_is_looked_at_once():
    made = []
    latest = LastResult(lambda t: made.append(t) or len(made))
    one, same = np.zeros(2), np.zeros(2)
    assert [latest(one), latest(one), latest(same), latest(one)] == [1, 1, 2, 3]


def test_nothing_is_a_record_too():
    latest = LastResult(lambda t: "made")
    assert latest(None) == "made"
