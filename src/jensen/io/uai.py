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
from jensen.io.draft import Draft, parse_numbers
from jensen.io.lexer import Token, shorten
from jensen.io.losses import warn_of_losses
from jensen.support.text import plural

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork


_COMMENT = re.compile(r"#[^\r\n]*|^c(?=\s)[^\r\n]*", re.MULTILINE)
_WORD = re.compile(r"\S+")
_BEGIN = re.compile(r"\s*+(?:BAYES|MARKOV)\s++[0-9]++\s")
_WHOLE = re.compile(r"[0-9]{1,9}")


class Words:
    """The words of a text one after the other; a place in it is the number of a word."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.text = _COMMENT.sub(lambda match: " " * len(match[0]), text)
        self.words = self.text.split()
        self.at = 0

    def word(self, expected: str) -> str:
        """Pass a word, or refuse the text."""
        if self.at == len(self.words):
            self.fail(expected)
        self.at += 1
        return self.words[self.at - 1]

    def whole(self, expected: str) -> int:
        """Pass a whole number, or refuse the text."""
        if self.at == len(self.words) or not _WHOLE.fullmatch(self.words[self.at]):
            self.fail(expected)
        return int(self.word(expected))

    def fail(self, expected: str) -> NoReturn:
        """Refuse the text: something else was expected here."""
        left = self.words[self.at : self.at + 1]
        found = shorten(left[0]) if left else "the end of the file"
        self.refuse(f"expected {expected}, but found {found}", self.at)

    def refuse(self, message: str, at: int) -> NoReturn:
        """Refuse the text for what stands at this place."""
        raise FileError(f"{self.file}, {self.place(at)}: {message}")

    def place(self, at: int) -> str:
        """A place as people count it."""
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
    words = Words(text, file)
    draft = Draft(words)
    kind = words.word("'BAYES'")
    if kind == "MARKOV":
        words.refuse("this is a Markov network; Jensen reads Bayesian networks, 'BAYES'", 0)
    if kind != "BAYES":
        words.refuse(f"expected 'BAYES', but found {shorten(kind)}", 0)
    n = words.whole("the number of variables")
    sizes = [_size(words) for _ in range(n)]
    scopes = [_scope(words, n) for _ in range(words.whole("the number of tables"))]
    for scope in scopes:
        _table(words, draft, scope, sizes)
    if words.at < len(words.words):
        words.fail("the end of the file")
    for k, (size, at) in enumerate(sizes):
        # A number of states that no table bears out could be anything; it is refused at the end.
        labels = [Token(str(state), at) for state in range(size if str(k) in draft.blocks else 1)]
        draft.declare(Token(str(k), at), labels, {})
    return draft.finish()


def _size(words: Words) -> tuple[int, int]:
    """The number of states of a variable, and where it stands."""
    size = words.whole("a number of states")
    if not size:
        words.refuse("a variable needs one state at least", words.at - 1)
    return size, words.at - 1


def _scope(words: Words, n: int) -> list[Token]:
    """The variables of a table, the child last."""
    size = words.whole("the number of variables of a table")
    if not size:
        words.refuse("a table needs one variable at least", words.at - 1)
    scope = []
    for _ in range(size):
        variable = words.whole("the number of a variable")
        if variable >= n:
            words.refuse(
                f"there are {plural(n, 'variable')}, numbered from 0: there is no {variable}",
                words.at - 1,
            )
        scope.append(Token(str(variable), words.at - 1))
    return scope


def _table(words: Words, draft: Draft, scope: list[Token], sizes: list[tuple[int, int]]) -> None:
    """A table: how many numbers it has, and these."""
    n = words.whole("how many numbers the table has")
    needed = prod(sizes[int(name.text)][0] for name in scope)
    if n != needed:
        words.refuse(
            f"the table of {scope[-1].text!r} needs {plural(needed, 'number')}, but is said to "
            f"have {n:,}",
            words.at - 1,
        )
    at, numbers = words.at, words.words[words.at : words.at + n]
    if len(numbers) < n:
        words.at = len(words.words)
        words.fail(f"{plural(n - len(numbers), 'number')} more of the table of {scope[-1].text!r}")
    draft.define(scope[-1], scope[:-1], parse_numbers(numbers, words, at), at)
    words.at += n


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
