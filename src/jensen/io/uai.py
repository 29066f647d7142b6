"""UAI, the format of the inference competitions at the conference of that name.

It holds numbers only. On reading the variables become "0", "1", ... in the order of the file, and
so do the states of each; on writing they are numbered in the natural order of their names ("x2"
before "x10"). Properties are left out. Markov networks are refused. What pyAgrum writes is read by
this definition too, though it has the first parent run fastest: nothing tells its files apart.

References
----------
UAI 2008 evaluation, *file format*: of every table first the scope, its child last; then the
numbers, the states of the last variable of the scope running fastest.
"""

from __future__ import annotations

import re
from itertools import islice
from math import prod
from typing import TYPE_CHECKING, NoReturn

from jensen.data.variable import sort_naturally
from jensen.exceptions import FileError
from jensen.io.declared_network import DeclaredNetwork, parse_numbers
from jensen.io.lexer import LexerToken, shorten
from jensen.io.properties import warn_of_losses
from jensen.support.text import plural

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork


_COMMENT = re.compile(r"#[^\r\n]*|^c(?=\s)[^\r\n]*", re.MULTILINE)
_WORD = re.compile(r"\S+")
_BEGIN = re.compile(r"\s*+(?:BAYES|MARKOV)\s++[0-9]++\s")
_WHOLE = re.compile(r"[0-9]{1,9}")


class WordScanner:
    """The words of a text, read one after the other; a place is the number of a word."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.text = _COMMENT.sub(lambda match: " " * len(match[0]), text)
        self.words = self.text.split()
        self.at = 0

    def word(self, expected: str) -> str:
        """Read the next word; the end of the file is refused."""
        if self.at == len(self.words):
            self.fail(expected)
        self.at += 1
        return self.words[self.at - 1]

    def whole(self, expected: str) -> int:
        """Read a whole number; anything else is refused."""
        if self.at == len(self.words) or not _WHOLE.fullmatch(self.words[self.at]):
            self.fail(expected)
        return int(self.word(expected))

    def fail(self, expected: str) -> NoReturn:
        """Raise an error: something else was expected here."""
        left = self.words[self.at : self.at + 1]
        found = shorten(left[0]) if left else "the end of the file"
        self.refuse(f"expected {expected}, but found {found}", self.at)

    def refuse(self, message: str, at: int) -> NoReturn:
        """Raise an error that names this place."""
        raise FileError(f"{self.file}, {self.place(at)}: {message}")

    def place(self, at: int) -> str:
        """Line and column of a word, counted from 1."""
        match = next(islice(_WORD.finditer(self.text), at, None), None)
        start = len(self.text) if match is None else match.start()
        line = self.text.count("\n", 0, start) + 1
        return f"line {line}, column {start - self.text.rfind(chr(10), 0, start)}"


def looks_like(text: str) -> bool:
    """Whether the text begins as a UAI file does."""
    return _BEGIN.match(_COMMENT.sub("", text[:4000])) is not None


def loads(text: str, file: str) -> BayesianNetwork:
    """A network from UAI text; `file` is for messages.

    Examples
    --------
    >>> loads("BAYES 1 2  1 1 0  2 0.8 0.2", "x.uai").states
    {'0': ('0', '1')}
    """
    scanner = WordScanner(text, file)
    declared = DeclaredNetwork(scanner)
    kind = scanner.word("'BAYES'")
    if kind == "MARKOV":
        scanner.refuse("this is a Markov network; Jensen reads Bayesian networks, 'BAYES'", 0)
    if kind != "BAYES":
        scanner.refuse(f"expected 'BAYES', but found {shorten(kind)}", 0)
    n = scanner.whole("the number of variables")
    sizes = [_size(scanner) for _ in range(n)]
    scopes = [_scope(scanner, n) for _ in range(scanner.whole("the number of tables"))]
    for scope in scopes:
        _table(scanner, declared, scope, sizes)
    if scanner.at < len(scanner.words):
        scanner.fail("the end of the file")
    for k, (size, at) in enumerate(sizes):
        # Without a table the number of states could be anything; it is refused at the end.
        labels = [
            LexerToken(str(state), at) for state in range(size if str(k) in declared.blocks else 1)
        ]
        declared.declare(LexerToken(str(k), at), labels, {})
    return declared.finish()


def _size(scanner: WordScanner) -> tuple[int, int]:
    """The number of states of a variable, and where it stands."""
    size = scanner.whole("a number of states")
    if not size:
        scanner.refuse("a variable needs one state at least", scanner.at - 1)
    return size, scanner.at - 1


def _scope(scanner: WordScanner, n: int) -> list[LexerToken]:
    """The variables of a table, the child last."""
    size = scanner.whole("the number of variables of a table")
    if not size:
        scanner.refuse("a table needs one variable at least", scanner.at - 1)
    scope = []
    for _ in range(size):
        variable = scanner.whole("the number of a variable")
        if variable >= n:
            scanner.refuse(
                f"there are {plural(n, 'variable')}, numbered from 0: there is no {variable}",
                scanner.at - 1,
            )
        scope.append(LexerToken(str(variable), scanner.at - 1))
    return scope


def _table(
    scanner: WordScanner,
    declared: DeclaredNetwork,
    scope: list[LexerToken],
    sizes: list[tuple[int, int]],
) -> None:
    """Read one table: how many numbers it has, then the numbers."""
    n = scanner.whole("how many numbers the table has")
    needed = prod(sizes[int(name.text)][0] for name in scope)
    if n != needed:
        scanner.refuse(
            f"the table of {scope[-1].text!r} needs {plural(needed, 'number')}, but is said to "
            f"have {n:,}",
            scanner.at - 1,
        )
    at, numbers = scanner.at, scanner.words[scanner.at : scanner.at + n]
    if len(numbers) < n:
        scanner.at = len(scanner.words)
        scanner.fail(
            f"{plural(n - len(numbers), 'number')} more of the table of {scope[-1].text!r}"
        )
    declared.define(scope[-1], scope[:-1], parse_numbers(numbers, scanner, at), at)
    scanner.at += n


def dumps(net: BayesianNetwork) -> str:
    """The network as UAI text; numbers read back to the same bits."""
    network = net.require_network()
    names = sort_naturally(network.graph.nodes)
    index = {name: k for k, name in enumerate(names)}
    variables = [network.variables[network.index(name)] for name in names]
    lines = ["BAYES", str(len(names)), " ".join(str(v.n_states) for v in variables)]
    lines.append(str(len(names)))
    for name in names:
        scope = [*network.graph.parents(name), name]
        lines.append(" ".join(map(str, [len(scope), *(index[x] for x in scope)])))
    for variable in variables:
        table = network.part(variable.name, network.tables).reshape(-1, variable.n_states)
        lines += ["", str(table.size)]
        lines += [" " + " ".join(map(repr, row)) for row in table.tolist()]
    numbered = all(
        v.name == str(k) and v.states == tuple(map(str, range(v.n_states)))
        for k, v in enumerate(variables)
    )
    warn_of_losses(network, "UAI", names=not numbered)
    return "\n".join([*lines, ""])
