"""Kernels are compiled once for all workers, on all cores, or each would compile them by itself."""

import pytest

from jensen import kernels


def pytest_sessionstart(session):
    """Before workers start, and only where all tests are asked for: few need few kernels."""
    config = session.config
    is_worker = hasattr(config, "workerinput")
    if not is_worker and config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        missing = kernels.never_cached()
        if missing and config.getoption("numprocesses", None):
            for _ in kernels.cache_all(missing):
                pass
