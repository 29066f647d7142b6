"""A file appears whole or not at all, and everything that fails is told in words."""

import os
import stat
import subprocess
import sys
import tempfile

import pytest

import jensen as jn
from jensen.support.atomic import check_name, check_target, check_writable, read_bytes, write_whole


def write(path, content=b"new"):
    with write_whole(path) as file:
        file.write(content)


def write_half(path, error):
    with write_whole(path) as file:
        file.write(b"half")
        raise error


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def old(tmp_path):
    """A folder with one file in it."""
    path = tmp_path / "net.json"
    path.write_bytes(b"old")
    return path


def assert_untouched(old):
    assert old.read_bytes() == b"old"
    assert os.listdir(old.parent) == ["net.json"]


def test_the_new_file_replaces_the_old(old):
    write(old)
    assert old.read_bytes() == b"new"
    assert os.listdir(old.parent) == ["net.json"]


def test_nothing_is_seen_before_the_end(old):
    with write_whole(old) as file:
        file.write(b"new")
        file.flush()
        assert old.read_bytes() == b"old"
    assert old.read_bytes() == b"new"


@pytest.mark.parametrize("error", [KeyError("x"), KeyboardInterrupt(), jn.DataError("no")])
def test_a_failure_while_writing_leaves_the_old_file_alone(old, error):
    with pytest.raises(type(error)):
        write_half(old, error)
    assert_untouched(old)


def test_a_failure_while_writing_leaves_no_new_file(tmp_path):
    with pytest.raises(KeyError):
        write_half(tmp_path / "net.json", KeyError("x"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (PermissionError(13, "Permission denied"), "Permission denied"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (OSError("Arrow says no"), "Arrow says no"),
    ],
)
@pytest.mark.parametrize("step", ["write", "fsync", "chmod", "replace"])
def test_what_the_system_refuses_is_a_file_error(old, monkeypatch, step, error, text):
    def refuse(*_):
        raise error

    if step != "write":
        monkeypatch.setattr(os, step, refuse)
    with pytest.raises(jn.FileError, match=rf"^cannot write .*net\.json: {text}$"):
        write_half(old, error) if step == "write" else write(old)
    monkeypatch.undo()
    assert_untouched(old)


def test_a_folder_that_may_not_be_written_is_a_file_error(old, monkeypatch):
    def refuse(**_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    with pytest.raises(jn.FileError, match=r"cannot write .*net\.json: Permission denied"):
        write(old)
    monkeypatch.undo()
    assert_untouched(old)


@pytest.mark.parametrize("bits", [0o600, 0o640, 0o664, 0o755])
def test_the_mode_of_an_existing_file_is_kept(old, bits):
    old.chmod(bits)
    write(old)
    assert mode(old) == bits


@pytest.mark.parametrize(("mask", "bits"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_usual_mode(tmp_path, mask, bits):
    before = os.umask(mask)
    try:
        write(tmp_path / "net.json")
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert mode(tmp_path / "net.json") == bits


def test_a_link_stays_a_link(old):
    link = old.parent / "link.json"
    link.symlink_to("net.json")
    write(link)
    assert link.is_symlink()
    assert old.read_bytes() == b"new"
    assert sorted(os.listdir(old.parent)) == ["link.json", "net.json"]


def test_a_link_to_nothing_makes_the_file(tmp_path):
    (tmp_path / "link.json").symlink_to("net.json")
    write(tmp_path / "link.json")
    assert (tmp_path / "net.json").read_bytes() == b"new"


def test_the_longest_name_is_not_too_long(tmp_path):
    path = tmp_path / ("x" * 250 + ".json")
    write(path)
    assert path.read_bytes() == b"new"


def test_paths_that_cannot_be_written_are_refused_beforehand(old, monkeypatch):
    folder = old.parent / "folder.json"
    folder.mkdir()
    pipe = old.parent / "pipe.json"
    os.mkfifo(pipe)
    for path, reason in [
        (old.parent / "gone" / "net.json", r"there is no folder .*gone"),
        (old / "net.json", r"there is no folder .*net\.json"),
        (folder, "it is a folder"),
        (pipe, "it is no ordinary file"),
    ]:
        for use in (check_target, write):
            with pytest.raises(jn.FileError, match=f"^cannot write .*: {reason}$"):
                use(path)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(jn.FileError, match="the file is protected against writing"):
        write(old)
    assert old.read_bytes() == b"old"
    assert sorted(os.listdir(old.parent)) == ["folder.json", "net.json", "pipe.json"]


def test_a_network_that_cannot_be_saved_leaves_the_old_one(old, monkeypatch):
    net = jn.BayesianNetwork.from_tables("a", {"a": [0.5, 0.5]})
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(PermissionError(13, "no")))
    with pytest.raises(jn.FileError, match="cannot write"):
        net.save(old)
    monkeypatch.undo()
    assert_untouched(old)
    net.save(old)
    assert jn.load(old).equals(net)


def test_a_table_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    table = jn.Table({"a": ["x", "y"]})
    for name in ("t.csv", "t.tsv.gz", "t.parquet"):
        path = tmp_path / name
        path.write_bytes(b"old")
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "full")))
            with pytest.raises(jn.FileError, match=f"cannot write .*{name}: full"):
                table.write(path)
        assert path.read_bytes() == b"old"
        table.write(path)
        assert jn.read_table(path).to_arrow().to_pylist() == [{"a": "x"}, {"a": "y"}]
    assert sorted(os.listdir(tmp_path)) == ["t.csv", "t.parquet", "t.tsv.gz"]


