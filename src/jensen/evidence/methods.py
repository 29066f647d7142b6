"""`jn.log_evidence`: one door to all ways of finding log p(table | model)."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from jensen.data.threads import one_blas_thread
from jensen.evidence.annealing import anneal
from jensen.evidence.asked import Asked
from jensen.evidence.exact import exact
from jensen.evidence.laplace import laplace
from jensen.evidence.record import Evidence
from jensen.evidence.variational import Found, bic, cheeseman_stutz, vb
from jensen.exceptions import JensenError
from jensen.support.checks import check_whole
from jensen.support.text import offer, option

METHODS: dict[str, Callable[..., Found]] = {
    "exact": lambda asked: Found(exact(asked), "exact"),
    "bic": bic,
    "cheeseman-stutz": cheeseman_stutz,
    "laplace": laplace,
    "vb": vb,
    "ais": partial(anneal, resamples=False),
    "smc": partial(anneal, resamples=True),
}
ANNEALED = ("n_chains", "n_temperatures", "checkpoint")
OWN: dict[str, tuple[str, ...]] = {
    "cheeseman-stutz": ("correction", "mode"),
    "ais": ANNEALED,
    "smc": ANNEALED,
}
"""Choices that belong to some methods only."""
ASCENTS = ("bic", "cheeseman-stutz", "laplace", "vb")
"""Methods that climb from some starts."""


def log_evidence(
    model: Any,
    table: Any,
    method: str = "vb",
    *,
    n_init: int | None = None,
    correction: str | None = None,
    mode: str | None = None,
    n_chains: int | None = None,
    n_temperatures: int | None = None,
    checkpoint: str | Path | None = None,
    random_state: Any = None,
    progress: bool = False,
    **fit: Any,
) -> Evidence:
    found = _checked(method, {
        "correction": correction, "mode": mode, "n_chains": n_chains,
        "n_temperatures": n_temperatures, "checkpoint": checkpoint,
    })
    if n_init is not None:
        check_whole("n_init", n_init, at_least=1)
        if method not in ASCENTS:
            raise JensenError(f"{option('n_init', n_init)} belongs to methods that climb")
    asked = Asked(model, table, fit, random_state, n_init, progress)
    began = time.perf_counter()
    with one_blas_thread():
        answer = METHODS[method](asked, **found)
    return Evidence(
        answer.value, method, answer.kind, answer.standard_error, answer.lines, answer.warnings,
        time.perf_counter() - began,
    )  # fmt: skip


def _checked(method: str, chosen: dict[str, Any]) -> dict[str, Any]:
    """The choices of a method; refused are those that it would ignore."""
    if method not in METHODS:
        raise JensenError(f"there is no method {method!r}: {offer(method, METHODS, 'method')}")
    given = {name: value for name, value in chosen.items() if value is not None}
    for name, value in given.items():
        if name not in OWN.get(method, ()):
            raise JensenError(f"{option(name, value)} would be ignored by {option('method', method)}")
    return given
