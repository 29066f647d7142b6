"""Discrete hidden states of rows: one per row, or chains of them; sums, maxima and draws.

Rows are worked on in segments, so that no array is as long as the data times the states.
"""
