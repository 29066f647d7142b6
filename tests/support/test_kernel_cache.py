"""Compiled kernels are kept under the hash of all their sources, wherever there is a place."""

import ast
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

from jensen import kernels
from jensen.exceptions import FileError
from jensen.support import kernel_cache

pytestmark = pytest.mark.compiled

PACKAGE = kernel_cache.PACKAGE
CACHED = (
    kernel_cache.source_key,
    kernel_cache.places,
    kernel_cache._leads_to_kernels,
    kernel_cache._read,
    kernel_cache._module,
    kernel_cache._tell,
)


@pytest.fixture(autouse=True)
def _nothing_remembered():
    """Of folders that a test made, before it and after it."""
    for function in CACHED:
        function.cache_clear()
    yield
    for function in CACHED:
        function.cache_clear()


@pytest.fixture
def copy(tmp_path):
    """A copy of the package, of which no kernel was compiled."""
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(PACKAGE, tmp_path / "site" / "jensen", ignore=ignored))


# What the key depends on


def keys(package, monkeypatch):
    """The key of every module with kernels."""
    for function in CACHED:
        function.cache_clear()
    monkeypatch.setattr(kernel_cache, "PACKAGE", package)
    monkeypatch.setattr(kernel_cache, "KERNELS", package / "kernels")
    files = [package / "kernels" / f"{module}.py" for module in kernels.MODULES]
    return {file.stem: kernel_cache.source_key(file) for file in files}


@pytest.mark.parametrize(
    ("changed", "users", "others"),
    [
        ("kernels/bit_sets.py", {"bit_sets", "partition_chain", "structure_chain"}, {"columns"}),
        ("kernels/moves/orders.py", {"order_chain"}, {"columns", "parent_sums"}),
        ("kernels/moves/edges.py", {"structure_chain"}, {"columns", "parent_sums"}),
        (
            "kernels/moves/__init__.py",
            {"order_chain", "partition_chain", "structure_chain"},
            {"chains"},
        ),
        ("support/chain_records.py", {"order_chain", "partition_chain"}, {"bit_sets"}),
        ("kernels/__init__.py", set(kernels.MODULES) - {"records"}, set()),
        ("cli/learn.py", set(), set(kernels.MODULES)),
        ("exceptions.py", set(), set(kernels.MODULES)),
    ],
)
def test_kernels_are_compiled_again_if_and_only_if_their_sources_changed(
    copy, monkeypatch, changed, users, others
):
    before = keys(copy, monkeypatch)
    file, text = copy / changed, (copy / changed).read_text()
    file.write_text(text.replace("the", "teh", 1))  # as long as it was
    now = keys(copy, monkeypatch)
    assert file.read_text() != text
    differ = {module for module in before if before[module] != now[module]}
    assert users <= differ
    assert not others & differ


def test_a_copy_elsewhere_has_the_same_key(copy, monkeypatch):
    assert keys(copy, monkeypatch) == keys(PACKAGE, monkeypatch)


@pytest.mark.parametrize("library", ["numba", "llvmlite", "np", "jensen", "python", "checks"])
def test_other_versions_compile_their_own(monkeypatch, library):
    file = kernel_cache.KERNELS / "chains.py"
    before = kernel_cache.source_key(file)
    if library == "jensen":
        monkeypatch.setattr(kernel_cache, "__version__", "99")
    elif library == "python":
        monkeypatch.setattr(sys, "version_info", (3, 99, 0))
    elif library == "checks":
        monkeypatch.setattr(kernel_cache.settings, "BOUNDSCHECK", 1)
    else:
        monkeypatch.setattr(getattr(kernel_cache, library), "__version__", "99")
    kernel_cache.source_key.cache_clear()
    assert kernel_cache.source_key(file) != before


def reached(function, seen):
    """Files of all compiled functions that a function calls, by what the interpreter has."""
    if not isinstance(function, Dispatcher) or function in seen:
        return seen
    seen.add(function)
    code, known = function.py_func.__code__, function.py_func.__globals__
    cells = [cell.cell_contents for cell in function.py_func.__closure__ or ()]
    for value in [*cells, *(known.get(name) for name in code.co_names)]:
        inside = vars(value).values() if isinstance(value, type(ast)) else [value]
        for thing in inside:
            reached(thing, seen)
    return seen


def test_all_that_is_compiled_into_a_kernel_is_in_its_key():
    for item in kernels.load_all():
        found = {Path(f.py_func.__code__.co_filename) for f in reached(item.function, set())}
        known = kernel_cache.sources(Path(item.function.py_func.__code__.co_filename))
        assert found <= known, (item.function.__name__, found - known)


