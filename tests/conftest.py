"""Kernels are compiled once for all workers, on all cores, or each would compile them by itself."""

import logging
import signal
import warnings

import numpy as np
import pytest
from numba import config

import jensen as jn
from jensen import kernels
from jensen.data import get_threads

SILENT = {"all": "ignore"} if config.DISABLE_JIT else {}
"""Kernels take log 0 = -inf, and hashes wrap around; as plain Python NumPy would warn of that."""


@pytest.fixture(autouse=True)
def _usual_world():
    """Leave logging, warnings and threads as they were: a command line changes all three."""
    log, show = logging.getLogger("jensen"), warnings.showwarning
    handlers, level = [*log.handlers], log.level
    with np.errstate(**SILENT):
        yield
    jn.set_threads(None)
    log.handlers[:] = handlers
    log.setLevel(level)
    warnings.showwarning = show


def pytest_configure():
    """Let Ctrl-C be heard where a shell runs the tests in the background and has it ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_sessionstart(session):
    """Before workers start, and only where all tests are asked for: few need few kernels."""
    config = session.config
    is_worker = hasattr(config, "workerinput")
    if not is_worker and config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        missing = kernels.never_cached()
        if missing and config.getoption("numprocesses", None):
            for _ in kernels.cache_all(get_threads(), missing):
                pass


SMALL_TABLES = ("estimators", "independence", "inference", "q_graph", "scores")
"""Folders whose tests make tables so small that columns do not vary in some."""


def pytest_collection_modifyitems(items):
    """Mark the quick tests; let small tables be small where they are not what is tested.

    The first case of every test function is quick, unless the function is marked as slow, or is
    about compiled code where nothing is compiled.
    """
    left_out = ("slow", "compiled") if config.DISABLE_JIT else ("slow",)
    functions = set()
    for item in items:
        function = item.nodeid.partition("[")[0]
        if function not in functions and not any(map(item.get_closest_marker, left_out)):
            item.add_marker(pytest.mark.quick)
        functions.add(function)
        folders = item.path.relative_to(item.config.rootpath).parts
        if {*SMALL_TABLES} & {*folders} and item.path.name != "test_constant_labels.py":
            for text in ("column.* one label only", "there is one row", "the whole numbers of"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore:{text}:jensen.DataWarning"))
