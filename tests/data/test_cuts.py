"""Cut points and the names of intervals, against their definitions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import data as naive

from jensen.data.discretizing import (
    between,
    interval_cuts,
    interval_labels,
    mdl_cuts,
    quantile_cuts,
)
from jensen.data.variable import label_text

# Few distinct numbers make ties; floats of any size make trouble with rounding.
small = st.lists(st.integers(-3, 12).map(float), min_size=1, max_size=40)
finite = st.floats(allow_nan=False, allow_infinity=False)
any_size = st.lists(finite, min_size=1, max_size=15)
bins = st.integers(2, 7)


def distinct(x):
    values, counts = np.unique(np.array(x) + 0.0, return_counts=True)
    return values, counts.astype(float)


@pytest.mark.slow
@given(st.one_of(small, any_size), bins)
def test_quantile_cuts_equal_their_twin(x, bins):
    cuts = quantile_cuts(*distinct(x), bins)
    expected = naive.codes_between(x, naive.quantile_borders(x, bins))
    assert naive.codes_between(x, cuts) == expected


@given(st.one_of(small, any_size), bins)
def test_quantile_cuts_leave_no_bin_empty(x, bins):
    cuts = quantile_cuts(*distinct(x), bins)
    assert set(naive.codes_between(x, cuts)) == set(range(len(cuts) + 1))
    assert len(cuts) < bins
    assert len(cuts) > 0 or len(set(x)) == 1


@given(st.integers(1, 60), bins)
def test_quantile_cuts_of_distinct_values_are_even(n, bins):
    sizes = np.bincount(naive.codes_between(range(n), quantile_cuts(*distinct(range(n)), bins)))
    assert max(sizes) - min(sizes) <= 1
    assert len(sizes) == min(n, bins)


@given(small, bins)
def test_interval_cuts_equal_their_twin(x, bins):
    cuts = interval_cuts(*distinct(x), bins)
    borders = naive.interval_borders(x, bins)
    assert naive.codes_between(x, cuts) == naive.codes_between(x, borders)
    np.testing.assert_allclose(cuts, [float(b) for b in borders], atol=1e-6 * (max(x) - min(x)))


@given(any_size, bins)
def test_interval_cuts_rise_inside_the_range(x, bins):
    cuts = interval_cuts(*distinct(x), bins)
    assert all(min(x) <= cut < max(x) for cut in cuts)
    assert cuts == sorted(set(cuts))


@given(st.lists(st.tuples(st.integers(0, 12).map(float), st.integers(0, 2)), min_size=1))
def test_mdl_cuts_equal_their_twin(rows):
    x, y = [v for v, _ in rows], [c for _, c in rows]
    check_mdl(x, y)


@pytest.mark.parametrize("seed", range(8))
def test_mdl_cuts_equal_their_twin_where_there_is_much_to_find(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=150).round(1)
    y = np.digitize(x, [-1, 0, 0.8]) % 3
    noise = rng.random(150) < 0.1 * (seed % 3)
    y = np.where(noise, rng.integers(0, 3, 150), y)
    assert check_mdl(x.tolist(), y.tolist()) >= 2


def check_mdl(x, y):
    values, position = np.unique(x, return_inverse=True)
    counts = np.zeros((len(values), max(y) + 2))  # the last class never occurs
    np.add.at(counts, (position, y), 1)
    cuts = mdl_cuts(values, counts)
    assert naive.codes_between(x, cuts) == naive.codes_between(x, naive.mdl_borders(x, y))
    return len(cuts)


def test_mdl_takes_many_classes():
    n = 700  # 3**n is no float
    assert len(mdl_cuts(np.arange(n) + 0.0, np.eye(n))) > 0


def test_mdl_makes_no_cut_in_a_pure_class_of_little_weight():
    assert mdl_cuts(np.arange(3.0), np.array([[0.5, 0], [0.4, 0], [0.3, 0]])) == []


@given(finite, finite)
def test_a_cut_parts_its_neighbours(a, b):
    low, high = min(a, b), max(a, b)
    if low < high:
        assert low <= between(low, high) < high


@pytest.mark.parametrize(
    ("low", "high", "cut"),
    [
        (3, 4, 3.0),
        (3, 7, 5.0),
        (0.9, 1.1, 1.0),
        (-1, 1, 0.0),
        (-0.4, -0.2, -0.3),
        (0.12573, 0.3616, 0.2),
        (990, 1010, 1000.0),
        (1e-9, 2e-9, 1e-9),
        (0.1, math.nextafter(0.1, 1), 0.1),
        (0, 5e-324, 0.0),
        (-1.7e308, 1.7e308, 0.0),
        (1.7e308, 1.79e308, 1.7e308),
    ],
)
def test_cuts_are_short_numbers(low, high, cut):
    found = between(low, high)
    np.testing.assert_allclose(found, cut, rtol=0.02)
    assert len(label_text(found)) <= max(len(label_text(low)), len(label_text(high)))
    assert math.copysign(1, found) == math.copysign(1, cut)


@pytest.mark.parametrize(
    ("cuts", "labels"),
    [
        ([], ("all",)),
        ([2.0], ("<= 2", "> 2")),
        ([1.5, 3.0], ("<= 1.5", "(1.5, 3]", "> 3")),
        ([-1e-07, 1e20], ("<= -1e-07", "(-1e-07, 1e+20]", "> 1e+20")),
        (
            [0.1, math.nextafter(0.1, 1)],
            ("<= 0.1", "(0.1, 0.10000000000000002]", "> 0.10000000000000002"),
        ),
    ],
)
def test_labels_name_their_interval(cuts, labels):
    assert interval_labels(cuts) == labels


@given(st.lists(finite, min_size=1, unique=True).map(sorted))
def test_labels_are_unique_and_exact(cuts):
    labels = interval_labels(cuts)
    assert len(set(labels)) == len(cuts) + 1
    assert [float(label.split(", ")[0].strip("(<= ")) for label in labels[:1]] == cuts[:1]
    assert [float(label[1:].split(",")[0]) for label in labels[1:]] == cuts
