"""Networks of one structure share what is compiled: many threads may ask and add to it at once."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import jensen as jn
from jensen.data.encode import Column
from jensen.q_hidden.trees import plans


def holes(table, seed):
    rng = np.random.default_rng(seed)
    columns = []
    for name in table.names:
        column = table.column(name)
        data = column.data.copy()
        data[rng.random(len(data)) < 0.3] = column.variable.n_states
        columns.append(Column(column.variable, data))
    return jn.Table.from_columns(columns)


@pytest.mark.parametrize("n_threads", [4])
@pytest.mark.compiled
def test_rows_asked_for_on_many_threads(n_threads):
    net = jn.examples.load("alarm")
    tables = [holes(net.sample(150, random_state=seed), seed) for seed in range(24)]
    expected = [net.predict_proba(table, "HR") for table in tables]
    plans._kept.cache_clear()
    with ThreadPoolExecutor(n_threads) as pool:
        found = list(pool.map(lambda table: net.predict_proba(table, "HR"), tables))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
