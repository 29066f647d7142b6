"""The commands together, and what happens when one of them fails."""

import io
import logging
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Annotated, Any

import typer

from jensen import __version__
from jensen.cli import compile as compile_command
from jensen.cli import convert, demo, impute, learn, posterior, predict, query, sample, score, show
from jensen.exceptions import JensenError, StoppedError
from jensen.support.wording import for_shell

INTERRUPTED = 130
EPILOG = "Example: jensen learn patients.csv --svg net.svg -o net.json"

app = typer.Typer(
    name="jensen",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog=EPILOG,
)
COMMANDS = (
    learn,
    posterior,
    query,
    predict,
    impute,
    score,
    sample,
    show,
    convert,
    compile_command,
    demo,
)
NOTHING_KEPT = "interrupted before there was a result to keep: nothing was written"


def _stoppable(command: Callable[..., None]) -> Callable[..., None]:
    """A command that says so if an interrupt leaves nothing; commands that keep something tell."""

    @wraps(command)
    def run(*arguments: Any, **choices: Any) -> None:
        try:
            command(*arguments, **choices)
        except KeyboardInterrupt:
            raise StoppedError(NOTHING_KEPT) from None

    return run


for module in COMMANDS:
    app.command(module.NAME, epilog=module.EPILOG)(_stoppable(module.command))


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"jensen {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
    with_traceback: Annotated[
        bool, typer.Option("--traceback", help="Show where in the program an error came from.")
    ] = False,
) -> None:
    """Learn graphical models from data."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; 0 if all went well, 2 after an error, which is told in one line."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    wants_traceback = "--traceback" in given
    given = [word for word in given if word != "--traceback"]  # allowed anywhere
    _prepare_streams()
    try:
        words = given or ["--help"]
        with for_shell():
            code = int(app(words, prog_name="jensen", standalone_mode=False, obj=given) or 0)
        sys.stdout.flush()
        return _complain("interrupted", code) if code == INTERRUPTED else code
    except (BrokenPipeError, SystemExit):  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (KeyboardInterrupt, typer.Abort):
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
        return str(error)
    if isinstance(error, OSError):
        return f"the system refused: {error.strerror or error}"
    return f"a fault of the program: {type(error).__name__}: {error} (--traceback shows where)"


def _complain(text: str, code: int) -> int:
    print("jensen:", " ".join(text.split()), file=sys.stderr)
    return code


def _prepare_streams() -> None:
    """Results alone go to standard output; warnings and log messages are plain lines apart."""

    def say(message: Warning | str, *_: Any, **__: Any) -> None:
        print("jensen: warning:", " ".join(str(message).split()), file=sys.stderr)

    warnings.showwarning = say
    if isinstance(sys.stdout, io.TextIOWrapper):  # a letter that the terminal lacks is spelled out
        sys.stdout.reconfigure(errors="backslashreplace")
    log = logging.getLogger("jensen")
    if not any(isinstance(handler, _Messages) for handler in log.handlers):
        log.addHandler(_Messages())
    log.setLevel(logging.INFO)


class _Messages(logging.Handler):
    """What the library has to say, on whatever standard error is at the moment."""

    def emit(self, record: logging.LogRecord) -> None:
        print("jensen:", record.getMessage(), file=sys.stderr)
