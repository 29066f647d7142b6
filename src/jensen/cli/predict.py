"""`jensen predict`: one variable, or the hidden state, of every row from the rest of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jensen.cli import inputs, options, outputs, scanned_rows
from jensen.cli.command import QUESTION, Command, Given, Option
from jensen.cli.table_rows import FileRows, SequenceRows, read_network_rows, read_state_rows
from jensen.exceptions import JensenError
from jensen.support.text import plural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def run(given: Given) -> None:
    """Predict a variable in every row from the rest of the row, or the hidden state that made it.

    The rows are written as they were, with one more column, predicted_NAME (predicted_component,
    predicted_class, predicted_state): the most probable state, or of a continuous variable its
    mean. Of factors there is a column for each, factor_0, factor_1, ...: its mean, or the
    probability that it is on; of a linear dynamical system state_0, state_1, ...: their means.
    Values may be missing anywhere.

    With --scan the rows may be more than memory holds.
    """
    inputs.set_threads(given.threads)
    given.refuse_two_inputs("file", "data")
    outputs.check_table_path(given.output, given.file, given.data)
    model = inputs.read_model(given.file)
    kind = inputs.kind_of(model)
    given.check(model=kind)
    if kind == "network":
        _predict_variable(given, model)
    elif kind == "trees" and given.target is not None:
        _predict_label(given, model, read_state_rows(given, model))
    elif kind in (*inputs.MANY_PARTS, "lds"):
        if given.scan:
            scanned_rows.predict_factors(given, model)
            return
        _predict_factors(given, model, read_state_rows(given, model))
    else:
        if given.scan:
            scanned_rows.predict_state(given, model)
            return
        given.refuse_together(("--path", given.path), ("--probabilities", given.probabilities))
        _predict_state(given, model, read_state_rows(given, model))


# --- a variable of a network ---


def _predict_variable(given: Given, net: Any) -> None:
    import pyarrow as pa

    target = given.target
    if target is None:
        raise JensenError("Missing option '--target'. (try jensen predict --help)")
    network = net.require_any()
    states = network.variables[network.index(target)].states  # refused before any row is read
    if given.scan:
        scanned_rows.predict_variable(given, net, target)
        return
    rows = read_network_rows(given, net, skip=target)
    if not states:
        if given.probabilities:
            raise JensenError(f"--probabilities belongs to states, and {target!r} is continuous")
        numbers = net.predict(rows.table, target, missing_columns="ignore")
        rows.add(f"predicted_{target}", pa.array(numbers))
        _write(rows, given, target, [{"predicted": x} for x in numbers.tolist()])
        return
    values = net.predict_proba(
        rows.table,
        target,
        impossible=given.impossible,
        unknown=given.unknown,
        missing_columns="ignore",
    )
    _write_labels(given, rows, values, states)


def _predict_label(given: Given, model: Any, rows: SequenceRows) -> None:
    """A column of a mixture of trees, from the others."""
    choices = {"impossible": given.impossible, "unknown": given.unknown}
    values = model.predict_proba(rows.inputs, target=given.target, **choices)
    states = next(v.states for v in model.variables_ if v.name == given.target)
    _write_labels(given, rows.written, values, states)


def _write_labels(
    given: Given, rows: FileRows, values: NDArray[np.float64], states: tuple[str, ...]
) -> None:
    """The most probable label of every row, and all probabilities if they are wanted."""
    import pyarrow as pa

    target = given.target
    best = scanned_rows.best_labels(values, states)
    rows.add(f"predicted_{target}", pa.array(best, pa.string()))
    if given.probabilities:
        for k, state in enumerate(states):
            rows.add(f"P({target}={state})", pa.array(values[:, k], from_pandas=True))
    _write(rows, given, target, _answers(best, values.tolist(), states, given.probabilities))


# --- the state of a mixture or hidden Markov model ---


def _predict_state(given: Given, model: Any, rows: SequenceRows) -> None:
    import pyarrow as pa

    best, values = _ask(given, model, rows)
    lost = best < 0
    rows.written.add(f"predicted_{model.noun}", pa.array(best, pa.int64(), mask=lost))
    if given.probabilities:
        for k in range(values.shape[1]):
            rows.written.add(f"P({model.noun}={k})", pa.array(values[:, k], mask=lost))
    states = tuple(map(str, range(values.shape[1])))
    found = [None if gone else k for k, gone in zip(best.tolist(), lost.tolist(), strict=True)]
    shown = [
        [None] * len(row) if k is None else row
        for k, row in zip(found, values.tolist(), strict=True)
    ]
    _write(rows.written, given, model.noun, _answers(found, shown, states, given.probabilities))


def _ask(
    given: Given, model: Any, rows: SequenceRows
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The best state of each row, -1 where there is none, and the probabilities of all."""
    import numpy as np

    from jensen.estimators.state_estimator import best_states

    if model.noun == "analyzer":  # densities are never 0, and numbers have no labels
        values = model.predict_proba(rows.inputs)
        return best_states(values), values
    choices: dict[str, Any] = {"impossible": given.impossible, "unknown": given.unknown}
    if model.noun == "state":
        choices["lengths"] = rows.sequences.lengths
    if given.path:
        best = model.decode(rows.inputs, **choices)
        return best, np.empty((len(best), 0))
    values = model.predict_proba(rows.inputs, **choices)
    return best_states(values), values


