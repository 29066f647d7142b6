"""Count every pair of variables: what Chow-Liu trees and screening begin with."""

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import peers
from benchmarks.agree import same_numbers
from benchmarks.alarm import STATES
from benchmarks.workload import Contender, Setting, Task, Workload

NAMES = list(STATES)
PAIRS = list(combinations(NAMES, 2))
SIZES = [len(labels) for labels in STATES.values()]
STARTS = dict(zip(NAMES, np.cumsum([0, *SIZES[:-1]]).tolist(), strict=True))


def jensen(setting: Setting) -> Task:
    """From a table that was never counted."""
    from jensen.data.counting import count_pairs

    table = peers.jensen_table(setting)
    return Task(
        lambda new: count_pairs(new, NAMES), prepare=lambda: peers.fresh(table), answer=_blocks
    )


def jensen_packed(setting: Setting) -> Task:
    """From a table that was counted before, and remembers its bitsets."""
    from jensen.data.counting import count_pairs

    table = peers.jensen_table(setting)
    count_pairs(table, NAMES)
    return Task(lambda _: count_pairs(table, NAMES), answer=_blocks)


def numpy_bincount(setting: Setting) -> Task:
    """One bincount for every pair."""
    rows = dict(zip(NAMES, peers.codes(setting).astype(np.int64), strict=True))

    def count(a: str, b: str) -> NDArray[np.int64]:
        m, n = len(STATES[a]), len(STATES[b])
        return np.bincount(rows[a] * n + rows[b], minlength=m * n)

    return Task(lambda _: [count(a, b) for a, b in PAIRS], answer=np.concatenate)


def numpy_product(setting: Setting) -> Task:
    """XᵀX of the indicators X in single precision: exact up to 2²⁴ rows."""
    rows = peers.codes(setting)

    def count(_: None) -> NDArray[np.float32]:
        indicators = _indicators(rows)
        return indicators @ indicators.T

    return Task(count, answer=_blocks)


def numpy_product_packed(setting: Setting) -> Task:
    """The same with X made beforehand."""
    indicators = _indicators(peers.codes(setting))
    return Task(lambda _: indicators @ indicators.T, answer=_blocks)


def pandas(setting: Setting) -> Task:
    import pandas

    frame = peers.frame(setting)
    return Task(
        lambda _: [pandas.crosstab(frame[a], frame[b]) for a, b in PAIRS],
        answer=lambda tables: np.concatenate([t.to_numpy().ravel() for t in tables]),
    )


def pgmpy(setting: Setting) -> Task:
    from pgmpy.utils import get_state_counts

    frame, states = peers.frame(setting), {name: list(x) for name, x in STATES.items()}
    return Task(
        lambda _: [get_state_counts(frame, states, a, [b]) for a, b in PAIRS],
        answer=lambda tables: np.concatenate([t.to_numpy().ravel() for t in tables]),
    )


def pyagrum(setting: Setting) -> Task:
    """On one thread: so many small tables take it longer on two."""
    learner = peers.agrum_learner(setting)
    learner.useNoPrior()

    def answer(tables: list[Any]) -> NDArray[np.float64]:
        """Its first variable runs fastest."""
        shapes = [(len(STATES[b]), len(STATES[a])) for a, b in PAIRS]
        arrays = [np.reshape(t, s).T.ravel() for t, s in zip(tables, shapes, strict=True)]
        return np.concatenate(arrays)

    return Task(lambda _: [learner.rawPseudoCount([a, b]) for a, b in PAIRS], answer=answer)


def _indicators(rows: NDArray[np.uint8]) -> NDArray[np.float32]:
    found = np.empty((sum(SIZES), rows.shape[1]), np.float32)
    for k, name in enumerate(NAMES):
        for state in range(SIZES[k]):
            np.equal(rows[k], state, out=found[STARTS[name] + state], casting="unsafe")
    return found


def _blocks(matrix: NDArray[Any]) -> NDArray[Any]:
    """The blocks of pairs out of the matrix of all states."""
    at = {name: slice(s, s + len(STATES[name])) for name, s in STARTS.items()}
    return np.concatenate([matrix[at[a], at[b]].ravel() for a, b in PAIRS])


def _size(rows: int) -> str:
    return "20k" if rows == 20_000 else "1m"


WORKLOADS = [
    *(
        Workload(
            f"pairs-{_size(rows)}",
            "tables of counts of all 666 pairs of variables, packing included",
            Contender("jensen", jensen, "jensen"),
            [
                Contender("numpy, product of indicators", numpy_product, "numpy"),
                Contender("numpy, product, one thread", numpy_product, "numpy", threads=1),
                Contender("numpy, bincount", numpy_bincount, "numpy", threads=1),
                Contender("pandas.crosstab", pandas, "pandas", threads=1),
                Contender("pgmpy", pgmpy, "pgmpy", threads=1),
                Contender("pyagrum", pyagrum, "pyagrum", threads=1),
            ],
            same_numbers,
            rows=rows,
        )
        for rows in (20_000, 1_000_000)
    ),
    *(
        Workload(
            f"pairs-packed-{_size(rows)}",
            "tables of counts of all 666 pairs of variables, packed already",
            Contender("jensen", jensen_packed, "jensen"),
            [
                Contender("numpy, product of indicators", numpy_product_packed, "numpy"),
                Contender("numpy, product, one thread", numpy_product_packed, "numpy", threads=1),
                Contender("numpy, bincount", numpy_bincount, "numpy", threads=1),
            ],
            same_numbers,
            rows=rows,
        )
        for rows in (20_000, 1_000_000)
    ),
]
