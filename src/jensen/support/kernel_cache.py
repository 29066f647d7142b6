"""Where compiled kernels are kept, and under which names.

Numba knows what it has compiled by the file in which a function stands. But a kernel is made of
several files: helpers and moves are pasted into it. So Jensen names what it keeps by a hash of all
these sources and of the versions that compile them: code of other sources is not found.

Folders, the best one first: ``JENSEN_CACHE_DIR``; ``NUMBA_CACHE_DIR``; that of the kernels; that of
the user's caches; one of the user's own among temporary files. The first that can be written is
written to. It is read, and so are those before it, which may come with an installation; if there is
none, every process compiles what it needs.
"""

import contextlib
import hashlib
import logging
import os
import pickle
import re
import stat
import sys
import tempfile
import uuid
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite
import numba
import numpy as np
from numba.core import config
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.compiler import CompileResult
from numba.misc.appdirs import AppDirs

from jensen import __version__

PACKAGE = Path(__file__).resolve().parents[1]
KERNELS = PACKAGE / "kernels"

VARIABLE = "JENSEN_CACHE_DIR"

ELSEWHERE = f"{VARIABLE}={{}} cannot be written ({{}}); what is compiled now is kept in {{}}"
NOWHERE = (
    f"compiled kernels {{}}, because no lasting folder can be written: {{}}; set {VARIABLE} to one "
    f"that can"
)

N_KEPT = 3
"""Of every function: what was compiled from so many versions of its sources."""

IMPORT = re.compile(
    rb"^(?:from (jensen[\w.]*) import (\([^)]*\)|[^\n#]*)|import (jensen[\w.]*))", re.MULTILINE
)
"""At the left margin: what a function imports comes too late to be compiled into a kernel."""

settings: Any = config  # which are named in no file that mypy could read

log = logging.getLogger("jensen")


@cache
def source_key(file: Path) -> str:
    """A hash of all that the kernels of a file are made of, and of what compiles them."""
    digest = hashlib.blake2b(versions().encode(), digest_size=10)
    digest.update(b"".join(sorted(_read(path)[0] for path in sources(file))))
    return digest.hexdigest()


def versions() -> str:
    """Of all that has a part in compiling, with the settings that change what comes out."""
    libraries = numba.__version__, llvmlite.__version__, np.__version__
    python = sys.implementation.cache_tag, sys.version_info[:3]
    return repr((__version__, libraries, python, settings.OPT, settings.BOUNDSCHECK))


def sources(file: Path) -> set[Path]:
    """The files that kernels of a file are made of.

    Imports are followed where they lead to kernels. Other files have what they define themselves,
    constants and types of records, in a kernel.
    """
    found, waiting = {file}, [file]
    while waiting:
        here = waiting.pop()
        if here == file or _leads_to_kernels(here):
            new = _read(here)[1] - found
            found |= new
            waiting.extend(new)
    return found


@cache
def _leads_to_kernels(file: Path) -> bool:
    """Whether it declares some, or imports what does; no file imports itself in a circle."""
    return file.parent == KERNELS or any(map(_leads_to_kernels, _read(file)[1]))


@cache
def _read(file: Path) -> tuple[bytes, frozenset[Path]]:
    """A hash of name and text, wherever the file stands, and the files of Jensen it imports."""
    text = file.read_bytes()
    found: set[Path] = set()
    for module, names, other in IMPORT.findall(text):
        of_module = _module(parent := (module or other).decode())
        found |= of_module
        if any(path.name == "__init__.py" for path in of_module):
            for word in re.findall(r"\w+", names.decode()):
                found |= _module(f"{parent}.{word}")
    found.discard(file)  # by its own name a package imports what stands in its folder
    return hashlib.blake2b(file.name.encode() + b"\n" + text).digest(), frozenset(found)


@cache
def _module(name: str) -> frozenset[Path]:
    """The file of a module; of a name that is none, nothing."""
    path = os.path.join(PACKAGE.parent, *name.split("."))
    files = f"{path}.py", os.path.join(path, "__init__.py")
    return frozenset(Path(file) for file in files if os.path.isfile(file))


def folders() -> list[Path]:
    """Where compiled kernels should be, the best place first; not all of them exist."""
    chosen = os.environ.get(VARIABLE), settings.CACHE_DIR and f"{settings.CACHE_DIR}/jensen"
    user = AppDirs(appname="jensen", appauthor=False).user_cache_dir
    found = [Path(path).expanduser().absolute() for path in chosen if path]
    found.append(KERNELS / "__pycache__")
    if os.path.isabs(user):  # somebody without a home has none
        found.append(Path(user))
    return found


