"""Estimates by annealing and bridge sampling beside the exact evidence."""

import numpy as np
import pytest
from evidence.cases import LATENT, NORMAL_GAMMA, POINTS, SEQUENCES, chain, latent_class
from scipy.special import logsumexp
from scipy.stats import kstest

import jensen as jn
from jensen.evidence.annealed_classes import ClassAnnealingTask, class_rows
from jensen.evidence.annealing import bootstrap_error, log_sizes
from jensen.evidence.asked import EvidenceQuestion
from jensen.evidence.particles import draw_prior, log_prior, particles_of
from jensen.evidence.stacked import flat_rows
from jensen.evidence.temperatures import resampled

NETWORK = jn.BayesianNetwork("H -> a; H -> b; H -> c", hidden={"H": 2}, prior=1.0, random_state=0)
X = np.array(POINTS)[:, None]


def mixture(covariance):
    scale = [[0.5]] if covariance in ("full", "tied") else [0.5]
    prior = {**NORMAL_GAMMA, "scale": scale}
    return jn.GaussianMixture(2, covariance=covariance, prior=prior, random_state=0)


def semi_conjugate():
    prior = {"concentration": 1.0, "mean": 0.5, "mean_variance": 9.0, "degrees_of_freedom": 4.0,
             "scale": 0.5}  # fmt: skip
    return jn.GaussianMixture(2, covariance="tied", prior=prior, random_state=0)


LABELS = {
    "a": ["u", "v", "w", "u", "u", None, "w", "w", "v"],
    "b": ["0", "1", "1", "0", None, "0", "1", "1", "1"],
}
CASES = {
    "classes": (latent_class(2), LATENT, -26.0241013598),
    "three classes": (latent_class(3), LATENT, -25.5817346051),
    "classes of three labels, holes": (latent_class(2), LABELS, None),
    "diagonal": (mixture("diagonal"), X, -26.3528774823),
    "full": (mixture("full"), X, -26.3528774823),
    "tied": (mixture("tied"), X, None),
    "semi-conjugate": (semi_conjugate(), X[:10], None),
    "chain": (chain(2), SEQUENCES, None),
}


@pytest.mark.parametrize("method", ["ais", "smc", "bridge"])
@pytest.mark.parametrize("name", CASES)
def test_estimates_are_within_their_errors(name, method):
    """A deviation of four standard errors has a p-value of 6e-5."""
    model, table, value = CASES[name]
    exact = jn.log_evidence(model, table, "exact").value
    if value is not None:
        assert exact == pytest.approx(value, abs=1e-8)
    found = jn.log_evidence(model, table, method, n_chains=10 if method == "bridge" else 400)
    assert found.kind == "estimate"
    assert 0.0 < found.standard_error < 0.1
    assert abs(found.value - exact) < 4.0 * found.standard_error


@pytest.mark.parametrize("method", ["ais", "smc", "bridge"])
def test_networks_one_chain_after_the_other(method):
    found = jn.log_evidence(
        NETWORK, LATENT, method, n_chains=2 if method == "bridge" else 24,
        **({"n_samples": 30} if method == "bridge" else {"n_temperatures": 30}),
    )  # fmt: skip
    assert abs(found.value + 26.0241013598) < 4.0 * found.standard_error < 1.5


def test_the_standard_error_is_honest():
    """Over 60 seeds: no bias beyond what the logarithm has, and a spread as told."""
    values, errors = [], []
    for seed in range(60):
        found = jn.log_evidence(
            latent_class(2), LATENT, "ais", n_chains=64, n_temperatures=40, random_state=seed
        )
        values.append(found.value)
        errors.append(found.standard_error)
    z = (np.array(values) + 26.0241013598) / np.array(errors)
    assert abs(z).max() < 4.5
    assert 0.75 < np.std(values) / np.mean(errors) < 1.35
    mean = logsumexp(values) - np.log(len(values))  # of the unbiased estimates themselves
    assert abs(mean + 26.0241013598) < 4.0 * np.std(values) / np.sqrt(len(values))


def test_what_is_hidden_is_summed_out_of_weights():
    """Gains are log p(x | θ) at β = 1, in every kind of particles."""
    for model, table, _ in CASES.values():
        asked = EvidenceQuestion(model, table, {}, 0)
        particles = particles_of(asked)
        t = draw_prior(asked.model, 5, np.random.default_rng(0))
        gains = particles.gains(t, particles.look(t), 0.0, 1.0) + particles.log_start
        from jensen import q_hidden
        from jensen.free_energy import expect
        from jensen.support.fields import leaves, rebuild

        for c in range(5):
            one = rebuild(t, (np.ascontiguousarray(leaf[c]) for leaf in leaves(t)))
            value = expect(asked.model, asked.units, q_hidden.exact, one)[0].value
            assert gains[c] == pytest.approx(value, rel=1e-9)
        half = particles.gains(t, particles.look(t), 0.0, 0.5)
        rest = particles.gains(t, particles.look(t), 0.5, 1.0)
        np.testing.assert_allclose(half + rest + particles.log_start, gains, rtol=1e-9)
        assert log_prior(asked.model, t).shape == (5,)


