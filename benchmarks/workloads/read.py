"""Read a CSV file of a million rows and 37 columns of labels."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.agree import same_numbers
from benchmarks.alarm import STATES
from benchmarks.workload import Contender, Goal, Setting, Task, Workload


def jensen(setting: Setting) -> Task:
    import jensen as jn

    jn.set_threads(setting.threads)

    def counts(table: Any) -> Iterator[dict[str, int]]:
        for name in STATES:
            column = table.column(name)
            found = np.bincount(column.data, minlength=column.variable.n_states)
            yield dict(zip(column.variable.states, found, strict=False))

    return Task(lambda _: jn.read_table(setting.csv), answer=lambda t: _ordered(counts(t)))


def arrow(setting: Setting) -> Task:
    import pyarrow.csv

    pyarrow.set_cpu_count(setting.threads)
    return Task(lambda _: pyarrow.csv.read_csv(setting.csv), answer=_arrow_answer)


def arrow_coded(setting: Setting) -> Task:
    import pyarrow as pa
    import pyarrow.csv

    pa.set_cpu_count(setting.threads)
    kinds = dict.fromkeys(STATES, pa.dictionary(pa.int32(), pa.string()))
    options = pa.csv.ConvertOptions(column_types=kinds)
    return Task(
        lambda _: pa.csv.read_csv(setting.csv, convert_options=options), answer=_arrow_answer
    )


def pandas(setting: Setting) -> Task:
    import pandas

    return Task(lambda _: pandas.read_csv(setting.csv), answer=_pandas_answer)


def pandas_coded(setting: Setting) -> Task:
    import pandas

    return Task(lambda _: pandas.read_csv(setting.csv, dtype="category"), answer=_pandas_answer)


def polars(setting: Setting) -> Task:
    import polars

    return Task(lambda _: polars.read_csv(setting.csv), answer=_polars_answer)


def polars_coded(setting: Setting) -> Task:
    import polars

    kinds = {name: polars.Enum(labels) for name, labels in STATES.items()}
    return Task(
        lambda _: polars.read_csv(setting.csv, schema_overrides=kinds), answer=_polars_answer
    )


def _arrow_answer(table: Any) -> list[int]:
    counts = (table[name].value_counts().to_pylist() for name in STATES)
    return _ordered({_label(x["values"]): x["counts"] for x in column} for column in counts)


def _pandas_answer(frame: Any) -> list[int]:
    counts = (frame[name].value_counts().items() for name in STATES)
    return _ordered({_label(value): n for value, n in column} for column in counts)


def _polars_answer(frame: Any) -> list[int]:
    counts = (frame[name].value_counts().rows() for name in STATES)
    return _ordered({_label(value): n for value, n in column} for column in counts)


def _label(value: object) -> str:
    """All but Jensen read TRUE as a truth value unless told otherwise."""
    return str(value).upper()


def _ordered(columns: Any) -> list[int]:
    """Counts of labels in the order of STATES; all must be there."""
    pairs = zip(columns, STATES.values(), strict=True)
    return [int(counts[label]) for counts, labels in pairs for label in labels]


WORKLOADS = [
    Workload(
        "read",
        "read a CSV file of 37 columns; Jensen's columns are coded and ready to count",
        Contender("jensen", jensen, "jensen"),
        [
            Contender("pyarrow, defaults", arrow, "pyarrow"),
            Contender("pyarrow, dictionaries", arrow_coded, "pyarrow"),
            Contender("pandas, defaults", pandas, "pandas"),
            Contender("pandas, categories", pandas_coded, "pandas"),
            Contender("polars, defaults", polars, "polars"),
            Contender("polars, declared enums", polars_coded, "polars"),
        ],
        same_numbers,
        rows=1_000_000,
        goal=Goal(ratio=1),
    )
]