def test_other_files_hand_nothing_on_to_kernels():
    """A constant that comes from a third file would be in a kernel, and not in its key."""
    files = {file for x in kernel_cache.KERNELS.glob("*.py") for file in kernel_cache.sources(x)}
    for file in filter(kernel_cache._leads_to_kernels, files):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ImportFrom) and node.module.startswith("jensen"):
                (path,) = kernel_cache._module(node.module)
                if path.name != "__init__.py" and not kernel_cache._leads_to_kernels(path):
                    foreign = imported_names(path) & {name.name for name in node.names}
                    assert not foreign, (file, foreign)


def imported_names(file):
    body = ast.parse(file.read_text()).body
    imports = [node for node in body if isinstance(node, ast.ImportFrom)]
    return {name.asname or name.name for node in imports for name in node.names}


# The same in new processes, with a kernel that is compiled quickly

MOVE = """
from jensen.kernels import bare_part

@bare_part
def step():
    return {0}
"""
CHAIN = """
from jensen.kernels import kernel
from jensen.kernels.moves import tiny_move

@kernel("int64()")
def tiny():
    return tiny_move.step()
"""
CALL = """
import logging
logging.basicConfig(level=logging.INFO, format="%(message)s")
from jensen.kernels.tiny_chain import tiny
print(tiny())
"""


@pytest.fixture
def tiny(copy):
    """The copy with a kernel that has one move."""
    (copy / "kernels" / "tiny_chain.py").write_text(CHAIN)
    (copy / "kernels" / "moves" / "tiny_move.py").write_text(MOVE.format(1))
    return copy


def call(package, **environment):
    """What the kernel answers in a new process, and what was told."""
    known = {x: y for x, y in os.environ.items() if not x.endswith("_CACHE_DIR")}
    more = {name: str(value) for name, value in environment.items()}
    done = subprocess.run(
        [sys.executable, "-B", "-c", CALL],
        env={**known, "PYTHONPATH": str(package.parent), **more},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout), done.stderr.splitlines()


@pytest.mark.slow
def test_a_changed_move_is_compiled_again_and_a_moved_package_is_not(tiny, tmp_path):
    """A folder that was filled beforehand, as in an image, serves any copy of the same sources."""
    place = tmp_path / "kept"
    assert call(tiny, JENSEN_CACHE_DIR=place) == (1, [kernels.COMPILING])
    before = sorted((file.name, file.stat().st_mtime_ns) for file in place.iterdir())
    moved = shutil.copytree(tiny.parent, tmp_path / "other") / "jensen"
    for file in moved.rglob("*.py"):
        os.utime(file, (1, 1))
    assert call(moved, JENSEN_CACHE_DIR=place) == (1, [])
    assert sorted((file.name, file.stat().st_mtime_ns) for file in place.iterdir()) == before
    move = tiny / "kernels" / "moves" / "tiny_move.py"
    was = move.stat()
    move.write_text(MOVE.format(2))
    os.utime(move, ns=(was.st_atime_ns, was.st_mtime_ns))  # of the same size and time
    assert call(tiny, JENSEN_CACHE_DIR=place) == (2, [kernels.COMPILING])


@pytest.mark.slow
def test_damaged_files_are_compiled_again(tiny, tmp_path):
    place = tmp_path / "kept"
    call(tiny, JENSEN_CACHE_DIR=place)
    for file in place.iterdir():
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content if file.suffix == ".nbc" else b"")
    assert call(tiny, JENSEN_CACHE_DIR=place) == (1, [kernels.COMPILING])
    assert call(tiny, JENSEN_CACHE_DIR=place) == (1, [])


@pytest.mark.slow
def test_neither_the_package_nor_the_home_can_be_written(tiny, tmp_path):
    """Not by root either: where there should be folders, there are files."""
    (tiny / "kernels" / "__pycache__").write_text("")
    (tmp_path / "file").write_text("")
    own = tmp_path / f"jensen-{os.getuid()}"
    unwritable = {
        "HOME": tmp_path / "file",
        "XDG_CACHE_HOME": tmp_path / "file",
        "TMPDIR": tmp_path,
    }
    told = (
        f"because no lasting folder can be written: {tiny}/kernels/__pycache__ (File exists), "
        f"{tmp_path}/file/jensen (Not a directory); set JENSEN_CACHE_DIR to one that can"
    )
    kept = f"compiled kernels are kept in {own}, {told}"
    assert call(tiny, **unwritable) == (1, [kernels.COMPILING, kept])
    assert own.stat().st_mode & 0o777 == 0o700
    assert call(tiny, **unwritable) == (1, [])
    own.chmod(0o777)  # others may have put code there
    anew = f"compiled kernels are made anew by every process, {told}"
    assert call(tiny, **unwritable) == (1, [kernels.COMPILING, anew])
    wanted = tmp_path / "wanted"
    assert call(tiny, **unwritable, JENSEN_CACHE_DIR=wanted) == (1, [kernels.COMPILING])
    assert any(wanted.iterdir())


