"""Moves of chains over orders, partitions and graphs, one a file; compiled into the chains.

A move of an order is a function `propose(rng, order, proposal)`: it changes `proposal`, a copy of
the order, and returns the first and the last position that differ. A move of a partition also takes
and returns the number of parts, and returns log q(back) - log q(forth). A move of a graph is a
function `step(rng, graph, weights, room)`: it proposes and decides, and returns whether the graph
was changed. The lists in `registry` say which moves a chain draws; the chains in `jensen.kernels`
call, count and name the moves that are listed there.
"""
