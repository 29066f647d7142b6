"""Many starts and chains: independent of their number, of threads, and of being interrupted."""

import logging

import numpy as np
import pytest
from models import cases

import jensen as jn
from jensen.free_energy import EM, GIBBS, State, state_at, step
from jensen.models.discrete_network import Tables
from jensen.runs.checkpoint import Checkpoint
from jensen.runs.restarts import Ascents, Job, _Progress, ascend, sample
from jensen.support.fields import unpack
from jensen.support.randomness import Streams


@pytest.fixture(autouse=True)
def _usual_threads():
    yield
    jn.set_threads(None)


def make_job(algorithm=EM, prior=None):
    case = cases.random_case(11)
    model, units = case.model(prior), case.encoded().units

    def begin(k, rng):
        counts = rng().uniform(0.1, 3.0, int(case.wiring.fam_at[-1]))
        stream = None if algorithm.ascends else rng
        return state_at(model, units, algorithm, Tables(counts), stream)

    return Job(model, units, algorithm, begin)


def seeded(seed=0):
    return np.random.default_rng(seed)


def last(found):
    return [fit.trace[-1] for fit in found.fits]


def test_a_start_does_not_depend_on_how_many_there_are():
    job = make_job()
    many = ascend(job, seeded(), n_init=6)
    for n in (1, 2, 4):
        few = ascend(job, seeded(), n_init=n)
        assert last(few) == last(many)[:n]
        assert [fit.trace.tolist() for fit in few.fits] == [f.trace.tolist() for f in many.fits[:n]]
    assert len(set(last(many))) > 1
    assert not many.was_stopped


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_nor_on_threads(threads):
    jn.set_threads(threads)
    found = ascend(make_job(), seeded(3), n_init=5)
    jn.set_threads(1)
    assert last(found) == last(ascend(make_job(), seeded(3), n_init=5))


def test_the_best_is_the_highest_and_the_first_of_equals():
    found = ascend(make_job(), seeded(), n_init=6)
    assert found.best.trace[-1] == max(last(found))
    fits = [
        fit._replace(trace=np.array([-3.0, f]))
        for fit, f in zip(found.fits, [1, 5, 5, 2], strict=False)
    ]
    assert Ascents(fits, was_stopped=False).best is fits[1]


def test_limits_reach_every_start():
    found = ascend(make_job(), seeded(), n_init=3, max_iter=2, tol=0.0)
    assert [len(fit.trace) for fit in found.fits] == [3, 3, 3]
    assert not any(fit.converged for fit in found.fits)


def test_an_error_in_a_start_reaches_the_caller():
    def begin(k, rng):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ascend(make_job()._replace(begin=begin), seeded(), n_init=3)


def test_a_trace_is_noted_as_it_was(tmp_path):
    """The run appends to its trace while another thread saves the state before."""
    file = Checkpoint(tmp_path / "run", "run")
    file.save_sometimes = lambda make: None  # only when the test says so
    job = make_job()
    progress, trace = _Progress(file), [-5.0]
    state = job.begin(0, Streams(0, ()))
    progress.note(0, state, trace)
    trace.append(-4.0)
    notes, arrays = progress.content()
    packed, facts = notes["starts"]["0"]
    assert facts == {"arrays": 3}  # η, t and the statistics
    assert arrays["0.trace"].tolist() == [-5.0]
    found = unpack(packed, [arrays[f"0.{i}"] for i in range(3)])
    assert found.stats.tables.tolist() == state.stats.tables.tolist()


def test_what_was_noted_is_found(tmp_path, caplog):
    job, path = make_job(), tmp_path / "run"
    progress = _Progress(Checkpoint(path, "run"))
    streams = progress.streams(seeded(9), 2)
    state = job.begin(1, streams.start(1))
    progress.note(1, state, [state.free_energy], sweep=3)
    progress.save()
    again = _Progress(Checkpoint(path, "run"))
    assert list(again.last) == [1]
    found, trace, facts = again.last[1]
    assert isinstance(found, State)
    assert (trace, facts) == ([state.free_energy], {"sweep": 3})
    assert found.stats.tables.tobytes() == state.stats.tables.tobytes()
    one, other = (step(job.model, job.data, EM, s) for s in (state, found))
    assert one.eta.tables.tobytes() == other.eta.tables.tobytes()
    with caplog.at_level(logging.INFO, logger="jensen"):
        resumed = again.streams(seeded(77), 2)  # the seed of the file, whatever was given
    expected = [r.random() for r in seeded(9).spawn(2)]
    assert [resumed.start(k)().random() for k in range(2)] == expected
    assert caplog.messages == ["resuming from the checkpoint"]


def test_without_a_checkpoint_any_generator_will_do():
    class Own(np.random.SeedSequence):
        pass

    rng = np.random.Generator(np.random.PCG64(Own(5)))
    assert len(ascend(make_job(), rng, n_init=2).fits) == 2


# --- chains ---


def read(state):
    return state.stats.tables


def run(seed=0, **choices):
    job = make_job(GIBBS, 1.0)
    width = int(job.model.wiring.fam_at[-1])
    return sample(
        job, seeded(seed), read, width, **{"n_chains": 3, "n_samples": 12, "burn_in": 4, **choices}
    )


def test_chains_are_kept_after_burn_in_every_thin_th_sweep():
    every = run(n_samples=40, burn_in=0)
    assert every.samples.shape[:2] == every.trace.shape == (3, 40)
    some = run(n_samples=6, burn_in=10, thin=5)
    assert some.samples.tobytes() == every.samples[:, 14:40:5].tobytes()
    assert some.trace.tobytes() == every.trace[:, 14:40:5].tobytes()
    assert not some.was_stopped


def test_a_chain_depends_on_its_own_stream_alone():
    four = run(n_chains=4)
    assert run(n_chains=2).samples.tobytes() == four.samples[:2].tobytes()
    jn.set_threads(2)
    assert run(n_chains=4).samples.tobytes() == four.samples.tobytes()
    assert len({chain.tobytes() for chain in four.trace}) == 4


def test_samples_of_threads_find_back_to_their_chain(tmp_path):
    jn.set_threads(2)
    found = run(checkpoint=Checkpoint(tmp_path / "run", "run"))
    again = run(checkpoint=Checkpoint(tmp_path / "run", "run"))
    assert found.samples.tobytes() == again.samples.tobytes() == run().samples.tobytes()
    assert found.trace.tobytes() == again.trace.tobytes()
