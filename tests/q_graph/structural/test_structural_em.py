"""Structural EM: J never falls, bounds the evidence, and ends at the best class."""

import signal
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from naive import graphs as naive_graphs
from naive import learning as naive

sys.path.insert(0, str(Path(__file__).parents[3]))

import jensen as jn
from benchmarks import four_variables
from jensen.inference import completions
from jensen.q_graph.classes.graph import are_equivalent
from jensen.q_graph.constraints import read_constraints
from jensen.q_graph.info import StructuralInfo
from jensen.q_graph.search.climbing import best_neighbours
from jensen.q_graph.structural import structural_em
from jensen.q_graph.structural.learning import make_search
from jensen.q_graph.structural.objective import Objective
from jensen.q_graph.structural.reading import StructuralChoices
from jensen.q_graph.structural.structural_em import StructuralTask
from jensen.q_graph.structural.tables import IncompleteTables

BIC, BDEU = (lambda n: Objective("bic", 0.5 * np.log(n))), (lambda n: Objective("bdeu", 1.0))


def punched(table, share, rng):
    """The same rows, every cell missing with this probability."""
    frame = table.to_pandas().astype(object)
    holes = frame.mask(rng.random(frame.shape) < share)
    return jn.Table(holes, states={x: table.variable(x).states for x in table.names})


def random_rows(rng, n_rows=60, share=0.25):
    """Rows of a random network of four or five variables, with holes; every column has a value."""
    n = int(rng.integers(4, 6))
    cards = rng.integers(2, 4, n)
    columns = {}
    for v in range(n):
        parents = [u for u in range(v) if rng.random() < 0.6]
        shape = (*(cards[u] for u in parents), cards[v])
        tables = rng.dirichlet(0.5 * np.ones(cards[v]), shape[:-1])
        at = tuple(columns[f"x{u}"] for u in parents)
        p = tables[at] if parents else np.broadcast_to(tables, (n_rows, cards[v]))
        draws = (rng.random(n_rows)[:, None] > p.cumsum(1)[:, :-1]).sum(1)
        columns[f"x{v}"] = draws
    states = {f"x{v}": list(range(cards[v])) for v in range(n)}
    return punched(jn.Table(columns, states=states), share, rng)


def task_of(table, objective, completion="exact"):
    names = tuple(sorted(table.names))
    rows = IncompleteTables.of(table, tuple(table.variable(x) for x in names))
    search = make_search(StructuralChoices("hill-climb"), names)
    return StructuralTask(
        rows, objective, read_constraints(names), search, completion, lambda value: False
    )


def random_graph(n, rng):
    order = rng.permutation(n)
    joined = np.zeros((n, n), bool)
    for i, j in combinations(range(n), 2):
        joined[order[i], order[j]] = rng.random() < 0.5
    return joined


@pytest.mark.parametrize("make", [BIC, BDEU], ids=["bic", "bdeu"])
def test_j_never_falls(make, monkeypatch):
    """From random graphs and random tables, through sweeps and changes of the graph alike."""
    monkeypatch.setattr(completions, "LEAST", 0.0)  # so that a fall raises
    n_changed = 0
    for seed in range(100):
        rng = np.random.default_rng([seed, 1])
        table = random_rows(rng)
        task = task_of(table, make(table.n_rows))
        joined = random_graph(len(table.names), rng)
        found = task.climb_one(task.objective, joined, rng, rng, "exact")
        rises = np.diff(found.trace)
        assert rises.min() >= -1e-9 * (abs(found.best.value) + table.n_rows)
        assert found.n_refused == 0
        assert found.is_exact
        n_changed += not are_equivalent(found.best.joined, joined)
    assert n_changed >= 75


def entropy(found):
    """H[q(h)] of all rows, from the lists of their sub-problems."""
    total = 0.0
    for group in found.groups:
        lists = group.lists
        each = [-np.sum(mass * np.log(mass)) for mass in np.split(lists.mass, lists.list_at[1:-1])]
        for r, end in enumerate(group.rows.row_end):
            begin = group.rows.row_end[r - 1] if r else 0
            total += group.rows.weights[r] * sum(each[k] for k in group.rows.of_row[begin:end])
    return total


