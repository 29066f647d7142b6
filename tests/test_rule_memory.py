"""Rules that remember: of q(h) one entry a unit, of q(θ) one a field, both in every checkpoint."""

import signal
from itertools import product

import numpy as np
import pytest
from models.pairs import (
    FEATURES,
    SINGLE_SITE_EM,
    VARIATIONAL_EM,
    A,
    B,
    PairFields,
    PairMemory,
    Pairs,
    V,
    factorised,
    single_site,
)

import jensen as jn
from jensen import free_energy, q_theta
from jensen.estimators.learning import LoopChoices, Problem, learn
from jensen.free_energy import ALGORITHMS, State, fit, state_at, step
from jensen.models.protocol import Data
from jensen.runs.checkpoint import Checkpoint
from jensen.runs.restarts import AscentTask, Job, ascend, sample
from jensen.support.arguments import Streams
from jensen.support.fields import leaves, unpack

CUTS = [9, 10, 22, 31]  # units of 9, 1, 12, 9 and 5 rows
SWEEPS = 12


@pytest.fixture(autouse=True)
def _usual_threads():
    yield
    jn.set_threads(None)


def make_data(seed=0):
    """Rows of two hidden labels with a third of the cells missing."""
    rng = np.random.default_rng(seed)
    n, D = 36, 3
    pairs = rng.choice(A * B, n, p=softmax_of(FEATURES @ np.array([0.4, -0.5, 0.3, 0.6])))
    tables = rng.dirichlet(np.full(V, 0.4), (D, A * B))
    codes = np.array([[rng.choice(V, p=tables[d, s]) for d in range(D)] for s in pairs])
    codes[rng.random(codes.shape) < 0.3] = -1
    weight = rng.uniform(0.5, 2.0, n)
    model = Pairs(D)
    return model, Data(model.encode(codes, weight, CUTS), None, (codes, weight))


def softmax_of(x):
    return np.exp(x) / np.exp(x).sum()


def make_job(algorithm=VARIATIONAL_EM):
    model, data = make_data()

    def begin(k, streams):
        eta = model.start(data, k, streams())
        return state_at(model, data.units, algorithm, eta, streams)

    return Job(model, data.units, algorithm, begin)


def climb(file=None, **choices):
    found = ascend(
        make_job(),
        np.random.default_rng(4),
        checkpoint=file,
        **{"n_init": 2, "max_iter": SWEEPS, "tol": 0.0, **choices},
    )
    assert not found.collapsed
    return found


def flat(state):
    """All numbers of a state, memories included."""
    return np.concatenate([np.ravel(np.asarray(x, float)) for x in leaves(state)])


def assert_same(one, other):
    assert [len(fit.trace) for fit in one.fits] == [len(fit.trace) for fit in other.fits]
    for a, b in zip(one.fits, other.fits, strict=True):
        assert a.trace.tobytes() == b.trace.tobytes()
        assert flat(a.state).tobytes() == flat(b.state).tobytes()
        assert a.converged == b.converged


def one_state(n_sweeps=3):
    """A model, its units and a state some sweeps from its start."""
    model, data = make_data()
    eta = model.start(data, 0, np.random.default_rng(1))
    state = state_at(model, data.units, VARIATIONAL_EM, eta)
    for _ in range(n_sweeps):
        state = step(model, data.units, VARIATIONAL_EM, state)
    return model, data.units, state


# --- a sweep ---


def test_f_never_falls_and_ends_below_the_log_joint():
    """With q(h) at its best F would be log p(x, θ), here by enumeration; both slopes end at 0."""
    model, units, state = one_state(0)
    found = fit(model, units, VARIATIONAL_EM, state, tol=1e-15, max_iter=3000)
    assert np.diff(found.trace).min() >= -1e-12 * abs(found.trace[-1])
    state = found.state
    exact = -sum(
        VARIATIONAL_EM.q_theta.cost(*part)
        for part in zip(
            model.families,
            model.prior,
            state.eta,
            state.t,
            model.prior_given(state.t)[1],
            strict=True,
        )
    )
    for unit in units.items:
        for codes, weight in zip(unit.codes, unit.weight, strict=True):
            total = 0.0
            for s, (a, b) in enumerate(product(range(A), range(B))):
                log = FEATURES[s] @ state.t.joint.first + state.t.joint.number
                log += sum(state.t.tables[d, a, b, v] for d, v in enumerate(codes) if v >= 0)
                total += np.exp(log)
            exact += weight * np.log(total)
    assert exact - 5.0 < found.trace[-1] < exact - 1e-3
    slope = model.families.joint.slope(
        model.posterior("joint", state.stats, state.t), state.t.joint
    )
    np.testing.assert_allclose(slope, 0.0, atol=1e-4)


