"""The solver of linear programs: HiGHS, an optional dependency."""

from typing import Any

from jensen.exceptions import JensenError

MISSING = (
    "the exact optimum of this many variables is found by integer programming, which needs HiGHS: "
    "pip install 'jensen[exact]'"
)


def solver() -> tuple[Any, Any]:
    """An empty linear program for the simplex method, without output, and the module `highspy`."""
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
