"""Markov networks learned by chains: contrastive divergence and persistent chains."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from jensen.estimators.learning import Problem
from jensen.exceptions import JensenError
from jensen.models.log_linear_network import LogLinearNetwork, around
from jensen.models.markov_chains import climb_by_chains
from jensen.support.arguments import as_generator
from jensen.support.text import option

if TYPE_CHECKING:
    from jensen.estimators.markov_network import MarkovNetwork


def learn_by_chains(
    net: MarkovNetwork, problem: Problem, checkpoint: str | Path | None = None
) -> None:
    """Set on a network what chains find; they climb nothing, so there is no F."""
    from jensen.estimators.markov_problem import distinct_rows

    if checkpoint is not None:
        raise JensenError(
            f"checkpoint= belongs to {option('method', 'ml')} and 'pseudo': chains of "
            f"{net.method!r} are not kept"
        )
    model, data = problem.model, problem.data
    assert isinstance(model, LogLinearNetwork), "it was made by markov_problem"
    rng = as_generator(net.random_state)
    rows, weights = None, None
    if net.method == "cd":
        codes, weights = distinct_rows(data.rows.table.counted(), model.graph.nodes)
        rows, weights = codes.astype(np.int32), weights / weights.sum()
    theta = model.start(data, 0, rng).weights.first
    begun = around(theta, len(model.effects.terms))
    found = climb_by_chains(
        model,
        data.units,
        begun.weights.first,
        rng,
        rows=rows,
        weights=weights,
        n_chains=net.n_chains,
        n_steps=net.n_steps,
        n_updates=net.max_iter,
    )
    net.network_ = model.network_at(found)
    net.graph_ = net.network_.graph
    net.free_energy_, net.is_bound_ = np.nan, False
    net.trace_, net.starts_ = np.empty(0), np.empty(0)
    net.n_sweeps_, net.converged_ = net.max_iter, False
    net.r_hat_ = net.effective_sample_size_ = np.nan
