"""Choices of q(G), structure learning: which graph, or which states, the data ask for."""