@pytest.mark.parametrize("seed", range(4))
def test_j_bounds_the_evidence_of_every_graph_for_any_completion(seed, monkeypatch):
    """q(h) of one graph, held fixed, bounds log p(x | G) of all others."""
    monkeypatch.setattr(completions, "LEAST", 0.0)
    rng = np.random.default_rng([seed, 2])
    codes = rng.integers(0, 2, (5, 3)).astype(object)
    codes[rng.random((5, 3)) < 0.35] = None
    codes[0] = [0, 1, 0]
    table = jn.Table(
        {f"x{v}": codes[:, v] for v in range(3)}, states={f"x{v}": [0, 1] for v in range(3)}
    )
    task = task_of(table, Objective("bdeu", 1.0))
    fitted = task.rows.fit(task.objective, random_graph(3, rng), rng, max_iter=2, tol=0.0)
    found = task.rows.complete(fitted, "exact", rng)
    scorer = task.rows.scorer(task.objective, found)
    rows = [[-1 if x is None else int(x) for x in row] for row in codes]
    gaps = []
    for edges in naive_graphs.all_dags((0, 1, 2)):
        parents = [sorted(a for a, b in edges if b == v) for v in range(3)]
        bound = sum(scorer.family(v, up) for v, up in enumerate(parents)) + entropy(found)
        families = [(*up, v) for v, up in enumerate(parents)]
        alphas = [np.full((2,) * len(family), 1.0 / 2 ** len(family)) for family in families]
        gaps.append(naive.log_evidence(families, [2, 2, 2], alphas, rows) - bound)
    assert len(gaps) == 25
    assert min(gaps) > -1e-9


@pytest.mark.parametrize("seed", range(3))
def test_friedmans_score_bounds_the_evidence_from_further_below(seed):
    """q(h) at the mode of θ: the score of Cheeseman and Stutz, of every graph of three."""
    rng = np.random.default_rng([seed, 5])
    codes = rng.integers(0, 2, (5, 3)).astype(object)
    codes[rng.random((5, 3)) < 0.35] = None
    codes[0] = [0, 1, 0]
    states = {f"x{v}": [0, 1] for v in range(3)}
    table = jn.Table({f"x{v}": codes[:, v] for v in range(3)}, states=states)
    rows = [[-1 if x is None else int(x) for x in row] for row in codes]
    task, how = task_of(table, Objective("bdeu", 1.0)), {"max_iter": 300, "tol": 1e-12}
    for edges in naive_graphs.all_dags((0, 1, 2)):
        joined = np.zeros((3, 3), bool)
        for a, b in edges:
            joined[a, b] = True
        at_map = task.rows.fit(task.objective._replace(at_map=True), joined, rng, **how)
        start = task.rows.smoothed(at_map) - 1.0 / np.diff(at_map.model.wiring.fam_at).repeat(
            np.diff(at_map.model.wiring.fam_at)
        )
        by_vb = task.rows.fit(task.objective, joined, start, **how)
        families = [(*np.flatnonzero(joined[:, v]).tolist(), v) for v in range(3)]
        alphas = [np.full((2,) * len(family), 1.0 / 2 ** len(family)) for family in families]
        exact = naive.log_evidence(families, [2, 2, 2], alphas, rows)
        assert at_map.value <= by_vb.value + 1e-6
        assert by_vb.value <= exact + 1e-9


def test_the_score_of_a_fit_is_the_objective_of_its_graph():
    """With nothing left to search, J is F of the estimator less the penalty.

    The bound of a fit is higher: cells below which nothing was seen are left out of h, where the
    search needs them.
    """
    table = random_rows(np.random.default_rng(3))
    for score, prior in (("bic", None), ("bdeu", "bdeu")):
        dag = jn.learn_structure(table, score=score, random_state=0)
        net = jn.BayesianNetwork(
            dag, prior=prior, n_init=8, tol=1e-12, max_iter=5000, random_state=0
        )
        expected = net.fit(table).free_energy_
        if score == "bic":
            sizes = {x: table.variable(x).n_states for x in table.names}
            n = sum((sizes[x] - 1) * np.prod([sizes[p] for p in dag.parents(x)]) for x in dag.nodes)
            expected -= 0.5 * np.log(table.n_rows) * n
        if score == "bic":
            assert dag.info.score == pytest.approx(expected, abs=0.05)
        else:
            assert -1e-6 < expected - dag.info.score < 2.0
        assert dag.info.is_bound == (score == "bdeu")


