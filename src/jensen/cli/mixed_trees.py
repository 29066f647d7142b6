"""`jensen learn --structure tree` of columns with labels and with numbers: the graph alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jensen.cli.learn_options import Loop, NetworkChoices, spelled
from jensen.cli.structure_options import Search, StructureChoices
from jensen.exceptions import JensenError

if TYPE_CHECKING:
    from jensen.data import Table


def is_mixed_tree(table: Table, names: Sequence[str], choices: StructureChoices) -> bool:
    """Whether a tree of columns of both kinds is asked for."""
    kinds = {table.variable(name).kind for name in names}
    return choices.search is Search.TREE and kinds == {"categorical", "continuous"}


def of_parameters(loop: Loop, network: NetworkChoices) -> list[str]:
    """The options that were given and belong to parameters."""
    return [name for name in (*spelled(loop), *network.given()) if name != "--states"]


def refuse_parameters(loop: Loop, network: NetworkChoices) -> None:
    """Refuse what belongs to parameters, for no network holds columns of both kinds yet."""
    given = of_parameters(loop, network)
    if given:
        raise JensenError(
            f"{given[0].replace('--output', '-o')}: of columns with labels and columns with "
            f"numbers together only the graph is learned, no parameters: leave it out (--json and "
            f"--svg keep the graph)"
        )
