"""Every learner and score on rows that come in odd blocks, one at a time: the bits of the table."""

import warnings

import numpy as np
import pytest
from models import emission_table

import jensen as jn
from jensen.data import TableScan, blocks, number_rows
from jensen.data.number_rows import NumberRows
from jensen.exceptions import DataError, JensenError
from jensen.models import binary_factors, factor_mixture, hidden_markov, mixed_rows, mixture
from jensen.q_hidden.trees import problems

SIZES = (1, 37, 1, 101, 63, 8, 89)


@pytest.fixture(autouse=True)
def small_units(monkeypatch):
    """Units so small that a table has many, none of which is a block of the source."""
    monkeypatch.setattr(blocks, "UNIT_ROWS", 64)
    monkeypatch.setattr(problems, "BLOCK_ROWS", 64)
    monkeypatch.setattr(number_rows, "SUMMED_ROWS", 64)
    monkeypatch.setattr(mixture, "UNIT_ROWS", 64)
    monkeypatch.setattr(mixed_rows, "BLOCK_ROWS", 64)
    monkeypatch.setattr(hidden_markov, "UNIT_ROWS", 64)
    monkeypatch.setattr(binary_factors, "UNIT_ROWS", 64)
    monkeypatch.setattr(factor_mixture, "UNIT_ROWS", 64)


class Source:
    """Rows of a table in blocks of odd sizes; a block is handed out once in every pass."""

    def __init__(self, table):
        self.table, self.n_passes = table, 0

    def read(self):
        self.n_passes += 1
        start, k = 0, 0
        while start < self.table.n_rows:
            stop = min(start + SIZES[k % len(SIZES)], self.table.n_rows)
            yield self.table.take(np.arange(start, stop))
            start, k = stop, k + 1

    def scan(self):
        return TableScan(self.table.variables, self.read, self.table.is_weighted)


def lazily(table):
    return Source(table).scan()


def with_holes(table, share, seed):
    """The same rows without some of their values."""
    rng = np.random.default_rng(seed)
    columns = []
    for name in table.names:
        column = table.column(name)
        data, gone = column.data.copy(), rng.random(table.n_rows) < share
        is_code = column.variable.kind == "categorical"
        data[gone] = column.variable.n_states if is_code else np.nan
        columns.append(column._replace(data=data))
    return jn.Table.from_columns(columns, table.weights)


def asia(n=400, share=0.0, weighted=False):
    table = jn.examples.load("asia").sample(n, random_state=1)
    table = with_holes(table, share, 2)
    return table.with_weights(some_weights(np.random.default_rng(3), n) if weighted else None)


def some_weights(rng, n):
    """Rows of which some do not count."""
    weights = rng.uniform(0.0, 2.0, n)
    weights[::9] = 0.0
    return weights


def numbers(n=300, share=0.0, weighted=False):
    rng = np.random.default_rng(4)
    x = rng.normal(size=n)
    y = 0.8 * x + rng.normal(size=n)
    z = y - x + rng.normal(size=n)
    table = jn.Table({"x": x, "y": y, "z": 1e3 + z, "noise": rng.normal(size=n) / 7.0})
    weights = some_weights(rng, n) if weighted else None
    return with_holes(table, share, 5).with_weights(weights)


def both(weighted=False):
    table = numbers(weighted=weighted)
    columns = {name: table.column(name).data for name in table.names}
    label = np.where(columns["x"] + columns["noise"] > 0.2, "high", "low")
    return jn.Table({**columns, "label": label}, weights=table.weights)


def flat(answer):
    """All that an answer holds, as bytes."""
    if isinstance(answer, np.ndarray):
        return answer.tobytes()
    if isinstance(answer, dict):
        return {key: flat(value) for key, value in answer.items()}
    if isinstance(answer, tuple | list):
        return [flat(value) for value in answer]
    return answer


def network(graph, **choices):
    def learn(table):
        net = jn.BayesianNetwork(graph, random_state=0, **choices).fit(table)
        found = net.network_
        parts = getattr(found, "tables", None)
        if parts is None:
            parts = [(r.intercept, dict(r.coefficients), r.variance) for r in found.regressions]
        return net.free_energy_, net.trace_, parts

    return learn


ASIA = "asia -> tub; smoke -> lung; smoke -> bronc; tub -> either; lung -> either; either -> xray"
HIDDEN = "H -> smoke; H -> lung; H -> bronc; H -> xray"
LINE = "x -> y; x -> z; y -> z; noise"


