"""Mixtures of trees with all that was chosen and learned as plain data, and back.

docs/json-format.md describes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable
from jensen.estimators.reports import (
    LOOP,
    METHOD,
    Stored,
    plain_choices,
    plain_learned,
    plain_numbers,
    read_choices,
    read_concentrations,
    read_learned,
    usual_choices,
)
from jensen.estimators.state_columns import plain_variable, read_variable
from jensen.estimators.tree_choices import make_trees
from jensen.exceptions import JensenError
from jensen.families.trees import TreeCounts
from jensen.models.emissions.trees import TreeLabels, row_links, tree_tables
from jensen.models.mixture import Mixed, Mixture
from jensen.support.json_values import Checked, plain_array, read_array, refusing

if TYPE_CHECKING:
    from jensen.estimators.mixture_of_trees import MixtureOfTrees

Array = NDArray[np.float64]

FORMAT = "jensen-trees"
CHAINS = ("n_samples", "burn_in", "thin", "n_chains")
TOLERANCE = 1e-6
"""Of probabilities that sum to one, and of tables that follow from a posterior."""


def _plain_prior(prior: Any) -> Any:
    """Parts of a prior; edges by name as a list of pairs and numbers."""
    if not isinstance(prior, Mapping):
        return prior
    edges = prior.get("edges")
    plain = {name: plain_numbers(part) for name, part in prior.items() if name != "edges"}
    if isinstance(edges, Mapping):
        plain["edges"] = [[*pair, float(value)] for pair, value in edges.items()]
    elif edges is not None:
        plain["edges"] = plain_array(np.asarray(edges, np.float64))
    return plain


def _read_prior(value: Checked) -> Any:
    if value.is_null():
        return None
    found: dict[str, Any] = {}
    for name, part in value.members().items():
        rows = part.value if isinstance(part.value, list) else []
        first = rows[0] if rows and isinstance(rows[0], list) else []
        if name == "edges" and any(isinstance(x, str) for x in first):
            found[name] = dict(map(_read_edge, part.items()))
        else:
            found[name] = read_concentrations(part)
    return found


def _read_edge(value: Checked) -> tuple[tuple[str, str], float]:
    parts = list(value.items())
    if len(parts) != 3:
        value.fail("must be two names and a number")
    return (parts[0].text(), parts[1].text()), parts[2].number()


STORED = {
    "method": METHOD,
    "prior": Stored(_plain_prior, _read_prior, is_needed=True),
    "n_components": Stored(int, Checked.whole, is_needed=True),
    "shared_structure": Stored(bool, Checked.flag),
    "fixed": Stored(list, Checked.texts),
    **{name: stored for name, stored in LOOP.items() if name not in CHAINS},
}


def plain_trees(estimator: MixtureOfTrees) -> dict[str, Any]:
    """Choices, what was learned, and the trees, in the order of files.

    A start is not kept, nor what was held at it: the trees are what came of it.
    """
    fitted = estimator.require_fitted()
    emission, K = fitted.model.emission, fitted.model.n_states
    is_same = (estimator.n_components, bool(estimator.shared_structure)) == (K, emission.is_shared)
    if not is_same or fitted.has_posterior != _keeps(estimator):
        raise JensenError(
            f"{type(estimator).__name__} was fitted with other choices than it has now, and a "
            f"file would hold both: fit it again, or set the choices back"
        )
    chosen = {name: getattr(estimator, name) for name in STORED}
    chosen["fixed"] = []
    learned = None
    if hasattr(estimator, "free_energy_"):
        learned = plain_learned(_judged(estimator))
    found = {
        "format": FORMAT,
        "choices": plain_choices(STORED, chosen, usual_choices(estimator)),
        "learned": learned,
        "columns": [{"name": v.name, **plain_variable(v)} for v in estimator.variables_],
        "counts": plain_array(fitted.counts),
        "weights": plain_array(np.exp(fitted.t.weights)),
        "trees": [_plain_tree(estimator, k) for k in range(K)],
    }
    if estimator.validation_score_ is not None:
        found["validation_score"] = float(estimator.validation_score_)
    if fitted.eta is not None:
        weights, counts = fitted.eta
        parts = {"weights": weights, "singles": counts.singles, "pairs": counts.pairs}
        found["posterior"] = {name: plain_array(part) for name, part in parts.items()}
        found["whole"] = bool(emission.is_whole)
    return found


def _judged(estimator: Any) -> Any:
    """What was learned; where other rows chose the start, F of that one alone."""
    if estimator.validation_score_ is None:
        return estimator
    names = [name for name in vars(estimator) if name.endswith("_")]
    shown = SimpleNamespace(**{name: getattr(estimator, name) for name in names})
    shown.starts_ = np.array([estimator.free_energy_])
    return shown


def _plain_tree(estimator: MixtureOfTrees, k: int) -> list[dict[str, Any]]:
    """Every column: the one that it hangs from, and its probabilities given that one's labels."""
    fitted, names = estimator.require_fitted(), [v.name for v in estimator.variables_]
    found = tree_tables(fitted.model.emission, fitted.t.components, k)
    return [
        {"parent": names[u] if u >= 0 else None, "table": plain_array(table)} for u, table in found
    ]


def _keeps(estimator: Any) -> bool:
    return bool(estimator._choices_of_loop().algorithm.keeps_posterior)


