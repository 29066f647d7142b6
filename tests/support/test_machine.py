import pytest

import jensen as jn
from jensen.exceptions import TooLargeError
from jensen.support import machine


@pytest.fixture(autouse=True)
def default_limit():
    yield
    jn.set_memory_limit(None)


def test_by_default_half_of_what_there_is(monkeypatch):
    monkeypatch.setattr(machine, "_machine", lambda: 1000)
    monkeypatch.setattr(machine, "_container", lambda: 600)
    assert jn.get_memory_limit() == 300
    monkeypatch.setattr(machine, "_container", lambda: 9000)
    assert jn.get_memory_limit() == 500


def test_this_machine_has_memory():
    assert jn.get_memory_limit() > 1 << 27


def test_the_limit_of_a_container_is_read(monkeypatch):
    files = {"/sys/fs/cgroup/memory.max": "max\n"}

    def read_text(path):
        if str(path) not in files:
            raise FileNotFoundError(path)
        return files[str(path)]

    monkeypatch.setattr(machine.Path, "read_text", read_text)
    assert machine._container() == machine._machine()
    files["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = "123456\n"
    assert machine._container() == 123456
    files["/sys/fs/cgroup/memory.max"] = "4096"
    assert machine._container() == 4096
    files.clear()
    assert machine._container() == machine._machine()


def test_a_machine_that_does_not_tell(monkeypatch):
    monkeypatch.delattr(machine.os, "sysconf")
    assert machine._machine() == machine.UNKNOWN


def test_the_limit_can_be_chosen():
    jn.set_memory_limit(4e9)
    assert jn.get_memory_limit() == 4e9
    jn.set_memory_limit(float("inf"))
    machine.check_memory(1e300, "everything", "nothing")


def test_for_little_work_the_machine_is_not_asked(monkeypatch):
    monkeypatch.setattr(machine, "_machine", lambda: pytest.fail("asked"))
    machine.check_memory(machine.LITTLE, "little", "nothing")
    jn.set_memory_limit(1000)
    machine.check_memory(1000, "little", "nothing")
    with pytest.raises(TooLargeError, match=r"^little would take 1001 B, more than the limit"):
        machine.check_memory(1001, "little", "nothing")


@pytest.mark.parametrize("limit", [0, -1, float("nan"), "4GB", True])
def test_impossible_limits(limit):
    with pytest.raises(
        jn.JensenError,
        match=rf"^the memory limit must be a positive number of bytes, not {limit!r}$",
    ):
        jn.set_memory_limit(limit)


def test_too_much_is_refused_with_the_way_out():
    jn.set_memory_limit(2048)
    machine.check_memory(2048, "a table", "merge states")
    with pytest.raises(jn.JensenError) as error:
        machine.check_memory(2049, "a table", "merge states")
    assert str(error.value) == (
        "a table would take 2.0 KiB, more than the limit of 2.0 KiB: merge states, or raise it "
        "with jn.set_memory_limit"
    )


@pytest.mark.parametrize(
    ("n", "shown"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1536, "1.5 KiB"),
        (5 * 2**20, "5.0 MiB"),
        (2**30, "1.0 GiB"),
        (3.5 * 2**40, "3.5 TiB"),
        (8e23, "7.28e+11 TiB"),
        (float("inf"), "inf TiB"),
    ],
)
def test_bytes_as_people_read_them(n, shown):
    assert machine.show_bytes(n) == shown
