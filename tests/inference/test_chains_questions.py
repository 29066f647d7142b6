"""Questions to hidden Markov models, answered by every path there is."""

import math
import warnings

import numpy as np
import pytest
from naive import chains as naive
from scipy.stats import binomtest, chisquare, multivariate_normal, multivariate_t, nbinom, poisson

import jensen as jn
from jensen.models import hidden_markov
from jensen.support.machine import set_threads

LOG0 = -np.inf
SEQUENCES = [["a", "c", None, "b"], ["b"], [None, "a", "a"]]
THETA = {
    "initial": np.array([0.2, 0.5, 0.3]),
    "transition": np.array([[0.6, 0.3, 0.1], [0.0, 0.7, 0.3], [0.25, 0.25, 0.5]]),
    "emission": np.array([[0.7, 0.2, 0.1], [0.1, 0.0, 0.9], [0.3, 0.5, 0.2]]),
}
WITH_END = {
    **THETA,
    "transition": THETA["transition"] * np.array([[0.9], [0.6], [0.8]]),
    "end": np.array([0.1, 0.4, 0.2]),
}


def known(theta, **how):
    return jn.HiddenMarkovModel.from_parameters(**theta, symbols=["a", "b", "c"], **how)


def logs(x):
    with np.errstate(divide="ignore"):
        return np.log(x)


def chain_of(theta):
    end = theta.get("end")
    log_end = np.zeros(len(theta["initial"])) if end is None else logs(end)
    return logs(theta["initial"]), logs(theta["transition"]), log_end


def label_likes(theta, sequence):
    """(steps, K); a missing label has probability one."""
    columns = {"a": 0, "b": 1, "c": 2}
    return np.array(
        [
            np.zeros(len(theta["initial"])) if x is None else logs(theta["emission"])[:, columns[x]]
            for x in sequence
        ]
    )


class Answers:
    """What one θ, as the twins know it, says of sequences; tables and likes are logs."""

    def __init__(self, tables, likes):
        self.tables, self.likes = tables, likes
        self.K = len(tables[0])
        self.found = [naive.posterior(*tables, like) for like in likes]

    @property
    def log_likelihood(self):
        return np.array([log_z for log_z, _ in self.found])

    def smoothed(self):
        pairs = zip(self.found, self.likes, strict=True)
        return [naive.nodes(p, len(like), self.K) for (_, p), like in pairs]

    def pairs(self):
        both = zip(self.found, self.likes, strict=True)
        return [naive.pairs(p, len(like), self.K) for (_, p), like in both]

    def filtered(self):
        return [naive.filtered(*self.tables[:2], like) for like in self.likes]

    def ahead(self, h):
        """p(x, the state h steps later, the sequence goes on so long), (S, h, K)."""
        init, trans, _ = self.tables
        free, out = np.zeros(self.K), np.zeros((len(self.likes), h, self.K))
        for s, like in enumerate(self.likes):
            for step in range(1, h + 1):
                longer = np.concatenate([like, np.zeros((step, self.K))])
                for path in naive.paths(len(longer), self.K):
                    p = math.exp(naive.log_potential(init, trans, free, longer, path))
                    out[s, step - 1, path[-1]] += p
        return out


def answers(theta, sequences=SEQUENCES):
    return Answers(chain_of(theta), [label_likes(theta, x) for x in sequences])


@pytest.fixture(params=[THETA, WITH_END], ids=["cut", "end"])
def theta(request):
    return request.param


