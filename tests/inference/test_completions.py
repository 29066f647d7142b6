"""Missing cells filled in, against every completion written out."""

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from inference import cases
from inference.cases import holes, read
from naive import joint
from scipy import stats

import jensen as jn
from jensen.exceptions import DataError, ImpossibleError, JensenError

pytestmark = pytest.mark.filterwarnings("ignore:the table has no column")
"""Columns are left out here on purpose."""

AS_LISTS = {pandas.DataFrame: {"orient": "list"}, polars.DataFrame: {"as_series": False}}
P_VALUE = 1e-3
RTOL = 1e-11
NETS = [
    (seed, kind)
    for kind in ("positive", "with zeros", "deterministic", "mixed")
    for seed in range(2)
]


def kept(table, filled):
    """Known cells are as they were, and no others are missing."""
    for x in table:
        assert None not in filled[x]
        assert all(b == a for a, b in zip(table[x], filled[x], strict=True) if a is not None)


def columns(table):
    rows = cases.as_rows(table)
    return {x: [row[x] for row in rows] for x in rows[0]}


@pytest.mark.parametrize(("seed", "kind"), NETS)
def test_the_best_joint_completion_of_every_row(seed, kind):
    net = cases.random_net(seed, kind, configurations=300)
    twin, table = joint.exact(joint.of(net)), holes(net, 30, seed, share=0.6)
    filled = columns(net.impute(jn.Table(table)))
    kept(table, filled)
    for i, row in enumerate(read(net, table)):
        best = joint.best(twin, row)[0][1]
        found = joint.probability(twin, {x: filled[x][i] for x in filled})
        assert float(found / best) == pytest.approx(1.0, rel=RTOL)


def test_variables_without_a_column_are_completed_too_if_they_are_causes():
    """The best states of the columns and of the hidden causes of them, taken together."""
    net = cases.random_net(7, "positive", configurations=300)
    rng = np.random.default_rng(0)
    for _ in range(4):
        names = rng.permutation(list(net.states))[:3].tolist()
        causes = {x for name in names for x in net.graph.ancestors(name)} | set(names)
        table = holes(net, 15, 1, share=0.5, columns=names)
        filled = columns(net.impute(jn.Table(table)))
        kept(table, filled)
        for i, row in enumerate(read(net, table)):
            completions = joint.posterior(joint.of(net), sorted(causes), row)
            top = max(completions.values())
            here = [
                p
                for states, p in completions.items()
                if all(
                    dict(zip(sorted(causes), states, strict=True))[x] == filled[x][i] for x in names
                )
            ]
            assert max(here) == pytest.approx(top, rel=RTOL)


@pytest.mark.parametrize(("seed", "kind"), NETS)
def test_the_most_probable_state_of_every_cell(seed, kind):
    net = cases.random_net(seed, kind, configurations=300)
    twin = joint.exact(joint.of(net))
    for names in (None, list(net.states)[:3]):
        table = holes(net, 20, seed, share=0.6, columns=names)
        filled = columns(net.impute(jn.Table(table), "marginal"))
        kept(table, filled)
        for i, row in enumerate(read(net, table)):
            for x in table:
                if x not in row:
                    p = joint.posterior(twin, [x], row)
                    assert p[filled[x][i],] == pytest.approx(max(p.values()), rel=RTOL)


def test_jointly_best_is_not_best_for_each():
    """P(a, b) = .4, 0, .3, .3: together (0, 0), but a alone is 1."""
    tables = {"a": [0.4, 0.6], "b": [[1.0, 0.0], [0.5, 0.5]]}
    net = jn.BayesianNetwork.from_tables("a -> b", tables)
    table = jn.Table({"a": [None, 0], "b": [None, 0]})
    together, alone = (columns(net.impute(table, method)) for method in ("mode", "marginal"))
    assert (together["a"][0], together["b"][0]) == ("0", "0")
    assert (alone["a"][0], alone["b"][0]) == ("1", "0")


