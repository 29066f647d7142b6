"""Hidden Markov models against every path there is: F, evidence, fixed points, draws."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from models import mixture_cases as rows_of
from naive import hidden_markov as naive
from naive import mixtures as naive_rows
from naive.families import gradient
from naive.hidden_markov import Theta
from naive.mixtures import Part
from scipy.stats import ttest_1samp

from jensen import free_energy, q_hidden
from jensen.data.blocks import Units
from jensen.data.number_rows import NumberRows
from jensen.free_energy import EM, GIBBS, ME, VBEM, VITERBI, State, fit, state_at, step
from jensen.models.emissions.product import ProductEmission
from jensen.models.hidden_markov import Chained, HiddenMarkov, groups
from jensen.models.mixture import UNIT_ROWS
from jensen.models.state_model import flatten
from jensen.q_theta import read_mode
from jensen.support.arguments import Streams
from jensen.support.fields import leaves, rebuild, zip_fields

every_kind = pytest.mark.parametrize("kind", rows_of.KINDS)
ends = pytest.mark.parametrize("end", [False, True], ids=["cut", "end"])
ASCENTS = pytest.mark.parametrize("algorithm", [EM, VBEM, VITERBI, ME], ids=lambda a: a.name)

MASKS = {  # of three states: the last one may do all, so that every sequence is possible
    "initial": np.array([True, False, True]),
    "transition": np.array([[1, 1, 1], [0, 1, 1], [0, 1, 1]], bool),
    "end": np.array([False, True, True]),
    "labels": np.array([[1, 1, 0], [1, 0, 1], [1, 1, 1]], bool),
}


class Case(NamedTuple):
    """A model with its prior, for both sides; the twins see rows relative to `shift`."""

    kind: str
    model: HiddenMarkov
    prior: Theta | None
    sequences: list
    weights: np.ndarray
    shift: np.ndarray

    @property
    def layouts(self):
        return rows_of.layouts(self.kind, self.sequences[0].shape[1])

    @property
    def units(self):
        lengths = np.array([len(x) for x in self.sequences])
        rows = NumberRows.of(np.concatenate(self.sequences) + self.shift)
        return self.model.encode(rows, lengths, self.weights)

    def joined(self, parts):
        return tuple(parts) if self.kind == "product" else parts[0]

    def masks(self):
        """Of the initial states, of moves with the end, of labels (K, D, V)."""
        K, has_end, mask = self.model.n_states, self.model.has_end, self.model.masks
        labels = getattr(self.model.emission, "mask", None)
        return (
            mask.get("initial", np.ones(K, bool)),
            mask.get("transition", np.ones((K, K + has_end), bool)),
            labels,
        )

    def theta(self, initial, moves, words):
        """For the twins, 0 where nothing may be."""
        K = self.model.n_states
        first, step, labels = self.masks()
        if labels is not None:
            words = [np.where(labels, words[0], 0.0)]
        parts = [Part(x.kind, x.columns, w) for x, w in zip(self.layouts, words, strict=True)]
        moves = np.where(step, moves, 0.0)
        end = moves[:, K] if self.model.has_end else None
        return Theta(np.where(first, initial, 0.0), moves[:, :K], end, parts)

    def posterior(self, rng, least=0.3):
        """A random q(θ): of the twins, and η."""
        K = self.model.n_states
        words = [rows_of.random_words(x, K, rng, size=3.0) for x in self.layouts]
        q = self.theta(
            rng.uniform(least, 5.0, K), rng.uniform(least, 5.0, (K, K + self.model.has_end)), words
        )
        return q, self.eta(q)

    def eta(self, q):
        emission = [
            rows_of.eta_of(x, part.theta, self.shift)
            for x, part in zip(self.layouts, q.parts, strict=True)
        ]
        if self.masks()[2] is not None:
            emission = [np.where(self.masks()[2], emission[0], 0.0)]
        first, step, _ = self.masks()
        return Chained(
            np.where(first, q.initial - 1.0, 0.0),
            np.where(step, q.moves - 1.0, 0.0),
            self.joined(emission),
        )

    def point(self, rng):
        """A random θ: of the twins, and an η with this mode."""
        K = self.model.n_states
        words = [rows_of.random_point(x, K, rng) for x in self.layouts]
        theta = self.theta(rng.random(K) + 0.2, rng.random((K, K + self.model.has_end)), words)
        theta = theta._replace(
            initial=share(theta.initial),
            transition=share(theta.moves)[:, :K],
            end=share(theta.moves)[:, K] if self.model.has_end else None,
        )
        if self.masks()[2] is not None:
            labels = theta.parts[0]
            theta = theta._replace(parts=[labels._replace(theta=share(labels.theta))])
        return theta, self.at(theta)

    def at(self, theta):
        """η with this mode."""
        named = [
            rows_of.named_point(x, part.theta, self.shift)
            for x, part in zip(self.layouts, theta.parts, strict=True)
        ]
        emission = self.model.emission
        parts = dict(zip("abc", named, strict=False)) if self.kind == "product" else named[0]
        return Chained(theta.initial, theta.moves, emission.read(parts))

    def stats_of_rows(self, theta, view, seen, hard):
        found = naive.stats_of_rows(theta.parts, view, self.sequences, seen, hard=hard)
        like = self.model.emission.blank
        likes = like if self.kind == "product" else (like,)
        return self.joined(
            [
                x[0] if isinstance(one, np.ndarray) else type(one)(*x)
                for one, x in zip(likes, found, strict=True)
            ]
        )


def share(x):
    return x / x.sum(-1, keepdims=True)


def make_case(kind, K=2, *, end=False, masked=False, flat=False, weights=False, **how):
    """Sequences of up to four steps, among them one of a single step; every pattern missing."""
    seed, values, lengths = how.get("seed", 0), how.get("values"), how.get("lengths")
    rng = np.random.default_rng([seed, rows_of.KINDS.index(kind), K, end, masked])
    D = rows_of.n_columns(kind)
    if lengths is None:
        lengths = {2: [3, 1], 3: [3, 1, 4], 4: [4, 1, 4, 3, 4]}[D]
    if values is None:
        values = rows_of.random_values(kind, sum(lengths), rng, missing=how.get("missing", True))
    sequences = np.split(values, np.cumsum(lengths)[:-1])
    shift = np.where(rows_of.is_real(kind, D), rng.normal(0.0, 10.0, D), 0.0)
    words = [None if flat else rows_of.random_words(x, K, rng) for x in rows_of.layouts(kind, D)]
    weight = rng.uniform(0.2, 3.0, len(lengths)) if weights else np.ones(len(lengths))
    model = HiddenMarkov(
        emission_of(kind, K, D, words, shift, masked),
        None,
        None,
        K,
        end,
        masks=masks_of(end, masked),
    )
    case = Case(kind, model, None, sequences, weight, shift)
    if flat:
        return case
    prior = case.theta(rng.uniform(1.2, 3.0, K), rng.uniform(1.2, 3.0, (K, K + end)), words)
    eta = case.eta(prior)
    model = replace(model, initial_prior=eta.initial, transition_prior=eta.transition)
    return case._replace(model=model, prior=prior)


def emission_of(kind, K, D, words, shift, masked):
    layouts = rows_of.layouts(kind, D)
    parts = [rows_of.emission_of(x, K, w, shift) for x, w in zip(layouts, words, strict=True)]
    if kind == "product":
        columns = tuple(np.array(x.columns) for x in layouts)
        return ProductEmission(tuple(parts), columns, tuple("abc"))
    if masked and kind == "labels":
        mask = np.repeat(MASKS["labels"][:, None, :], D, axis=1)
        prior = parts[0].prior
        return replace(
            parts[0], mask=mask, prior=None if prior is None else np.where(mask, prior, 0.0)
        )
    return parts[0]


def masks_of(end, masked):
    if not masked:
        return {}
    moves = MASKS["transition"]
    if end:
        moves = np.concatenate([moves, MASKS["end"][:, None]], axis=1)
    return {"initial": MASKS["initial"], "transition": moves}


def assert_same(ours, theirs, rtol=1e-9):
    for a, b in zip(leaves(ours), leaves(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * (np.abs(b).max() + 1.0))


def compare(case, state, expected, seen, theta, view, hard):
    assert state.free_energy == pytest.approx(expected, rel=1e-11, abs=1e-10)
    emission = case.stats_of_rows(theta, view, seen, hard)
    assert_same(state.stats, Chained(seen.first, seen.moves, emission))


# --- F by its definition ---


@every_kind
@ends
@pytest.mark.parametrize("masked", [False, True], ids=["free", "masked"])
@pytest.mark.parametrize("flat", [False, True], ids=["prior", "flat"])
@pytest.mark.parametrize("algorithm", [EM, VITERBI], ids=lambda a: a.name)
def test_f_of_a_point_is_the_log_joint(kind, end, masked, flat, algorithm):
    case = make_case(kind, 3 if masked else 2, end=end, masked=masked, flat=flat, weights=True)
    theta, eta = case.point(np.random.default_rng(1))
    hard = algorithm is VITERBI
    expected, seen = naive.log_joint(case.prior, theta, case.sequences, case.weights, hard=hard)
    state = state_at(case.model, case.units, algorithm, eta)
    compare(case, state, expected, seen, theta, naive_rows.at_point, hard)


@every_kind
@ends
@pytest.mark.parametrize("masked", [False, True], ids=["free", "masked"])
@pytest.mark.parametrize("algorithm", [VBEM, ME], ids=lambda a: a.name)
def test_f_of_a_posterior_is_the_bound_by_its_definition(kind, end, masked, algorithm):
    case = make_case(kind, 3 if masked else 2, end=end, masked=masked, weights=True)
    q, eta = case.posterior(np.random.default_rng(1))
    hard = algorithm is ME
    expected, seen = naive.lower_bound(case.prior, q, case.sequences, case.weights, hard=hard)
    state = state_at(case.model, case.units, algorithm, eta)
    compare(case, state, expected, seen, q, naive_rows.at_posterior, hard)


@pytest.mark.parametrize("kind", ["full", "labels", "counts"])
@pytest.mark.parametrize(
    "held", [["initial"], ["transition"], ["emission"], ["initial", "emission"]]
)
def test_what_is_held_costs_nothing_and_stays(kind, held):
    case = make_case(kind, end=True, weights=True)
    theta, start = case.point(np.random.default_rng(2))
    q, eta = case.posterior(np.random.default_rng(3))
    model = case.model.holding(start, tuple(held))

    def view(_):
        parts = {
            "initial": (naive.mean_logs(q.initial), naive.logs(theta.initial)),
            "transition": (
                np.array([naive.mean_logs(row) for row in q.moves]),
                naive.logs(theta.moves),
            ),
            "emission": (naive_rows.at_posterior, naive_rows.at_point),
        }
        return [pair[name in held] for name, pair in parts.items()]

    mixed = theta if "emission" in held else q
    expected = naive.look(mixed, view, case.sequences, case.weights).value
    if "initial" not in held:
        expected += naive.bound([0.0] * 2, case.prior.initial, q.initial)
    if "transition" not in held:
        pairs = zip(case.prior.moves, q.moves, strict=True)
        expected += sum(naive.bound([0.0] * 3, alpha, a) for alpha, a in pairs)
    if "emission" not in held:
        pairs = zip(case.prior.parts, q.parts, strict=True)
        expected += sum(naive.part_cost(a, b, naive_rows.minus_kl) for a, b in pairs)
    state = state_at(model, case.units, VBEM, eta)
    assert state.free_energy == pytest.approx(expected, rel=1e-11)
    found = fit(model, case.units, VBEM, state, max_iter=5, tol=0.0)
    for name in held:
        wanted = getattr(case.model.families, name).mode_stats(getattr(start, name))
        assert_same(getattr(found.state.t, name), wanted, rtol=1e-15)
    assert np.all(np.diff(found.trace) >= 0.0)


# --- ascent, fixed points, evidence ---


@pytest.mark.parametrize(
    ("kind", "masked"), [*((k, False) for k in rows_of.KINDS), ("labels", True)]
)
@ASCENTS
def test_f_rises_and_ends_where_its_gradient_is_zero(kind, masked, algorithm):
    """All concentrations of the prior are above 1, so that the point is inside."""
    case = make_case(kind, 3 if masked else 2, end=masked, masked=masked, weights=True)
    model, units = case.model, case.units
    eta = case.posterior(np.random.default_rng(1), least=1.1)[1]
    found = fit(model, units, algorithm, state_at(model, units, algorithm, eta), tol=1e-16)
    assert np.all(np.diff(found.trace) >= -1e-11 * np.abs(found.trace[1:]))
    assert found.trace[-1] > found.trace[0]
    eta = found.state.eta
    first, moves, labels = case.masks()
    emission = [labels] if masked else [np.ones(np.shape(x), bool) for x in leaves(eta.emission)]
    inside = np.concatenate([np.ravel(x) for x in (first, moves, *emission)])
    sizes = np.cumsum([np.size(x) for x in leaves(eta)])

    def f(x):
        flat = flatten(eta)
        flat[inside] = x
        pieces = zip(np.split(flat, sizes[:-1]), leaves(eta), strict=True)
        parts = (a.reshape(np.shape(b)) for a, b in pieces)
        return state_at(model, units, algorithm, rebuild(eta, parts)).free_energy

    flat = flatten(eta)[inside]
    away = np.random.default_rng(0).uniform(0.9, 1.1, flat.shape)  # a measure of steepness
    steep = np.abs(gradient(f, flat * away)).max()
    np.testing.assert_allclose(gradient(f, flat), 0.0, atol=1e-5 * max(steep, 1.0))


@pytest.mark.parametrize("seed", range(4))
@ASCENTS
def test_f_never_falls(seed, algorithm):
    kind = rows_of.KINDS[seed]
    case = make_case(kind, 3, end=seed % 2 == 1, masked=seed % 3 == 0, weights=True, seed=seed)
    eta = case.posterior(np.random.default_rng(seed), least=1.1)[1]
    start = state_at(case.model, case.units, algorithm, eta)
    found = fit(case.model, case.units, algorithm, start, tol=0.0, max_iter=40)
    assert np.all(np.diff(found.trace) >= -1e-11 * np.abs(found.trace[1:]))


@every_kind
@ends
@pytest.mark.parametrize("algorithm", [VBEM, ME], ids=lambda a: a.name)
def test_the_bound_is_below_the_evidence(kind, end, algorithm):
    """The evidence sums all paths of all sequences, each in closed form."""
    case = make_case(kind, end=end, lengths=[2, 1, 2], missing=False)
    values = np.concatenate(case.sequences)
    values[1] = np.nan  # a whole step
    values[-1, 0] = np.nan  # where rows of a full Gaussian can still be predicted
    case = case._replace(sequences=np.split(values, [2, 3]))
    evidence = naive.log_evidence(case.prior, case.sequences)
    for seed in range(2):
        start = state_at(
            case.model, case.units, algorithm, case.posterior(np.random.default_rng(seed))[1]
        )
        found = fit(case.model, case.units, algorithm, start, tol=0.0, max_iter=50)
        assert found.trace[-1] <= evidence
    assert found.trace[-1] > evidence - 12.0


@pytest.mark.parametrize("end", [False, True])
def test_the_bound_is_below_the_evidence_with_masks(end):
    case = make_case("labels", 3, end=end, masked=True, lengths=[3, 2])
    start = state_at(case.model, case.units, VBEM, case.posterior(np.random.default_rng(0))[1])
    found = fit(case.model, case.units, VBEM, start, tol=0.0, max_iter=50)
    evidence = naive.log_evidence(case.prior, case.sequences)
    assert evidence - 12.0 < found.trace[-1] <= evidence


@every_kind
@ends
def test_one_state_has_the_exact_evidence(kind, end):
    """Nothing is hidden, so the bound is tight and one sweep is the answer."""
    case = make_case(kind, 1, end=end, missing=False)
    units = case.units
    assert units.is_complete
    start = state_at(case.model, units, VBEM, case.posterior(np.random.default_rng(0))[1])
    state = step(case.model, units, VBEM, start)
    evidence = naive.log_evidence(case.prior, case.sequences)
    assert state.free_energy == pytest.approx(evidence, rel=1e-11)


def test_masked_cells_are_outside_their_distributions():
    """A chain of which two states cannot be reached has the F of a chain without them."""
    case = make_case("labels", 2, end=True)
    K, inner = 4, case.model
    reach = np.array([True, True, False, False])
    moves = np.ones((K, K + 1), bool)
    moves[:2, 2:4] = False
    wide = np.zeros((K, K + 1))
    wide[:2, [0, 1, 4]] = inner.transition_prior
    emission = inner.emission
    prior = np.concatenate([emission.prior, emission.prior])
    model = HiddenMarkov(
        replace(emission, n_states=K, prior=prior),
        np.append(inner.initial_prior, [0.0, 0.0]),
        wide,
        K,
        True,
        masks={"initial": reach, "transition": moves},
    )
    _, eta = case.posterior(np.random.default_rng(0))
    wider = np.zeros((K, K + 1))
    wider[:2, [0, 1, 4]] = eta.transition
    both = Chained(
        np.append(eta.initial, [0.0, 0.0]), wider, np.concatenate([eta.emission, prior[2:]])
    )
    big = case._replace(model=model)
    small = fit(
        inner, case.units, VBEM, state_at(inner, case.units, VBEM, eta), max_iter=30, tol=0.0
    )
    found = fit(
        model, big.units, VBEM, state_at(model, big.units, VBEM, both), max_iter=30, tol=0.0
    )
    np.testing.assert_allclose(found.trace, small.trace, rtol=1e-12)


def test_units_hold_whole_sequences_in_order():
    assert groups(np.array([], int)) == []
    assert groups(np.array([UNIT_ROWS, 1, 5, 1 << 20, 3])) == [(0, 1), (1, 4), (4, 5)]


# --- steps without a value ---


@pytest.mark.parametrize("kind", ["full", "diagonal", "labels"])
def test_steps_that_show_nothing_do_not_slow_em_down(kind):
    """With expected statistics of these steps EM ends at the same estimate, in more sweeps."""
    rng, n = np.random.default_rng(3), 400
    case = make_case(kind)
    theta, _ = case.point(rng)
    eta = case.at(theta._replace(transition=np.array([[0.9, 0.1], [0.1, 0.9]])))
    values, _ = case.model.simulate(read_mode(case.model.families, eta), n, rng)
    values[rng.random(n) < 0.8] = np.nan
    case = case._replace(sequences=[values - case.shift], weights=np.ones(1))
    units = list(case.units.each())
    assert units[0].blank.sum() == np.isnan(values).all(1).sum() > 200
    textbook = Units(tuple(unit._replace(blank=None) for unit in units), n, is_complete=False)
    found = [
        fit(case.model, u, EM, state_at(case.model, u, EM, eta), max_iter=5000, tol=1e-12)
        for u in (case.units, textbook)
    ]
    assert found[0].trace[0] == pytest.approx(found[1].trace[0], rel=1e-12)
    assert found[0].trace[-1] == pytest.approx(found[1].trace[-1], abs=1e-5)
    assert 1.3 * len(found[0].trace) < len(found[1].trace)


# --- Gibbs ---


@pytest.mark.slow
def test_gibbs_finds_the_posterior_that_all_paths_have():
    """Means of the tables, and of what they are squared, within four standard errors.

    The standard errors are those of 40 batches of 200 sweeps. All paths and all labels that are
    missing are summed in closed form.
    """
    case = make_case("labels", 3, end=True, masked=True, lengths=[2, 1, 1])
    values = np.array([[0, np.nan], [np.nan, 2], [1, np.nan], [np.nan, 0]], float)
    prior = case.theta(np.full(3, 0.7), np.full((3, 4), 0.4), [np.full((3, 2, 3), 0.6)])
    eta = case.eta(prior)
    emission = replace(case.model.emission, prior=eta.emission)
    model = replace(
        case.model,
        emission=emission,
        initial_prior=eta.initial,
        transition_prior=eta.transition,
    )
    case = case._replace(model=model, sequences=np.split(values, [2, 3]))
    expected = naive.posterior_moments(prior, case.sequences)
    streams, units, draws = Streams(5, ()), case.units, []
    state = state_at(model, units, GIBBS, eta, streams)
    for _ in range(8100):
        state = step(model, units, GIBBS, state, streams)
        draws.append(np.exp(flatten(state.t)))
    draws = np.array(draws[100:])
    for power, wanted in zip((1, 2), expected, strict=True):
        batches = (draws**power).reshape(40, 200, -1).mean(1)
        error = batches.std(0, ddof=1) / np.sqrt(40)
        assert np.all(np.abs(batches.mean(0) - wanted) < 4.0 * error + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "K", "end"), [("labels", 3, True), ("product", 2, False)])
def test_gibbs_leaves_the_joint_distribution_as_it_is(kind, K, end):
    """Geweke (2004): θ₀ from the prior, x given θ₀; after some sweeps θ given x is like θ₀.

    So every statistic of (θ, x) has the mean that it had before; the smallest p-value of the
    t-tests of the paired differences is above 0.001 divided by their number. Seeds are fixed.
    The labels have masks, and sequences that end by themselves; the others are of three kinds.
    """
    rng, differences = np.random.default_rng([7, K, end]), []
    case = make_case(kind, K, end=end, masked=end)
    for _ in range(200):
        theta = draw_theta(case, rng)
        lengths = [None] * 3 if end else [4, 1, 3]
        case = case._replace(
            sequences=[draw_sequence(case, theta, n, rng) for n in lengths],
            weights=np.ones(len(lengths)),
        )
        units = case.units
        t = zip_fields(lambda family, e: family.mode_stats(e), case.model.families, case.at(theta))
        hidden = q_hidden.draw(case.model.potentials(t)(units.items[0]), None, rng)
        stats = case.model.expected_stats(units.items[0], hidden)
        nothing, streams = Chained(None, None, None), Streams.of(rng)
        state = State(free_energy.Theta(nothing, t, nothing), stats, (), 0.0, False, 0)
        for _ in range(2):
            state = step(case.model, units, GIBBS, state, streams)
        before, after = (np.nan_to_num(flatten(x), neginf=0.0) for x in (t, state.t))
        seen = np.nan_to_num(np.concatenate(case.sequences), nan=1.0)
        moved = after - before
        differences.append(np.concatenate([moved, moved * seen.mean()]))
    differences = np.array(differences)
    free = np.abs(differences).max(0) > 1e-9
    assert free.sum() > 10
    p = ttest_1samp(differences[:, free], 0.0).pvalue
    assert p.min() > 0.001 / free.sum()


def draw_theta(case, rng):
    """A draw from the prior."""
    K, prior = case.model.n_states, case.prior

    def some(alpha):
        out = np.zeros(alpha.shape)
        for k in np.ndindex(alpha.shape[:-1]):
            inside = alpha[k] > 0.0
            out[k][inside] = rng.dirichlet(alpha[k][inside])
        return out

    moves, parts = some(prior.moves), []
    for part in prior.parts:
        if part.kind == "labels":
            theta = some(part.theta)
        elif part.kind == "counts":
            theta = rng.gamma(part.theta[0], 1.0 / part.theta[1])
        else:
            theta = draw_gaussians(*part.theta, rng)
        parts.append(part._replace(theta=theta))
    return Theta(
        some(prior.initial[None])[0],
        moves[:, :K],
        moves[:, K] if case.model.has_end else None,
        parts,
    )


def draw_gaussians(m, beta, nu, W, rng):
    """Means and precisions of independent columns: Wishart distributions of one dimension."""
    precision = rng.gamma(0.5 * nu, 2.0 * W)
    return rng.normal(m, 1.0 / np.sqrt(beta * precision)), precision


def draw_sequence(case, theta, n_steps, rng):
    """Rows of a sequence, each value missing with probability 0.3."""
    K = len(theta.initial)
    states = [rng.choice(K, p=theta.initial)]
    while n_steps is None or len(states) < n_steps:
        state = rng.choice(theta.moves.shape[1], p=theta.moves[states[-1]])
        if state == K:
            break
        states.append(state)
    x = np.zeros((len(states), rows_of.n_columns(case.kind)))
    for row, k in zip(x, states, strict=True):
        for part in theta.parts:
            row[part.columns] = draw_row(part, k, rng)
    x[rng.random(x.shape) < 0.3] = np.nan
    return x


def draw_row(part, k, rng):
    if part.kind == "labels":
        return [rng.choice(len(p), p=p) for p in part.theta[k]]
    if part.kind == "counts":
        return rng.poisson(part.theta[k])
    means, precision = part.theta
    return rng.normal(means[k], 1.0 / np.sqrt(precision[k]))