def temporary_folder() -> Path | None:
    """A folder of the user's own among temporary files; None where others may have put code."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    try:
        path = Path(tempfile.gettempdir()) / f"jensen-{user}"
        path.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
    except OSError:
        return None
    is_own = not hasattr(os, "getuid") or (found.st_uid == user and not found.st_mode & 0o022)
    return path if stat.S_ISDIR(found.st_mode) and is_own else None


class Places(NamedTuple):
    """Where compiled kernels are in this process."""

    read: tuple[Path, ...]  # those that cannot be written, then the one that can
    write: Path | None
    trouble: str  # what is to be told before something is written elsewhere than was wanted


@cache
def places() -> Places:
    """Try to write into one folder after another."""
    refused: dict[Path, str] = {}
    for folder in folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError as error:
            refused[folder] = error.strerror or str(error)
            continue
        is_wanted = not refused or not os.environ.get(VARIABLE)
        trouble = "" if is_wanted else ELSEWHERE.format(*next(iter(refused.items())), folder)
        return Places((*refused, folder), folder, trouble)
    temporary = temporary_folder()
    told = ", ".join(f"{path} ({why})" for path, why in refused.items())
    if temporary is None:
        return Places(tuple(refused), None, NOWHERE.format("are made anew by every process", told))
    trouble = NOWHERE.format(f"are kept in {temporary}", told)
    return Places((*refused, temporary), temporary, trouble)


def writable_folder() -> Path | None:
    """Where compiled kernels are written to, if anywhere; if it was to be another, it is told."""
    if places().trouble:
        _tell(places().trouble)
    return places().write


class KernelCache(FunctionCache):
    """What was compiled of one function; where files cannot be used, it is as if there were none.

    Numba's own would write into its folder when a function is declared.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._py_func, self._name = function, repr(function)
        code = function.__code__
        self._key = source_key(Path(code.co_filename).resolve())
        self._function = f"{function.__module__}.{function.__qualname__}"
        self._base = f"{self._function}-{code.co_firstlineno}-{self._key}"
        self.enable()

    @property
    def cache_path(self) -> str:
        """Where it is written to."""
        return str(places().write)

    def exists(self) -> bool:
        """Whether anything was compiled from these sources."""
        return any(file.exists() for file in self._files())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was compiled for these types, or None."""
        target_context.refresh()
        for file in self._files() if self._enabled else ():
            with contextlib.suppress(Exception):  # whatever a damaged file leads to
                data = file.load(self._index_key(sig, target_context.codegen()))
                if data is not None:
                    return CompileResult._rebuild(target_context, *data)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled for these types."""
        folder = writable_folder()
        if folder is None or not self._enabled or data.library.has_dynamic_globals:
            return
        file = self._file(folder)
        try:
            if not file.exists():
                _remove_older(folder, self._function)
            file.save(self._index_key(sig, data.codegen), data._reduce())
        except OSError as error:  # as on a full disk
            _tell(f"compiled kernels cannot be kept in {folder}: {error.strerror or error}")

    def flush(self) -> None:
        """Forget what was compiled."""
        folder = writable_folder()
        if folder is not None:
            self._file(folder).flush()

    def _files(self) -> list["_File"]:
        """Where it may be."""
        return [self._file(folder) for folder in places().read]

    def _file(self, folder: Path) -> "_File":
        return _File(str(folder), self._base, self._key)


class _File(IndexDataCacheFile):
    """A list of types, and for each of them a file with a hash and what was compiled.

    Several processes may write at once: code is in a file of its own before it is listed. Where one
    process replaces the list of another, something is compiled once more.
    """

    def exists(self) -> bool:
        """Whether there is a list."""
        return os.path.exists(self._index_path)

    def save(self, key: Any, data: Any) -> None:
        """Write code, and its name into the list."""
        name = self._index_name.replace(".nbi", f".{uuid.uuid4().hex[:12]}.nbc")
        self._save_data(name, data)
        self._save_index(self._load_index() | {key: name})

    def _load_index(self) -> dict[Any, str]:
        try:
            return dict(super()._load_index())
        except Exception:  # whatever a damaged file leads to
            return {}

    def _save_data(self, name: str, data: Any) -> None:
        content = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(hashlib.sha256(content).digest() + content)

    def _load_data(self, name: str) -> Any:
        whole = Path(self._data_path(name)).read_bytes()
        is_intact = hashlib.sha256(whole[32:]).digest() == whole[:32]
        return pickle.loads(whole[32:]) if is_intact else None


def _remove_older(folder: Path, function: str) -> None:
    """Make place for what is compiled from new sources: only some versions before stay."""
    name = re.compile(rf"{re.escape(function)}-\d+-[0-9a-f]{{20}}(?=\.)")
    files: dict[str, list[Path]] = {}
    for path in folder.iterdir():
        if found := name.match(path.name):
            files.setdefault(found[0], []).append(path)
    when = {version: max(map(_when_written, paths)) for version, paths in files.items()}
    for version in sorted(files, key=when.__getitem__)[: 1 - N_KEPT or None]:
        for path in files[version]:
            path.unlink(missing_ok=True)


def _when_written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # another process has removed it
        return 0.0


@cache
def _tell(what: str) -> None:
    """Say it once."""
    log.warning(what)
