"""The command line: the same words as in Python."""

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; 0 if all went well, 2 after an error, 130 after an interrupt."""
    try:
        from jensen.cli.app import main as run
    except KeyboardInterrupt:
        print("jensen: interrupted: nothing had begun yet", file=sys.stderr)
        return 130
    return run(arguments)
