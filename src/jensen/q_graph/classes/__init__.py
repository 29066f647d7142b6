"""Greedy equivalence search (GES): a state of the search is a Markov equivalence class of DAGs."""
