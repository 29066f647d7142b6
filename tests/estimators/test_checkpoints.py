"""A run that is killed at any moment and resumed has the identical result."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import jensen as jn
from jensen import free_energy
from jensen.runs import checkpoint

CHOICES = {
    "em": {"n_init": 3, "tol": 1e-7},
    "vbem": {"prior": "bdeu", "n_init": 2, "tol": 1e-7},
    "gibbs": {"prior": 1.0, "n_chains": 2, "n_samples": 40, "burn_in": 20, "thin": 2},
    "stochastic-em": {"prior": 1.5, "n_chains": 2, "n_samples": 40, "burn_in": 20},
}
pytestmark = pytest.mark.filterwarnings(
    "ignore:the chains disagree:jensen.exceptions.EstimateWarning"
)


def make_table(seed=0):
    rng = np.random.default_rng(seed)
    h = rng.random(40) < 0.4
    columns = {}
    for name in "abc":
        x = np.where(h, rng.random(40) < 0.8, rng.random(40) < 0.3)
        columns[name] = [None if rng.random() < 0.2 else int(v) for v in x]
    return columns


def estimator(method, **choices):
    choices = {"random_state": 1, **CHOICES[method], **choices}
    return jn.BayesianNetwork("h -> a; h -> b; h -> c", hidden={"h": 2}, method=method, **choices)


def assert_same(one, other):
    assert one.network_.tables.tobytes() == other.network_.tables.tobytes()
    assert one.trace_.tobytes() == other.trace_.tobytes()
    assert one.starts_.tobytes() == other.starts_.tobytes()
    assert (one.n_sweeps_, one.converged_) == (other.n_sweeps_, other.converged_)
    if one.network_.samples is not None:
        assert one.network_.samples.tobytes() == other.network_.samples.tobytes()
    if one.network_.concentration is not None:
        assert one.network_.concentration.tobytes() == other.network_.concentration.tobytes()


class Killed(BaseException):
    """Like a signal: nobody catches it."""


@pytest.fixture
def kill_at(monkeypatch):
    """Run something that dies at its n-th sweep, whatever thread that is on."""
    monkeypatch.setattr(checkpoint, "EVERY_SECONDS", 0.0)

    def run(n, work):
        sweeps, real = iter(range(n)), free_energy.step

        def step(*args):
            if next(sweeps, None) is None:
                raise Killed
            return real(*args)

        with monkeypatch.context() as patch:
            patch.setattr(free_energy, "step", step)
            with pytest.raises(Killed):
                work()

    return run


@pytest.fixture(autouse=True)
def _usual_threads():
    yield
    jn.set_threads(None)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("method", CHOICES)
def test_killed_again_and_again_and_resumed(method, threads, tmp_path, kill_at):
    jn.set_threads(threads)
    table, path = make_table(), tmp_path / "run.checkpoint"
    expected = estimator(method).fit(table)
    for n in (7, 11, 1, 9):  # fewer together than any of these runs has
        kill_at(n, lambda: estimator(method).fit(table, checkpoint=path))
        assert path.exists()
    resumed = estimator(method).fit(table, checkpoint=path)
    assert_same(resumed, expected)


@pytest.mark.parametrize("method", CHOICES)
def test_a_finished_run_returns_at_once(method, tmp_path, kill_at, monkeypatch):
    table, path = make_table(), tmp_path / "run.checkpoint"
    first = estimator(method).fit(table, checkpoint=path)
    assert_same(first, estimator(method).fit(table))
    monkeypatch.setattr(free_energy, "step", lambda *args: pytest.fail("a sweep"))
    assert_same(estimator(method).fit(table, checkpoint=path), first)


@pytest.mark.parametrize("method", ["em", "gibbs"])
def test_an_unknown_seed_is_kept_in_the_file(method, tmp_path, kill_at):
    table, path = make_table(), tmp_path / "run.checkpoint"
    kill_at(40, lambda: estimator(method, random_state=None).fit(table, checkpoint=path))
    one = estimator(method, random_state=None).fit(table, checkpoint=path)
    again = estimator(method, random_state=None).fit(table, checkpoint=path)
    assert_same(one, again)


def test_a_run_that_reached_its_limit_is_finished(tmp_path, monkeypatch):
    table, path = make_table(), tmp_path / "run.checkpoint"
    with pytest.warns(jn.EstimateWarning, match="after 4 sweeps"):
        first = estimator("em", max_iter=4).fit(table, checkpoint=path)
    monkeypatch.setattr(free_energy, "step", lambda *args: pytest.fail("a sweep"))
    with pytest.warns(jn.EstimateWarning, match="after 4 sweeps"):
        assert_same(estimator("em", max_iter=4).fit(table, checkpoint=path), first)


def test_a_start_and_a_prior_by_variable_are_part_of_a_run(tmp_path, kill_at):
    table, path = make_table(), tmp_path / "run.checkpoint"
    start = jn.BayesianNetwork.from_tables(
        "h -> a; h -> b; h -> c",
        {"h": [0.3, 0.7], **{x: [[0.2, 0.8], [0.9, 0.1]] for x in "abc"}},
    )
    choices = {"n_init": 1, "start": start, "prior": {"h": [2.0, 3.0], "a": 1.5, "b": 2, "c": 1}}
    expected = estimator("em", **choices).fit(table)
    kill_at(3, lambda: estimator("em", **choices).fit(table, checkpoint=path))
    assert_same(estimator("em", **choices).fit(table, checkpoint=path), expected)
    for other in (
        {"start": start.with_cpt("h", [0.5, 0.5])},
        {"prior": {**choices["prior"], "a": 1.6}},
    ):
        with pytest.raises(jn.FileError, match="it belongs to another run"):
            estimator("em", **{**choices, **other}).fit(table, checkpoint=path)


@pytest.mark.parametrize(
    "change",
    [
        {"random_state": 2},
        {"n_init": 2},
        {"tol": 1e-6},
        {"max_iter": 999},
        {"prior": 1.5},
        {"method": "viterbi"},
        {"hidden": {"h": 3}},
        {"hidden": {"h": ["u", "v"]}},
        {"graph": "h -> a -> b; h -> c"},
    ],
    ids=str,
)
def test_other_settings_are_refused(change, tmp_path):
    path = tmp_path / "run.checkpoint"
    estimator("em").fit(make_table(), checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(jn.FileError) as error:
        estimator("em").set_params(**change).fit(make_table(), checkpoint=path)
    assert str(error.value) == (
        f"cannot resume from {path}: it belongs to another run, with other data or other settings; "
        f"delete the file or name another"
    )
    assert path.read_bytes() == before


ROWS = np.random.default_rng(0).normal(size=(30, 2))


@pytest.mark.parametrize(
    "model",
    [
        jn.GaussianMixture(2, method="vbem", random_state=0),
        jn.LatentClass(2, method="vbem", random_state=0),
        jn.HiddenMarkovModel(2, method="vbem", random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_another_default_prior_is_refused(model, tmp_path, monkeypatch):
    """A version of this library with another default would have gone on under the wrong prior."""
    path, data = tmp_path / "run.checkpoint", {"a": ROWS[:, 0], "b": ROWS[:, 1]}
    if isinstance(model, jn.GaussianMixture):
        data = ROWS
    model.fit(data, checkpoint=path)
    model.fit(data, checkpoint=path)
    monkeypatch.setattr("jensen.models.emissions.priors.MEAN_STRENGTH", 0.02)
    with pytest.raises(jn.FileError, match="it belongs to another run"):
        model.fit(data, checkpoint=path)


def test_other_data_are_refused(tmp_path):
    path, table = tmp_path / "run.checkpoint", make_table()
    estimator("em").fit(table, checkpoint=path)
    weighted = jn.Table(table, weights=np.full(40, 2.0))
    swapped = {**table, "a": table["a"][::-1]}
    for other in (make_table(1), weighted, swapped):
        with pytest.raises(jn.FileError, match="it belongs to another run"):
            estimator("em").fit(other, checkpoint=path)


@pytest.mark.parametrize(
    ("model", "weights"),
    [
        (jn.GaussianMixture(2, random_state=0), "sample_weight"),
        (jn.LatentClass(2, random_state=0), None),
        (jn.HiddenMarkovModel(2, emission="gaussian", random_state=0), "sequence_weight"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_weights_of_the_same_rows_are_refused(model, weights, tmp_path):
    """Under the flat prior nothing else of a run tells of the weights."""

    def run(weight, checkpoint):
        table = jn.Table({"a": ROWS[:, 0], "b": ROWS[:, 1]}, weights=weight)
        how = {"lengths": [1] * 30} if weights == "sequence_weight" else {}
        data = ROWS if weights else table
        how |= {weights: weight} if weights else {}
        model.fit(data, **how, checkpoint=checkpoint)

    path, weight = tmp_path / "run.checkpoint", np.linspace(0.5, 1.5, 30)
    run(weight, path)
    run(weight, path)
    with pytest.raises(jn.FileError, match="it belongs to another run"):
        run(weight[::-1].copy(), path)


def test_what_does_not_shape_the_result_may_differ(tmp_path):
    """Columns in another order, columns beside, a progress bar, rows without weight."""
    path, table = tmp_path / "run.checkpoint", make_table()
    first = estimator("em").fit(table, checkpoint=path)
    other = {"more": list(range(40)), **{name: table[name] for name in "cba"}}
    assert_same(estimator("em", progress=True).fit(other, checkpoint=path), first)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(jn.FileError):
        estimator("em").fit(make_table(), checkpoint=tmp_path / "nowhere" / "run.checkpoint")


# --- signals from outside ---

SCRIPT = """
import os, signal, sys, warnings
import jensen as jn
from jensen import free_energy
from jensen.runs import checkpoint
from estimators.test_checkpoints import estimator, make_table