def read_trees(value: Checked) -> MixtureOfTrees:
    """What `plain_trees` gave."""
    from jensen.estimators.mixture_of_trees import MixtureOfTrees

    needed = {"format", "choices", "learned", "columns", "counts", "weights", "trees"}
    members = value.fields(needed, {"validation_score", "posterior", "whole"})
    estimator = MixtureOfTrees(**read_choices(STORED, members["choices"]))
    with refusing(f"{value.file}: choices"):
        estimator._choices_of_loop().check()
    variables = _read_columns(members["columns"])
    estimator.variables_ = variables
    K, keeps = estimator.n_components, _keeps(estimator)
    if keeps != ("posterior" in members) or keeps != ("whole" in members):
        members["choices"].fail("must name a method that keeps a posterior if there is one")
    with refusing(f"{value.file}: choices"):
        emission = make_trees(
            K, variables, estimator.prior if estimator.prior or not keeps else {},
            is_shared=estimator.shared_structure, is_whole=keeps and members["whole"].flag(),
        )  # fmt: skip
    weights = read_array(members["weights"], (K,))
    if (weights < 0.0).any() or abs(weights.sum() - 1.0) > TOLERANCE:
        members["weights"].fail("must be probabilities that sum to 1")
    counts = read_array(members["counts"], (K,))
    if (counts < 0.0).any():
        members["counts"].fail("holds a negative number")
    with np.errstate(divide="ignore"):
        t = Mixed(np.log(weights), _read_theta(members["trees"], emission, variables))
    prior = None if emission.prior is None else np.zeros(K)
    made: Any = emission
    model = Mixture(made, prior, K, noun=estimator.noun)
    eta = None
    if keeps:
        eta = _read_posterior(members["posterior"], model, t)
    estimator.fitted_ = model.fitted(t, counts, eta)
    estimator.validation_score_ = None
    if "validation_score" in members:
        estimator.validation_score_ = members["validation_score"].number()
    read_learned(estimator, members["learned"], estimator.fitted_)
    estimator._show()
    return estimator


def _read_columns(value: Checked) -> tuple[Variable, ...]:
    found = []
    for item in value.items():
        parts = item.fields({"name", "kind", "states"}, {"cuts"})
        name = parts.pop("name").text()
        found.append(read_variable(name, parts, False))
    names = [variable.name for variable in found]
    if not names or names != sorted(set(names)):
        value.fail("must name each column once, in the order of the names")
    return tuple(found)


def _read_theta(
    value: Checked, emission: TreeLabels, variables: tuple[Variable, ...]
) -> TreeCounts:
    """Logs of the tables of the trees."""
    t = emission.blank
    trees = list(value.items())
    if len(trees) != emission.n_states:
        value.fail(f"must hold {emission.n_states} trees")
    for k, tree in enumerate(trees):
        t.parents[k] = _read_parents(tree, variables)
    if emission.is_shared and (t.parents != t.parents[0]).any():
        value.fail("must have one structure in all trees, which was chosen")
    links, _ = row_links(emission.tables, t.parents.astype(np.int64))
    for k, tree in enumerate(trees):
        for v, column in enumerate(tree.items()):
            u, at, by_parent, by_child = links[k, v]
            size = variables[v].n_states
            rows = variables[u].n_states if u >= 0 else 1
            part = column.fields({"parent", "table"})["table"]
            table = read_array(part, (rows, size))
            if (table < 0.0).any() or (np.abs(table.sum(1) - 1.0) > TOLERANCE).any():
                part.fail("must be probabilities that sum to 1 in every row")
            with np.errstate(divide="ignore"):
                logs = np.log(table)
            if u < 0:
                t.singles[k, emission.tables.at[v] + np.arange(size)] = logs[0]
            else:
                places = at + by_parent * np.arange(rows)[:, None] + by_child * np.arange(size)
                t.pairs[k, places] = logs
    return t


def _read_parents(tree: Checked, variables: tuple[Variable, ...]) -> list[int]:
    """The place of the parent of every column; -1 of the root."""
    places = {variable.name: v for v, variable in enumerate(variables)}
    columns = list(tree.items())
    if len(columns) != len(variables):
        tree.fail(f"must have {len(variables)} columns")
    found = []
    for column in columns:
        parent = column.fields({"parent", "table"})["parent"]
        if parent.is_null():
            found.append(-1)
        elif parent.text() in places:
            found.append(places[parent.text()])
        else:
            parent.fail("must be the name of a column, or null")
    reached = {v for v, u in enumerate(found) if u < 0}
    if len(reached) == 1:
        for _ in found:
            reached |= {v for v, u in enumerate(found) if u in reached}
    if len(reached) < len(found) or found.count(-1) != 1:
        tree.fail("must be a tree: one root, from which every column hangs")
    return found


def _read_posterior(value: Checked, model: Mixture, t: Mixed) -> Mixed:
    """η, whose most probable trees and means must be those that the file shows."""
    members = value.fields({"weights", "singles", "pairs"})
    blank, K = model.emission.blank, model.n_states
    counts = TreeCounts(
        read_array(members["singles"], blank.singles.shape),
        read_array(members["pairs"], blank.pairs.shape),
        blank.parents,
    )
    weights = read_array(members["weights"], (K,))
    if not ((weights > -1.0).all() and (counts.singles > 0.0).all() and (counts.pairs > 0.0).all()):
        value.fail("must hold counts above 0 (of weights: above -1)")
    mean = model.point(Mixed(weights, counts))
    pairs = zip(t.components[:2], mean.components[:2], strict=True)
    is_same = np.array_equal(t.components.parents, mean.components.parents)
    if not is_same or not all(np.allclose(np.exp(a), np.exp(b), atol=TOLERANCE) for a, b in pairs):
        value.fail("does not have the trees as its most probable ones, or their tables as means")
    return Mixed(weights, counts)
