"""What `jensen learn` refuses, and what it does with missing values where it learns a graph."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, NoReturn

from jensen.cli import inputs
from jensen.cli.command import Given
from jensen.exceptions import JensenError
from jensen.q_graph.method_choices import HAVE, TESTED, WAYS
from jensen.scores.registry import AVAILABLE, SPREAD_PRIORS
from jensen.support.text import either, plural, some

if TYPE_CHECKING:
    from jensen.data import Table

FLAGS = ("--complete-rows", "--available-case")

ENOUGH = 50
"""From so many complete rows on, the graph is better learned from these alone."""

FAMILY_BY_FAMILY = (
    "each family by the rows in which it is known (families are then compared by different rows, "
    "so edges appear between independent variables, the more the more is missing)"
)


COMPLETED = "by structural EM, which completes the rows in all ways"


class RetryError(JensenError):
    """A refusal, and commands that work, each to stand in a line of its own."""

    def __init__(self, text: str, commands: Sequence[str]) -> None:
        super().__init__(text)
        self.commands = tuple(commands)


class Retry:
    """The command line as it was typed, to be suggested with other options."""

    def __init__(self, given: Given) -> None:
        self.given = given
        self.words = _without_refusal(given.words)
        self.structure = given.structure if "structure" in given.table else None

    @property
    def parameter_prior(self) -> str | None:
        """What --prior says of parameters; of `jensen posterior`, which has none, nothing."""
        return self.given.prior if self.structure is not None else None

    def but(self, *more: str, without: Sequence[str] = ()) -> str:
        """The command with other options."""
        if "--prior" in more and self.structure is None:  # graphs alone need no such prior
            more, without = more[: more.index("--prior")], FLAGS
        words = _drop(self.words, without)
        end = words.index("--") if "--" in words else len(words)
        return shlex.join(["jensen", *words[:end], *more, *words[end:]])

    def naming(self, option: str, columns: Sequence[str], *more: str) -> str:
        """The command with an option for each of some columns, and more options."""
        if option == "--without" and self.given.column:
            kept = [name for name in self.given.column if name not in columns]
            return self.but(*more, *_each("--column", kept), without=["--column"])
        return self.but(*more, *_each(option, columns))

    @property
    def has_structural_em(self) -> bool:
        """Whether the graph of labels can be learned by structural EM."""
        has_structure = self.structure in (*HAVE["completion"], "tree")
        return has_structure and self.parameter_prior != "bds"

    @property
    def has_available_case(self) -> bool:
        """Whether the structure can be learned from the rows that each family has."""
        owners = self.given.table["available_case"].belongs.get("structure")
        return owners is None or self.structure in owners


def refuse_empty(table: Table, names: Sequence[str], retry: Retry) -> None:
    """Refuse columns without any value, and without states that were declared."""
    empty = [x for x in names if _is_empty(table, x)]
    if not empty:
        return
    text = f"no value is known of {some(empty)}"
    if len(empty) == len(names):
        raise JensenError(f"{text}: there is nothing to learn from")
    it = "it" if len(empty) == 1 else "them"
    raise RetryError(f"{text}; this leaves {it} out:", [retry.naming("--without", empty)])


def read_kinds(table: Table, names: Sequence[str]) -> Table:
    """The table with whole numbers as numbers."""
    from jensen.data.counting import counts_as_numbers
    from jensen.scores.table_checks import note_columns

    note_columns([table.variable(name) for name in names], is_class=False)
    return counts_as_numbers(table)


def refuse_missing(table: Table, names: Sequence[str], retry: Retry) -> NoReturn:
    """Say what is missing, and which commands work."""
    absent = table.n_missing(names)
    shown = some(f"{name} ({count:,})" for name, count in absent.items())
    total = sum(absent.values())
    ways = _ways(table, names, list(absent), retry)
    if not ways:
        raise JensenError(
            f"{plural(total, 'value')} missing: {shown}; no row and no column is known throughout, "
            f"so there is nothing to learn a graph from"
        )
    how = ", or ".join(ways)
    raise RetryError(
        f"a graph is learned from complete data, and {plural(total, 'value')} "
        f"{'is' if total == 1 else 'are'} missing: {shown}; this works, {how}:",
        list(ways.values()),
    )


def _ways(
    table: Table, names: Sequence[str], absent: Sequence[str], retry: Retry
) -> dict[str, str]:
    """How to go on, and by which command."""
    kinds = {table.variable(name).kind == "categorical" for name in names}
    is_numbers, has_numbers = True not in kinds, False in kinds
    complete = table.complete_rows(names)
    ways = {}
    if complete.n_rows:
        how = f"with the {plural(complete.n_rows, 'complete row')} of {table.n_rows:,}"
        ways[how] = _complete_rows(complete, names, retry, is_numbers)
    if not has_numbers and retry.has_available_case and retry.parameter_prior != "bds":
        other = {FAMILY_BY_FAMILY: _available_case(retry)}
        ways = ways | other if complete.n_rows >= ENOUGH else other | ways
    if not has_numbers and retry.has_structural_em:
        ways = {COMPLETED: _structural_em(retry)} | ways
    if not ways and len(absent) < len(names):
        ways["without the columns that have gaps"] = retry.naming("--without", absent)
    return ways


def _structural_em(retry: Retry) -> str:
    from jensen.q_graph.structural.learning import SCORED

    has_score = retry.given.score is None or retry.given.score in SCORED
    return retry.but(without=FLAGS if has_score else [*FLAGS, "--score", "--prior-network"])


def _available_case(retry: Retry) -> str:
    if retry.given.score in AVAILABLE:
        return retry.but("--available-case", without=FLAGS)
    foreign = [*FLAGS, "--score", "--prior-network"]
    if retry.parameter_prior not in SPREAD_PRIORS:
        foreign.append("--equivalent-sample-size")
    return retry.but("--score", "bic", "--available-case", without=foreign)


def _complete_rows(rows: Table, names: Sequence[str], retry: Retry, is_numbers: bool) -> str:
    """So few numbers may be left that only a prior keeps the variances from zero.

    Where a column is constant in them, that prior needs a scale that is not made of variances.
    """
    from jensen.scores.table_checks import is_constant

    if not is_numbers or retry.structure == "tree":
        return retry.but("--complete-rows", without=FLAGS)
    prior, foreign = ["--prior", "bge"], [*FLAGS, "--score", "--prior", "--scale"]
    if any(is_constant(*rows.range_of(x)[1:]) for x in names):
        return retry.but("--complete-rows", *prior, "--scale", "unit", without=foreign)
    if rows.n_rows < len(names) + 2:
        return retry.but("--complete-rows", *prior, without=foreign[:-1])
    return retry.but("--complete-rows", without=FLAGS)


def _each(option: str, values: Sequence[str]) -> list[str]:
    return [word for value in values for word in (option, value)]


def _is_empty(table: Table, name: str) -> bool:
    return not table.variable(name).states and not table.n_seen(name)


def _without_refusal(words: Sequence[str]) -> list[str]:
    """The words without --missing refuse."""
    kept: list[str] = []
    for word in words:
        if word == "refuse" and kept and kept[-1] == "--missing":
            kept.pop()
        elif word != "--missing=refuse":
            kept.append(word)
    return kept


def _drop(words: Sequence[str], names: Sequence[str]) -> list[str]:
    """The words without some options and their values."""
    kept: list[str] = []
    left = iter(words)
    for word in left:
        if word == "--":
            return [*kept, word, *left]
        if word in names:
            if word not in FLAGS:
                next(left, None)
        elif word.partition("=")[0] not in names:
            kept.append(word)
    return kept


DEFAULT, *OTHERS = WAYS


def refuse_ways(given: Given) -> None:
    """Refuse --missing with the name of a way where no graph is learned."""
    for word in given.missing:
        if word in WAYS and word != "refuse":  # which may be a label
            raise JensenError(f"--missing {word} belongs to a graph that is learned")


def read_incomplete(given: Given) -> tuple[Table, str]:
    """The table, and the way with missing values; words that are labels of the table are labels."""
    for word in given.missing:
        _refuse_misspelt(word)
    labels = [word for word in given.missing if word not in WAYS]
    ways = [word for word in given.missing if word in WAYS]
    table = inputs.read_table(given, given.states, labels)
    known = {label for variable in table.variables for label in variable.states}
    if known.intersection(ways):
        labels += [word for word in ways if word in known]
        ways = [word for word in ways if word not in known]
        table = inputs.read_table(given, given.states, labels)
    chosen = dict.fromkeys([*ways, *(["available-case"] if given.available_case else [])])
    if len(chosen) > 1:
        one, other = (f"--missing {way}" for way in list(chosen)[:2])
        raise JensenError(f"{one} and {other} do not go together: choose one")
    way = next(iter(chosen), DEFAULT)
    _refuse_foreign(given, way)
    return table, way


def can_learn(way: str, structure: str, table: Table, names: Sequence[str]) -> bool:
    """Whether a graph is learned from rows with missing values in this way."""
    from jensen.q_graph.methods import needs_structural_em
    from jensen.q_graph.trees.incomplete import is_incomplete

    if way != DEFAULT:
        return way != "refuse"
    if structure in TESTED:
        return True  # a test reads the rows that it needs
    rows = table.select(names)
    if structure == "tree":
        return is_incomplete(rows)
    if structure == "naive":
        return True  # there is nothing to search
    return structure in HAVE["completion"] and needs_structural_em(rows, {})


def _refuse_misspelt(word: str) -> None:
    """Refuse what was meant for a way; refuse and refused may both be labels."""
    plain = word.lower().replace("_", "-").replace(" ", "-")
    near = get_close_matches(plain, [way for way in WAYS if way != "refuse"], 1, 0.75)
    if near and word not in WAYS:
        raise JensenError(
            f"there is no --missing {word}: choose {either(WAYS)}, or a label that means missing"
        )


def _refuse_foreign(given: Given, way: str) -> None:
    """Refuse a way that the structure does not have, and what only structural EM has."""
    if way == DEFAULT:
        return
    owners = HAVE["missing"]
    if way != "refuse" and given.structure not in owners:
        raise JensenError(
            f"--missing {way} belongs to --structure {either(owners)}, not to --structure "
            f"{given.structure}"
        )
    if way == "available-case" and given.score not in AVAILABLE:
        raise JensenError(f"--missing {way} belongs to --score {either(AVAILABLE)}: add one")
    for name in ("hidden", "completion", "missing_indicators"):
        if name in given.typed:
            flag = given.table[name].flag
            raise JensenError(
                f"{flag} has no meaning with --missing {way}: only with --missing {DEFAULT}"
            )
