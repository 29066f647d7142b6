"""Files that were cut, flipped or edited by hand: read, or refused in Jensen's own words."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from naive import data as naive
from naive.damage import ENCODINGS, FAULTS, damaged_bytes, damaged_document, odd_file

import jensen as jn
from jensen.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

TIMES = 120
RNG = np.random.default_rng(0)
COLUMNS = {
    "a": ["x", "y", None, "ü, z"] * 25,
    "b": RNG.normal(size=100).round(3).tolist(),
    "c": [0, 1, None, 2] * 25,
}
ROWS = jn.examples.load("asia").sample(60, random_state=0).select(["smoke", "lung", "bronc"])
NUMBERS = jn.Table({"x": RNG.normal(size=30), "y": RNG.normal(size=30)})

MODELS = {
    "exact posterior": lambda: jn.structure_posterior(ROWS, "exact"),
    "sampled posterior": lambda: jn.structure_posterior(
        ROWS, "partition", n_samples=10, n_chains=2, random_state=0
    ),
    "network": lambda: jn.BayesianNetwork("smoke -> lung; bronc", prior="bdeu").fit(ROWS),
    "Gaussian network": lambda: jn.BayesianNetwork("x -> y").fit(NUMBERS),
    "mixture": lambda: jn.GaussianMixture(2, prior={}, random_state=0).fit(NUMBERS),
    "chain": lambda: jn.HiddenMarkovModel(2, prior={}, random_state=0).fit(list("abbaab") * 5),
    "latent class": lambda: jn.LatentClass(2, prior={}, random_state=0).fit(ROWS),
}


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz", "csv.zst", "parquet", "parquet.gz"])
def test_damaged_tables(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    jn.Table(COLUMNS).write(path)
    check(path, jn.read_table, seed=1)


@pytest.mark.slow
def test_a_wrong_bit_in_our_own_parquet_changes_no_value(tmp_path):
    """Pages have checksums; the names of columns have none."""
    path, rng, n_read = tmp_path / "t.parquet", np.random.default_rng(0), 0
    jn.Table(COLUMNS).write(path)
    whole, expected = path.read_bytes(), jn.read_table(path).to_pandas()
    for place in rng.integers(len(whole), size=300):
        content = bytearray(whole)
        content[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(content)
        try:
            found = jn.read_table(path).to_pandas()
        except jn.JensenError:
            continue
        n_read += 1
        pd.testing.assert_frame_equal(found.set_axis(expected.columns, axis=1), expected)
    assert 0 < n_read < 100


@pytest.mark.parametrize("codec", ["NONE", "ZSTD"])
def test_damaged_parquet_of_others(tmp_path, codec):
    path = tmp_path / "t.parquet"
    columns = {**COLUMNS, "t": pa.array(range(100)).cast(pa.timestamp("us"))}
    pa.parquet.write_table(pa.table(columns), path, compression=codec)
    check(path, jn.read_table, seed=2)


RAW_WORDS = ("Arrow", "arrow", "codec", "decode", "Error", "fault of the program", "Traceback")


def test_text_files_as_programs_write_them_are_read_right_or_refused_in_words(tmp_path):
    rng, met = np.random.default_rng(5), set()
    for k in range(400):
        content, columns, wrong = odd_file(rng)
        path = tmp_path / f"{k}.csv"
        path.write_bytes(content)
        met.add(wrong)
        if wrong is None:
            found = naive.plain(jn.read_table(path))
            assert {name: rows for name, (_, rows) in found.items()} == columns
        else:
            with pytest.raises(jn.JensenError) as error:
                jn.read_table(path)
            text = str(error.value)
            assert text.startswith(str(path)), wrong
            assert not any(word in text for word in RAW_WORDS), text
    assert met == {None, *FAULTS, *ENCODINGS}


@pytest.mark.slow
def test_the_command_line_learns_from_them_or_refuses_them_in_words(tmp_path, capsys):
    rng = np.random.default_rng(6)
    for k in range(30):
        content, _, wrong = odd_file(rng, n_rows=30)
        path = tmp_path / f"{k}.csv"
        path.write_bytes(content)
        code = main(["learn", str(path), "--structure", "tree", "--json"])
        said = capsys.readouterr()
        assert code == (0 if wrong is None else 2), said.err
        assert not any(word in said.err for word in RAW_WORDS), said.err
        if wrong is None:
            assert set(json.loads(said.out)["nodes"]) == {"größe", "b, c", "n"}
        else:
            assert said.err.startswith(f"jensen: {path}")
            assert len(said.err.splitlines()) == 1


def check(path, read, seed):
    content, rng = path.read_bytes(), np.random.default_rng(seed)
    refused = 0
    for _ in range(TIMES):
        path.write_bytes(damaged_bytes(content, rng))
        refused += is_refused(read, path)
    assert refused > TIMES // 3


def is_refused(read, path):
    """Whether a file is refused; any error but Jensen's own goes through."""
    try:
        read(path)
    except jn.JensenError:
        return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("kind", MODELS)
def test_damaged_models(tmp_path, kind):
    path, rng = tmp_path / "model.json", np.random.default_rng(3)
    MODELS[kind]().save(path)
    check(path, jn.load, seed=4)
    path = tmp_path / "again.json"
    MODELS[kind]().save(path)
    document = json.loads(path.read_bytes())
    for _ in range(TIMES):
        path.write_text(json.dumps(damaged_document(document, rng)), encoding="utf-8")
        is_refused(jn.load, path)


@pytest.mark.parametrize(
    ("batches", "message"),
    [
        ([], "chains.edge_batches must hold batches of every chain"),
        ([[], []], "chains.edge_batches must hold batches of every chain"),
        ([1, 2], r"chains.edge_batches\[0\] must be a list, not a number"),
    ],
)
def test_a_posterior_without_batches(tmp_path, batches, message):
    path = tmp_path / "post.json"
    MODELS["sampled posterior"]().save(path)
    document = json.loads(path.read_bytes())
    document["chains"]["edge_batches"] = batches
    path.write_text(json.dumps(document))
    with pytest.raises(jn.FileError, match=f"post.json: {message}"):
        jn.load(path)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([[1], [2**63]], "must be how often something"),
        ([[-1], [1]], "must be how often something"),
        ([[1], [1, 2]], "must tell how often it was accepted and how often tried"),
    ],
)
def test_a_posterior_with_moves_that_cannot_be(tmp_path, counts, message):
    path = tmp_path / "post.json"
    MODELS["sampled posterior"]().save(path)
    document = json.loads(path.read_bytes())
    document["chains"]["moves"] = {"some move": counts}
    path.write_text(json.dumps(document))
    with pytest.raises(jn.FileError, match=message):
        jn.load(path)


@pytest.mark.parametrize("value", [1e308, -1e308, 1e300])
def test_numbers_of_which_no_matrix_can_be_made_are_refused(tmp_path, value):
    path = tmp_path / "mixture.json"
    MODELS["mixture"]().save(path)
    document = json.loads(path.read_bytes())
    second = document["parameters"]["components"]["second"]
    document["parameters"]["components"]["second"] = [
        [[value] * len(row) for row in matrix] for matrix in second
    ]
    path.write_text(json.dumps(document))
    assert is_refused(jn.load, path)
