"""What Jensen raises and warns: every error says what is wrong, where, and what to do."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import TYPE_CHECKING, Self

from jensen.support.text import USUAL_PRIOR, bare, in_python, many, option, plural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from jensen.inference import Network


class JensenError(ValueError):
    """Something the caller can put right; the command line shows it as one line.

    Attributes
    ----------
    marked
        The text with the choices that it names (`jensen.support.text`), from which the
        command line makes options.
    """

    def __init__(self, text: str = "") -> None:
        super().__init__(in_python(text))
        self.marked = text

    def after(self, words: str) -> Self:
        """The same error, with words before its text."""
        self.marked = f"{words}{self.marked}"
        self.args = (in_python(self.marked),)
        return self


class DataError(JensenError):
    """A table that cannot be read, or that does not suit what is asked of it."""


class UnboundedError(DataError):
    """A likelihood without a bound.

    Attributes
    ----------
    what
        Which one, and why, without the way out: callers may know a better one.
    child
        The variable, if it has a likelihood where its parents are not these labels; else empty.
    """

    def __init__(self, what: str, way_out: str, child: str = "") -> None:
        super().__init__(f"{what}; {way_out}")
        self.what, self.child = what, child


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
        Their numbers, from 0; none, if `why` is the whole text.
    """

    def __init__(self, components: Sequence[int], why: str, noun: str = "component") -> None:
        self.components = tuple(map(int, components))
        self.why = why
        if not self.components:
            super().__init__(why)
            return
        named = noun if len(self.components) == 1 else many(noun)
        super().__init__(
            f"{named} {', '.join(map(str, self.components))} {why}; give a prior ({USUAL_PRIOR}), "
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
    inside = ("jensen.", "contextlib")  # whose frames are those of our decorators
    while frame.f_back is not None and frame.f_globals["__name__"].startswith(inside):
        frame, level = frame.f_back, level + 1
    warnings.warn(category(text), stacklevel=level)


# --- warnings about an estimate ---


def warn_of_empty_rows(network: Network, empty: NDArray[np.bool_]) -> None:
    """Warn of parent configurations without counts and without a prior: they have no estimate."""
    shown = list(islice(configurations(network, empty), 5))
    warn_of_configurations(shown, int(empty.sum()), "Uniform probabilities were", "bdeu")


def warn_of_configurations(shown: Sequence[str], n: int, filled_in: str, prior: str) -> None:
    """Warn of n parent configurations that never occurred, and of what was filled in for them."""
    more = f" and {n - len(shown)} more" if n > len(shown) else ""
    warn(
        f"{plural(n, 'parent configuration')} never occurred, so the data say nothing about "
        f"{'; '.join(shown)}{more}. {filled_in} filled in; "
        f"a prior ({option('prior', prior)}) makes an honest estimate of them",
        EstimateWarning,
    )


def warn_of_limit(n_sweeps: int) -> None:
    """Warn that an ascent reached its limit of sweeps before it converged."""
    warn(
        f"F was still rising after {plural(n_sweeps, 'sweep')}, so converged_ is False: raise "
        f"{bare('max_iter')}, or {bare('tol')} if this is close enough",
        EstimateWarning,
    )


def warn_of_stop(converged: bool) -> None:
    """Warn that a run was interrupted, so that its result is the best so far."""
    end = "though not all starts ended" if converged else "and converged_ is False"
    warn(f"interrupted: this is the best so far, {end}", EstimateWarning)


def warn_of_collapse(errors: Sequence[CollapseError], n_init: int) -> None:
    """Warn of starts that lost a component, while others went well."""
    warn(
        f"{len(errors)} of {plural(n_init, 'start')} came to nothing and were left out; in the "
        f"first {errors[0]}",
        EstimateWarning,
    )


def warn_of_left_out(n_done: int, n: int) -> None:
    """Warn that an interrupt left models out of a comparison."""
    warn(
        f"interrupted: {n_done:,} of {n:,} models are compared, and the best may be among the rest",
        EstimateWarning,
    )


def warn_of_disagreement(r_hat: float, of: str = "log joint") -> None:
    """Warn of chains that have not mixed; `of` names the quantity with the largest R-hat."""
    warn(
        f"the chains disagree (R-hat of the {of} is {r_hat:.3f}, and should be below 1.05): "
        f"raise {bare('burn_in')} and {bare('n_samples')}",
        EstimateWarning,
    )


def warn_of_single_sites(method: str, n_single: int) -> None:
    """Warn of missing values whose joint draw does not fit in memory."""
    warn(
        f"{method!r} draws up to {n_single} missing values of a row one at a time, each given all "
        f"others, because the junction tree for a joint draw does not fit in memory "
        f"(jn.set_memory_limit). The chain is right but moves more slowly: compare r_hat_ and "
        f"effective_sample_size_, and raise burn_in and n_samples",
        EstimateWarning,
    )


def warn_of_chains(disagreement: str) -> None:
    """Warn of chains over graphs that disagree; the text says how."""
    warn(disagreement, EstimateWarning)


def configurations(network: Network, empty: NDArray[np.bool_]) -> Iterator[str]:
    """Empty rows in words: P(wet | rain=yes)."""
    at = 0
    for variable in network.variables:
        parents = network.parents(variable.name)
        for labels in product(*(parent.states for parent in parents)):
            if empty[at]:
                pairs = [f"{p.name}={x}" for p, x in zip(parents, labels, strict=True)]
                yield f"P({variable.name}{' | ' if pairs else ''}{', '.join(pairs)})"
            at += 1
