"""Choices of q(h). A rule: (potentials, memory, rng) → Hidden, by the type of the potentials."""

from jensen.q_hidden.draw import solve as draw_states
from jensen.q_hidden.exact import solve as posterior_states
from jensen.q_hidden.gaussian_cells import GaussianCells
from jensen.q_hidden.meanfield import solve as independent_states
from jensen.q_hidden.mode import solve as best_states
from jensen.q_hidden.structures import FamilyTables, Hidden, HiddenRule, NothingHidden

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

exact = HiddenRule(posterior_states, is_random=False, is_bound=True)
mode = HiddenRule(best_states, is_random=False, is_bound=True)
meanfield = HiddenRule(independent_states, is_random=False, is_bound=True)
draw = HiddenRule(draw_states, is_random=True, is_bound=False)