def test_three_variables_end_at_the_class_of_largest_j():
    """Of all eleven classes, each fitted from several starts."""
    n_best = 0
    for seed in range(20):
        rng = np.random.default_rng([seed, 4])
        table = random_rows(rng, n_rows=40)
        table = table.select(sorted(table.names)[:3])
        found = jn.learn_structure(table, random_state=0)
        task = task_of(table, Objective("bdeu", 1.0))
        best = -np.inf
        for edges in naive_graphs.all_dags((0, 1, 2)):
            joined = np.zeros((3, 3), bool)
            for a, b in edges:
                joined[a, b] = True
            for _ in range(3):
                fit = task.rows.fit(task.objective, joined, rng, max_iter=300, tol=1e-9)
                best = max(best, fit.value)
        n_best += found.info.score > best - 1e-4
    assert n_best >= 19


@pytest.mark.parametrize("method", ["hill-climb", "tabu", "ges", "exact"])
@pytest.mark.parametrize("numbers", [False, True], ids=["labels", "numbers"])
def test_complete_rows_are_learned_as_ever(method, numbers):
    """Bit for bit what is learned where missing values would be refused."""
    table = jn.examples.load("asia").sample(500, random_state=0)
    if numbers:
        x = np.random.default_rng(0).normal(size=(200, 4)) @ np.triu(np.ones((4, 4)))
        table = jn.Table({f"x{k}": column for k, column in enumerate(x.T)})
    one, other = (jn.learn_structure(table, method, **how) for how in ({}, {"missing": "refuse"}))
    assert one == other
    assert one.info.score == other.info.score
    assert np.array_equal(one.info.trace, other.info.trace)
    assert not isinstance(one.info, StructuralInfo)


def test_other_learners_of_complete_rows():
    table = jn.examples.load("asia").sample(300, random_state=0).select(["bronc", "dysp", "smoke"])
    best, other = (jn.k_best(table, k=4, **how) for how in ({}, {"missing": "refuse"}))
    assert np.array_equal(best.scores, other.scores)
    edges, others = (
        jn.bootstrap_edges(table, 5, random_state=0, **how) for how in ({}, {"missing": "refuse"})
    )
    assert edges.averaged() == others.averaged()
    assert edges.strength("bronc", "dysp") == others.strength("bronc", "dysp")
    for dag in (jn.learn_structure(table, "mmhc"), jn.chow_liu(table)):
        assert not isinstance(dag.info, StructuralInfo)


def test_an_interrupt_leaves_the_best_graph_so_far(asia, monkeypatch):
    def interrupted(task, make=structural_em.start_graphs):
        signal.raise_signal(signal.SIGINT)
        return make(task)

    monkeypatch.setattr(structural_em, "start_graphs", interrupted)
    dag = jn.learn_structure(asia, score="bic", random_state=0)
    assert dag.info.interrupted
    assert list(dag.info.starts) == ["tree"]
    assert np.isfinite(dag.info.score)


@pytest.fixture(scope="module")
def asia():
    """Rows of asia with a fifth of the cells missing."""
    table = jn.examples.load("asia").sample(1500, random_state=0)
    return punched(table, 0.2, np.random.default_rng(0))


def test_what_the_answer_says(asia):
    dag = jn.learn_structure(asia, score="bic", random_state=0)
    info = dag.info
    assert isinstance(dag, jn.DAG)
    assert (info.method, info.score_name, info.completion) == ("hill-climb", "bic", "exact")
    assert info.ascends
    assert not info.is_bound
    assert not info.proven
    assert not info.interrupted
    assert info.statistics in ("exact", "drawn to search, exact to decide")
    assert set(info.starts) >= {"tree", "empty", "node-average", "draws", "restart 1"}
    assert max(info.starts.values()) <= info.score + 1e-6
    assert info.trace[-1] == info.score
    assert info.n_scored > 100
    assert dag.shd(jn.examples.load("asia").graph) <= 4


def test_rows_and_columns_in_any_order_give_the_same(asia):
    frame = asia.to_pandas()
    states = {x: asia.variable(x).states for x in asia.names}
    one = jn.learn_structure(asia, random_state=3)
    turned = jn.Table(frame[sorted(asia.names, reverse=True)], states=states)
    other = jn.learn_structure(turned, random_state=3)
    assert one == other
    assert one.info.score == other.info.score


def test_threads_change_nothing(asia, monkeypatch):
    monkeypatch.setattr(completions, "ROWS", 200)
    found = []
    for n in (1, 3):
        jn.set_threads(n)
        found.append(jn.learn_structure(asia, random_state=1, score="bic"))
    assert found[0] == found[1]
    assert found[0].info.score == found[1].info.score


