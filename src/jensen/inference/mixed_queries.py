"""Exact queries to a mixed network, for one set of findings: labels, numbers, information."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.families import inner
from jensen.inference.distribution import Distribution, Interval
from jensen.inference.findings import Findings, read_findings
from jensen.inference.fitted import Given, Names
from jensen.inference.gaussian_queries import GaussianEvidence, read_evidence, read_targets
from jensen.inference.impossible import explain
from jensen.inference.marginals import missing_marginal
from jensen.inference.mixed_solver import (
    MixedQuestion,
    Parameters,
    SolvedUnit,
    Weighing,
    filled_tables,
    group_moments,
    groups_of,
    kinds_in,
    label_places,
    log_density,
    log_known,
    make_question,
    read_marginal,
    solved,
)
from jensen.inference.network_queries import DRAWS, quantile
from jensen.inference.number_mixture import MixtureDistribution, merged_mixture
from jensen.q_hidden.mixed.cells import MixedRows
from jensen.q_hidden.mixed.shapes import Asked, GroupKind
from jensen.q_hidden.trees import run
from jensen.support.checks import is_real
from jensen.support.memory import check_memory
from jensen.support.text import for_reader, one_of, option, some

if TYPE_CHECKING:
    from jensen.inference.mixed_network import MixedNetwork

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


# --- findings ---


class MixedFindings(NamedTuple):
    """What is known: labels by their places among the labels, numbers by their nodes."""

    labels: Findings
    numbers: GaussianEvidence

    def text(self, network: MixedNetwork) -> str:
        """For headings: "XRay=abnormal, age=40, do(dose=2)"."""
        parts = self.labels.text(network.label_network), self.numbers.text(network)
        return ", ".join(part for part in parts if part)

    def was_set(self, network: MixedNetwork) -> frozenset[int]:
        """The nodes that were set from outside."""
        return frozenset([*(network.layout.labels[u] for u in self.labels.do), *self.numbers.do])

    def rows(self, network: MixedNetwork) -> MixedRows:
        """One row with all that is known."""
        layout = network.layout
        codes = np.full((1, len(layout.labels)), -1, np.int32)
        values = np.full((1, len(layout.numbers)), np.nan)
        for u, state in {**self.labels.hard, **self.labels.do}.items():
            codes[0, u] = state
        for node, value in {**self.numbers.given, **self.numbers.do}.items():
            v = layout.place[node]
            values[0, v] = value - network.centre[v]
        return MixedRows(codes, values, np.ones(1))


def read_mixed(
    network: MixedNetwork, given: Given, do: Given, targets: Sequence[int] = ()
) -> MixedFindings:
    """Convert evidence to codes and numbers; contradictions are refused."""
    layout = network.layout
    parts = [_parted(network, what, x) for what, x in (("given", given), ("do", do))]
    asked = [layout.place[v] for v in targets if layout.cards[v]]
    labels = read_findings(network.label_network, parts[0][0], parts[1][0], asked)
    numbers = [v for v in targets if not layout.cards[v]]
    return MixedFindings(labels, read_evidence(network, parts[0][1], parts[1][1], numbers))


def _parted(
    network: MixedNetwork, what: str, findings: Given
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Findings of labels, and of numbers."""
    if findings is not None and not isinstance(findings, Mapping):
        raise JensenError(
            f"{what} must be a dict from variable to state or number, not {type(findings).__name__}"
        )
    labels, numbers = dict[str, Any](), dict[str, Any]()
    for name, value in (findings or {}).items():
        (labels if network.is_label(name) else numbers)[name] = value
    return labels, numbers


def question_of(
    network: MixedNetwork, findings: MixedFindings, nodes: Sequence[int], *together: tuple[int, ...]
) -> MixedQuestion:
    """The question of one set of findings."""
    asked = Asked(frozenset(nodes), together)
    was_set, soft = findings.was_set(network), findings.labels.soft
    return make_question(network, findings.rows(network), was_set, asked, soft)


