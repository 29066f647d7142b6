"""Estimates by annealing and bridge sampling beside the exact evidence."""

import numpy as np
import pytest
from evidence.cases import LATENT, NORMAL_GAMMA, POINTS, SEQUENCES, chain, latent_class
from scipy.special import logsumexp

import jensen as jn
from jensen.evidence.annealing import bootstrap_error, log_size, resampled
from jensen.evidence.asked import EvidenceQuestion
from jensen.evidence.particles import draw_prior, log_prior, particles_of

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


CASES = {
    "classes": (latent_class(2), LATENT, -26.0241013598),
    "three classes": (latent_class(3), LATENT, -25.5817346051),
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


def test_missing_cells_of_classes_are_left_out():
    rows = {name: [*column, None] for name, column in LATENT.items()}
    rows["a"][3] = None
    exact = jn.log_evidence(latent_class(2), rows, "exact").value
    found = jn.log_evidence(latent_class(2), rows, "smc", n_chains=400)
    assert abs(found.value - exact) < 4.0 * found.standard_error


def test_weights_and_resampling():
    log_weight = np.log([0.5, 0.25, 0.25])
    assert log_size(log_weight) == pytest.approx(1.0 / (0.25 + 0.0625 + 0.0625))
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
