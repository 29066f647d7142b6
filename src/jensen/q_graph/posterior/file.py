"""Posteriors over graphs as plain data, and back: every sample, exact to the bit.

Sets of parents are lists of positions among the names; a graph is the number of a set for each
variable, a sample the number of a graph.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jensen.exceptions import JensenError
from jensen.inference.network_files import plain_prior, read_prior
from jensen.q_graph.posterior.base import StructurePosterior
from jensen.q_graph.posterior.exact import Draws, ExactPosterior
from jensen.q_graph.posterior.graph_samples import Array, GraphSamples, bits_of
from jensen.q_graph.posterior.incomplete import IncompletePosterior
from jensen.q_graph.posterior.listed import ListedPosterior
from jensen.q_graph.posterior.sampled import ChainRun, SampledPosterior
from jensen.q_graph.sums.exact_posterior import MostProbable
from jensen.support.json_values import Checked, plain_array, read_array

FORMAT = "jensen-structure-posterior"
KINDS = ("chains", "draws", "all")

MOST_SETS = 1 << 20
"""The most probabilities of parent sets in a file: those of 16 variables."""


def plain(post: StructurePosterior) -> dict[str, Any]:
    """The posterior as the plain data of a file."""
    document = {
        "format": FORMAT,
        "names": list(post.names),
        "settings": _plain(post.settings),
        "best_score": _best_score(post),
        "samples": _plain_samples(post.samples),
        "gaussian_prior": plain_prior(post.gaussian_prior),
    }
    if isinstance(post, ExactPosterior):
        document["exact"] = _plain_exact(post)
    elif isinstance(post, ListedPosterior):
        document["listed"] = {"share": post.share, "is_proven": post.is_proven}
    else:
        assert isinstance(post, SampledPosterior)
        document["chains"] = _plain_chains(post)
    if isinstance(post, IncompletePosterior):
        document["missing"] = plain_array(post.missing)
    return document


def read(head: Checked) -> StructurePosterior:
    """A posterior from a document."""
    members = head.fields(
        {"format", "names", "settings", "best_score", "samples"},
        {"exact", "chains", "listed", "missing", "gaussian_prior"},
    )
    names = tuple(members["names"].texts())
    if not names or list(names) != sorted(set(names)):
        members["names"].fail("must be different names, sorted")
    settings = members["settings"].members()
    samples = _read_samples(members["samples"], names)
    choices = {name: value.value for name, value in settings.items()}
    post: StructurePosterior
    if "exact" in members:
        kept = _read_exact(members["exact"], names)
        post = ExactPosterior(kept, settings=choices, samples=samples)
    elif "chains" in members:
        chains = _read_chains(members["chains"], samples)
        post = SampledPosterior(chains, settings=choices)
        if "missing" in members:
            post = IncompletePosterior(chains, _read_missing(members["missing"], samples), choices)
    elif "listed" in members:
        post = _read_listed(members["listed"], samples, choices)
    else:
        head.fail("lacks 'chains', 'exact' or 'listed'")
    score = members["best_score"]
    post._best_score = None if score.is_null() else score.number()
    if "gaussian_prior" in members:
        post._held_prior = read_prior(members["gaussian_prior"], len(names))
    elif choices.get("score") == "bge" and choices.get("scale") is None:
        post.settings = {**post.settings, "scale": "unit"}  # the default when it was written
    return post


def _best_score(post: StructurePosterior) -> float | None:
    score = float(post.best.info.score)
    return post._best_score if np.isnan(score) else score


def _plain(value: Any) -> Any:
    """Settings as JSON data; keys that are pairs of names become "A -> B"."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, Mapping):
        return {
            " -> ".join(key) if isinstance(key, tuple) else str(key): _plain(part)
            for key, part in value.items()
        }
    if isinstance(value, Sequence | set | frozenset):
        return [_plain(part) for part in value]
    return repr(value)


# --- samples ---


def _plain_samples(samples: GraphSamples) -> dict[str, Any]:
    same = samples.states is samples.scores or np.array_equal(samples.states, samples.scores)
    return {
        "kind": samples.kind,
        "sets": [np.flatnonzero(row).tolist() for row in samples.members],
        "graphs": samples.graphs.tolist(),
        "which": samples.which.tolist(),
        "scores": plain_array(samples.scores),
        "states": None if same else plain_array(samples.states),
        "log_weights": None if samples.log_weights is None else plain_array(samples.log_weights),
    }