@pytest.mark.parametrize("kind", ["positive", "with zeros", "mixed"])
def test_draws_have_the_joint_distribution(kind):
    """One row, many times: chi-square over its completions."""
    net = cases.random_net(4, kind, configurations=300)
    row = read(net, holes(net, 1, 3, share=0.5))[0]
    n, missing = 6_000, [x for x in net.states if x not in row]
    table = jn.Table({x: [row.get(x)] * n for x in net.states})
    filled = columns(net.impute(table, "draw", random_state=0))
    expected = joint.posterior(joint.of(net), missing, row)
    keys = [key for key, p in expected.items() if p * n >= 5]
    drawn = list(zip(*(filled[x] for x in missing), strict=True))
    assert all(expected[key] > 0 for key in set(drawn))
    counts = [drawn.count(key) for key in keys]
    share = [expected[key] * n for key in keys]
    counts, share = [*counts, n - sum(counts)], [*share, n - sum(share)]
    if share[-1] < 1e-9:
        assert counts.pop() == 0
        share.pop()
    if len(share) > 1:
        assert stats.chisquare(counts, np.array(share) * n / sum(share)).pvalue > P_VALUE


def test_draws_of_different_rows_are_independent():
    """Equal rows share a sub-problem, but not a draw: correlation within 4 standard errors."""
    net = jn.BayesianNetwork.from_tables("a -> b", {"a": [0.5, 0.5], "b": [[0.5, 0.5]] * 2})
    table = jn.Table({"a": [None] * 4000, "b": [0] * 4000})
    codes = net.impute(table, "draw", random_state=1).column("a").data.astype(float)
    assert abs(np.corrcoef(codes[::2], codes[1::2])[0, 1]) < 4 / np.sqrt(2000)


def test_the_seed_decides_the_draws():
    net = jn.examples.load("asia")
    table = jn.Table(holes(net, 200, 0))
    first, again, other = (net.impute(table, "draw", random_state=s) for s in (1, 1, 2))
    assert columns(first) == columns(again) != columns(other)


# --- what comes back ---


def frames():
    data = {
        "note": ["x", "y", "z"], "wet_grass": ["yes", None, "no"], "size": [0.5, 1.25, 2.0],
        "rain": [None, "yes", None],
    }  # fmt: skip
    table = jn.Table(data)
    return {
        "pandas": table.to_pandas(), "polars": table.to_polars(), "pyarrow": table.to_arrow(),
        "table": table,
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "table"])
@pytest.mark.parametrize("method", ["mode", "marginal", "draw"])
def test_the_kind_that_came_in_comes_back(kind, method):
    net, frame = jn.examples.load("sprinkler"), frames()[kind]
    filled = net.impute(frame, method, random_state=0)
    assert type(filled) is type(frame)
    table = jn.Table(filled)
    assert table.names == ("note", "wet_grass", "size", "rain")
    assert table.n_missing() == {}
    assert columns(table.select(["note"])) == {"note": ["x", "y", "z"]}
    assert table.column("size").data.tolist() == [0.5, 1.25, 2.0]
    assert columns(table.select(["wet_grass", "rain"]))["rain"][1] == "yes"


def test_a_dict_comes_back_as_a_dataframe():
    pandas = pytest.importorskip("pandas")
    filled = jn.examples.load("sprinkler").impute(
        {"wet_grass": ["yes", None], "rain": [None, "no"]}
    )
    assert isinstance(filled, pandas.DataFrame)
    assert filled.to_dict("list") == {"wet_grass": ["yes", "no"], "rain": ["yes", "no"]}


def test_weights_are_kept():
    net = jn.examples.load("sprinkler")
    table = jn.Table({"wet_grass": ["yes", None, "no"]}, weights=[1.0, 2.5, 0.0])
    for method in ("mode", "marginal", "draw"):
        filled = net.impute(table, method, random_state=0)
        np.testing.assert_array_equal(filled.weights, table.weights)
        assert filled.n_missing() == {}


def test_what_came_in_is_not_changed():
    net = jn.examples.load("sprinkler")
    table = jn.Table({"wet_grass": jn.Table({"w": ["yes", None]}).to_pandas()["w"]})
    before = table.column("wet_grass").data.copy()
    net.impute(table)
    np.testing.assert_array_equal(table.column("wet_grass").data, before)


