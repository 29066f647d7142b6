"""`jensen predict` for mixtures and hidden Markov models: which state made a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jensen.cli import options
from jensen.cli.rows import write_rows
from jensen.cli.state_rows import StateRows
from jensen.exceptions import ImpossibleError, JensenError
from jensen.text import plural, some

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def predict_states(
    model: Any,
    rows: StateRows,
    path: bool,
    probabilities: bool,
    impossible: options.Impossible,
    output: str,
    as_json: bool,
) -> None:
    """Write the rows with their most probable states."""
    import numpy as np
    import pyarrow as pa

    is_chain = model.noun == "state"
    if path and not is_chain:
        raise JensenError(f"--path belongs to hidden Markov models, not to a {_what(model)}")
    options.refuse_together({"--path": path, "--probabilities": probabilities})
    where = {"lengths": rows.groups.lengths} if is_chain else {}
    log_like = model.log_likelihood(rows.inputs, **where)
    lost = np.repeat(log_like, rows.groups.lengths) if is_chain else log_like
    lost = np.asarray(lost == -np.inf)
    if lost.any() and impossible is options.Impossible.RAISE:
        _refuse_impossible(lost)
    best, values = _ask(model, rows, ~lost, path)
    rows.written.add(f"predicted_{model.noun}", pa.array(best, pa.int64(), mask=lost))
    if probabilities:
        for k in range(values.shape[1]):
            column = pa.array(values[:, k], mask=lost)
            rows.written.add(f"P({model.noun}={k})", column)
    if output != "-" or not as_json:
        write_rows(rows.written.columns, output)
    n_rows = rows.written.n_rows
    if as_json and output == "-":
        options.print_json(_answers(best, values, lost, probabilities))
    elif as_json:
        options.print_json({"rows": n_rows, "target": model.noun, "output": output})
    elif output != "-":
        options.tell(f"{plural(n_rows, 'row')} written to {output}")


def _ask(
    model: Any, rows: StateRows, possible: NDArray[np.bool_], path: bool
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The best state of each row and the probabilities of all; 0 where a row is impossible."""
    import numpy as np

    lengths, inputs = rows.groups.lengths, rows.inputs
    where = {}
    if model.noun == "state":
        begins = np.cumsum(lengths) - lengths
        where = {"lengths": lengths[possible[begins]]}
    best = np.zeros(len(possible), np.int64)
    values = np.zeros((len(possible), 0 if path else model.require_fitted().model.n_states))
    if possible.any():
        chosen = inputs.take(possible) if hasattr(inputs, "read_as") else inputs[possible]
        if path:
            best[possible] = model.decode(chosen, **where)
        else:
            values[possible] = model.predict_proba(chosen, **where)
            best[possible] = values[possible].argmax(1)
    return best, values


def _refuse_impossible(lost: NDArray[np.bool_]) -> None:
    import numpy as np

    n, first = int(lost.sum()), some(np.flatnonzero(lost) + 1, most=4)
    raise ImpossibleError(
        f"{plural(n, 'row')} cannot be under this model (row {first}): --impossible nan leaves "
        f"such rows without an answer"
    )


def _answers(
    best: NDArray[np.intp],
    values: NDArray[np.float64],
    lost: NDArray[np.bool_],
    probabilities: bool,
) -> list[dict[str, Any]]:
    answers: list[dict[str, Any]] = []
    for state, row, gone in zip(best.tolist(), values.tolist(), lost.tolist(), strict=True):
        answer: dict[str, Any] = {"predicted": None if gone else state}
        if probabilities:
            shown = [None] * len(row) if gone else row
            answer["probabilities"] = {str(k): p for k, p in enumerate(shown)}
        answers.append(answer)
    return answers


def _what(model: Any) -> str:
    return type(model).__name__
