"""Continuous columns into states, with cut points that are kept."""


def discretize(): ...
