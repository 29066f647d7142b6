"""Laws that hold for every emission of the table, with no reference numbers."""

import numpy as np
import pytest
from models.emission_table import CASES, EXAMPLES, LABELS, emission_like, rows_of

from jensen.data.number_rows import ColumnSummary, NumberRows, summarise
from jensen.data.variable import Variable
from jensen.families import inner
from jensen.families.tied import by_state, select_states
from jensen.models.emissions.derived import (
    completed,
    fewer_states,
    hold_parts,
    kept_states,
    labels_of,
    with_masks,
)
from jensen.models.emissions.kinds import Chosen
from jensen.models.emissions.product import expected_rows
from jensen.models.emissions.registry import EMISSIONS, USUAL, make_columns, record_of
from jensen.models.state_model import start_stats
from jensen.q_hidden.structures import MAX, SUM, draw
from jensen.support.fields import add, leaves, rebuild

every_case = pytest.mark.parametrize(("word", "covariance"), CASES)
K = 2


def make(word, covariance, gaps=0.2, seed=0):
    """An emission, rows, and the η of rows that are shared out at random."""
    values = rows_of(word, gaps=gaps)
    emission = emission_like(word, covariance, values)
    nodes = np.random.default_rng(seed).dirichlet(np.ones(K), len(values)).T.copy()
    wide = emission.family.mode_stats(emission.survey(values).wide)
    observed = emission.observe(wide, emission.encode(values))
    return emission, values, add(emission.prior, observed.stats(0, len(values), nodes))


def joined(f, *records):
    return rebuild(records[0], (f(*x) for x in zip(*map(leaves, records), strict=True)))


def assert_same(a, b, rtol=1e-9, atol=1e-9):
    for x, y in zip(leaves(a), leaves(b), strict=True):
        np.testing.assert_allclose(x, y, rtol=rtol, atol=atol)


# --- the table itself ---


def test_every_emission_has_a_row_in_the_tests():
    assert list(EXAMPLES) == list(EMISSIONS)


def test_rows_of_the_registry_make_sense():
    for word, record in EMISSIONS.items():
        assert record.word == word
        assert set(record.from_rows) <= set(record.prior)
        assert set(record.held) <= set(record.parameters)
    for column, record in USUAL.items():
        first = next(x for x in EMISSIONS.values() if x.column == column)
        assert record is first
    assert set(USUAL) >= {"categorical", "continuous", "count"}


@every_case
def test_an_emission_is_known_by_its_row(word, covariance):
    emission, values, eta = make(word, covariance)
    record = EMISSIONS[word]
    assert record_of(emission) is record
    assert emission.n_states == K
    shown = emission.show(emission.point(eta))
    assert tuple(shown) == record.parameters
    assert record.kind.size(values.shape[1], Chosen(covariance, LABELS)) > 0.0
    names = ["u", "v", "w"][: values.shape[1]]
    labels = LABELS if record.has_labels else ()
    lines = list(record.kind.lines(names, shown, Chosen(covariance, labels)))
    assert all(len(cells) == K for _, cells in lines)
    for name in names:
        assert any(name in text for text, _ in lines)


# --- rows at one θ ---


@every_case
def test_statistics_are_the_slope_of_the_log_likelihood(word, covariance):
    """Whatever t is, also what VB reads, and whatever a row misses: E[s(x)] = d log p / d t."""
    emission, values, eta = make(word, covariance)
    _, _, other = make(word, covariance, seed=1)
    rows, n = emission.encode(values), len(values)
    t = emission.family.mean_stats(eta)
    direction = joined(np.subtract, emission.family.mean_stats(other), t)
    nodes = np.random.default_rng(2).random((K, n))

    def total(step):
        at = joined(lambda x, d: x + step * d, t, direction)
        return float((nodes * emission.observe(at, rows).log_like(0, n)).sum())

    h = 1e-4
    slope = (8.0 * (total(h) - total(-h)) - (total(2.0 * h) - total(-2.0 * h))) / (12.0 * h)
    stats = emission.observe(t, rows).stats(0, n, nodes)
    assert inner(stats, direction) == pytest.approx(slope, rel=1e-6, abs=1e-6)


