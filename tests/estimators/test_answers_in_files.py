"""Answers that are written block by block: those of the rows in memory, whole or not at all."""

import numpy as np
import pandas as pd
import pytest
from test_lazy_rows import SIZES, Source, with_holes

import jensen as jn
from jensen.data import blocks
from jensen.exceptions import DataError, DataWarning, FileError, JensenError

SUFFIXES = ["parquet", "csv", "tsv.gz"]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "UNIT_ROWS", 64)


def asia(n=300, share=0.1):
    return with_holes(jn.examples.load("asia").sample(n, random_state=1), share, 2)


def numbers(n=200):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 4)) + 0.5 * rng.normal(size=(n, 4))
    values[rng.random(values.shape) < 0.1] = np.nan
    return jn.Table(dict(zip("abcd", values.T, strict=True)))


NET = jn.examples.load("asia")
NETWORK = {
    "predict": lambda x, **out: NET.predict(x, "lung", **out),
    "predict_proba": lambda x, **out: NET.predict_proba(x, "lung", **out),
    "log_likelihood": lambda x, **out: NET.log_likelihood(x, **out),
    "impute": lambda x, **out: NET.impute(x, "marginal", **out),
}


def read(path, like):
    frame = pd.read_parquet(path) if path.suffix == ".parquet" else None
    if frame is None:
        frame = pd.read_csv(path, sep="\t" if "tsv" in path.name else ",")
    values = frame.to_numpy()
    return values[:, 0] if np.ndim(like) == 1 else values


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("question", NETWORK)
def test_answers_of_a_network_are_those_in_memory(tmp_path, question, suffix):
    table, ask = asia(), NETWORK[question]
    expected = ask(table)
    if isinstance(expected, jn.Table):
        expected = expected.to_pandas().to_numpy()
    for source in (table, Source(table).scan()):
        out = tmp_path / f"answers.{suffix}"
        assert ask(source, out=out) == out
        found = read(out, expected)
        assert found.shape == expected.shape == (300, *np.shape(expected)[1:])
        if found.dtype.kind == "f":
            np.testing.assert_allclose(found, expected, rtol=1e-15)
        else:
            assert (found.astype(str) == expected.astype(str)).all()


@pytest.fixture(scope="module")
def models():
    table = numbers()
    return {
        "mixture": jn.GaussianMixture(2, random_state=0).fit(table),
        "factors": jn.FactorAnalysis(1, prior={}).fit(table),
        "analyzers": jn.MixtureOfFactorAnalyzers(2, 1, random_state=0, tol=1e-3).fit(table),
        "classes": jn.LatentClass(2, random_state=0, tol=1e-3).fit(asia()),
        "arrays": jn.GaussianMixture(2, random_state=0).fit(np.nan_to_num(
            np.column_stack([table[x] for x in "abcd"]))),
    }  # fmt: skip


@pytest.mark.parametrize("name", ["mixture", "factors", "analyzers", "classes", "arrays"])
def test_answers_of_models_of_rows_are_those_in_memory(models, tmp_path, name):
    model, table = models[name], asia() if name == "classes" else numbers()
    rows = np.column_stack([table[x] for x in "abcd"]) if name == "arrays" else table
    for question in ("predict", "predict_proba", "log_likelihood", "impute", "transform"):
        if not hasattr(model, question):
            continue
        ask, out = getattr(model, question), tmp_path / f"{question}.parquet"
        expected = ask(rows)
        for source in [rows] if name == "arrays" else [rows, Source(table).scan()]:
            assert ask(source, out=out) == out
            np.testing.assert_allclose(read(out, expected), expected, rtol=1e-12, atol=1e-14)
    assert (
        "P(" in pd.read_parquet(tmp_path / "predict_proba.parquet").columns[0]
        if hasattr(model, "predict_proba")
        else not (tmp_path / "predict_proba.parquet").exists()
    )


def test_draws_do_not_depend_on_where_rows_come_from(tmp_path):
    table = asia()
    for name, source in (("a", table), ("b", Source(table).scan())):
        NET.impute(source, "draw", random_state=3, out=tmp_path / f"{name}.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    filled = jn.read_table(tmp_path / "a.csv")
    assert not filled.n_missing()


def test_posteriors_of_all_cells_have_a_column_for_each_state(tmp_path):
    table = asia(100)
    out = NET.predict_proba(table, out=tmp_path / "all.parquet")
    found, expected = pd.read_parquet(out), NET.predict_proba(table)
    for name, values in expected.items():
        for k, state in enumerate(NET.states[name]):
            np.testing.assert_array_equal(found[f"P({name}={state})"], values[:, k])


def test_an_error_leaves_the_old_file_and_says_where(tmp_path):
    strange = asia(150, 0.0).to_pandas().astype(str)
    strange.loc[140, "smoke"] = "sometimes"
    out = tmp_path / "answers.csv"
    out.write_text("old")
    with pytest.raises(DataError, match=r"in the rows after row 128, counted anew: .*sometimes"):
        NET.predict(jn.Table(strange), "lung", out=out)
    assert out.read_text() == "old"
    assert [x.name for x in tmp_path.iterdir()] == ["answers.csv"]


def test_warnings_of_blocks_are_told_once(tmp_path):
    table = asia(300, 0.0).select(["lung", "smoke", "xray"])
    with pytest.warns(DataWarning, match="no column") as caught:
        NET.log_likelihood(table, out=tmp_path / "a.csv")
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("out", "text"),
    [
        ("rows.xlsx", "cannot tell the format"),
        ("nowhere/rows.csv", "there is no folder"),
        (3, "out must be the path of a CSV, TSV or Parquet file, not 3"),
    ],
)
def test_files_that_cannot_be_written_are_refused_before_any_row(tmp_path, monkeypatch, out, text):
    monkeypatch.chdir(tmp_path)
    source = Source(asia(64))
    with pytest.raises((JensenError, FileError), match=text):
        NET.predict(source.scan(), "lung", out=out)
    assert source.n_passes == 0


def test_many_completed_tables_do_not_go_into_one_file(tmp_path):
    with pytest.raises(JensenError, match="n completed tables do not go into one file"):
        NET.impute(asia(64), "draw", n=2, out=tmp_path / "a.csv")


def test_columns_that_change_from_block_to_block_are_refused(tmp_path):
    rng = np.random.default_rng(0)
    table = jn.Table({"x": rng.normal(size=128), "y": rng.choice(["a", "b"], 128)})
    net = jn.BayesianNetwork("y -> x", prior="bdeu").fit(jn.discretize(table, bins=2))
    x = table["x"].copy()
    x[100] = np.nan
    gaps = jn.Table({"x": x, "y": table["y"]})
    with pytest.raises(DataError, match=r"change from block to block .* table.read_as"):
        net.impute(gaps, out=tmp_path / "a.parquet")


def test_files_of_odd_blocks_have_all_rows(tmp_path):
    """Blocks of the source are no blocks of the file."""
    assert sum(SIZES) > 64
    out = NET.log_likelihood(Source(asia(300)).scan(), out=tmp_path / "a.parquet")
    assert len(pd.read_parquet(out)) == 300
