"""Moves of chains over orders, partitions and graphs, one a file; compiled into the chains.

A move of an order has `propose(rng, order, proposal)`: it changes the proposal, a copy of what is
now, and returns where the two differ. One of a partition is told and returns the number of parts
too, and returns the log of how much likelier it is back than forth. A move of a graph has
`step(rng, graph, weights, room)`: it proposes and decides, and returns whether the graph was
changed. What has a row in `rows` is called by the chains of `jensen.kernels`, counted and named.
"""
