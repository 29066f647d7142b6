"""Exact queries to a mixed network, for one set of findings: labels, numbers, information."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.families import inner
from jensen.families.dirichlet import SegmentedDirichlet
from jensen.inference.distribution import Distribution, Interval
from jensen.inference.fitted import Given, Names
from jensen.inference.gaussian_queries import read_targets
from jensen.inference.impossible import explain
from jensen.inference.marginals import missing_marginal
from jensen.inference.mixed_components import answer, label_answers
from jensen.inference.mixed_findings import (
    question_of,
    read_mixed,
    refuse_impossible,
    unknown_nodes,
)
from jensen.inference.mixed_parameters import Parameters, drawn, parameters_at
from jensen.inference.mixed_solver import (
    MixedQuestion,
    SolvedUnit,
    Weighing,
    filled_tables,
    group_moments,
    kinds_in,
    label_places,
    log_density,
    log_known,
    read_marginal,
    solved,
)
from jensen.inference.network_queries import DRAWS, quantile
from jensen.inference.number_mixture import MOST_COMPONENTS, NumberAnswer, merged_mixture
from jensen.q_hidden.trees import run
from jensen.support.arguments import is_real
from jensen.support.machine import check_memory
from jensen.support.text import for_reader, one_of, option, some

if TYPE_CHECKING:
    from jensen.inference.mixed_network import MixedNetwork

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


def query(
    network: MixedNetwork,
    targets: Names,
    given: Given = None,
    do: Given = None,
    interval: float | None = None,
    rng: np.random.Generator | None = None,
) -> Distribution | NumberAnswer:
    """P(targets | do, given): of labels a table, of numbers a mixture of Gaussians."""
    _, at = read_targets(network, targets)
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
        refuse_several_counts(network, at)
        numbers, soft = [network.layout.place[v] for v in at], findings.labels.soft
        was_set, rows = findings.was_set(network), findings.rows(network)
        return answer(network, rows, was_set, numbers, soft, findings.text(network))
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


def refuse_several_counts(network: MixedNetwork, at: Sequence[int]) -> None:
    """Refuse the joint distribution of a count and something else."""
    counts = [network.graph.nodes[v] for v in at if v in network.layout.counts]
    if counts and len(at) > 1:
        raise JensenError(
            f"the count {counts[0]!r} is asked for by itself: one question for each, those that "
            f"are known in given"
        )


def check_joint(network: MixedNetwork, at: Sequence[int]) -> None:
    """Refuse a joint distribution of labels that is too large."""
    size = float(np.prod([float(network.variables[v].n_states) for v in at]))
    check_memory(
        6 * 8.0 * size,
        f"the joint distribution of {some(network.graph.nodes[v] for v in at)}",
        "ask for fewer variables at once",
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
        sets = list(network.parameter_sets())
    elif network.posteriors is None:
        raise JensenError(
            "this network has point estimates only: intervals need a posterior, from "
            f"{one_of('method', ['vbem', 'gibbs'])}"
        )
    else:
        sets = _drawn_parameters(network, np.random.default_rng(0) if rng is None else rng)
    answers = [label_answers(question, places, [one]) for one in sets]
    log_each = np.array([weighing.log_total[0] for weighing, _ in answers])
    weights = np.exp(log_each - log_each.max())
    values = np.nan_to_num(np.array([found[0] for _, found in answers]))
    weights, tail = weights / weights.sum(), (1 - level) / 2
    return Interval(level, quantile(values, weights, tail), quantile(values, weights, 1 - tail))


def _drawn_parameters(network: MixedNetwork, rng: np.random.Generator) -> list[Parameters]:
    """Draws from the posterior, as after VB."""
    assert network.posteriors is not None, "draws need a posterior"
    layout = network.layout
    family = SegmentedDirichlet(layout.wiring.row_lengths())
    concentration, shift, parts = network.posteriors
    pairs = list(enumerate(zip(parts, layout.number_parents, strict=True)))
    found = []
    for _ in range(DRAWS):
        tables = np.exp(family.sample_stats(concentration - 1.0, rng))
        numbers = tuple(drawn(one, shift, v, above, rng) for v, (one, above) in pairs)
        found.append(parameters_at(layout, tables, numbers, network.centre))
    return found


# --- all variables ---


class MixedMarginals(dict[str, Distribution | NumberAnswer]):
    """Name → marginal; an unknown name raises an error that suggests others."""

    def __missing__(self, name: str) -> Distribution | NumberAnswer:
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
        if node in network.layout.counts:
            was_set, soft = findings.was_set(network), findings.labels.soft
            answers[variable.name] = answer(network, question.rows, was_set, [place], soft, text)
        elif network.layout.cards[node]:
            values = labels[place] / labels[place].sum()
            answers[variable.name] = Distribution((variable,), values, text)
        else:
            own = zip(weights, parts[place], strict=True)
            shares, means, variances = zip(*((w * a, b, c) for w, (a, b, c) in own), strict=True)
            centred = np.concatenate(means)[:, None] + network.centre[place]
            size = len(centred)
            mixture = merged_mixture(
                (variable.name,),
                np.concatenate(shares),
                centred,
                np.concatenate(variances)[:, None, None],
                text,
            )
            answers[variable.name] = mixture if size <= MOST_COMPONENTS else mixture.moments(size)
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