def _read_samples(value: Checked, names: tuple[str, ...]) -> GraphSamples:
    parts = value.fields({"kind", "sets", "graphs", "which", "scores", "states", "log_weights"})
    kind = parts["kind"].text()
    if kind not in KINDS:
        parts["kind"].fail(f"must be one of {', '.join(KINDS)}")
    sets = _read_sets(parts["sets"], len(names))
    graphs = _numbers(parts["graphs"], len(sets), "a set")
    if graphs.shape[1] != len(names):
        parts["graphs"].fail(f"must hold {len(names)} numbers for each graph")
    _check_acyclic(parts["graphs"], sets[graphs])
    which = _numbers(parts["which"], len(graphs), "a graph")
    shape = (which.shape[0], which.shape[1])
    scores = read_array(parts["scores"], shape)
    states, weights = (
        None if parts[name].is_null() else read_array(parts[name], shape, logs=True)
        for name in ("states", "log_weights")
    )
    return GraphSamples.from_distinct(
        names,
        bits_of(sets),
        graphs,
        which,
        scores,
        states,
        weights,
        kind,  # type: ignore[arg-type]  # checked
    )


def _read_sets(value: Checked, n: int) -> NDArray[np.bool_]:
    lists = list(value.items())
    sets = np.zeros((len(lists), n), bool)
    for k, item in enumerate(lists):
        for member in item.items():
            if not 0 <= member.whole() < n:
                member.fail(f"must be the position of one of {n} names")
            sets[k, member.whole()] = True
    return sets


def _numbers(value: Checked, limit: int, what: str) -> NDArray[np.int32]:
    """Lists of equal length of integers from 0 to limit - 1."""
    rows = [item.value for item in value.items()]
    if not rows or not all(isinstance(row, list) and len(row) == len(rows[0]) for row in rows):
        value.fail("must hold lists of the same length, one at least")
    if not all(type(x) is int and 0 <= x < limit for row in rows for x in row):
        value.fail(f"must hold whole numbers below {limit}, each that of {what}")
    return np.array(rows, np.int32).reshape(len(rows), len(rows[0]))


def _check_acyclic(value: Checked, parents: NDArray[np.bool_]) -> None:
    """Refuse graphs with a cycle; parents are flags (graphs, child, parent)."""
    left = np.ones(parents.shape[:2], bool)
    for _ in range(parents.shape[1]):
        left &= (parents & left[:, None]).any(2)
    if left.any():
        value.fail(f"holds a cycle: graph {int(left.any(1).argmax())}")


# --- of chains ---


def _plain_chains(post: SampledPosterior) -> dict[str, Any]:
    batches, outside = post._batches, post.outside_share
    return {
        "interrupted": post.interrupted,
        "moves": {
            name: [accepted.tolist(), tried.tolist()]
            for name, (accepted, tried) in post.moves.items()
        },
        "outside_share": None if outside is None else _or_null(outside.tolist()),
        "edge_batches": None if batches is None else plain_array(batches),
    }


def _or_null(numbers: list[float]) -> list[float | None]:
    """Numbers, with null for nan."""
    return [None if math.isnan(x) else x for x in numbers]


def _read_chains(value: Checked, samples: GraphSamples) -> ChainRun:
    parts = value.fields({"moves", "outside_share", "edge_batches"}, {"interrupted"})
    moves = {}
    for name, counts in parts["moves"].members().items():
        pair = [_read_tallies(part) for part in counts.items()]
        if len(pair) != 2 or len(pair[0]) != len(pair[1]):
            counts.fail("must tell how often it was accepted and how often tried")
        moves[name] = pair[0], pair[1]
    n, outside, batches = len(samples.names), parts["outside_share"], parts["edge_batches"]
    share = None if outside.is_null() else _read_shares(outside, n)
    found = None
    if not batches.is_null():
        lengths = [len(list(item.items())) for item in batches.items()]
        if not lengths or not lengths[0]:
            batches.fail("must hold batches of every chain")
        found = read_array(batches, (samples.n_chains, lengths[0], n, n))
    interrupted = "interrupted" in parts and parts["interrupted"].flag()
    return ChainRun(samples, moves, share, found, interrupted=interrupted)


