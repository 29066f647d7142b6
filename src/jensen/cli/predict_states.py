"""`jensen predict` for mixtures and hidden Markov models: which state made a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jensen.cli import options, outputs
from jensen.cli.rows import write_rows
from jensen.cli.state_rows import StateRows
from jensen.exceptions import JensenError
from jensen.support.text import plural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def predict_states(
    model: Any,
    rows: StateRows,
    path: bool,
    probabilities: bool,
    lenient: dict[str, str],
    output: str,
    as_json: bool,
) -> None:
    """Write the rows with their most probable states; `lenient` is what may be wrong with rows."""
    import pyarrow as pa

    is_chain = model.noun == "state"
    if path and not is_chain:
        raise JensenError(f"--path belongs to hidden Markov models, not to a {_what(model)}")
    options.refuse_together({"--path": path, "--probabilities": probabilities})
    best, values = _ask(model, rows, path, lenient)
    lost = best < 0
    rows.written.add(f"predicted_{model.noun}", pa.array(best, pa.int64(), mask=lost))
    if probabilities:
        for k in range(values.shape[1]):
            column = pa.array(values[:, k], mask=lost)
            rows.written.add(f"P({model.noun}={k})", column)
    if output != "-" or not as_json:
        write_rows(rows.written.columns, output)
    n_rows = rows.written.n_rows
    if as_json and output == "-":
        outputs.print_json(_answers(best, values, lost, probabilities))
    elif as_json:
        outputs.print_json({"rows": n_rows, "target": model.noun, "output": output})
    elif output != "-":
        outputs.tell(f"{plural(n_rows, 'row')} written to {output}")


def _ask(
    model: Any, rows: StateRows, path: bool, lenient: dict[str, str]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The best state of each row, -1 where there is none, and the probabilities of all."""
    import numpy as np

    from jensen.estimators.state_estimator import best_states

    where = {"lengths": rows.groups.lengths} if model.noun == "state" else {}
    if path:
        best = model.decode(rows.inputs, **where, **lenient)
        return best, np.empty((len(best), 0))
    values = model.predict_proba(rows.inputs, **where, **lenient)
    return best_states(values), values


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
