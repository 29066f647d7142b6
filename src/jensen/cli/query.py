"""`jensen query`: distributions, given what is known and what was done."""

from typing import Annotated, Any

import typer

from jensen.cli import inputs, options, outputs
from jensen.exceptions import JensenError

NAME = "query"
EPILOG = (
    "Example: jensen query net.json cancer --given xray=abnormal --do smoker=yes. "
    "With --json the answer is {targets, given, do, probabilities: [{state: {variable: state}, "
    "probability}]}, with lower and upper if --interval is given; without TARGET {given, do, "
    "marginals: [{targets, probabilities}]}; with --most-probable {given, do, most_probable: "
    "[{state, log_probability, log_conditional}]}, where the first is jointly with what is given "
    "and the second given it."
)

Targets = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TARGET",
        help="Variables to ask for, several of them jointly; all, one by one, unless given.",
    ),
]
Interval = Annotated[
    float | None,
    typer.Option(
        "--interval",
        metavar="LEVEL",
        help="Also how sure the probabilities of states are (after vbem and gibbs): 0.9 for 90 %.",
    ),
]
MostProbable = Annotated[
    bool,
    typer.Option(
        "--most-probable", help="The most probable states of everything that is not known instead."
    ),
]
Best = Annotated[
    int | None,
    typer.Option("-k", metavar="N", help="How many of the most probable; 1 unless given."),
]


def command(
    net: options.Net,
    targets: Targets = None,
    given: options.Given = None,
    do: options.Do = None,
    interval: Interval = None,
    most_probable: MostProbable = False,
    k: Best = None,
    as_json: options.Json = False,
) -> None:
    """Ask for P(TARGET | given, do), or for the most probable states of all that is not known."""
    if k is not None and not most_probable:
        raise JensenError("-k belongs to --most-probable: it says how many of them")
    if most_probable:
        options.refuse_together({"--most-probable": True, "TARGET": targets})
        options.refuse_together({"--most-probable": True, "--interval": interval is not None})
    asked = inputs.read_net(net)
    known = {
        "given": inputs.read_findings("--given", given, asked),
        "do": inputs.read_findings("--do", do, asked),
    }
    if most_probable:
        best = asked.most_probable(**known, k=1 if k is None else k)
        _print(best, {**known, "most_probable": [_assignment(one) for one in best]}, as_json)
    elif targets:
        found: Any = asked.query(targets, **known, interval=interval)
        _print([found], {"targets": targets, **known, **found.plain()}, as_json)
    else:
        each = _each(asked, known, interval)
        marginals = [{"targets": list(one.names), **one.plain()} for one in each]
        _print(each, {**known, "marginals": marginals}, as_json)


def _each(net: Any, known: dict[str, Any], interval: float | None) -> list[Any]:
    """Every variable that is not known, on its own."""
    found = net.marginals(**known)
    if interval is None:
        return list(found.values())
    return [net.query(name, **known, interval=interval) for name in found]


def _print(answers: list[Any], in_json: dict[str, Any], as_json: bool) -> None:
    if as_json:
        outputs.print_json(in_json)
    else:
        print("\n\n".join(map(repr, answers)))


def _assignment(found: Any) -> dict[str, Any]:
    numbers = {"log_probability": found.log_probability, "log_conditional": found.log_conditional}
    return {"state": dict(found.states), **numbers}
