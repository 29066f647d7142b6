"""Scores of families whose parents are a set of bits."""

from jensen.q_graph.classes.graph import members
from jensen.q_graph.search.family_scores import Family, FamilyScores


class Families(FamilyScores):
    """Families by (child, set of parents)."""

    def look(self, child: int, parents: int) -> Family:
        """The scores around one family; `less` has the parents in ascending order."""
        key = child, parents
        return self.find(key) or self.score(key, child, list(members(parents)))