def check_answers(model, X, expected, h=3):
    """All questions with one set of parameters."""
    value = expected.log_likelihood
    np.testing.assert_allclose(model.log_likelihood(X), value, rtol=1e-11, atol=1e-12)
    n_steps = sum(map(len, X))
    assert model.score(X) == pytest.approx(value.sum() / n_steps, rel=1e-11)
    nodes = np.concatenate(expected.smoothed())
    found, pairs = model.smooth(X, pairs=True)
    np.testing.assert_allclose(found, nodes, atol=1e-12)
    np.testing.assert_allclose(pairs, np.concatenate(expected.pairs()), atol=1e-12)
    np.testing.assert_array_equal(model.predict_proba(X), found)
    np.testing.assert_array_equal(model.smooth(X), found)
    np.testing.assert_array_equal(model.predict(X), nodes.argmax(1))
    np.testing.assert_allclose(model.filter(X), np.concatenate(expected.filtered()), atol=1e-12)
    best = [max(p, key=p.get) for _, p in expected.found]
    value, path = model.decode_with_value(X)
    np.testing.assert_array_equal(path, np.concatenate(best))
    np.testing.assert_array_equal(model.decode(X), path)
    each = zip(expected.found, best, strict=True)
    np.testing.assert_allclose(value, [z + math.log(p[h]) for (z, p), h in each], rtol=1e-11)
    ahead = expected.ahead(h)
    wanted = ahead / ahead.sum(-1, keepdims=True)
    forecast = model.forecast(X, h)
    np.testing.assert_allclose(forecast.states, wanted, atol=1e-12)
    return forecast


def test_known_parameters_answer_as_all_paths_do(theta):
    forecast = check_answers(known(theta), SEQUENCES, answers(theta))
    rows = np.tensordot(forecast.states, theta["emission"], axes=1)
    np.testing.assert_allclose(forecast.expected, rows, atol=1e-12)


def test_a_forecast_is_for_sequences_that_go_on():
    """A state that often ends is less probable to be the one before another step."""
    theta = {
        "initial": [0.5, 0.5],
        "transition": [[0.9, 0.0], [0.0, 0.1]],
        "end": [0.1, 0.9],
        "emission": [[0.4, 0.3, 0.3], [0.4, 0.3, 0.3]],
    }
    states = known(theta).forecast([["a"]], 2).states[0]
    np.testing.assert_allclose(states, [[0.9, 0.1], [0.81 / 0.82, 0.01 / 0.82]], rtol=1e-12)


def test_a_sequence_that_cannot_go_on():
    theta = {
        "initial": [1.0, 0.0],
        "transition": [[0.0, 1.0], [0.0, 0.0]],
        "end": [0.0, 1.0],
        "emission": [[0.4, 0.3, 0.3], [0.4, 0.3, 0.3]],
    }
    model = known(theta)
    np.testing.assert_allclose(model.forecast([["a"]]).states, [[[0.0, 1.0]]])
    with pytest.raises(jn.ImpossibleError, match=r"^sequence 1 cannot go on for 2 more steps"):
        model.forecast([["a"]], 2)


def test_drawn_paths_are_as_frequent_as_probable(theta):
    """The smallest p-value of three chi-squared tests is above 0.001; the seed is fixed."""
    draws = known(theta).sample_states(SEQUENCES, 4000, random_state=0)
    assert draws.shape == (4000, 8)
    begin = 0
    for _, p in answers(theta).found:
        n = len(next(iter(p)))
        paths = [tuple(path) for path in draws[:, begin : begin + n].tolist()]
        begin += n
        assert all(p[path] > 0.0 for path in set(paths))
        common = [path for path, q in p.items() if q > 5 / 4000]
        seen = np.array([paths.count(path) for path in common])
        wanted = np.array([4000 * p[path] for path in common])
        rest = 4000 - seen.sum(), 4000 - wanted.sum()
        if rest[1] > 1.0:
            seen, wanted = np.append(seen, rest[0]), np.append(wanted, rest[1])
        assert chisquare(seen, wanted * seen.sum() / wanted.sum()).pvalue > 0.001


def test_samples_follow_the_parameters():
    """First states, moves and labels have their frequencies: p-values above 0.001."""
    rows, states = known(THETA).sample(3, n_sequences=3000, random_state=1)
    assert [len(x) for x in rows] == [3] * 3000
    path = np.array(states)
    labels = np.array([x[:, 0] for x in rows])
    assert chisquare(np.bincount(path[:, 0], minlength=3), 3000 * THETA["initial"]).pvalue > 0.001
    for k in range(3):
        came = path[:, 1:][path[:, :-1] == k]
        move = THETA["transition"][k]
        seen = np.bincount(came, minlength=3)
        assert not seen[move == 0.0].any()
        assert chisquare(seen[move > 0], len(came) * move[move > 0]).pvalue > 0.001
        made = labels[path == k]
        emission = THETA["emission"][k]
        seen = np.array([(made == x).sum() for x in "abc"])
        assert not seen[emission == 0.0].any()
        assert chisquare(seen[emission > 0], len(made) * emission[emission > 0]).pvalue > 0.001


