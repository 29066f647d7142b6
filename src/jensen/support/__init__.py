"""Small helpers that know nothing of models.

`checks` (numbers that callers give), `memory` (limits, and arrays whose memory is used again),
`text` (tables, lists and plurals in messages, choices as the caller writes them), `fields`
(arithmetic on nested records), `randomness` (seeds and streams), `atomic` (files written whole or
not at all), `fingerprint` (hashes of data and settings), `json_values` (members of JSON files,
asked for by type), `kernel_cache` (compiled kernels on disk), `chain_records`, `row_records` and
`tree_records` (arrays that kernels share with the package).
"""
