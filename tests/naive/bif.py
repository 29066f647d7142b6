"""BIF read from its definition, one letter at a time; real files; and damage to them."""

import gzip
import random
import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

import jensen as jn
from jensen.exceptions import FileError
from jensen.inference import Network
from jensen.io import bif

TOKEN = re.compile(r"[A-Za-z0-9_.<>=+/-]+|\S|\s+")
NUMBER = re.compile(r"\b[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?\b")
ODD = [
    "-0.5",
    "nan",
    "inf",
    "1e999",
    "1e-999",
    "2",
    "0x1",
    "1_0",
    "",
    "9" * 400,
    "٣",
    ".5",
    "5.",
    "+0.5",
]
LETTERS = '{}()[]|,;"/*\\ \n\r\t\x00=-+.eE019azüß\u00a0\u2028😀'

SMALL = """network unknown {
}
variable rain {
  type discrete [ 2 ] { no, yes };
}
variable wet {
  type discrete [ 3 ] { dry, damp, soaked };
}
probability ( rain ) {
  table 0.8, 0.2;
}
probability ( wet | rain ) {
  (no) 0.9, 0.1, 0.0;
  (yes) 0.1, 0.3, 0.6;
}
"""
JAVABAYES = """// Bayesian network
network "Dog-Problem" { //5 variables and 5 probability distributions
  property "credal-set constant-density-bounded 1.1" ;
}
variable "light-on" { //2 values
  type discrete[2] {  "true"  "false" };
  property "position = (218, 195)" ;
}
variable  "family-out" {
  property "position = (257, 99)" ;
  type discrete[2] {  "true"  "false" };
}
probability ( "light-on"  "family-out" ) { //2 variable(s) and 4 values
  table 0.6 0.05 0.4 0.95 ;
}
probability (  "family-out" ) { //1 variable(s) and 2 values
  table 0.15 /* rarely */ 0.85 ;
}
"""


@cache
def shipped() -> dict[str, str]:
    """The 24 networks that pgmpy ships, name -> text."""
    import pgmpy

    folder = Path(pgmpy.__file__).parent / "utils" / "example_models"
    return {
        path.name.removesuffix(".bif.gz"): gzip.decompress(path.read_bytes()).decode("utf-8")
        for path in sorted(folder.glob("*.bif.gz"))
    }


# --- what must hold of every text ---


def read_both(text: str) -> jn.BayesianNetwork:
    """In bulk and row by row, which must agree; then by the public door."""
    assert_same(bif.read(text, "x.bif", bulk=True), bif.read(text, "x.bif", bulk=False))
    return bif.loads(text, "x.bif")


def assert_same(one: Network, other: Network) -> None:
    assert one.equals(other)
    assert one.tables.tobytes() == other.tables.tobytes()
    assert one.properties == other.properties
    assert one.variable_properties == other.variable_properties


def check_damaged(text: str) -> bool:
    """Refused by both readers, or read by both to a network that can be written and read again."""
    careful, found = _outcome(text, careful=True), _outcome(text, careful=False)
    if not isinstance(found, Network) or not isinstance(careful, Network):
        assert found == careful
        assert str(found).startswith("x.bif")
        return False
    assert_same(found, careful)
    assert_same(read_both(bif.dumps(jn.BayesianNetwork.from_network(found))).network_, found)
    return True


def _outcome(text: str, *, careful: bool) -> Network | str:
    """The network, or the refusal; anything else is a fault of the reader."""
    try:
        if careful:
            return bif.read(text, "x.bif", bulk=False)
        return bif.loads(text, "x.bif").network_
    except FileError as error:
        return str(error)


# --- the slow twin ---


def read(text: str) -> tuple[dict[str, list[str]], dict[str, tuple[list[str], np.ndarray]]]:
    """States by variable, and (parents as listed, table with an axis each, then its own).

    Only for files that are right; properties are passed over.
    """
    tokens = list(_tokens(text))
    states: dict[str, list[str]] = {}
    blocks: dict[str, list[str]] = {}
    while tokens:
        kind = tokens.pop(0)
        head = _until(tokens, "{")
        body = []
        depth = 1
        while depth:
            token = tokens.pop(0)
            depth += {"{": 1, "}": -1}.get(token, 0)
            body.append(token)
        if kind == "variable":
            states[head[0]] = body[body.index("{") + 1 : body.index("}")]
        elif kind == "probability":
            blocks[head[1]] = [*head[2:-1], "{", *body[:-1]]
    return states, {name: _table(name, block, states) for name, block in blocks.items()}


def _table(
    name: str, block: list[str], states: dict[str, list[str]]
) -> tuple[list[str], np.ndarray]:
    parents = _until(block, "{")
    axes = [states[p] for p in parents]
    cells: dict[tuple[str, ...], float] = {}
    entries: list[list[str]] = []
    while block:
        entries.append(_until(block, ";"))
    for kind in ("default", "table", "("):  # later ones win
        for entry in entries:
            if entry[0] != kind:
                continue
            rows = [tuple(_until(entry[1:], ")"))] if kind == "(" else list(product(*axes))
            numbers = entry[entry.index(")") + 1 :] if kind == "(" else entry[1:]
            for k, state in enumerate(states[name]):
                for r, row in enumerate(rows):
                    at = k * len(rows) + r if kind == "table" else k
                    cells[(*row, state)] = float(numbers[at])
    flat = [cells[key] for key in product(*axes, states[name])]
    return parents, np.array(flat).reshape([len(axis) for axis in (*axes, states[name])])


