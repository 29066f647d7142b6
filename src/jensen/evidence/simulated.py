"""Rows drawn from a model under its prior, with the gaps of a table: a case whose θ is known.

The θ that made the rows is an exact draw of its posterior given them, which nothing else gives.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table
from jensen.data.number_rows import NumberRows
from jensen.evidence.asked import EvidenceQuestion
from jensen.evidence.particles import draw_prior
from jensen.evidence.stacked import take
from jensen.exceptions import JensenError
from jensen.models.discrete_network import DiscreteNetwork
from jensen.models.hidden_markov import HiddenMarkov
from jensen.models.mixture import Mixture
from jensen.models.protocol import Data
from jensen.models.state_model import StateRows
from jensen.q_hidden.trees.problems import code_rows
from jensen.support.fields import leaves, rebuild
from jensen.support.text import option

Array = NDArray[np.float64]

ONCE = "simulate=True draws rows that count once each: leave out the weights"


def simulated(asked: EvidenceQuestion) -> tuple[EvidenceQuestion, Any]:
    """The same question of drawn rows, and the θ that made them, a stack of one."""
    model, rng = asked.model, asked.streams(13)()
    t = draw_prior(model, 1, rng)
    one = rebuild(t, (leaf[0] for leaf in leaves(take(t, np.zeros(1, np.intp)))))
    if isinstance(model, DiscreteNetwork) and not asked.fit:
        table = _table_like(asked, model.simulate(one, _n_rows(asked), rng))
        return replace(asked, table=table), t
    if isinstance(model, Mixture):
        values = _values(asked)
        drawn, _ = model.simulate(one, len(values), rng)
        return _of_rows(asked, np.where(np.isnan(values), np.nan, drawn), None), t
    if isinstance(model, HiddenMarkov) and not model.has_end:
        rows = asked.problem.data.rows
        values, lengths = rows.rows.values(), rows.lengths
        drawn = np.concatenate([model.simulate(one, int(n), rng)[0] for n in lengths])
        return _of_rows(asked, np.where(np.isnan(values), np.nan, drawn), lengths), t
    raise JensenError(
        f"{option('simulate', True)} draws rows of mixtures, latent classes, hidden Markov models "
        "without an end, and networks of labels without interventions, and of nothing else"
    )


def _n_rows(asked: EvidenceQuestion) -> int:
    rows = asked.problem.data.rows.source.rows
    if rows.is_weighted:
        raise JensenError(ONCE)
    return int(rows.n_rows)


def _table_like(asked: EvidenceQuestion, drawn: Table) -> Table:
    """What was drawn, without the cells that the rows of the question miss."""
    source = asked.problem.data.rows.source.rows
    names = [name for name in drawn.names if name in source]
    block = next(iter(source.blocks(source.n_rows)))
    gaps = code_rows(block, names) < 0
    codes = code_rows(next(iter(drawn.blocks(drawn.n_rows))), names)
    states = {name: drawn.variable(name).states for name in names}
    columns = {}
    for j, name in enumerate(names):
        labels = np.array(states[name], dtype=object)[codes[:, j]]
        labels[gaps[:, j]] = None
        columns[name] = labels.tolist()
    return Table(columns, states=states)


def _values(asked: EvidenceQuestion) -> Array:
    rows = asked.problem.data.rows.rows
    if (rows.weights() != 1.0).any():
        raise JensenError(ONCE)
    values: Array = rows.values()
    return values


def _of_rows(
    asked: EvidenceQuestion, values: Array, lengths: NDArray[np.int64] | None
) -> EvidenceQuestion:
    """The question of these rows, under the same model."""
    model: Any = asked.model
    rows = NumberRows.of(values)
    if lengths is None:
        units, found = model.encode(rows), StateRows(rows)
    else:
        weight = np.ones(len(lengths))
        units, found = model.encode(rows, lengths, weight), StateRows(rows, lengths, weight)
    data = Data(units, found, (*asked.problem.data.content, values))
    return replace(asked, made=asked.problem._replace(data=data))
