"""Answers for more rows than memory holds: asked block by block, and written as they come."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from jensen.cli import inputs, outputs
from jensen.cli.command import Given
from jensen.cli.table_rows import pick_columns, rows_for
from jensen.exceptions import JensenError
from jensen.support.text import plural

if TYPE_CHECKING:
    from jensen.data import Table, TableScan


class ScannedRows:
    """The rows of DATA, in blocks, beside which answers are written to -o FILE.

    Labels and numbers are written as they were read.
    """

    def __init__(self, given: Given) -> None:
        from jensen.data import scan_table
        from jensen.data.answers import check_path

        if given.output == "-":
            raise JensenError("--scan writes answers block by block: name a file for them, -o FILE")
        check_path(given.output)
        self.given, self.n_rows = given, 0
        text: dict[str, Any] = inputs.text_choices(given)
        self.rows: TableScan = scan_table(given.data, missing=given.missing or None, **text)

    def write(self, ask: Any, *, beside: bool) -> None:
        """Write what `ask` answers for some rows at a time, and report it."""
        from jensen.data.answers import write_answers

        def counted(part: Table) -> Any:
            self.n_rows += part.n_rows
            return ask(part)

        write_answers(self.rows, Path(self.given.output), counted, beside=beside)
        if self.given.as_json:
            outputs.print_json({"rows": self.n_rows, "output": self.given.output})
        else:
            outputs.report(f"{plural(self.n_rows, 'row')} written to {self.given.output}")


def predict_variable(given: Given, net: Any, target: str) -> None:
    """A variable of a network in every row, after the columns of the row."""
    from jensen.data.answers import of_states

    states = net.require_any().variables[net.require_any().index(target)].states
    if not states and given.probabilities:
        raise JensenError(f"--probabilities belongs to states, and {target!r} is continuous")
    missing: dict[str, Any] = {"missing_columns": given.missing_columns}
    choices = {**missing, "impossible": given.impossible, "unknown": given.unknown}

    def ask(part: Table) -> dict[str, Any]:
        import pyarrow as pa

        name = f"predicted_{target}"
        if not states:
            return {name: net.predict(part, target, **missing)}
        values = net.predict_proba(part, target, **choices)
        found = {name: pa.array(best_labels(values, states), pa.string())}
        return found | (of_states(target, values, states) if given.probabilities else {})

    ScannedRows(given).write(ask, beside=True)


def best_labels(values: Any, states: tuple[str, ...]) -> list[str | None]:
    """The most probable state of every row; None where the row is impossible."""
    import numpy as np

    lost = np.isnan(values[:, 0])  # the whole row is
    return [None if gone else states[k] for k, gone in zip(values.argmax(1), lost, strict=True)]


def predict_state(given: Given, model: Any) -> None:
    """The component or class of every row, after its columns."""
    from jensen.data.answers import of_states
    from jensen.estimators.state_estimator import best_states

    choices: dict[str, Any] = {}
    if model.noun != "analyzer":
        choices = {"impossible": given.impossible, "unknown": given.unknown}

    def ask(part: Table) -> dict[str, Any]:
        values = model.predict_proba(rows_for(model, pick_columns(model, part)), **choices)
        found = {f"predicted_{model.noun}": best_states(values)}
        if given.probabilities:
            found |= of_states(model.noun, values, range(values.shape[1]))
        return found

    ScannedRows(given).write(ask, beside=True)


def predict_factors(given: Given, model: Any) -> None:
    """A column for each factor, after the columns of the row."""

    def ask(part: Table) -> dict[str, Any]:
        found = model.transform(rows_for(model, pick_columns(model, part)))
        return {f"factor_{k}": values for k, values in enumerate(found.T)}

    ScannedRows(given).write(ask, beside=True)


def impute_variables(given: Given, net: Any) -> None:
    """The table with gaps filled by a network."""
    from jensen.data.fill_missing import put_back
    from jensen.support.arguments import as_generator

    if given.draws is not None:
        raise JensenError("--scan and --draws do not go together: impute once for each --seed")
    rng = as_generator(given.seed)
    choices = {
        "impossible": given.impossible,
        "unknown": given.unknown,
        "missing_columns": given.missing_columns,
    }

    def ask(part: Table) -> Any:
        return put_back(
            part, part, net.filled_cells(part, given.method, random_state=rng, **choices)
        )

    ScannedRows(given).write(ask, beside=False)


def impute_numbers(given: Given, model: Any) -> None:
    """The table with gaps filled by a model of factors."""

    def ask(part: Table) -> dict[str, Any]:
        own = pick_columns(model, part)
        filled = dict(zip(own.names, model.impute(rows_for(model, own)).T, strict=True))
        return {name: filled.get(name, part[name]) for name in part.names}

    ScannedRows(given).write(ask, beside=False)