checkpoint.EVERY_SECONDS = 0.0
signal.signal(signal.SIGINT, signal.default_int_handler)
number, at, method, path, threads = sys.argv[1:]
jn.set_threads(int(threads))
sweeps, sent, real = [0], [], free_energy.step

def step(*args):
    sweeps[0] += 1
    if sweeps[0] >= int(at) and os.path.exists(path) and not sent:
        sent.append(number)
        os.kill(os.getpid(), int(number))
    return real(*args)

free_energy.step = step
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    net = estimator(method).fit(make_table(), checkpoint=path)
print(net.converged_, net.n_sweeps_, repr(net.free_energy_), *(w.message for w in caught), sep="|")
"""


def run_script(number, at, method, path, threads=2):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    arguments = [str(int(number)), str(at), method, str(path), str(threads)]
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("method", "at"), [("em", 33), ("gibbs", 75)])
def test_a_process_that_is_killed_leaves_a_file_to_resume_from(method, at, tmp_path):
    path = tmp_path / "run.checkpoint"
    done = run_script(signal.SIGKILL, at, method, path)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert path.exists()
    resumed = estimator(method).fit(make_table(), checkpoint=path)
    assert_same(resumed, estimator(method).fit(make_table()))


@pytest.mark.slow
def test_ctrl_c_in_a_process_keeps_the_best_so_far_and_resumes(tmp_path):
    path = tmp_path / "run.checkpoint"
    done = run_script(signal.SIGINT, 20, "em", path, threads=1)
    assert done.returncode == 0, done.stderr
    converged, n_sweeps, free, message = done.stdout.strip().split("|")
    assert converged == "False"
    assert message == "interrupted: this is the best so far, and converged_ is False"
    resumed = estimator("em").fit(make_table(), checkpoint=path)
    assert_same(resumed, estimator("em").fit(make_table()))
    assert float(free) < resumed.free_energy_
    assert int(n_sweeps) < resumed.n_sweeps_ + 20


# --- Ctrl-C here ---


@pytest.fixture
def press_at(monkeypatch):
    """Press Ctrl-C in the n-th sweep."""

    def patch(n):
        sweeps, real = [0], free_energy.step

        def step(*args):
            sweeps[0] += 1
            if sweeps[0] == n:
                signal.raise_signal(signal.SIGINT)
            return real(*args)

        monkeypatch.setattr(free_energy, "step", step)
        return sweeps

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
    yield patch
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_after_the_current_sweep(press_at):
    jn.set_threads(1)
    sweeps = press_at(5)
    with pytest.warns(jn.EstimateWarning) as caught:
        net = estimator("em").fit(make_table())
    (warning,) = caught
    assert str(warning.message) == "interrupted: this is the best so far, and converged_ is False"
    assert warning.filename == __file__
    assert sweeps == [5]
    assert net.converged_ is False
    assert net.free_energy_ == net.starts_.max() == net.trace_[-1]
    assert net.starts_.shape == (1,)  # the others had not begun
    whole = estimator("em", n_init=1, tol=0.0, max_iter=5)
    with pytest.warns(jn.EstimateWarning, match="interrupted|after 5 sweeps"):
        whole.fit(make_table())
    assert net.starts_[0] == whole.trace_[5]


def test_a_best_start_that_had_converged_is_not_the_end_of_the_search(press_at):
    jn.set_threads(1)
    table = make_table()
    n = estimator("em", n_init=1).fit(table).n_sweeps_
    press_at(n + 1)  # in the first sweep of the second start
    with pytest.warns(jn.EstimateWarning, match="interrupted"):
        net = estimator("em").fit(table)
    assert net.n_sweeps_ == n
    assert net.converged_ is False


def test_ctrl_c_keeps_the_samples_so_far(press_at):
    jn.set_threads(1)
    expected = estimator("gibbs", n_chains=1).fit(make_table())
    press_at(20 + 2 * 11)
    with pytest.warns(jn.EstimateWarning, match="^interrupted: this is the best so far"):
        net = estimator("gibbs", n_chains=1).fit(make_table())
    assert net.trace_.shape == (1, 11)
    assert net.n_sweeps_ == 20 + 2 * 11
    assert net.network_.samples.tobytes() == expected.network_.samples[:11].tobytes()


def test_ctrl_c_before_the_first_sample(press_at):
    jn.set_threads(1)
    press_at(3)
    with pytest.raises(
        jn.JensenError,
        match=r"^interrupted before the first sample was drawn: nothing was learned$",
    ):
        estimator("gibbs").fit(make_table())


@pytest.mark.parametrize("seed", [1, None])
@pytest.mark.parametrize("n_cut", [1, 400, 5000])
def test_samples_that_a_finished_run_has_lost_are_drawn_again(tmp_path, caplog, seed, n_cut):
    """A checkpoint keeps the seed, also of a run that was given none."""
    path, table = tmp_path / "run", make_table()
    expected = estimator("gibbs", random_state=seed).fit(table, checkpoint=path)
    os.truncate(f"{path}.samples", os.path.getsize(f"{path}.samples") - n_cut)
    caplog.clear()
    assert_same(estimator("gibbs", random_state=seed).fit(table, checkpoint=path), expected)
    assert "begins anew from its seed, and draws the same samples again" in caplog.messages[-1]
    assert_same(estimator("gibbs", random_state=seed).fit(table, checkpoint=path), expected)


def test_a_run_that_begins_anew_may_be_killed_too(tmp_path, kill_at):
    path, table = tmp_path / "run", make_table()
    expected = estimator("gibbs", random_state=None).fit(table, checkpoint=path)
    os.truncate(f"{path}.samples", os.path.getsize(f"{path}.samples") - 1)
    for n in (5, 60, 40):
        kill_at(n, lambda: estimator("gibbs", random_state=None).fit(table, checkpoint=path))
    assert_same(estimator("gibbs", random_state=None).fit(table, checkpoint=path), expected)
