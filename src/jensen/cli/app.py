"""The commands together, and what happens when one of them fails."""

from __future__ import annotations

import io
import logging
import os
import pkgutil
import sys
import traceback
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from jensen import __version__
from jensen.cli.command import INTERRUPTED, NOTHING_KEPT, Command
from jensen.exceptions import JensenError, StoppedError
from jensen.support.text import in_shell

EPILOG = "Example: jensen learn patients.csv --svg net.svg -o net.json"
GROUPS = ("Learn", "Ask", "Tools")
"""The groups of commands, in the order of the help."""


def _find_commands() -> dict[str, Command]:
    """Every command by its name: those modules of this package that have a COMMAND."""
    names = [
        module.name
        for module in pkgutil.iter_modules([os.path.dirname(__file__)])
        if module.name != "app"
    ]
    modules = [import_module(f"jensen.cli.{name}") for name in names]
    found = [module.COMMAND for module in modules if hasattr(module, "COMMAND")]
    found.sort(key=lambda command: (GROUPS.index(command.group), command.name))
    return {command.name: command for command in found}


COMMANDS = _find_commands()


class _Commands(TyperGroup):
    """All commands; the help lists them in groups."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for group in GROUPS:
            names = [name for name, command in COMMANDS.items() if command.group == group]
            with formatter.section(group):
                formatter.write_dl([(x, self.commands[x].get_short_help_str(200)) for x in names])


app = typer.Typer(
    name="jensen",
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog=EPILOG,
)
for name, command in COMMANDS.items():
    app.command(name, cls=command.typer_class(), epilog=command.epilog)(command.callback())


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
