"""Small helpers that know nothing of models.

`arguments` (numbers and seeds that callers give, random streams), `machine` (memory, threads,
Ctrl-C), `text` (tables, lists and plurals in messages, choices as the caller writes them, words of
other libraries), `fields` (arithmetic on nested records), `atomic` (files written whole or not at
all), `fingerprint` (hashes of data and settings), `json_values` (members of JSON files, asked for
by type), `kernel_cache` (compiled kernels on disk), `chain_records`, `row_records` and
`tree_records` (arrays that kernels share with the package).
"""
