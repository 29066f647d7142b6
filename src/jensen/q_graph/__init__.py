"""Choices of q(G): learning the graph of a network from data.

q(G) is a point (one graph, found by search or proven optimal), a sum over all graphs, or samples.

- `learning`: `learn_structure`, the public function; `methods` runs the method that it names, and
  `method_choices` lists the choices of each.
- `search/`: hill climbing and tabu search over DAGs.
- `classes/`: greedy search over Markov equivalence classes (GES).
- `optimum/`: the best graph, proven: dynamic programming over subsets, integer programming with
  cutting planes, and the k best graphs.
- `trees/`: Chow-Liu trees and tree-augmented classifiers, whose optimum is a spanning tree.
- `structural/`: structural EM, a search on expected statistics where values are missing; the rows
  (labels or numbers), the objective, the starts, the climbs.
- `sums/`: posteriors over all graphs of a few variables, summed exactly.
- `chains/`: Markov chains over graphs, orders and partitions; `chains/moves/` holds their moves.
- `posterior/`: `structure_posterior` and the object it returns: probabilities of edges and other
  features, averages over graphs, convergence, files.
- `bootstrap`, `edge_strengths`: how often an edge is found again in resampled data.
- `constraints`: required and forbidden edges, tiers, limits; shared by all of the above.
- `info`: what a learned graph tells about how it was found.

Learners by tests of independence (PC, MMHC) are in `jensen.independence`.
"""
