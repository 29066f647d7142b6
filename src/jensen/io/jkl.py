"""Local scores in files: the format of Jaakkola et al., which GOBNILP reads and writes.

The first line says how many variables there are. Of each variable come its name and the number of
its possible sets of parents, then a line for each of these: the score, how many parents, their
names. A set that is not listed is not possible.

References
----------
Jaakkola, Sontag, Globerson and Meila (2010), *Learning Bayesian network structure using LP
relaxations*, AISTATS. Cussens and Bartlett, *GOBNILP*.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import combinations
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from jensen.exceptions import FileError
from jensen.io.compression import compress, decompress, is_compressed
from jensen.io.lexer import shorten
from jensen.scores.listed_scores import LocalScores
from jensen.scores.make_scorer import make_scorer
from jensen.scores.mixed_class import edges_outside
from jensen.scores.scorer import Scorer, isolated, kinds_of
from jensen.scores.table_checks import warn_of_constants
from jensen.support.arguments import check_whole
from jensen.support.atomic import check_target, read_bytes, write_whole
from jensen.support.text import plural


def read_local_scores(path: str | PathLike[str]) -> LocalScores:
    """Read the scores of families from a .jkl file, as GOBNILP writes them.

    Parameters
    ----------
    path
        A file that ends in .jkl or .jkl.gz.

    Returns
    -------
    LocalScores
        What `jensen.learn_structure` takes as `scores`, instead of a table.

    Examples
    --------
    >>> import jensen as jn
    >>> scores = jn.read_local_scores("asia.jkl")  # doctest: +SKIP
    """
    _check_path(path)
    content = read_bytes(path)
    if is_compressed(content):
        content = decompress(content, str(path))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: byte {error.start + 1} is not UTF-8 text") from None
    return loads(text, str(path))


def write_local_scores(
    path: str | PathLike[str],
    source: Any,
    score: str | None = None,
    *,
    max_parents: int = 3,
    **choices: Any,
) -> None:
    """Write the scores of all families up to a size to a .jkl file, whole or not at all.

    Parameters
    ----------
    path
        Where to; compressed if it ends in .gz.
    source
        A `LocalScores`, which is written as it is, or anything a `Table` can be built from.
    score, choices
        As in `jensen.learn_structure`; of a table only.
    max_parents
        The most parents of a family; of a table only.

    Examples
    --------
    >>> import jensen as jn, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tiny.jkl"
    >>> jn.write_local_scores(path, {"a": [0, 1, 1], "b": [0, 1, 1]}, "bic")
    >>> jn.read_local_scores(path)
    LocalScores: 2 variables, 4 families
    """
    _check_path(path)
    check_target(str(path))
    if not isinstance(source, LocalScores):
        check_whole("max_parents", max_parents, at_least=0)
        scorer = make_scorer(source, score, **choices)
        warn_of_constants([scorer.names[v] for v in sorted(isolated(scorer))])
        source = LocalScores.of(_all_families(scorer, max_parents))
    content = dumps(source).encode("utf-8")
    with write_whole(Path(path)) as file:
        file.write(compress(content) if str(path).lower().endswith(".gz") else content)


def _check_path(path: Any) -> None:
    if not isinstance(path, (str, PathLike)) or isinstance(fspath(path), bytes):
        raise FileError(f"local scores stand in a file, and {path!r:.80} is no path")


def _all_families(
    scorer: Scorer, max_parents: int
) -> Mapping[str, Mapping[tuple[str, ...], float]]:
    """Child → its sets of parents → the score; a set comes from all that have one parent less."""
    names, n = scorer.names, len(scorer.names)
    families: dict[str, dict[tuple[str, ...], float]] = {}
    alone, kinds = isolated(scorer), kinds_of(scorer)
    never = edges_outside(kinds) if kinds else np.zeros((n, n), bool)
    for child, name in enumerate(names):
        others = [v for v in range(n) if v != child and not (alone & {v, child} or never[v, child])]
        found: dict[tuple[str, ...], float] = {(): scorer.family(child, [])}
        for size in range(min(max_parents, len(others))):
            for parents in combinations(others, size):
                scores = scorer.with_each(child, parents)
                for u in others:
                    if not parents or u > parents[-1]:
                        found[tuple(names[v] for v in (*parents, u))] = float(scores[u])
        families[name] = found
    return families


def dumps(scores: LocalScores) -> str:
    """Local scores as text; numbers read back to the same bits."""
    for name in scores.names:
        if not name or any(c.isspace() for c in name):
            raise FileError(f"a .jkl file holds no names with spaces, as {name!r} has: rename it")
    lines = [str(len(scores.names))]
    for name, families in scores.families.items():
        listed = sorted(families.items(), key=lambda item: (-item[1], len(item[0]), item[0]))
        possible = [(parents, score) for parents, score in listed if score > -math.inf]
        lines.append(f"{name} {len(possible)}")
        lines += [" ".join([repr(float(x)), str(len(up)), *up]) for up, x in possible]
    return "\n".join([*lines, ""])


def loads(text: str, file: str) -> LocalScores:
    r"""Local scores from text; `file` is for messages.

    Examples
    --------
    >>> loads("2\na 2\n-5.5 0\n-3 1 b\nb 1\n-4 0\n", "x.jkl")
    LocalScores: 2 variables, 3 families
    """
    lines = _Lines(text, file)
    (n,) = lines.read("the number of variables", 1)
    n_variables = lines.whole(n, "the number of variables")
    families: dict[str, dict[tuple[str, ...], float]] = {}
    places: list[tuple[int, str]] = []
    for _ in range(n_variables):
        name, count = lines.read("a name and how many sets of parents follow", 2)
        if name in families:
            lines.refuse(f"the variable {shorten(name)} stands twice")
        families[name] = {}
        for _ in range(lines.whole(count, f"how many sets of parents {shorten(name)} has")):
            parents, score = _family(lines, name)
            if parents in families[name]:
                lines.refuse(f"the parents {' '.join(parents) or '(none)'} of {name!r} stand twice")
            families[name][parents] = score
            places += [(lines.number, parent) for parent in parents]
    lines.finish()
    for number, parent in places:
        if parent not in families:
            lines.refuse(f"there is no variable {shorten(parent)} in this file", number)
    return LocalScores.of(families)


def _family(lines: _Lines, child: str) -> tuple[tuple[str, ...], float]:
    """A line of a set of parents: these, sorted, and the score."""
    words = lines.read(f"a score, how many parents, and their names, of {shorten(child)}")
    if len(words) < 2:
        lines.refuse("expected a score, how many parents, and their names")
    score, parents = lines.score(words[0]), words[2:]
    n = lines.whole(words[1], "how many parents")
    if n != len(parents):
        lines.refuse(f"expected {plural(n, 'parent')}, but found {len(parents)}")
    if child in parents:
        lines.refuse(f"{shorten(child)} is a parent of its own")
    if len(set(parents)) < n:
        lines.refuse("a parent stands twice")
    return tuple(sorted(parents)), score


class _Lines:
    """The lines of a text, one after the other; empty ones mean nothing."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.number = 0  # of the line read last
        self._last = text.count("\n") + (not text.endswith("\n"))
        self._left: Iterator[tuple[int, list[str]]] = (
            (k + 1, words) for k, line in enumerate(text.split("\n")) if (words := line.split())
        )

    def read(self, expected: str, n_words: int | None = None) -> list[str]:
        """The words of the next line."""
        number, words = next(self._left, (self._last, None))
        self.number = number
        if words is None:
            self.refuse(f"expected {expected}, but found the end of the file")
        if n_words is not None and len(words) != n_words:
            self.refuse(f"expected {expected}, but found {shorten(' '.join(words))}")
        return words

    def finish(self) -> None:
        """Refuse a text that goes on."""
        number, words = next(self._left, (0, None))
        if words is not None:
            self.refuse(
                f"expected the end of the file, but found {shorten(' '.join(words))}", number
            )

    def whole(self, word: str, expected: str) -> int:
        """A whole number."""
        if not (word.isascii() and word.isdigit() and len(word) < 10):
            self.refuse(f"expected {expected}, but found {shorten(word)}")
        return int(word)

    def score(self, word: str) -> float:
        """A number; -inf is one."""
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if "_" in word or math.isnan(value) or value == math.inf:
            self.refuse(f"expected a score, but found {shorten(word)}")
        return value

    def refuse(self, message: str, number: int | None = None) -> NoReturn:
        """Refuse the text for what stands in the line read last, or in another."""
        raise FileError(f"{self.file}, line {number or self.number}: {message}")
