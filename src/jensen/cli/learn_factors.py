"""`jensen learn --model factors|binary-factors`: columns that depend on hidden factors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jensen.cli import inputs
from jensen.cli.command import Given
from jensen.cli.learn_states import LearnedRows, read_prior
from jensen.cli.table_rows import require_numbers
from jensen.exceptions import JensenError

if TYPE_CHECKING:
    from jensen.data import Table

CHAINS = ("n_samples", "burn_in", "thin", "n_chains")
OTHERWISE = ", or name columns of numbers with --column"


def learn_factors(given: Given) -> tuple[Any, LearnedRows]:
    """Learn; the model, and the rows that it was learned from."""
    from jensen.estimators.binary_factors import BinaryFactors
    from jensen.estimators.factor_analysis import FactorAnalysis

    if given.factors is None:
        raise JensenError("say how many factors there are: --factors 2")
    if given.states:
        raise JensenError(f"--states {given.states[0]}: factors have none, say --factors 2")
    for name in CHAINS:
        if name in given.typed:
            raise JensenError(f"{given.table[name].flag} belongs to chains, which factors lack")
    choices = {**inputs.loop_choices(given), "prior": read_prior(given.prior)}
    if given.start is not None:
        choices["start"] = inputs.read_factors(given.start)
    table = _read_rows(given)
    kind = FactorAnalysis if given.model == "factors" else BinaryFactors
    model = kind(given.factors, **choices, **given.chosen("noise"))
    model.fit(table, checkpoint=given.checkpoint)
    return model, LearnedRows(table.total_weight, table.n_rows, None)


def _read_rows(given: Given) -> Table:
    """The columns to learn from."""
    table = inputs.choose_columns(inputs.read_table(given, []), given.column, given.without)
    if not table.names:
        raise JensenError("there is no column to learn from")
    if given.complete_rows:
        table = table.complete_rows()
    require_numbers(table, f"a model of {given.model}", OTHERWISE)
    return table
