"""Hidden Markov models whose states are found by merging the positions of sequences."""