def test_weights_are_numbers_of_rows(asia):
    few = asia.rows(0, 300)
    weights = np.arange(300) % 3
    repeated = few.take(np.repeat(np.arange(300), weights))
    one = jn.learn_structure(few.with_weights(weights), score="bic", random_state=0)
    other = jn.learn_structure(repeated, score="bic", random_state=0)
    assert one.info.score == pytest.approx(other.info.score, abs=0.5)
    assert jn.learn_structure(few, score="bic", random_state=0, start=one).info.starts.keys() >= {
        "start"
    }


@pytest.mark.parametrize("method", ["hill-climb", "tabu", "ges", "exact"])
def test_every_search_inside(asia, method):
    graph = jn.learn_structure(asia, method, "bic", random_state=0)
    assert isinstance(graph, jn.CPDAG if method == "ges" else jn.DAG)
    assert graph.info.score == pytest.approx(-2750.0, abs=600)
    best = jn.learn_structure(asia, score="bic", random_state=0).info.score
    assert graph.info.score >= best - 3.0


def test_constraints_and_priors(asia):
    dag = jn.learn_structure(
        asia, score="bic", random_state=0, required=[("asia", "tub")], forbidden="either -> xray",
        tiers=[["smoke", "asia"], ["lung"]], max_parents=2, prior={("bronc", "dysp"): 1.0},
    )  # fmt: skip
    assert ("asia", "tub") in dag.edges
    assert ("bronc", "dysp") in dag.edges
    assert ("either", "xray") not in dag.edges
    assert ("lung", "smoke") not in dag.edges
    assert max(len(dag.parents(x)) for x in dag.nodes) <= 2


def test_draws_and_modes_are_no_ascents(asia):
    exact = jn.learn_structure(asia, score="bic", random_state=0).info.score
    for completion in ("draw", "mode"):
        info = jn.learn_structure(asia, score="bic", completion=completion, random_state=0).info
        assert not info.ascends
        assert info.completion == completion
        how = {"draw": "drawn", "mode": "completed at modes"}[completion]
        assert info.statistics == f"{how} to search, exact to decide"
        assert info.score <= exact + 1e-6


def test_bayesian_structural_em_at_the_mode(asia):
    exact = jn.learn_structure(asia, random_state=0).info
    found = jn.learn_structure(asia, completion="map", random_state=0).info
    assert (found.ascends, found.is_bound) == (False, True)
    assert exact.score - 3.0 < found.score <= exact.score + 1e-6
    with pytest.raises(jn.JensenError, match="so it needs a score with a prior of the parameters"):
        jn.learn_structure(asia, completion="map", score="bic")


class KilledError(Exception):
    """Stands for a killed process."""


@pytest.mark.parametrize("numbers", [False, True], ids=["labels", "numbers"])
@pytest.mark.parametrize("seed", [0, None])
def test_a_killed_run_resumes_to_the_same_bits(asia, numbers, seed, tmp_path, monkeypatch):
    """Climbs that were finished are read from the file, whatever the seed."""
    table, path = asia, tmp_path / "run"
    if numbers:
        rng = np.random.default_rng(0)
        x = rng.normal(size=(200, 4)) @ rng.normal(size=(4, 4))
        x[rng.random(x.shape) < 0.2] = np.nan
        table = jn.Table({f"x{k}": column for k, column in enumerate(x.T)})
    choices = {"random_state": seed, "checkpoint": path, "restarts": 1}
    for n_climbs in (2, 3, 1):
        with monkeypatch.context() as patch:
            left = [n_climbs]

            def make(task, name, make, kept=structural_em._kept, left=left):
                left[0] -= 1
                if left[0] < 0:
                    raise KilledError
                return kept(task, name, make)

            patch.setattr(structural_em, "_kept", make)
            with pytest.raises(KilledError):
                jn.learn_structure(table, **choices)
    resumed = jn.learn_structure(table, **choices)
    again = jn.learn_structure(table, **choices)  # finished: nothing is climbed
    runs = [resumed, again]
    if seed is not None:
        runs.append(jn.learn_structure(table, **{**choices, "checkpoint": None}))
    for run in runs:
        assert run == resumed
        assert run.info.score == resumed.info.score
        assert run.info.starts == resumed.info.starts
    with pytest.raises(jn.FileError, match="it belongs to another run"):
        jn.learn_structure(table, **{**choices, "restarts": 2})


