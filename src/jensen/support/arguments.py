"""Arguments of public functions: numbers are checked, and words of other libraries are answered."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

from jensen.exceptions import JensenError
from jensen.support.text import bare, nearest

LARGEST = 1e140
"""Of the numbers in rows: sums of their squares overflow not far beyond."""


def is_real(x: Any) -> bool:
    """Whether x is a real number; True and False are none."""
    return isinstance(x, Real) and not isinstance(x, bool)


def check_sample_size(equivalent_sample_size: Any) -> None:
    """Refuse an equivalent sample size that is not positive and finite."""
    if not (is_real(equivalent_sample_size) and 0 < equivalent_sample_size < math.inf):
        raise JensenError(
            f"{bare('equivalent_sample_size')} must be positive and finite, "
            f"not {equivalent_sample_size!r}"
        )


def check_whole(name: str, value: object, *, at_least: int) -> None:
    """Refuse a value that is no whole number, or is below `at_least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < at_least:
        shown = bare(name) if name.isidentifier() else name
        raise JensenError(f"{shown} must be a whole number, {at_least} or more, not {value!r}")


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
    plain = _plain(text)
    for name in names:
        if plain == _plain(name) or CHOICES.get(plain) == name:
            return f"; {text!r} is {name!r} here"
    near = nearest(text, names)
    return f"; did you mean {near[0]!r}?" if near else ""


def _plain(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def answers_to(**words: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A constructor that answers keywords of other libraries with what they are called here."""

    def decorate(init: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(init)
        def wrapped(self: Any, *args: Any, **choices: Any) -> None:
            for name in choices:
                if name in words:
                    raise TypeError(f"{type(self).__name__} has no {name}=: it is {words[name]}")
            init(self, *args, **choices)

        return wrapped

    return decorate


class AnswersToPeers:
    """Attributes of other libraries are answered with what they are called here."""

    _peer_words: ClassVar[Mapping[str, str]] = {}

    def __getattr__(self, name: str) -> Any:
        if name in self._peer_words:
            words = self._peer_words[name]
            raise AttributeError(f"{type(self).__name__} has no {name!r}: it is {words}")
        return object.__getattribute__(self, name)  # raises what it raised before
