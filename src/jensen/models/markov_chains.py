"""Markov networks whose Z is out of reach: chains of states in place of the model's marginals.

Persistent chains (stochastic maximum likelihood) go on from update to update while the coefficients
move slowly; contrastive divergence begins each time at rows and takes k sweeps, which is quicker
and biased. Neither ascends any F. Chains are single-site Gibbs sweeps, many side by side; the mean
of the last half of the coefficients is the answer.

References
----------
Hinton (2002), *Training products of experts by minimizing contrastive divergence*; Younes (1999),
*On the convergence of Markovian stochastic algorithms with rapidly decreasing ergodicity rates*;
Tieleman (2008), *Training restricted Boltzmann machines using approximations to the likelihood
gradient*.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jensen import q_hidden
from jensen.data.blocks import Units
from jensen.families.log_linear import LogLinear
from jensen.free_energy import expect
from jensen.models.log_linear_network import LogLinearNetwork, Weights
from jensen.q_hidden.trees import run
from jensen.q_hidden.trees.partition import shift_tables
from jensen.q_hidden.trees.problems import hidden_sets

Array = NDArray[np.float64]
Codes = NDArray[np.int32]

SLOWER = 30.0
"""Updates after which steps begin to shrink."""
WARM = 20
"""Sweeps of persistent chains before the first update."""


class StateChains:
    """Gibbs chains over all variables of a network."""

    def __init__(self, model: LogLinearNetwork, n_chains: int) -> None:
        self.wiring = model.effects.wiring
        words, begin, end = hidden_sets(self.wiring, range(len(self.wiring.cards)))
        weight = np.full(len(begin), float(n_chains))
        every = np.ones(len(begin), bool)
        self.sites = run.make_sites(self.wiring, words, begin, end, weight, every)
        self.members = [words[a:b] for a, b in zip(begin, end, strict=True)]
        self.n_chains = n_chains

    def at(self, codes: Codes) -> Codes:
        """States (n_chains, n) as the kernel has them."""
        return np.concatenate([codes[:, members].ravel() for members in self.members])

    def advance(
        self, log_tables: Array, states: Codes | None, rng: np.random.Generator, n_sweeps: int
    ) -> tuple[Array, Codes]:
        """Counts of all tables after some sweeps, and the states then; None begins anywhere."""
        whole = slice(0, len(self.sites.problems.set_of))
        shifted, _ = shift_tables(log_tables, self.wiring)
        _, counts, states = run.redrawn(self.sites, whole, shifted, states, rng, n_sweeps)
        return counts / self.n_chains, states


def climb_by_chains(
    model: LogLinearNetwork,
    units: Units,
    begin: Array,
    rng: np.random.Generator,
    *,
    rows: Codes | None,
    weights: Array | None,
    n_chains: int,
    n_steps: int,
    n_updates: int,
) -> Array:
    """The coefficients after so many updates, averaged over the last half of them.

    Parameters
    ----------
    begin
        The coefficients at the start.
    rows
        Of contrastive divergence: complete rows, where chains begin; None: chains persist.
    weights
        Of these rows.
    """
    chains = StateChains(model, n_chains)
    theta, total = begin.copy(), np.zeros(len(begin))
    prior = model.prior.weights
    ridge = np.zeros(len(theta)) if prior is None else prior.ridge / units.total_weight
    states, known = None, None
    n_kept = 0
    for update in range(n_updates):
        log_tables = model.log_tables(theta)
        if rows is not None:
            picked = rows[rng.choice(len(rows), n_chains, p=weights)]
            first, states = _features(model, picked), chains.at(picked)
        else:
            if known is None or not units.is_complete:
                known = _expected(model, units, theta)
            first = known
        n_sweeps = n_steps if states is not None else WARM
        counts, states = chains.advance(log_tables, states, rng, n_sweeps)
        slope = first - model.effects.features(counts) - ridge * theta
        theta = theta + model.sums.solve(theta, 1.0, ridge, slope) / (1.0 + update / SLOWER)
        if 2 * update >= n_updates - 1:
            total, n_kept = total + theta, n_kept + 1
    return total / max(n_kept, 1)


def _features(model: LogLinearNetwork, codes: Codes) -> Array:
    """Mean features of some rows."""
    w, counts = model.effects.wiring, np.zeros(int(model.effects.wiring.fam_at[-1]))
    for f in range(w.n_families):
        at = slice(w.fam_ptr[f], w.fam_ptr[f + 1])
        cells = w.fam_at[f] + codes[:, w.fam_vars[at]] @ w.fam_stride[at]
        counts += np.bincount(cells, minlength=len(counts))
    return model.effects.features(counts) / len(codes)


def _expected(model: LogLinearNetwork, units: Units, theta: Array) -> Array:
    """Mean features of all rows, what they miss expected under these coefficients."""
    nothing = np.zeros(len(model.effects.terms))
    t = Weights(LogLinear(theta, np.float64(0.0), -0.5 * theta**2, nothing))
    sums, _ = expect(model, units, q_hidden.exact, t)
    return np.asarray(sums.stats.weights.first / units.total_weight)
