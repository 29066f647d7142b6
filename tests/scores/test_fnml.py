"""The multinomial regret."""

from decimal import Decimal, localcontext
from itertools import pairwise

import pytest
from naive import scores as naive

import jensen as jn
from jensen.scores.categorical import log_regret


@pytest.mark.parametrize("n_states", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 12])
def test_the_regret_is_the_sum_over_all_samples(n, n_states):
    expected = Decimal(naive.regret(n, n_states)).ln()
    assert log_regret(n, n_states) == pytest.approx(float(expected), rel=1e-14, abs=1e-15)


def test_the_regret_of_nothing_is_zero():
    assert log_regret(0, 5) == 0.0
    assert log_regret(9, 1) == 0.0


def test_one_row_can_be_of_any_state():
    assert log_regret(1, 70_000) == pytest.approx(float(Decimal(70_000).ln()), rel=1e-12)


def exact_regret(n, n_states):
    """To 60 digits: the sum over k for two states, and the recurrence in the number of states."""
    with localcontext() as context:
        context.prec = 60
        term, two = Decimal(n) ** n, Decimal(0)  # C(n, k) k^k (n-k)^(n-k), from k = 0 on
        for k in range(n + 1):
            two += term
            if k < n:
                up = Decimal(k + 1) ** (k + 1) / (Decimal(k) ** k if k else 1)
                rest = n - k - 1
                down = (Decimal(rest) ** rest if rest else 1) / Decimal(n - k) ** (n - k)
                term *= Decimal(n - k) / (k + 1) * up * down
        before, here = Decimal(1), two / Decimal(n) ** n
        for r in range(1, n_states - 1):
            before, here = here, here + Decimal(n) / r * before
        return float(here.ln())


@pytest.mark.parametrize("n", [100, 999, 10_000, 10_001, 20_000])
@pytest.mark.parametrize("n_states", [2, 3, 50])
def test_the_regret_of_many_rows(n, n_states):
    assert log_regret(n, n_states) == pytest.approx(exact_regret(n, n_states), rel=1e-14)


def test_the_regret_rises_with_rows_also_where_the_way_to_compute_it_changes():
    values = [log_regret(n, 3) for n in range(9_990, 10_010)]
    steps = [b - a for a, b in pairwise(values)]
    assert steps == pytest.approx([1 / 10_000] * 19, rel=2e-2)


@pytest.mark.parametrize("weight", [1e9, 1e15, 1e300])
def test_weights_too_large_for_a_sum_over_samples(weight):
    table = jn.Table({"x": ["u", "v", "v"]}, weights=[weight] * 3)
    likelihood = jn.score("x", table, "loglik")
    assert jn.score("x", table, "fnml") == pytest.approx(likelihood, rel=1e-7)
