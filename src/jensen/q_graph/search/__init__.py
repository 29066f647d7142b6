"""Greedy search over graphs: hill climbing and tabu search."""
