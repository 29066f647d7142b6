"""Many starts and chains: independent of their number, of threads, and of being interrupted."""

import numpy as np
import pytest
from models import cases

import jensen as jn
from jensen.exceptions import CollapseError
from jensen.free_energy import EM, GIBBS, state_at
from jensen.models.discrete_network import Tables
from jensen.runs.checkpoint import Checkpoint
from jensen.runs.restarts import Ascents, Job, ascend, sample


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


def test_a_start_that_collapsed_is_kept_in_the_checkpoint(tmp_path):
    job, calls = make_job(), []

    def begin(k, rng):
        calls.append(k)
        if k == 1:
            raise CollapseError([0, 2], "have no rows")
        return job.begin(k, rng)

    for _ in range(2):
        file = Checkpoint(tmp_path / "run", "run")
        found = ascend(job._replace(begin=begin), seeded(), n_init=3, checkpoint=file)
        assert len(found.fits) == 2
        assert np.isnan(found.free_energies).tolist() == [False, True, False]
        (error,) = found.collapsed
        assert (error.components, error.why) == ((0, 2), "have no rows")
    assert sorted(calls) == [0, 1, 2]  # a finished run begins no start again


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
