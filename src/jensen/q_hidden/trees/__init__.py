"""Sub-problems of incomplete rows, and the trees of clusters that solve them exactly.

`problems` splits rows into connected sets of missing variables with the evidence around them, and
keeps equal ones once; `plans` compiles each set to a tree; `run` sums, maximises and draws on it.
"""
