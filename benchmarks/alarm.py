"""The data: the alarm network's graph and states, with tables and rows of our own.

The graph and the numbers of states are those of Beinlich, Suermondt, Chavez and Cooper (1989). The
probabilities are drawn here, none near zero, so that every configuration of parents occurs and
all libraries answer the same.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.holes import punch
from benchmarks.workload import Setting

GRAPH = (
    "[HIST|LVF][CVP|LVV][PCWP|LVV][HYP][LVV|HYP:LVF][LVF][STKV|HYP:LVF][ERLO][HRBP|ERLO:HR]"
    "[HREK|ERCA:HR][ERCA][HRSA|ERCA:HR][ANES][APL][TPR|APL][ECO2|ACO2:VLNG][KINK]"
    "[MINV|INT:VLNG][FIO2][PVS|FIO2:VALV][SAO2|PVS:SHNT][PAP|PMB][PMB][SHNT|INT:PMB][INT]"
    "[PRSS|INT:KINK:VTUB][DISC][MVS][VMCH|MVS][VTUB|DISC:VMCH][VLNG|INT:KINK:VTUB]"
    "[VALV|INT:VLNG][ACO2|VALV][CCHL|ACO2:ANES:SAO2:TPR][HR|CCHL][CO|HR:STKV][BP|CO:TPR]"
)

LABELS: dict[tuple[str, ...], str] = {
    ("TRUE", "FALSE"): "HIST HYP LVF ERLO ERCA ANES APL KINK PMB DISC",
    ("LOW", "NORMAL"): "FIO2",
    ("NORMAL", "HIGH"): "SHNT CCHL",
    ("NORMAL", "ESOPHAGEAL", "ONESIDED"): "INT",
    ("LOW", "NORMAL", "HIGH"): (
        "CVP PCWP LVV STKV HRBP HREK HRSA TPR PVS SAO2 PAP MVS ACO2 HR CO BP"
    ),
    ("ZERO", "LOW", "NORMAL", "HIGH"): "ECO2 MINV PRSS VMCH VTUB VLNG VALV",
}

STATES: dict[str, tuple[str, ...]] = dict(
    sorted((name, labels) for labels, names in LABELS.items() for name in names.split())
)

EVEN = 0.1
"""The share of the uniform distribution in every row of every table."""

SEED = 1989


@cache
def parents() -> dict[str, tuple[str, ...]]:
    """Name → its parents, sorted by name."""
    found = {}
    for family in GRAPH.strip("[]").split("]["):
        name, _, given = family.partition("|")
        found[name] = tuple(sorted(given.split(":"))) if given else ()
    return found


def edges() -> list[tuple[str, str]]:
    """(parent, child), sorted by child."""
    return [(parent, name) for name in STATES for parent in parents()[name]]


@cache
def tables() -> dict[str, NDArray[np.float64]]:
    """Name → probabilities, an axis for every parent, then its own."""
    rng = np.random.default_rng(SEED)
    return {name: _table(name, rng) for name in STATES}


def _table(name: str, rng: np.random.Generator) -> NDArray[np.float64]:
    *above, size = (len(STATES[member]) for member in (*parents()[name], name))
    return (1 - EVEN) * rng.dirichlet(np.ones(size), above) + EVEN / size


def network() -> Any:
    """The network in Jensen."""
    import jensen as jn

    return jn.BayesianNetwork.from_tables(GRAPH, tables(), STATES)


def write_rows(setting: Setting) -> None:
    """Draw the rows that all contenders read, once for every number and share of missing cells."""
    if setting.rows and not setting.csv.exists():
        table = network().sample(setting.rows, random_state=SEED)
        (punch(table, setting.missing) if setting.missing else table).write(setting.csv)