def _read_tallies(value: Checked) -> NDArray[np.int64]:
    for item in value.items():
        if not 0 <= item.whole() < 1 << 63:
            item.fail("must be how often something happened")
    return np.array([item.whole() for item in value.items()], np.int64)


def _read_shares(value: Checked, n: int) -> Array:
    shares = np.array([math.nan if x.is_null() else x.number() for x in value.items()])
    if len(shares) != n:
        value.fail(f"has {len(shares)} parts, but must have {n}")
    return shares


def _read_missing(value: Checked, samples: GraphSamples) -> Array:
    """What is missing in each sample."""
    each = next(iter(value.items()), value)
    width = len(list(next(iter(each.items()), each).items()))
    return read_array(value, (*samples.which.shape, width))


# --- of a list of graphs ---


def _read_listed(
    value: Checked, samples: GraphSamples, choices: Mapping[str, Any]
) -> ListedPosterior:
    parts = value.fields({"share", "is_proven"})
    post = ListedPosterior(samples, settings=choices, is_proven=parts["is_proven"].flag())
    post.share = None if parts["share"].is_null() else parts["share"].number()
    return post


# --- of exact sums ---


class KeptSums(NamedTuple):
    """Exact sums from a file."""

    names: tuple[str, ...]
    edge_matrix: Array
    log_total: float
    log_evidence: float
    parent_sets: Array | None
    paths: Array | None
    most_probable: MostProbable | None

    def parent_set_probabilities(self, child: int) -> Array:
        """(2^(n-1),): by the others as bits."""
        if self.parent_sets is None:
            raise JensenError(
                f"the parent sets of {len(self.names)} variables are too many for a file: "
                f"run structure_posterior again"
            )
        return np.asarray(self.parent_sets[child])

    def path_matrix(self) -> Array:
        """(n, n) [from, to]."""
        if self.paths is None:
            raise JensenError("paths were not asked for before the posterior was saved")
        return self.paths

    def draw(self, n_draws: int, rng: np.random.Generator) -> Draws:
        """Refused: a file holds the graphs that were drawn."""
        raise JensenError("this posterior comes from a file, which holds the graphs drawn before")


def _plain_exact(post: ExactPosterior) -> dict[str, Any]:
    n, sets, paths = len(post.names), None, post.__dict__.get("_paths")
    if n << (n - 1) <= MOST_SETS:
        sets = [plain_array(post.exact.parent_set_probabilities(v)) for v in range(n)]
    best = post.exact.most_probable
    return {
        "best": None if best is None else best._asdict(),
        "edge_matrix": plain_array(post.exact.edge_matrix),
        "log_total": float(post.exact.log_total),
        "log_evidence": float(post.exact.log_evidence),
        "parent_sets": sets,
        "paths": None if paths is None else plain_array(paths),
    }


def _read_exact(value: Checked, names: tuple[str, ...]) -> KeptSums:
    n = len(names)
    parts = value.fields(
        {"edge_matrix", "log_total", "log_evidence", "parent_sets", "paths"}, {"best"}
    )
    sets, paths = parts["parent_sets"], parts["paths"]
    return KeptSums(
        names,
        read_array(parts["edge_matrix"], (n, n)),
        parts["log_total"].number(),
        parts["log_evidence"].number(),
        None if sets.is_null() else read_array(sets, (n, 1 << (n - 1))),
        None if paths.is_null() else read_array(paths, (n, n)),
        _read_best(parts["best"], n) if "best" in parts else None,
    )


def _read_best(value: Checked, n: int) -> MostProbable | None:
    if value.is_null():
        return None
    parts = value.fields({"parents", "log_weight"})
    sets = _read_sets(parts["parents"], n)
    if len(sets) != n:
        parts["parents"].fail(f"must hold the parents of {n} variables")
    _check_acyclic(parts["parents"], sets[None])
    parents = tuple(tuple(np.flatnonzero(row).tolist()) for row in sets)
    return MostProbable(parents, parts["log_weight"].number())
