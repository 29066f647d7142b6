"""Texts for people: tables, short lists, plurals, corrections, and choices within sentences.

`option("score", "bic")` stands in a sentence and holds both spellings, between characters that
Unicode reserves for use inside of programs. Errors and warnings (`jensen.exceptions`) show the
first one, as Python does; the command line shows the second one.

>>> text = f"use {option('score', 'bic')} instead"
>>> in_python(text), in_shell(text)
("use score='bic' instead", 'use --score bic instead')
"""

from __future__ import annotations

import difflib
import math
import shlex
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any

Say = Callable[..., str]
"""Spells choices, given by their names."""

_BEGIN, _BETWEEN, _END = "\ufdd0", "\ufdd1", "\ufdd2"


def in_python(text: str) -> str:
    """A text with its choices as arguments in Python."""
    return _spelled(text, 0)


def in_shell(text: str) -> str:
    """A text with its choices as options of the command line."""
    return _spelled(text, 1)


def _spelled(text: str, reader: int) -> str:
    head, *marked = text.split(_BEGIN)
    pieces = [head]
    for piece in marked:
        both, _, rest = piece.partition(_END)
        pieces += [both.split(_BETWEEN)[reader], rest]
    return "".join(pieces)


def for_reader(python: str, shell: str) -> str:
    """A piece of a text for either reader, where the two have little in common.

    >>> in_python(for_reader("pass interval=None", "leave --interval out"))
    'pass interval=None'
    """
    return f"{_BEGIN}{in_python(python)}{_BETWEEN}{in_shell(shell)}{_END}"


def keyword(argument: str, flag: str = "") -> str:
    """A choice without its value; `flag` is its option, where it has another name.

    >>> in_python(keyword("tiers", "tier")), in_shell(keyword("tiers", "tier"))
    ('tiers=', '--tier')
    """
    return for_reader(f"{argument}=", _flag(flag or argument))


def bare(argument: str, flag: str = "") -> str:
    """The name of a choice as a word of a sentence.

    >>> in_python(bare("time_limit")), in_shell(bare("time_limit"))
    ('time_limit', '--time-limit')
    """
    return for_reader(argument, _flag(flag or argument))


def option(argument: str, value: Any, flag: str = "") -> str:
    """A choice and its value: a text or number is one value, a sequence of texts a list.

    `flag` is its option, where it has another name. The command line has no empty list; the empty
    text stands for it.

    >>> in_python(option("missing", ["NA", "?"])), in_python(option("separator", ";"))
    ("missing=['NA', '?']", "separator=';'")
    >>> in_shell(option("missing", ["NA", "?"])), in_shell(option("max_parents", 3))
    ("--missing NA --missing '?'", '--max-parents 3')
    """
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    values = (list(value) or [""]) if is_list else [value]
    in_words = [f"{_flag(flag or argument)} {_shell_word(str(each))}" for each in values]
    return for_reader(f"{argument}={(list(value) if is_list else value)!r}", " ".join(in_words))


USUAL_PRIOR = for_reader("prior={}", "--prior default")
"""The usual prior of hidden states."""


def one_of(argument: str, values: Sequence[str], flag: str = "") -> str:
    """A choice and the values of which any will do.

    >>> in_python(one_of("method", ["em", "vbem"])), in_shell(one_of("method", ["em", "vbem"]))
    ("method='em' or 'vbem'", '--method em or vbem')
    """
    shell = f"{_flag(flag or argument)} {either(values)}"
    return for_reader(f"{argument}={either(map(repr, values))}", shell)


def of_file(**choices: str | Sequence[str]) -> str:
    """How choices are made for a file, which is named in the same call or command.

    >>> in_python(of_file(missing=["NA"], continuous=["x"]))
    "missing=['NA'], continuous=['x']"
    """
    spelled = [option(*choice) for choice in choices.items()]
    return for_reader(", ".join(spelled), " ".join(spelled))


def of_frame(**choices: str | Sequence[str]) -> str:
    """How choices are made for a table of any kind: in the shell it is always a file.

    >>> in_python(of_frame(missing=["NA"]))
    "jn.Table(..., missing=['NA'])"
    """
    spelled = of_file(**choices)
    return for_reader(f"jn.Table(..., {spelled})", spelled)


def leave_out(columns: Sequence[str]) -> str:
    """How columns of a table are left out.

    >>> in_python(leave_out(["id"]))
    "table.select([x for x in table.names if x not in ['id']]) of a jn.Table"
    """
    return for_reader(
        f"table.select([x for x in table.names if x not in {list(columns)!r}]) of a jn.Table",
        option("without", columns),
    )


def _flag(name: str) -> str:
    return f"{'-' if len(name) == 1 else '--'}{name.replace('_', '-')}"


def _shell_word(value: str) -> str:
    return "tab" if value == "\t" else shlex.quote(value)


LIKELY = 0.1
"""Edges that are more probable are listed and drawn, here and on the command line."""
PAGE = 100
"""Characters in a line of a wide table."""


def grid(
    rows: Iterable[Sequence[str]], *, left: int, rule: bool = False, page: int | None = None
) -> str:
    """Align rows of cells; the first `left` columns to the left, the rest to the right.

    Columns for which a page has no room are left out, and a line under the table says so.

    >>> print(grid([["a", "p"], ["long", "0.5"]], left=1))
    a       p
    long  0.5
    >>> print(grid([["a", "b", "c", "d"], ["1", "2", "3", "4"]], left=1, page=5))
    a  b
    1  2
    ... and 2 columns more
    """
    lines = [list(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    kept = columns_of_page(widths, left, page)
    shown = []
    for line in lines:
        cells = [
            cell.ljust(width) if k < left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line[:kept], widths[:kept], strict=True))
        ]
        shown.append("  ".join(cells).rstrip())
    if rule and shown:
        shown.insert(1, "-" * max(map(len, shown)))
    if kept < len(widths):
        shown.append(f"... and {plural(len(widths) - kept, 'column')} more")
    return "\n".join(shown)


