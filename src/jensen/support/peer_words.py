"""Words of other libraries, and what they are called here."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from jensen.support.text import nearest

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
