"""Choices of q(h). A rule: (potentials, memory, rng) → Hidden, by the type of the potentials."""

from jensen.q_hidden.gaussian_cells import GaussianCells
from jensen.q_hidden.rules import HiddenRule, draw, exact, meanfield, mode
from jensen.q_hidden.structures import FamilyTables, Hidden, NothingHidden

__all__ = [
    "FamilyTables",
    "GaussianCells",
    "Hidden",
    "HiddenRule",
    "NothingHidden",
    "draw",
    "exact",
    "meanfield",
    "mode",
]
