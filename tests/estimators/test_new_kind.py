"""A kind of network that nobody knew: it answers, is saved and is asked in the shell as others.

It needs a class, a line in `network_kinds.KINDS` and one in `SAVED`, and nothing else.
"""

import json
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

import jensen as jn
from jensen import io
from jensen.cli import main
from jensen.data.encode import Column
from jensen.data.fill_missing import Filled
from jensen.data.variable import Variable
from jensen.estimators import network_kinds
from jensen.estimators.network_kinds import NetworkKind
from jensen.inference.distribution import Distribution
from jensen.inference.fitted import DEFAULTS, FittedNetwork
from jensen.io.json_files import SAVED


@dataclass(frozen=True, eq=False)
class Coins(FittedNetwork):
    """Coins that know nothing of each other, each with a probability of heads."""

    format = "jensen-coins"
    holds = "network of coins"
    lacks = "coins have no tables: see conditional(name)"
    constants = MappingProxyType({})

    heads: dict

    @cached_property
    def graph(self):
        return jn.DAG((), self.heads)

    @cached_property
    def variables(self):
        return tuple(Variable(x, "categorical", ("tails", "heads")) for x in self.graph.nodes)

    @property
    def n_parameters(self):
        return len(self.heads)

    has_posterior, n_samples = False, None

    def equals(self, other, tolerance=0.0):
        return isinstance(other, Coins) and self.heads == other.heads

    # --- questions ---

    def _each(self, name):
        p = self.heads[name]
        return np.array([1.0 - p, p])

    def query(self, targets, given, do, *, interval=None, rng=None, hidden=()):
        names = [targets] if isinstance(targets, str) else targets
        values = np.ones(())
        for name in names:
            values = np.multiply.outer(values, self._each(name))
        return Distribution(tuple(self.variables[self.index(x)] for x in names), values)

    def marginals(self, given, do):
        return {x: self.query(x, given, do) for x in self.graph.nodes if x not in (given or {})}

    def log_probability(self, given, do):
        return sum(np.log(self.query(x, None, do)[state]) for x, state in given.items())

    def entropy(self, targets, given):
        return self.query(targets or list(self.graph.nodes), given, None).entropy()

    def mutual_information(self, a, b, given):
        return 0.0

    def sample(self, n, given, do, rng, *, progress=False):
        draws = [(v, rng.random(n) < self.heads[v.name]) for v in self.variables]
        return jn.Table.from_columns(Column(v, x.astype(np.uint8)) for v, x in draws)

    def log_likelihood(self, table, rows=DEFAULTS):
        own, _ = table.select(self.graph.nodes).read_as(self.variables)
        shares = {x: np.append(np.log(self._each(x)), 0.0) for x in self.graph.nodes}
        return np.sum([shares[x][own.column(x).data] for x in self.graph.nodes], axis=0)

    def predict(self, table, target, *, hidden=(), **choices):
        states = self.variables[self.index(target)].states
        return np.full(table.n_rows, states[int(self.heads[target] > 0.5)])

    def predict_proba(self, table, target, rows=DEFAULTS):
        return np.tile(self._each(target), (table.n_rows, 1))

    def fill(self, data, method, rng, rows=DEFAULTS):
        own, _ = data.select(self.graph.nodes).read_as(self.variables)
        found = {}
        for x in self.graph.nodes:
            column, best = own.column(x), np.uint8(self.heads[x] > 0.5)
            after = column._replace(data=np.where(column.missing(), best, column.data))
            found[x] = Filled(column, after)
        return found

    # --- shown and kept ---

    def conditional(self, name):
        return f"{name}: heads {self.heads[name]:.4g}"

    posterior = conditional

    def entry(self, name):
        return {"name": name, "heads": self.heads[name]}

    def listing(self):
        return "\n".join(map(self.conditional, self.graph.nodes))

    def to_dict(self):
        return {"variables": [self.entry(name) for name in self.graph.nodes]}

    @classmethod
    def from_dict(cls, value):
        entries = value.fields({"variables"})["variables"].items()
        known = [entry.fields({"name", "heads"}) for entry in entries]
        return cls({x["name"].text(): x["heads"].number() for x in known})