def test_each_unit_sees_its_own_memory_again():
    """To the last bit: what a unit keeps is the rule at this unit and at what it kept before."""
    model, units, before = one_state()
    for threads in (1, 2):
        jn.set_threads(threads)
        after = step(model, units, VARIATIONAL_EM, before)
        at = model.potentials(after.t)
        assert len(after.memory) == len(units) == 5
        for unit, kept, found in zip(units.items, before.memory, after.memory, strict=True):
            assert isinstance(found, PairMemory)
            assert len(found.a) == len(unit.weight)
            expected = factorised(at(unit), kept, None).memory
            assert flat(found).tobytes() == flat(expected).tobytes()


def test_each_field_sees_its_own_memory_again():
    model, units, before = one_state()
    after = step(model, units, VARIATIONAL_EM, before)
    eta = model.posterior("joint", before.stats, before.t)
    t, memory = model.families.joint.improve(eta, before.theta.memory.joint)
    assert flat(after.t.joint).tobytes() == flat(t).tobytes()
    assert flat(after.theta.memory.joint).tobytes() == flat(memory).tobytes()
    assert after.theta.memory.tables is None  # it has a closed form


def test_every_field_of_theta_gets_its_own_memory_back():
    """Both fields remember here, each something else."""
    given = {"joint": [], "tables": []}

    def read(family, eta, memory, rng):
        name = "joint" if hasattr(family, "improve") else "tables"
        given[name].append(memory)
        number, inner = (0, None) if memory is None else memory[1:]
        t, inner = q_theta.mode.read(family, eta, inner, rng)
        return t, (name, number + 1, inner)

    model, data = make_data()
    rule = q_theta.mode._replace(read=read)
    algorithm = VARIATIONAL_EM._replace(q_theta=rule)
    eta = model.start(data, 0, np.random.default_rng(1))
    state = state_at(model, data.units, algorithm, eta)
    for _ in range(3):
        state = step(model, data.units, algorithm, state)
    for name, memories in given.items():
        assert memories[0] is None
        assert [memory[:2] for memory in memories[1:]] == [(name, k) for k in (1, 2, 3)]


def test_a_sweep_changes_nothing_of_the_state_before():
    model, units, before = one_state()
    numbers = flat(before).tobytes()
    first, second = (step(model, units, VARIATIONAL_EM, before) for _ in range(2))
    assert flat(first).tobytes() == flat(second).tobytes()
    assert flat(before).tobytes() == numbers


def test_a_state_elsewhere_takes_the_memories_over():
    model, units, before = one_state()
    eta = before.eta
    with_memory = state_at(model, units, VARIATIONAL_EM, eta, None, before)
    without = state_at(model, units, VARIATIONAL_EM, eta)
    assert with_memory.sweep == before.sweep == 3
    assert without.sweep == 0
    t, memory = model.families.joint.improve(eta.joint, before.theta.memory.joint)
    assert flat(with_memory.theta.memory.joint).tobytes() == flat(memory).tobytes()
    assert flat(with_memory.t.joint).tobytes() == flat(t).tobytes()
    expected = factorised(model.potentials(with_memory.t)(units.items[0]), before.memory[0], None)
    assert flat(with_memory.memory[0]).tobytes() == flat(expected.memory).tobytes()
    assert flat(without.memory).tobytes() != flat(with_memory.memory).tobytes()


DROPPED = {
    "q(h)": lambda state: state._replace(memory=()),
    "one unit": lambda state: state._replace(memory=(*state.memory[:-1], None)),
    "swapped": lambda state: state._replace(
        memory=(state.memory[3], *state.memory[1:3], state.memory[0], state.memory[4])
    ),
    "q(theta)": lambda state: state._replace(
        theta=state.theta._replace(memory=PairFields(None, None))
    ),
}


