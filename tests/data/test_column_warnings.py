"""Columns that name rows (identifiers, dates, free text, row numbers) are told by every learner."""

import numpy as np
import pandas as pd
import pytest

import jensen as jn
from jensen.data.column_warnings import DATE, what_names_rows

pytestmark = pytest.mark.filterwarnings("ignore::jensen.exceptions.EstimateWarning")

N = 60
RNG = np.random.default_rng(0)
LABELS = {"a": RNG.choice(["x", "y"], N).tolist(), "b": RNG.choice(["x", "y"], N).tolist()}
NAMED = {**LABELS, "id": [f"A{k}" for k in range(N)]}

LEARNERS = {
    "hill-climb": jn.learn_structure,
    "ges": lambda table: jn.learn_structure(table, "ges"),
    "pc": lambda table: jn.learn_structure(table, "pc", max_given=0),
    "mmhc": lambda table: jn.learn_structure(table, "mmhc"),
    "tree": jn.chow_liu,
    "tan": lambda table: jn.tan(table, "a"),
    "posterior": lambda table: jn.structure_posterior(table, "exact"),
    "bootstrap": lambda table: jn.bootstrap_edges(table, 3, random_state=0),
    "cross validation": lambda table: jn.cross_validate(table, folds=3, random_state=0),
    "k best": lambda table: jn.k_best(table, 2),
    "network without a graph": lambda table: jn.BayesianNetwork().fit(table),
    "network": lambda table: jn.BayesianNetwork("a -> b; id").fit(table),
    "latent class": lambda table: jn.LatentClass(2, max_iter=2, random_state=0).fit(table),
    "hmm": lambda table: jn.HiddenMarkovModel(2, max_iter=2, random_state=0).fit(table),
}


def told(learn, table):
    """What a learner says of columns that name rows."""
    with pytest.warns(jn.DataWarning) as met:
        learn(table)
    return [str(w.message) for w in met if issubclass(w.category, jn.DataWarning)]


WAYS = {
    "network": "Leave it out of the graph",
    **dict.fromkeys(
        ["latent class", "hmm"],
        "Leave it out, table.select([x for x in table.names if x not in ['id']]) of a jn.Table",
    ),
}
LEFT_OUT = "It is left out of the graph: keep it by jn.Table(..., categorical=['id'])"


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_tells_once(name):
    table, learn = jn.Table(NAMED), LEARNERS[name]
    way = WAYS.get(name, LEFT_OUT)
    assert told(learn, table) == [
        f"'id' holds labels that hardly ever come back ({N} labels in {N} rows, such as 'A0'): "
        f"what names rows tells nothing of other rows. {way}, or make of it what comes back, as "
        f"the month of a date does"
    ]
    learn(table)  # not again


def test_a_graph_and_its_parameters_are_told_of_once():
    table = jn.Table(NAMED)
    assert len(told(lambda t: jn.BayesianNetwork(jn.learn_structure(t)).fit(t), table)) == 1
    jn.learn_structure(table.select([x for x in table.names if x not in ["id"]]))
    jn.learn_structure(table.take(np.arange(40)))


def test_whole_numbers_that_count_the_rows_are_told():
    with pytest.warns(jn.DataWarning, match=r"^'n' counts the rows \(0, 1, 2, ...\)"):
        jn.learn_structure({**LABELS, "n": list(range(N))})


def test_a_column_that_the_caller_declares_is_not_told():
    jn.learn_structure(jn.Table(NAMED, categorical=["id"]))
    jn.learn_structure(jn.Table(NAMED, states={"id": NAMED["id"]}))


def test_other_columns_of_a_network_are_not_looked_at():
    jn.BayesianNetwork("a -> b").fit(NAMED)


DAYS = pd.date_range("2024-01-31", periods=N, freq="37h")