# Folders


@pytest.fixture
def chosen(monkeypatch, tmp_path):
    """Names the folders that are tried."""

    def choose(*names):
        (tmp_path / "file").touch()
        found = [tmp_path / name for name in names]
        monkeypatch.setattr(kernel_cache, "folders", lambda: found)
        return found

    return choose


def test_the_folders_that_are_tried(monkeypatch, tmp_path):
    monkeypatch.setattr(kernel_cache.settings, "CACHE_DIR", "")
    monkeypatch.delenv("JENSEN_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    usual = [PACKAGE / "kernels" / "__pycache__", tmp_path / "jensen"]
    assert kernel_cache.folders() == usual
    monkeypatch.setattr(kernel_cache.settings, "CACHE_DIR", str(tmp_path / "numba"))
    assert kernel_cache.folders() == [tmp_path / "numba" / "jensen", *usual]
    monkeypatch.setenv("JENSEN_CACHE_DIR", str(tmp_path / "mine"))
    assert kernel_cache.folders() == [tmp_path / "mine", tmp_path / "numba" / "jensen", *usual]
    monkeypatch.setenv("XDG_CACHE_HOME", "~/nobody")  # no home, as of a user that has no name
    assert kernel_cache.folders()[2:] == usual[:1]


def test_the_first_folder_that_can_be_written_is_and_those_before_are_read(chosen, monkeypatch):
    monkeypatch.delenv("JENSEN_CACHE_DIR", raising=False)
    wrong, right, _ = chosen("file/a", "b", "c")
    assert kernel_cache.places() == ((wrong, right), right, "")


def test_a_wanted_folder_that_cannot_be_written_is_told_once(chosen, monkeypatch, caplog):
    wrong, right = chosen("file/a", "b")
    monkeypatch.setenv("JENSEN_CACHE_DIR", str(wrong))
    assert kernel_cache.writable_folder() == kernel_cache.writable_folder() == right
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert caplog.messages == [
        f"JENSEN_CACHE_DIR={wrong} cannot be written (Not a directory); "
        f"what is compiled now is kept in {right}"
    ]


def test_compiling_beforehand_is_refused_where_nothing_can_be_kept(chosen, monkeypatch):
    chosen("file/a")
    monkeypatch.setattr(kernel_cache, "temporary_folder", lambda: None)
    with pytest.raises(FileError, match="compiling beforehand is of no use: no folder can be wr"):
        next(kernels.cache_all(2))


def test_a_full_disk_is_told_and_the_kernel_is_there(tmp_path, chosen, monkeypatch, caplog):
    chosen("b")
    item = kernels.load_all(["random_numbers"])[0]
    fresh = kernels.kernel(item.signature)(item.function.py_func)
    kernels.KERNELS.pop()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kernel_cache._File, "_save_index", fail)
    kernels._compile(kernels.Kernel(fresh, item.signature))
    assert fresh.signatures
    assert set(caplog.messages) - {kernels.COMPILING} == {
        f"compiled kernels cannot be kept in {tmp_path / 'b'}: No space left on device"
    }


def test_old_versions_are_removed(tmp_path):
    names = [f"m.f-{10 + k}-{k:020x}" for k in range(6)]
    for k, name in enumerate(names):
        for end in (".nbi", ".0123.nbc", ".nbi.tmp.89"):
            (tmp_path / f"{name}{end}").touch()
            os.utime(tmp_path / f"{name}{end}", (k, k))
    others = [f"m.f2-1-{0:020x}.nbi", "m.f-12.py311.nbi", "notes.txt"]
    for name in others:
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, 0))
    kernel_cache._remove_older(tmp_path, "m.f")
    left = {path.name for path in tmp_path.iterdir()}
    kept = names[1 - kernel_cache.N_KEPT :]  # there is room for one more
    ends = (".nbi", ".0123.nbc", ".nbi.tmp.89")
    assert left == {*others, *(f"{name}{end}" for name in kept for end in ends)}


def test_processes_that_write_at_once_find_their_own(tmp_path):
    """As Numba does it, both would have taken the same file: the last one's code for both."""
    one, two = (kernel_cache._File(str(tmp_path), "m.f", "key") for _ in range(2))
    lists = one._load_index
    one._load_index = lambda: [lists(), two.save("b", "code of b")][0]  # just before it is written
    one.save("a", "code of a")
    del one._load_index
    assert one.load("a") == "code of a"
    assert one.load("b") in (None, "code of b")
    two.save("b", "code of b")
    assert (one.load("a"), one.load("b")) == ("code of a", "code of b")
