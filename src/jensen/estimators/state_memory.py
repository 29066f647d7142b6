"""How much memory learning hidden states takes, asked before anything is allocated."""

from jensen.data.number_rows import NumberRows
from jensen.models.state_starts import LOOKED_AT
from jensen.q_hidden.states.segments import ENTRIES
from jensen.support.memory import check_memory
from jensen.support.text import plural

PARAMETERS = 24
"""So many copies of all parameters: prior, posterior, statistics of units, starts, factors."""
STARTS = 3
"""So many numbers for each state and row from which a start is made."""


def check_state_memory(n_states: int, n_parameters: float, rows: NumberRows, noun: str) -> None:
    """Refuse more states than there is room for; `n_parameters` are those of all states."""
    started = STARTS * float(n_states) * min(rows.n_rows, LOOKED_AT)
    held = rows.n_rows if rows.is_kept else 0
    encoded = 2.0 * held * rows.n_columns + 4.0 * max(ENTRIES, 64 * n_states)
    check_memory(
        8.0 * (PARAMETERS * n_parameters + started + encoded),
        f"learning {plural(n_states, noun)} ({n_parameters:.3g} parameters) from "
        f"{plural(rows.n_rows, 'row')}",
        f"choose fewer {noun}s" if noun != "class" else "choose fewer classes",
    )
