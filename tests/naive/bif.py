"""BIF read from its definition, one letter at a time; and the files to read."""

import gzip
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import jensen as jn
from jensen.data.variable import Variable
from jensen.inference import Network
from jensen.inference.network import assemble
from jensen.io import bif

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
    pgmpy = pytest.importorskip("pgmpy")  # which has no wheels for our oldest versions
    folder = Path(pgmpy.__file__).parent / "utils" / "example_models"
    return {
        path.name.removesuffix(".bif.gz"): gzip.decompress(path.read_bytes()).decode("utf-8")
        for path in sorted(folder.glob("*.bif.gz"))
    }


# --- what must hold ---


def read_both(text: str) -> jn.BayesianNetwork:
    """In bulk, as users do, and row by row, which must agree."""
    net = bif.loads(text, "x.bif")
    assert_same(net.network_, bif.read(text, "x.bif", bulk=False))
    return net


def assert_same(one: Network, other: Network) -> None:
    assert one.equals(other)
    assert one.tables.tobytes() == other.tables.tobytes()
    assert one.properties == other.properties
    assert one.variable_properties == other.variable_properties


def table(net: jn.BayesianNetwork, name: str) -> np.ndarray:
    """As written, not normalised."""
    return net.network_.part(name, net.network_.tables)


def network(graph, states, properties=None, own=None, cuts=None, seed=0):
    """A network with random tables."""
    rng = np.random.default_rng(seed)
    dag = jn.DAG(graph)
    variables = {
        name: Variable(name, "categorical", tuple(states[name]), (cuts or {}).get(name))
        for name in dag.nodes
    }
    tables = {}
    for name in dag.nodes:
        shape = [variables[p].n_states for p in dag.parents(name)]
        tables[name] = rng.dirichlet(np.ones(variables[name].n_states), shape)
    made = assemble(dag, variables, tables, None, properties, own)
    return jn.BayesianNetwork.from_network(made)


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
