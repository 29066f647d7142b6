"""Small helpers that know nothing of models.

`checks` (numbers that callers give), `text` (tables, lists and plurals in messages), `wording` (how
the caller writes a choice), `fields` (arithmetic on nested records), `randomness` (seeds and
streams), `memory` (limits), `array_pool` (arrays whose memory is used again), `atomic` (files
written whole or not at all), `fingerprint` (hashes of data and settings), `kernel_cache` (compiled
kernels on disk).
"""