@pytest.mark.parametrize("what", DROPPED)
def test_a_sweep_without_its_memory_is_another_sweep(what):
    model, units, before = one_state()
    full, lost = (
        step(model, units, VARIATIONAL_EM, state) for state in (before, DROPPED[what](before))
    )
    assert flat(full.stats).tobytes() != flat(lost.stats).tobytes()
    assert full.free_energy != lost.free_energy


# --- checkpoints ---


class Killed(BaseException):
    """Like a signal: nobody catches it."""


@pytest.fixture
def kill_at(monkeypatch):
    """Run something that dies at its n-th sweep, whatever start that is in; all else is saved."""
    monkeypatch.setattr(Checkpoint, "save_sometimes", lambda self, make: self.save(*make()))

    def run(n, work, blow=None):
        sweeps, real = iter(range(n)), free_energy.step

        def killing(*args):
            if next(sweeps, None) is None:
                if blow is None:
                    raise Killed
                blow()
            return real(*args)

        with monkeypatch.context() as patch:
            patch.setattr(free_energy, "step", killing)
            if blow is not None:
                return work()
            with pytest.raises(Killed):
                work()
        return None

    return run


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kills", [(1,), (5,), (SWEEPS + 3,), (4, 1, 7, 2)])
def test_a_killed_run_resumes_to_the_same_bits(threads, kills, tmp_path, kill_at):
    jn.set_threads(threads)
    straight, path = climb(), tmp_path / "run"
    assert [len(fit.trace) for fit in straight.fits] == [SWEEPS + 1] * 2
    for n in kills:
        kill_at(n, lambda: climb(Checkpoint(path, "run")))
        assert Checkpoint(path, "run").content is not None
    assert_same(climb(Checkpoint(path, "run")), straight)
    assert_same(climb(Checkpoint(path, "run")), straight)  # finished: read from the file