@pytest.mark.parametrize("kind", ["labels", "numbers", "both"])
def test_a_run_over_more_rows_resumes_after_every_climb(kind, tmp_path, monkeypatch):
    """A sample chooses the graph; the climb over all rows, and the last fit, are kept as well."""
    monkeypatch.setattr(structural_em, "MANY_ROWS", 100)
    monkeypatch.setattr(structural_em, "MOST_RESTARTS", 1)
    rng = np.random.default_rng(1)
    x = rng.normal(size=(150, 3)) @ rng.normal(size=(3, 3))
    x[rng.random(x.shape) < 0.2] = np.nan
    labels = [[None if np.isnan(value) else str(value > 0) for value in column] for column in x.T]
    columns = {
        "labels": labels, "numbers": list(x.T), "both": [*labels[:2], x[:, 2]],
    }[kind]  # fmt: skip
    table = jn.Table(dict(zip("abc", columns, strict=True)))
    plain = jn.learn_structure(table, random_state=0)
    choices = {"random_state": 0, "checkpoint": tmp_path / "run"}
    made: list[str] = []

    def kept(task, name, make, kept=structural_em._kept):
        def told():
            if len(made) % 2:
                made.append("")
                raise KilledError
            made.append(name)
            return make()

        return kept(task, name, told)

    monkeypatch.setattr(structural_em, "_kept", kept)
    while True:
        try:
            found = jn.learn_structure(table, **choices)
        except KilledError:
            continue
        break
    names = [name for name in made if name]
    assert names[-2:] == ["all rows", "finished"]
    assert len(names) == len(set(names))  # nothing was made twice
    assert (found, found.info.score) == (plain, plain.info.score)
    assert found.info.starts == plain.info.starts


@pytest.mark.parametrize(
    "changed",
    [
        {"required": (pair for pair in [("tub", "asia")])},
        {"start": jn.DAG([("asia", "tub")], jn.examples.load("asia").graph.nodes)},
        {"prior": {("asia", "tub"): 0.9}},
        {"equivalent_sample_size": 2.0},
    ],
    ids=["required", "start", "prior", "sample size"],
)
def test_a_checkpoint_of_other_choices_is_refused(asia, changed, tmp_path):
    few, path = asia.rows(0, 60), tmp_path / "run"
    choices = {"required": (pair for pair in [("asia", "tub")]), "checkpoint": path}
    jn.learn_structure(few, random_state=0, **choices)
    choices["required"] = [("asia", "tub")]
    jn.learn_structure(few, random_state=0, **choices)
    with pytest.raises(jn.FileError, match="it belongs to another run"):
        jn.learn_structure(few, random_state=0, **{**choices, **changed})


def test_a_checkpoint_of_complete_rows_is_refused(tmp_path):
    table = jn.examples.load("asia").sample(100, random_state=0)
    with pytest.raises(jn.JensenError, match=r"^checkpoint= keeps the climbs of structural EM"):
        jn.learn_structure(table, checkpoint=tmp_path / "run")


def test_interventions():
    """Rows in which an effect was set leave its cause alone, so the direction is found."""
    rng = np.random.default_rng(0)
    n = 600
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.9, a, 1 - a)
    was_set = np.full(n, None, object)
    was_set[:300] = "b"
    b[:300] = rng.integers(0, 2, 300)
    holes = {"a": a.astype(object), "b": b.astype(object)}
    holes["a"][rng.random(n) < 0.2] = None
    table = jn.Table(holes)
    dag = jn.learn_structure(table, interventions=was_set, random_state=0)
    assert dag.edges == (("a", "b"),)


def test_a_hidden_cause_of_many_effects():
    """Six labels that are independent given a hidden one: it is their only parent."""
    rng = np.random.default_rng(1)
    h = rng.integers(0, 2, 1500)
    columns = {f"x{k}": (rng.random(1500) < np.where(h, 0.85, 0.15)).astype(int) for k in range(6)}
    table = jn.Table(columns)
    dag = jn.learn_structure(table, hidden={"H": 2}, random_state=0)
    assert (
        set(dag.cpdag().skeleton().edges) == {frozenset(("H", x)) for x in columns}
        or len(dag.edges) == 6
    )
    without = jn.learn_structure(table, random_state=0)
    assert dag.info.score > without.info.score + 20


