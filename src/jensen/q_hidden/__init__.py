"""Choices of q(h). A rule: (potentials, memory, rng) → Hidden, by the type of the potentials."""

from jensen.q_hidden.draw import draw
from jensen.q_hidden.exact import exact
from jensen.q_hidden.mode import mode
from jensen.q_hidden.structures import FamilyTables, GaussianCells, Hidden, Known

__all__ = ["FamilyTables", "GaussianCells", "Hidden", "Known", "draw", "exact", "mode"]
