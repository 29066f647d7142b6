"""Chains over structures: alarm, 2,000 rows, 12 candidates, pairs outside them, one chain.

All read the same weights: BDeu with an equivalent sample of 10 rows and the fair prior, which sumu
has built in. Its candidates are those that Jensen chose, and what is compared is the target: scores
of parent sets, or the weight of one partition.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.agree import same_numbers
from benchmarks.workload import Contender, Goal, Setting, Task, Workload

ROWS, CANDIDATES, OUTSIDE, SAMPLE_SIZE = 2_000, 12, 2, 10
BURN_IN = 1_000  # cycles before anything is timed: chains are where they spend their time
PROPOSALS = {"partition": 10_000, "reversal": 100_000, "order": 100_000, "structure": 1_000_000}
DRAWN = 1_000


def rows() -> Any:
    """The rows, with the states that occur: sumu counts these."""
    import jensen as jn

    frame = jn.examples.load("alarm").sample(ROWS, random_state=0).to_pandas()
    return jn.Table(frame.astype(str))


def weigh(table: Any) -> tuple[Any, Any, Any]:
    """Raw weights, what chains read of them, and the log weights that these are relative to."""
    from jensen.q_graph.chains.raw_weights import raw_weights
    from jensen.q_graph.chains.weights import read_weights
    from jensen.q_graph.constraints import read_constraints
    from jensen.scores.graph_priors import read_prior
    from jensen.scores.make_scorer import make_scorer

    scorer = make_scorer(table, "bdeu", equivalent_sample_size=SAMPLE_SIZE)
    prior = read_prior("fair", scorer.names).prior
    raw = raw_weights(scorer, prior, read_constraints(scorer.names), CANDIDATES, OUTSIDE)
    return (raw, *read_weights(raw))


class Place(NamedTuple):
    """What is weighed, and where a partition chain is after a while."""

    candidates: list[list[int]]
    inside: np.ndarray  # (n, 2^K)
    t: Any
    parts: np.ndarray  # (n,): the part of each variable
    log_weight: float  # of the partition


def place() -> Place:
    """The same for all contenders."""
    from jensen.q_graph.chains.kinds import Partitions

    raw, t, tops = weigh(rows())
    kind = Partitions()
    state = after_burn_in(kind, t)
    log_weight = kind.weigh(state, t) + float(tops.sum())
    return Place(raw.candidates, np.array(raw.inside), t, state.nodes.copy(), log_weight)


def after_burn_in(kind: Any, t: Any) -> Any:
    """The state of a chain."""
    from jensen.q_graph.chains.kinds import make_samples

    n = len(t.candidates)
    state = kind.begin(np.arange(1, 5, dtype=np.uint64), np.arange(n), t)
    nothing = make_samples(0, n, keeps_orders=False)
    kind.advance(state, t, 1, BURN_IN, nothing)
    return state


def copy(state: Any) -> Any:
    """A state that a run may change."""
    from jensen.support.fields import leaves, rebuild

    return rebuild(state, iter([leaf.copy() for leaf in leaves(state)]))


# --- Jensen ---


def jensen_scores(setting: Setting) -> Task:
    """Candidates chosen, all sets weighed and summed, from a table that was never counted."""
    import jensen as jn

    jn.set_threads(setting.threads)
    table = rows()
    weigh(table.select(table.names[:16]))  # compiled, or read from the cache
    return Task(
        weigh,
        prepare=lambda: table.select(table.names),
        answer=lambda found: np.array(found[0].inside).sum(1),
    )


def jensen_chain(setting: Setting, chain: str) -> Task:
    """Proposals only: no sample is kept."""
    from jensen.q_graph.chains import kinds

    there = place()
    kind = {
        "partition": kinds.Partitions(10, 0),
        "reversal": kinds.Partitions(),
        "order": kinds.Orders(),
        "structure": kinds.Structures(),
    }[chain]
    cycles = -(-PROPOSALS[chain] // kind.cycle_length)
    start = after_burn_in(kind, there.t)
    nothing = kinds.make_samples(0, len(there.parts), keeps_orders=False)

    def run(state: Any) -> Any:
        kind.advance(state, there.t, 1, cycles, nothing)
        return state

    def details(state: Any) -> list[str]:
        made = zip(kind.moves, state.moves.accepted, state.moves.tried, strict=True)
        return [", ".join(f"{name} {a / b:.1%} accepted" for name, a, b in made if b)]

    return Task(run, lambda: copy(start), lambda _: there.log_weight, details)


def jensen_draw(setting: Setting) -> Task:
    """Graphs from one partition."""
    from jensen.q_graph.chains.kinds import Partitions, make_samples

    there, kind = place(), Partitions()
    state = after_burn_in(kind, there.t)

    def run(kept: Any) -> Any:
        kind.advance(state, there.t, DRAWN, 0, kept)
        return kept

    return Task(
        run,
        prepare=lambda: make_samples(DRAWN, len(there.parts), keeps_orders=False),
        answer=lambda _: there.log_weight,
    )


# --- sumu ---


class Sumu(NamedTuple):
    """Its pieces, made as its `Gadget` makes them."""

    candidates: dict[int, tuple[int, ...]]
    data: Any
    scores: np.ndarray
    restricted: Any
    beyond: Any


def sumu_pieces(data: Any, candidates: dict[int, tuple[int, ...]]) -> Sumu:
    """Scores of all sets within the candidates, and of those of up to two outside.

    Set by set: its function for all sets at once fails where it was compiled with Cython 3.
    """
    from sumu.CandidateRestrictedScore import CandidateRestrictedScore
    from sumu.gadget import CandidateComplementScore, LocalScore

    listed = np.array([candidates[v] for v in range(len(candidates))], np.int32)
    local, members = LocalScore(data, ess=SAMPLE_SIZE), np.arange(CANDIDATES)
    scores = np.empty((len(listed), 1 << CANDIDATES))
    for number in range(1 << CANDIDATES):
        chosen = members[number >> members & 1 == 1]
        for v in range(len(listed)):
            scores[v, number] = local._local(v, listed[v, chosen])
    restricted = CandidateRestrictedScore(scores, listed, CANDIDATES)
    beyond = LocalScore(data, maxid=OUTSIDE, ess=SAMPLE_SIZE)
    outside = CandidateComplementScore(candidates, beyond, OUTSIDE)
    return Sumu(candidates, data, scores, restricted, outside)


def sumu_data(there: Place) -> tuple[Any, dict[int, tuple[int, ...]]]:
    """The rows as numbers of states, variables by sorted name; and the candidates."""
    from sumu.gadget import Data

    table = rows()
    codes = np.column_stack([table.column(name).data for name in sorted(table.names)])
    return Data(codes.astype(np.int32)), {v: tuple(c) for v, c in enumerate(there.candidates)}


def sumu_scores(setting: Setting) -> Task:
    """Its candidates are given, so it has less to do."""
    data, candidates = sumu_data(place())
    return Task(
        lambda _: sumu_pieces(data, candidates), answer=lambda found: np.array(found.scores).sum(1)
    )


def sumu_score(there: Place) -> tuple[Any, Sumu]:
    """What its chains read."""
    from sumu.gadget import Score

    found = sumu_pieces(*sumu_data(there))
    score = Score(
        C=found.candidates,
        score_array=found.scores,
        c_r_score=found.restricted,
        c_c_score=found.beyond,
    )
    return score, found


def as_sets(parts: np.ndarray) -> tuple[set[int], ...]:
    """A partition as sumu writes it."""
    return tuple(set(np.flatnonzero(parts == k).tolist()) for k in range(parts.max() + 1))


def sumu_chain(setting: Setting) -> Task:
    """Split or join, and swaps; it has no reversal of edges here. From the same partition."""
    from sumu.mcmc import PartitionMCMC

    there = place()
    score, found = sumu_score(there)
    np.random.seed(0)  # noqa: NPY002 - sumu draws from there

    def prepare() -> Any:
        chain = PartitionMCMC(found.candidates, score, OUTSIDE)
        chain.R = as_sets(there.parts)
        chain.R_node_scores = chain._pi(chain.R)
        chain.R_score = sum(chain.R_node_scores)
        return chain, chain.R_score

    def run(given: Any) -> float:
        chain, log_weight = given
        for _ in range(PROPOSALS["partition"]):
            chain.sample()
        return log_weight

    return Task(run, prepare)


def sumu_draw(setting: Setting) -> Task:
    """As its `Gadget` draws: all parents of one variable, then of the next."""
    from sumu.gadget import DAGR
    from sumu.mcmc import PartitionMCMC

    there = place()
    score, found = sumu_score(there)
    partition = as_sets(there.parts)
    log_weight = sum(PartitionMCMC(found.candidates, score, OUTSIDE)._pi(partition))
    np.random.seed(0)  # noqa: NPY002 - sumu draws from there

    def run(_: None) -> float:
        drawing = DAGR(score, found.candidates, tolerance=2.0**-32)
        for v in found.candidates:
            drawing.precompute_pset_sampling(v)
            for _ in range(DRAWN):
                drawing.sample_pset(v, partition, score=True)
        return log_weight

    return Task(run)


LEFT_OUT = "its sums leave out small sets outside the candidates"


def _sumu(setup: Any) -> list[Contender]:
    return [Contender("sumu", setup, "sumu", tolerance=1e-5, because=LEFT_OUT)]


def _chain(name: str, chain: str, what: str, micro: float, peers: Any = ()) -> Workload:
    n = PROPOSALS[chain]
    return Workload(
        name,
        f"{n:,} proposals of a chain over {what}: {n / 1000:g} ms are 1 µs each",
        Contender("jensen", partial(jensen_chain, chain=chain), "jensen"),
        peers,
        same_numbers,
        threads=1,
        goal=Goal(seconds=n * micro * 1e-6),
    )


WORKLOADS = [
    Workload(
        "structure-scores",
        f"scores of all parent sets, {CANDIDATES} candidates and pairs outside, {ROWS:,} rows",
        Contender("jensen", jensen_scores, "jensen"),
        [Contender("sumu, set by set, candidates given", sumu_scores, "sumu")],
        same_numbers,
        threads=1,
        goal=Goal(seconds=1.0),
    ),
    _chain(
        "structure-partition", "partition", "partitions, no reversals", 6.0,
        _sumu(sumu_chain),
    ),
    _chain("structure-partition-reversal", "reversal", "partitions, with reversals", 6.0),
    _chain("structure-order", "order", "orders", 5.0),
    _chain("structure-graph", "structure", "graphs, a reversal in 101", 0.1),
    Workload(
        "structure-draw",
        f"{DRAWN:,} graphs drawn from a partition: {DRAWN / 1000:g} ms is 1 µs each",
        Contender("jensen", jensen_draw, "jensen"),
        _sumu(sumu_draw),
        same_numbers,
        threads=1,
        goal=Goal(seconds=DRAWN * 40e-6),
    ),
]  # fmt: skip
