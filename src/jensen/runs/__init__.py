"""Long work: starts and chains that are watched, stopped, saved and resumed."""
