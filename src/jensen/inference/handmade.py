"""Networks built by hand from tables of probabilities, and from regressions of numbers."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jensen.data.variable import Variable, label_text
from jensen.exceptions import JensenError, warn
from jensen.graphs import DAG, formats
from jensen.inference.cpt import CPT
from jensen.inference.gaussian_network import read_regression
from jensen.inference.mixed_network import MixedNetwork
from jensen.inference.mixed_parameters import AnyParameters, CountParameters, NumberParameters
from jensen.inference.network import Network, assemble
from jensen.inference.regression import ConditionalRegression, CountRates, LinearRegression
from jensen.scores.mixed_class import outside_class
from jensen.support.arguments import is_real
from jensen.support.text import offer, some

Orders = Mapping[str, Sequence[str]]
"""Name → its parents, in the order of the axes of a table or of the labels of its rows."""


def network_from_tables(
    graph: DAG,
    tables: Mapping[str, Any],
    states: Mapping[str, Sequence[object]],
    parents: Orders | None = None,
    written: Orders | None = None,
) -> Network:
    """A network from arrays, from dicts keyed by the labels of the parents, or from CPTs.

    `parents` gives the order of the parents of a table; without it they are in the order of their
    names, and there is a warning if the table also fits the order in which the graph is `written`
    (or any other order, if that is not known). With `written=None` there is no warning.
    """
    _check_names(graph, tables, states, parents or {})
    orders = {
        name: _order(name, graph.parents(name), table, (parents or {}).get(name))
        for name, table in tables.items()
    }
    stated = {name for name, table in tables.items() if isinstance(table, CPT)}.union(parents or ())
    tables = {name: _by_parents(table, graph.parents(name)) for name, table in tables.items()}
    variables = {name: _variable(name, tables[name], states.get(name)) for name in graph.nodes}
    if written is not None:
        not_stated = [name for name in graph.nodes if name not in stated]
        _warn_of_orders(graph, tables, variables, not_stated, written)
    arrays = {
        name: _array(variables[name], [variables[p] for p in orders[name]], tables[name])
        for name in graph.nodes
    }
    return assemble(graph, variables, arrays)


def network_from_parameters(
    graph: DAG,
    tables: Mapping[str, Any],
    regressions: Mapping[str, Any],
    states: Mapping[str, Sequence[object]],
    parents: Orders | None = None,
    written: Orders | None = None,
) -> MixedNetwork:
    """A network of labels, which have tables, and numbers, which have regressions.

    Tables are as in `network_from_tables`. A regression is a dict with intercept, coefficients and
    variance; of a number with label parents, a dict from their labels to such regressions. In
    place of a regression a count has a dict with its rate.
    """
    _check_parts(graph, tables, regressions)
    above = {x: [p for p in graph.parents(x) if p in tables] for x in graph.nodes}
    orders = {x: [p for p in order if p in tables] for x, order in (written or {}).items()}
    own = {x: order for x, order in orders.items() if x in tables}
    labels = network_from_tables(
        graph.subgraph(list(tables)), tables, states, parents, own if written is not None else None
    )
    numbers, counts = [], set[str]()
    for name in graph.nodes:
        if name in regressions:
            around = [labels.variables_by_name[p] for p in above[name]]
            inner = [p for p in graph.parents(name) if p in regressions]
            numbers.append(_number(name, around, inner, regressions[name]))
            counts |= {name} if isinstance(numbers[-1], CountParameters) else set()
    variables = tuple(
        labels.variables_by_name.get(x) or Variable(x, "count" if x in counts else "continuous")
        for x in graph.nodes
    )
    for v, above_it in enumerate(graph.parent_indices):
        for why in filter(None, (outside_class(variables[u], variables[v]) for u in above_it)):
            raise JensenError(why)
    return MixedNetwork(graph, variables, labels.tables, tuple(numbers))


def _check_parts(graph: DAG, tables: Any, regressions: Any) -> None:
    """Refuse nodes that have neither or both, and labels below numbers."""
    for what, given in (("tables", tables), ("regressions", regressions)):
        if not isinstance(given, Mapping):
            raise JensenError(f"{what} must be a dict by variable, not {type(given).__name__}")
    for name in [*tables, *regressions]:
        if name not in graph:
            raise JensenError(
                f"{name!r} is no node of the graph; {offer(name, graph.nodes, 'node')}"
            )
    for name in graph.nodes:
        if (name in tables) == (name in regressions):
            both = "both a table and a regression" if name in tables else "no table, no regression"
            raise JensenError(
                f"{name!r} has {both}: a label has a table, a number has a regression"
            )
        wrong = [p for p in graph.parents(name) if p in regressions] if name in tables else []
        if wrong:
            number, label = Variable(wrong[0], "continuous"), Variable(name, "categorical")
            raise JensenError(outside_class(number, label))


def _number(
    name: str, labels: Sequence[Variable], parents: Sequence[str], given: Any
) -> AnyParameters:
    """The regressions of a number, configuration by configuration of its label parents."""
    if isinstance(given, CountRates):
        given = {tuple(key.values()): {"rate": rate} for key, rate in given.items()}
    if isinstance(given, ConditionalRegression):
        given = {tuple(key.values()): one for key, one in given.items()}
    if not labels and (isinstance(given, LinearRegression) or () not in given):
        given = {(): given}
    if not isinstance(given, Mapping):
        raise JensenError(
            f"the regressions of {name!r} are a dict from the labels of its parents to a "
            f"regression each, not {given!r:.80}"
        )
    rows = {_key(key): one for key, one in given.items()}
    wanted = list(product(*(x.states for x in labels)))
    unknown, absent = [x for x in rows if x not in wanted], [x for x in wanted if x not in rows]
    if unknown or absent:
        raise JensenError(
            f"{name!r} needs one regression for every ({', '.join(x.name for x in labels)}); "
            f"unknown: {unknown[:3]}, absent: {absent[:3]}"
        )
    if any(isinstance(rows[key], Mapping) and "rate" in rows[key] for key in wanted):
        return CountParameters(np.array([_rate(name, rows[key]) for key in wanted]))
    each = [read_regression(name, parents, rows[key]) for key in wanted]
    slopes = np.array([[one.coefficients[p] for p in parents] for one in each])
    return NumberParameters(
        np.array([one.intercept for one in each]),
        slopes.reshape(len(each), len(parents)),
        np.array([one.variance for one in each]),
    )


def _rate(name: str, given: Any) -> float:
    rate: Any = given["rate"] if isinstance(given, Mapping) and set(given) == {"rate"} else None
    if not is_real(rate) or not 0.0 <= float(rate) < np.inf:
        raise JensenError(
            f"the count {name!r} needs a dict with its rate in every configuration, a finite "
            f"number from 0, as {{'rate': 2.5}}, not {given!r:.80}"
        )
    return float(rate)


def written_parents(graph: Any) -> dict[str, list[str]]:
    """The parents of every node in the order in which a text, or a list of edges, has them.

    A `DAG` does not keep this order, so nothing is returned for it.

    >>> written_parents("z -> y <- a")
    {'y': ['z', 'a']}
    """
    if isinstance(graph, str):
        edges = [(a, b) for a, _, b in formats.parse(graph).edges]
    else:
        edges = list(graph) if isinstance(graph, list | tuple) else []
    found: dict[str, list[str]] = {}
    for parent, child in edges:
        found.setdefault(child, []).append(parent)
    return found


def replace_table(
    network: Network, name: str, table: Any, parents: Sequence[str] | None = None
) -> Network:
    """The network with another table of one variable; its posterior is dropped."""
    variable, by_name = network.variables[network.index(name)], network.graph.parents(name)
    order = _order(name, by_name, table, parents)
    axes = [network.variables[network.index(p)] for p in order]
    values = _array(variable, axes, _by_parents(table, by_name))
    tables = {v.name: network.part(v.name, network.tables) for v in network.variables}
    return assemble(
        network.graph,
        {v.name: v for v in network.variables},
        {**tables, name: values},
        properties=network.properties,
        variable_properties=network.variable_properties,
    )


def _order(name: str, by_name: Sequence[str], table: Any, stated: Any) -> Sequence[str]:
    """The parents in the order of a table: as its labels or the caller state it, else by name."""
    if stated is None:
        stated = [p.name for p in table.parents] if isinstance(table, CPT) else by_name
    is_list = isinstance(stated, Iterable) and not isinstance(stated, str)
    if not is_list or sorted(map(str, stated)) != list(by_name):
        raise JensenError(
            f"the parents of {name!r} in the graph are {list(by_name)}, but its table is said to "
            f"have {stated!r}: list these parents, each once, in the order of the table"
        )
    return list(stated)


def _warn_of_orders(
    graph: DAG,
    tables: Mapping[str, Any],
    variables: Mapping[str, Variable],
    names: Iterable[str],
    written: Orders,
) -> None:
    """Warn of tables that would fit their parents in another order, too."""
    doubtful = {}
    for name in names:
        by_name = graph.parents(name)
        others = [written[name]] if name in written else _swapped(by_name)
        is_labelled = isinstance(tables[name], Mapping)
        fitting = [list(x) for x in others if _fits(by_name, x, variables, is_labelled)]
        if fitting:
            doubtful[name] = fitting[0]
    if doubtful:
        (first, other), *rest = doubtful.items()
        order = list(graph.parents(first))
        told = f"but the graph is written with {other}, and the table fits both"
        if first not in written:
            told = f"but it fits {other} as well, and the graph does not say which one is meant"
        more = f" (and so for {some(name for name, _ in rest)})" if rest else ""
        warn(
            f"the table of {first!r} is read with its parents in the order of their names, "
            f"{order}, {told}{more}: say which order is meant, "
            f"parents={{{first!r}: {other}}} or parents={{{first!r}: {order}}}",
        )


def _swapped(names: Sequence[str]) -> list[list[str]]:
    """The orders in which two names have changed places."""
    return [[{a: b, b: a}.get(name, name) for name in names] for a, b in combinations(names, 2)]


def _fits(
    by_name: Sequence[str],
    order: Sequence[str],
    variables: Mapping[str, Variable],
    is_labelled: bool,
) -> bool:
    """Whether a table with its parents by name would also fit another order of them."""
    pairs = [(variables[a], variables[b]) for a, b in zip(by_name, order, strict=True) if a != b]
    if is_labelled:
        return bool(pairs) and all(set(a.states) == set(b.states) for a, b in pairs)
    return bool(pairs) and all(a.n_states == b.n_states for a, b in pairs)


def _check_names(
    graph: DAG, tables: Mapping[str, Any], states: Mapping[str, Any], parents: Mapping[str, Any]
) -> None:
    for what, given in (("tables", tables), ("states", states), ("parents", parents)):
        if not isinstance(given, Mapping):
            raise JensenError(f"{what} must be a dict by variable, not {type(given).__name__}")
    absent = [name for name in graph.nodes if name not in tables]
    if absent:
        raise JensenError(f"there is no table of {absent[0]!r}: every node needs one")
    for name in [*tables, *states, *parents]:
        if name not in graph:
            raise JensenError(
                f"{name!r} is no node of the graph; {offer(name, graph.nodes, 'node')}"
            )


def _variable(name: str, table: Any, states: Sequence[object] | None) -> Variable:
    if isinstance(states, str):
        raise JensenError(f"the states of {name!r} must be a list, not the text {states!r}")
    if states is None:
        row = next(iter(table.values()), ()) if isinstance(table, Mapping) else table
        states = list(row) if isinstance(row, Mapping) else range(_numbers(name, row).shape[-1])
    if len(states) == 0:
        raise JensenError(f"{name!r} needs one state at least")
    return Variable(name, "categorical", tuple(map(label_text, states)))


def _array(variable: Variable, axes: Sequence[Variable], table: Any) -> NDArray[np.float64]:
    """Probabilities with an axis per parent by name, from a table with these parents in order."""
    values = _in_order(variable, axes, table)
    by_name = sorted(range(len(axes)), key=lambda k: axes[k].name)
    if by_name == list(range(len(axes))):
        return values
    shape = tuple(v.n_states for v in (*axes, variable))
    if values.shape != shape:
        names = ", ".join(v.name for v in (*axes, variable))
        raise JensenError(
            f"the table of {variable.name!r} must have the shape {shape} ({names}), "
            f"not {values.shape}"
        )
    return np.ascontiguousarray(values.transpose([*by_name, len(axes)]))


def _in_order(variable: Variable, parents: Sequence[Variable], table: Any) -> NDArray[np.float64]:
    """Probabilities with the axes in the order of the table."""
    if not isinstance(table, Mapping):
        return _numbers(variable.name, table)
    rows = {_key(labels): _row(variable, row) for labels, row in table.items()}
    wanted = dict.fromkeys(product(*(p.states for p in parents)))
    unknown = [labels for labels in rows if labels not in wanted]
    absent = [labels for labels in wanted if labels not in rows]
    if unknown or absent:
        names = ", ".join(p.name for p in parents)
        raise JensenError(
            f"the table of {variable.name!r} needs one row for every ({names}); "
            f"unknown: {unknown[:3]}, absent: {absent[:3]}"
        )
    stacked = [rows[labels] for labels in wanted]
    if len({row.shape for row in stacked}) > 1:
        raise JensenError(f"the rows of the table of {variable.name!r} differ in length")
    return np.reshape(stacked, [*(p.n_states for p in parents), -1])


def _by_parents(table: Any, parents: Sequence[str]) -> Any:
    """A CPT as a dict by labels; a root may give its one row as a dict by states."""
    if isinstance(table, CPT):
        states = table.variable.states
        return {labels: dict(zip(states, row, strict=True)) for labels, row in table.rows()}
    return {(): table} if isinstance(table, Mapping) and not parents and () not in table else table


def _row(variable: Variable, row: Any) -> NDArray[np.float64]:
    """Probabilities in the order of the states, or a dict from each state to its own."""
    if not isinstance(row, Mapping):
        return _numbers(variable.name, row)
    found = {label_text(label): p for label, p in row.items()}
    if set(found) != set(variable.states):
        raise JensenError(
            f"a row of the table of {variable.name!r} names the states {list(found)}, "
            f"but they are {list(variable.states)}"
        )
    return _numbers(variable.name, [found[state] for state in variable.states])


def _numbers(name: str, values: Any) -> NDArray[np.float64]:
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        array = np.empty(())
    if array.ndim == 0:
        raise JensenError(
            f"the table of {name!r} must be an array of probabilities, or a dict from the labels "
            f"of its parents to such rows"
        )
    return array


def _key(labels: Any) -> tuple[str, ...]:
    return tuple(map(label_text, labels if isinstance(labels, tuple) else (labels,)))