def labels(table):
    """Columns of labels, counts and numbers."""
    rng = np.random.default_rng(6)
    n = table.n_rows
    state = rng.random(n) < 0.4
    columns = {
        "label": np.where(rng.random(n) < 0.2, "a", np.where(state, "b", "c")),
        "count": rng.poisson(np.where(state, 3.0, 40.0)),
        "number": np.where(state, 1.0, -1.0) + rng.normal(size=n),
    }
    return with_holes(jn.Table(columns, counts=["count"]), 0.1, 7).with_weights(table.weights)


def mixed(n=300, share=0.2, weighted=False):
    """Labels and numbers with holes."""
    rng = np.random.default_rng(8)
    a, b = rng.integers(0, 2, n), rng.integers(0, 3, n)
    x = 2.0 * a + rng.normal(size=n)
    y = x * np.array([0.5, -1.0, 2.0])[b] + rng.normal(size=n)
    columns = {"a": np.array(["n", "y"])[a], "b": np.array(["p", "q", "r"])[b], "x": x, "y": y}
    weights = rng.uniform(0.0, 2.0, n) if weighted else None
    return with_holes(jn.Table(columns), share, 9).with_weights(weights)


PAIRS = "asia - tub - lung - smoke - bronc; lung - dysp"


def markov(graph, **choices):
    def learn(table):
        net = jn.MarkovNetwork(graph, random_state=0, tol=0.0 if choices else 1e-10, **choices)
        with warnings.catch_warnings(action="ignore"):  # of the limit of sweeps
            found = net.fit(table).network_
        return net.free_energy_, net.trace_, found.log_potentials

    return learn


def mixed_network(**choices):
    def learn(table):
        net = jn.BayesianNetwork("a -> x; b -> y; x -> y; a -> b", random_state=0, **choices)
        found = net.fit(table).network_
        return net.free_energy_, net.trace_, found.tables, found.numbers

    return learn


def states(make, **how):
    def learn(table):
        model = make.fit(table, **how)
        return model.free_energy_, model.trace_, [*model._shown().values()]

    return learn


def factors(make):
    def learn(table):
        model = make.fit(table)
        return model.free_energy_, model.trace_, *model.fitted_.point

    return learn


def dynamics(make, **how):
    def learn(table):
        model = make.fit(table, **how)
        return model.free_energy_, model.trace_, *model.fitted_.point

    return learn


LENGTHS = [70, 5, 1, 124, 60, 40]