@every_case
def test_all_readings_agree_where_nothing_is_missing(word, covariance):
    emission, values, eta = make(word, covariance, gaps=0.0)
    observed = emission.observe(emission.family.mean_stats(eta), emission.encode(values))
    n, rng = len(values), np.random.default_rng(0)
    nodes = np.eye(K)[rng.integers(0, K, n)].T.copy()
    for how in (MAX, draw(rng)):
        assert_same(observed.log_like(0, n, how), observed.log_like(0, n), rtol=1e-12)
        assert_same(observed.stats(0, n, nodes, how), observed.stats(0, n, nodes), rtol=1e-12)


@every_case
def test_an_empty_row_tells_nothing_at_a_point_and_its_most_probable_value_is_one_of_many(
    word, covariance
):
    emission, values, eta = make(word, covariance)
    rows = emission.encode(np.full((1, values.shape[1]), np.nan))
    observed = emission.observe(emission.point(eta), rows)
    np.testing.assert_allclose(observed.log_like(0, 1), 0.0, atol=1e-9)
    np.testing.assert_allclose(emission.predict(eta, rows).log_like(0, 1), 0.0, atol=1e-9)
    assert (observed.log_like(0, 1, MAX) <= observed.log_like(0, 1, SUM) + 1e-12).all()


@every_case
def test_draws_of_what_is_missing_have_the_expected_statistics(word, covariance):
    """Means over 400 draws, within 5 standard errors."""
    emission, values, eta = make(word, covariance, gaps=0.5)
    rows, n = emission.encode(values), len(values)
    observed = emission.observe(emission.point(eta), rows)
    rng = np.random.default_rng(0)
    nodes = np.eye(K)[rng.integers(0, K, n)].T.copy()
    how = draw(rng)
    drawn = [by_state(observed.stats(0, n, nodes, how)) for _ in range(400)]
    error = np.std(drawn, axis=0) / np.sqrt(len(drawn))
    expected = by_state(observed.stats(0, n, nodes))
    assert (np.abs(np.mean(drawn, axis=0) - expected) <= 5.0 * error + 1e-9).all()


@every_case
def test_a_prediction_is_a_ratio_of_evidences(word, covariance):
    """p(x | η) = exp(A(η + s(x)) - A(η)) times what does not depend on θ; of complete rows."""
    emission, _, eta = make(word, covariance)
    values = rows_of(word, n=6, seed=3, gaps=0.0)
    rows, n, family = emission.encode(values), len(values), emission.family
    t = family.mean_stats(eta)
    observed, predicted = emission.observe(t, rows), emission.predict(eta, rows).log_like(0, n)
    log_like = observed.log_like(0, n)
    for i in range(n):
        for k in range(K):
            nodes = np.zeros((K, n))
            nodes[k, i] = 1.0
            stats = observed.stats(0, n, nodes)
            base = log_like[k, i] - inner(stats, t)
            ratio = family.log_partition(add(eta, stats)) - family.log_partition(eta)
            assert predicted[k, i] == pytest.approx(ratio + base, rel=1e-8, abs=1e-7)


@every_case
def test_simulated_rows_have_the_expected_mean(word, covariance):
    """Of labels the shares; within 5 standard errors."""
    emission, values, eta = make(word, covariance)
    t, n = emission.point(eta), 4000
    expected = expected_rows(emission, t)
    for k in range(K):
        rows = emission.simulate(t, np.full(n, k), np.random.default_rng(k))
        assert rows.shape == (n, values.shape[1])
        if EMISSIONS[word].has_labels:
            rows = np.eye(len(LABELS))[rows[:, 0].astype(int)]
        error = rows.std(0) / np.sqrt(n)
        assert (np.abs(rows.mean(0) - expected[k]) <= 5.0 * error + 1e-12).all()


# --- parameters by name ---


