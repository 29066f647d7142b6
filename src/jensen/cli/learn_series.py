"""`jensen learn --model lds`: linear dynamical systems."""

from __future__ import annotations

from typing import Any

from jensen.cli import inputs
from jensen.cli.command import Given
from jensen.cli.learn_states import LearnedRows, read_prior
from jensen.cli.table_rows import find_sequences, require_numbers
from jensen.exceptions import JensenError

OR_NAME_NUMBERS = ", or name columns of numbers with --column"


def learn_series(given: Given) -> tuple[Any, LearnedRows]:
    """Learn; the system, and the rows that it was learned from."""
    from jensen.estimators.linear_dynamics import LinearDynamicalSystem

    if given.complete_rows:
        raise JensenError(
            "--complete-rows would tear holes into sequences: values may be missing, keep them"
        )
    choices = {**inputs.loop_choices(given), "prior": read_prior(given.prior)}
    if given.start is not None:
        choices["start"] = inputs.read_dynamics(given.start)
    n_states = _n_states(given)
    table = inputs.read_table(given, [])
    sequences = find_sequences(table, given.sequences)
    for option, names in (("--column", given.column), ("--without", given.without)):
        if given.sequences in names:
            raise JensenError(f"{option} {given.sequences} names the column of the sequences")
    others = table.select([name for name in table.names if name != given.sequences])
    wanted = [*given.column, *given.inputs] if given.column else []
    table = inputs.choose_columns(others, wanted, given.without)
    if not table.names:
        raise JensenError("there is no column to learn from")
    require_numbers(table, "a linear dynamical system", OR_NAME_NUMBERS)
    weight = sequences.weights(table.weights)
    told = LearnedRows(table.total_weight, table.n_rows, len(sequences.lengths))
    model = LinearDynamicalSystem(
        n_states, inputs=list(given.inputs), **choices, **given.chosen("noise")
    )
    model.fit(
        table.with_weights(None),
        lengths=sequences.lengths,
        sequence_weight=weight,
        checkpoint=given.checkpoint,
    )
    return model, told


def _n_states(given: Given) -> int:
    """The number of states, which must be said once."""
    if len(given.states) != 1 or not given.states[0].isdigit() or int(given.states[0]) < 1:
        raise JensenError(
            "say once how many hidden states there are: --states 3 (with --prior default surplus "
            "ones die)"
        )
    return int(given.states[0])