LEARNERS = {
    "mixed network": (mixed(), mixed_network()),
    "mixed network, vbem, weights": (mixed(weighted=True), mixed_network(prior="bdeu-bge")),
    "mixed network, complete": (mixed(share=0.0), mixed_network()),
    "mixed network, gibbs": (
        mixed(),
        mixed_network(method="gibbs", n_samples=5, burn_in=2, n_chains=1),
    ),
    "score bdeu": (asia(), lambda t: jn.score(ASIA, t, "bdeu")),
    "score bic, weights": (asia(weighted=True), lambda t: jn.score(ASIA, t, "bic")),
    "score available": (
        asia(share=0.1),
        lambda t: jn.score(ASIA, t, "bic", missing="available-case"),
    ),
    "score bge": (numbers(), lambda t: jn.score(LINE, t, "bge")),
    "score bic of numbers, weights": (numbers(weighted=True), lambda t: jn.score(LINE, t, "bic")),
    "hill climbing": (asia(), lambda t: _graph(jn.learn_structure(t, score="bic"))),
    "tabu": (asia(), lambda t: _graph(jn.learn_structure(t, "tabu", score="bdeu"))),
    "ges": (asia(), lambda t: _graph(jn.learn_structure(t, "ges", score="bdeu"))),
    "exact": (asia(), lambda t: _graph(jn.learn_structure(t, "exact", score="bds"))),
    "hill climbing, numbers": (numbers(), lambda t: _graph(jn.learn_structure(t))),
    "score of labels and numbers": (
        both(weighted=True),
        lambda t: [jn.score("label -> x; x -> y", t, name) for name in (None, "bic")],
    ),
    "hill climbing, labels and numbers": (both(), lambda t: _graph(jn.learn_structure(t))),
    "interventions": (
        jn.Table({**asia().to_pandas(), "set": ["tub", None, "lung", None] * 100}),
        lambda t: jn.score("smoke -> lung -> either; tub -> either", t, interventions="set"),
    ),
    "pc": (asia(), lambda t: str(jn.learn_structure(t, "pc"))),
    "fisher z": (numbers(share=0.1), lambda t: jn.independent(t, "x", "z", given="y").p_value),
    "pc of rows with holes": (asia(share=0.1), lambda t: str(jn.learn_structure(t, "pc"))),
    "mmhc": (asia(), lambda t: _graph(jn.learn_structure(t, "mmhc"))),
    "g2": (asia(share=0.1), lambda t: jn.independent(t, "smoke", "lung").p_value),
    "g2 of weights, by permutations": (
        asia(weighted=True).with_weights(np.arange(400) % 3),
        lambda t: [
            jn.independent(t, "smoke", "lung", given=["bronc"], **how).p_value
            for how in ({}, {"permutations": 99, "random_state": 0})
        ],
    ),
    "x2": (asia(), lambda t: jn.independent(t, "lung", "tub", given="either", test="x2").p_value),
    "tests of labels and numbers": (
        both(),
        lambda t: [jn.independent(t, *ends).p_value for ends in (("x", "label"), ("y", "x"))],
    ),
    "tree": (asia(), lambda t: _graph(jn.chow_liu(t))),
    "tree of numbers": (numbers(), lambda t: str(jn.chow_liu(t))),
    "tree, bic": (both(), lambda t: str(jn.chow_liu(t, score="bic"))),
    "tree of holes": (asia(120, share=0.1), lambda t: _graph(jn.chow_liu(t))),
    "augmented tree": (asia(), lambda t: _graph(jn.tan(t, "lung"))),
    "informations": (asia(), lambda t: jn.mutual_information_matrix(t).values),
    "posterior": (
        asia().select(["smoke", "lung", "bronc", "xray"]),
        lambda t: [
            p.edge_probability("smoke", x)
            for p in [jn.structure_posterior(t, "exact")]
            for x in ("lung", "bronc")
        ],
    ),
    "tables": (asia(), network(ASIA, prior="bdeu")),
    "tables, weights": (asia(weighted=True), network(ASIA)),
    "em": (asia(share=0.2), network(ASIA, method="em", n_init=2)),
    "vbem, weights": (asia(share=0.2, weighted=True), network(ASIA, prior="bdeu")),
    "hidden": (asia(200), network(HIDDEN, hidden={"H": 2}, prior="bdeu", max_iter=100)),
    "gibbs": (
        asia(120, share=0.2),
        lambda t: (
            jn.BayesianNetwork(
                ASIA,
                method="gibbs",
                prior="bdeu",
                n_samples=20,
                burn_in=5,
                n_chains=2,
                random_state=0,
            )
            .fit(t)
            .trace_
        ),
    ),
    "mixture": (numbers(), states(jn.GaussianMixture(2, n_init=2, random_state=0, max_iter=30))),
    "mixture, gaps, weights": (
        numbers(share=0.15, weighted=True),
        states(jn.GaussianMixture(3, prior={}, random_state=0, max_iter=30)),
    ),
    "mixture, tied": (
        numbers(share=0.1),
        states(jn.GaussianMixture(2, covariance="tied", prior={}, random_state=0, max_iter=30)),
    ),
    "mixture, gibbs": (
        numbers(100, share=0.1),
        lambda t: (
            jn.GaussianMixture(
                2, method="gibbs", n_samples=10, burn_in=5, n_chains=2, random_state=0
            )
            .fit(t)
            .trace_
        ),
    ),
    "mixture, start": (
        numbers(),
        states(jn.GaussianMixture(2, start={"means": [[0, 0, 999, 0], [1, 0, 1001, 0]]})),
    ),
    "markov network": (asia(weighted=True), markov(PAIRS)),
    "markov network, gaps": (asia(share=0.2), markov(PAIRS, prior={"ridge": 1.0}, max_iter=6)),
    "markov network, hidden": (
        asia(200),
        markov(f"{PAIRS}; H - lung", hidden={"H": 2}, max_iter=6),
    ),
    "factors": (numbers(), factors(jn.FactorAnalysis(1))),
    "factors, gaps, weights": (
        numbers(share=0.15, weighted=True),
        factors(jn.FactorAnalysis(2, prior={}, random_state=0, max_iter=30)),
    ),
    "binary factors, gaps": (
        numbers(share=0.15),
        factors(jn.BinaryFactors(3, random_state=0, max_iter=10)),
    ),
    "binary factors, mean field, weights": (
        numbers(weighted=True),
        factors(jn.BinaryFactors(3, method="mean-field", random_state=0, max_iter=5)),
    ),
    "factor mixture, gaps, weights": (
        numbers(share=0.15, weighted=True),
        factors(jn.MixtureOfFactorAnalyzers(2, 1, prior={}, random_state=0, max_iter=8)),
    ),
    "latent class": (labels(asia()), states(jn.LatentClass(2, prior={}, random_state=0))),
    "trees": (asia(), states(jn.MixtureOfTrees(2, prior={}, random_state=0))),
    "trees, gaps": (
        asia(300, share=0.1),
        states(jn.MixtureOfTrees(2, random_state=0, max_iter=20)),
    ),
    "latent class, weights": (
        labels(asia(weighted=True)),
        states(jn.LatentClass(2, prior={}, random_state=0)),
    ),
    "chain of labels": (
        asia(300).select(["smoke", "lung"]),
        states(jn.HiddenMarkovModel(2, prior={}, random_state=0, max_iter=30), lengths=LENGTHS),
    ),
    "chain of numbers, gaps": (
        numbers(share=0.1),
        states(jn.HiddenMarkovModel(2, prior={}, random_state=0, max_iter=30), lengths=LENGTHS),
    ),
    "chain of numbers, weights": (
        numbers(share=0.1),
        states(
            jn.HiddenMarkovModel(2, prior={}, random_state=0, max_iter=20),
            lengths=LENGTHS,
            sequence_weight=[1.5, 2.0, 1.0, 0.25, 3.0, 1.0],
        ),
    ),
    "linear dynamics, gaps": (
        numbers(share=0.1),
        dynamics(jn.LinearDynamicalSystem(2, max_iter=10, random_state=0), lengths=LENGTHS),
    ),
    "linear dynamics, posterior, weights": (
        numbers(share=0.1),
        dynamics(
            jn.LinearDynamicalSystem(2, prior={}, max_iter=5, random_state=0),
            lengths=LENGTHS,
            sequence_weight=[1.5, 2.0, 1.0, 0.25, 3.0, 1.0],
        ),
    ),
    "regressions": (numbers(), network(LINE, prior="bge")),
    "regressions, gaps": (numbers(share=0.15), network(LINE, prior="bge")),
    "regressions, gaps, weights": (numbers(share=0.15, weighted=True), network(LINE)),
}


