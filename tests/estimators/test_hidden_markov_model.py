"""Hidden Markov models as people use them: published numbers, zeros, starts, surplus states."""

import signal
import warnings

import numpy as np
import pytest

import jensen as jn
from jensen import free_energy
from jensen.models import hidden_markov
from jensen.runs import checkpoint

# --- published numbers ---

# Durbin, Eddy, Krogh and Mitchison (1998), Biological Sequence Analysis, figure 3.5.
ROLLS = (
    "315116246446644245311321631164152133625144543631656626566666651166453132651245636664631636663162"
    "326455236266666625151631222555441666566563564324364131513465146353411126414626253356366163666466"
    "232534413661661163252562462255265252266435353336233121625364414432335163243633665562466662632666"
    "612355245242"
)
CASINO = {
    "initial": [0.5, 0.5],
    "transition": [[0.95, 0.05], [0.1, 0.9]],
    "emission": [[1 / 6] * 6, [0.1] * 5 + [0.5]],
}
VITERBI_RUNS = "F48 L18 F12 L34 F67 L13 F78 L19 F11"

# Eisner (2002), An Interactive Spreadsheet for Teaching the Forward-Backward Algorithm.
ICE_CREAMS = [int(x) for x in "233232322313311121113121112332322"]
EISNER = {
    "initial": [0.5, 0.5],
    "transition": [[0.8, 0.1], [0.1, 0.8]],
    "end": [0.1, 0.1],
    "emission": [[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]],
}


