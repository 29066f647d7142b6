"""Greedy search over Markov equivalence classes."""