@pytest.fixture
def _heard():
    """Ctrl-C is listened for, also where the tests run behind a shell that ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_heard")
def test_a_stopped_run_resumes_to_the_same_bits(tmp_path, kill_at):
    jn.set_threads(1)
    straight, path = climb(), tmp_path / "run"

    def stopped():
        return climb(Checkpoint(path, "run"))

    found = kill_at(4, stopped, lambda: signal.raise_signal(signal.SIGINT))
    assert found.was_stopped
    assert [len(fit.trace) for fit in found.fits] == [6]  # the sweep is done, the start is not
    assert_same(climb(Checkpoint(path, "run")), straight)


def read(path, k=0):
    """The state of a start as the file holds it."""
    notes, arrays = Checkpoint(path, "run").content
    saved = notes["tasks"][str(k)]
    found = unpack(saved["state"], [arrays[f"{k}.{i}"] for i in range(saved["arrays"])])
    return found if isinstance(found, State) else found.state


def test_the_memories_are_in_the_file(tmp_path, kill_at):
    """Bit for bit those of a run that went on, for both starts."""
    jn.set_threads(1)
    path = tmp_path / "run"
    kill_at(SWEEPS + 5, lambda: climb(Checkpoint(path, "run")))
    for k, n in ((0, SWEEPS), (1, 5)):
        saved = read(path, k)
        assert isinstance(saved, State)
        expected = climb(max_iter=n).fits[k].state
        assert saved.sweep == expected.sweep == n
        assert [type(one) for one in saved.memory] == [PairMemory] * 5
        assert flat(saved.memory).tobytes() == flat(expected.memory).tobytes()
        assert flat(saved.theta.memory).tobytes() == flat(expected.theta.memory).tobytes()
        assert isinstance(saved.theta.memory, PairFields)
        assert saved.theta.memory.tables is None
        assert flat(saved).tobytes() == flat(expected).tobytes()
    assert flat(read(path, 0).memory).tobytes() != flat(read(path, 1).memory).tobytes()


@pytest.fixture
def resume_without(tmp_path, kill_at, monkeypatch):
    """A run that is killed after six sweeps, and resumed without some of its memory."""
    jn.set_threads(1)

    def resumed(what):
        path = tmp_path / "run"
        kill_at(6, lambda: climb(Checkpoint(path, "run")))

        def forgetful(task, packed):
            return packed._replace(state=DROPPED[what](packed.state))

        monkeypatch.setattr(AscentTask, "unpack", forgetful)
        return climb(Checkpoint(path, "run"))

    return resumed


@pytest.mark.parametrize("what", ["q(h)", "one unit", "swapped"])
def test_a_run_resumed_without_memories_of_units_is_another_run(what, resume_without):
    """So the tests above can fail."""
    straight = climb().fits[0]
    resumed = resume_without(what).fits[0]
    assert resumed.trace[:7].tobytes() == straight.trace[:7].tobytes()
    assert resumed.trace[7] != straight.trace[7]
    assert flat(resumed.state).tobytes() != flat(straight.state).tobytes()


def test_a_run_resumed_without_the_memory_of_theta_falls(resume_without):
    """The step begins at 0 again, far below."""
    with pytest.raises(ArithmeticError, match=r"^F fell by \d.* at sweep 7"):
        resume_without("q(theta)")


# --- chains ---


def draw(file=None):
    """All that two chains were in: the numbers of every state after burn-in."""
    job = make_job(SINGLE_SITE_EM)
    width = len(flat(job.begin(0, Streams(0, (0,)))))
    choices = {"n_chains": 2, "n_samples": 7, "burn_in": 3, "checkpoint": file}
    return sample(job, np.random.default_rng(4), flat, width, **choices)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_killed_chain_with_memory_resumes_to_the_same_bits(threads, tmp_path, kill_at):
    jn.set_threads(threads)
    straight, path = draw(), tmp_path / "run"
    for n in (5, 1, 6):
        kill_at(n, lambda: draw(Checkpoint(path, "run")))
    resumed = draw(Checkpoint(path, "run"))
    assert resumed.trace.tobytes() == straight.trace.tobytes()
    assert resumed.samples.tobytes() == straight.samples.tobytes()
    saved = read(path, 1)
    assert [memory.b.dtype for memory in saved.memory] == [np.int64] * 5
    assert flat(saved).tobytes() == straight.samples[1, -1].tobytes()
    assert len({one.tobytes() for one in straight.samples.reshape(14, -1)}) == 14


def test_a_draw_remembers_the_draw_before():
    """By the numbers of sweep and unit: another b before, or another stream, is another draw."""
    job, streams = make_job(SINGLE_SITE_EM), Streams(8, (0,))
    before = job.begin(0, streams)
    after = step(job.model, job.data, SINGLE_SITE_EM, before, streams)
    at = job.model.potentials(after.t)
    for number, unit in enumerate(job.data.items):
        rng = streams(1, number)  # sweep 1, by the number of the unit
        expected = single_site(at(unit), before.memory[number], rng).memory
        assert np.array_equal(after.memory[number].a, expected.a)
        assert np.array_equal(after.memory[number].b, expected.b)
    fresh = step(job.model, job.data, SINGLE_SITE_EM, before._replace(memory=()), streams)
    assert flat(fresh.memory).tobytes() != flat(after.memory).tobytes()


# --- through the one door ---


@pytest.fixture
def _known(monkeypatch):
    monkeypatch.setitem(ALGORITHMS, VARIATIONAL_EM.name, VARIATIONAL_EM)


def run(path=None, **choices):
    model, data = make_data()
    made = LoopChoices(method="variational-em", random_state=4, n_init=2, tol=1e-6, **choices)
    return learn(Problem(model, data, made), path)


@pytest.mark.usefixtures("_known")
def test_learn_resumes_to_the_same_bits(tmp_path, kill_at):
    straight, path = run(), tmp_path / "run"
    assert straight.report.converged
    assert straight.report.n_sweeps > 8
    for n in (3, 5, 4):
        kill_at(n, lambda: run(path))
    resumed = run(path)
    assert flat(resumed.fitted).tobytes() == flat(straight.fitted).tobytes()
    assert isinstance(resumed.fitted.memory[0], PairMemory)
    assert resumed.report.trace.tobytes() == straight.report.trace.tobytes()
    assert resumed.report.starts.tobytes() == straight.report.starts.tobytes()
    assert not resumed.fitted.is_bound  # a point θ is no distribution
    with pytest.raises(jn.FileError, match="it belongs to another run"):
        run(path, max_iter=999)
