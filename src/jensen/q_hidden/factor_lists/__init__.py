"""Log partition functions and marginals of factor lists too large for a tree of clusters.

Σ over states of Π factors: bracketed from below (`mean_field`) and above (`tree_reweighted`), or
from both sides (`mini_buckets`); estimated (`loopy`, `tree_blocks`); and the states of the largest
product (`best_states`).
"""