def test_a_sweep_at_the_prior_leaves_the_prior_alone():
    """At β → 0 rows say nothing of emissions: means of draws stay those of the prior."""
    asked = EvidenceQuestion(latent_class(2), LATENT, {}, 0)
    particles = particles_of(asked)
    t = draw_prior(asked.model, 4000, np.random.default_rng(1))
    chosen = np.arange(4000)
    for sweep in range(3):
        streams = asked.streams(99, sweep)
        t = particles.move(t, particles.look(t), chosen, 0.0, streams).t
    for part in t.components:
        assert np.exp(part).mean(0) == pytest.approx(np.full(part.shape[1:], 0.5), abs=0.03)
    weights = np.exp(t.weights[:, 0])
    assert weights.mean() == pytest.approx(0.5, abs=0.03)
    assert weights.var() == pytest.approx(1.0 / 12.0, abs=0.01)


def test_the_same_seed_gives_the_same_number_on_any_threads():
    kept = jn.get_threads()
    found = []
    for n in (1, 2):
        jn.set_threads(n)
        found.append(jn.log_evidence(latent_class(2), LATENT, "ais", n_chains=40).value)
    jn.set_threads(kept)
    assert found[0] == found[1]


def test_a_run_resumes_from_its_checkpoint(tmp_path):
    file = tmp_path / "ais.ckpt"
    given = {"n_chains": 40, "n_temperatures": 20, "checkpoint": file}
    first = jn.log_evidence(latent_class(2), LATENT, "ais", **given)
    again = jn.log_evidence(latent_class(2), LATENT, "ais", **given)
    assert first.value == again.value
    with pytest.raises(jn.JensenError, match="belongs to another run"):
        jn.log_evidence(latent_class(3), LATENT, "ais", **given)


def test_few_chains_that_carry_the_weight_are_told():
    """With two temperatures annealing is plain importance sampling from the prior, and fails."""
    x = np.concatenate([np.linspace(-8, -7, 10), np.linspace(7, 9, 10)])[:, None]
    model = jn.GaussianMixture(2, covariance="diagonal", prior=NORMAL_GAMMA, random_state=0)
    exact = jn.log_evidence(model, x, "exact").value
    plain = jn.log_evidence(model, x, "ais", n_temperatures=1, n_chains=500)
    assert "carry the estimate" in repr(plain)
    assert plain.value < exact - 3.0
    annealed = jn.log_evidence(model, x, "ais", n_temperatures=400, n_chains=200)
    assert abs(annealed.value - exact) < 4.0 * annealed.standard_error < 2.0


def test_gamma_numbers_have_their_distribution():
    """By Kolmogorov and Smirnov, p above 1e-4 for each of four shapes and for normal numbers."""
    from jensen.kernels.random_numbers import fill_gamma

    out = np.empty(50_000)
    for shape in (1.0, 1.4, 6.0, 200.0):
        state = np.random.default_rng(7).integers(1, 2**63, 4, dtype=np.uint64)
        fill_gamma(state, shape, out)
        assert kstest(out, "gamma", args=(shape,)).pvalue > 1e-4


def test_the_kernel_of_classes_leaves_prior_and_posterior_alone():
    """At β = 0 draws stay those of the prior; small concentrations do not underflow."""
    for concentration in (1.0, 0.02):
        prior = {"concentration": concentration, "emission": concentration}
        asked = EvidenceQuestion(jn.LatentClass(2, prior=prior, random_state=0), LABELS, {}, 0)
        rows = class_rows(particles_of(asked))
        theta = flat_rows(draw_prior(asked.model, 4000, np.random.default_rng(1)))
        task = ClassAnnealingTask(rows, np.zeros(4), lambda number, streams, at=theta: at)
        end, _ = task.advance(0, task.begin(0, asked.streams(1)), asked.streams(1), 3)
        assert not np.array_equal(end.theta, theta)
        np.testing.assert_allclose(end.log_weight, 0.0, atol=1e-9)
        for own in (np.exp(end.theta), np.exp(theta)):
            assert own[:, 0].mean() == pytest.approx(0.5, abs=0.03)
            spread = 0.25 / (2.0 * concentration + 1.0)
            assert own[:, 0].var() == pytest.approx(spread, abs=0.01)
            assert own[:, 2:5].sum(1) == pytest.approx(np.ones(4000))
            assert own[:, 2].var() == pytest.approx(
                2.0 / 9.0 / (3.0 * concentration + 1.0), abs=0.01
            )


def test_steps_at_once_give_the_bits_of_single_ones():
    asked = EvidenceQuestion(latent_class(2), LABELS, {}, 0)
    rows, streams = class_rows(particles_of(asked)), asked.streams(1)
    theta = flat_rows(draw_prior(asked.model, 5, np.random.default_rng(1)))
    task = ClassAnnealingTask(rows, np.linspace(0.0, 1.0, 7), lambda number, streams: theta)
    at_once, _ = task.advance(0, task.begin(0, streams), streams, 6)
    state = task.begin(0, streams)
    while not task.is_done(state):
        state, _ = task.advance(0, state, streams, 1)
    for one, other in zip(at_once, state, strict=True):
        np.testing.assert_array_equal(one, other)


