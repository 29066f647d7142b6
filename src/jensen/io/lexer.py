"""Lexer of text formats; an error says where, what was expected and what was found."""

import re
from collections.abc import Callable
from typing import NamedTuple, NoReturn

from jensen.exceptions import FileError

LONGEST = 40
"""Number of letters of a token that a message shows."""

NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")

_SPACE = re.compile(r"(?:\s++|//[^\r\n]*+|/\*.*?\*/)*+", re.DOTALL)
_WORD = re.compile(r'(?:[^\s\x00-\x1f{}()\[\]|,;"/]++|/(?![/*]))++')
_QUOTED = re.compile(r'"([^"\r\n]*+)"')


class LexerToken(NamedTuple):
    """A word or a quoted text, and where it begins."""

    text: str
    at: int


class Scanner:
    """A text and a position in it; white space and C comments between tokens are skipped.

    Parameters
    ----------
    text
        The content of the file.
    file
        Its name, for messages.
    at
        Where to begin.

    Examples
    --------
    >>> scanner = Scanner('network /* of */ "my life" ;', "life.bif")
    >>> scanner.word("a keyword").text, scanner.word("a name").text
    ('network', 'my life')
    >>> scanner.expect("{")
    Traceback (most recent call last):
    jensen.exceptions.FileError: life.bif, line 1, column 28: expected '{', but found ';'
    """

    SPACE = _SPACE  # white space and comments
    WORD = _WORD
    QUOTED = _QUOTED  # its first group is the text between the quotes

    def __init__(self, text: str, file: str, at: int = 0) -> None:
        self.text = text
        self.file = file
        self.at = at  # always where a token begins
        self.end = at  # where the token before it ended
        self.move(at)

    @classmethod
    def begins(cls, text: str, pattern: re.Pattern[str]) -> bool:
        """Whether a text begins with this pattern, after white space and comments."""
        head = text[:4000]
        start = cls.SPACE.match(head)
        return pattern.match(head, start.end() if start else 0) is not None

    def move(self, at: int) -> None:
        """Set the end of the current token, and skip to the beginning of the next one."""
        self.end = at
        match = self.SPACE.match(self.text, at)
        self.at = at if match is None else match.end()  # it never is None
        if self.text.startswith("/*", self.at):
            self.refuse("this comment has no end: '*/' is missing", self.at)

    def at_end(self) -> bool:
        """Whether only white space and comments are left."""
        return self.at == len(self.text)

    def take(self, symbol: str) -> bool:
        """Skip a symbol if it comes next; whether it did."""
        found = self.text.startswith(symbol, self.at)
        if found:
            self.move(self.at + len(symbol))
        return found

    def expect(self, symbol: str) -> None:
        """Skip a symbol; anything else is refused."""
        if not self.take(symbol):
            self.fail(repr(symbol))

    def finish(self, expected: str = "';'") -> None:
        """Skip the semicolon of a statement; if it is absent, the statement is refused."""
        if not self.take(";"):
            self.fail(expected, self.end)

    def word(self, expected: str) -> LexerToken:
        """Read a word or a quoted text; anything else is refused."""
        match = self.WORD.match(self.text, self.at) or self.QUOTED.match(self.text, self.at)
        if match is None:
            self.fail(expected)
        token = LexerToken(self.unquote(match[1]) if match.lastindex else match[0], self.at)
        self.move(match.end())
        return token

    def bare(
        self, expected: str, fits: Callable[[str], object], at: int | None = None
    ) -> LexerToken:
        """Read an unquoted word that `fits`; anything else is refused, here or at `at`."""
        match = self.WORD.match(self.text, self.at)
        if match is None or not fits(match[0]):
            self.fail(expected, at)
        token = LexerToken(match[0], self.at)
        self.move(match.end())
        return token

    def keyword(self, *choices: str) -> LexerToken:
        """Read one of these words; anything else is refused."""
        return self.bare(" or ".join(map(repr, choices)), choices.__contains__)

    def unquote(self, text: str) -> str:
        """The meaning of a quoted text; formats with escapes override this."""
        return text

    def fail(self, expected: str, at: int | None = None) -> NoReturn:
        """Raise an error: something else was expected, here or at `at`."""
        self.refuse(
            f"expected {expected}, but found {self._found()}", self.at if at is None else at
        )

    def refuse(self, message: str, at: int) -> NoReturn:
        """Raise an error that names this place."""
        raise FileError(f"{self.file}, {self.place(at)}: {message}")

    def place(self, at: int) -> str:
        """Line and column of an offset, counted from 1."""
        line = self.text.count("\n", 0, at) + 1
        return f"line {line}, column {at - self.text.rfind(chr(10), 0, at)}"

    def _found(self) -> str:
        """The next token as a message shows it."""
        at = self.at
        if self.at_end():
            return "the end of the file"
        if self.text[at] == '"' and not self.QUOTED.match(self.text, at):
            return "a quote that is not closed on its line"
        match = self.WORD.match(self.text, at) or self.QUOTED.match(self.text, at)
        return shorten(match[0] if match else self.text[at])


def shorten(text: str) -> str:
    """A quoted text, cut if it is too long for a message.

    >>> shorten("yes"), shorten("a" * 50)
    ("'yes'", "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'")
    """
    return repr(text if len(text) <= LONGEST else f"{text[:LONGEST]}...")
