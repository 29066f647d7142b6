"""Errors and warnings show arguments in Python, and hold options for the shell."""

import pickle
import warnings

import pytest

import jensen as jn
from jensen.exceptions import warn
from jensen.support.text import bare, for_reader, in_shell, keyword, leave_out, of_frame, option

TEXT = f"use {option('score', 'bic')}, or leave {keyword('tiers', 'tier')} out"


def test_an_error_has_both_spellings():
    error = jn.DataError(TEXT)
    assert str(error) == "use score='bic', or leave tiers= out"
    assert error.args == (str(error),)
    assert in_shell(error.marked) == "use --score bic, or leave --tier out"


def test_errors_keep_their_choices_when_they_travel():
    again = pickle.loads(pickle.dumps(jn.DataError(TEXT)))
    assert in_shell(again.marked) == "use --score bic, or leave --tier out"
    assert str(again) == "use score='bic', or leave tiers= out"


def test_a_warning_has_both_spellings():
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        warn(TEXT)
    assert str(met[0].message) == "use score='bic', or leave tiers= out"
    assert in_shell(met[0].message.marked) == "use --score bic, or leave --tier out"


@pytest.mark.parametrize(
    ("text", "shell"),
    [
        ("nothing to choose", "nothing to choose"),
        (option("missing", []), "--missing ''"),
        (option("separator", "\t"), "--separator tab"),
        (option("prior", "order", "graph_prior"), "--graph-prior order"),
        (bare("time_limit"), "--time-limit"),
        (of_frame(missing=["NA"], continuous=["x"]), "--missing NA --continuous x"),
        (leave_out(["id", "a b"]), "--without id --without 'a b'"),
        (for_reader(option("n_a", 1), option("n_b", 2)), "--n-b 2"),
    ],
)
def test_the_shell_reads_options(text, shell):
    assert in_shell(text) == shell