def unknown_nodes(network: MixedNetwork, findings: MixedFindings) -> list[int]:
    """All nodes of which no value is known."""
    labels = [network.layout.labels[u] for u in (*findings.labels.hard, *findings.labels.do)]
    known = {*labels, *findings.numbers.given, *findings.numbers.do}
    return [v for v in range(len(network.variables)) if v not in known]


# --- queries ---


def query(
    network: MixedNetwork,
    targets: Names,
    given: Given = None,
    do: Given = None,
    interval: float | None = None,
    rng: np.random.Generator | None = None,
) -> Distribution | MixtureDistribution:
    """P(targets | do, given): of labels a table, of numbers a mixture of Gaussians."""
    names, at = read_targets(network, targets)
    findings = read_mixed(network, given, do, at)
    if not check_one_kind(network, at):
        if interval is not None:
            raise JensenError(
                for_reader(
                    "the answer about a number has .interval(level) itself",
                    "--interval tells how sure probabilities are; the answer about a number shows "
                    "its 90 % interval by itself: leave --interval out",
                )
            )
        return _query_numbers(network, names, at, findings)
    places = tuple(network.layout.place[v] for v in at)
    check_joint(network, at)
    question = question_of(network, findings, at, tuple(sorted(places)))
    weighing, values = label_answers(question, places, network.parameter_sets())
    refuse_impossible(question, weighing)
    variables = tuple(network.variables[v] for v in at)
    found = None
    if interval is not None:
        found = _interval(question, places, interval, rng)
    return Distribution(variables, values[0], findings.text(network), found)


def check_one_kind(network: MixedNetwork, at: Sequence[int]) -> bool:
    """Whether targets are labels; labels and numbers together are refused."""
    labels = [network.graph.nodes[v] for v in at if network.layout.cards[v]]
    numbers = [network.graph.nodes[v] for v in at if not network.layout.cards[v]]
    if labels and numbers:
        raise JensenError(
            f"labels ({some(labels)}) and numbers ({some(numbers)}) are asked for one after the "
            f"other: ask for the labels, then for the numbers with a state of each label in given"
        )
    return bool(labels)


def check_joint(network: MixedNetwork, at: Sequence[int]) -> None:
    """Refuse a joint distribution of labels that is too large."""
    size = float(np.prod([float(network.variables[v].n_states) for v in at]))
    check_memory(
        6 * 8.0 * size,
        f"the joint distribution of {some(network.graph.nodes[v] for v in at)}",
        "ask for fewer variables at once",
    )


def refuse_impossible(question: MixedQuestion, weighing: Weighing) -> None:
    """Raise an error that names findings which contradict each other, if they do.

    Only labels can: every number has a positive density.
    """
    if weighing.possible.all():
        return
    network = question.network
    known = {u: int(code) for u, code in enumerate(question.rows.codes[0]) if code >= 0}
    done = {u: known.pop(u) for u in list(known) if network.layout.labels[u] in question.was_set}
    raise explain(network.label_network, Findings(known, dict(question.soft), done))


def label_answers(
    question: MixedQuestion, places: tuple[int, ...], sets: Sequence[Parameters]
) -> tuple[Weighing, Array]:
    """(N, states...): the joint distribution of labels, asked together; NaN in impossible rows."""
    cards = question.network.layout.wiring.cards
    scope = tuple(sorted(places))
    shape = [int(cards[u]) for u in scope]
    weighing, values = Weighing(question.n_rows), np.zeros((question.n_rows, *shape))
    for parameters in sets:
        log_p, each = log_known(question, question.with_soft(parameters)), np.zeros_like(values)
        for found in solved(question, parameters):
            log_p[found.unit.row] += found.log_density
            _, rows, shares = _shares(found, GroupKind((), (), scope))
            each[rows] = shares.reshape(-1, *shape)
        share = weighing.add(log_p).reshape(-1, *(1,) * len(shape))
        values += share * (each - values)
    total = values.sum(tuple(range(1, values.ndim)), keepdims=True)
    with np.errstate(invalid="ignore"):
        values /= total
    values[~weighing.possible] = np.nan
    return weighing, values.transpose(0, *(1 + scope.index(u) for u in places))