def _graph(dag):
    return dag.edges if hasattr(dag, "edges") else str(dag), dag.info.score


@pytest.mark.filterwarnings("ignore::jensen.exceptions.DataWarning")
@pytest.mark.filterwarnings("ignore::jensen.exceptions.EstimateWarning")
@pytest.mark.parametrize("name", LEARNERS)
def test_a_scan_gives_the_bits_of_the_table(name):
    table, learn = LEARNERS[name]
    assert flat(learn(lazily(table))) == flat(learn(table))


@pytest.mark.filterwarnings("ignore::jensen.exceptions.EstimateWarning")
def test_a_mixture_looks_at_its_rows_three_times_before_the_first_sweep():
    """The sketch, the spread about the means, and the rows that a start looks at."""
    counts = []
    for n_sweeps in (0, 3):
        source = Source(numbers(share=0.1))
        model = jn.GaussianMixture(2, prior={}, random_state=0, max_iter=n_sweeps)
        model.fit(source.scan())
        counts.append(source.n_passes)
    assert counts[1] - counts[0] == 3  # a pass for every sweep
    head, evaluated_start = 1, 1
    assert counts[0] == 3 + head + evaluated_start


PASSES = {"tables": 3, "em": 4, "hidden": 3, "regressions": 4, "regressions, gaps": 5}


@pytest.mark.filterwarnings("ignore::jensen.exceptions.EstimateWarning")
@pytest.mark.parametrize("name", PASSES)
def test_a_network_of_a_scan_shares_one_sketch(name):
    """Scans of fewer columns, and rows that all count, are not looked at again."""
    table, learn = LEARNERS[name]
    source = Source(table)
    learn(source.scan())
    assert source.n_passes == PASSES[name]


@pytest.mark.parametrize("table", [numbers(share=0.1, weighted=True), numbers().rows(0, 0)])
def test_the_sketch_of_a_scan_is_that_of_its_numbers(table, monkeypatch):
    """To the last bit, also where blocks of the source hold several of those that are summed."""
    monkeypatch.setattr(blocks, "UNIT_ROWS", 128)
    scan, rows = lazily(table), NumberRows.scanned(table, table.names)
    assert flat(scan.sketch.numbers) == flat(rows.sketch)
    assert scan.total_weight == table.total_weight
    one = scan.select(["z", "x"])
    assert flat(one.sketch.numbers) == flat(rows.columns([2, 0]).sketch)
    assert one.range_of("z") == table.range_of("z") or not table.n_rows