@every_case
def test_what_is_shown_can_be_read_again(word, covariance):
    emission, _, eta = make(word, covariance)
    t = emission.point(eta)
    assert_same(emission.family.mode_stats(emission.read(emission.show(t))), t, rtol=1e-7)
    shown = emission.show(t, t, t)
    for name, value in emission.show(t).items():
        np.testing.assert_allclose(shown[name], value, rtol=1e-9)


@every_case
def test_the_point_of_a_posterior_is_the_mean_of_its_draws(word, covariance):
    """As draws are averaged, over 4,000; within 5 standard errors, told by 20 batches of them."""
    emission, _, eta = make(word, covariance)
    rng = np.random.default_rng(0)
    draws = [emission.family.sample_stats(eta, rng) for _ in range(4000)]
    whole, at = emission.show(*draws), emission.show(emission.point(eta))
    batches = [emission.show(*draws[k::20]) for k in range(20)]
    for name, value in whole.items():
        error = np.std([batch[name] for batch in batches], axis=0) / np.sqrt(20)
        assert (np.abs(value - at[name]) <= 5.0 * error).all()


@every_case
def test_parameters_that_are_left_out_are_those_of_the_rows(word, covariance):
    emission, values, eta = make(word, covariance)
    first, *others = EMISSIONS[word].parameters
    given = {first: emission.show(emission.point(eta))[first]}
    found = completed(given, emission, NumberRows.of(values))
    assert list(found) == [*others, first]
    assert found[first] is given[first]
    emission.read(found)
    assert completed({}, emission, NumberRows.of(values)) == {}


@every_case
def test_what_files_hold_is_told_from_what_they_cannot(word, covariance):
    emission, _, eta = make(word, covariance)
    kind, t = EMISSIONS[word].kind, emission.point(eta)
    assert kind.theta_fault(emission, t) is None
    assert kind.belief_fault(emission, eta) is None
    with np.errstate(all="ignore"):
        assert kind.theta_fault(emission, joined(lambda x: 1.5 * x, t)) is not None
        assert kind.theta_fault(emission, joined(lambda x: x * np.nan, t)) is not None


# --- states ---


@every_case
def test_states_side_by_side_tell_how_likely_the_rows_of_one_are_under_another(word, covariance):
    """But for what is the same for all states."""
    emission, values, eta = make(word, covariance, gaps=0.0)
    t, n = emission.point(eta), len(values)
    observed = emission.observe(t, emission.encode(values))
    nodes = np.random.default_rng(0).random((K, n))
    found = by_state(observed.stats(0, n, nodes)) @ by_state(t).T  # [j, k]: of j's rows under k
    expected = nodes @ observed.log_like(0, n).T
    assert_same(found[:, 0] - found[:, 1], expected[:, 0] - expected[:, 1], rtol=1e-7, atol=1e-6)


@every_case
def test_fewer_states_are_as_they_were_among_all(word, covariance):
    emission, values, eta = make(word, covariance)
    states, rows, n = np.array([1]), emission.encode(values), len(values)
    fewer = fewer_states(emission, states)
    assert fewer.n_states == 1
    t = emission.point(eta)
    whole = emission.observe(t, rows).log_like(0, n)
    found = fewer.observe(select_states(t, states), rows).log_like(0, n)
    assert_same(found, whole[states], rtol=1e-12)
    alone = fewer.predict(kept_states(emission, eta, states), rows).log_like(0, n)
    assert_same(alone, emission.predict(eta, rows).log_like(0, n)[states], rtol=1e-7)
    for zeros, x in zip(leaves(fewer.blank), leaves(select_states(eta, states)), strict=True):
        assert np.shape(zeros) == np.shape(x)


