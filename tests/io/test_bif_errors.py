"""BIF: what is wrong is told with its place, and no damaged file does harm."""

import contextlib
import random
import re
import tracemalloc
from time import perf_counter

import pytest
from naive.bif import JAVABAYES, SMALL, assert_same, read_both, shipped
from naive.bif_damage import check_damaged, mutant, outcome, small_parts

import jensen as jn
from jensen.exceptions import FileError
from jensen.io import bif, bif_syntax

LARGE = ["barley", "diabetes", "link", "mildew", "munin", "munin1", "munin3", "pathfinder", "pigs"]
ENTRY = "expected '(' or 'table' or 'default' or 'property' or '}', but found"
AFTER_PROPERTY = "expected ';' after the text of a property, but found"
IN_VARIABLE = "expected 'type' or 'property' or '}', but found"


def refusal(text):
    with pytest.raises(FileError) as caught:
        bif.loads(text, "x.bif")
    assert type(caught.value) is FileError
    return str(caught.value)


FAULTS = [
    # (what is replaced in SMALL, by what, where, what the message says)
    ("network", "net", "1:1", "expected 'network', but found 'net'"),
    ("unknown {", "{", "1:9", "expected the name of the network, but found '{'"),
    ("{\n}", "{ type }", "1:19", "expected 'property' or '}', but found 'type'"),
    (
        "variable rain",
        "varable rain",
        "3:1",
        "expected 'variable' or 'probability', but found 'varable'",
    ),
    ("variable rain", 'variable ""', "3:10", "the name of a variable must not be empty"),
    ("variable rain", "variable", "3:10", "expected the name of a variable, but found '{'"),
    ("rain {\n  type", "rain {\n  kind", "4:3", f"{IN_VARIABLE} 'kind'"),
    ("discrete [ 2", "continuous [ 2", "4:8", "expected 'discrete', but found 'continuous'"),
    ("[ 2 ]", "2", "4:17", "expected '[', but found '2'"),
    ("[ 2 ]", "[ ]", "4:19", "expected the number of states, but found ']'"),
    ("[ 2 ]", "[ two ]", "4:19", "expected the number of states, but found 'two'"),
    (
        "[ 2 ]",
        "[ 3 ]",
        "4:19",
        "'rain' is declared with '3' states, but 2 are listed; labels with spaces need quotes",
    ),
    ("{ no, yes }", "{ }", "4:19", "'rain' has no states; it needs one at least"),
    ("no, yes", "no, no", "4:29", "the states of 'rain' repeat 'no'"),
    ("no, yes", "no,, yes", "4:28", "expected a state, but found ','"),
    ("no, yes }", "no, yes ]", "4:33", "expected a state or '}', but found ']'"),
    ("no, yes };", "no, yes }", "4:34", "expected ';', but found '}'"),
    (
        "  type discrete [ 2 ] { no, yes };\n",
        "",
        "3:10",
        "the variable 'rain' has no type; it lacks its states",
    ),
    (
        "no, yes };",
        "no, yes }; type discrete [1] {a};",
        "4:36",
        "the variable 'rain' has a second type",
    ),
    (
        "variable wet",
        "variable rain",
        "6:10",
        "the variable 'rain' is declared already, at line 3, column 10",
    ),
    ("( rain ) {", "rain {", "9:13", "expected '(', but found 'rain'"),
    ("( rain )", "( rain | )", "9:22", "expected the name of a parent, but found ')'"),
    (
        "wet | rain",
        "wet rain | rain",
        "12:24",
        "expected the name of a parent or ')', but found '|'",
    ),
    ("( rain )", "( snow )", "9:15", "there is no variable 'snow' in this file"),
    ("| rain", "| snow", "12:21", "there is no variable 'snow' in this file"),
    ("| rain", "| rain, rain", "12:27", "'rain' stands twice in this list of variables"),
    ("| rain", "| wet", "12:21", "'wet' stands twice in this list of variables"),
    (
        "( wet | rain )",
        "( rain )",
        "12:15",
        "the table of 'rain' is given already, at line 9, column 15",
    ),
    (
        "probability ( rain ) {\n  table 0.8, 0.2;\n}\n",
        "",
        "3:10",
        "the variable 'rain' has no probability block",
    ),
    (
        "( rain )",
        "( rain | wet )",
        "9:15",
        "a network has no cycles, but here is one: rain -> wet -> rain",
    ),
    ("(no) 0.9", "no 0.9", "13:3", f"{ENTRY} 'no'"),
    ("(no) 0.9", "(no] 0.9", "13:6", "expected a state or ')', but found ']'"),
    ("(no) 0.9", "(nein) 0.9", "13:4", "'nein' is no state of 'rain', which has: no, yes"),
    ("(no) 0.9", "(no, yes) 0.9", "13:3", "this row names 2 states, but 'wet' has 1 parent: rain"),
    ("table 0.8", "(no) 0.8", "10:3", "this row names 1 state, but 'rain' has 0 parents: none"),
    ("(yes)", "(no)", "14:3", "the row (no) stands already at line 13, column 3"),
    (
        "  (no) 0.9, 0.1, 0.0;\n",
        "",
        "12:15",
        "the block of 'wet' has 1 of 2 rows and no default: the row (no) is missing",
    ),
    (
        "table 0.8, 0.2;",
        "",
        "9:15",
        "the block of 'rain' has 0 of 1 row and no default: the table is missing",
    ),
    ("0.9, 0.1, 0.0;", "0.9, 0.1;", "13:8", "this row of 'wet' has 2 numbers, but needs 3"),
    (
        "(no) 0.9",
        "default 1, 0; (no) 0.9",
        "13:11",
        "this default of 'wet' has 2 numbers, but needs 3",
    ),
    ("(no) 0.9", "table 1, 0; (no) 0.9", "13:9", "this table of 'wet' has 2 numbers, but needs 6"),
    ("0.8, 0.2;", "0.8, 0.1, 0.1;", "10:9", "this table of 'rain' has 3 numbers, but needs 2"),
    (
        "table 0.8",
        "table 0.8; table 0.8",
        "10:14",
        "this block has a second 'table'; one is enough",
    ),
    ("0.8, 0.2", "0.8, 0.3", "10:9", "the table of 'rain' sums to 1.1, not to 1"),
    ("0.9, 0.1, 0.0", "0.9, 0.1, 0.0002", "13:3", "the row (no) of 'wet' sums to 1.0002, not to 1"),
    (
        "(no) 0.9",
        "default 1, 0, 0.5; (no) 0.9",
        "13:11",
        "the default of 'wet' sums to 1.5, not to 1",
    ),
    ("0.9, 0.1", "1.1, -0.1", "13:8", "'1.1' is no probability, between 0 and 1"),
    ("0.9, 0.1", "0.9, -0.1", "13:13", "'-0.1' is no probability, between 0 and 1"),
    ("0.9, 0.1", "0.9, 1e999", "13:13", "'1e999' is no probability, between 0 and 1"),
    ("0.9, 0.1", "0.9, nan", "13:13", "expected a number, but found 'nan'"),
    ("0.9, 0.1", '0.9, "0.1"', "13:13", "expected a number, but found '\"0.1\"'"),
    ("0.9, 0.1", "0.9, 0.1-2", "13:13", "expected a number, but found '0.1-2'"),
    ("0.9, 0.1", "0.9, , 0.1", "13:13", "expected a number, but found ','"),
    ("0.2;", "0.2", "10:17", "expected a number or ';', but found '}'"),
    ("0.2;", "0.2 // a", "10:17", "expected a number or ';', but found '}'"),
    ("0.0;", "0.0", "13:21", "expected a number or ';', but found '('"),
    (
        "(no) 0.9",
        "default 1 0 0\n(no) 0.9",
        "13:16",
        "expected a number or ';', but found '('",
    ),
    ("0.8, 0.2", "", "10:9", "expected a number, but found ';'"),
    ("0.6;\n}\n", "0.6;\n", "15:1", f"{ENTRY} the end of the file"),
    ("unknown {\n}", "unknown { /* }", "1:19", "this comment has no end: '*/' is missing"),
    (
        "unknown {\n}",
        'unknown { "a\n}',
        "1:19",
        "expected 'property' or '}', but found a quote that is not closed on its line",
    ),
    ("0.6;\n}\n", "0.6;\n property a", "15:12", f"{AFTER_PROPERTY} the end of the file"),
    ("0.6;\n}\n", "0.6;\n property a }", "15:12", f"{AFTER_PROPERTY} '}}'"),
    ("{\n}", "{ property a = b\n}", "1:33", f"{AFTER_PROPERTY} the end of the line"),
    ("{\n}", "{ property a = b\r\n}", "1:33", f"{AFTER_PROPERTY} the end of the line"),
    ("{\n}", "{ property a = b \t\n}", "1:33", f"{AFTER_PROPERTY} the end of the line"),
    ("{\n}", "{\n  property\n}", "2:11", f"{AFTER_PROPERTY} '}}'"),
    ("{\n}", '{\n  property "a = b"\n}', "2:19", "expected ';', but found '}'"),
    ("rain {\n", 'rain {\n  property "a" // b\n', "4:15", "expected ';', but found 'type'"),
    (
        "rain {\n",
        "rain {\n  property a = b // c\n",
        "4:22",
        f"{AFTER_PROPERTY} the end of the line",
    ),
    ("{\n}", '{ property "a" b; }', "1:31", "expected ';', but found 'b'"),
    (
        "{\n}",
        '{ property "a; }',
        "1:28",
        "expected the text of a property, but found a quote that is not closed on its line",
    ),
    ("rain {", "rain" + 60 * "x" + "{[", "3:75", f"{IN_VARIABLE} '['"),
    ("yes };", "yes }; " + 60 * "x", "4:36", f"{IN_VARIABLE} '{40 * 'x'}...'"),
]


