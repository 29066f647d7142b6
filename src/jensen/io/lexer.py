"""Text read from left to right; an error says where, what was expected and what was found."""

import re
from collections.abc import Callable
from typing import NamedTuple, NoReturn

from jensen.exceptions import FileError

LONGEST = 40
"""Letters of a token that a message shows."""

NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")

_SPACE = re.compile(r"(?:\s++|//[^\r\n]*+|/\*.*?\*/)*+", re.DOTALL)
_WORD = re.compile(r'(?:[^\s\x00-\x1f{}()\[\]|,;"/]++|/(?![/*]))++')
_QUOTED = re.compile(r'"([^"\r\n]*+)"')


class Token(NamedTuple):
    """A word or a quoted text, and where it begins."""

    text: str
    at: int


class Scanner:
    """A text and a place in it; white space and C comments between tokens mean nothing.

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

    SPACE = _SPACE  # what means nothing, comments among it
    WORD = _WORD
    QUOTED = _QUOTED  # its first group is what stands in the quotes

    def __init__(self, text: str, file: str, at: int = 0) -> None:
        self.text = text
        self.file = file
        self.at = at  # always where a token begins
        self.end = at  # where the token before it ended
        self.move(at)

    def move(self, at: int) -> None:
        """Go to the end of a token, and on to where the next one begins."""
        self.end = at
        match = self.SPACE.match(self.text, at)
        self.at = at if match is None else match.end()  # it never is None
        if self.text.startswith("/*", self.at):
            self.refuse("this comment has no end: '*/' is missing", self.at)

    def at_end(self) -> bool:
        """Whether nothing but white space and comments was left."""
        return self.at == len(self.text)

    def take(self, symbol: str) -> bool:
        """Pass a symbol, if it is the next token."""
        found = self.text.startswith(symbol, self.at)
        if found:
            self.move(self.at + len(symbol))
        return found

    def expect(self, symbol: str) -> None:
        """Pass a symbol, or refuse the text."""
        if not self.take(symbol):
            self.fail(repr(symbol))

    def finish(self, expected: str = "';'") -> None:
        """Pass the semicolon of a statement, or refuse the text where the statement ends."""
        if not self.take(";"):
            self.fail(expected, self.end)

    def word(self, expected: str) -> Token:
        """Pass a word or a quoted text, or refuse the text."""
        match = self.WORD.match(self.text, self.at) or self.QUOTED.match(self.text, self.at)
        if match is None:
            self.fail(expected)
        token = Token(self.unquote(match[1]) if match.lastindex else match[0], self.at)
        self.move(match.end())
        return token

    def bare(self, expected: str, fits: Callable[[str], object], at: int | None = None) -> Token:
        """Pass a word without quotes that fits, or refuse the text, here or at another place."""
        match = self.WORD.match(self.text, self.at)
        if match is None or not fits(match[0]):
            self.fail(expected, at)
        token = Token(match[0], self.at)
        self.move(match.end())
        return token

    def keyword(self, *choices: str) -> Token:
        """Pass one of these words, or refuse the text."""
        return self.bare(" or ".join(map(repr, choices)), choices.__contains__)

    def unquote(self, text: str) -> str:
        """What a text in quotes means; here as it stands."""
        return text

    def fail(self, expected: str, at: int | None = None) -> NoReturn:
        """Refuse the text: something else was expected, here or at another place."""
        self.refuse(
            f"expected {expected}, but found {self._found()}", self.at if at is None else at
        )

    def refuse(self, message: str, at: int) -> NoReturn:
        """Refuse the text for what stands at this place."""
        raise FileError(f"{self.file}, {self.place(at)}: {message}")

    def place(self, at: int) -> str:
        """A place as people count it."""
        line = self.text.count("\n", 0, at) + 1
        return f"line {line}, column {at - self.text.rfind(chr(10), 0, at)}"

    def _found(self) -> str:
        """The next token, for a message."""
        at = self.at
        if self.at_end():
            return "the end of the file"
        if self.text[at] == '"' and not self.QUOTED.match(self.text, at):
            return "a quote that is not closed on its line"
        match = self.WORD.match(self.text, at) or self.QUOTED.match(self.text, at)
        return shorten(match[0] if match else self.text[at])


def shorten(text: str) -> str:
    """A text in quotes, cut where it is too long for a message.

    >>> shorten("yes"), shorten("a" * 50)
    ("'yes'", "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'")
    """
    return repr(text if len(text) <= LONGEST else f"{text[:LONGEST]}...")