@pytest.mark.parametrize("word", [x for x, row in EMISSIONS.items() if "masks" in row.options])
def test_what_a_mask_leaves_out_has_neither_prior_nor_place_and_follows_its_state(word):
    emission, values, _ = make(word, "full")
    mask = np.ones(emission.blank.shape, bool)
    mask[0, 0, 1] = False
    masked = with_masks(emission, [mask])
    shares = np.exp(masked.point(masked.prior))
    assert shares[0, 0, 1] == 0.0
    np.testing.assert_allclose(shares.sum(-1), 1.0)
    assert masked.n_parameters == emission.n_parameters - 1
    np.testing.assert_array_equal(masked.prior, np.where(mask, emission.prior, 0.0))
    turned = fewer_states(masked, np.array([1, 0]))
    np.testing.assert_array_equal(turned.mask, mask[::-1])
    assert labels_of(masked) == [masked]
    for near in (False, True):
        start = start_stats(masked, K, NumberRows.of(values), near, np.random.default_rng(0))
        assert start[1][0, 0, 1] == 0.0
        assert (start[1][mask] > 0.0).all()


@pytest.mark.parametrize("covariance", EXAMPLES["gaussian"].covariances)
@pytest.mark.parametrize("part", EMISSIONS["gaussian"].held)
def test_what_is_held_follows_its_state(covariance, part):
    emission, values, eta = make("gaussian", covariance)
    states, rows, n = np.array([1]), emission.encode(values), len(values)
    held, others = hold_parts(emission, eta, (part,), "emission")
    assert others == ()
    t = held.family.mode_stats(eta)
    shown = emission.show(emission.family.mode_stats(eta))[part]
    np.testing.assert_allclose(held.show(t)[part], shown, rtol=1e-9)
    fewer = fewer_states(held, states)
    found = fewer.predict(kept_states(held, eta, states), rows).log_like(0, n)
    assert_same(found, held.predict(eta, rows).log_like(0, n)[states], rtol=1e-7)
    assert hold_parts(emission, eta, ("means", "covariances"), "emission")[1] == ("emission",)


# --- what an emission is made from ---


@every_case
def test_an_emission_is_made_from_a_summary_of_its_rows(word, covariance):
    """Rows in any order, and once with their weight or as often, have one summary."""
    values = rows_of(word)
    weight = np.random.default_rng(0).integers(1, 4, len(values)).astype(float)
    often = np.random.default_rng(1).permutation(np.repeat(values, weight.astype(int), axis=0))
    record, labels = EMISSIONS[word], LABELS if EMISSIONS[word].has_labels else ()
    made = [
        record.kind.make(
            K, summarise(NumberRows.of(*x), covariance=True), {}, Chosen(covariance, labels)
        )
        for x in ((values, weight), (often,))
    ]
    assert_same(made[0].prior, made[1].prior)
    assert_same(made[0].prior, select_states(made[0].prior, np.array([1, 0])))


def test_some_columns_of_a_summary_are_those_of_the_columns():
    values = rows_of("gaussian", gaps=0.3)
    whole = summarise(NumberRows.of(values), covariance=True)
    some = summarise(NumberRows.of(values[:, [1]]), covariance=True)
    part = whole.of([1])
    assert_same(part[:3], some[:3], rtol=1e-12)
    np.testing.assert_array_equal(part.weight, [(~np.isnan(values[:, 1])).sum()])
    np.testing.assert_allclose(part.mean, np.nanmean(values[:, 1]), rtol=1e-12)
    np.testing.assert_allclose(part.variance, np.nanvar(values[:, 1]), rtol=1e-12)
    np.testing.assert_allclose(part.covariance, some.covariance, rtol=1e-12)
    assert summarise(NumberRows.of(values)).of([0]).covariance is None
    np.testing.assert_array_equal(ColumnSummary.at(np.array([3.0])).mean, [3.0])


def test_every_column_is_made_from_its_own_summary():
    record, rows = EMISSIONS["poisson"], NumberRows.of(np.array([[1.0, 100.0], [3.0, 300.0]]))
    variables = [Variable("few", "count"), Variable("many", "count")]
    made = make_columns([record] * 2, variables, K, summarise(rows), {"shape": 1.0})
    few, many = (part.family.describe(part.prior)["rate"] for part in made.parts)
    np.testing.assert_allclose(few, 100.0 * many, rtol=1e-12)