def test_a_hidden_variable_of_which_the_rows_say_nothing_stays_alone():
    """Its states cost the bound a little, log p(x) itself nothing."""
    rng = np.random.default_rng(3)
    a = rng.integers(0, 2, 400)
    columns = {"a": a, "b": np.where(rng.random(400) < 0.9, a, 1 - a), "c": rng.integers(0, 2, 400)}
    without = jn.learn_structure(columns, score="bdeu")
    found = jn.learn_structure(columns, score="bdeu", hidden={"H": 2}, random_state=0)
    assert without.info.score - 5.0 < found.info.score < without.info.score
    assert "nothing hidden" in found.info.starts
    assert not {*found.parents("H"), *found.children("H")}


def test_indicators_of_missing_values_come_last():
    rng = np.random.default_rng(2)
    n = 1500
    smoke = rng.integers(0, 2, n)
    ill = (rng.random(n) < np.where(smoke, 0.6, 0.2)).astype(int)
    told = np.where(rng.random(n) < np.where(smoke, 0.6, 0.05), None, ill)  # smokers do not tell
    dag = jn.learn_structure({"smoke": smoke, "ill": told}, missing_indicators=True, random_state=0)
    assert ("smoke", "ill missing") in dag.edges
    assert not dag.children("ill missing")


def test_node_average_graphs(asia):
    dag = jn.learn_structure(asia, missing="node-average")
    assert dag.info.score_name == "node-average"
    assert dag.shd(jn.examples.load("asia").graph) <= 8


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"score": "fnml"}, "needs complete rows: where values are missing or hidden choose"),
        ({"score": "bds"}, "needs complete rows"),
        ({"completion": "exactly"}, "completion must be 'exact', 'map', 'draw' or 'mode'"),
        (
            {"missing": "drop"},
            "missing must be 'structural-em', 'refuse', 'available-case' or 'node",
        ),
        ({"hidden": {"asia": 2}}, "'asia' is declared hidden, but is a column"),
        ({"hidden": {"H": 1}}, "needs two states at least"),
        ({"missing": "node-average", "score": "bdeu"}, "leave out score='bdeu'"),
        ({"missing": "refuse"}, "needs complete data, but 2,436 values are missing"),
        ({"score": "bic", "equivalent_sample_size": 2.0}, "has no equivalent_sample_size"),
    ],
)
def test_refusals(asia, choices, words):
    with pytest.raises(jn.JensenError, match=words):
        jn.learn_structure(asia, **choices)


def test_four_variables_end_at_the_class_of_largest_j():
    """Of all 185 classes, VB written from its definition; the script looks at 200 data sets."""
    verdicts = [four_variables.judge(seed, n_starts=3) for seed in range(8)]
    assert sum(one.is_found for one in verdicts) >= 7
    assert sum(one.is_most_probable for one in verdicts) >= 4
    assert min(one.shortfall for one in verdicts) > -1e-4  # no J is above the largest


def test_the_bounds_of_the_script_are_those_of_the_learner():
    rows, rng = four_variables.draw_rows(0, 20), np.random.default_rng(0)
    task = task_of(rows.table(), Objective("bdeu", 1.0))
    exact = four_variables.exact_evidence(rows)
    for k in range(0, 185, 23):
        joined = np.zeros((4, 4), bool)
        for v, up in enumerate(four_variables.classes()[k]):
            joined[list(up), v] = True
        fits = [task.rows.fit(task.objective, joined, rng, max_iter=500, tol=1e-11) for _ in "abc"]
        found = four_variables.bounds(rows, four_variables.classes()[k], 40, rng)
        assert max(fit.value for fit in fits) <= max(found) + 1e-6  # the best of 40 random q(h)
        assert max(found) < exact[k]


def test_neighbours_come_by_their_scores():
    table = random_rows(np.random.default_rng(5), share=0.0)
    scorer = task_of(table, Objective("bdeu", 1.0)).rows.average_scorer(1.0)
    n = len(table.names)
    rules, joined = read_constraints(tuple(sorted(table.names))), np.zeros((n, n), bool)
    joined[0, 1] = True
    near = list(best_neighbours(scorer, joined, rules, 100))
    assert len({one.tobytes() for one in near}) == len(near)
    assert all(np.sum(one != joined) <= 2 and not are_equivalent(one, joined) for one in near)
    totals = [
        sum(scorer.family(v, np.flatnonzero(one[:, v]).tolist()) for v in range(n)) for one in near
    ]
    assert np.all(np.diff(totals) <= 1e-6)
    assert not list(best_neighbours(scorer, joined, rules, 0))