def test_nothing_to_fill():
    net = jn.examples.load("sprinkler")
    note = {"note": ["a", None]}
    for table in ({**note, "rain": ["yes", "no"]}, {"rain": ["yes", "no"]}, {"rain": []}):
        table = jn.Table(table)
        for method in ("mode", "marginal", "draw"):
            filled = net.impute(table, method)
            assert filled.names == table.names
            assert cases.as_rows(filled) == cases.as_rows(table)


# --- what cannot be filled ---


def test_impossible_rows_raise_or_stay_as_they_are():
    net = jn.examples.load("sprinkler")
    table = jn.Table({
        "cloudy": [None, None], "rain": ["no", "yes"], "sprinkler": ["off", "off"],
        "wet_grass": ["yes", "yes"],
    })  # fmt: skip
    for method in ("mode", "marginal", "draw"):
        with pytest.raises(ImpossibleError, match=r"1 row cannot occur \(1\); row 1 is imp"):
            net.impute(table, method)
        filled = columns(net.impute(table, method, impossible="nan", random_state=0))
        assert filled["cloudy"][0] is None
        assert filled["cloudy"][1] in ("no", "yes")
        assert filled["rain"] == ["no", "yes"]


def test_unknown_labels_raise_or_are_filled():
    net = jn.examples.load("sprinkler")
    table = jn.Table({"rain": ["hail", "no"], "wet_grass": ["yes", "no"]})
    with pytest.raises(DataError, match="labels that this model does not know stand in 1 row"):
        net.impute(table)
    filled = columns(net.impute(table, unknown="missing"))
    assert filled == {"rain": ["yes", "no"], "wet_grass": ["yes", "no"]}


def test_an_unknown_method_is_refused():
    message = r"method must be one of \['mode', 'marginal', 'draw'\], not 'mean'"
    with pytest.raises(JensenError, match=message):
        jn.examples.load("sprinkler").impute({"rain": ["no"]}, "mean")


@pytest.mark.parametrize("kind", [pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_impute_keeps_the_types_and_the_columns_that_it_does_not_know(kind):
    net = jn.BayesianNetwork.from_tables(
        "a -> b; c",
        {"a": [0.3, 0.7], "b": [[0.9, 0.1], [0.2, 0.8]], "c": [0.6, 0.4]},
        states={"c": ["False", "True"]},
    )
    rows = {"n": [5, 6, 7], "a": [0, None, 1], "b": [None, 1, 0], "c": [True, None, False]}
    before = kind(rows)
    after = net.impute(before)
    assert type(after) is type(before)
    native = after.to_pydict() if kind is pyarrow.table else after.to_dict(**AS_LISTS[kind])
    assert native == {"n": [5, 6, 7], "a": [0, 1, 1], "b": [0, 1, 0], "c": [True, False, False]}
    types = (lambda t: t.schema.types) if kind is pyarrow.table else (lambda t: list(t.dtypes))
    assert types(after) == types(before)


def test_impute_keeps_the_index_and_categories_of_pandas():
    net = jn.BayesianNetwork.from_tables("a", {"a": [0.3, 0.7]}, {"a": ["x", "y"]})
    frame = pandas.DataFrame({"a": pandas.Categorical(["x", None], ["x", "y"])}, index=[10, 20])
    after = net.impute(frame)
    assert after.index.tolist() == [10, 20]
    assert after["a"].dtype == frame["a"].dtype
    assert after["a"].tolist() == ["x", "y"]


def test_impute_widens_an_enum_that_lacks_the_state():
    net = jn.BayesianNetwork.from_tables("a", {"a": [0.3, 0.7]}, {"a": ["x", "y"]})
    frame = polars.DataFrame({"a": ["x", None]}, schema={"a": polars.Enum(["x"])})
    assert net.impute(frame)["a"].to_list() == ["x", "y"]


def test_the_mode_completes_variables_without_a_column_too():
    """P(h) and P(a | h) such that the best pair and the best a alone differ."""
    net = jn.BayesianNetwork.from_tables(
        "h -> a", {"h": [0.4, 0.3, 0.3], "a": [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]}
    )
    table = jn.Table({"a": [None]}, states={"a": ["0", "1"]})
    assert columns(net.impute(table)) == {"a": ["0"]}
    assert columns(net.impute(table, "marginal")) == {"a": ["1"]}
