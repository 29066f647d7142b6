"""Real BIF files, damaged in many ways, and what must hold of them all."""

import random
import re

import jensen as jn
from jensen.exceptions import FileError
from jensen.inference import Network
from jensen.io import bif

from .bif import assert_same

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


def check_damaged(text: str) -> str | None:
    """Refused by both readers, which is returned, or read by both, written and read again."""
    careful, found = outcome(text, careful=True), outcome(text)
    if not isinstance(found, Network) or not isinstance(careful, Network):
        assert found == careful
        assert str(found).startswith("x.bif")
        return str(found)
    assert_same(found, careful)
    again = bif.loads(bif.dumps(jn.BayesianNetwork.from_network(found)), "x.bif")
    assert_same(again.network_, found)
    return None


def outcome(text: str, *, careful: bool = False) -> Network | str:
    """The network, or the refusal; anything else is a fault of the reader."""
    try:
        if careful:
            return bif.read(text, "x.bif", bulk=False)
        return bif.loads(text, "x.bif").network_
    except FileError as error:
        return str(error)


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