def test_lengths_are_geometric_if_all_states_end_alike():
    theta = {**THETA, "transition": 0.75 * THETA["transition"], "end": np.full(3, 0.25)}
    rows, _ = known(theta).sample(n_sequences=2000, random_state=2)
    lengths = np.array([len(x) for x in rows])
    for n in range(1, 6):
        going = int((lengths >= n).sum())
        assert binomtest(int((lengths == n).sum()), going, 0.25).pvalue > 0.001
    short, _ = known(theta).sample(2, n_sequences=50, random_state=2)
    assert max(map(len, short)) == 2
    assert min(map(len, short)) == 1


def test_one_sequence_comes_without_lists():
    rows, states = known(THETA).sample(7, random_state=0)
    assert rows.shape == (7, 1)
    assert states.shape == (7,)
    with pytest.raises(jn.JensenError, match=r"^say how many steps"):
        known(THETA).sample()


def _refuses(model, X, number, *others):
    for name in ("filter", "smooth", "sample_states", "forecast"):
        with pytest.raises(jn.ImpossibleError, match=rf"^sequence {number} has probability 0"):
            getattr(model, name)(X)
    all_of_them = ", ".join(map(str, (number, *others)))
    for name in ("predict", "predict_proba", "decode"):
        with pytest.raises(jn.ImpossibleError, match=rf" cannot occur \({all_of_them}\), "):
            getattr(model, name)(X)


def test_what_is_impossible():
    model = known(THETA)
    X = [["a"], ["b", "a"], ["c"]]
    theta = {**THETA, "initial": np.array([0.0, 1.0, 0.0])}
    model = known(theta)
    assert model.log_likelihood(X).tolist() == [pytest.approx(np.log(0.1)), LOG0, np.log(0.9)]
    assert model.score(X) == LOG0
    _refuses(model, X, 2)


def test_the_impossible_is_named_by_its_place_among_all(monkeypatch):
    monkeypatch.setattr(hidden_markov, "UNIT_ROWS", 2)
    model = known({**THETA, "initial": np.array([0.0, 1.0, 0.0])})
    X = [["a"], ["c"], ["c", "a"], ["b", "a"], ["b"]]
    _refuses(model, X, 4, 5)


def test_units_and_threads_change_nothing(theta, monkeypatch):
    X = SEQUENCES * 3

    def ask(model):
        found = model.smooth(X, pairs=True)
        return [*found, model.filter(X), *model.decode_with_value(X), model.log_likelihood(X)]

    expected = ask(known(theta))
    monkeypatch.setattr(hidden_markov, "UNIT_ROWS", 4)
    for n in (1, 2):
        set_threads(n)
        for ours, wanted in zip(ask(known(theta)), expected, strict=True):
            np.testing.assert_array_equal(ours, wanted)
    set_threads(None)


# --- other emissions, at a point ---


def numbers(rng, D, whole=False):
    X = rng.poisson(3.0, (7, D)).astype(float) if whole else rng.normal(0.0, 2.0, (7, D))
    X[1, 0] = X[4] = np.nan
    return [X[:4], X[4:5], X[5:]]


def likes_of(density, sequences, K):
    """(steps, K) from log p(seen values | state): density(k, columns, values)."""

    def one(row, k):
        o = np.flatnonzero(~np.isnan(row))
        return float(density(k, o, row[o])) if len(o) else 0.0

    return [np.array([[one(row, k) for k in range(K)] for row in x]) for x in sequences]