def _predict_factors(given: Given, model: Any, rows: SequenceRows) -> None:
    """A column for each factor: its mean, or the probability that it is on."""
    import pyarrow as pa

    is_series = model.noun == "dimension"
    lengths = {"lengths": rows.sequences.lengths} if is_series else {}
    found, what = model.transform(rows.inputs, **lengths), "state" if is_series else "factor"
    for k, values in enumerate(found.T):
        rows.written.add(f"{what}_{k}", pa.array(values))
    answers = [{f"{what}s": row} for row in found.tolist()]
    _write(rows.written, given, f"{what}s", answers)


# --- answers ---


def _answers(
    best: list[Any], values: list[list[Any]], states: tuple[str, ...], probabilities: bool
) -> list[dict[str, Any]]:
    if not probabilities:
        return [{"predicted": state} for state in best]
    return [
        {"predicted": state, "probabilities": dict(zip(states, row, strict=True))}
        for state, row in zip(best, values, strict=True)
    ]


def _write(rows: FileRows, given: Given, target: str, answers: list[dict[str, Any]]) -> None:
    outputs.write_answer(
        rows.columns,
        given,
        in_json=lambda: answers,
        notes={"rows": rows.n_rows, "target": target},
        done=plural(rows.n_rows, "row"),
    )


NOT_OF_FACTORS = {"model": ("network", "mixture", "latent-class", "trees", "hmm")}
COMMAND = Command(
    name="predict",
    run=run,
    group="Ask",
    options=(
        options.MODEL_FILE,
        options.TABLE,
        Option(
            "target",
            "The variable of a network to predict, or a column of a mixture of trees (default "
            "there: the component); its own column is not used.",
            QUESTION,
            metavar="NAME",
            belongs={"model": ("network", "trees")},
        ),
        Option(
            "probabilities",
            "Add a column for each state too, named P(NAME=STATE).",
            QUESTION,
            kind=bool,
            default=False,
            belongs={"model": (*NOT_OF_FACTORS["model"], "factor-mixture")},
        ),
        Option(
            "path",
            "For an hmm: the most probable path of states, instead of each state alone.",
            QUESTION,
            kind=bool,
            default=False,
            belongs={"model": ("hmm",)},
        ),
        options.IMPOSSIBLE.but(belongs=NOT_OF_FACTORS),
        options.SCAN.but(
            belongs={"model": ("network", "mixture", "latent-class", *inputs.FACTORS)}
        ),
        options.SEQUENCES,
        *options.READING,
        options.UNKNOWN.but(belongs=NOT_OF_FACTORS),
        options.MISSING_COLUMNS,
        options.ROWS_FILE,
        options.JSON,
        options.THREADS,
    ),
    examples=(
        "jensen predict net.json patients.csv --target cancer -o predicted.csv",
        "jensen predict net.json 'rows/*.parquet' --scan --target cancer -o answers.parquet",
        "jensen predict hmm.json walks.csv --sequences walk --path",
    ),
)