SIMULATED = {
    "classes": (latent_class(2), LABELS),
    "mixture": (mixture("diagonal"), X),
    "chain": (chain(2), SEQUENCES),
    "network": (NETWORK, LATENT),
}


@pytest.mark.parametrize("name", SIMULATED)
def test_ways_up_and_down_enclose_the_evidence_of_simulated_rows(name):
    model, table = SIMULATED[name]
    few = {"n_chains": 8 if name == "network" else 100, "n_temperatures": 80}
    found = jn.log_evidence(model, table, "ais", simulate=True, random_state=1, **few)
    back = next(line for line in found.lines if line.name == "reverse")
    assert back.kind == "upper bound on average"
    error = np.hypot(back.standard_error, found.standard_error)
    assert abs(back.value - found.value) < 5.0 * error + 0.05
    assert "rows drawn from the model" in repr(found)


def test_a_way_back_from_the_users_rows_is_a_check(tmp_path):
    file = tmp_path / "ais.ckpt"
    for method in ("ais", "smc"):
        found = jn.log_evidence(
            latent_class(2), LATENT, method, n_chains=400, reverse=True,
            **({"checkpoint": file} if method == "ais" else {}),
        )  # fmt: skip
        back = next(line for line in found.lines if line.name == "reverse")
        assert back.kind == "check, not a bound"
        assert back.value == pytest.approx(-26.0241013598, abs=0.2)
    far = np.concatenate([np.linspace(-8, -7, 10), np.linspace(7, 9, 10)])[:, None]
    few = {"n_chains": 40, "n_temperatures": 2, "reverse": True}
    short = jn.log_evidence(mixture("diagonal"), far, "ais", **few)
    assert "the ways up and down disagree" in repr(short)


def test_what_cannot_be_simulated_is_refused():
    ask = jn.log_evidence
    with pytest.raises(jn.JensenError, match="simulate='yes' must be True or False"):
        ask(latent_class(2), LATENT, "ais", simulate="yes")
    with pytest.raises(jn.JensenError, match="would be ignored by method='vb'"):
        ask(latent_class(2), LATENT, "vb", simulate=True)
    weighted = jn.Table(LATENT, weights=[2.0] * 12)
    with pytest.raises(jn.JensenError, match="rows that count once each"):
        ask(latent_class(2), weighted, "ais", simulate=True)
    with pytest.raises(jn.JensenError, match="rows that count once each"):
        ask(NETWORK, weighted, "ais", simulate=True)
    numbers = jn.BayesianNetwork("k -> x", hidden={"k": 2}, prior="bdeu-bge")
    with pytest.raises(jn.JensenError, match="and of nothing else"):
        ask(numbers, {"x": POINTS}, "ais", simulate=True)


def test_missing_cells_of_classes_are_left_out():
    rows = {name: [*column, None] for name, column in LATENT.items()}
    rows["a"][3] = None
    exact = jn.log_evidence(latent_class(2), rows, "exact").value
    found = jn.log_evidence(latent_class(2), rows, "smc", n_chains=400)
    assert abs(found.value - exact) < 4.0 * found.standard_error


def test_weights_and_resampling():
    log_weight = np.log([0.5, 0.25, 0.25])
    size = 1.0 / (0.25 + 0.0625 + 0.0625)
    assert np.exp(log_sizes(log_weight)) == pytest.approx(size)
    counts = np.bincount(
        np.concatenate([resampled(log_weight, np.random.default_rng(s)) for s in range(400)])
    )
    assert counts / counts.sum() == pytest.approx([0.5, 0.25, 0.25], abs=0.03)
    logs = np.random.default_rng(0).normal(size=500) * 0.1
    expected = np.exp(logs).std() / np.exp(logs).mean() / np.sqrt(500)
    assert bootstrap_error(logs, np.random.default_rng(1)) == pytest.approx(expected, rel=0.1)


def test_choices_that_would_be_ignored_are_refused():
    ask = jn.log_evidence
    with pytest.raises(jn.JensenError, match="no method 'aiz'"):
        ask(latent_class(2), LATENT, "aiz")
    with pytest.raises(jn.JensenError, match="n_temperatures=5 would be ignored by method='vb'"):
        ask(latent_class(2), LATENT, "vb", n_temperatures=5)
    with pytest.raises(jn.JensenError, match="n_init=3 belongs to methods that climb"):
        ask(latent_class(2), LATENT, "ais", n_init=3)
    with pytest.raises(jn.JensenError, match="n_chains"):
        ask(latent_class(2), LATENT, "ais", n_chains=2)
    with pytest.raises(jn.JensenError, match="known of networks, mixtures, latent classes"):
        ask("a -> b", LATENT, "ais")
