"""Tests of conditional independence, and graphs that are learned by them.

- `independent`: `jensen.independent`, one test by name, and `make_tests` for learners.
- `testing`: the protocol `Tests` that learners ask, and the search for separating sets.
- `categorical` (G², X²), `gaussian` (Fisher's z), `mixed` (conditional Gaussian): the tests.
- `pc`: PC-stable; `skeleton` finds who is adjacent, `orienting` directs the edges.
- `mmhc`: max-min hill climbing, which scores the graphs that tests leave.
"""
