"""The harness of the benchmarks, with pretended contenders: no figures, no peers."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import jensen as jn
from benchmarks import alarm, fakes, peers
from benchmarks.__main__ import main
from benchmarks.agree import relative_difference, same_numbers, standard_errors
from benchmarks.beside import beside
from benchmarks.race import Outcome, Result, Rules, compare, race
from benchmarks.registry import choose, discover
from benchmarks.report import as_json, show_head, show_result, show_summary
from benchmarks.verdict import verdicts
from benchmarks.words import duration, times
from benchmarks.worker import Run
from benchmarks.workload import Contender, Goal, Setting, Workload
from benchmarks.workloads import compile as compiling
from benchmarks.workloads import em, marginals, posteriors, sweeps

ROOT = Path(__file__).parents[1]
NOBODY = Contender("nobody", fakes.unready)


def outcome(name, *seconds, answer=1.0, **more):
    return Outcome(name, runs=[Run(s, s, ()) for s in seconds], answer=answer, **more)


def result(*outcomes, goal=Goal(), check=same_numbers):  # noqa: B008
    workload = Workload("w", "a title", NOBODY, check=check, goal=goal)
    return Result(workload, Setting(1000, 2, Path()), outcomes)


# --- workloads ---


def test_workloads_register_under_names_of_their_own():
    known = discover()
    kinds = {name.partition("-")[0] for name in known}
    assert kinds >= {"compile", "fit", "pairs", "read", "sample", "score", "start"}
    assert kinds >= {"em", "marginals", "posteriors", "sweeps"}
    assert all(name == workload.name for name, workload in known.items())
    assert all(workload.jensen.package == "jensen" for workload in known.values())


def test_a_first_word_chooses_all_that_begin_with_it():
    known = {name: Workload(name, "", NOBODY) for name in ("fit-1", "fit-2", "fitness")}
    assert [w.name for w in choose(known, ["fit"])] == ["fit-1", "fit-2"]
    assert [w.name for w in choose(known, ["fitness", "fit-2"])] == ["fit-2", "fitness"]
    assert len(choose(known, [])) == 3
    with pytest.raises(ValueError, match="no workload 'fi'; there are fit-1, fit-2, fitness"):
        choose(known, ["fi"])


def test_list_names_every_workload(capsys):
    assert main(["--list"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == list(discover())


def test_python_dash_m_works():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--list"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "score-1m" in done.stdout


@pytest.mark.parametrize("arguments", [["nonsense"], ["--repeats", "0"], ["--repeats", "x"]])
def test_what_cannot_be_run_is_refused(arguments, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert "error" in capsys.readouterr().err


def test_the_data_are_a_network_over_all_states():
    assert len(alarm.STATES) == 37
    assert len(alarm.edges()) == 46
    assert sum(map(len, alarm.STATES.values())) == 105
    assert alarm.parents()["CCHL"] == ("ACO2", "ANES", "SAO2", "TPR")
    for name, table in alarm.tables().items():
        assert table.shape[-1] == len(alarm.STATES[name])
        np.testing.assert_allclose(table.sum(-1), 1.0, rtol=1e-12)


@pytest.fixture
def holes(tmp_path):
    """200 rows, a tenth of their cells missing; threads are as before when the test ends."""
    setting = Setting(200, 1, tmp_path, missing=0.1)
    alarm.write_rows(setting)
    yield setting
    jn.set_threads(None)


def test_missing_cells_are_the_same_for_all(holes):
    alarm.write_rows(whole := holes._replace(missing=0.0))
    full, punched = (
        np.array([x.split(",") for x in s.csv.read_text().split()]) for s in (whole, holes)
    )
    lost = punched == "?"
    np.testing.assert_array_equal(punched[~lost], full[~lost])
    assert lost[1:].mean() == pytest.approx(0.1, abs=0.02)
    assert sum(peers.jensen_table(holes).n_missing(alarm.STATES).values()) == lost.sum()
    before = holes.csv.read_bytes()
    holes.csv.unlink()
    alarm.write_rows(holes)
    assert holes.csv.read_bytes() == before


@pytest.mark.parametrize(
    "setup",
    [
        partial(em.jensen, tol=1e-5),
        posteriors.jensen,
        *(partial(sweeps.sweeps, method=method, n=2) for method in ("em", "vbem", "gibbs")),
    ],
)
def test_every_run_on_missing_cells_answers_the_same(setup, holes):
    task = setup(holes)
    first, second = (task.answer(task.run(task.prepare())) for _ in range(2))
    assert np.isfinite(first).all()
    np.testing.assert_array_equal(first, second)


def test_em_ends_near_the_maximum_of_what_is_compared(holes):
    task = em.jensen(holes, tol=1e-5)
    net = task.run(task.prepare())
    best = em.jensen(holes, tol=1e-12).run(peers.jensen_table(holes))
    gain = best.free_energy_ - net.free_energy_
    tables = {name: best.cpt(name).values for name in alarm.STATES}
    assert em.log_posterior(holes, tables) - task.answer(net) == pytest.approx(gain, rel=1e-4)
    assert task.details(net) == [f"{net.n_sweeps_} sweeps, F = {net.free_energy_:.2f}"]


def test_posteriors_have_a_distribution_for_every_missing_cell(holes):
    task = posteriors.jensen(holes)
    lost = [name for _, names in posteriors._rows(holes) for name in names]
    answer = task.answer(task.run(task.prepare()))
    assert len(answer) == sum(len(alarm.STATES[name]) for name in lost)
    assert answer.sum() == pytest.approx(len(lost), rel=1e-12)


def test_marginals_of_all_variables(monkeypatch):
    net = jn.examples.load("asia")
    monkeypatch.setattr(marginals, "_load", lambda setting, name: net)
    task = marginals.jensen(Setting(0, 1, Path()), "asia")
    jn.set_threads(None)
    found = task.run(None)
    assert task.answer(found).sum() == pytest.approx(len(net.graph.nodes), rel=1e-12)
    assert task.details(found)[0].startswith("first call")


def test_kernels_for_missing_values_are_added_up():
    kernels = [("counting.count", 1.0), ("messages.send", 2.0), ("posteriors.expect", 3.5)]
    lines = compiling._details(json.dumps([[("import of Numba", 0.5)], kernels]))
    assert [" ".join(line.split()) for line in lines[-2:]] == [
        "all 3 kernels 6.5 s",
        "the 2 for missing values and queries 5.5 s",
    ]


# --- best of several, ratios, goals ---


def test_the_best_run_counts_and_the_ratio_is_theirs_over_ours():
    ours, theirs = outcome("jensen", 0.3, 0.2, 0.4), outcome("peer", 0.9, 0.8)
    compare(ours, theirs, same_numbers)
    assert ours.best.seconds == 0.2
    assert theirs.ratio == theirs.processor_ratio == 4.0
    assert theirs.agrees


def test_different_answers_have_no_ratio():
    ours, theirs = outcome("jensen", 0.1), outcome("peer", 0.1, answer=1.0 + 1e-5)
    compare(ours, theirs, same_numbers)
    assert theirs.agrees is False
    assert theirs.ratio is None
    assert "OTHER ANSWER (1e-05 relative)" in show_result(result(ours, theirs))
    compare(ours, theirs, same_numbers, tolerance=1e-4)
    assert theirs.ratio == 1.0


def test_where_there_is_no_answer_there_is_a_ratio():
    ours, theirs = outcome("jensen", 0.1), outcome("peer", 0.2, answer=None)
    compare(ours, theirs, None)
    assert theirs.agrees is None
    assert theirs.ratio == 2.0


def test_differences():
    assert relative_difference([1.0, -4.0], [1.0, -4.4]) == pytest.approx(0.1)
    assert relative_difference([0.0], [0.0]) == 0.0
    assert relative_difference([1.0], [1.0, 2.0]) == float("inf")
    assert relative_difference([1.0], [float("nan")]) == float("inf")
    assert standard_errors([100, 50, 0], [100, 60, 0]) == pytest.approx(0.1 / np.sqrt(0.00495))
    assert standard_errors([100, 50], [200, 50]) == float("inf")


@pytest.mark.parametrize(("seconds", "ratio", "met"), [(0.1, 10, True), (0.05, 21, False)])
def test_goals_are_met_or_not(seconds, ratio, met):
    ours, theirs, python = outcome("jensen", 0.1), outcome("peer", 2.0, ratio=20.0), outcome("py")
    python.ratio, python.is_peer = 0.1, False
    found = verdicts(result(ours, theirs, python, goal=Goal(seconds, ratio)))
    assert [verdict.met for verdict in found] == [met, met]
    quick = verdicts(result(ours, theirs, goal=Goal(seconds, ratio)), whole=False)
    assert [verdict.met for verdict in quick] == [None, None]


def test_a_ratio_is_met_by_the_clock_and_in_processor_time():
    ours, theirs = outcome("jensen", 0.1), outcome("peer", 2.0, ratio=20.0, processor_ratio=9.0)
    (verdict,) = verdicts(result(ours, theirs, goal=Goal(ratio=10)))
    assert (verdict.met, verdict.found) == (False, "9 times")
    assert "in processor time too" in verdict.goal
    (verdict,) = verdicts(result(ours, theirs, goal=Goal(speedup=10)))
    assert (verdict.goal, verdict.met) == ("at least 10 times as fast as on one thread", True)
    (verdict,) = verdicts(result(ours, goal=Goal(ratio=10)))
    assert verdict.met is None


@pytest.mark.parametrize(("gib", "met"), [(1.5, True), (2.5, False), (None, None)])
def test_memory_is_a_goal_where_it_is_known(gib, met):
    ours = Outcome("jensen", runs=[Run(0.1, 0.1, (), gib)])
    (verdict,) = verdicts(result(ours, goal=Goal(gib=2.0)))
    assert (verdict.goal, verdict.met) == ("at most 2 GiB", met)


def test_the_summary_has_the_goals_and_who_is_faster():
    ours, theirs = outcome("jensen", 0.2), outcome("peer", 0.1, ratio=0.5)
    text = show_summary([result(ours, theirs, goal=Goal(seconds=0.1))])
    assert "w  goal at most 100 ms: NOT met (200 ms)" in text
    assert "w  peer takes 0.5 of Jensen's time" in text


def test_the_head_says_when_other_work_disturbs():
    machine = dict.fromkeys(["processor", "memory_gib", "system", "python"], "?")
    idle = show_head({**machine, "cores": 2, "load_before": 0.1}, {"numpy": "2.0"}, Rules())
    busy = show_head({**machine, "cores": 2, "load_before": 1.1}, {"numpy": "2.0"}, Rules())
    assert "numpy 2.0" in idle
    assert "OTHER WORK" not in idle
    assert "OTHER WORK" in busy


def test_numbers_in_words():
    assert [duration(s) for s in (0.05312, 2.5, 0.00012)] == ["53.1 ms", "2.5 s", "0.12 ms"]
    assert [times(r) for r in (0.4567, 15345.6, None)] == ["0.457", "15,346", ""]


# --- beside another checkout ---


def test_another_checkout_does_the_same_work_in_place_of_the_peers():
    known = discover()["start-import"]
    workload = beside(known, ROOT)
    (other,) = workload.peers
    assert other.name == f"jensen, {ROOT.name}"
    assert workload.goal == Goal()
    found = race(workload, Setting(0, 1, Path()), Rules(repeats=1, round=0.0))
    assert [o.problem for o in found.outcomes] == [None, None]
    assert found.outcomes[1].ratio > 0


def test_another_checkout_may_lack_a_workload():
    workload = beside(Workload("new", "", Contender("jensen", fakes.counter)), ROOT)
    found = race(workload, Setting(0, 1, Path()), Rules(repeats=1, round=0.0))
    assert found.outcomes[1].problem == "failed: LookupError: it has no workload 'new'"


def test_what_is_no_checkout_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["--beside", str(tmp_path)])
    assert (
        "is no checkout of Jensen: it has no src/jensen or no benchmarks" in capsys.readouterr().err
    )


# --- races between processes ---


@pytest.fixture(scope="module")
def raced():
    """One race in which everything goes wrong that can."""
    workload = Workload(
        "race",
        "everything that can happen",
        Contender("jensen", partial(fakes.sleeper, seconds=0.01, answer=[1.0, 2.0])),
        [
            Contender("same", partial(fakes.sleeper, seconds=0.02, answer=[1.0, 2.0]), threads=1),
            Contender("other", partial(fakes.sleeper, seconds=0.0, answer=[1.0, 3.0])),
            Contender("absent", fakes.unready, "no-such-package"),
            Contender("unready", fakes.unready),
            Contender("failing", partial(fakes.failing, message="no\nand more")),
            Contender("dying", fakes.dying),
            Contender("endless", partial(fakes.sleeper, seconds=60.0)),
            Contender("slow", partial(fakes.sleeper, seconds=0.3, answer=[1.0, 2.0])),
        ],
        same_numbers,
    )
    return race(workload, Setting(0, 2, Path()), Rules(repeats=2, limit=1.0, slow=0.3, round=0.0))


def test_every_misfortune_is_reported_with_its_reason(raced):
    problems = {o.name: o.problem for o in raced.outcomes if o.problem}
    assert problems == {
        "absent": "not installed",
        "unready": "failed: KeyError: 'no such thing'",
        "failing": "failed: ArithmeticError: no",
        "dying": "its process died (exit code 3)",
        "endless": "stopped: a run took longer than 1 s",
    }
    text = show_result(raced)
    assert all(problem in text for problem in problems.values())


def test_runs_are_repeated_but_slow_ones_run_once(raced):
    runs = {o.name: len(o.runs) for o in raced.outcomes if not o.problem}
    assert runs == {"jensen": 2, "same": 2, "other": 2, "slow": 1}
    assert [o.threads for o in raced.outcomes[:3]] == [2, 1, 2]


def test_ratios_only_where_answers_agree(raced):
    agrees = {o.name: o.agrees for o in raced.outcomes if o.agrees is not None}
    assert agrees == {"same": True, "other": False, "slow": True}
    assert {o.name for o in raced.outcomes if o.ratio is not None} == {"same", "slow"}
    ours = raced.outcomes[0].best.seconds
    assert all(o.ratio == o.best.seconds / ours for o in raced.outcomes if o.ratio is not None)


def test_details_and_json(raced):
    assert "    [1.0, 2.0]" in show_result(raced).splitlines()
    text = json.dumps(as_json([raced], {}, {}, Rules()), allow_nan=False)
    figures = {o["name"]: o for o in json.loads(text)["workloads"][0]["outcomes"]}
    assert figures["absent"]["problem"] == "not installed"
    assert figures["same"]["best_seconds"] == min(figures["same"]["seconds"])
    assert len(figures["same"]["gib"]) == 2


def test_each_run_is_prepared_afresh():
    workload = Workload("count", "", Contender("jensen", fakes.counter), (), same_numbers)
    (ours,) = race(workload, Setting(0, 1, Path()), Rules(repeats=3, round=0.0)).outcomes
    assert ours.problem is None
    assert ours.answer == 1
    assert [run.details for run in ours.runs] == [("run 2",), ("run 3",), ("run 4",)]


def test_known_clusters_are_compared():
    from benchmarks import clusters

    found = clusters.compare("wine", seeds=[0])
    ours = ["jensen", "from its clusters", "bound above"]
    assert sorted(found) == sorted([*ours, "scikit-learn", "scikit-learn, EM"])
    assert found["jensen"][0] > 0.9
    with pytest.raises(SystemExit, match="there is no set 'cancer': choose of wine, breast cancer"):
        clusters.main(["cancer"])