@pytest.mark.parametrize("covariance", ["full", "diagonal", "spherical", "tied"])
def test_gaussians_answer_as_all_paths_do(covariance):
    rng = np.random.default_rng(3)
    X, means = numbers(rng, 2), rng.normal(0.0, 1.0, (3, 2))
    shared = {
        "full": np.array([[[1.0, 0.4], [0.4, 2.0]], [[2.0, -0.3], [-0.3, 1.0]], np.eye(2)]),
        "diagonal": np.array([[1.0, 2.0], [0.5, 3.0], [2.0, 1.0]]),
        "spherical": np.array([1.0, 0.5, 3.0]),
        "tied": np.array([[2.0, 0.7], [0.7, 1.0]]),
    }[covariance]
    full = {
        "full": shared,
        "diagonal": [np.diag(x) for x in shared] if covariance == "diagonal" else None,
        "spherical": [x * np.eye(2) for x in shared],
        "tied": [shared] * 3,
    }[covariance]

    def density(k, o, x):
        return multivariate_normal.logpdf(x, means[k][o], np.asarray(full[k])[np.ix_(o, o)])

    model = jn.HiddenMarkovModel.from_parameters(
        initial=THETA["initial"],
        transition=THETA["transition"],
        means=means,
        covariances=shared,
        kind="gaussian",
        covariance=covariance,
    )
    forecast = check_answers(model, X, Answers(chain_of(THETA), likes_of(density, X, 3)))
    np.testing.assert_allclose(forecast.expected, forecast.states @ means, atol=1e-12)


@pytest.mark.parametrize("kind", ["poisson", "bernoulli"])
def test_counts_and_switches_answer_as_all_paths_do(kind):
    rng = np.random.default_rng(4)
    X = numbers(rng, 2, whole=True)
    rate = rng.uniform(0.5, 5.0, (3, 2))
    if kind == "bernoulli":
        X, rate = [np.where(np.isnan(x), x, x % 2) for x in X], rate / 6.0

    def density(k, o, x):
        if kind == "poisson":
            return poisson.logpmf(x, rate[k][o]).sum()
        return np.log(np.where(x == 1.0, rate[k][o], 1.0 - rate[k][o])).sum()

    model = jn.HiddenMarkovModel.from_parameters(
        initial=THETA["initial"], transition=THETA["transition"], emission=rate, kind=kind
    )
    forecast = check_answers(model, X, Answers(chain_of(THETA), likes_of(density, X, 3)))
    np.testing.assert_allclose(forecast.expected, forecast.states @ rate, atol=1e-12)


# --- after VB: mean tables, predictive emissions ---


def shown(model):
    end = getattr(model, "end_", None)
    log_end = np.zeros(len(model.initial_)) if end is None else logs(end)
    return logs(model.initial_), logs(model.transition_), log_end


@pytest.mark.parametrize("end", [False, True])
def test_labels_after_vb(end):
    model = jn.HiddenMarkovModel(2, prior={}, end=end, random_state=0).fit(SEQUENCES)
    eta = model.fitted_.eta
    mean = (eta.emission + 1.0)[:, 0]
    mean /= mean.sum(1, keepdims=True)
    np.testing.assert_allclose(model.emission_, mean, rtol=1e-12)
    moves = eta.transition + 1.0
    np.testing.assert_allclose(
        model.transition_, (moves / moves.sum(1)[:, None])[:, :2], rtol=1e-12
    )
    likes = [label_likes({"initial": [0, 0], "emission": mean}, x) for x in SEQUENCES]
    check_answers(model, SEQUENCES, Answers(shown(model), likes))


def test_counts_after_vb_are_negative_binomial():
    X = numbers(np.random.default_rng(5), 2, whole=True)
    model = jn.HiddenMarkovModel(2, emission="poisson", prior={}, random_state=0).fit(X)
    shape, rate = model.fitted_.eta.emission.total + 1.0, model.fitted_.eta.emission.exposure

    def density(k, o, x):
        return nbinom.logpmf(x, shape[k][o], (rate / (1.0 + rate))[k][o]).sum()

    check_answers(model, X, Answers(shown(model), likes_of(density, X, 2)))


