"""Start: imports, and the command line's help, each in a fresh process."""

import sys
from functools import partial
from pathlib import Path

from benchmarks.subprocesses import run_command, run_python
from benchmarks.workload import Contender, Goal, Setting, Task, Workload


def python(setting: Setting, code: str) -> Task:
    return Task(lambda _: run_python(code))


def jensen_help(setting: Setting) -> Task:
    command = Path(sys.executable).with_name("jensen")
    return Task(lambda _: run_command([command, "--help"]))


def _runs(name: str, code: str, package: str | None = None) -> Contender:
    return Contender(name, partial(python, code=code), package, threads=1)


BARE = Contender("python alone", partial(python, code="pass"), threads=1, is_peer=False)

WORKLOADS = [
    Workload(
        "start-import",
        "import the package, in a fresh process (Python's own start included)",
        _runs("jensen", "import jensen", "jensen"),
        [
            BARE,
            _runs("pgmpy", "import pgmpy", "pgmpy"),
            _runs("pyagrum", "import pyagrum", "pyagrum"),
        ],
        goal=Goal(seconds=0.5),
    ),
    Workload(
        "start-use",
        "import what reads a table and learns a network, in a fresh process",
        _runs("jensen", "from jensen import BayesianNetwork, read_table", "jensen"),
        [
            BARE,
            _runs("pandas", "import pandas", "pandas"),
            _runs(
                "pgmpy",
                "import pandas; from pgmpy.models import DiscreteBayesianNetwork",
                "pgmpy",
            ),
            _runs("pyagrum", "from pyagrum import BayesNet, BNLearner", "pyagrum"),
        ],
    ),
    Workload(
        "start-help",
        "jensen --help, in a fresh process",
        Contender("jensen", jensen_help, "jensen", threads=1),
        [BARE],
        goal=Goal(seconds=0.5),
    ),
]
