"""Trees and forests: the one class of networks whose best graph is found at once."""
