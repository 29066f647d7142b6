"""Scores of one variable with every subset of a few candidate parents."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from jensen.scores.count_scorer import CountScorer
from jensen.scores.counted_families import CountedFamilies
from jensen.scores.gaussian_scorer import GaussianScorer
from jensen.scores.interventions import PerChild
from jensen.scores.plain_scorer import PlainScorer
from jensen.scores.scorer import Scorer
from jensen.scores.set_functions import differences
from jensen.scores.subset_scores import sets_up_to

Array = NDArray[np.float64]


def candidate_scores(
    scorer: Scorer, child: int, candidates: Sequence[int], max_parents: int
) -> Array:
    """(2^K,): the score of the child with every subset of its candidates, which are sorted.

    Bit k of a position stands for candidate k; what stands at sets of more than `max_parents`
    means nothing.
    """
    if isinstance(scorer, PerChild):
        scorer = scorer.of_child(child)
    if isinstance(scorer, GaussianScorer):
        members = sorted((*candidates, child))
        values = scorer.set_values(members, child, max_parents + 1)
        return differences(values, values, members.index(child))
    plain = scorer.plain if isinstance(scorer, CountScorer) else scorer
    counted = None
    if isinstance(plain, PlainScorer):
        names = tuple(plain.names[v] for v in sorted((*candidates, child)))
        part = PlainScorer(plain.table.select(names), names, plain.score)
        counted = CountedFamilies.of(part)
    if counted is None:
        scores = np.full(1 << len(candidates), -np.inf)
        for number, chosen in sets_up_to(len(candidates), max_parents):
            scores[number] = scorer.family(child, [candidates[k] for k in chosen])
        return scores
    place = names.index(plain.names[child])
    out = np.empty((len(names), 1 << len(candidates)))
    counted.fill(out, [place], max_parents)
    return np.asarray(out[place])