def test_steps_weigh_as_their_sequences():
    values, lengths = emission_table.rows_of("gaussian", 200), np.array([150, 1, 49])
    rows = NumberRows.of(values)
    for weight in (np.array([2.0, 1.0, 0.5]), np.ones(3)):
        by_row = NumberRows.of(values, np.repeat(weight, lengths))
        assert flat(rows.by_sequence(lengths, weight).sketch) == flat(by_row.sketch)


def test_blocks_of_a_scan_must_agree():
    table, other = asia(10), numbers(10)
    scan = TableScan(table.variables, lambda: iter([table, other]))
    with pytest.raises(DataError, match="block 2 of a scan has other columns, states or weights"):
        _ = scan.n_rows


def test_a_scan_without_rows():
    table = asia(10)
    scan = TableScan(table.variables, lambda: iter([]))
    assert (scan.n_rows, scan.total_weight, scan.n_missing()) == (0, 0.0, {})
    with pytest.raises(DataError, match="the table has no rows"):
        jn.score("asia -> tub", scan, "bic")


def test_columns_that_are_too_large_to_hold_are_refused():
    scan = lazily(asia(share=0.1))
    jn.set_memory_limit(1000)
    try:
        with pytest.raises(JensenError, match="holding 8 columns of 400 rows"):
            jn.chow_liu(scan)
    finally:
        jn.set_memory_limit(None)


def test_a_scan_has_one_fingerprint_however_it_is_cut():
    table = asia(share=0.1, weighted=True)
    assert lazily(table).digest() == table.digest()
    assert lazily(table.take(np.arange(399))).digest() != table.digest()


@pytest.fixture
def gathered(monkeypatch):
    """The columns that a scan was asked to hold at once, by name."""
    asked, gather = [], TableScan.gather

    def spy(self, names):
        asked.append(sorted(names))
        return gather(self, names)

    monkeypatch.setattr(TableScan, "gather", spy)
    return asked


def test_tests_of_labels_hold_no_column(gathered):
    source = Source(asia(share=0.1))
    found = jn.learn_structure(source.scan(), "pc")
    assert gathered == []
    assert source.n_passes < 40 < found.info.n_tests  # many tests in a pass
    assert jn.independent(lazily(asia()), "lung", "tub", permutations=9).n_rows == 400
    assert gathered == []


def test_tests_of_numbers_hold_the_columns_that_they_are_about(gathered):
    jn.independent(lazily(both()), "x", "label", given="y")
    assert gathered == [["label", "x", "y"]]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rows", [asia, numbers, both])
def test_informations_are_summed_over_blocks(rows, weighted, gathered):
    table = rows(weighted=weighted)
    found = jn.mutual_information_matrix(lazily(table))
    np.testing.assert_allclose(
        found.values, jn.mutual_information_matrix(table).values, rtol=1e-9, atol=1e-12
    )
    tree, lazy = jn.chow_liu(table), jn.chow_liu(lazily(table))
    assert lazy.info.score == pytest.approx(tree.info.score, rel=1e-10)
    assert gathered == []


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_informations_given_a_label_are_summed_over_blocks(smoothing, gathered):
    table = asia(weighted=True)
    found, lazy = (
        jn.mutual_information_matrix(rows, smoothing, given="smoke").values
        for rows in (table, lazily(table))
    )
    np.testing.assert_allclose(lazy, found, rtol=1e-9, atol=1e-12)
    assert gathered == []


def test_what_is_refused_of_a_table_is_refused_of_blocks():
    table = numbers()
    rows = {name: table.column(name).data for name in table.names}
    for name, value, match in (("x", 1.0, "constant"), ("y", rows["x"] * 2.0, "linear functions")):
        with pytest.raises(DataError, match=match):
            jn.chow_liu(lazily(jn.Table({**rows, name: np.zeros(300) + value}, continuous="all")))
    rows["x"][5] = np.inf
    with pytest.raises(DataError, match="column 'x' holds an infinite value in row 6"):
        jn.chow_liu(lazily(jn.Table(rows)))
    with pytest.raises(DataError, match="smoothing adds to counts, and column 'noise'"):
        jn.chow_liu(lazily(both()), smoothing=1.0)
