"""UAI, the format of the inference competitions at the conference of that name.

It holds numbers only. On reading the variables become "0", "1", ... in the order of the file, and
so do the states of each; on writing they are numbered in the natural order of their names ("x2"
before "x10"). Properties are left out. BAYES files hold Bayesian networks, MARKOV files potentials,
which need not sum to one. What pyAgrum writes is read by this definition too, though it has the
first parent run fastest: nothing tells its files apart. Evidence has a file of its own.

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

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable, sort_naturally
from jensen.exceptions import FileError
from jensen.inference.undirected_network import UndirectedNetwork
from jensen.io.compression import decompress, is_compressed
from jensen.io.declared_network import DeclaredNetwork, parse_numbers
from jensen.io.lexer import LexerToken, shorten
from jensen.io.properties import warn_of_losses
from jensen.support.atomic import read_bytes
from jensen.support.text import plural

if TYPE_CHECKING:
    from pathlib import Path

    from jensen.estimators.bayesian_network import BayesianNetwork
    from jensen.estimators.markov_network import MarkovNetwork


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


def loads(text: str, file: str) -> BayesianNetwork | MarkovNetwork:
    """A network from UAI text, with arrows or without; `file` is for messages.

    Examples
    --------
    >>> loads("BAYES 1 2  1 1 0  2 0.8 0.2", "x.uai").states
    {'0': ('0', '1')}
    """
    scanner = WordScanner(text, file)
    declared = DeclaredNetwork(scanner)
    kind = scanner.word("'BAYES' or 'MARKOV'")
    if kind == "MARKOV":
        return _markov(scanner)
    if kind != "BAYES":
        scanner.refuse(f"expected 'BAYES' or 'MARKOV', but found {shorten(kind)}", 0)
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
    at = scanner.at + 1
    numbers = _numbers(scanner, scope, sizes)
    declared.define(scope[-1], scope[:-1], numbers, at)


def _numbers(
    scanner: WordScanner, scope: list[LexerToken], sizes: list[tuple[int, int]]
) -> NDArray[np.float64]:
    """How many numbers a table has, and these numbers, which must be as many as it has states."""
    n = scanner.whole("how many numbers the table has")
    needed = prod(sizes[int(name.text)][0] for name in scope)
    if n != needed:
        scanner.refuse(
            f"the table of {scope[-1].text!r} needs {plural(needed, 'number')}, but is said to "
            f"have {n:,}",
            scanner.at - 1,
        )
    at, words = scanner.at, scanner.words[scanner.at : scanner.at + n]
    if len(words) < n:
        scanner.at = len(scanner.words)
        scanner.fail(f"{plural(n - len(words), 'number')} more of the table of {scope[-1].text!r}")
    scanner.at += n
    return parse_numbers(words, scanner, at)


def _markov(scanner: WordScanner) -> MarkovNetwork:
    """A Markov network, after its first word."""
    from jensen.estimators.markov_network import MarkovNetwork
    from jensen.estimators.markov_tables import network_of

    n = scanner.whole("the number of variables")
    sizes = [_size(scanner) for _ in range(n)]
    scopes = [_scope(scanner, n) for _ in range(scanner.whole("the number of tables"))]
    potentials = []
    for scope in scopes:
        names = tuple(name.text for name in scope)
        if len(set(names)) < len(names):
            scanner.refuse("a table names a variable twice", scope[-1].at)
        at, numbers = scanner.at, _numbers(scanner, scope, sizes)
        if numbers.min() < 0.0:
            scanner.refuse("a potential must not be negative", at + 1 + int(numbers.argmin()))
        with np.errstate(divide="ignore"):
            shape = [sizes[int(name)][0] for name in names]
            potentials.append((names, np.log(numbers).reshape(shape)))
    if scanner.at < len(scanner.words):
        scanner.fail("the end of the file")
    labels = [tuple(map(str, range(size))) for size, _ in sizes]
    variables = {str(k): Variable(str(k), "categorical", own) for k, own in enumerate(labels)}
    return MarkovNetwork.from_network(network_of(potentials, variables))


def read_evidence(path: str | Path) -> list[dict[str, str]]:
    """Evidence from a UAI file (.evid): a dict from variable to state for each of its samples.

    Both forms of these files are read: of one sample alone, and of a number of samples. Variables
    and states are numbers, as in networks that are read from UAI files.

    Parameters
    ----------
    path
        The file, plain or compressed (.gz).

    Examples
    --------
    >>> import jensen as jn
    >>> net, evidence = jn.load("grid.uai"), jn.read_evidence("grid.uai.evid")  # doctest: +SKIP
    >>> net.query("0", given=evidence)  # doctest: +SKIP
    """
    content = read_bytes(path)
    if is_compressed(content):
        content = decompress(content, str(path))
    return parse_evidence(content.decode("utf-8", errors="replace"), str(path))


def parse_evidence(text: str, file: str) -> list[dict[str, str]]:
    """The same from text.

    Examples
    --------
    >>> parse_evidence("2 0 1 3 0", "x.evid"), parse_evidence("1  2 0 1 3 0", "x.evid")
    ([{'0': '1', '3': '0'}], [{'0': '1', '3': '0'}])
    """
    scanner = WordScanner(text, file)
    words = scanner.words
    first = scanner.whole("how many variables are known, or how many samples there are")
    if len(words) == 1 + 2 * first:
        scanner.at = 0
        first = 1
    found = []
    for _ in range(first):
        known: dict[str, str] = {}
        for _ in range(scanner.whole("how many variables are known")):
            variable = str(scanner.whole("the number of a variable"))
            if variable in known:
                scanner.refuse(f"the variable {variable} is known twice", scanner.at - 1)
            known[variable] = str(scanner.whole("the number of a state"))
        found.append(known)
    if scanner.at < len(words):
        scanner.fail("the end of the file")
    return found


def _dump_markov(network: UndirectedNetwork) -> str:
    """Potentials as UAI text; where they are too large for numbers, the largest of each is 1."""
    names = sort_naturally(network.graph.nodes)
    index = {name: k for k, name in enumerate(names)}
    variables = [network.variables[network.index(name)] for name in names]
    lines = ["MARKOV", str(len(names)), " ".join(str(v.n_states) for v in variables)]
    factors = list(network.factors)
    lines.append(str(len(factors)))
    scopes = [[index[x] for x in factor.variables] for factor in factors]
    lines += [" ".join(map(str, [len(scope), *scope])) for scope in scopes]
    for factor in factors:
        logs = factor.log_table
        most = logs.max()
        if np.abs(logs[np.isfinite(logs)]).max(initial=0.0) > 700.0 and np.isfinite(most):
            logs = logs - most
        rows = np.exp(logs).reshape(-1, logs.shape[-1]).tolist()
        lines += ["", str(logs.size), *(" " + " ".join(map(repr, row)) for row in rows)]
    return "\n".join([*lines, ""])


def _are_numbered(variables: list[Variable]) -> bool:
    """Whether variables and states have no names but their numbers."""
    return all(
        v.name == str(k) and v.states == tuple(map(str, range(v.n_states)))
        for k, v in enumerate(variables)
    )


def dumps(net: BayesianNetwork | MarkovNetwork) -> str:
    """The network as UAI text; the numbers of a Bayesian network read back to the same bits."""
    known = net.require_any()
    if isinstance(known, UndirectedNetwork):
        named = sorted(known.variables, key=lambda v: int(v.name) if v.name.isdecimal() else -1)
        warn_of_losses(known, "UAI", names=not _are_numbered(named))
        return _dump_markov(known)
    network = known.require_tables()
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
    warn_of_losses(network, "UAI", names=not _are_numbered(variables))
    return "\n".join([*lines, ""])