@pytest.mark.parametrize(("old", "new", "where", "message"), FAULTS)
def test_each_fault_is_told_with_its_place(old, new, where, message):
    assert old in SMALL
    line, column = where.split(":")
    told = f"x.bif, line {line}, column {column}: {message}"
    assert refusal(SMALL.replace(old, new, 1)) == told


def test_an_empty_file_is_refused():
    told = "x.bif, line 1, column 1: expected 'network', but found the end of the file"
    assert refusal("") == told


def test_a_table_is_checked_row_by_row():
    text = SMALL.replace("(no) 0.9, 0.1, 0.0;\n  (yes) 0.1, 0.3, 0.6;", "table 1 0 0 1 0 0.1;")
    told = "x.bif, line 13, column 9: the row (yes) of 'wet' sums to 1.1, not to 1"
    assert refusal(text) == told


def test_labels_that_look_like_two_are_not_mixed_up():
    text = SMALL.replace("{ no, yes }", '{ "no, yes", yes }').replace("(no)", "(no, yes)")
    assert "this row names 2 states" in refusal(text)
    assert read_both(text.replace("(no, yes)", '("no, yes")')).states["rain"] == ("no, yes", "yes")


def test_a_row_in_a_comment_is_none():
    row = "  (yes) 0.1, 0.3, 0.6;\n"
    assert "1 of 2 rows" in refusal(SMALL.replace(row, "") + f"/* {row} */")
    assert "1 of 2 rows" in refusal(SMALL.replace(row, f"// {row}"))


