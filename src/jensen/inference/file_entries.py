"""The variables of a network as they stand in a file, whatever is known of each."""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

from jensen.graphs import DAG
from jensen.io.checked import Checked


class Entries(NamedTuple):
    """Variables by name, in the order of the file."""

    value: Checked
    members: dict[str, dict[str, Checked]]  # variable → what stands there of it
    parents: dict[str, list[str]]  # in the order of its numbers

    def graph(self) -> DAG:
        """The graph that the parents make."""
        return DAG.from_parents(self.parents)

    def each(self, name: str) -> dict[str, Checked]:
        """One member of every variable that has it."""
        return {x: own[name] for x, own in self.members.items() if name in own}

    def posteriors(self) -> dict[str, Checked]:
        """The posterior of all variables, or of none."""
        found = self.each("posterior")
        if found and len(found) < len(self.members):
            self.value.fail("must have a posterior each, or none")
        return found


def read_entries(value: Checked, required: Set[str], optional: Set[str]) -> Entries:
    """Variables with a name, parents and some members of their own."""
    members: dict[str, dict[str, Checked]] = {}
    for item in value.items():
        own = item.fields({"name", "parents", *required}, {"posterior", *optional})
        name = own["name"].text()
        if name in members:
            own["name"].fail(f"repeats the variable {name!r}")
        members[name] = own
    parents = {name: own["parents"].texts() for name, own in members.items()}
    for name, above in parents.items():
        for parent in above:
            if parent not in members:
                members[name]["parents"].fail(
                    f"names {parent!r}, which is no variable of this file"
                )
    return Entries(value, members, parents)