def _shares(found: SolvedUnit, kind: GroupKind) -> tuple[int, Ints, Array]:
    """The number of a kind of group, the rows that have it, and posteriors of configurations."""
    shapes = found.unit.shapes
    number = shapes.group_kinds[kind]
    _, groups = groups_of(found.unit, number)
    size = shapes.n_configs(kind.scope)
    return (
        number,
        found.unit.row[groups.row],
        found.shares[groups.table_at[:, None] + np.arange(size)],
    )


def _interval(
    question: MixedQuestion,
    places: tuple[int, ...],
    level: float,
    rng: np.random.Generator | None,
) -> Interval:
    """Equal-tailed bounds of the probabilities, from parameters drawn from their posterior."""
    network = question.network
    if not is_real(level) or not 0 < level < 1:
        raise JensenError(
            f"interval must be between 0 and 1, as in {option('interval', 0.9)}, not {level!r}"
        )
    if network.samples is not None:
        sets = network.parameter_sets()
    elif network.posteriors is None:
        raise JensenError(
            "this network has point estimates only: intervals need a posterior, from "
            f"{one_of('method', ['vbem', 'gibbs'])}"
        )
    else:
        sets = network.drawn_parameters(DRAWS, np.random.default_rng(0) if rng is None else rng)
    answers = [label_answers(question, places, [one]) for one in sets]
    log_each = np.array([weighing.log_total[0] for weighing, _ in answers])
    weights = np.exp(log_each - log_each.max())
    values = np.nan_to_num(np.array([found[0] for _, found in answers]))
    weights, tail = weights / weights.sum(), (1 - level) / 2
    return Interval(level, quantile(values, weights, tail), quantile(values, weights, 1 - tail))


# --- numbers ---


class Components(NamedTuple):
    """Mixtures of rows with the same gaps."""

    log_density: Array  # (N,)
    weights: Array  # (N, K)
    means: Array  # (N, K, d): relative to the centre
    covariances: Array  # (N, K, d, d)


def number_question(
    network: MixedNetwork,
    rows: MixedRows,
    was_set: frozenset[int],
    numbers: Sequence[int],
    soft: Mapping[int, Array] | None = None,
) -> MixedQuestion:
    """A question about numbers in rows that all have the same gaps."""
    nodes = frozenset(network.layout.numbers[v] for v in numbers)
    question = make_question(network, rows, was_set, Asked(nodes), soft)
    kinds = _kinds_of(question, numbers)
    scope = tuple(sorted({u for kind in kinds for u in kind.scope}))
    size = float(question.shapes.n_configs(scope)) * len(rows.weight) * network.n_sets
    check_memory(
        24.0 * size * (1 + len(numbers) + len(numbers) ** 2),
        f"the mixture of {some(network.graph.nodes[v] for v in nodes)}, "
        f"{question.shapes.n_configs(scope):.3g} Gaussians,",
        "ask for fewer numbers at once, or give more labels",
    )
    if len(kinds) == 1 or not scope:
        return question
    return make_question(network, rows, was_set, Asked(nodes, (scope,)), soft)


def _kinds_of(question: MixedQuestion, numbers: Sequence[int]) -> list[GroupKind]:
    """The kinds of the groups that hold some numbers."""
    kinds = [kind for _, kind in kinds_in(question.units[0])]
    return [kind for kind in kinds if set(kind.missing).intersection(numbers)]