def test_a_label_that_only_quotes_can_hold_is_not_read_without_them():
    text = SMALL.replace("{ no, yes }", '{ "n\x01o", yes }').replace("(no)", '("n\x01o")')
    assert read_both(text).states["rain"] == ("n\x01o", "yes")
    assert "13, column 5: expected a state or ')'" in refusal(
        text.replace('("n\x01o")', "(n\x01o)")
    )


def many_parents(n_parents, n_states, body):
    names = [f"p{k}" for k in range(n_parents)]
    states = " ".join(map(str, range(n_states)))
    share = ", ".join([repr(1 / n_states)] * n_states)
    return "\n".join(
        ["network n {}", "variable x { type discrete [ 2 ] { 0 1 }; }"]
        + [f"variable {p} {{ type discrete [ {n_states} ] {{ {states} }}; }}" for p in names]
        + [f"probability ( {p} ) {{ default {share}; }}" for p in names]
        + [f"probability ( x | {' '.join(names)} ) {{ {body} }}"]
    )


def test_a_huge_product_of_states_is_refused_before_anything_is_allocated():
    tracemalloc.start()
    start = perf_counter()
    lots = refusal(many_parents(25, 16, "default 0.5 0.5;"))
    none = refusal(many_parents(25, 16, ""))
    short = refusal(many_parents(25, 16, "table 0.5 0.5;"))
    wide = refusal(many_parents(40, 1, "default 0.5 0.5;"))
    assert tracemalloc.get_traced_memory()[1] < 5e6
    tracemalloc.stop()
    assert perf_counter() - start < 5
    assert "line 53, column 121: the table that this default fills would take" in lots
    assert "raise it with jn.set_memory_limit" in lots
    assert "the block of 'x' has 0 of 1,267,650,600,228,229,401,496,703,205,376 rows" in none
    assert "this table of 'x' has 2 numbers, but needs 2,535,301,200,456," in short
    assert "'x' has 40 parents, more than 31" in wide


