"""Dirichlet priors of tables, cell by cell, and every refusal."""

import numpy as np
import pytest
from naive import networks as naive

import jensen as jn
from jensen.estimators.network_choices import check_prior, make_prior
from jensen.graphs import wire

NAMES = ["a", "b", "c"]
PARENTS = [(), (0,), (0, 1)]
CARDS = [2, 3, 4]
WIRING = wire(PARENTS, CARDS)
SIZE = 2 + 6 + 24


def concentrations(prior, size=1.0, counts=None):
    """One dictionary (parents' states, state) → concentration per variable."""
    counts = np.ones(SIZE) if counts is None else counts
    eta = make_prior(prior, size, NAMES, WIRING, counts).tables
    return naive.as_dictionaries(eta + 1.0, PARENTS, CARDS)


def test_the_flat_prior_is_none():
    assert make_prior(None, 1.0, NAMES, WIRING, np.ones(SIZE)).tables is None


@pytest.mark.parametrize("number", [0.5, 1, 2.5, np.float64(3.0), np.int64(4)])
def test_a_number_is_the_concentration_of_every_cell(number):
    for table in concentrations(number):
        assert set(table.values()) == {float(number)}


def test_k2_is_one_everywhere():
    for table in concentrations("k2"):
        assert set(table.values()) == {1.0}


@pytest.mark.parametrize("size", [1.0, 7, 1e-8, 1e10])
def test_bdeu_spreads_the_sample_over_all_cells(size):
    for table in concentrations("bdeu", size):
        np.testing.assert_allclose(list(table.values()), size / len(table), rtol=1e-6)
        assert sum(table.values()) == pytest.approx(size, rel=1e-6)


def test_bds_spreads_the_sample_over_the_configurations_that_occur():
    counts = np.zeros(SIZE)  # the first variable was never counted
    counts[[2, 4, 12, 13, 31]] = [1.0, 2.0, 0.5, 3.0, 1e-300]
    counted = naive.as_dictionaries(counts, PARENTS, CARDS)
    found = concentrations("bds", 5.0, counts)
    assert set(found[0].values()) == {0.0}
    for x in [1, 2]:
        occurring = {config for (config, _), n in counted[x].items() if n}
        assert 0 < len(occurring) < np.prod([CARDS[p] for p in PARENTS[x]])
        for (config, _), alpha in found[x].items():
            expected = 5.0 / (len(occurring) * CARDS[x]) if config in occurring else 0.0
            assert alpha == pytest.approx(expected, rel=1e-14)


def test_a_mapping_gives_numbers_or_arrays():
    rng = np.random.default_rng(0)
    c = rng.uniform(0.5, 2.0, (2, 3, 4))
    found = concentrations({"c": c, "a": 2, "b": [1.0, 2.0, 3.0]})
    assert set(found[0].values()) == {2.0}
    assert [found[1][(0,), k] for k in range(3)] == [found[1][(1,), k] for k in range(3)]
    assert [found[1][(0,), k] for k in range(3)] == [1.0, 2.0, 3.0]
    for (config, state), alpha in found[2].items():
        assert alpha == pytest.approx(c[(*config, state)], rel=1e-15)


def test_no_variables_no_prior():
    nothing = wire([], [])
    for prior in ["bdeu", "bds", "k2", 2.0]:
        assert make_prior(prior, 1.0, [], nothing, np.empty(0)).tables.shape == (0,)


def refuse(prior, match, size=1.0):
    with pytest.raises(jn.JensenError, match=match):
        make_prior(prior, size, NAMES, WIRING, np.ones(SIZE))


def test_unknown_names():
    known = r"use a number, or one of \['bdeu', 'bds', 'k2'\]"
    refuse("bde", rf"^there is no prior 'bde': {known}; did you mean 'bdeu'\?$")


@pytest.mark.parametrize("number", [0, -1.0, float("nan"), float("inf")])
def test_numbers_that_are_no_concentrations(number):
    refuse(number, rf"^a Dirichlet concentration must be positive and finite, not {number}$")


@pytest.mark.parametrize("prior", [True, [1.0], (1, 2), np.ones(SIZE), 1j])
def test_things_that_are_no_priors(prior):
    refuse(
        prior,
        r"^prior must be None, a number, one of \['bdeu', 'bds', 'k2'\], or a dict of "
        rf"concentrations by variable, not {type(prior).__name__}$",
    )


@pytest.mark.parametrize("size", [0, -1.0, float("nan"), float("inf"), "3", None, True])
def test_impossible_sample_sizes(size):
    refuse("bdeu", rf"^equivalent_sample_size must be positive and finite, not {size!r}$", size)


@pytest.mark.parametrize("prior", [None, "k2", 2.0, {"a": 1, "b": 1, "c": 1}])
def test_a_sample_size_that_would_be_ignored(prior):
    refuse(
        prior, r"^equivalent_sample_size=5\.0 belongs to prior='bdeu' or 'bds', and would be", 5.0
    )


def test_a_mapping_names_every_variable_once():
    refuse(
        {"a": 1, "b": 1, "z": 1},
        r"^a prior by variable names each of them once; unknown: \['z'\], absent: \['c'\]$",
    )


@pytest.mark.parametrize(
    "array", [np.ones((3, 2)), np.ones(5), "many", [[1.0], [1.0, 2.0]], 1j, {}]
)
def test_a_mapping_needs_the_right_shape(array):
    refuse(
        {"a": 1, "b": array, "c": 1},
        r"^the prior of 'b' must be a number or an array of shape \(2, 3\)$",
    )


@pytest.mark.parametrize("number", [0.0, -1.0, float("nan"), float("inf")])
def test_a_mapping_holds_concentrations(number):
    refuse(
        {"a": 1, "b": [1.0, number, 1.0], "c": 1},
        r"^the prior of 'b' must be positive and finite in every cell$",
    )


@pytest.mark.parametrize(
    ("prior", "size", "least"),
    [
        (1e-20, 1.0, "1e-20"),
        ("bdeu", 1e-10, "4.17e-12"),
        ({"a": 1, "b": 9e-11, "c": 1}, 1.0, "9e-11"),
    ],
)
def test_concentrations_too_small_for_natural_parameters(prior, size, least):
    """The natural parameter α - 1 would read as 0 and leave the cell out."""
    refuse(
        prior,
        rf"^this prior has concentrations down to {least}, and tables cannot be computed below "
        r"1e-10: raise the prior, or leave out parents$",
        size,
    )


@pytest.mark.parametrize(
    ("prior", "size", "most"), [(1e11, 1.0, "1e.11"), ("bds", 1e300, "5e.299")]
)
def test_concentrations_too_large_for_free_energies(prior, size, most):
    refuse(
        prior,
        rf"^this prior has concentrations up to {most}, and tables cannot be computed above "
        r"1e\+10, where data no longer count: lower the prior$",
        size,
    )


def test_check_prior_needs_no_data():
    check_prior("bds", 3.0)
    with pytest.raises(jn.JensenError, match="there is no prior 'x'"):
        check_prior("x", 1.0)
