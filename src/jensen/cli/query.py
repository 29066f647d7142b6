"""`jensen query`: distributions, given what is known and what was done."""

from __future__ import annotations

from typing import Any

from jensen.cli import inputs, options, outputs
from jensen.cli.command import QUESTION, Command, Given, Option


def run(given: Given) -> None:
    """Ask for P(TARGET | given, do), or for the most probable states of all that is not known."""
    given.check()
    best_first = ("--most-probable", given.most_probable)
    given.refuse_together(best_first, ("TARGET", given.targets))
    given.refuse_together(best_first, ("--interval", given.interval is not None))
    net = inputs.as_net(inputs.read_model(given.file), given.file)
    known = inputs.read_evidence(given, net)
    if given.most_probable:
        best = net.most_probable(**known, k=1 if given.k is None else given.k)
        _print(best, {**known, "most_probable": [_assignment(one) for one in best]}, given)
    elif given.targets:
        found: Any = net.query(given.targets, **known, interval=given.interval)
        _print([found], {"targets": given.targets, **known, **found.plain()}, given)
    else:
        each = _each(net, known, given.interval)
        marginals = [{"targets": list(one.names), **one.plain()} for one in each]
        _print(each, {**known, "marginals": marginals}, given)


def _each(net: Any, known: dict[str, Any], interval: float | None) -> list[Any]:
    """Every variable that is not known, on its own."""
    found = net.marginals(**known)
    if interval is None:
        return list(found.values())
    return [net.query(name, **known, interval=interval) for name in found]


def _print(answers: list[Any], in_json: dict[str, Any], given: Given) -> None:
    if given.as_json:
        outputs.print_json(in_json)
    else:
        print("\n\n".join(map(repr, answers)))


def _assignment(found: Any) -> dict[str, Any]:
    numbers = {"log_probability": found.log_probability, "log_conditional": found.log_conditional}
    return {"state": dict(found.states), **numbers}


COMMAND = Command(
    name="query",
    run=run,
    group="Ask",
    options=(
        options.NETWORK_FILE,
        Option(
            "targets",
            "The variables to ask for, several of them jointly (default: all, one by one).",
            many=True,
            metavar="TARGET",
        ),
        options.GIVEN,
        options.DO,
        Option(
            "interval",
            "Show how sure the probabilities of states are, after vbem and gibbs: 0.9 for 90 %.",
            QUESTION,
            kind=float,
            metavar="LEVEL",
        ),
        Option(
            "most_probable",
            "Ask for the most probable states of everything that is not known instead.",
            QUESTION,
            kind=bool,
            default=False,
        ),
        Option(
            "k",
            "How many of the most probable (default 1).",
            QUESTION,
            kind=int,
            flags=("-k",),
            metavar="N",
            needs="most_probable",
        ),
        options.JSON,
    ),
    examples=("jensen query net.json cancer --given xray=abnormal --do smoker=yes",),
    notes="With --json the answer is {targets, given, do, probabilities: [{state: {variable: "
    "state}, probability}]}, with lower and upper if --interval is given; without TARGET {given, "
    "do, marginals: [{targets, probabilities}]}; with --most-probable {given, do, most_probable: "
    "[{state, log_probability, log_conditional}]}, where the first is jointly with what is given "
    "and the second given it.",
)
