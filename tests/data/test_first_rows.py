"""Names of columns that stand below a title, and so are read as a row, are told."""

import pytest

import jensen as jn

LABELS = "".join(f"{'xy'[k % 2]},{'uv'[k % 2]}\n" for k in range(20))
NUMBERS = "".join(f"{k + 0.5},{k % 2}\n" for k in range(20))


@pytest.mark.parametrize("rows", [LABELS, NUMBERS])
@pytest.mark.parametrize(("above", "line"), [("Table 1,from 2024\n", 2), ("Table 1,\n,\n", 3)])
def test_names_of_columns_below_a_title_are_told(tmp_path, rows, above, line):
    (tmp_path / "t.csv").write_text(f"{above}age,sex\n{rows}")
    words = (
        rf"t.csv: line {line} holds labels that occur in no other row \('age', 'sex'\): if it names"
    )
    with pytest.warns(jn.DataWarning, match=words) as told:
        jn.read_table(tmp_path / "t.csv")
    assert len(told) == 1
    with pytest.warns(jn.DataWarning, match="if it holds units or the like, delete it"):
        jn.read_table(tmp_path / "t.csv", missing=[])


@pytest.mark.parametrize(
    "text",
    [
        f"age,sex\nx,z\n{LABELS}",  # a label that comes back
        f"age,sex\n1,2\n{LABELS}",  # numbers name no columns
        "age,sex\na,b\nc,d\ne,f\n",  # no label comes back
        "age\na\n" + "x\n" * 20,  # one column
        f"age,sex\na,0.25\n{NUMBERS}",
    ],
)
@pytest.mark.filterwarnings("ignore:.*no numbers make labels")
def test_other_first_rows_are_not_told(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    jn.read_table(tmp_path / "t.csv")