@pytest.fixture
def net(monkeypatch, tmp_path):
    """Two coins, saved in `coins.json`."""
    kind = NetworkKind(Coins, lambda *_: False, lambda *_: None, lambda *_: None, {})
    monkeypatch.setattr(network_kinds, "KINDS", (*network_kinds.KINDS, kind))
    estimator = "jensen.estimators.bayesian_network:BayesianNetwork"
    monkeypatch.setitem(SAVED, Coins.format, estimator)
    monkeypatch.chdir(tmp_path)
    coins = jn.BayesianNetwork.from_network(Coins({"a": 0.25, "b": 0.75}))
    coins.save("coins.json")
    Path("rows.csv").write_text("a,b\nheads,\n,tails\n")
    return coins


def test_it_answers(net):
    table = jn.Table({"a": ["heads", None], "b": [None, "tails"]})
    assert net.query(["a", "b"])["heads", "tails"] == 0.0625
    assert net.probability({"a": "heads"}) == pytest.approx(0.25, rel=1e-12)
    assert net.marginals()["b"]["heads"] == 0.75
    np.testing.assert_allclose(net.log_likelihood(table), np.log([0.25, 0.25]), rtol=1e-12)
    assert net.score(table) == pytest.approx(np.log(0.25), rel=1e-12)
    assert net.predict(table, "b").tolist() == ["heads", "heads"]
    assert net.predict_proba(table, "a").tolist() == [[0.75, 0.25]] * 2
    filled = net.impute(table)
    assert [filled.column(x).data.tolist() for x in "ab"] == [[1, 0], [1, 0]]
    assert net.sample(4, random_state=0).names == ("a", "b")
    assert net.parameters_count == 2
    assert net.states == {"a": ("tails", "heads"), "b": ("tails", "heads")}
    assert str(net.summary()).endswith("a: heads 0.25\nb: heads 0.75")
    assert net._repr_html_() == net.graph._repr_svg_()


@pytest.mark.parametrize(
    "ask",
    [
        lambda net: net.cpt("a"),
        lambda net: net.regression("a"),
        lambda net: net.most_probable(),
        lambda net: net.expected_counts({"a": ["heads"]}, [["a"]]),
        lambda net: net.to_svg(beliefs=True),
        lambda net: net.to_pgmpy(),
        lambda net: net.with_cpt("a", [0.5, 0.5]),
        lambda net: net.table_samples("a"),
    ],
)
def test_what_it_does_not_know_is_refused_in_its_words(net, ask):
    with pytest.raises(jn.JensenError, match=r"^coins have no tables"):
        ask(net)


def test_names_that_it_does_not_have_are_refused(net):
    with pytest.raises(jn.JensenError, match="the network has no variable 'c'"):
        net.predict({"a": ["heads"]}, "c")


def test_it_is_saved(net):
    again = jn.load("coins.json")
    assert isinstance(again, jn.BayesianNetwork)
    assert again.equals(net)
    assert not jn.examples.load("asia").equals(net)
    assert json.loads(Path("coins.json").read_text())["format"] == "jensen-coins"
    assert io.to_bytes(again) == Path("coins.json").read_bytes()
    with pytest.raises(jn.FileError, match=r"a network of coins is kept in JSON, so name a file"):
        net.save("coins.bif")
    Path("coins.json").write_text(Path("coins.json").read_text().replace("heads", "head"))
    with pytest.raises(jn.FileError, match=r"variables\[0\] lacks 'heads'"):
        jn.load("coins.json")


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["show", "coins.json"], "a: heads 0.25"),
        (["show", "coins.json", "--node", "b"], "b: heads 0.75\n\n"),
        (["show", "coins.json", "--node", "b", "--json"], '[{"name": "b", "heads": 0.75}]\n'),
        (["show", "coins.json", "--json"], '"format": "jensen-coins"'),
        (["query", "coins.json", "a", "--json"], '{"state": {"a": "heads"}, "probability": 0.25}'),
        (["query", "coins.json", "--given", "a=heads"], "P(b)"),
        (["predict", "coins.json", "rows.csv", "--target", "b"], "predicted_b"),
        (["impute", "coins.json", "rows.csv"], "heads"),
        (["sample", "coins.json", "-n", "2", "--seed", "0"], "a"),
        (["score", "coins.json", "rows.csv"], "per row"),
    ],
)
def test_the_command_line_asks_it(net, capsys, words, shown):
    assert main(words) == 0, capsys.readouterr().err
    sys.stdout.flush()
    assert shown in capsys.readouterr().out