def test_gaussians_after_vb_are_student():
    X = numbers(np.random.default_rng(6), 2)
    model = jn.HiddenMarkovModel(2, emission="gaussian", prior={}, random_state=0).fit(X)
    emission = model.fitted_.model.emission
    m, beta, nu, W = emission.family.to_standard(model.fitted_.eta.emission)

    def density(k, o, x):
        df = nu[k] - 1.0
        spread = np.linalg.inv(W[k]) * (1.0 + beta[k]) / (beta[k] * df)
        return multivariate_t.logpdf(x, (m[k] + emission.shift)[o], spread[np.ix_(o, o)], df)

    check_answers(model, X, Answers(shown(model), likes_of(density, X, 2)))


# --- after Gibbs: p(y | x) = Σ p_s(y, x) / Σ p_s(x) ---


@pytest.fixture(scope="module", params=[False, True], ids=["cut", "end"])
def sampled(request):
    model = jn.HiddenMarkovModel(
        2,
        method="gibbs",
        end=request.param,
        n_samples=15,
        burn_in=20,
        n_chains=2,
        random_state=3,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.EstimateWarning)  # so few samples disagree
        model.fit(SEQUENCES)
    each = []
    for t in model.fitted_.draws():
        theta = {"initial": np.exp(t.initial), "transition": np.exp(t.transition[:, :2])}
        if request.param:
            theta["end"] = np.exp(t.transition[:, 2])
        each.append({**theta, "emission": np.exp(t.emission[:, 0])})
    return model, each


def test_gibbs_mixes_the_answers_of_all_samples(sampled):
    model, each = sampled
    assert len(each) == 30
    asked = [answers(theta) for theta in each]
    p = np.exp([a.log_likelihood for a in asked])  # (samples, S)
    np.testing.assert_allclose(model.log_likelihood(SEQUENCES), np.log(p.mean(0)), rtol=1e-11)
    share = p / p.sum(0)
    nodes = [
        sum(share[i, s] * a.smoothed()[s] for i, a in enumerate(asked))
        for s in range(len(SEQUENCES))
    ]
    pairs = [
        sum(share[i, s] * a.pairs()[s] for i, a in enumerate(asked)) for s in range(len(SEQUENCES))
    ]
    found, both = model.smooth(SEQUENCES, pairs=True)
    np.testing.assert_allclose(found, np.concatenate(nodes), atol=1e-12)
    np.testing.assert_allclose(both, np.concatenate(pairs), atol=1e-12)
    ahead = [a.ahead(2) for a in asked]
    total = sum(ahead).sum(-1, keepdims=True)
    forecast = model.forecast(SEQUENCES, 2)
    np.testing.assert_allclose(forecast.states, sum(ahead) / total, atol=1e-12)
    rows = sum(a @ theta["emission"] for a, theta in zip(ahead, each, strict=True))
    np.testing.assert_allclose(forecast.expected, rows / total, atol=1e-12)


def test_paths_drawn_after_gibbs(sampled):
    model, _ = sampled
    draws = model.sample_states(SEQUENCES, 1500, random_state=0)
    np.testing.assert_allclose((draws == 1).mean(0), model.smooth(SEQUENCES)[:, 1], atol=0.06)


def test_gibbs_shows_the_means_of_samples(sampled):
    model, each = sampled
    for name in ("initial", "transition", "emission"):
        mean = np.mean([theta[name] for theta in each], axis=0)
        np.testing.assert_allclose(getattr(model, f"{name}_"), mean, rtol=1e-12)


def test_gibbs_refuses_what_needs_one_set_of_parameters(sampled):
    model, _ = sampled
    for name, instead in (("filter", "smooth"), ("decode", "predict")):
        with pytest.raises(jn.JensenError, match=f"^{name} needs one set of .* use {instead}"):
            getattr(model, name)(SEQUENCES)


def test_samples_after_gibbs_come_from_all_of_it(sampled):
    model, each = sampled
    rows, _ = model.sample(1, n_sequences=2000, random_state=5)
    a = np.mean([theta["initial"] @ theta["emission"][:, 0] for theta in each])
    n = sum(row[0, 0] == "a" for row in rows)
    assert binomtest(n, 2000, a).pvalue > 0.001
