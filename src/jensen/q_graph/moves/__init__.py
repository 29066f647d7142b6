"""Moves of chains over orders, partitions and graphs, one a file; compiled into the chains.

A move of an order or a partition has `propose(rng, now, proposal, ...)`: it changes the proposal, a
copy of what is now, and returns where the two differ (and, if it is not as likely back as forth,
the log of that ratio). A move of a graph has `step(rng, graph, weights, room)`: it proposes and
decides, and returns whether the graph was changed. `jensen.kernels` has the chains that call them.
"""