@pytest.mark.parametrize(
    "form",
    [
        *("%Y-%m-%d", "%d.%m.%Y %H:%M", "%Y-%m-%dT%H:%M:%SZ", "%m/%d/%y", "%d %b %Y", "%B %d, %Y"),
        *("%d/%m/%Y %I:%M %p", "%H:%M:%S", "%Y-%m-%d %H:%M:%S.%f+01:00"),
    ],
)
def test_dates_and_times_are_told(form):
    texts = list(DAYS.strftime(form))
    assert all(map(DATE.fullmatch, texts))
    rows = {"when": texts * 5, "a": LABELS["a"] * 5}
    (text,) = told(jn.learn_structure, rows)
    n = len(set(texts))
    assert f"'when' holds dates or times ({n} labels in 300 rows, such as {texts[0]!r})" in text


def test_dates_of_a_dataframe_are_told():
    frame = pd.DataFrame({"when": DAYS, **LABELS})
    (text,) = told(LEARNERS["latent class"], frame)
    assert f"'when' holds dates or times ({N} labels in {N} rows, such as '2024-01-31')" in text


@pytest.mark.parametrize("label", ["1.5", "12", "A-12", "2024", "10.5.2", "12:5", "ab 12, x"])
def test_what_is_no_date(label):
    assert DATE.fullmatch(label) is None


@pytest.mark.parametrize("name", ["latent class", "hmm", "mixture"])
@pytest.mark.parametrize("given", ["frame", "file"])
def test_an_index_that_a_dataframe_wrote_is_told(tmp_path, name, given):
    mixture = jn.GaussianMixture(2, max_iter=2, prior={}, random_state=0).fit
    learn = {**LEARNERS, "mixture": mixture}[name]
    pd.DataFrame({"x": RNG.normal(size=N)}).to_csv(tmp_path / "t.csv")
    data = pd.read_csv(tmp_path / "t.csv") if given == "frame" else str(tmp_path / "t.csv")
    (text,) = told(learn, data)
    column = "Unnamed: 0" if given == "frame" else "column 1"
    assert text.startswith(f"{column!r} counts the rows (0, 1, 2, ...): what names rows tells")


@pytest.mark.parametrize(
    ("values", "choices"),
    [
        ([f"s{k % 30}" for k in range(N)], {}),  # every label is there twice
        ([f"s{k}" for k in range(20)], {}),  # few rows tell little
        ([f"2024-{k % 12 + 1:02d}" for k in range(N)], {}),
        (list(range(N)), {"continuous": ["v"]}),  # the caller's word
        ([*range(N - 1), N + 1], {}),
        (RNG.permutation(N).tolist(), {}),
        ([f"s{k}" for k in range(30)], {"weights": np.full(30, 2.0)}),
        ([None] * 30, {}),
    ],
)
def test_columns_that_name_no_rows(values, choices):
    table = jn.Table({"v": values}, **choices)
    assert what_names_rows(table.column("v"), table.weights) is None


def test_states_that_never_occur_are_no_names():
    table = jn.Table({"v": ["a", "b"] * 30}, states={"v": ["a", "b", *map(str, range(90))]})
    assert what_names_rows(table.column("v")) is None


TAKEN = (
    "the whole numbers of 'n' are taken for labels, and there are many for so few rows: say "
    "jn.Table(..., continuous=['n']) if they measure something, or jn.Table(..., "
    "categorical=['n']) if they are labels"
)


@pytest.mark.parametrize("name", ["hill-climb", "pc", "tree", "posterior", "bootstrap", "k best"])
def test_whole_numbers_that_hardly_come_back_are_told_once(name):
    table = jn.Table({"n": [*range(10)] * 2, "a": LABELS["a"][:20]})
    assert told(LEARNERS[name], table) == [TAKEN]
    LEARNERS[name](table)
    LEARNERS[name](jn.Table({"n": [*range(10)] * 2, "a": LABELS["a"][:20]}, categorical=["n"]))


@pytest.mark.parametrize(
    "values", [[*range(10)] * 6, [*range(5)] * 4, [f"s{k}" for k in range(10)] * 2]
)
def test_other_labels_are_not_told(values):
    jn.learn_structure({"n": values, "a": (LABELS["a"] * 2)[: len(values)]})
