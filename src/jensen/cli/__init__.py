"""The command line: the same words as in Python, and what happens when a command fails."""

import io
import logging
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

from jensen.exceptions import JensenError, StoppedError
from jensen.support.text import in_shell

__all__ = ["main"]

INTERRUPTED = 130
"""The exit code after an interrupt."""

NOTHING_KEPT = "interrupted before there was a result to keep: nothing was written"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; 0 if all went well, 2 after an error, 130 after an interrupt."""
    try:
        from typer import Abort

        from jensen.cli.command import make_app
    except KeyboardInterrupt:
        return _complain("interrupted: nothing had begun yet", INTERRUPTED)
    given = list(sys.argv[1:] if arguments is None else arguments)
    wants_traceback = "--traceback" in given
    given = [word for word in given if word != "--traceback"]  # allowed anywhere
    _prepare_streams()
    try:
        words = given or ["--help"]
        code = int(make_app()(words, prog_name="jensen", standalone_mode=False, obj=given) or 0)
        sys.stdout.flush()
        return _complain("interrupted", code) if code == INTERRUPTED else code
    except (BrokenPipeError, SystemExit):  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (KeyboardInterrupt, Abort):
        return _complain(NOTHING_KEPT, INTERRUPTED)
    except Exception as error:
        if wants_traceback:
            traceback.print_exc()
        was_stopped = isinstance(error, StoppedError)
        code = _complain(_in_one_line(error), INTERRUPTED if was_stopped else 2)
        for command in getattr(error, "commands", ()):  # that work instead
            print(f"  {command}", file=sys.stderr)
        return code


def _in_one_line(error: Exception) -> str:
    if hasattr(error, "format_message"):  # typer's own: a wrong option, a missing argument
        context = getattr(error, "ctx", None)
        hint = f" (try {context.command_path} --help)" if context else ""
        return f"{error.format_message()}{hint}"
    if isinstance(error, JensenError):
        return in_shell(error.marked)
    if isinstance(error, OSError):
        return f"the system refused: {error.strerror or error}"
    return f"a fault of the program: {type(error).__name__}: {error} (--traceback shows where)"


def _complain(text: str, code: int) -> int:
    print("jensen:", " ".join(text.split()), file=sys.stderr)
    return code


def _prepare_streams() -> None:
    """Results alone go to standard output; warnings and log messages are plain lines apart."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        text = in_shell(getattr(message, "marked", str(message)))
        print("jensen: warning:", " ".join(text.split()), file=sys.stderr)

    warnings.showwarning = show
    if isinstance(sys.stdout, io.TextIOWrapper):  # a letter that the terminal lacks is spelled out
        sys.stdout.reconfigure(errors="backslashreplace")
    log = logging.getLogger("jensen")
    if not any(isinstance(handler, _Messages) for handler in log.handlers):
        log.addHandler(_Messages())
    log.setLevel(logging.INFO)


class _Messages(logging.Handler):
    """What the library has to say, on whatever standard error is at the moment."""

    def emit(self, record: logging.LogRecord) -> None:
        text = getattr(record, "marked", None)
        shown = record.getMessage() if text is None else in_shell(text)
        print("jensen:", shown, file=sys.stderr)