def components(
    question: MixedQuestion, parameters: Parameters, numbers: Sequence[int]
) -> Components:
    """The mixture of some numbers in every row."""
    kinds, n, d = _kinds_of(question, numbers), question.n_rows, len(numbers)
    scope = tuple(sorted({u for kind in kinds for u in kind.scope}))
    cards = [int(question.network.layout.wiring.cards[u]) for u in scope]
    size = int(np.prod(cards, dtype=np.int64))
    states = (
        dict(zip(scope, np.unravel_index(np.arange(size), cards), strict=True)) if cards else {}
    )
    weights, means = np.ones((n, size)), np.empty((n, size, d))
    covariances = np.zeros((n, size, d, d))
    log_p = log_known(question, question.with_soft(parameters))
    for found in solved(question, parameters):
        log_p[found.unit.row] += found.log_density
        for kind in kinds:
            at = np.zeros(size, np.int64)
            for u in kind.scope:
                at = at * int(question.network.layout.wiring.cards[u]) + states[u]
            number = found.unit.shapes.group_kinds[kind]
            own = group_moments(found, parameters.forms, number, with_covariances=True)
            inside = [k for k, v in enumerate(numbers) if v in kind.missing]
            local = [kind.missing.index(numbers[k]) for k in inside]
            means[np.ix_(own.row, np.arange(size), inside)] = own.means[:, at][:, :, local]
            blocks = own.covariances[:, at][:, :, local][:, :, :, local]
            covariances[np.ix_(own.row, np.arange(size), inside, inside)] = blocks
            if len(kinds) == 1:
                weights[own.row] = own.shares
        if len(kinds) > 1 and scope:
            _, rows, shares = _shares(found, GroupKind((), (), scope))
            weights[rows] = shares
    return Components(log_p, weights, means, covariances)


def _query_numbers(
    network: MixedNetwork, names: tuple[str, ...], at: Sequence[int], findings: MixedFindings
) -> MixtureDistribution:
    numbers = [network.layout.place[v] for v in at]
    was_set, soft = findings.was_set(network), findings.labels.soft
    question = number_question(network, findings.rows(network), was_set, numbers, soft)
    return pooled(question, names, numbers, findings.text(network))


def pooled(
    question: MixedQuestion, names: tuple[str, ...], numbers: Sequence[int], text: str
) -> MixtureDistribution:
    """The mixture of some numbers in a single row, over all sets of parameters."""
    network, weighing = question.network, Weighing(1)
    found = [components(question, one, numbers) for one in network.parameter_sets()]
    for one in found:
        weighing.add(one.log_density)
    refuse_impossible(question, weighing)
    shares = [np.exp(one.log_density[0] - weighing.log_total[0]) * one.weights[0] for one in found]
    means = np.concatenate([one.means[0] for one in found]) + network.centre[list(numbers)]
    covariances = np.concatenate([one.covariances[0] for one in found])
    return merged_mixture(names, np.concatenate(shares), means, covariances, text)


# --- all variables ---


class MixedMarginals(dict[str, Distribution | MixtureDistribution]):
    """Name → marginal; an unknown name raises an error that suggests others."""

    def __missing__(self, name: str) -> Distribution | MixtureDistribution:
        raise missing_marginal(name, self)

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self.values()))


def marginals(network: MixedNetwork, given: Given, do: Given) -> MixedMarginals:
    """P(X | do, given) of every variable that is not in `given` or `do`."""
    findings = read_mixed(network, given, do)
    unknown = unknown_nodes(network, findings)
    question = question_of(network, findings, unknown)
    weighing, sets = Weighing(1), network.parameter_sets()
    labels: dict[int, Array] = {}
    parts: dict[int, list[tuple[Array, Array, Array]]] = {}
    log_each = []
    for parameters in sets:
        log_p = log_known(question, question.with_soft(parameters))
        units = list(solved(question, parameters))
        for found in units:
            log_p[found.unit.row] += found.log_density
        share = float(weighing.add(log_p)[0])
        log_each.append(log_p[0])
        for found in units:
            _add_labels(found, share, labels)
            _add_numbers(found, parameters.forms, parts)
    refuse_impossible(question, weighing)
    weights = np.exp(np.array(log_each) - weighing.log_total[0])
    text, answers = findings.text(network), MixedMarginals()
    for node in unknown:
        variable, place = network.variables[node], network.layout.place[node]
        if network.layout.cards[node]:
            values = labels[place] / labels[place].sum()
            answers[variable.name] = Distribution((variable,), values, text)
        else:
            own = zip(weights, parts[place], strict=True)
            shares, means, variances = zip(*((w * a, b, c) for w, (a, b, c) in own), strict=True)
            centred = np.concatenate(means)[:, None] + network.centre[place]
            answers[variable.name] = merged_mixture(
                (variable.name,),
                np.concatenate(shares),
                centred,
                np.concatenate(variances)[:, None, None],
                text,
            )
    return answers