def test_defaults_are_weighed_together():
    jn.set_memory_limit(60_000)
    try:
        text = many_parents(3, 10, "default 0.5 0.5;")
        assert len(read_both(text).network_.tables) == 2030
        more = (
            text
            + "\nvariable y { type discrete [2] {0 1}; } probability (y p0 p1 p2) { default 1 0; }"
        )
        assert "the table that this default fills would take" in refusal(more)
    finally:
        jn.set_memory_limit(None)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "network n {" + "{" * 300_000,
        "network n {}" + "/*" * 300_000,
        "network n {}" + "/" * 300_000,
        "network n {}" + "/**/" * 100_000 + "/*",
        "network n {}" + '"' * 300_000,
        "network n {" + "property a" * 50_000,
        "network n {" + "property a;" * 50_000 + "}",
        SMALL.replace("0.8, 0.2", "0." + "1" * 300_000 + ", 0.2"),
        SMALL.replace("0.8, 0.2", "0.8, 0.2e-" + "9" * 300_000),
        SMALL.replace("0.8, 0.2", "0.8, 0.2" + ", 0" * 100_000),
        SMALL.replace("[ 2 ]", "[ " + "2" * 300_000 + " ]"),
        SMALL.replace("(no)", "(" * 300_000),
        SMALL.replace("(no)", "(" + "no, " * 100_000 + "no)"),
        SMALL.replace("no, yes", ", ".join(f"s{k}" for k in range(50_000))),
        SMALL.replace("| rain", "| " + " ".join(["rain"] * 50_000)),
        SMALL.replace("| rain", "| " + " ".join(f"s{k}" for k in range(50_000))),
    ],
    ids=range(16),
)
def test_no_input_takes_long(text):
    start = perf_counter()
    with contextlib.suppress(FileError):
        bif.loads(text, "x.bif")
    assert perf_counter() - start < 10


def test_a_long_cycle_is_spelled_out_at_its_ends():
    n = 300
    text = "network n {}" + "".join(
        f"variable v{k} {{ type discrete [1] {{ a }}; }}"
        f"probability (v{k} | v{(k + 1) % n}) {{ (a) 1; }}\n"
        for k in range(n)
    )
    told = refusal(text)
    path = "v0 -> v299 -> v298 -> v297 -> v296 -> v295 -> v294 -> v293"
    assert told.endswith(
        f"a network has no cycles, but here is one: {path} -> ... 291 more ... -> v1 -> v0"
    )


# --- damaged files ---


@pytest.mark.parametrize("seed", range(12))
def test_damaged_files_do_no_harm(seed):
    rng = random.Random(seed)
    texts = [SMALL, JAVABAYES, *(shipped()[name] for name in ("asia", "cancer", "survey"))]
    texts += [small_parts(shipped()[name]) for name in LARGE]
    refused = [check_damaged(mutant(rng.choice(texts), rng)) for _ in range(40)]
    assert 0 < refused.count(None) < 40


def test_words_and_numbers_read_one_by_one_say_the_same(monkeypatch):
    rng = random.Random(0)
    texts = [SMALL, JAVABAYES, *(shipped()[name] for name in ("asia", "cancer", "survey"))]
    mutants = [mutant(rng.choice(texts), rng) for _ in range(200)]
    swift = [outcome(text) for text in mutants]
    monkeypatch.setattr(bif_syntax, "_WORDS", re.compile("(?!)"))
    monkeypatch.setattr(bif_syntax, "_RUN", re.compile("(?!)"))
    for text, before in zip(mutants, swift, strict=True):
        after = outcome(text)
        if isinstance(before, str):
            assert after == before
        else:
            assert_same(after, before)


def test_a_damaged_large_file_does_no_harm():
    rng = random.Random(0)
    for _ in range(5):
        check_damaged(mutant(shipped()["hailfinder"], rng))


def test_bif_is_known_by_its_beginning_whatever_that_is():
    assert bif.looks_like("// a\n /* b */ network n {")
    start = perf_counter()
    assert not bif.looks_like("/**/" * 1000 + "x")
    assert not bif.looks_like("/**/" * 1000 + "/*")
    assert perf_counter() - start < 1


def test_defaults_out_of_proportion_to_the_file_are_refused_soon():
    """A few lines must not fill gigabytes, one table at a time."""
    roots = [f"r{k}" for k in range(22)]
    names = [*roots, *(f"x{k}" for k in range(50))]
    text = "network n {}" + "".join(
        f"variable {x} {{ type discrete [2] {{a, b}}; }}\n" for x in names
    )
    text += "".join(f"probability ({x}) {{ table .5, .5; }}\n" for x in roots)
    given = ", ".join(roots)
    text += "".join(
        f"probability ({x} | {given}) {{ default .5, .5; }}\n" for x in names[len(roots) :]
    )
    assert refusal(text).endswith(
        ": the table that this default fills brings the entries that the file implies to "
        "8,388,608, out of proportion to its length: give it fewer parents"
    )