def fit_quietly(model, X, **how):
    """A run that is stopped at its limit on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.EstimateWarning)
        return model.fit(X, **how)


def test_the_dishonest_casino():
    rolls = list(ROLLS)
    known = jn.HiddenMarkovModel.from_parameters(**CASINO, symbols=list("123456"))
    assert known.log_likelihood(rolls)[0] == pytest.approx(-516.9277122793858, rel=1e-13)
    value, path = known.decode_with_value(rolls)
    assert value[0] == pytest.approx(-539.4940026457724, rel=1e-13)
    expected = "".join(run[0] * int(run[1:]) for run in VITERBI_RUNS.split())
    assert "".join("FL"[k] for k in path) == expected
    learned = jn.HiddenMarkovModel(2, start=CASINO, tol=1e-13, max_iter=5000).fit(rolls)
    assert learned.trace_[0] == pytest.approx(-516.9277122793858, rel=1e-13)
    assert learned.free_energy_ == pytest.approx(-514.2582619150937, rel=1e-10)
    assert learned.log_likelihood(rolls)[0] == pytest.approx(learned.free_energy_, rel=1e-13)


def test_eisners_ice_creams():
    model = jn.HiddenMarkovModel(2, end=True, start=EISNER, tol=1e-15, max_iter=3000)
    model = fit_quietly(model, ICE_CREAMS)
    found = [*model.trace_[[0, 1, 2, 10]], model.trace_[-1]]
    expected = [-41.53781782, -36.74229259, -35.95768811, -35.33427245, -35.33289527]
    np.testing.assert_allclose(found, expected, atol=1e-8)
    perplexity = np.exp(-model.trace_[[0, 1, 10]] / 34)
    np.testing.assert_allclose(perplexity, [3.392953, 2.946611, 2.827077], atol=1e-6)


def test_three_one_three():
    """Jurafsky and Martin, Speech and Language Processing, figure A.2, and P(3 1 3)."""
    model = jn.HiddenMarkovModel.from_parameters(
        initial=[0.8, 0.2],  # hot, cold
        transition=[[0.6, 0.4], [0.5, 0.5]],
        emission=[[0.2, 0.4, 0.4], [0.5, 0.4, 0.1]],
        symbols=[1, 2, 3],
    )
    assert np.exp(model.log_likelihood([3, 1, 3]))[0] == pytest.approx(0.028562, abs=5e-7)


def test_two_coins():
    """Do and Batzoglou (2008): a coin for ten tosses is a state that never changes."""
    tosses = [np.repeat([1.0, 0.0], [heads, 10 - heads])[:, None] for heads in (5, 9, 8, 4, 7)]
    start = {
        "initial": [0.5, 0.5],
        "transition": np.eye(2),
        "emission": [[0.6], [0.5]],
    }

    def after(n, tol=0.0):
        model = jn.HiddenMarkovModel(
            2,
            emission="bernoulli",
            start=start,
            fixed=["initial", "transition"],
            max_iter=n,
            tol=tol,
        )
        model = fit_quietly(model, tosses)
        np.testing.assert_array_equal(model.initial_, [0.5, 0.5])
        np.testing.assert_array_equal(model.transition_, np.eye(2))
        return model.emission_[:, 0]

    np.testing.assert_allclose(after(1), [0.7130122354, 0.5813393083], atol=1e-10)
    np.testing.assert_allclose(after(10), [0.7967441495, 0.5196586622], atol=1e-10)
    np.testing.assert_allclose(after(500), [0.7967890669, 0.5195831201], atol=1e-10)


# --- zeros ---

LEFT_TO_RIGHT = {
    "initial": [1.0, 0.0, 0.0],
    "transition": [[0.6, 0.4, 0.0], [0.0, 0.6, 0.4], [0.0, 0.0, 1.0]],
    "emission": [[0.8, 0.2, 0.0], [0.3, 0.4, 0.3], [0.0, 0.2, 0.8]],
}
STRINGS = [list("aababbcbcc"), list("abbcc"), [*"aaabcb", None, "c"], ["a"]]
MASKS = {name: np.array(table) > 0.0 for name, table in LEFT_TO_RIGHT.items()}


def zeros_of(model):
    return {name: getattr(model, f"{name}_") == 0.0 for name in LEFT_TO_RIGHT}


@pytest.mark.parametrize("method", ["em", "vbem", "viterbi", "me"])
def test_zeros_of_a_start_stay_zero(method):
    model = jn.HiddenMarkovModel(3, start=LEFT_TO_RIGHT, method=method).fit(STRINGS)
    for name, zero in zeros_of(model).items():
        assert np.all(zero[~MASKS[name]]), name
    path = model.decode(STRINGS, None)
    for part in np.split(path, np.cumsum([10, 5, 8])):
        assert part[0] == 0
        assert np.all(np.isin(np.diff(part), [0, 1]))


@pytest.mark.parametrize("method", ["em", "vbem", "viterbi", "me", "stochastic-em"])
def test_masks_do_the_same_from_random_starts(method):
    how = {"n_init": 2} if method != "stochastic-em" else {"n_samples": 5, "burn_in": 5}
    model = jn.HiddenMarkovModel(
        3, symbols=["a", "b", "c"], masks=MASKS, method=method, random_state=0, **how
    )
    model = fit_quietly(model, STRINGS)
    for name, zero in zeros_of(model).items():
        assert np.all(zero[~MASKS[name]]), name
        assert np.allclose(getattr(model, f"{name}_").sum(-1), 1.0)


def test_samples_of_gibbs_have_the_zeros():
    model = jn.HiddenMarkovModel(
        3, masks=MASKS, method="gibbs", n_samples=10, burn_in=5, n_chains=1, random_state=0
    )
    model = fit_quietly(model, STRINGS)
    for t in model.fitted_.draws():
        assert np.all(t.initial[~MASKS["initial"]] == -np.inf)
        assert np.all(t.transition[~MASKS["transition"]] == -np.inf)
        assert np.all(t.emission[:, 0][~MASKS["emission"]] == -np.inf)
        assert np.all(np.isfinite(t.transition[MASKS["transition"]]))


def test_a_start_with_zeros_and_the_same_masks_are_one():
    one = jn.HiddenMarkovModel(3, start=LEFT_TO_RIGHT, method="vbem").fit(STRINGS)
    both = jn.HiddenMarkovModel(3, start=LEFT_TO_RIGHT, masks=MASKS, method="vbem").fit(STRINGS)
    np.testing.assert_array_equal(one.trace_, both.trace_)


def test_a_state_that_is_masked_out_is_as_if_it_were_not_there():
    """Masked cells are outside their Dirichlet, so that F is that of the smaller model."""
    start = {
        "initial": [1.0, 0.0],
        "transition": [[0.6, 0.4], [0.0, 1.0]],
        "emission": [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]],
    }
    wide = {
        "initial": [1.0, 0.0, 0.0],
        "transition": [[0.6, 0.4, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        "emission": [*start["emission"], [0.2, 0.3, 0.5]],
    }
    prior = {"initial": 0.7, "transition": 0.3, "emission": 1.5}
    one = jn.HiddenMarkovModel(2, start=start, method="vbem", prior=prior).fit(STRINGS)
    other = jn.HiddenMarkovModel(3, start=wide, method="vbem", prior=prior).fit(STRINGS)
    np.testing.assert_allclose(other.trace_, one.trace_, rtol=1e-12)


@pytest.mark.parametrize("method", ["em", "vbem"])
def test_zeros_of_switches_and_of_several_columns_stay_too(method):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (30, 2)).astype(float)
    moves = {"initial": [0.5, 0.5], "transition": [[0.5, 0.5], [0.5, 0.5]]}
    start = {**moves, "emission": [[0.0, 0.5], [0.5, 1.0]]}
    X[:, 1] = np.maximum(X[:, 1], X[:, 0])  # possible under the start
    model = jn.HiddenMarkovModel(2, emission="bernoulli", start=start, method=method).fit(X)
    assert model.emission_[0, 0] == 0.0
    assert model.emission_[1, 1] == 1.0
    labels = {"x0": [[1.0, 0.0], [0.5, 0.5]], "x1": [[0.5, 0.5], [0.0, 1.0]]}
    for given in ({**moves, **labels}, {**moves, "emission": labels}):
        model = jn.HiddenMarkovModel(2, start=given, method=method).fit(X)
        assert model.emission_["x0"][0, 1] == 0.0
        assert model.emission_["x1"][1, 0] == 0.0


def test_masks_of_switches():
    X = np.array([[0.0], [1.0], [1.0], [0.0], [1.0]])
    masks = {"emission": [[True, False], [True, True]]}
    model = jn.HiddenMarkovModel(2, emission="bernoulli", masks=masks, prior={}, random_state=0)
    assert model.fit(X).emission_[0, 0] == 0.0


@pytest.mark.parametrize("method", ["em", "vbem", "viterbi", "me", "gibbs", "stochastic-em"])
def test_an_impossible_sequence_is_named(method):
    X = [["a", "b"], ["a"], ["c", "a"], ["c"]]
    for choices in ({"start": LEFT_TO_RIGHT}, {"masks": MASKS}):
        model = jn.HiddenMarkovModel(3, method=method, random_state=0, **choices)
        with pytest.raises(jn.ImpossibleError, match=r"^sequence 3 has probability 0.*masks=$"):
            model.fit(X)
        with pytest.raises(jn.ImpossibleError, match=r"^sequence 4 has probability 0"):
            model.fit(X, sequence_weight=[2, 1, 0, 1])


BAD_CHOICES = {
    "an unknown mask": ({"masks": {"x": [1]}}, r"^masks has no part 'x'"),
    "no dict": ({"masks": [1]}, r"^masks must be a dict of arrays"),
    "no end": ({"masks": {"end": [1, 0, 1]}}, r"^masks\['end'\] belongs to end=True$"),
    "a shape": ({"masks": {"initial": [1, 0]}}, r"^masks\['initial'\] must have the shape \(3,\)"),
    "numbers": ({"masks": {"initial": [1, 0, 2]}}, r"must hold True \(may be\) and False"),
    "nothing left": ({"masks": {"initial": [0, 0, 0]}}, r"^initial leaves a state without"),
    "no start": ({"fixed": ["initial"]}, r"^fixed=\['initial'\] holds parameters at start="),
    "an unknown part": ({"fixed": ["x"]}, r"^fixed has no part 'x'"),
    "one word": ({"fixed": "initial"}, r"^fixed must be a list of names"),
    "a number": ({"start": 3}, r"^start must be a fitted model or a dict"),
    "an unknown word": ({"start": {"initals": 3}}, r"^start= has no part 'initals'"),
    "a start that lacks": ({"start": {"initial": [0.2, 0.3, 0.5]}}, r"^start= lacks 'emission'"),
    "a start of two": (
        {"start": {**LEFT_TO_RIGHT, "initial": [0.5, 0.5]}},
        r"^start\['initial'\] must have the shape \(3,\), not \(2,\)$",
    ),
    "no shares": (
        {"start": {**LEFT_TO_RIGHT, "initial": [0.5, 0.5, 0.5]}},
        r"^start\['initial'\] must be probabilities that sum to 1",
    ),
    "a prior": ({"prior": {"weights": 1}}, r"^prior= has no part 'weights'"),
    "an emission": ({"emission": "laplace"}, r"^emission must be one of"),
    "no states": ({"n_states": 0}, r"^n_states must be a whole number, 1 or more, not 0$"),
    "no method": ({"method": "svi"}, r"^there is no method 'svi'"),
    "a sparse mode": ({"prior": {"transition": 0.1}, "method": "em"}, r"^em needs a prior with a"),
    "parts of weights": ({"method": "gibbs"}, r"weights must be whole numbers"),
}


@pytest.mark.parametrize("case", BAD_CHOICES)
def test_choices_that_cannot_be(case):
    choices, words = BAD_CHOICES[case]
    model = jn.HiddenMarkovModel(**{"n_states": 3, **choices})
    with pytest.raises(jn.JensenError, match=words):
        model.fit(STRINGS, sequence_weight=[1.0, 1.0, 1.0, 0.5])


def test_not_fitted():
    with pytest.raises(jn.JensenError, match="not fitted yet: call fit first"):
        jn.HiddenMarkovModel(2).decode([["a"]])


# --- one state, many states ---


def test_one_state_is_counting_from_any_start():
    rng = np.random.default_rng(0)
    x = rng.normal(3.0, 2.0, (25_000, 1))  # more rows than a start looks at
    start = {"initial": [1.0], "transition": [[1.0]], "means": [[0.0]], "covariances": [[[1.0]]]}
    for given in (None, start):
        model = jn.HiddenMarkovModel(1, emission="gaussian", start=given, random_state=0).fit(x)
        assert model.means_[0, 0] == pytest.approx(x.mean(), rel=1e-12)
        assert model.covariances_[0, 0, 0] == pytest.approx(x.var(), rel=1e-10)
        assert model.converged_


@pytest.mark.parametrize("seed", range(3))
def test_one_state_that_ends(seed):
    strings = [["a", "b"], ["a"], ["b", "b", "a"]]
    model = jn.HiddenMarkovModel(1, end=True, random_state=seed).fit(strings)
    assert model.end_[0] == pytest.approx(0.5, rel=1e-15)
    posterior = jn.HiddenMarkovModel(1, end=True, prior={}, random_state=seed).fit(strings)
    assert posterior.end_[0] == pytest.approx(3.5 / 7.0, rel=1e-15)


def test_more_states_than_steps():
    model = jn.HiddenMarkovModel(9, prior={}, random_state=0).fit([["a", "b"], ["b"]])
    assert 1 <= model.n_states_ <= 3
    np.testing.assert_allclose(model.transition_.sum(1), 1.0)


def simulate(K, n, seed):
    """Clear states that stay for some time."""
    rng = np.random.default_rng(seed)
    moves = np.full((K, K), 0.1 / (K - 1)) + (0.9 - 0.1 / (K - 1)) * np.eye(K)
    states = [0]
    for _ in range(n - 1):
        states.append(rng.choice(K, p=moves[states[-1]]))
    return (8.0 * np.array(states) + rng.normal(size=n))[:, None], np.array(states)


@pytest.mark.parametrize("seed", [1, 2])  # with seed 0 two odd steps are worth a state
@pytest.mark.parametrize("K", [2, 3])
def test_a_sparse_prior_empties_surplus_states(K, seed):
    """Of ten starts the best: single ones may leave a state of the truth to two."""
    x, states = simulate(K, 300, seed)
    model = jn.HiddenMarkovModel(
        6, emission="gaussian", prior={}, n_init=10, random_state=seed, tol=1e-7
    ).fit(x)
    assert model.n_states_ == K
    assert model.is_bound_
    path = model.decode(x)
    assert len(set(zip(path.tolist(), states.tolist(), strict=True))) == K  # one to one
    assert set(path) == set(range(K))  # by falling counts


# --- starts, weights, runs ---


@pytest.mark.parametrize("covariance", ["full", "diagonal", "spherical", "tied"])
def test_a_fitted_gaussian_is_a_start(covariance):
    x, _ = simulate(2, 120, 0)
    x = np.column_stack([x, np.random.default_rng(1).normal(size=120)])
    choices = {"emission": "gaussian", "covariance": covariance, "tol": 1e-12, "random_state": 0}
    first = jn.HiddenMarkovModel(2, **choices).fit(x)
    again = jn.HiddenMarkovModel(2, **choices, start=first).fit(x)
    assert again.trace_[0] == pytest.approx(first.free_energy_, rel=1e-12)
    assert again.n_sweeps_ <= 2


@pytest.mark.parametrize("emission", ["categorical", "poisson", "bernoulli"])
@pytest.mark.parametrize("end", [False, True])
def test_any_fitted_model_is_a_start(emission, end):
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (30, 2)).astype(float)
    choices = {"emission": emission, "end": end, "max_iter": 30, "random_state": 0}
    first = fit_quietly(jn.HiddenMarkovModel(2, **choices), X, lengths=[10, 20])
    again = jn.HiddenMarkovModel(2, **choices, start=first)
    again = fit_quietly(again, X, lengths=[10, 20])
    assert again.trace_[0] == pytest.approx(first.free_energy_, rel=1e-11)


@pytest.mark.parametrize("method", ["em", "vbem", "viterbi", "me"])
def test_a_weight_is_a_number_of_sequences(method):
    prior = {} if method in ("vbem", "me") else None
    start = {
        "initial": [0.3, 0.7],
        "transition": [[0.6, 0.4], [0.2, 0.8]],
        "emission": [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]],
    }

    def learn(X, **how):
        model = jn.HiddenMarkovModel(2, method=method, start=start, prior=prior, max_iter=20, tol=0)
        return fit_quietly(model, X, **how)

    weighted = learn(STRINGS, sequence_weight=[2.0, 0.0, 3.0, 1.0])
    repeated = learn([STRINGS[i] for i in (0, 0, 2, 2, 2, 3)])
    np.testing.assert_allclose(weighted.trace_, repeated.trace_, rtol=1e-12)
    np.testing.assert_allclose(weighted.emission_, repeated.emission_, rtol=1e-9)


@pytest.fixture(autouse=True)
def _usual_threads():
    yield
    jn.set_threads(None)


@pytest.mark.parametrize("method", ["em", "vbem", "gibbs"])
def test_threads_do_not_change_bits(method, monkeypatch):
    monkeypatch.setattr(hidden_markov, "UNIT_ROWS", 6)
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 2))
    X[rng.random(X.shape) < 0.2] = np.nan
    how = (
        {"n_samples": 10, "burn_in": 5, "n_chains": 2}
        if method == "gibbs"
        else {"max_iter": 40, "tol": 0.0}
    )
    found = []
    for n in (1, 2):
        jn.set_threads(n)
        model = jn.HiddenMarkovModel(
            2, emission="gaussian", method=method, prior={}, random_state=0, **how
        )
        found.append(fit_quietly(model, X, lengths=[5, 7, 1, 20, 3, 4, 2, 8, 10]))
    for other in found[1:]:
        assert other.trace_.tobytes() == found[0].trace_.tobytes()
        assert other.means_.tobytes() == found[0].means_.tobytes()


class Killed(BaseException):
    """Like a signal: nobody catches it."""


CHECKED = {
    "em": {"n_init": 2, "max_iter": 40, "tol": 0.0},
    "vbem": {"n_init": 2, "max_iter": 40, "tol": 0.0},
    "gibbs": {"n_samples": 12, "burn_in": 10, "n_chains": 2, "thin": 2},
}


@pytest.mark.parametrize("method", CHECKED)
def test_killed_and_resumed(method, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY_SECONDS", 0.0)
    jn.set_threads(1)
    path = tmp_path / "run.checkpoint"

    def run(**how):
        model = jn.HiddenMarkovModel(
            2, method=method, end=True, masks={"end": [True, False]}, random_state=4,
            **CHECKED[method],
        )  # fmt: skip
        return fit_quietly(model, STRINGS, **how)

    expected, real = run(), free_energy.step
    for n in (7, 11, 1, 9):
        sweeps = iter(range(n))

        def step(*args, sweeps=sweeps):
            if next(sweeps, None) is None:
                raise Killed
            return real(*args)

        with monkeypatch.context() as patch:
            patch.setattr(free_energy, "step", step)
            with pytest.raises(Killed):
                run(checkpoint=path)
        assert path.exists()
    resumed = run(checkpoint=path)
    assert resumed.trace_.tobytes() == expected.trace_.tobytes()
    for name in ("initial_", "transition_", "end_", "emission_"):
        assert getattr(resumed, name).tobytes() == getattr(expected, name).tobytes()
    monkeypatch.setattr(free_energy, "step", lambda *args: pytest.fail("a sweep"))
    assert run(checkpoint=path).trace_.tobytes() == expected.trace_.tobytes()
    with pytest.raises(jn.FileError, match="it belongs to another run"):
        jn.HiddenMarkovModel(2, method=method, end=True, random_state=4, **CHECKED[method]).fit(
            STRINGS, checkpoint=path
        )


def test_ctrl_c_keeps_the_best_so_far(monkeypatch):
    jn.set_threads(1)
    sweeps, real = [0], free_energy.step

    def step(*args):
        sweeps[0] += 1
        if sweeps[0] == 5:
            signal.raise_signal(signal.SIGINT)
        return real(*args)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(free_energy, "step", step)
    try:
        with pytest.warns(jn.EstimateWarning, match="^interrupted: this is the best so far"):
            model = jn.HiddenMarkovModel(2, random_state=0, tol=0.0).fit(STRINGS)
    finally:
        signal.signal(signal.SIGINT, before)
    assert model.n_sweeps_ == 5
    assert not model.converged_


def test_choices_that_would_be_ignored_are_refused():
    with pytest.raises(jn.JensenError, match=r"^covariance='tied' belongs to emission='gaussian'"):
        jn.HiddenMarkovModel(2, covariance="tied").fit([["a", "b"]])
    for end in ("x", 1, None):
        with pytest.raises(jn.JensenError, match=f"^end must be True or False, not {end!r}$"):
            jn.HiddenMarkovModel(2, end=end).fit([["a", "b"]])
    assert jn.HiddenMarkovModel(1, end=np.True_).fit([["a", "b"]]).end_ == pytest.approx([0.5])


def test_columns_of_zeros_have_a_prior_rate_of_one():
    x = np.zeros((4, 1))
    usual = jn.HiddenMarkovModel(1, emission="poisson", prior={}).fit(x)
    said = jn.HiddenMarkovModel(1, emission="poisson", prior={"shape": 1.0, "rate": 1.0}).fit(x)
    assert usual.free_energy_ == said.free_energy_
