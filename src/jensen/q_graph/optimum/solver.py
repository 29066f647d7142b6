"""Linear programs: HiGHS, which comes with an extra."""

from typing import Any

from jensen.exceptions import JensenError

MISSING = (
    "the exact optimum of this many variables is found by integer programming, which needs HiGHS: "
    "pip install 'jensen[exact]'"
)


def solver() -> tuple[Any, Any]:
    """An empty program that is solved by the simplex method without a word, and the module."""
    try:
        import highspy
    except ImportError:
        raise JensenError(MISSING) from None
    module: Any = highspy
    model = module.Highs()
    for option, value in (
        ("output_flag", False),
        ("threads", 1),
        ("presolve", "off"),
        ("solver", "simplex"),
    ):
        model.setOptionValue(option, value)
    return model, module