KILLED = """
import os, signal, sys
from jensen.support.atomic import write_whole
with write_whole(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_writer_left_is_removed_by_the_next(old):
    (old.parent / "other.json").write_bytes(b"old")
    for name in ("net.json", "other.json"):
        subprocess.run([sys.executable, "-c", KILLED, old.parent / name], check=False)
    left = sorted(os.listdir(old.parent))
    assert len(left) == 4
    assert all(name.startswith(".jensen-") for name in left[:2])
    assert old.read_bytes() == b"old"
    write(old)
    assert old.read_bytes() == b"new"
    assert len(os.listdir(old.parent)) == 3  # that of the other file is left to its next writer
    write(old.parent / "other.json")
    assert sorted(os.listdir(old.parent)) == ["net.json", "other.json"]


def test_what_another_is_writing_is_left_alone(old):
    with write_whole(old) as file:
        file.write(b"slow")
        write(old, b"quick")
        assert old.read_bytes() == b"quick"
        assert len(os.listdir(old.parent)) == 2
    assert old.read_bytes() == b"slow"
    assert os.listdir(old.parent) == ["net.json"]


def test_a_file_taken_for_left_over_before_it_is_locked_is_made_again(old, monkeypatch):
    make, made = tempfile.mkstemp, []

    def lose_the_first(**choices):
        handle, name = make(**choices)
        if not made:
            os.unlink(name)
        made.append(name)
        return handle, name

    monkeypatch.setattr(tempfile, "mkstemp", lose_the_first)
    write(old)
    assert len(made) == 2
    assert old.read_bytes() == b"new"
    assert os.listdir(old.parent) == ["net.json"]


def test_without_locks_nothing_is_removed_and_files_are_written(old, monkeypatch):
    """As on some network file systems."""
    subprocess.run([sys.executable, "-c", KILLED, old], check=False)

    def refuse(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("fcntl.flock", refuse)
    write(old)
    assert old.read_bytes() == b"new"
    assert len(os.listdir(old.parent)) == 2


# --- names that no file can have ---

NO_NAMES = {
    "NUL": ("a\0b", r"no file is named 'a\\x00b.*': a NUL character stands there"),
    "half a character": ("a\ud800", r"no file is named 'a\\ud800.*': half a character stands"),
    "long": ("x" * 5000, r"cannot (read|write) x{200}\.\.\.: File name too long"),
    "long folders": (f"{'x' * 200}/" * 30 + "y", r"cannot .*\.\.\.: File name too long"),
}
TINY = {"a": [0, 1, 1, 0], "b": [0, 1, 1, 1]}
DOORS = {
    "read_table": lambda name: jn.read_table(f"{name}.csv"),
    "Table": lambda name: jn.Table(f"{name}.parquet"),
    "Table.write": lambda name: jn.Table(TINY).write(f"{name}.csv"),
    "load": lambda name: jn.load(f"{name}.json"),
    "save": lambda name: jn.examples.load("asia").save(f"{name}.json"),
    "read_local_scores": lambda name: jn.read_local_scores(f"{name}.jkl"),
    "write_local_scores": lambda name: jn.write_local_scores(f"{name}.jkl", TINY, "bic"),
    "checkpoint": lambda name: jn.BayesianNetwork("a -> b", prior=1.0).fit(
        TINY, checkpoint=f"{name}.run"
    ),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", NO_NAMES)
def test_a_name_that_no_file_can_have_is_refused_in_words(name, door):
    text, message = NO_NAMES[name]
    with pytest.raises(jn.FileError, match=message):
        DOORS[door](text)


@pytest.mark.parametrize("path", [3, None, b"net.json", ["net.json"]])
def test_what_is_no_path_is_refused(path):
    for use in (read_bytes, check_writable, check_name):
        with pytest.raises(jn.FileError, match=r"^a file is named by a text or a path, not by"):
            use(path)
