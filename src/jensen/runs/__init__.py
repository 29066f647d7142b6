"""Long work: starts and chains that are watched, stopped, saved and resumed.

`runner` runs numbered tasks; `restarts` has those that climb F or sample it. `checkpoint` and
`sample_file` are what a killed run resumes from. `diagnostics` tells how well chains have mixed.
"""
