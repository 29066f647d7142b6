"""The best graph of all, with a proof: dynamic and integer programming, and the k best."""
