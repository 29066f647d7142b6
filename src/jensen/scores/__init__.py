"""log p(x | G) and its relatives, family by family; higher is better, natural logarithms."""

from jensen.scores.by_name import SCORES, local_scores, make_score, score

__all__ = ["SCORES", "local_scores", "make_score", "score"]
