"""A command is a record with a table of options; `make_app` builds the command line from them."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from jensen import __version__
from jensen.cli import NOTHING_KEPT
from jensen.exceptions import JensenError, StoppedError
from jensen.support.text import either

DATA, STRUCTURE, PARAMETERS = "Data", "Structure", "Parameters"
HIDDEN_STATES, SAMPLING, QUESTION, OUTPUT = "Hidden states", "Sampling", "Question", "Output"
GROUPS = (DATA, QUESTION, STRUCTURE, PARAMETERS, HIDDEN_STATES, SAMPLING, OUTPUT)
"""The groups of options, in the order in which a help page shows them."""

MODEL_NAMES = {
    "network": "a network",
    "markov": "a Markov network",
    "rbm": "a Boltzmann machine",
    "mixture": "a mixture",
    "latent-class": "latent classes",
    "trees": "a mixture of trees",
    "hmm": "an hmm",
    "lds": "a linear dynamical system",
    "factorial-hmm": "a factorial hidden Markov model",
    "factors": "a factor analysis",
    "binary-factors": "binary factors",
    "factor-mixture": "a mixture of factor analysers",
    "posterior": "a posterior over graphs",
}
"""Kinds of models as they are called in sentences."""


@dataclass(frozen=True)
class Option:
    """An option or argument of a command.

    Parameters
    ----------
    name
        By which the program reads it; `--max-parents` has the name `max_parents`.
    group
        Under which the help lists it; empty for an argument.
    kind, many
        The type of a value, and whether there may be several.
    flags
        How it is spelled, where this is not `--name`; errors show the first one.
    values
        All values that are allowed; empty if they are checked elsewhere.
    suggested
        Values that the shell completes, where others are possible too.
    belongs
        For another choice the values with which this option has a meaning, as in
        `{"model": ("network",)}`: with other values it is refused.
    needs
        The name of an option without which this one has no meaning.
    because
        The end of the sentence that refuses it: why, or what to do instead.
    """

    name: str
    help: str
    group: str = ""
    kind: type = str
    many: bool = False
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    values: tuple[str, ...] = ()
    suggested: tuple[str, ...] = ()
    default: Any = None
    at_least: float | None = None
    at_most: float | None = None
    belongs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    needs: str = ""
    because: str = ""

    @property
    def flag(self) -> str:
        """How errors spell it."""
        if not self.group:
            return self.metavar or self.name
        return self.flags[0] if self.flags else f"--{self.name.replace('_', '-')}"

    def but(self, **changes: Any) -> Option:
        """The same option with other words or limits, for another command."""
        return replace(self, **changes)

    def parameter(self) -> inspect.Parameter:
        """The option as a parameter of a function that Typer reads."""
        value: Any = StrEnum("Value", {x: x for x in self.values}) if self.values else self.kind
        kind: Any = list[value] if self.many else value
        is_required = not self.group and self.default is None and not self.many
        if self.default is None and not is_required:
            kind = kind | None
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if is_required else self.default,
            annotation=Annotated[kind, self._info()],
        )

    def _info(self) -> Any:
        shown: dict[str, Any] = {"help": self.help, "metavar": self.metavar}
        if self.suggested:
            shown["autocompletion"] = self._complete
        if not self.group:
            return typer.Argument(**shown)
        flags = self.flags or (self.flag,)
        return typer.Option(*flags, **shown, min=self.at_least, max=self.at_most)

    def _complete(self, incomplete: str) -> list[str]:
        return [value for value in self.suggested if value.startswith(incomplete)]


class Given:
    """The choices of one command line, each an attribute by the name of its option.

    A choice that was not made is None, False for a flag, or an empty list for an option that may
    be repeated. `typed` are the names of those that stand on the command line, and `words` is the
    command line itself.
    """

    def __init__(
        self,
        options: Iterable[Option],
        values: Mapping[str, Any],
        typed: Collection[str],
        words: Sequence[str] = (),
    ) -> None:
        self.table = {option.name: option for option in options}
        self.typed, self.words = typed, tuple(words)
        self._values = {x: _plain(values.get(x), option) for x, option in self.table.items()}

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_values"][name]
        except KeyError:
            raise AttributeError(f"this command has no option {name!r}") from None

    def options(self) -> Iterator[Option]:
        """The options that stand on the command line."""
        return (option for name, option in self.table.items() if name in self.typed)

    def chosen(self, *names: str) -> dict[str, Any]:
        """The choices of these names that were made, as keyword arguments of the library."""
        return {x: self._values[x] for x in names if self._values[x] not in (None, [])}

    def replaced(self, **values: Any) -> Given:
        """The same command line with other values."""
        return Given(self.table.values(), {**self._values, **values}, self.typed, self.words)

    def check(self, **facts: str) -> None:
        """Refuse options that have no meaning here, so that none is ignored in silence.

        `facts` are choices that no option makes, as the kind of the model that a file holds; they
        stand before the value of an option of the same name.
        """
        for option in self.options():
            for what, owners in option.belongs.items():
                fact = facts.get(what, self._values.get(what))
                if fact is not None and fact not in owners:
                    _refuse_foreign(option, what, owners, fact, is_option=what not in facts)
            if option.needs and option.needs not in self.typed:
                needed = self.table[option.needs].flag
                raise JensenError(f"{option.flag} belongs to {needed}: add it")

    def refuse_together(self, *flags: tuple[str, object]) -> None:
        """Refuse options of which all but the first would be ignored."""
        chosen = [flag for flag, is_given in flags if is_given]
        if len(chosen) > 1:
            raise JensenError(f"{chosen[0]} and {chosen[1]} do not go together: choose one")

    def refuse_two_inputs(self, *names: str) -> None:
        """Refuse standard input for two of these, because it can be read once."""
        if [self._values[name] for name in names].count("-") > 1:
            raise JensenError("- stands twice, but standard input can be read once: name a file")

    def check_files(self) -> None:
        """Refuse files of -o, --checkpoint and --svg that cannot be written, or are the same."""
        from jensen.support.atomic import check_writable

        if self.checkpoint == "-":
            raise JensenError("--checkpoint - : a run resumes from a file, so name one")
        if self.svg is not None:
            from jensen.cli.outputs import check_svg_path

            check_svg_path(self.svg)
        written: dict[str, str] = {}
        for name in ("output", "checkpoint", "svg"):
            path, flag = self._values[name], self.table[name].flag
            if path in (None, "-"):
                continue
            check_writable(path)
            if path in written:
                raise JensenError(f"{written[path]} and {flag} both name {path}: name two files")
            written[path] = flag


@dataclass(frozen=True)
class Command:
    """A command of the command line.

    Parameters
    ----------
    run
        What it does; its docstring is the text of its help page.
    group
        Under which `jensen --help` lists it.
    options
        Its arguments and options; within a group the common ones first.
    examples
        Command lines that work.
    notes
        What its help page says below the examples.
    """

    name: str
    run: Callable[[Given], None]
    group: str
    options: tuple[Option, ...]
    examples: tuple[str, ...]
    notes: str = ""

    @property
    def epilog(self) -> str:
        """The end of its help page."""
        first, *more = self.examples
        lines = ["\b", f"Example: {first}", *(f"  {line}" for line in more)]  # \b keeps the lines
        return "\n".join(lines) + (f"\n\n{self.notes}" if self.notes else "")

    def callback(self) -> Callable[..., None]:
        """The function that Typer calls, with a parameter for every option."""

        def call(context: typer.Context, **values: Any) -> None:
            typed = {x for x in values if _is_typed(context, x)}
            given = Given(self.options, values, typed, context.obj or ())
            try:
                self.run(given)
            except KeyboardInterrupt:  # commands that keep something have told so
                raise StoppedError(NOTHING_KEPT) from None

        context = inspect.Parameter(
            "context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context
        )
        parameters = [context, *(option.parameter() for option in self.options)]
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {one.name: one.annotation for one in parameters}
        call.__doc__ = self.run.__doc__
        return call

    def typer_class(self) -> type[TyperCommand]:
        """The class that shows its help page, in groups."""
        group_of = {option.name: option.group for option in self.options}

        class Grouped(TyperCommand):
            def format_options(self, ctx: Any, formatter: Any) -> None:
                sections: dict[str, list[tuple[str, str]]] = {}
                for parameter in self.get_params(ctx):
                    record = parameter.get_help_record(ctx)
                    if record is not None:
                        group = group_of.get(parameter.name or "", OUTPUT) or "Arguments"
                        sections.setdefault(group, []).append(record)
                for group in ("Arguments", *GROUPS):
                    if group in sections:
                        with formatter.section(group):
                            formatter.write_dl(sections[group])

        return Grouped


def _is_typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _plain(value: Any, option: Option) -> Any:
    """A value as the library takes it: plain text instead of members of enumerations."""
    if option.many:
        return [_plain(one, replace(option, many=False)) for one in value or []]
    return value.value if isinstance(value, StrEnum) else value


def _refuse_foreign(
    option: Option, what: str, owners: Sequence[str], fact: str, is_option: bool
) -> None:
    if is_option:
        end = f"--{what} {either(owners)}, not to --{what} {fact}"
    elif what == "model":
        end = f"{either(MODEL_NAMES[owner] for owner in owners)}, not to {MODEL_NAMES[fact]}"
    else:
        end = f"{either(owners)}, not to {fact}"
    because = f": {option.because}" if option.because else ""
    raise JensenError(f"{option.flag} belongs to {end}{because}")


# --- all commands together ---

EPILOG = "Example: jensen learn patients.csv --svg net.svg -o net.json"
COMMAND_GROUPS = ("Learn", "Ask", "Tools")
"""The groups of commands, in the order of the help."""


@cache
def find_commands() -> dict[str, Command]:
    """Every command by its name: those modules of this package that have a COMMAND."""
    found = []
    for place in pkgutil.iter_modules(import_module(__package__).__path__):
        module = import_module(f"{__package__}.{place.name}")
        if hasattr(module, "COMMAND"):
            found.append(module.COMMAND)
    found.sort(key=lambda command: (COMMAND_GROUPS.index(command.group), command.name))
    return {command.name: command for command in found}


class _Commands(TyperGroup):
    """All commands; the help lists them in groups."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(find_commands())

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for group in COMMAND_GROUPS:
            names = [name for name, command in find_commands().items() if command.group == group]
            with formatter.section(group):
                formatter.write_dl([(x, self.commands[x].get_short_help_str(200)) for x in names])


@cache
def make_app() -> typer.Typer:
    """The command line."""
    app = typer.Typer(
        name="jensen",
        cls=_Commands,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        epilog=EPILOG,
    )
    for name, command in find_commands().items():
        app.command(name, cls=command.typer_class(), epilog=command.epilog)(command.callback())
    app.callback()(_options)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"jensen {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
    with_traceback: Annotated[
        bool, typer.Option("--traceback", help="Show where in the program an error came from.")
    ] = False,
) -> None:
    """Learn graphical models from data."""