def _tokens(text: str) -> Iterator[str]:
    """Words, quoted texts without their quotes, and symbols but for commas and bars."""
    k, word = 0, ""
    while k < len(text):
        if text.startswith(("//", "/*"), k):
            end = "\n" if text[k + 1] == "/" else "*/"
            k = text.find(end, k) + len(end) if end in text[k:] else len(text)
            letter = " "
        elif text[k] == '"':
            end_quote = text.index('"', k + 1)
            yield text[k + 1 : end_quote]
            k = end_quote + 1
            continue
        else:
            letter = text[k]
            k += 1
        if letter.isspace() or letter in "{}()[]|,;":
            if word == "property":
                k = text.index(";", k) + 1
            elif word:
                yield word
            word = ""
            if letter in "{}()[];":
                yield letter
        else:
            word += letter


def _until(tokens: list[str], end: str) -> list[str]:
    """Take tokens from the front up to `end`, which is taken too."""
    taken = []
    while (token := tokens.pop(0)) != end:
        taken.append(token)
    return taken


# --- damage ---


def small_parts(text: str, longest: int = 4000) -> str:
    """Whole families out of a large network, no longer than that: itself a network."""
    head = text[: text.index("}") + 2]
    variables = {m[1]: m[0] for m in re.finditer(r"variable (\S+) \{.*?\n\}\n", text, re.DOTALL)}
    tables = {
        m[1]: (re.findall(r"[^\s,|]+", m[2]), m[0])
        for m in re.finditer(r"probability \( (\S+)(.*?)\) \{.*?\n\}\n", text, re.DOTALL)
    }
    kept: dict[str, None] = {}
    size = 0
    for name in tables:
        todo, family = [name], {}
        while todo:
            up = todo.pop()
            if up not in kept and up not in family:
                family[up] = None
                todo.extend(tables[up][0])
        needed = sum(len(variables[v]) + len(tables[v][1]) for v in family)
        if size + needed <= longest:
            size += needed
            kept.update(family)
    return head + "".join(variables[v] for v in kept) + "".join(tables[v][1] for v in kept)


def mutant(text: str, rng: random.Random) -> str:
    """A copy with one to three faults."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        text = rng.choice(FAULTS)(text, rng)
    return text


def delete(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + text[at + rng.choice([1, 1, 2, 5, 30]) :]


def insert(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    new = "".join(rng.choices(LETTERS, k=rng.choice([1, 1, 2, 3])))
    return text[:at] + new + text[at:]


def replace(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(LETTERS) + text[at + 1 :]


def swap_tokens(text: str, rng: random.Random) -> str:
    tokens = TOKEN.findall(text)
    if tokens:
        i, j = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        tokens[i], tokens[j] = tokens[j], tokens[i]
    return "".join(tokens)


def delete_token(text: str, rng: random.Random) -> str:
    tokens = TOKEN.findall(text)
    if tokens:
        del tokens[rng.randrange(len(tokens))]
    return "".join(tokens)


def copy_token(text: str, rng: random.Random) -> str:
    tokens = TOKEN.findall(text)
    if tokens:
        tokens[rng.randrange(len(tokens))] = rng.choice(tokens)
    return "".join(tokens)


def truncate(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] if rng.random() < 0.8 else text[at:]


def double_line(text: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    if lines:
        lines.insert(rng.randrange(len(lines)), rng.choice(lines))
    return "".join(lines)


def delete_line(text: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    if lines:
        del lines[rng.randrange(len(lines))]
    return "".join(lines)


def double_block(text: str, rng: random.Random) -> str:
    blocks = text.split("\n}\n")
    blocks.insert(rng.randrange(len(blocks)), rng.choice(blocks))
    return "\n}\n".join(blocks)


def edit_number(text: str, rng: random.Random) -> str:
    found = list(NUMBER.finditer(text))
    if not found:
        return text
    match = rng.choice(found)
    new = rng.choice([*ODD, match[0] + rng.choice("0123456789"), match[0][:-1], f"-{match[0]}"])
    return text[: match.start()] + new + text[match.end() :]


def add_entry(text: str, rng: random.Random) -> str:
    """A default, a table, a property or a comment, where a line begins."""
    lines = text.splitlines(keepends=True)
    numbers = ", ".join(rng.choices(["0.5", "0.25", "0", "1", "0.3333333"], k=rng.randrange(1, 5)))
    new = [f"default {numbers};", f"table {numbers};", f"({rng.choice('ab')}) {numbers};"]
    new += ["property a = b;", 'property "x;y";', "// note", "/* note */", "/*", "*/", '"', "()"]
    lines.insert(rng.randrange(len(lines) + 1), f"{rng.choice(new)}\n")
    return "".join(lines)


def quote_word(text: str, rng: random.Random) -> str:
    found = list(re.finditer(r"[A-Za-z_]\w*", text))
    if not found:
        return text
    match = rng.choice(found)
    return f'{text[: match.start()]}"{match[0]}"{text[match.end() :]}'


def drop_marks(text: str, rng: random.Random) -> str:
    """All commas or all bars of a part of the file: it still says the same."""
    a, b = sorted(rng.choices(range(len(text) + 1), k=2))
    return text[:a] + text[a:b].replace(rng.choice(",|"), " ") + text[b:]


FAULTS = [
    delete,
    insert,
    replace,
    swap_tokens,
    delete_token,
    copy_token,
    truncate,
    double_line,
    delete_line,
    double_block,
    edit_number,
    edit_number,
    add_entry,
    quote_word,
    drop_marks,
]
