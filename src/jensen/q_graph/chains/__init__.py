"""q(G) as draws: chains over orders, partitions and graphs.

All chains read the same weights of parent sets (`weights`). What they move over are `kinds`; their
moves are compiled, in `jensen.kernels.moves`; `graph_chains` runs them.
"""
