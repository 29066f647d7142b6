"""Commands in a fresh process, for what happens once in the life of one."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path


def run_python(code: str, environment: Mapping[str, str] | None = None) -> str:
    """What a piece of Python prints."""
    return run_command([sys.executable, "-c", code], environment)


def run_command(command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> str:
    """What a command prints; its last words are the error if it fails."""
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **(environment or {})}
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise RuntimeError(last)
    return done.stdout
