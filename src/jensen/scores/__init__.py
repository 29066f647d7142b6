"""log p(x | G) and its relatives, family by family; higher is better, natural logarithms.

Names are imported when they are first used: the records of `jensen.scores.registry` cost nothing.
"""

from typing import TYPE_CHECKING, Any

__all__ = ["SCORES", "local_scores", "make_score", "score"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'jensen.scores' has no attribute {name!r}")
    from jensen.scores import by_name

    return getattr(by_name, name)


if TYPE_CHECKING:
    from jensen.scores.by_name import SCORES as SCORES
    from jensen.scores.by_name import local_scores as local_scores
    from jensen.scores.by_name import make_score as make_score
    from jensen.scores.by_name import score as score