def _add_labels(found: SolvedUnit, share: float, labels: dict[int, Array]) -> None:
    """Average the distributions of labels; the last answer has this share."""
    shapes = found.unit.shapes
    cards = shapes.layout.wiring.cards
    for u in {u for of_set in shapes.label_sets for u in of_set.members}:
        rows, values = read_marginal(found, label_places(shapes, u), int(cards[u]))
        if len(rows):
            before = labels.setdefault(u, np.zeros(int(cards[u])))
            before += share * (values[0] - before)


def _add_numbers(
    found: SolvedUnit, forms: Array, parts: dict[int, list[tuple[Array, Array, Array]]]
) -> None:
    """Append weights, means and variances of the mixture of every number."""
    for number, kind in kinds_in(found.unit):
        if kind.missing:
            own = group_moments(found, forms, number, with_covariances=True)
            for k, v in enumerate(kind.missing):
                moments = own.shares[0], own.means[0, :, k], own.covariances[0, :, k, k]
                parts.setdefault(v, []).append(moments)


def log_probability(network: MixedNetwork, given: Given, do: Given) -> float:
    """The log density of what is given; of labels alone their log probability."""
    question = question_of(network, read_mixed(network, given, do), ())
    weighing = Weighing(1)
    for parameters in network.parameter_sets():
        weighing.add(log_density(question, parameters))
    return float(weighing.log_mean[0])


def probability(network: MixedNetwork, given: Given, do: Given) -> float:
    """P(given | do), of labels; numbers have a density only."""
    for name in given or {}:
        if not network.is_label(name):
            raise JensenError(
                f"a value of the number {name!r} has no probability: log_probability gives the log "
                f"density of what is given"
            )
    return float(np.exp(log_probability(network, given, do)))


# --- information ---


def refuse_numbers(network: MixedNetwork, names: Sequence[str], what: str) -> None:
    """Refuse a quantity that is computed of labels only."""
    numbers = [name for name in names if not network.is_label(name)]
    if numbers:
        raise JensenError(
            f"the {what} of numbers ({some(numbers)}) in a mixed network has no closed form: ask "
            f"for labels, or make intervals of the numbers with jn.discretize"
        )


def entropy(network: MixedNetwork, targets: Names | None, given: Given) -> float:
    """H[P(labels | given)] in nats; targets=None means all variables that are not given."""
    if targets is not None:
        names = [targets] if isinstance(targets, str) else list(targets)
        refuse_numbers(network, names, "entropy")
        found = query(network, targets, given)
        assert isinstance(found, Distribution)
        return found.entropy()
    if network.samples is not None:
        raise JensenError(
            "the entropy of all variables under a mixture of sampled parameters cannot be computed "
            "exactly: name the variables, or learn with method='vbem'"
        )
    findings = read_mixed(network, given, None)
    unknown = unknown_nodes(network, findings)
    refuse_numbers(network, [network.graph.nodes[v] for v in unknown], "entropy")
    question = question_of(network, findings, unknown)
    (parameters,) = network.parameter_sets()
    total = 0.0
    for unit in question.units:
        log_tables = filled_tables(question, question.with_soft(parameters), unit).log_tables
        log_z, counts, _, _ = run.counts_and_marginals(
            log_tables, question.shapes.program, unit.problems
        )
        total += float(log_z.sum()) - inner(counts, log_tables)  # H = log Z - E[log potentials]
    if not np.isfinite(total):
        raise explain(network.label_network, findings.labels)
    return total
