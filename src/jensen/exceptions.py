"""What Jensen raises and warns: every error says what is wrong, where, and what to do."""

import sys
import warnings
from collections.abc import Sequence

from jensen.support.text import many
from jensen.support.wording import in_python


class JensenError(ValueError):
    """Something the caller can put right; the command line shows it as one line.

    Attributes
    ----------
    marked
        The text with the choices that it names (`jensen.support.wording`), from which the
        command line makes options.
    """

    def __init__(self, text: str = "") -> None:
        super().__init__(in_python(text))
        self.marked = text


class DataError(JensenError):
    """A table that cannot be read, or that does not suit what is asked of it."""


class GraphError(JensenError):
    """A graph that cannot exist (a cycle, a repeated edge) or lacks a node."""


class FileError(JensenError):
    """A malformed or unreadable file; the text says where in it."""


class ImpossibleError(JensenError):
    """Evidence or a row that has probability 0; the text says which findings contradict."""


class ImpossibleSequenceError(ImpossibleError):
    """A sequence that no path of hidden states leads through.

    Attributes
    ----------
    number
        Which one, from 0.
    """

    def __init__(self, number: int, what_to_do: str) -> None:
        self.number = int(number)
        self.what_to_do = what_to_do
        super().__init__(
            f"sequence {self.number + 1} has probability 0: no path of hidden states leads through "
            f"it. {what_to_do}"
        )


class TooLargeError(JensenError):
    """Work that would take more memory than the limit; the text says how much, and the ways out."""


class StoppedError(JensenError):
    """An interrupt that came before there was anything to keep; the text says what was going on."""


class CollapseError(JensenError):
    """A component for which the data leave no estimate: no rows, or no spread.

    Attributes
    ----------
    components
        Their numbers, from 0.
    """

    def __init__(self, components: Sequence[int], why: str, noun: str = "component") -> None:
        self.components = tuple(map(int, components))
        self.why = why
        named = noun if len(self.components) == 1 else many(noun)
        super().__init__(
            f"{named} {', '.join(map(str, self.components))} {why}; give a prior (prior={{}}), "
            f"fewer {many(noun)}, or another start"
        )


class MissingNameError(JensenError, KeyError):
    """A name that a mapping does not hold; a KeyError too, as mappings must raise."""

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError alone would show the text in quotes


class NotFittedError(JensenError, AttributeError):
    """A result was asked of an estimator before `fit`."""


class JensenWarning(UserWarning):
    """What Jensen warns of; `marked` is its text with the choices that it names."""

    def __init__(self, text: str = "") -> None:
        super().__init__(in_python(text))
        self.marked = text


class EstimateWarning(JensenWarning):
    """An estimate that the data do not determine; the text says what was done instead."""


class DataWarning(JensenWarning):
    """Data that were probably meant in another way; the text says how to say so."""


class FormatWarning(JensenWarning):
    """A file format that cannot hold all of a network; the text says what is lost."""


def warn(text: str, category: type[Warning] = DataWarning) -> None:
    """Warn at the first line outside this package, which is the caller's."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("jensen."):
        frame, level = frame.f_back, level + 1
    warnings.warn(category(text), stacklevel=level)
