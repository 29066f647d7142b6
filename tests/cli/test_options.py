"""The tables of options: what holds for every command, its help, refusals and completion."""

import ast
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import jensen.cli
from jensen.cli.command import GROUPS, Given, find_commands
from jensen.exceptions import JensenError
from jensen.free_energy import ALGORITHMS

EVERY = [(name, option) for name, command in find_commands().items() for option in command.options]


@pytest.mark.parametrize("name", find_commands())
def test_the_help_lists_every_option_in_its_group(run, name):
    shown = run(name, "--help").out
    options = find_commands()[name].options
    groups = [group for group in GROUPS if any(option.group == group for option in options)]
    headings = [line[:-1] for line in shown.splitlines() if line[:-1] in GROUPS]
    assert headings == (groups or ["Output"])  # --help itself stands under Output
    for option in options:
        assert option.flag.split("/")[0] in shown


@pytest.mark.parametrize(("name", "option"), EVERY, ids=lambda one: getattr(one, "name", one))
def test_help_texts_are_sentences(name, option):
    assert option.help[0].isupper() or option.help.startswith("partition:")
    assert option.help.endswith(".")
    assert "unless given" not in option.help or option.name == "score"


def test_every_algorithm_is_suggested():
    (method,) = [option for option in find_commands()["learn"].options if option.name == "method"]
    assert method.suggested == (*ALGORITHMS, "ml", "pseudo", "cd", "pcd")
    assert all(f"{name} " in method.help for name in ALGORITHMS)


@pytest.mark.parametrize("name", find_commands())
def test_names_of_options_are_unique(name):
    options = find_commands()[name].options
    assert len({option.name for option in options}) == len(options)
    flags = [flag for option in options for flag in option.flags or (option.flag,)]
    assert len(set(flags)) == len(flags)


@pytest.mark.parametrize("name", find_commands())
def test_unknown_options_are_refused(refuse, name):
    assert refuse(name, "--nonsense").startswith("No such option: --nonsense")


@pytest.mark.parametrize(
    "line", [line for command in find_commands().values() for line in command.examples]
)
def test_options_of_examples_belong_together(line, refuse):
    """In an empty folder an example is refused for its file alone."""
    program, name, *words = shlex.split(line)
    assert program == "jensen"
    if words:
        assert "there is no file" in (text := refuse(name, *words)) or "cannot read" in text


def test_every_choice_that_is_read_is_in_a_table():
    known = {option.name for _, option in EVERY} | set(dir(Given)) | {"table", "typed", "words"}
    for path in Path(jensen.cli.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "given"
            ):
                assert node.attr in known, f"{path.name}: given.{node.attr}"


def test_what_was_not_chosen_is_no_attribute():
    given = Given(find_commands()["query"].options, {"k": 3}, {"k"})
    assert given.k == 3
    assert given.targets == []
    with pytest.raises(AttributeError, match="this command has no option 'max_parents'"):
        _ = given.max_parents
    with pytest.raises(JensenError, match=r"^-k belongs to --most-probable: add it$"):
        given.check()


# --- completion ---


def complete(line):
    """What bash offers after a line."""
    words = shlex.split(line) + ([""] if line.endswith(" ") else [])
    bash = {"_JENSEN_COMPLETE": "complete_bash", "COMP_WORDS": line}
    done = subprocess.run(
        [sys.executable, "-m", "jensen"],
        env={**os.environ, **bash, "COMP_CWORD": str(len(words) - 1)},
        capture_output=True,
        check=False,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_the_shell_completes_commands_options_and_values():
    assert complete("jensen le") == ["learn"]
    assert complete("jensen learn x.csv --max-p") == ["--max-parents"]
    assert complete("jensen learn x.csv --structure t") == ["tabu", "tree", "tan"]
    assert complete("jensen learn x.csv --score bd") == ["bdeu", "bds", "bde", "bdeu-bge"]
    assert complete("jensen learn x.csv -o ") == []  # then the shell completes files


def test_the_script_of_completion_falls_back_on_files():
    done = subprocess.run(
        [sys.executable, "-m", "jensen"],
        env={**os.environ, "_JENSEN_COMPLETE": "source_bash"},
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0
    assert "complete -o default -F" in done.stdout
