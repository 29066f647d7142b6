"""Posteriors over all graphs of a few variables, summed exactly."""