def columns_of_page(widths: Sequence[int], left: int, page: int | None) -> int:
    """How many columns of these widths a page has room for; one beside the first at least."""
    if page is None:
        return len(widths)
    ends = accumulate(width + 2 for width in widths)
    return max(sum(end - 2 <= page for end in ends), min(left + 1, len(widths)))


def some(items: Iterable[object], most: int = 8) -> str:
    """The first few of many, for a message.

    >>> some(["a", "b", "c"], most=2)
    'a, b, ... (3 in all)'
    """
    texts = list(map(str, items))
    tail = f", ... ({len(texts):,} in all)" if len(texts) > most else ""
    return ", ".join(texts[:most]) + tail


def offer(name: object, names: Iterable[str], noun: str = "variable") -> str:
    """The end of a message about an unknown name: what was probably meant, and what there is.

    Names that are spelt like it come first, whatever their case; of many names only a few are
    listed, with the number of all.

    >>> offer("Rian", ["cloudy", "rain", "sprinkler"])
    "did you mean 'rain'? The variables are: rain, cloudy, sprinkler"
    >>> offer("x", ["a", "b"], "column")
    'the columns are: a, b'
    """
    known = list(names)
    near = nearest(str(name), known)
    listed = some([*near, *(other for other in known if other not in near)])
    there = f"{many(noun)} are: {listed}" if len(known) > 1 else f"only {noun} is {listed}"
    if not known:
        return f"there are no {many(noun)}"
    return f"did you mean {near[0]!r}? The {there}" if near else f"the {there}"


def nearest(name: str, names: Sequence[str]) -> list[str]:
    """Up to three names that are spelt almost alike, the nearest first."""
    by_letters: dict[str, list[str]] = {}
    for known in names:
        by_letters.setdefault(known.casefold(), []).append(known)
    close = difflib.get_close_matches(name.casefold(), by_letters, n=3)
    return [known for letters in close for known in by_letters[letters]][:3]


def either(items: Iterable[object], word: str = "or") -> str:
    """Words to choose from, or with "and" all of them.

    >>> either(["a", "b", "c"]), either(["a", "b"], "and"), either(["a"])
    ('a, b or c', 'a and b', 'a')
    """
    *others, last = map(str, items)
    return f"{', '.join(others)} {word} {last}" if others else last


def plural(n: int, noun: str) -> str:
    """A number with its noun.

    >>> plural(1, "row"), plural(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{n:,} {noun if n == 1 else many(noun)}"


def show_number(value: float) -> str:
    """Whole numbers in full, others with six digits after the point.

    >>> show_number(12.0), show_number(0.5)
    ('12', '0.500000')
    """
    return f"{value:.0f}" if math.isfinite(value) and value == int(value) else f"{value:.6f}"


def many(noun: str) -> str:
    """A noun in the plural.

    >>> many("state"), many("class")
    ('states', 'classes')
    """
    return f"{noun}es" if noun.endswith("s") else f"{noun}s"


# --- words of other libraries, and what they are called here ---

CHOICES = {
    "hc": "hill-climb",
    "hillclimb": "hill-climb",
    "hillclimbing": "hill-climb",
    "hillclimbsearch": "hill-climb",
    "greedy": "hill-climb",
    "pcstable": "pc",
    "exhaustivesearch": "exact",
    "dynamicprogramming": "exact",
    "gs": "ges",
    "fges": "ges",
    "bicd": "bic",
    "bicg": "bic",
    "biccg": "bic",
    "bicscore": "bic",
    "k2score": "k2",
    "bdeuscore": "bdeu",
    "bdsscore": "bds",
    "aicscore": "aic",
    "likelihood": "loglik",
    "ll": "loglik",
    "mle": "em",
    "ml": "em",
    "map": "em",
    "baumwelch": "em",
    "vb": "vbem",
    "variational": "vbem",
    "mcmc": "gibbs",
    "hardem": "viterbi",
    "chisquare": "x2",
    "chisq": "x2",
    "pearson": "x2",
    "gsq": "g2",
    "mi": "mutual-information",
    "fisherz": "fisher-z",
    "pearsonr": "fisher-z",
    "zf": "fisher-z",
    "cor": "fisher-z",
    "laplace": "k2",
}
"""Names of methods, scores, tests and priors, in small letters and without signs."""


def called_here(word: object, known: Iterable[str]) -> str:
    """The end of a refusal of a word: what it is called here, or what was probably meant.

    >>> called_here("hc", ["hill-climb", "tabu"]), called_here("BIC", ["aic", "bic"])
    ("; 'hc' is 'hill-climb' here", "; 'BIC' is 'bic' here")
    >>> called_here("tubu", ["hill-climb", "tabu"]), called_here("x", ["tabu"])
    ("; did you mean 'tabu'?", '')
    """
    names, text = list(known), str(word)
    plain = _letters(text)
    for name in names:
        if plain == _letters(name) or CHOICES.get(plain) == name:
            return f"; {text!r} is {name!r} here"
    near = nearest(text, names)
    return f"; did you mean {near[0]!r}?" if near else ""


def _letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())
