"""The command line: the same words as in Python."""

from jensen.cli.app import main

__all__ = ["main"]
