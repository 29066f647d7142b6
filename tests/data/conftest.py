import pytest
from hypothesis import settings

import jensen as jn

settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")


@pytest.fixture(autouse=True)
def _usual_threads():
    yield
    jn.set_threads(None)


@pytest.fixture
def write(tmp_path):
    """Write text or bytes to a file, and answer with its path."""

    def write_file(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file
