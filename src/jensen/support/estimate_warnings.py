"""Warnings about an estimate, raised at the line of the user that called `fit`."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import CollapseError, EstimateWarning
from jensen.support.text import plural
from jensen.support.wording import bare, option

if TYPE_CHECKING:
    from jensen.inference import Network


def warn_of_empty_rows(network: Network, empty: NDArray[np.bool_]) -> None:
    """Warn of parent configurations without counts and without a prior: they have no estimate."""
    if not empty.any():
        return
    shown = list(islice(_configurations(network, empty), 5))
    n = int(np.sum(empty))
    more = f" and {n - len(shown)} more" if n > len(shown) else ""
    _warn(
        f"{plural(n, 'parent configuration')} never occurred, so the data say nothing about "
        f"{'; '.join(shown)}{more}. Uniform probabilities were filled in; "
        f"a prior ({option('prior', 'bdeu')}) makes an honest estimate of them"
    )


def warn_of_limit(n_sweeps: int) -> None:
    """Warn that an ascent reached its limit of sweeps before it converged."""
    _warn(
        f"F was still rising after {plural(n_sweeps, 'sweep')}, so converged_ is False: raise "
        f"{bare('max_iter')}, or {bare('tol')} if this is close enough"
    )


def warn_of_stop(converged: bool) -> None:
    """Warn that a run was interrupted, so that its result is the best so far."""
    end = "though not all starts ended" if converged else "and converged_ is False"
    _warn(f"interrupted: this is the best so far, {end}")


def warn_of_collapse(errors: Sequence[CollapseError], n_init: int) -> None:
    """Warn of starts that lost a component, while others went well."""
    _warn(
        f"{len(errors)} of {plural(n_init, 'start')} came to nothing and were left out; in the "
        f"first {errors[0]}"
    )


def warn_of_left_out(n_done: int, n: int) -> None:
    """Warn that an interrupt left models out of a comparison."""
    _warn(
        f"interrupted: {n_done:,} of {n:,} models are compared, and the best may be among the rest"
    )


def warn_of_disagreement(r_hat: float, of: str = "log joint") -> None:
    """Warn of chains that have not mixed; `of` names the quantity with the largest R-hat."""
    _warn(
        f"the chains disagree (R-hat of the {of} is {r_hat:.3f}, and should be below 1.05): "
        f"raise {bare('burn_in')} and {bare('n_samples')}"
    )


def warn_of_single_sites(method: str, n_single: int) -> None:
    """Missing values whose joint draw does not fit in memory."""
    _warn(
        f"{method!r} draws up to {n_single} missing values of a row one at a time, each given all "
        f"others, because the junction tree for a joint draw does not fit in memory "
        f"(jn.set_memory_limit). The chain is right but moves more slowly: compare r_hat_ and "
        f"effective_sample_size_, and raise burn_in and n_samples"
    )


def warn_of_chains(disagreement: str) -> None:
    """Warn of chains over graphs that disagree; the text says how."""
    _warn(disagreement)


def _warn(text: str) -> None:
    """Warn at the first line outside this package, which called `fit`."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("jensen."):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, EstimateWarning, stacklevel=level)


def _configurations(network: Network, empty: NDArray[np.bool_]) -> Iterator[str]:
    """Empty rows in words: P(wet | rain=yes)."""
    at = 0
    for variable in network.variables:
        for labels, _ in network.cpt(variable.name).rows():
            if empty[at]:
                parents = network.parents(variable.name)
                pairs = [f"{p.name}={x}" for p, x in zip(parents, labels, strict=True)]
                yield f"P({variable.name}{' | ' if pairs else ''}{', '.join(pairs)})"
            at += 1
